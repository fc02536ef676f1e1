"""Values put at places that index tensors and masks name: filled, copied, combined with what is there."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from tensorlab import dispatch, dtypes
from tensorlab.creation import number
from tensorlab.dispatch import call
from tensorlab.functional.arguments import a_bool, need_index, need_tensor
from tensorlab.functional.positions import agree, check_assigned, index_arrays
from tensorlab.functional.shapes import broadcast_tensors, expand, reshape
from tensorlab.layout import wrap_dim
from tensorlab.ops import ROWS

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    index_fill index_copy index_put take put masked_scatter scatter_reduce index_reduce
"""
#: Functions that are not found at ``tensorlab.<name>``.
ELSEWHERE = """
    filled_at copied_at put_at put_where masked_by reduced_at combined_along
"""
#: What each of these functions asks a row for, so that the in-place form asks for the same.
Call = tuple[tuple[Any, ...], dict[str, Any]]


def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """``input`` with ``value``, a number or a 0-dim tensor, at the indices of one dimension.

    >>> import tensorlab as tl
    >>> tl.index_fill(tl.zeros(3), 0, tl.tensor([0, 2]), 1)
    tensor([1., 0., 1.])
    """
    inputs, attrs = filled_at("index_fill", input, dim, index, value)
    return call(ROWS["index_fill"], inputs, **attrs)


def filled_at(op: str, input: Tensor, dim: int, index: Tensor, value: Any) -> Call:
    """The call of ``index_fill``, checked."""
    need_tensor(op, "index", 3, index)
    if index._a.dtype.name != "int64":
        raise IndexError(f"{op}(): Expected dtype int64 for index, got {index.dtype.name}; convert it with .long()")
    if isinstance(value, dispatch.Tensor):
        if value._a.ndim:
            raise RuntimeError(
                f"{op} only supports a 0-dimensional value tensor, but got tensor with {value._a.ndim} dimension(s)."
            )
    elif isinstance(value, (bool, int, float, complex)):
        value = dispatch.wrap(number(value, input.dtype))
    else:
        raise TypeError(f"{op}(): argument 'value' (position 4) must be Tensor or a number, not {type(value).__name__}")
    return (input, index, value), {"dim": wrap_dim(dim, input._a.ndim, op)}


