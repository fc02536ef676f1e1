"""Reading and writing by index tensors. Basic indexing (ints, slices, ``None``) is made of views and lives with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab import backend
from tensorlab.ops.table import GPU_PROMOTE, NO_ONNX, elements, no_cost, row

Shape = tuple[int, ...]
Indices = tuple[Any, ...]  # one entry a dimension: an integer array, or slice(None)


def indexed_shape(shape: Shape, indices: Indices) -> Shape:
    """The shape of ``a[indices]``: the index arrays' common shape stands where they were, or in front if they are apart."""
    at = [d for d, i in enumerate(indices) if not isinstance(i, slice)]
    common = np.broadcast_shapes(*[indices[d].shape for d in at])
    rest = [n for d, n in enumerate(shape) if d >= len(indices) or isinstance(indices[d], slice)]
    adjacent = at == list(range(at[0], at[-1] + 1))
    before = at[0] if adjacent else 0
    return (*rest[:before], *common, *rest[before:])


def _index_backward(xp: Any, g: Any, shape: Shape, indices: Indices) -> Any:
    out = xp.zeros(shape, g.dtype)
    _add_at(xp, out, indices, g)
    return out


def _add_at(xp: Any, out: Any, indices: Indices, values: Any) -> None:
    """``out[indices] += values`` with every repeated index counted."""
    if xp is np and len(indices) == 1 and out.ndim == 1 and out.dtype.kind == "f" and out.dtype.itemsize >= 4:
        at = np.where(indices[0] < 0, indices[0] + out.shape[0], indices[0]).reshape(-1)
        flat = np.broadcast_to(values, indices[0].shape).reshape(-1)
        out += np.bincount(at, weights=flat, minlength=out.shape[0]).astype(out.dtype)
        return
    backend.of(out).add_at(out, indices, values)


def _index_put(xp: Any, a: Any, values: Any, indices: Indices, accumulate: bool) -> Any:
    out = a.copy()
    if accumulate:
        _add_at(xp, out, indices, values.astype(a.dtype))
    else:
        out[indices] = values
    return out


def _index(xp: Any, a: Any, indices: Indices) -> Any:
    """``a[indices]``, row by row in memory, as PyTorch gives it; NumPy lays the indexed dimensions outermost."""
    found = a[indices]
    return found if found.flags.c_contiguous else xp.ascontiguousarray(found)


index = row(
    "index",
    "self",
    forward=_index,
    infer=lambda shapes, indices: indexed_shape(tuple(shapes[0]), indices),
    grad={"self": lambda g, self_shape, indices: g._op("index_backward", shape=self_shape, indices=indices)},
    formula="result = self[indices]",
    derivatives={"self": "zeros with grad added at the indices"},
    onnx="GatherND",
    cost=no_cost,
    samples=lambda t: [
        ((t(4, 3),), {"indices": (np.array([0, 0, 2]),)}),
        ((t(4, 3),), {"indices": (slice(None), np.array([[0, 1], [2, 2]]))}),
    ],
)
index_backward = row(
    "index_backward",
    "grad",
    forward=_index_backward,
    infer=lambda shapes, shape, indices: tuple(shape),
    grad={"grad": lambda g, indices: g._op("index", indices=indices)},
    formula="result = zeros with grad added at the indices",
    derivatives={"grad": "grad at the indices"},
    onnx=NO_ONNX("appears in gradients only"),
    cost=no_cost,
    samples=lambda t: [((t(3, 3),), {"shape": (4, 3), "indices": (np.array([0, 0, 2]),)})],
)
index_put = row(
    "index_put",
    "self values",
    forward=_index_put,
    infer=lambda shapes, indices, accumulate: tuple(shapes[0]),
    grad={
        "self": lambda g, indices, accumulate: (
            g if accumulate else g._op("index_put", g._zeros(()), indices=indices, accumulate=False)
        ),
        "values": lambda g, indices: g._op("index", indices=indices),
    },
    formula="result = self with values at the indices",
    derivatives={"self": "grad, 0 at the indices", "values": "grad at the indices"},
    onnx="ScatterND",
    cost=no_cost,
    samples=lambda t: [
        ((t(4, 3), t(2, 3)), {"indices": (np.array([0, 2]),), "accumulate": False}),
        ((t(4, 3), t(3)), {"indices": (np.array([0, 0]),), "accumulate": True}),
    ],
    autocast=GPU_PROMOTE,
)


