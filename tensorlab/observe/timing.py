"""How long calls took: noted while a person asks for it, by the number of the node that a call made, and found again by a picture."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from tensorlab import taps

#: Calls that are remembered, the latest ones. A number each: no tensor, no node.
MOST = 200_000

_forward: dict[int, int] = {}


def forward_time(number: int) -> int | None:
    """Nanoseconds that the call took which made this node, if somebody was timing."""
    return _forward.get(number)


class timed:
    """Time every call inside the block: ``with tensorlab.show.timed(): loss = model(x).sum()``.

    A call's time is what passed since the call before it ended, so the Python between two calls counts towards the second. Times are
    shown by :func:`tensorlab.show.graph` as an overlay and in its text.

    >>> import tensorlab as tl
    >>> w = tl.ones(3, requires_grad=True)
    >>> with tl.show.timed():
    ...     loss = (w * w).sum()
    """

    def __init__(self) -> None:
        self._end: Callable[[], None] | None = None

    def __enter__(self) -> timed:
        last = perf_counter_ns()

        def note(row: Any, inputs: Any, attrs: Any, outputs: Any) -> None:
            nonlocal last
            now = perf_counter_ns()
            edge = getattr(outputs[0], "_edge", None) if outputs else None
            if edge is not None:
                if len(_forward) >= MOST:
                    del _forward[next(iter(_forward))]
                _forward[edge[0].seq] = now - last
            last = perf_counter_ns()

        self._end = taps.watch_ops(note)
        return self

    def __exit__(self, *error: Any) -> None:
        if self._end is not None:
            self._end()
            self._end = None
