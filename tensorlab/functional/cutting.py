"""Parts of tensors: cut at places, replaced by others, or copied where a view would do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorlab import dispatch, layout
from tensorlab.dispatch import call
from tensorlab.functional.arguments import an_int, need_tensor, tuple_of_ints
from tensorlab.functional.shapes import MOST_PARTS, checked_layout, clone, select_at, slice_bounds, slice_dim, split
from tensorlab.layout import wrap_dim
from tensorlab.ops import ROWS
from tensorlab.viewing import layout_of

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    slice tensor_split hsplit vsplit dsplit split_with_sizes unsafe_split unsafe_split_with_sizes unsafe_chunk
    select_scatter slice_scatter diagonal_scatter as_strided_scatter narrow_copy
"""
#: Functions that are not found at ``tensorlab.<name>``.
ELSEWHERE = """
    slice
"""


def slice(input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    """``start:end:step`` of one dimension; a view. Raises ``RuntimeError`` for steps below 1."""
    if input._a.ndim == 0:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    if step <= 0:
        raise RuntimeError(f"slice step must be positive, got {step}")
    return slice_dim(input, wrap_dim(dim, input._a.ndim, "slice"), start, end, step)


def tensor_split(
    input: Tensor, indices_or_sections: Any = None, dim: int = 0, *, indices: Any = None, sections: Any = None
) -> tuple[Tensor, ...]:
    """Parts along ``dim``: so many of nearly equal size, or cut at the places listed; views.

    >>> import tensorlab as tl
    >>> tl.tensor_split(tl.arange(5), 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    if input._a.ndim == 0:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    d = wrap_dim(dim, input._a.ndim, "tensor_split")
    where = next((value for value in (indices_or_sections, indices, sections) if value is not None), None)
    if isinstance(where, dispatch.Tensor):
        if where._a.ndim > 1 or where._a.dtype.kind not in "iu" or where._a.itemsize != 8 or where.is_cuda:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to be a zero- or one-dimensional tensor of int64 on the CPU, but got "
                f"{list(where._a.shape)} {where.dtype.name} on {where.device}"
            )
        where = where.tolist()
    if isinstance(where, (tuple, list)):
        where = tuple_of_ints("tensor_split", "indices_or_sections", where)
        cuts: list[Any] = [0, *where]
        return tuple([slice_dim(input, d, a, b, 1) for a, b in zip(cuts, [*where, None], strict=True)])
    if not isinstance(where, int) or isinstance(where, bool):
        raise TypeError(
            f"tensor_split(): argument 'indices_or_sections' (position 2) must be int, tuple of ints or Tensor, not {type(where).__name__}"
        )
    if where <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {where}")
    if where > max(MOST_PARTS, input._a.shape[d]):
        raise RuntimeError(f"tensor_split(): {where:,} sections were asked for; {MOST_PARTS:,} empty ones are the most")
    small, larger = divmod(input._a.shape[d], where)
    sizes = [small + (i < larger) for i in range(where)]
    return _slices(input, d, sizes)


def _slices(input: Tensor, d: int, sizes: Sequence[int]) -> tuple[Tensor, ...]:
    """Parts of several sizes, each a view of its own, which may be written to."""
    out, start = [], 0
    for size in sizes:
        out.append(slice_dim(input, d, start, start + size, 1))
        start += size
    return tuple(out)


def _split_along(op: str, input: Tensor, where: Any, d: int, at_least: int) -> tuple[Tensor, ...]:
    if input._a.ndim < at_least:
        raise RuntimeError(
            f"{op} requires a tensor with at least {at_least} dimension, but got a tensor with {input._a.ndim} dimensions!"
        )
    size = input._a.shape[d]
    if isinstance(where, int) and (where == 0 or size % where):
        raise RuntimeError(
            f"{op} attempted to split along dimension {d}, but the size of the dimension {size} is not divisible by the split_size {where}!"
        )
    return tensor_split(input, where, d)


def hsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """``tensor_split`` along dimension 1 (0 of a vector) into equal parts or at places."""
    return _split_along("hsplit", input, indices_or_sections, 0 if input._a.ndim == 1 else 1, 1)


def vsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """``tensor_split`` along dimension 0 into equal parts or at places."""
    return _split_along("vsplit", input, indices_or_sections, 0, 2)


def dsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """``tensor_split`` along dimension 2 into equal parts or at places."""
    return _split_along("dsplit", input, indices_or_sections, 2, 3)


def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of the sizes listed, which must add up, along ``dim``; views."""
    return split(input, tuple_of_ints("split_with_sizes", "split_sizes", split_sizes), dim)


def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """``split`` into parts that may be written to one by one."""
    return _unsafe("unsafe_split", input, an_int("unsafe_split", "split_size", split_size), dim)


def _unsafe(op: str, input: Tensor, sizes: Any, dim: int) -> tuple[Tensor, ...]:
    d = wrap_dim(dim, input._a.ndim, op)
    return _slices(input, d, [part._a.shape[d] for part in split(input.detach(), sizes, d)])


def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """``split_with_sizes`` into parts that may be written to one by one."""
    sizes = tuple_of_ints("unsafe_split_with_sizes", "split_sizes", split_sizes)
    return _unsafe("unsafe_split_with_sizes", input, sizes, dim)


def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """``chunk`` into parts that may be written to one by one."""
    d = wrap_dim(dim, input._a.ndim, "unsafe_chunk")
    return _slices(input, d, [part._a.shape[d] for part in input.detach().chunk(chunks, d)])


# ------------------------------------------------------------------------------------------------- parts replaced


def _fits(src: Any, shape: Sequence[int], op: str) -> None:
    need_tensor(op, "src", 2, src)
    if src._a.shape != tuple(shape):
        raise RuntimeError(
            f"{op}(): expected src to have a size equal to the slice of self. src size = {list(src._a.shape)}, slice size = {list(shape)}"
        )


def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """``input`` with ``src`` at one index of a dimension; a copy."""
    d, at = select_at(input, dim, index)
    _fits(src, input._a.shape[:d] + input._a.shape[d + 1 :], "select_scatter")
    return call(ROWS["select_scatter"], (input, src), dim=d, index=at)


def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """``input`` with ``src`` in ``start:end:step`` of a dimension; a copy."""
    start, end = (None if at is None else an_int("slice_scatter", "start", at) for at in (start, end))
    if an_int("slice_scatter", "step", step) <= 0:
        raise RuntimeError(f"slice step must be positive, got {step}")
    d = wrap_dim(dim, input._a.ndim, "slice_scatter")
    first, last, step = slice_bounds(input, d, start, end, step)
    size = max(0, (last - first + step - 1) // step)
    _fits(src, (*input._a.shape[:d], size, *input._a.shape[d + 1 :]), "slice_scatter")
    return call(ROWS["slice_scatter"], (input, src), dim=d, start=first, stop=last, step=step)


def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """``input`` with ``src`` on a diagonal of two dimensions; a copy."""
    part = input.detach().diagonal(offset, dim1, dim2)
    _fits(src, part._a.shape, "diagonal_scatter")
    n = input._a.ndim
    d1, d2 = wrap_dim(dim1, n, "diagonal_scatter"), wrap_dim(dim2, n, "diagonal_scatter")
    return call(ROWS["diagonal_scatter"], (input, src), offset=offset, dim1=d1, dim2=d2)


def as_strided_scatter(
    input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """``input`` with ``src`` written through another layout of its storage; a copy."""
    wanted = checked_layout(input, size, stride, storage_offset)
    _fits(src, wanted.shape, "as_strided_scatter")
    return call(ROWS["as_strided_scatter"], (input, src.to(input.dtype)), base_layout=layout_of(input), layout=wanted)


# ------------------------------------------------------------------------------------------------- views, copied


def _copied(name: str) -> Callable[..., Any]:
    """``name`` with results that are copies."""

    def function(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        found = getattr(input, name)(*args, **kwargs)
        if isinstance(found, tuple):
            return tuple([clone(x, memory_format=layout.contiguous_format) for x in found])
        return clone(found, memory_format=layout.contiguous_format)

    function.__name__ = function.__qualname__ = f"{name}_copy"
    function.__doc__ = f"``input.{name}(...)`` as a copy with memory of its own."
    return function


expand_copy, permute_copy, transpose_copy, t_copy = map(_copied, ("expand", "permute", "transpose", "t"))
squeeze_copy, unsqueeze_copy, view_copy, unfold_copy = map(_copied, ("squeeze", "unsqueeze", "view", "unfold"))
narrow_copy, diagonal_copy, select_copy, slice_copy = map(_copied, ("narrow", "diagonal", "select", "slice"))
unbind_copy, split_copy, split_with_sizes_copy = map(_copied, ("unbind", "split", "split_with_sizes"))
as_strided_copy, detach_copy = map(_copied, ("as_strided", "detach"))


def alias_copy(input: Tensor) -> Tensor:
    """A copy with memory of its own."""
    return clone(input, memory_format=layout.contiguous_format)