def _along(xp: Any, at: Any, dim: int) -> Indices:
    """Index arrays that read ``at`` along ``dim`` and the position itself along all others."""
    return tuple(
        [
            at if d == dim else xp.arange(n).reshape((1,) * d + (n,) + (1,) * (at.ndim - d - 1))
            for d, n in enumerate(at.shape)
        ]
    )


def check_gather(shape: Shape, index_shape: Shape, dim: int, op: str) -> None:
    if 0 in index_shape:
        return
    if len(shape) != len(index_shape) and not (len(shape) <= 1 and len(index_shape) <= 1):
        raise RuntimeError(
            f"{op}(): Index tensor must have the same number of dimensions as input tensor; index {list(index_shape)}, input {list(shape)}"
        )
    for d, (n, m) in enumerate(zip(index_shape, shape, strict=False)):
        if d != dim and n > m:
            raise RuntimeError(
                f"{op}(): Size does not match at dimension {d} expected index {list(index_shape)} to be no larger than self {list(shape)} "
                f"apart from dimension {dim}"
            )


def check_scatter(a: Any, at: Any, src: Any, dim: int, op: str) -> None:
    """Refuse what ``scatter`` cannot put into place, in PyTorch's words."""
    if a.dtype != src.dtype:
        raise RuntimeError(
            f"{op}(): Expected self.dtype to be equal to src.dtype, got {a.dtype.name} and {src.dtype.name}"
        )
    if at.size == 0:
        return
    for name, shape in (("self", a.shape), ("src", src.shape)):
        if max(1, len(shape)) != max(1, at.ndim):
            raise RuntimeError(
                f"{op}(): Index tensor must have the same number of dimensions as {name} tensor; index "
                f"{list(at.shape)}, {name} {list(shape)}"
            )
    for d, n in enumerate(at.shape):
        if n > (src.shape or (1,))[d] or (d != dim and n > a.shape[d]):
            raise RuntimeError(
                f"{op}(): Expected index {list(at.shape)} to be no larger than self {list(a.shape)} apart from "
                f"dimension {dim} and to be no larger size than src {list(src.shape)}"
            )


_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def _checked(at: Any, size: int, op: str, dim: int) -> None:
    if at.size and int(at.view(_UNSIGNED[at.itemsize]).max()) >= size:  # a negative number is a large one there
        low, high = int(at.min()), int(at.max())
        if low < 0 or high >= size:
            kind = IndexError if op.startswith("index") else RuntimeError
            raise kind(
                f"{op}(): index {low if low < 0 else high} is out of bounds for dimension {dim} with size {size}"
            )


def _gather(xp: Any, a: Any, at: Any, dim: int) -> Any:
    check_gather(a.shape, at.shape, dim, "gather")
    if at.size == 0:
        return xp.zeros(at.shape, a.dtype)
    if a.ndim == 0 or at.ndim == 0:
        return xp.broadcast_to(a.reshape(-1)[at.reshape(-1)], (max(1, at.size),)).reshape(at.shape).copy()
    _checked(at, a.shape[dim], "gather", dim)
    return a[_along(xp, at, dim)]


def _scatter_add(xp: Any, a: Any, at: Any, src: Any, dim: int) -> Any:
    check_scatter(a, at, src, dim, "scatter_add")
    out = a.copy()
    if at.size == 0:
        return out
    if a.ndim == 0:
        backend.of(out).add_at(out.reshape(1), xp.zeros(at.size, np.int64), src.reshape(-1)[: at.size])
        return out
    _checked(at, a.shape[dim], "scatter_add", dim)
    backend.of(out).add_at(out, _along(xp, at, dim), src[tuple(slice(0, n) for n in at.shape)])
    return out


