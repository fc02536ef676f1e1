"""Expressions that a person types at a run that waits: worked out beside it, so that none can disturb it.

``grad`` is the gradient that waits at the node which runs next, ``grads`` all of them (one an output), ``node`` what is known of the
node; every other name is looked up where the person's own names are. What an expression is handed of the run are copies. It is
worked out on a thread of its own without recording, for a limited time; calls that write in place are refused before they run.
"""

from __future__ import annotations

import ast
import builtins
import contextvars
import ctypes
import threading
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType
from typing import Any

from tensorlab import modes
from tensorlab.dispatch import wrap
from tensorlab.engine.node import AccumulateGrad, Node
from tensorlab.modes import state
from tensorlab.observe.names import notebook_namespace
from tensorlab.observe.preview import preview
from tensorlab.observe.words import number_text, shape_text
from tensorlab.tensor import Tensor

#: Seconds that the expressions of one stop may take together, and characters that one may have.
PATIENCE = 1.0
LONGEST = 1000
#: Characters of a value in words.
LONGEST_TEXT = 160
#: Calls that would move a run or change what it works on.
_MOVES = frozenset(
    {"backward", "step", "zero_grad", "exec", "eval", "setattr", "delattr", "copy_to", "load_state_dict"}
)


class Unusable(ValueError):
    """An expression that cannot be worked out; says why."""


class TakesTooLong(BaseException):
    """Raised in the thread of an expression that nobody waits for any more."""


class SavedValues(Mapping[str, Any]):
    """What a node kept for its backward, by name; every look is a copy."""

    def __init__(self, node: Node) -> None:
        self._arrays = {name: array for name, array, *_ in node.saved_facts()}

    def __getitem__(self, name: str) -> Any:
        if name not in self._arrays:
            there = f"it saved {', '.join(map(repr, self._arrays))}" if self._arrays else "it saved nothing"
            raise KeyError(f"there is no saved {name!r}; {there}")
        return wrap(self._arrays[name]).clone()

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)


class NodeFacts:
    """The node that runs next, as an expression sees it: ``name``, ``id``, ``shape``, ``module``, ``attrs`` and ``saved``."""

    def __init__(self, node: Node, module: str = "") -> None:
        self.name, self.id, self.shape, self.module = node.name(), node.seq, tuple(node.meta[0][0]), module
        self.attrs = dict(node.attrs or {})
        self.saved = SavedValues(node)

    def __repr__(self) -> str:
        return f"{self.name} (node {self.id})"


class Expression:
    """Text that was found to be an expression which only looks. Raises ``Unusable`` with a sentence for any other.

    ``namespace`` is where names are looked up outside of a notebook; in one its own variables are, as they are then.
    """

    def __init__(self, text: Any, namespace: Mapping[str, Any] | None = None) -> None:
        if not isinstance(text, str) or not text.strip():
            raise Unusable(f"an expression is text such as grad.norm(), not {text!r}")
        self.text = text.strip()
        if len(self.text) > LONGEST:
            raise Unusable(f"an expression may have {LONGEST:,} characters; this one has {len(self.text):,}")
        try:
            tree = ast.parse(self.text, "<expression>", "eval")
            self._code: CodeType = compile(tree, "<expression>", "eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            said = getattr(error, "msg", None) or str(error)
            raise Unusable(f"{self.text!r} is no expression: {said}") from None
        _refuse_writes(tree)
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        self.needs_a_node = bool(used & {"grad", "grads", "node"})
        self._own = {name: value for name, value in (namespace or {}).items() if name in used}

    def value(self, known: Mapping[str, Any]) -> Any:
        """Its value, where ``known`` holds what it sees of the run."""
        names = dict(notebook_namespace() or {}) | self._own | dict(known)
        names["__builtins__"] = builtins
        try:
            return eval(self._code, names)
        except NameError as error:
            raise NameError(f"{error}; there are grad, grads, node, and your own names") from None


def _refuse_writes(tree: ast.AST) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.NamedExpr):
            raise Unusable("an expression only looks, so it gives no names with :=")
        if isinstance(node, ast.Await | ast.Yield | ast.YieldFrom):
            raise Unusable("an expression here waits for nothing: no await and no yield")
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called.endswith("_") and not called.startswith("_"):
            raise Unusable(f"{called}() writes in place, and an expression only looks; use {called.rstrip('_')}()")
        if called in _MOVES:
            raise Unusable(f"{called}() would change what the run works on, and an expression only looks")
        if any(keyword.arg == "out" for keyword in node.keywords):
            raise Unusable(f"{called}(out=...) writes into a tensor, and an expression only looks")


