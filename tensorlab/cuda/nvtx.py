"""Named stretches of a program for NVIDIA's profilers. They cost nothing and do nothing where there is no GPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tensorlab import backend

_depth = 0


def _nvtx() -> Any:
    return backend.gpu().xp.cuda.nvtx if backend.why_no_gpu() is None else None


def range_push(msg: str) -> int:
    """Begin a stretch inside those that are open, and return how many those are."""
    global _depth
    if (nvtx := _nvtx()) is not None:
        nvtx.RangePush(msg)
    _depth += 1
    return _depth - 1


def range_pop() -> int:
    """End the stretch that began last, and return how many are still open around it."""
    global _depth
    if (nvtx := _nvtx()) is not None:
        nvtx.RangePop()
    _depth = max(0, _depth - 1)
    return _depth


def mark(msg: str) -> None:
    """Note a single point in time."""
    if (nvtx := _nvtx()) is not None:
        nvtx.Mark(msg)


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A stretch as long as the block; ``args`` are put into the text as ``str.format`` does it."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
