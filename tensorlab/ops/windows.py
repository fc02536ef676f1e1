"""Windows that slide over the last dimensions of an array: how many there are, and what they see.

Convolutions, pooling and unfolding all look through the same windows. Sizes, strides, padding and dilation are tuples with one
entry for each of the dimensions that the windows slide along, which stand last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from tensorlab import backend

Shape = tuple[int, ...]


def reach(kernel: Sequence[int], dilation: Sequence[int]) -> Shape:
    """How far a window reaches, from its first to its last element."""
    return tuple([d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)])


def places(
    size: Sequence[int], kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> Shape:
    """At how many places a window stands along each dimension of a padded array."""
    across = reach(kernel, dilation)
    return tuple([(n + 2 * p - r) // s + 1 for n, p, r, s in zip(size, padding, across, stride, strict=True)])


def padded(xp: Any, a: Any, before: Sequence[int], after: Sequence[int] | None = None, value: Any = 0) -> Any:
    """A row-major array with ``value`` around the last dimensions of ``a``; ``a`` itself where nothing is to be done."""
    after = before if after is None else after
    if not any(before) and not any(after):
        return a if a.flags.c_contiguous else xp.ascontiguousarray(a)
    lead = a.ndim - len(before)
    size = a.shape[lead:]
    shape = a.shape[:lead] + tuple([n + p + q for n, p, q in zip(size, before, after, strict=True)])
    out = xp.zeros(shape, a.dtype) if isinstance(value, int) and value == 0 else xp.full(shape, value, a.dtype)
    out[(..., *[slice(p, p + n) for n, p in zip(size, before, strict=True)])] = a
    return out


def seen(a: Any, kernel: Shape, stride: Shape, dilation: Shape, out: Shape) -> Any:
    """A view of a row-major array ``[*lead, *size]`` through its windows: ``[*lead, *kernel, *out]``."""
    lead = a.ndim - len(kernel)
    strides = a.strides[lead:]
    steps = [s * d for s, d in zip(strides, dilation, strict=True)] + [
        s * t for s, t in zip(strides, stride, strict=True)
    ]
    return backend.of(a).strided(a, (*a.shape[:lead], *kernel, *out), (*a.strides[:lead], *steps), 0, a.dtype)


def offsets(kernel: Sequence[int]) -> Iterator[Shape]:
    """Every element of a window, row by row."""
    return product(*[range(k) for k in kernel])


def under(offset: Sequence[int], stride: Sequence[int], dilation: Sequence[int], out: Sequence[int]) -> Any:
    """A subscript for what one element of the window sees from all places."""
    starts = [o * d for o, d in zip(offset, dilation, strict=True)]
    return (..., *[slice(b, b + s * (n - 1) + 1, s) for b, s, n in zip(starts, stride, out, strict=True)])


def channels_last(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether an array ``[N, C, *size]`` lies with its channels innermost, and in no way that is row-major as well."""
    if len(shape) not in (4, 5) or 0 in shape:
        return False
    least = 0
    for d in (1, *range(len(shape) - 1, 1, -1), 0):
        if strides[d] < least or (d == 0 and least == strides[1]):
            return False
        least = strides[d] * max(1, shape[d])
    return True


def laid_out(xp: Any, result: Any, *models: Any) -> Any:
    """``result`` with its channels innermost where one of the models lies so."""
    if not any(channels_last(m.shape, m.strides) for m in models if m is not None):
        return result
    n = result.ndim
    inner = result.transpose((0, *range(2, n), 1)).copy()
    return backend.of(inner).in_order(inner, (0, n - 1, *range(1, n - 1)))


def blocks(count: int, bytes_each: int, limit: int) -> Iterator[slice]:
    """Runs of a batch whose temporary values stay below a limit."""
    step = max(1, min(count, limit // max(1, bytes_each)))
    for start in range(0, count, step):
        yield slice(start, min(count, start + step))


def half(a: Any) -> bool:
    """Whether an array holds numbers of 16 bits, which are worked on in float32 and rounded once."""
    return a.dtype.itemsize == 2 and a.dtype.kind in "fV"


def widened(forward: Any) -> Any:
    """A forward that works out float16 and bfloat16 in float32 and rounds once."""

    def kernel(xp: Any, a: Any, *others: Any, **attrs: Any) -> Any:
        if not half(a):
            return forward(xp, a, *others, **attrs)
        wide = [x.astype(np.float32) if x is not None and half(x) else x for x in (a, *others)]
        found = forward(xp, *wide, **attrs)
        if type(found) is tuple:
            return (found[0].astype(a.dtype), *found[1:])
        return found.astype(a.dtype)

    return kernel


def size_of(shape: Sequence[int]) -> int:
    return prod(shape)
