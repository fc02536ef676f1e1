"""Values put at places: filled, copied, combined with what is there. Repeated places count as often as they appear."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab import backend
from tensorlab.ops.indexing import check_scatter, fit
from tensorlab.ops.reduce import wide
from tensorlab.ops.table import NO_ONNX, elements, no_cost, row

Shape = tuple[int, ...]

# ------------------------------------------------------------------------------------------ along one dimension


def need_long(op: str, at: Any) -> None:
    """Refuse indices of other types than int64."""
    if at.dtype != np.int64:
        raise RuntimeError(
            f"{op}(): Expected a long tensor for index, but got {at.dtype.name}; convert it with .long()"
        )


def _within(at: Any, size: int, op: str, dim: int) -> Any:
    """Indices counted from 0, negative ones from the end. Raises ``IndexError`` for those outside."""
    if at.size:
        low, high = int(at.min()), int(at.max())
        if low < -size or high >= size:
            outside = low if low < -size else high
            raise IndexError(f"{op}(): index {outside} is out of bounds for dimension {dim} with size {size}")
        if low < 0:
            at = at + (at < 0) * np.int64(size)
    return at


def _lanes(a: Any, dim: int) -> tuple[Any, tuple[Any, ...]]:
    """A copy of ``a`` with at least one dimension, and the subscripts before an index along ``dim``."""
    return (a.reshape(1).copy() if a.ndim == 0 else a.copy()), (slice(None),) * dim


def _index_fill(xp: Any, a: Any, at: Any, value: Any, dim: int) -> Any:
    if at.ndim > 1:
        raise RuntimeError(f"index_fill(): Index has to be a vector/scalar, but it has shape {list(at.shape)}")
    out, before = _lanes(a, dim)
    out[(*before, _within(at.reshape(-1), out.shape[dim], "index_fill", dim))] = value.astype(a.dtype)
    return out.reshape(a.shape)


def _untouched(g: Any, index: Any, dim: int) -> Any:
    """Where nothing was filled in."""
    return g._zeros(tuple(g.shape))._op("index_fill", index, g.new_ones(()), dim=dim) == 0


index_fill = row(
    "index_fill",
    "self index value",
    forward=_index_fill,
    infer=lambda shapes, dim: tuple(shapes[0]),
    grad={
        "self": lambda g, index, dim: g._op("index_fill", index, g._zeros(()), dim=dim),
        "value": lambda g, index, dim: g.masked_fill(_untouched(g, index, dim), 0).sum(),
    },
    formula="result = self with value at the indices of one dimension",
    derivatives={"self": "grad, 0 at the indices", "value": "sum of grad at the indices"},
    onnx=NO_ONNX("ScatterND"),
    cost=no_cost,
    samples=lambda t: [
        ((t(3, 4), 0, t.index(3, 2), t()), {}),
        ((t(3, 4), 1, t.index(4, 2), 0.5), {}),
        ((t(), 0, t.index(1, 1), t()), {}),
    ],
)


def _check_index_copy(a: Any, at: Any, src: Any, dim: int) -> None:
    """Refuse what does not fit, in the order in which PyTorch looks."""
    if at.ndim > 1:
        raise IndexError(f"index_copy(): Index should have dimension 1 or 0 (got {at.ndim})")
    if src.ndim == 0 and at.size != 1:
        raise IndexError(f"index_copy(): When source is scalar, index should have one element (got {at.size})")
    if src.ndim != a.ndim and src.ndim and a.ndim:
        raise IndexError(
            "index_copy(): When source and destination are not scalars, their dimensionality must match. Source dimensionality "
            f"({src.ndim}), destination dimensionality ({a.ndim})"
        )
    need_long("index_copy", at)
    if a.dtype != src.dtype:
        raise RuntimeError(
            f"index_copy(): self and source expected to have the same dtype, but got (self) {a.dtype.name} and (source) {src.dtype.name}"
        )
    whole, part = (shape[:dim] + shape[dim + 1 :] for shape in (a.shape, src.shape))
    if whole != part:
        raise RuntimeError(
            "index_copy(): Source/destination tensor must have same slice shapes. Destination shape "
            f"{list(a.shape)} and source shape {list(src.shape)} at dimension {dim}"
        )
    if src.ndim and src.shape[dim] != at.size:
        raise IndexError(
            f"index_copy(): Number of indices ({at.size}) should be equal to source.size(dim) ({src.shape[dim]})"
        )


def _index_copy(xp: Any, a: Any, at: Any, src: Any, dim: int) -> Any:
    _check_index_copy(a, at, src, dim)
    out, before = _lanes(a, dim)
    at, src = at.reshape(-1), src.reshape(1) if src.ndim == 0 else src
    if at.size and int(at.min()) < 0:
        raise IndexError(
            f"index_copy(): index {int(at.min())} is out of bounds for dimension {dim} with size {out.shape[dim]}"
        )
    out[(*before, _within(at, out.shape[dim], "index_copy", dim))] = src
    return out.reshape(a.shape)


index_copy = row(
    "index_copy",
    "self index source",
    forward=_index_copy,
    infer=lambda shapes, dim: tuple(shapes[0]),
    grad={
        "self": lambda g, index, dim: g._op("index_fill", index, g._zeros(()), dim=dim),
        "source": lambda g, index, source_shape, dim: g.index_select(dim, index).reshape(source_shape),
    },
    formula="result = self with source at the indices of one dimension",
    derivatives={"self": "grad, 0 at the indices", "source": "grad at the indices"},
    onnx=NO_ONNX("ScatterND"),
    cost=no_cost,
    samples=lambda t: [
        ((t(3, 4), 0, t.index(1, 1), t(1, 4)), {}),
        ((t(3, 4), 1, t.index(4, 1), t(3, 1)), {}),
        ((t(), 0, t.index(1, 1), t(1)), {}),
    ],
)

# --------------------------------------------------------------------------------------------- in the flattened tensor


def _flat_positions(at: Any, count: int) -> Any:
    """Positions in a flattened tensor, counted from 0."""
    if at.size:
        low, high = int(at.min()), int(at.max())
        if low < -count or high >= count:
            raise IndexError(
                f"out of range: tried to access index {low if low < -count else high} on a tensor of {count} elements."
            )
        if low < 0:
            at = at + (at < 0) * np.int64(count)
    return at


def _take(xp: Any, a: Any, at: Any) -> Any:
    need_long("take", at)
    if a.size == 0 and at.size:
        raise IndexError("take(): tried to take from an empty tensor")
    return xp.take(a.reshape(-1), _flat_positions(at, a.size)) if at.size else xp.zeros(at.shape, a.dtype)


def _put(xp: Any, a: Any, at: Any, src: Any, accumulate: bool) -> Any:
    need_long("put", at)
    if a.dtype != src.dtype:
        raise RuntimeError(
            f"put(): self and source expected to have the same dtype, but got self.dtype = {a.dtype.name} and source.dtype = "
            f"{src.dtype.name}"
        )
    if at.size != src.size:
        raise IndexError(
            "put(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{src.size}, index.numel() = {at.size}"
        )
    out = a.copy()
    if at.size == 0:
        return out
    flat, where, values = out.reshape(-1), _flat_positions(at, a.size).reshape(-1), src.reshape(-1)
    if accumulate:
        backend.of(out).add_at(flat, where, values)
    else:
        flat[where] = values
    return out


take = row(
    "take",
    "self index",
    forward=_take,
    infer=lambda shapes: tuple(shapes[1]),
    grad={"self": lambda g, index, self_shape: g._zeros(self_shape)._op("put", index, g, accumulate=True)},
    formula="result = the flattened self at index",
    derivatives={"self": "zeros with grad added at index"},
    onnx=NO_ONNX("Reshape, Gather"),
    cost=no_cost,
    samples=lambda t: [((t(2, 3), t.index(6, 4)), {}), ((t(2, 3), t.index(6, 2, 2)), {}), ((t(), t.index(1, 2)), {})],
)
put = row(
    "put",
    "self index source",
    forward=_put,
    infer=lambda shapes, accumulate: tuple(shapes[0]),
    grad={
        "self": lambda g, index, accumulate: (
            g if accumulate else g._op("put", index, g._zeros(tuple(index.shape)), accumulate=False)
        ),
        "source": lambda g, index, source_shape: g.take(index).reshape(source_shape),
    },
    formula="result = self with source at index of the flattened tensor",
    derivatives={"self": "grad, 0 at index", "source": "grad at index"},
    onnx=NO_ONNX("Reshape, ScatterND"),
    cost=no_cost,
    samples=lambda t: [
        ((t(2, 3), t.index(6, 4), t(2, 2), True), {}),
        ((t(2, 3), t.index(6, 1), t(1)), {}),
        ((t(), t.index(1, 1), t(1)), {}),
    ],
)


def _masked_scatter(xp: Any, a: Any, mask: Any, src: Any) -> Any:
    out = a.copy()
    count = int(mask.sum())
    if src.size < count:
        raise RuntimeError(
            f"masked_scatter: Number of elements of source < number of ones in mask ({src.size} for {count})"
        )
    out[mask] = src.reshape(-1)[:count]
    return out


def _masked_scatter_backward(xp: Any, g: Any, mask: Any, shape: Shape) -> Any:
    out = xp.zeros(shape, g.dtype)
    values = g[mask]
    out.reshape(-1)[: values.size] = values
    return out


masked_scatter = row(
    "masked_scatter",
    "self mask source",
    forward=_masked_scatter,
    infer=lambda shapes: tuple(shapes[0]),
    grad={
        "self": lambda g, mask: g.masked_fill(mask, 0),
        "source": lambda g, mask, source_shape: g._op("masked_scatter_backward", mask, shape=source_shape),
    },
    formula="result = self with the elements of source, in turn, where mask",
    derivatives={"self": "0 where mask, else grad", "source": "grad where mask, then zeros"},
    onnx=NO_ONNX("ScatterND"),
    cost=no_cost,
    samples=lambda t: [((t(2, 3), t.mask(2, 3), t(6)), {}), ((t(2, 3), t.mask(2, 3), t(2, 4)), {})],
)
masked_scatter_backward = row(
    "masked_scatter_backward",
    "grad mask",
    forward=_masked_scatter_backward,
    infer=lambda shapes, shape: tuple(shape),
    grad={"grad": lambda g, mask, grad_shape: g._zeros(grad_shape)._op("masked_scatter", mask, g)},
    formula="result = grad where mask, one after another, then zeros",
    derivatives={"grad": "zeros with grad, in turn, where mask"},
    onnx=NO_ONNX("appears in gradients only"),
    cost=no_cost,
    samples=lambda t: [((t(2, 3), t.mask(2, 3)), {"shape": (7,)})],
)

# ----------------------------------------------------------------------------------------- combined with what is there

#: The elementwise function behind each way to combine.
COMBINES = {"sum": "add", "prod": "multiply", "mean": "add", "amax": "maximum", "amin": "minimum"}


def combine_at(xp: Any, out: Any, at: Any, values: Any, name: str) -> None:
    """``out[at] = combine(out[at], values)`` for flat arrays, with every repeated position counted."""
    if xp is np:
        getattr(np, name).at(out, at, values)
        return
    if at.size == 0:
        return
    # Values of one position brought together; then each takes in the one `step` before, as long as it belongs to the same position.
    combine, order = getattr(xp, name), xp.argsort(at, kind="stable")
    place, held, step = at[order], values[order], 1
    while step < held.shape[0]:
        same = place[step:] == place[:-step]
        held[step:] = xp.where(same, combine(held[:-step], held[step:]), held[step:])
        step *= 2
    last = xp.concatenate([place[1:] != place[:-1], xp.ones(1, bool)])
    where = place[last]
    out[where] = combine(out[where], held[last])


def _neutral(name: str, dtype: Any) -> Any:
    """What changes nothing when it is combined."""
    if name in ("add", "multiply"):
        return 0 if name == "add" else 1
    if dtype.kind == "b":
        return name == "minimum"
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if name == "maximum" else np.iinfo(dtype).max
    return float("-inf") if name == "maximum" else float("inf")


def _scatter_positions(xp: Any, at: Any, shape: Shape, dim: int) -> Any:
    """Where in the flattened tensor the elements of an index along ``dim`` lie."""
    size = shape[dim]
    if at.size and (int(at.min()) < 0 or int(at.max()) >= size):
        outside = int(at.min()) if int(at.min()) < 0 else int(at.max())
        raise RuntimeError(f"scatter_reduce(): index {outside} is out of bounds for dimension {dim} with size {size}")
    where, step = xp.zeros((1,) * at.ndim, np.int64), 1
    for d in reversed(range(at.ndim)):
        here = at if d == dim else xp.arange(at.shape[d]).reshape((-1,) + (1,) * (at.ndim - d - 1))
        where = where + here * step
        step *= shape[d]
    return where.reshape(-1)


def _scatter_reduce(xp: Any, a: Any, at: Any, src: Any, dim: int, reduce: str, include_self: bool) -> Any:
    check_scatter(a, at, src, dim, "scatter_reduce")
    if a.dtype.kind == "c" and reduce in ("amax", "amin"):
        raise NotImplementedError(f'"scatter_reduce" not implemented for {a.dtype.name} with {reduce}')
    out = a.astype(wide(a)).reshape(a.shape or (1,)).copy()
    if at.size == 0:
        return out.reshape(a.shape).astype(a.dtype)
    at = at.reshape(at.shape or (1,))
    src = src.reshape(src.shape or (1,))[tuple([slice(0, n) for n in at.shape])]
    where, flat, name = _scatter_positions(xp, at, out.shape, dim), out.reshape(-1), COMBINES[reduce]
    if not include_self:
        flat[where] = _neutral(name, out.dtype)
    combine_at(xp, flat, where, src.astype(out.dtype).reshape(-1), name)
    if reduce == "mean":
        counts = xp.maximum(xp.bincount(where, minlength=flat.size) + int(include_self), 1)
        kind = out.dtype
        flat = flat // counts.astype(kind) if kind.kind in "iu" else flat / counts.astype(wide(out.real))
    return flat.reshape(a.shape).astype(a.dtype)


def _first(x: Any, shape: Shape) -> Any:
    """The part of ``src`` that an index of that shape uses."""
    for d, n in enumerate(shape):
        if d < len(x.shape) and x.shape[d] != n:
            x = x.narrow(d, 0, n)
    return x


def _ones(x: Any) -> Any:
    return x.new_ones(tuple(x.shape))


def _counts(g: Any, self: Any, index: Any, dim: int, include_self: bool) -> Any:
    """How many values met at each place, at least 1."""
    start = _ones(self) if include_self else self._zeros(tuple(self.shape))
    met = start.scatter_add(dim, index, self.new_ones(tuple(index.shape)))
    return met.masked_fill(met == 0, 1)


def _reduce_self_grad(
    g: Any, self: Any, index: Any, src: Any, result: Any, dim: int, reduce: str, include_self: bool
) -> Any:
    if not include_self:
        return g._op("scatter", index, g._zeros(tuple(index.shape)), dim=dim)
    if reduce == "sum":
        return g
    if reduce == "mean":
        return g / _counts(g, self, index, dim, True)
    if reduce == "prod":
        return g * _ones(self)._op("scatter_reduce", index, src, dim=dim, reduce="prod", include_self=True)
    hits, share = _winners(self, index, src, result, dim, include_self)
    return (g / share).masked_fill(~hits, 0)


def _winners(self: Any, index: Any, src: Any, result: Any, dim: int, include_self: bool) -> tuple[Any, Any]:
    """Where ``self`` is the extreme itself, and among how many each extreme is shared."""
    used = _first(src, tuple(index.shape))
    from_src = (used == result.gather(dim, index)).to(self.dtype)
    hits = self == result
    start = hits.to(self.dtype) if include_self else self._zeros(tuple(self.shape))
    share = start.scatter_add(dim, index, from_src.detach())
    return hits, share.masked_fill(share == 0, 1)


def _reduce_src_grad(
    g: Any, self: Any, index: Any, src: Any, result: Any, dim: int, reduce: str, include_self: bool
) -> Any:
    shape = tuple(index.shape)
    if 0 in shape:
        return src._zeros(tuple(src.shape))
    if reduce == "sum":
        found = g.gather(dim, index)
    elif reduce == "mean":
        found = (g / _counts(g, self, index, dim, include_self)).gather(dim, index)
    elif reduce == "prod":
        weighed = g * self if include_self else g
        found = weighed.gather(dim, index) * _product_of_others(_first(src, shape), index, tuple(self.shape), dim)
    else:
        _, share = _winners(self, index, src, result, dim, include_self)
        hits = _first(src, shape) == result.gather(dim, index)
        found = (g / share).gather(dim, index).masked_fill(~hits, 0)
    return fit(found, tuple(src.shape))


def _product_of_others(used: Any, index: Any, shape: Shape, dim: int) -> Any:
    """For every value the product of all others that go to the same place; zeros are nothing special here."""
    index, shape = index.reshape(tuple(index.shape) or (1,)), shape or (1,)
    where, step = index, 1
    for d in reversed(range(len(index.shape))):
        if d == dim:
            where = where + index * (step - 1)
        else:
            here = index.new_ones((index.shape[d],)).cumsum(0) - 1
            where = where + (here * step).reshape((-1,) + (1,) * (len(index.shape) - d - 1))
        step *= shape[d]
    place, order = where.reshape(-1)._op("sort", dim=0, descending=False)
    back = order._op("sort", dim=0, descending=False)[1]
    flat = used.reshape(-1).index_select(0, order)
    others = _before(flat, place) * _before(flat.flip(0), place.flip(0)).flip(0)
    return others.index_select(0, back).reshape(tuple(used.shape))


def _before(flat: Any, place: Any) -> Any:
    """Products of all values in front that have the same place, which stand side by side."""
    n, step = flat.shape[0], 1

    def reach(x: Any, k: int) -> Any:
        """The value ``k`` in front of each, 1 where that belongs to another place."""
        return x.narrow(0, 0, n - k).masked_fill(place.narrow(0, k, n - k) != place.narrow(0, 0, n - k), 1)

    one = flat.new_ones((1,))
    made = one if n < 2 else one._op("cat", reach(flat, 1), dim=0, sizes=(1, n - 1))
    while step < n:
        tail = made.narrow(0, step, n - step) * reach(made, step)
        made = made.narrow(0, 0, step)._op("cat", tail, dim=0, sizes=(step, n - step))
        step *= 2
    return made


scatter_reduce = row(
    "scatter_reduce",
    "self index src",
    forward=_scatter_reduce,
    infer=lambda shapes, dim, reduce, include_self: tuple(shapes[0]),
    grad={"self": _reduce_self_grad, "src": _reduce_src_grad},
    formula="result = self combined with src at index  (along dim)",
    derivatives={"self": "grad times what the combination passes on", "src": "the same, at index"},
    onnx="ScatterElements",
    cost=lambda shapes, result, **attrs: elements(shapes[1]),
    samples=lambda t: (
        [
            ((t(3, 4), 1, t.index(4, 3, 5), t(3, 5), reduce), {"include_self": include_self})
            for reduce in COMBINES
            for include_self in (True, False)
        ]
        + [((t(3, 4), 0, t.index(3, 2, 3), t(4, 4), "prod"), {}), ((t(), 0, t.index(1, 2), t(2), "amax"), {})]
    ),
    holomorphic=False,
)
