"""Views of one tensor, and copies with the same elements in another place."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Sequence
from typing import Any

from tensorlab import backend, dispatch, dtypes, layout
from tensorlab.dispatch import call
from tensorlab.functional.arguments import an_int, one_dim, sizes_of, tuple_of_ints
from tensorlab.layout import wrap_dim, wrap_dims
from tensorlab.ops import ROWS
from tensorlab.viewing import alias, layout_of, strides_of, view, views

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    transpose swapaxes swapdims t movedim moveaxis broadcast_to squeeze unsqueeze flatten ravel unflatten select
    narrow as_strided diagonal unfold split chunk unbind tril triu clone roll diag trace
"""
#: Functions that are not found at ``tensorlab.<name>``.
ELSEWHERE = """
    view_as_shape slice_dim view_dtype repeat select_at slice_bounds checked_layout
"""


def view_as_shape(input: Tensor, shape: Sequence[int]) -> Tensor:
    """The same storage under another shape. Raises ``RuntimeError`` naming the dimension pair that makes it impossible."""
    return view(ROWS["view"], input, shape=layout.infer_size(shape, input._a.size))


def reshape(input: Tensor, shape: Sequence[int]) -> Tensor:
    """Another shape: a view where one is possible, else a copy.

    >>> import tensorlab as tl
    >>> tl.reshape(tl.arange(4), (2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    wanted = layout.infer_size(tuple_of_ints("reshape", "shape", shape), input._a.size)
    if isinstance(layout.view(layout.Layout(input._a.shape, strides_of(input._a)), wanted), layout.Blocked):
        return _copied(input, wanted)
    return view(ROWS["view"], input, shape=wanted)


def _copied(input: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A row-major copy under another shape: no view, since nobody else has its storage."""
    out = view(ROWS["view"], clone(input, memory_format=layout.contiguous_format), shape=shape)
    out._view, out._live = None, out._rg
    return out


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged; a view."""
    n = input._a.ndim
    return view(
        ROWS["transpose"],
        input,
        dim0=wrap_dim(dim0, n, "transpose", "dim0"),
        dim1=wrap_dim(dim1, n, "transpose", "dim1"),
    )


swapaxes = swapdims = transpose


def t(input: Tensor) -> Tensor:
    """A matrix transposed; vectors and numbers as they are. Raises ``RuntimeError`` for more than 2 dimensions."""
    if input._a.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {input._a.ndim}D; use .mT or permute()"
        )
    return view(ROWS["t"], input)


def permute(input: Tensor, dims: Any) -> Tensor:
    """Dimensions in another order; a view."""
    order = wrap_dims(tuple_of_ints("permute", "dims", dims), input._a.ndim, "permute")
    if len(order) != input._a.ndim:
        raise RuntimeError(
            f"permute(): number of dimensions in the tensor input does not match the length of the desired ordering of "
            f"dimensions i.e. input.dim() = {input._a.ndim} is not equal to len(dims) = {len(order)}"
        )
    return view(ROWS["permute"], input, dims=order)


def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions moved to other places, the rest in order; a view."""
    n = input._a.ndim
    if isinstance(source, (tuple, list)) != isinstance(destination, (tuple, list)):
        raise TypeError("movedim(): source and destination must both be int, or both be tuples of ints")
    given = [list(d) if isinstance(d, (tuple, list)) else [d] for d in (source, destination)]
    if len(given[0]) != len(given[1]):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({given[0]} dims) should contain the same number of dims as destination "
            f"({given[1]} dims)"
        )
    src, dst = ([wrap_dim(d, n, "movedim") for d in dims] for dims in given)
    for name, dims, said in (("source", src, given[0]), ("destination", dst, given[1])):
        if len(set(dims)) < len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({said})")
    rest = [d for d in range(n) if d not in src]
    order = [-1] * n
    for s, d in zip(src, dst, strict=True):
        order[d] = s
    return permute(input, [rest.pop(0) if d == -1 else d for d in order])


moveaxis = movedim


def expand(input: Tensor, sizes: Sequence[int]) -> Tensor:
    """Dimensions of size 1 stretched with stride 0, new ones in front; a view. ``-1`` keeps a size."""
    return view(ROWS["expand"], input, sizes=tuple_of_ints("expand", "size", sizes))


def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """``input`` expanded to ``size``; a view."""
    return expand(input, tuple_of_ints("broadcast_to", "size", size))


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """All tensors expanded to their common shape."""
    shape = layout.broadcast_shapes(*[x._a.shape for x in tensors], op="broadcast_tensors")
    return tuple([expand(x, shape) for x in tensors])


_ALL = object()


