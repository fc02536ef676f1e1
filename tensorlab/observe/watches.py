"""The watched expressions of a session: worked out anew wherever it stops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tensorlab.observe.evaluate import PATIENCE, Expression, Seen, Unusable, Work, error_text, value_text
from tensorlab.observe.schema_asking import Watched

#: Expressions that a session watches at most.
MOST = 20
#: What an expression on the next node is when there is none.
OVER = "no gradient waits: the run is over"


class WatchList:
    """Expressions and what they were last. One that raises says so and goes on being watched; while one that was not done in time
    still runs, it is not begun again."""

    def __init__(self) -> None:
        self.expressions: list[Expression] = []
        self._last: dict[str, tuple[str, bool]] = {}
        self._late: Work | None = None

    def set(self, texts: Any, namespace: Mapping[str, Any] | None = None) -> None:
        """Watch these expressions and no others. Raises ``Unusable`` with a sentence, and changes nothing, where one is none."""
        if not isinstance(texts, list | tuple):
            raise Unusable(f"'expressions' must be a list of expressions, not {type(texts).__name__}")
        if len(texts) > MOST:
            raise Unusable(f"at most {MOST} expressions are watched; these are {len(texts)}")
        kept = {expression.text: expression for expression in self.expressions}
        texts = list(dict.fromkeys(text.strip() if isinstance(text, str) else text for text in texts))
        self.expressions = [kept.get(text) or Expression(text, namespace) for text in texts]

    def clear(self) -> None:
        self.expressions = []
        self._last.clear()

    def now(self, seen: Seen) -> tuple[Watched, ...]:
        """What they are where the run stands; ``seen`` is what they see of it."""
        if not self.expressions:
            return ()
        if self._late is not None and self._late.running:
            return self._told(["an expression of an earlier stop is still being worked out"] * len(self.expressions))
        work = Work(self.expressions, seen)
        self._late = None if work.wait() else work
        found: list[Any] = list(work.results)
        if seen.names["node"] is None:
            found = [
                OVER if expression.needs_a_node and isinstance(value, Exception) else value
                for expression, value in zip(self.expressions, found, strict=False)
            ]
        if len(found) < len(self.expressions):
            found.append(f"not done within {PATIENCE:g} s, so nobody waited for it")
        found += ["not worked out: the one before took too long"] * (len(self.expressions) - len(found))
        late = len(work.results) if len(work.results) < len(self.expressions) else len(found)
        return self._told(found, late)

    def _told(self, found: Sequence[Any], good: int = 0) -> tuple[Watched, ...]:
        """Values in words. From number ``good`` on they are words already, of what went wrong."""
        told = []
        for at, (expression, value) in enumerate(zip(self.expressions, found, strict=True)):
            wrong = at >= good or isinstance(value, Exception)
            if at >= good or value is OVER:
                text = str(value)
            else:
                text = error_text(value) if isinstance(value, Exception) else value_text(value)
            before = self._last.get(expression.text)
            self._last[expression.text] = (text, wrong)
            told.append(Watched(expression.text, text, wrong, before is not None and before[0] != text))
        return tuple(told)