class Seen:
    """What expressions see of a run: copies of the gradients that wait at a node, and facts of that node."""

    def __init__(self, run: Any, node: Node | None, gradients: Sequence[Any] | None, module: str = "") -> None:
        copies = [None if gradient is None else gradient.detach().clone() for gradient in gradients or ()]
        first = next((gradient for gradient in copies if gradient is not None), None)
        self.names: dict[str, Any] = {
            "grad": first,
            "grads": copies,
            "node": NodeFacts(node, module) if node is not None else None,
        }
        self.protected = protected(run)

    def of_output(self, output: int) -> Seen:
        """The same, where ``grad`` is the gradient of one output."""
        copies = self.names["grads"]
        if 0 <= output < len(copies):
            self.names["grad"] = copies[output]
        return self


def protected(run: Any) -> frozenset[int]:
    """What an expression must not write to: the arrays and storages that a run works on, by id."""
    found: set[int] = set()
    for node in run.cells:
        if type(node) is AccumulateGrad:
            for tensor in (node.variable, node.variable._grad if node.variable is not None else None):
                if tensor is not None:
                    found |= {id(tensor._a), id(tensor._st)}
        elif type(node.saved) is tuple:
            for value in node.saved:
                if type(value) is tuple:
                    found |= {id(value[0]), id(value[1])}
    return frozenset(found - {id(None)})


class Work:
    """Expressions that are being worked out on a thread of their own, one after the other."""

    def __init__(self, expressions: Sequence[Expression], seen: Seen) -> None:
        self.results: list[Any] = []  # a value or an exception for each that is done
        self._expressions, self._seen = expressions, seen
        self._done = threading.Event()
        run = contextvars.copy_context().run
        self._thread = threading.Thread(target=run, args=(self._work,), name="tensorlab-expression", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        return not self._done.is_set()

    def wait(self, seconds: float = PATIENCE) -> bool:
        """Whether it was done in time. What is not is told to stop, and nobody waits for it."""
        if self._done.wait(seconds):
            return True
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(self._thread.ident or 0), ctypes.py_object(TakesTooLong)
        )
        return self._done.wait(0.05)

    def _work(self) -> None:
        state.looking = self._seen.protected
        known = self._seen.names
        try:
            with modes.no_grad():
                for expression in self._expressions:
                    try:
                        self.results.append(expression.value(known))
                    except Exception as error:
                        self.results.append(error)
        except TakesTooLong:
            pass
        finally:
            del self._seen
            self._done.set()


def evaluated(expression: Expression, seen: Seen) -> Any:
    """The value of one expression. Raises ``Unusable`` where it raises, or takes longer than ``PATIENCE`` seconds."""
    work = Work([expression], seen)
    work.wait()
    if not work.results:
        raise Unusable(f"{expression.text!r} was not done within {PATIENCE:g} s")
    (value,) = work.results
    if isinstance(value, Exception):
        raise Unusable(error_text(value))
    return value


# ---- in words --------------------------------------------------------------------------------------------------------


def error_text(error: BaseException) -> str:
    said = error.args[0] if isinstance(error, KeyError) and error.args else error
    return _cut(f"{type(error).__name__}: {said}")


def value_text(value: Any) -> str:
    """A value in a line: a number as it is, few elements one by one, many by their shape and their norm."""
    if isinstance(value, Tensor):
        if value.numel() == 1 and not value.dim():
            return _plain(value.item())
        facts = preview(value._a)
        kind = f"{shape_text(facts.shape)} {facts.dtype}"
        if 0 < value.numel() <= 6 and value.dim() == 1:
            return f"[{', '.join(_plain(each) for each in value.tolist())}]"
        bad = "".join(f" · {name} {count:,}" for name, count in (("NaN", facts.nan), ("Inf", facts.inf)) if count)
        told = f" · norm {number_text(facts.norm)}" if facts.norm is not None else ""
        return f"{kind}{told}{bad}"
    if isinstance(value, bool | int | float | complex):
        return _plain(value)
    try:
        return _cut(repr(value))
    except Exception as error:
        return f"{type(value).__name__} whose repr raised {type(error).__name__}"


def _plain(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_TEXT else f"{line[: LONGEST_TEXT - 1]}…"