gather = row(
    "gather",
    "self index",
    forward=_gather,
    infer=lambda shapes, dim: tuple(shapes[1]),
    grad={"self": lambda g, index, self_shape, dim: g._zeros(self_shape).scatter_add(dim, index, g)},
    formula="result[i, j] = self[i, index[i, j]]  (along dim)",
    derivatives={"self": "zeros with grad added at index"},
    onnx="GatherElements",
    cost=no_cost,
    samples=lambda t: [
        ((t(3, 4), 1, t.index(4, 3, 2)), {}),
        ((t(3, 4), 0, t.index(3, 2, 4)), {}),
        ((t(5), 0, t.index(5, 3)), {}),
    ],
)
scatter_add = row(
    "scatter_add",
    "self index src",
    forward=_scatter_add,
    infer=lambda shapes, dim: tuple(shapes[0]),
    grad={"self": lambda g: g, "src": lambda g, index, src_shape, dim: fit(g.gather(dim, index), src_shape)},
    formula="result = self with src added at index  (along dim)",
    derivatives={"self": "grad", "src": "grad at index"},
    onnx="ScatterElements",
    cost=lambda shapes, result, **attrs: elements(shapes[1]),
    samples=lambda t: [((t(3, 4), 1, t.index(4, 3, 2), t(3, 2)), {}), ((t(3, 4), 0, t.index(3, 2, 4), t(2, 4)), {})],
    autocast=GPU_PROMOTE,
)


def _scatter(xp: Any, a: Any, at: Any, src: Any, dim: int) -> Any:
    check_scatter(a, at, src, dim, "scatter")
    out = a.copy()
    if at.size == 0:
        return out
    if a.ndim == 0:
        return src.reshape(-1)[: at.size][-1:].reshape(()).copy()
    _checked(at, a.shape[dim], "scatter", dim)
    out[_along(xp, at, dim)] = src[tuple(slice(0, n) for n in at.shape)]
    return out


scatter = row(
    "scatter",
    "self index src",
    forward=_scatter,
    infer=lambda shapes, dim: tuple(shapes[0]),
    grad={
        "self": lambda g, index, dim: g._op("scatter", index, g._zeros(tuple(index.shape)), dim=dim),
        "src": lambda g, index, src_shape, dim: fit(g.gather(dim, index), src_shape),
    },
    formula="result = self with src written at index  (along dim)",
    derivatives={"self": "grad, 0 at index", "src": "grad at index"},
    onnx="ScatterElements",
    cost=no_cost,
    samples=lambda t: [
        ((t(3, 4), 1, t.index(1, 3, 1), t(3, 1)), {}),
        ((t(3, 4), 0, t.index(3, 1, 4), t(2, 4)), {}),
        ((t(5), 0, t.index(5, 1), t(3)), {}),
    ],
)


def _index_add(xp: Any, a: Any, at: Any, src: Any, dim: int, alpha: float) -> Any:
    if a.dtype != src.dtype:
        raise RuntimeError(
            f"index_add(): self ({a.dtype.name}) and source ({src.dtype.name}) must have the same scalar type"
        )
    if at.ndim > 1:
        raise IndexError(f"index_add(): Index is supposed to be a vector, but it has shape {list(at.shape)}")
    flat = a.ndim == 0
    out, at = a.reshape(1).copy() if flat else a.copy(), at.reshape(-1)
    src = src.reshape(1) if src.ndim == 0 else src
    wanted = (*out.shape[:dim], at.size, *out.shape[dim + 1 :])
    if src.shape != wanted:
        raise RuntimeError(
            "index_add(): source shape must match self shape, excluding the specified dimension: "
            f"wanted {list(wanted)}, got {list(src.shape)}"
        )
    _checked(at, out.shape[dim], "index_add", dim)
    _add_at(xp, out, (slice(None),) * dim + (at,), src if alpha == 1 else src * np.asarray(alpha).astype(src.dtype)[()])
    return out.reshape(()) if flat else out


index_add = row(
    "index_add",
    "self index source",
    forward=_index_add,
    infer=lambda shapes, dim, alpha: tuple(shapes[0]),
    grad={
        "self": lambda g: g,
        "source": lambda g, index, source_shape, dim, alpha: (g.index_select(dim, index) * alpha).reshape(source_shape),
    },
    formula="result = self with α · source added at the indices of one dimension",
    derivatives={"self": "grad", "source": "α · grad at the indices"},
    onnx=NO_ONNX("ScatterND with addition"),
    cost=lambda shapes, result, **attrs: 2 * elements(shapes[2]),
    samples=lambda t: [
        ((t(3, 4), 0, t.index(3, 5), t(5, 4)), {}),
        ((t(3, 4), 1, t.index(4, 2), t(3, 2)), {"alpha": 0.5}),
        ((t(4), 0, t.index(4, 3), t(3)), {}),
    ],
)


