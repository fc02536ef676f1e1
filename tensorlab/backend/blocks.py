"""Work on large host arrays in pieces that fit the cache, on two processors where there are two.

NumPy lets go of the interpreter while it computes, so a second thread really runs beside the first.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

#: Elements of a piece, and of the smallest array that is worth a second thread.
PIECE, LARGE = 1 << 16, 1 << 18

_helper: Any = None  # the second thread, started when first needed


def _forget() -> None:
    """A forked process has no threads but the one that forked."""
    global _helper
    _helper = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_pieces(work: Callable[[int, int], None], rows: int, width: int) -> None:
    """Call ``work(first, end)`` for pieces of ``rows`` rows of ``width`` elements. Pieces must not depend on one another."""
    step = max(1, PIECE // max(1, width))

    def some(first: int, end: int) -> None:
        for low in range(first, end, step):
            work(low, min(low + step, end))

    if rows * width < LARGE or rows < 2 * step or processors() < 2:
        some(0, rows)
        return
    middle = rows // 2 // step * step
    other = _second().submit(some, middle, rows)
    try:
        some(0, middle)
    finally:
        other.result()


def _second() -> Any:
    global _helper
    if _helper is None:
        from concurrent.futures import ThreadPoolExecutor

        _helper = ThreadPoolExecutor(1, "tensorlab-blocks")
    return _helper