def squeeze(input: Tensor, dim: Any = _ALL, *, axis: Any = _ALL) -> Tensor:
    """Dimensions of size 1 dropped: all, or those named; a view."""
    dim = axis if dim is _ALL else dim
    return view(ROWS["squeeze"], input, dims=None if dim is _ALL else wrap_dims(dim, input._a.ndim, "squeeze"))


def unsqueeze(input: Tensor, dim: int | None = None, *, axis: int | None = None) -> Tensor:
    """A new dimension of size 1 before ``dim``; a view."""
    return view(ROWS["unsqueeze"], input, dim=one_dim("unsqueeze", input, dim, axis, extra=1))


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions ``start_dim`` to ``end_dim`` made one; a view where possible."""
    n = input._a.ndim
    if n == 0:
        return reshape(input, (1,))
    first, last = wrap_dim(start_dim, n, "flatten"), wrap_dim(end_dim, n, "flatten")
    if first > last:
        raise RuntimeError(
            f"flatten() has invalid args: start_dim cannot come after end_dim (got {start_dim} and {end_dim})"
        )
    if first == last:
        return input
    shape = input._a.shape
    size = 1
    for d in range(first, last + 1):
        size *= shape[d]
    return reshape(input, (*shape[:first], size, *shape[last + 1 :]))


def ravel(input: Tensor) -> Tensor:
    """All dimensions made one: a view of a contiguous tensor, else a copy."""
    if not layout.is_contiguous(input._a.shape, strides_of(input._a)):
        return _copied(input, (input._a.size,))
    return view(ROWS["view"], input, shape=(input._a.size,))


def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """One dimension split into several; a view. ``-1`` once is worked out."""
    d = wrap_dim(dim, input._a.ndim, "unflatten")
    shape = input._a.shape
    if sizes is None or (isinstance(sizes, (tuple, list)) and not sizes):
        raise RuntimeError("unflatten: sizes must be non-empty")
    sizes = tuple_of_ints("unflatten", "sizes", sizes)
    return view_as_shape(input, (*shape[:d], *layout.infer_size(sizes, shape[d]), *shape[d + 1 :]))


def select_at(input: Tensor, dim: int, index: int) -> tuple[int, int]:
    """A dimension and an index into it, both counted from 0. Raises ``IndexError`` naming the size."""
    n = input._a.ndim
    if n == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d = wrap_dim(dim, n, "select")
    size = input._a.shape[d]
    at = index if type(index) is int else an_int("select", "index", index)
    if not -size <= at < size:
        raise IndexError(
            f"select(): index {at} out of range for tensor of size {list(input._a.shape)} at dimension {d}"
        )
    return d, at % size


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """One index of a dimension, which goes away; a view. Raises ``IndexError`` naming the size."""
    d, at = select_at(input, dim, index)
    return view(ROWS["select"], input, dim=d, index=at)


def slice_bounds(
    input: Tensor, dim: int, start: int | None, stop: int | None, step: int | None
) -> tuple[int, int, int]:
    """A slice of a dimension with its ends within the size. Raises ``ValueError`` for steps below 1."""
    step = 1 if step is None else operator.index(step)
    if step <= 0:
        raise ValueError(f"step must be greater than zero, got {step}; use .flip({dim}) to reverse a dimension")
    first, last, _ = slice(start, stop, step).indices(input._a.shape[dim])
    return first, last if last > first else first, step


def slice_dim(input: Tensor, dim: int, start: int | None, stop: int | None, step: int | None) -> Tensor:
    """``start:stop:step`` of one dimension; a view. Raises ``ValueError`` for steps below 1."""
    first, last, step = slice_bounds(input, dim, start, stop, step)
    return view(ROWS["slice"], input, dim=dim, start=first, stop=last, step=step)


def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """``length`` indexes of a dimension from ``start``; a view. Raises ``RuntimeError`` where they reach past the end."""
    if input._a.ndim == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    d = wrap_dim(dim, input._a.ndim, "narrow")
    size = input._a.shape[d]
    if isinstance(start, dispatch.Tensor):
        if start._a.ndim or start._a.dtype.kind not in "iu":
            raise RuntimeError("narrow(): start must be an 0-dim integral Tensor.")
        start = start.item()
    start, length = an_int("narrow", "start", start), an_int("narrow", "length", length)
    if length < 0:
        raise RuntimeError(f"narrow(): length must be non-negative, got {length}.")
    if not -size <= start <= size:
        raise IndexError(
            f"narrow(): start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    start = start + size if start < 0 else start
    if start + length > size:
        raise RuntimeError(f"narrow(): start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return view(ROWS["slice"], input, dim=d, start=start, stop=start + length, step=1)


def as_strided(input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """The storage of ``input`` under any layout, checked against the storage's size."""
    return view(ROWS["as_strided"], input, layout=checked_layout(input, size, stride, storage_offset))


