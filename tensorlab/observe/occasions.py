"""When a call that could stop does stop: at a step, for a loss that is not finite, or where a person's own function says so."""

from __future__ import annotations

from collections.abc import Mapping
from types import CodeType
from typing import Any

from tensorlab.engine import sites
from tensorlab.observe.names import notebook_shell
from tensorlab.observe.predicates import has_inf, has_nan

#: How often each line was reached in this execution of its cell; the oldest are forgotten.
_reached: dict[tuple[CodeType, int], tuple[str, int]] = {}
MOST_LINES = 256


def is_now(when: Any, loss: Any) -> bool:
    """Whether ``when`` holds of this call. A mapping holds conditions on gradients, which nobody knows yet: it always may.

    Raises ``TypeError`` with what can be said for anything else.
    """
    if isinstance(when, Mapping):
        return True
    if isinstance(when, bool) or hasattr(when, "_a"):
        return bool(when)
    if isinstance(when, int):
        if when < 0:
            raise ValueError(f"when={when}: the line is reached for the first time at 0, so this call would never stop")
        return _times() == when
    if when == "nan":
        return has_nan(loss._a) or has_inf(loss._a)
    if callable(when):
        return bool(when(loss))
    raise TypeError(
        f"when={when!r}: it is true or false, a whole number (which time this line is reached, from 0), 'nan' (the loss is not "
        "finite), a function of the loss, or conditions on gradients such as {'norm_above': 1e3}"
    )


def _times() -> int:
    """How often the calling line was reached before, in this execution of its cell."""
    site = sites.here(1)
    if site is None:
        return 0
    execution = _execution()
    before, count = _reached.pop(site, (execution, -1))
    count = count + 1 if before == execution else 0
    _reached[site] = execution, count
    while len(_reached) > MOST_LINES:
        _reached.pop(next(iter(_reached)))
    return count


def _execution() -> str:
    """What tells this execution of a notebook cell from others; empty elsewhere."""
    kernel = getattr(notebook_shell(), "kernel", None)
    parent = kernel.get_parent("shell") if kernel is not None else {}
    return str((parent.get("header") or {}).get("msg_id", ""))