def fit(g: Any, shape: Shape) -> Any:
    """A gradient for the part of ``src`` that was used, with zeros for the rest."""
    if tuple(g.shape) == tuple(shape):
        return g
    if 0 in g.shape:
        return g._zeros(tuple(shape))
    for d, n in enumerate(shape):
        if g.shape[d] != n:
            g = g._op(
                "slice_backward", shape=(*g.shape[:d], n, *g.shape[d + 1 :]), dim=d, start=0, stop=g.shape[d], step=1
            )
    return g


def _index_select(xp: Any, a: Any, at: Any, dim: int) -> Any:
    if at.ndim > 1:
        raise IndexError(f"index_select(): Index is supposed to be a vector, but it has shape {list(at.shape)}")
    if a.ndim == 0:
        return xp.take(a.reshape(1), at.reshape(-1)).reshape(())
    _checked(at, a.shape[dim], "index_select", dim)
    return xp.take(a, at.reshape(-1), axis=dim)


index_select = row(
    "index_select",
    "self index",
    forward=_index_select,
    infer=lambda shapes, dim: (*shapes[0][:dim], elements(shapes[1]), *shapes[0][dim + 1 :]) if shapes[0] else (),
    grad={
        "self": lambda g, index, self_shape, dim: (
            g._op("index_backward", shape=self_shape, indices=(slice(None),) * dim + (index.reshape(-1)._a,))
            if self_shape
            else g
        )
    },
    formula="result = self at the indices of one dimension",
    derivatives={"self": "zeros with grad added at the indices"},
    onnx="Gather",
    cost=no_cost,
    samples=lambda t: [((t(3, 4), 1, t.index(4, 3)), {}), ((t(3, 4), 0, t.index(3, 5)), {})],
)
flip = row(
    "flip",
    "self",
    forward=lambda xp, a, dims: xp.flip(a, dims).copy() if dims else a.copy(),
    infer=lambda shapes, dims: tuple(shapes[0]),
    grad={"self": lambda g, dims: g.flip(dims)},
    formula="result = self with dimensions reversed",
    derivatives={"self": "grad reversed back"},
    onnx=NO_ONNX("Slice with step -1"),
    cost=no_cost,
    samples=lambda t: [((t(2, 3), (0,)), {}), ((t(2, 3), (0, 1)), {})],
)

roll = row(
    "roll",
    "self",
    forward=lambda xp, a, shifts, dims: xp.roll(a, shifts, dims),
    infer=lambda shapes, shifts, dims: tuple(shapes[0]),
    grad={"self": lambda g, shifts, dims: g.roll(tuple(-n for n in shifts), dims)},
    formula="result = self moved along dimensions, round the end",
    derivatives={"self": "grad moved back"},
    onnx=NO_ONNX("Slice, Concat"),
    cost=no_cost,
    samples=lambda t: [((t(2, 3), 1, 1), {}), ((t(2, 3), (1, -2), (0, 1)), {}), ((t(0, 3), 1, 1), {})],
)


def _triangle(name: str) -> Any:
    return row(
        name,
        "self",
        forward=lambda xp, a, diagonal: getattr(xp, name)(a, diagonal),
        infer=lambda shapes, diagonal: tuple(shapes[0]),
        grad={
            "self": (lambda g, diagonal: g.tril(diagonal)) if name == "tril" else (lambda g, diagonal: g.triu(diagonal))
        },
        formula=f"result = {'lower' if name == 'tril' else 'upper'} triangle of self",
        derivatives={"self": "the same triangle of grad"},
        onnx="Trilu",
        cost=no_cost,
        samples=lambda t: [((t(3, 4),), {}), ((t(2, 3, 3), 1), {}), ((t(3, 3), -1), {})],
    )


tril = _triangle("tril")
triu = _triangle("triu")