def checked_layout(
    input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None
) -> layout.Layout:
    """Any layout of the storage of ``input``. Raises ``RuntimeError`` where it reaches outside."""
    wanted = layout.Layout(
        tuple_of_ints("as_strided", "size", size),
        tuple_of_ints("as_strided", "stride", stride),
        layout_of(input).offset if storage_offset is None else an_int("as_strided", "storage_offset", storage_offset),
    )
    if len(wanted.shape) != len(wanted.strides):
        raise RuntimeError(f"as_strided(): mismatch in length of strides and shape: {list(size)} and {list(stride)}")
    if builtins.min((*wanted.shape, *wanted.strides, wanted.offset)) < 0:
        raise RuntimeError(
            f"as_strided(): sizes, strides and offset must not be negative, got {list(size)}, "
            f"{list(stride)}, {wanted.offset}"
        )
    st = dispatch.storage_of(input)
    held = (st.root if st.root is not None else backend.of(input._a).root(input._a)).nbytes
    needed = (wanted.offset + layout.extent(wanted.shape, wanted.strides)) * input._a.itemsize
    if 0 not in wanted.shape and needed > held:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {wanted.offset}, and itemsize {input._a.itemsize} "
            f"requiring a storage size of {needed} are out of bounds for storage of size {held}"
        )
    return wanted


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A diagonal of two dimensions as a new last one; a view."""
    n = input._a.ndim
    d1, d2 = wrap_dim(dim1, n, "diagonal"), wrap_dim(dim2, n, "diagonal")
    if d1 == d2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return view(ROWS["diagonal"], input, offset=an_int("diagonal", "offset", offset), dim1=d1, dim2=d2)


def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Windows of ``size``, ``step`` apart, along a dimension, as a new last one; a view."""
    d = wrap_dim(dimension, input._a.ndim, "unfold")
    if input._a.ndim == 0:
        return narrow(unsqueeze(input, 0), 0, 0, size)
    size, step = an_int("unfold", "size", size), an_int("unfold", "step", step)
    if size > input._a.shape[d] or size < 0 or step <= 0:
        raise RuntimeError(
            f"unfold(): maximum size for tensor at dimension {d} is {input._a.shape[d]} but size is {size}; step must be > 0, got {step}"
        )
    return view(ROWS["unfold"], input, dim=d, size=size, step=step)


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of a size, or of several sizes, along ``dim``; views."""
    if tensor._a.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    d = wrap_dim(dim, tensor._a.ndim, "split")
    size = tensor._a.shape[d]
    if isinstance(split_size_or_sections, (tuple, list)):
        sizes = tuple_of_ints("split", "split_size_or_sections", split_size_or_sections)
        if any(part < 0 for part in sizes):
            raise RuntimeError(
                f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={list(sizes)}"
            )
        if builtins.sum(sizes) != size:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's "
                f"size at dimension {d}), but got split_sizes={list(sizes)}"
            )
    else:
        step = an_int("split", "split_size_or_sections", split_size_or_sections)
        if step < 0 or (step == 0 and size):
            raise RuntimeError(f"split expects split_size be positive, but got split_size={step}")
        sizes = tuple([builtins.min(step, size - at) for at in range(0, size, step or 1)]) or (0,)
    return views(ROWS["split"], tensor, dim=d, sizes=sizes)


#: The most parts that something is cut into where most of them hold nothing.
MOST_PARTS = 2**20


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` parts of equal size, the last perhaps smaller; views."""
    chunks = an_int("chunk", "chunks", chunks)
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    if input._a.ndim == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    d = wrap_dim(dim, input._a.ndim, "chunk")
    size = input._a.shape[d]
    if size == 0:
        if chunks > MOST_PARTS:
            raise RuntimeError(f"chunk(): {chunks:,} chunks of nothing were asked for; {MOST_PARTS:,} are the most")
        return views(ROWS["split"], input, dim=d, sizes=(0,) * chunks)
    return split(input, (size + chunks - 1) // chunks, d)


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The tensor at every index of a dimension; views."""
    if input._a.ndim == 0:
        raise IndexError("unbind(): Dimension specified as 0 but tensor has no dimensions")
    return views(ROWS["unbind"], input, dim=wrap_dim(dim, input._a.ndim, "unbind"))


def flip(input: Tensor, dims: Any) -> Tensor:
    """Dimensions reversed; a copy."""
    dims = tuple_of_ints("flip", "dims", dims)
    return call(ROWS["flip"], (input,), dims=wrap_dims(dims, input._a.ndim, "flip") if input._a.ndim else ())


def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The lower triangle of matrices, zeros above ``diagonal``."""
    return _triangle("tril", input, diagonal)


def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The upper triangle of matrices, zeros below ``diagonal``."""
    return _triangle("triu", input, diagonal)


def _triangle(op: str, input: Tensor, diagonal: int) -> Tensor:
    if input._a.ndim < 2:
        raise RuntimeError(f"{op}: input tensor must have at least 2 dimensions")
    return call(ROWS[op], (input,), diagonal=an_int(op, "diagonal", diagonal))


def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy with its own storage, and the same place in the graph.

    A dense order of dimensions is kept unless ``memory_format`` asks for another.
    """
    return call(ROWS["clone"], (input,), memory_format=memory_format)


def view_dtype(input: Tensor, dtype: dtypes.dtype) -> Tensor:
    """The same bits read as another type; a view without gradient. Another width changes the size of the last dimension.

    Raises ``RuntimeError`` where elements of the wider type would not lie side by side.
    """
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError(f"view(): argument 'dtype' (position 1) must be dtype, not {type(dtype).__name__}")
    at, old, new = layout_of(input), input._a.itemsize, dtype.itemsize
    if old == new:
        return alias(input, at, dtype.np)
    wide, named = (old // new, "") if old > new else (new // old, f"{input.dtype.name} as {dtype.name}")
    if not at.shape:
        raise RuntimeError(
            f"self.dim() cannot be 0 to view {input.dtype.name} as {dtype.name} (different element sizes)"
        )
    if at.strides[-1] != 1:
        raise RuntimeError(
            f"self.stride(-1) must be 1 to view {input.dtype.name} as {dtype.name} (different element sizes), but got {at.strides[-1]}"
        )
    if not named:  # one element becomes several
        strides = (*[s * wide for s in at.strides[:-1]], 1)
        return alias(input, layout.Layout((*at.shape[:-1], at.shape[-1] * wide), strides, at.offset * wide), dtype.np)
    steps = [*enumerate(at.strides[:-1])]
    for what, n in (
        ("size(-1)", at.shape[-1]),
        ("storage_offset()", at.offset),
        *[(f"stride({d})", s) for d, s in steps],
    ):
        if n % wide:
            raise RuntimeError(
                f"self.{what} must be divisible by {wide} to view {named} (different element sizes), but got {n}"
            )
    strides = (*[s // wide for s in at.strides[:-1]], 1)
    return alias(input, layout.Layout((*at.shape[:-1], at.shape[-1] // wide), strides, at.offset // wide), dtype.np)


def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Elements moved by ``shifts`` along ``dims``, those beyond the end at the start again.

    Without ``dims`` they move through the flattened tensor.
    """
    if dims is None or dims == ():
        return reshape(roll(reshape(input, (-1,)), shifts, 0), input._a.shape)
    moves = sizes_of("roll", "shifts", (shifts,))
    where = sizes_of("roll", "dims", (dims,))
    if len(moves) != len(where):
        raise RuntimeError(f"roll(): shifts and dimensions must align. shifts: {len(moves)}, dims:{len(where)}")
    return call(ROWS["roll"], (input,), shifts=moves, dims=tuple([wrap_dim(d, input._a.ndim, "roll") for d in where]))


def repeat(input: Tensor, sizes: Sequence[int]) -> Tensor:
    """The tensor laid out several times along each dimension; a copy."""
    times = tuple(sizes)
    if len(times) < input._a.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: "
            f"{list(times)} for shape {list(input._a.shape)}"
        )
    shape = (1,) * (len(times) - input._a.ndim) + input._a.shape
    stretched = reshape(input, [n for size in shape for n in (1, size)])
    spread = expand(stretched, [n for time, size in zip(times, shape, strict=True) for n in (time, size)])
    return reshape(clone(spread), [time * size for time, size in zip(times, shape, strict=True)])


def tile(input: Tensor, dims: Any) -> Tensor:
    """The tensor laid out several times along its last dimensions; a copy."""
    times = tuple_of_ints("tile", "dims", dims)
    return repeat(input, (1,) * (input._a.ndim - len(times)) + times)


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A matrix with a vector on its diagonal, or the diagonal of a matrix; a copy."""
    diagonal = an_int("diag", "diagonal", diagonal)
    if input._a.ndim == 1:
        n = input._a.shape[0] + builtins.abs(diagonal)
        return call(ROWS["diagonal_backward"], (input,), shape=(n, n), offset=diagonal, dim1=0, dim2=1)
    if input._a.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input._a.ndim}D")
    return clone(view(ROWS["diagonal"], input, offset=diagonal, dim1=0, dim2=1))


def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal."""
    if input._a.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input._a.ndim}")
    on_it = view(ROWS["diagonal"], input, offset=0, dim1=0, dim2=1)
    return call(ROWS["sum"], (on_it,), dim=(0,), keepdim=False, dtype=None)
