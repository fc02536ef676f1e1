"""Rows that take any number of tensors and make one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorlab.ops.table import PROMOTE, SAME, no_cost, row

Shape = tuple[int, ...]


def _cat_shape(shapes: Sequence[Shape], dim: int, sizes: Sequence[int]) -> Shape:
    full = [s for s in shapes if s != (0,)]
    if not full:
        return (0,)
    first = full[0]
    for i, shape in enumerate(shapes):
        if shape == (0,):
            continue
        if len(shape) != len(first):
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)} "
                f"(tensor {i} of cat is {list(shape)})"
            )
        for d, (n, m) in enumerate(zip(first, shape, strict=True)):
            if n != m and d != dim:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {n} but got size {m} for tensor number {i} in "
                    f"the list (dimension {d}; shapes {[list(s) for s in shapes]})."
                )
    return first[:dim] + (sum(s[dim] for s in full),) + first[dim + 1 :]


def _cat(xp: Any, *arrays: Any, dim: int, sizes: Sequence[int]) -> Any:
    kept = [a for a in arrays if a.shape != (0,)] or list(arrays[:1])
    return xp.concatenate(kept, axis=dim if kept[0].ndim > 1 else 0)


def _cat_grad(grads: Any, needs: Any, dim: int, sizes: Sequence[int]) -> Any:
    g = grads[0]
    out, start = [], 0
    for need, size in zip(needs, sizes, strict=True):
        out.append(g.narrow(dim, start, size) if need else None)
        start += size
    return out


cat = row(
    "cat",
    "*tensors",
    forward=_cat,
    infer=_cat_shape,
    grad=_cat_grad,
    formula="result = tensors one after another along dim",
    derivatives={"tensors": "the part of grad that came from each"},
    onnx="Concat",
    cost=no_cost,
    samples=lambda t: [
        (([t(2, 3), t(1, 3)],), {}),
        (([t(2, 3), t(2, 1), t(2, 0)], 1), {}),
        (
            (
                [
                    t(2),
                ],
            ),
            {},
        ),
    ],
    autocast=PROMOTE,
    promotes=True,
    result=SAME,
)


def _stack_shape(shapes: Sequence[Shape], dim: int) -> Shape:
    first = tuple(shapes[0])
    for i, shape in enumerate(shapes):
        if tuple(shape) != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 "
                f"and {list(shape)} at entry {i}"
            )
    return first[:dim] + (len(shapes),) + first[dim:]


def _stack_grad(grads: Any, needs: Any, dim: int) -> Any:
    return [grads[0].select(dim, i) if need else None for i, need in enumerate(needs)]


stack = row(
    "stack",
    "*tensors",
    forward=lambda xp, *arrays, dim: xp.stack(arrays, axis=dim),
    infer=_stack_shape,
    grad=_stack_grad,
    formula="result = tensors side by side along a new dimension",
    derivatives={"tensors": "grad at each index"},
    onnx="Concat",
    cost=no_cost,
    samples=lambda t: [(([t(2, 3), t(2, 3)],), {}), (([t(2), t(2), t(2)], 1), {}), (([t(), t()],), {})],
    autocast=PROMOTE,
    promotes=True,
    result=SAME,
)