def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor like ``input`` with one value, a number or a 0-dim tensor, everywhere."""
    if isinstance(value, dispatch.Tensor) and value._a.ndim:
        raise RuntimeError(
            f"fill only supports 0-dimension value tensor but got tensor with {value._a.ndim} dimensions."
        )
    value = value if isinstance(value, dispatch.Tensor) else dispatch.wrap(number(value, input.dtype))
    return call(ROWS["fill"], (input, value))


def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """``input`` with ``source`` at the indices of one dimension."""
    inputs, attrs = copied_at("index_copy", input, dim, index, source)
    return call(ROWS["index_copy"], inputs, **attrs)


def copied_at(op: str, input: Tensor, dim: int, index: Tensor, source: Tensor) -> Call:
    """The call of ``index_copy``, checked."""
    need_tensor(op, "index", 3, index)
    need_tensor(op, "source", 4, source)
    return (input, index, source), {"dim": wrap_dim(dim, input._a.ndim, op)}


def index_put(input: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Tensor:
    """``input`` with ``values``, broadcast, at the places that index tensors (or masks) name together.

    ``accumulate=True`` adds them, and counts every repeated place.
    """
    inputs, attrs = put_at("index_put", input, indices, values, accumulate)
    return call(ROWS["index_put"], inputs, **attrs)


def put_at(op: str, input: Tensor, indices: Any, values: Any, accumulate: bool) -> Call:
    """The call of ``index_put``, checked."""
    if not isinstance(indices, (tuple, list)):
        raise TypeError(
            f"{op}(): argument 'indices' (position 2) must be tuple of Tensors, not {type(indices).__name__}"
        )
    need_tensor(op, "values", 3, values)
    for i, entry in enumerate(indices):
        if not isinstance(entry, dispatch.Tensor) and entry is not None:
            raise TypeError(
                f"expected Tensor as element {i} in argument 'indices' of {op}(), but got {type(entry).__name__}"
            )
    if values._a.dtype != input._a.dtype:
        raise RuntimeError(
            f"{op}(): Index put requires the source and destination dtypes match, got {input.dtype.name} for the destination and "
            f"{values.dtype.name} for the source."
        )
    used = sum([1 if e is None or e._a.dtype.kind != "b" else e._a.ndim for e in indices])
    if used > input._a.ndim:
        raise IndexError(f"{op}(): too many indices for tensor of dimension {input._a.ndim} (got {used})")
    found: list[Any] = []
    for entry in indices:
        found += [slice(None)] if entry is None else index_arrays(entry, input, len(found))
    if all(isinstance(i, slice) for i in found):
        raise IndexError(f"{op}(): at least one index must be a tensor")
    places = agree(found)
    check_assigned(input, places, values)
    return (input, values), {"indices": places, "accumulate": a_bool(op, "accumulate", accumulate)}


def take(input: Tensor, index: Tensor) -> Tensor:
    """The elements at ``index`` of the flattened tensor, in the shape of ``index``; negative positions count from the end."""
    need_tensor("take", "index", 2, index)
    return call(ROWS["take"], (input, index))


def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """``input`` with the elements of ``source`` at ``index`` of the flattened tensor; ``accumulate=True`` adds them."""
    inputs, attrs = put_where("put", input, index, source, accumulate)
    return call(ROWS["put"], inputs, **attrs)


def put_where(op: str, input: Tensor, index: Tensor, source: Tensor, accumulate: bool) -> Call:
    """The call of ``put``, checked."""
    need_tensor(op, "index", 2, index)
    need_tensor(op, "source", 3, source)
    return (input, index, source), {"accumulate": a_bool(op, "accumulate", accumulate)}


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """``input`` with the elements of ``source``, one after another, where ``mask`` holds; input and mask broadcast."""
    masked_by("masked_scatter", input, mask, source)
    input, mask = broadcast_tensors(input, mask)
    return call(ROWS["masked_scatter"], (input, mask, source))


def masked_by(op: str, input: Tensor, mask: Tensor, source: Tensor) -> None:
    """Refuse what ``masked_scatter`` cannot use."""
    need_tensor(op, "mask", 2, mask)
    need_tensor(op, "source", 3, source)
    if mask._a.dtype.kind != "b":
        raise RuntimeError(f"{op} only supports boolean masks, but got mask with dtype {mask.dtype.name}")
    if source._a.dtype != input._a.dtype:
        raise RuntimeError(
            f"{op}: expected self and source to have same dtypes but got {input.dtype.name} and {source.dtype.name}"
        )


def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """``input`` combined with ``src`` at ``index`` along ``dim``: ``reduce`` is ``sum``, ``prod``, ``mean``, ``amax`` or ``amin``.

    ``include_self=False`` leaves out what was there before. Ties of an extreme share its gradient.

    >>> import tensorlab as tl
    >>> tl.scatter_reduce(tl.zeros(2), 0, tl.tensor([0, 1, 1]), tl.tensor([1., 2., 5.]), "amax")
    tensor([1., 5.])
    """
    inputs, attrs = reduced_at("scatter_reduce", input, dim, index, src, reduce, include_self)
    return call(ROWS["scatter_reduce"], inputs, **attrs)


def reduced_at(op: str, input: Tensor, dim: int, index: Tensor, src: Any, reduce: str, include_self: bool) -> Call:
    """The call of ``scatter_reduce``, checked."""
    need_index(op, index)
    need_tensor(op, "src", 4, src)
    _a_word(op, reduce)
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(f"{op}(): reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    attrs = {"dim": wrap_dim(dim, input._a.ndim, op), "reduce": reduce, "include_self": bool(include_self)}
    return (input, index, src), attrs


def _a_word(op: str, reduce: Any) -> None:
    if not isinstance(reduce, str):
        raise TypeError(f"{op}(): argument 'reduce' (position 5) must be str, not {type(reduce).__name__}")


def index_reduce(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """``input`` combined with ``source`` at the indices of one dimension: ``reduce`` is ``prod``, ``mean``, ``amax`` or ``amin``."""
    inputs, attrs = combined_along("index_reduce", input, dim, index, source, reduce, include_self)
    return call(ROWS["scatter_reduce"], inputs, **attrs)


def combined_along(
    op: str, input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, include_self: bool
) -> Call:
    """The call of ``scatter_reduce`` that an index along one dimension stands for, checked."""
    need_index(op, index)
    need_tensor(op, "source", 4, source)
    _a_word(op, reduce)
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"{op}(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    if source._a.dtype != input._a.dtype:
        raise RuntimeError(
            f"{op}(): self and source expected to have the same dtype, but got (self) {input.dtype.name} and (source) {source.dtype.name}"
        )
    if index._a.ndim > 1:
        raise IndexError(f"{op}(): Index is supposed to be a vector, but it has shape {list(index._a.shape)}")
    d = wrap_dim(dim, input._a.ndim, op)
    whole, part = input._a.shape or (1,), source._a.shape or (1,)
    if len(whole) != len(part) or part[d] != index._a.size or whole[:d] + whole[d + 1 :] != part[:d] + part[d + 1 :]:
        raise RuntimeError(
            f"{op}(): Number of indices ({index._a.size}) should be equal to source.size(dim), and all other sizes to those of self: "
            f"self {list(whole)}, source {list(part)}, dimension {d}"
        )
    if index._a.size and not bool(((index >= 0) & (index < whole[d])).all()):
        raise IndexError(f"{op}(): index out of range in self, dimension {d} has size {whole[d]}")
    places = expand(reshape(index, (-1,) + (1,) * (len(part) - d - 1)), part)
    attrs = {"dim": d, "reduce": reduce, "include_self": bool(include_self)}
    return (input, places, source), attrs


def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """The coordinates of positions in a flattened tensor of that shape, one tensor for each dimension.

    >>> import tensorlab as tl
    >>> tl.unravel_index(tl.tensor([5]), (2, 3))
    (tensor([1]), tensor([2]))
    """
    need_tensor("unravel_index", "indices", 1, indices)
    if indices._a.dtype.kind not in "iu":
        raise TypeError(f"unravel_index(): expected 'indices' to be integer dtype, but got {indices.dtype.name}")
    try:
        sizes = tuple([operator.index(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,))])
    except TypeError:
        raise TypeError(
            f"unravel_index(): expected 'shape' to be int or sequence of ints, but got {type(shape).__name__}"
        ) from None
    if any(n < 0 for n in sizes):
        raise ValueError(f"unravel_index(): 'shape' cannot have negative values, but got {sizes}")
    indices = indices.to(dtypes.int64)  # sizes may be larger than the type of the indices holds
    found, step = [], 1
    for n in reversed(sizes):
        found.append((indices // step) % n if n else indices % n)
        step *= n
    return tuple(reversed(found))
