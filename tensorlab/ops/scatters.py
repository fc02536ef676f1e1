"""Tensors with a part replaced, or laid out along a diagonal: what writes to views do, out of place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorlab.ops.convert import cloned
from tensorlab.ops.table import NO_ONNX, PROMOTE, SAME, elements, no_cost, per_element, row

Shape = tuple[int, ...]


def _replacing(name: str, write: Callable[..., None], grad: dict[str, Any], formula: str, samples: Any) -> Any:
    """The row that copies ``self`` and writes ``src`` into a part of it: ``write(xp, array, src, **attrs)``."""

    def forward(xp: Any, a: Any, src: Any, **attrs: Any) -> Any:
        out = cloned(xp, a, None)
        write(xp, out, src.astype(a.dtype), **attrs)
        return out

    return row(
        name,
        "self src",
        forward=forward,
        infer=lambda shapes, **attrs: tuple(shapes[0]),
        grad=grad,
        formula=formula,
        derivatives={"self": "grad, 0 where src was written", "src": "grad where src was written"},
        onnx=NO_ONNX("ScatterND"),
        cost=no_cost,
        samples=samples,
    )


def _write_select(xp: Any, out: Any, src: Any, dim: int, index: int) -> None:
    out[(slice(None),) * dim + (index,)] = src


def _write_slice(xp: Any, out: Any, src: Any, dim: int, start: int, stop: int, step: int) -> None:
    out[(slice(None),) * dim + (slice(start, stop, step),)] = src


def _write_diagonal(xp: Any, out: Any, src: Any, offset: int, dim1: int, dim2: int) -> None:
    if src.size:
        at = xp.arange(src.shape[-1])
        xp.moveaxis(out, (dim1, dim2), (0, 1))[at + max(-offset, 0), at + max(offset, 0)] = xp.moveaxis(src, -1, 0)


def _replaced(name: str, view: str, g: Any, **attrs: Any) -> Any:
    """The gradient with 0 where ``src`` was written."""
    part = g._op(view, **attrs)
    return g._op(name, g._zeros(tuple(part.shape)), **attrs)


select_scatter = _replacing(
    "select_scatter",
    _write_select,
    {
        "self": lambda g, dim, index: _replaced("select_scatter", "select", g, dim=dim, index=index),
        "src": lambda g, dim, index: g.select(dim, index),
    },
    "result = self with src at one index of a dimension",
    lambda t: [((t(2, 3), t(3), 0, 1), {}), ((t(2, 3), t(2), -1, 0), {})],
)
slice_scatter = _replacing(
    "slice_scatter",
    _write_slice,
    {
        "self": lambda g, dim, start, stop, step: _replaced(
            "slice_scatter", "slice", g, dim=dim, start=start, stop=stop, step=step
        ),
        "src": lambda g, dim, start, stop, step: g._op("slice", dim=dim, start=start, stop=stop, step=step),
    },
    "result = self with src in a slice of one dimension",
    lambda t: [((t(5, 2), t(2, 2), 0, 1, 5, 2), {}), ((t(2, 3), t(2, 2), 1), {"end": 2})],
)
diagonal_scatter = _replacing(
    "diagonal_scatter",
    _write_diagonal,
    {
        "self": lambda g, offset, dim1, dim2: _replaced(
            "diagonal_scatter", "diagonal", g, offset=offset, dim1=dim1, dim2=dim2
        ),
        "src": lambda g, offset, dim1, dim2: g.diagonal(offset, dim1, dim2),
    },
    "result = self with src on a diagonal",
    lambda t: [((t(3, 4), t(3)), {}), ((t(3, 4), t(2), -1), {}), ((t(2, 3, 3), t(2, 3), 0, 1, 2), {})],
)

# ---------------------------------------------------------------------------------------------------------- diagonals


def _embedded(shape: Sequence[int], offset: int, dim1: int, dim2: int) -> Shape:
    """The shape of matrices that have the last dimension of ``shape`` on a diagonal of ``dim1`` and ``dim2``."""
    n = shape[-1] + abs(offset)
    out = list(shape[:-1])
    for d in sorted((dim1, dim2)):
        out.insert(d, n)
    return tuple(out)


def _diag_embed(xp: Any, a: Any, offset: int, dim1: int, dim2: int) -> Any:
    out = xp.zeros(_embedded(a.shape, offset, dim1, dim2), a.dtype)
    _write_diagonal(xp, out, a, offset, dim1, dim2)
    return out


diag_embed = row(
    "diag_embed",
    "self",
    forward=_diag_embed,
    infer=lambda shapes, offset, dim1, dim2: _embedded(shapes[0], offset, dim1, dim2),
    grad={"self": lambda g, offset, dim1, dim2: g.diagonal(offset, dim1, dim2)},
    formula="result = zeros with self on a diagonal",
    derivatives={"self": "the diagonal of grad"},
    onnx=NO_ONNX("EyeLike, Mul"),
    cost=per_element(0),
    samples=lambda t: [((t(3),), {}), ((t(2, 3), 1), {}), ((t(2, 3), -1, 0, 2), {}), ((t(2, 0),), {})],
)


def _block_diag(xp: Any, *arrays: Any, sizes: Sequence[Shape]) -> Any:
    out = xp.zeros((sum(n for n, _ in sizes), sum(m for _, m in sizes)), arrays[0].dtype)
    i = j = 0
    for a, (n, m) in zip(arrays, sizes, strict=True):
        if a.size:
            out[i : i + n, j : j + m] = a
        i, j = i + n, j + m
    return out


def _block_diag_grad(grads: Any, needs: Any, sizes: Sequence[Shape]) -> Any:
    out, i, j = [], 0, 0
    for need, (n, m) in zip(needs, sizes, strict=True):
        out.append(grads[0].narrow(0, i, n).narrow(1, j, m) if need else None)
        i, j = i + n, j + m
    return out


block_diag = row(
    "block_diag",
    "*tensors",
    forward=_block_diag,
    infer=lambda shapes, sizes: (sum(n for n, _ in sizes), sum(m for _, m in sizes)),
    grad=_block_diag_grad,
    formula="result = zeros with the tensors along the diagonal",
    derivatives={"tensors": "the block of grad that came from each"},
    onnx=NO_ONNX("Pad, Concat"),
    cost=lambda shapes, result, **attrs: elements(result),
    samples=lambda t: [((t(2, 3), t(1, 2)), {}), ((t(2), t(), t(2, 0)), {}), ((t(2, 2),), {})],
    autocast=PROMOTE,
    promotes=True,
    result=SAME,
)
