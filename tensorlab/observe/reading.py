"""Reading a tensor in the order of its indexes: which cache lines are touched, how often the line changes, and what that costs."""

from __future__ import annotations

import math

import numpy as np

from tensorlab.layout import Layout
from tensorlab.observe.schema import Reading
from tensorlab.observe.words import bytes_text, count_text

LINE = 64  # bytes of a cache line
FIRST, MOST = 64, 1 << 18  # reads that are told one by one, and reads that are counted one by one


def reading(at: Layout, itemsize: int, skew: int) -> Reading:
    """How a tensor that lies like this is read. Of more than ``MOST`` elements the first are counted and the rest is reckoned."""
    reads = math.prod(at.shape)
    counted = min(reads, MOST)
    elements = first_elements(at, counted)
    lines = (elements * itemsize + skew) // LINE
    fetched = int(np.count_nonzero(np.diff(lines))) + 1 if counted else 0
    touched = int(np.unique(lines).size)
    if counted < reads:
        fetched = 1 + round((fetched - 1) * (reads / counted))
        touched = min(touched_lines(at, itemsize), fetched)
        if fetched <= touched * 1.02:  # rows that lie in one piece
            fetched = touched
    base = int(lines[0]) if counted else 0
    least = -(-reads * itemsize // LINE)
    return Reading(
        element=tuple(elements[:FIRST].tolist()),
        line=tuple((lines[:FIRST] - base).tolist()),
        reads=reads,
        touched=touched,
        fetched=fetched,
        least=least,
        exact=counted == reads,
        sentence=_sentence(at, itemsize, reads, touched, fetched, least, counted == reads),
    )


def first_elements(at: Layout, count: int) -> np.ndarray:
    """The elements of the storage that are read first, in the order of the indexes; nothing of the data is touched."""
    place = np.full(count, at.offset, dtype=np.int64)
    left = np.arange(count, dtype=np.int64)
    for size, stride in zip(reversed(at.shape), reversed(at.strides), strict=True):
        left, index = np.divmod(left, size) if size else (left, left)
        place += index * stride
    return place


def touched_lines(at: Layout, itemsize: int) -> int:
    """About how many cache lines a layout reaches: innermost stretches are merged as far as they lie closer than a line."""
    width, count = itemsize, 1  # bytes of one stretch, and how many stretches there are
    for stride, size in sorted(
        (abs(s) * itemsize, n) for s, n in zip(at.strides, at.shape, strict=True) if n > 1 and s
    ):
        if stride <= max(width, LINE):
            width = max(width, stride * (size - 1) + width)
        else:
            count *= size
    return count * max(1, -(-width // LINE))


def _sentence(at: Layout, itemsize: int, reads: int, touched: int, fetched: int, least: int, exact: bool) -> str:
    if reads <= 1:
        return "There is one element." if reads else "There are no elements."
    about = "" if exact else "about "
    cost = f"{count_text(reads, 'read')} in order touch {about}{count_text(touched, 'cache line')} of {LINE} bytes"
    d = max(i for i, n in enumerate(at.shape) if n > 1)
    step = at.strides[d] * itemsize
    if fetched > touched:
        jump = f": each step jumps {bytes_text(abs(step))}" if abs(step) > itemsize else ""
        return f"{cost} and change the line {about}{fetched - 1:,} times{jump}. In one piece it would be {count_text(least, 'line')}."
    if not step:
        return f"{cost}. Dimension {d} has stride 0: its {at.shape[d]:,} elements are one and the same in memory."
    if abs(step) == itemsize:
        return f"{cost}, each once: rows lie in one piece."
    return f"{cost}, each once: {bytes_text(abs(step))} from element to element."
