"""Views: the same storage under another layout, and the copies that are their gradients.

A view rule is a function of ``layout.py``; the layout instrument shows exactly the function that ran. The gradient of a view is a
scatter into zeros, whose own gradient is the view again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorlab import backend, layout
from tensorlab.layout import Layout
from tensorlab.ops.table import NO_ONNX, no_cost, per_element, row

Shape = tuple[int, ...]


def _infer(rule: Any) -> Any:
    """Shape inference of a view: its rule on a contiguous layout of that shape."""

    def infer(shapes: Sequence[Shape], **attrs: Any) -> Any:
        attrs.pop("base_layout", None)
        shape = tuple(shapes[0])
        found = rule(Layout(shape, layout.contiguous_strides(shape)), **attrs)
        return found.shape if isinstance(found, Layout) else [f.shape for f in found]

    return infer


def _view(
    name: str, rule: Any, grad: Any, formula: str, derivative: str, onnx: Any, samples: Any, **columns: Any
) -> Any:
    return row(
        name,
        "self",
        view=rule,
        infer=_infer(rule),
        grad=grad if callable(grad) and grad.__code__.co_varnames[0] == "grads" else {"self": grad},
        formula=formula,
        derivatives={"self": derivative},
        onnx=onnx,
        cost=no_cost,
        samples=samples,
        **columns,
    )


# --------------------------------------------------------------------------------------------------------- rules


def view_rule(before: Layout, shape: Shape) -> Layout:
    found = layout.view(before, shape)
    if isinstance(found, layout.Blocked):
        raise RuntimeError(
            f"view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous "
            f"subspaces). Use .reshape(...) instead. Shape {list(before.shape)} with strides {list(before.strides)} cannot be seen as "
            f"{list(shape)}: dimension {found.dim} has stride {found.stride}, and would need {found.needed} to be read in one run "
            f"with the dimensions after it. reshape() copies where a view is impossible."
        )
    return found


def slice_rule(before: Layout, dim: int, start: int, stop: int, step: int) -> Layout:
    return layout.slice_(before, dim, start, stop, step)


def split_rule(before: Layout, dim: int, sizes: Sequence[int]) -> list[Layout]:
    out, start = [], 0
    for size in sizes:
        out.append(layout.slice_(before, dim, start, start + size, 1))
        start += size
    return out


def unbind_rule(before: Layout, dim: int) -> list[Layout]:
    return [layout.select(before, dim, i) for i in range(before.shape[dim])]


def as_strided_rule(before: Layout, layout: Layout) -> Layout:
    return layout


# ----------------------------------------------------------------------------------------- scatters: gradients of views


def _select_backward(xp: Any, g: Any, shape: Shape, dim: int, index: int) -> Any:
    out = xp.zeros(shape, g.dtype)
    out[(slice(None),) * dim + (index,)] = g
    return out


def _slice_backward(xp: Any, g: Any, shape: Shape, dim: int, start: int, stop: int, step: int) -> Any:
    out = xp.zeros(shape, g.dtype)
    out[(slice(None),) * dim + (slice(start, stop, step),)] = g
    return out


def _diagonal_backward(xp: Any, g: Any, shape: Shape, offset: int, dim1: int, dim2: int) -> Any:
    out = xp.zeros(shape, g.dtype)
    at = layout.diagonal(Layout(tuple(shape), layout.contiguous_strides(shape)), offset, dim1, dim2)
    _strided(xp, out, at)[...] = g
    return out


def _unfold_backward(xp: Any, g: Any, shape: Shape, dim: int, size: int, step: int) -> Any:
    out = xp.zeros(shape, g.dtype)
    at = layout.unfold(Layout(tuple(shape), layout.contiguous_strides(shape)), dim, size, step)
    _add_at(xp, out, at, g)
    return out


def _strided(xp: Any, buffer: Any, at: Layout) -> Any:
    """A window on a contiguous buffer."""
    size = buffer.itemsize
    return xp.lib.stride_tricks.as_strided(
        buffer.reshape(-1)[at.offset :], at.shape, tuple([s * size for s in at.strides])
    )


def _positions(xp: Any, at: Layout) -> Any:
    """The storage position of every element of a layout."""
    where = xp.asarray(at.offset)
    for size, stride in zip(at.shape, at.strides, strict=True):
        where = where[..., None] + xp.arange(size) * stride
    return where


def _add_at(xp: Any, buffer: Any, at: Layout, g: Any) -> None:
    """Add into a buffer through a layout; elements that a layout reaches several times get every contribution."""
    if g.size == 0:
        return
    if layout.overlaps_itself(at.shape, at.strides):
        backend.of(buffer).add_at(buffer.reshape(-1), _positions(xp, at).reshape(-1), g.reshape(-1))
    else:
        _strided(xp, buffer, at)[...] += g


def _room(base: Layout, *others: Layout) -> tuple[int, list[Layout]]:
    """Elements of a buffer that several layouts reach, and the layouts shifted to start in it."""
    used = [at for at in (base, *others) if 0 not in at.shape]
    first = min((at.offset for at in used), default=0)
    last = max((at.offset + layout.extent(at.shape, at.strides) for at in used), default=0)
    return last - first, [at._replace(offset=max(0, at.offset - first)) for at in (base, *others)]


def _as_strided_copy(xp: Any, a: Any, base_layout: Layout, layout: Layout) -> Any:
    """Read ``a``, which lies like ``base_layout``, through another layout of the same storage."""
    room, (base, at) = _room(base_layout, layout)
    buffer = xp.zeros(room, a.dtype)
    # What lies on one element is one value; of gradients it is their mean.
    if _overlaps(base) and a.dtype.kind in "fcV":
        _add_at(xp, buffer, base, a)
        buffer /= _times(xp, room, base).astype(a.dtype)
    else:
        _strided(xp, buffer, base)[...] = a
    return _strided(xp, buffer, at).copy()


def _as_strided_backward(xp: Any, g: Any, base_layout: Layout, layout: Layout) -> Any:
    """Add ``g`` into a storage of zeros through ``layout`` and read it through ``base_layout``."""
    room, (base, at) = _room(base_layout, layout)
    buffer = xp.zeros(room, g.dtype)
    _add_at(xp, buffer, at, g)
    if _overlaps(base):  # several elements of the input are one in memory: each gets its share
        buffer /= _times(xp, room, base).astype(g.dtype)
    return _strided(xp, buffer, base).copy()


def _overlaps(at: Layout) -> bool:
    return layout.overlaps_itself(at.shape, at.strides)


def _times(xp: Any, room: int, at: Layout) -> Any:
    """How many indexes of a layout reach each element of a buffer, at least 1."""
    counts = xp.zeros(room, xp.int64)
    _add_at(xp, counts, at, xp.ones(at.shape, xp.int64))
    return xp.maximum(counts, 1)


def _as_strided_scatter(xp: Any, a: Any, src: Any, base_layout: Layout, layout: Layout) -> Any:
    room, (base, at) = _room(base_layout, layout)
    buffer = xp.zeros(room, a.dtype)
    _strided(xp, buffer, base)[...] = a
    _strided(xp, buffer, at)[...] = src
    return _strided(xp, buffer, base).copy()


def _adjoint(name: str, forward: Any, grad: Any, formula: str, samples: Any) -> Any:
    """The row of a scatter: what its view took is put back into zeros of ``shape``."""
    return row(
        name,
        "grad",
        forward=forward,
        infer=lambda shapes, shape=None, base_layout=None, **attrs: tuple(
            shape if shape is not None else base_layout.shape
        ),
        grad={"grad": grad},
        formula=formula,
        derivatives={"grad": "the view of grad"},
        onnx=NO_ONNX("appears in gradients only"),
        cost=per_element(0),
        samples=samples,
    )


_L23 = Layout((2, 3), (3, 1), 0)

select_backward = _adjoint(
    "select_backward",
    _select_backward,
    lambda g, dim, index: g.select(dim, index),
    "result = zeros with grad at one index",
    lambda t: [((t(3),), {"shape": (2, 3), "dim": 0, "index": 1})],
)
slice_backward = _adjoint(
    "slice_backward",
    _slice_backward,
    lambda g, dim, start, stop, step: g._op("slice", dim=dim, start=start, stop=stop, step=step),
    "result = zeros with grad at a slice",
    lambda t: [((t(2, 2),), {"shape": (2, 5), "dim": 1, "start": 0, "stop": 4, "step": 2})],
)
diagonal_backward = _adjoint(
    "diagonal_backward",
    _diagonal_backward,
    lambda g, offset, dim1, dim2: g.diagonal(offset, dim1, dim2),
    "result = zeros with grad on a diagonal",
    lambda t: [((t(2),), {"shape": (2, 3), "offset": 0, "dim1": 0, "dim2": 1})],
)
unfold_backward = _adjoint(
    "unfold_backward",
    _unfold_backward,
    lambda g, dim, size, step: g.unfold(dim, size, step),
    "result = zeros with grad added at every window",
    lambda t: [((t(3, 3),), {"shape": (5,), "dim": 0, "size": 3, "step": 1})],
)
as_strided_copy = _adjoint(
    "as_strided_copy",
    _as_strided_copy,
    lambda g, base_layout, layout: g._op("as_strided_backward", base_layout=base_layout, layout=layout),
    "result = self read through another layout",
    lambda t: [((t(2, 3),), {"base_layout": _L23, "layout": Layout((3, 2), (1, 2), 1)})],
)
as_strided_copy.infer = lambda shapes, base_layout, layout: tuple(layout.shape)
as_strided_backward = _adjoint(
    "as_strided_backward",
    _as_strided_backward,
    lambda g, base_layout, layout: g._op("as_strided_copy", base_layout=base_layout, layout=layout),
    "result = zeros with grad added through a layout",
    lambda t: [((t(3, 2),), {"base_layout": _L23, "layout": Layout((3, 2), (1, 2), 1)})],
)
as_strided_scatter = row(
    "as_strided_scatter",
    "self src",
    forward=_as_strided_scatter,
    infer=lambda shapes, base_layout, layout: tuple(base_layout.shape),
    grad={
        "self": lambda g, base_layout, layout: g._op(
            "as_strided_scatter", g._zeros(layout.shape), base_layout=base_layout, layout=layout
        ),
        "src": lambda g, base_layout, layout: g._op("as_strided_copy", base_layout=base_layout, layout=layout),
    },
    formula="result = self with src written through a layout",
    derivatives={"self": "grad, 0 where src was written", "src": "grad read through the layout"},
    onnx=NO_ONNX("layouts are not visible in ONNX"),
    cost=no_cost,
    samples=lambda t: [((t(2, 3), t(2)), {"base_layout": _L23, "layout": Layout((2,), (3,), 1)})],
)

# --------------------------------------------------------------------------------------------------------- views

view = _view(
    "view",
    view_rule,
    lambda g, self_shape: g.reshape(self_shape),
    "result = self, read as another shape",
    "grad, read as self's shape",
    "Reshape",
    lambda t: [((t(2, 6), (3, 4)), {}), ((t(2, 6), (-1,)), {}), ((t(4), (2, 2)), {})],
)
transpose = _view(
    "transpose",
    layout.transpose,
    lambda g, dim0, dim1: g.transpose(dim0, dim1),
    "result = self with two dimensions exchanged",
    "grad with them exchanged back",
    "Transpose",
    lambda t: [((t(2, 3, 4), 0, 2), {}), ((t(2, 3), -1, 0), {})],
)
t = _view(
    "t",
    lambda before: layout.transpose(before, 0, 1) if len(before.shape) == 2 else before,
    lambda g: g.t(),
    "result = selfᵀ",
    "gradᵀ",
    "Transpose",
    lambda t: [((t(2, 3),), {}), ((t(3),), {})],
)
permute = _view(
    "permute",
    lambda before, dims: layout.permute(before, dims),
    lambda g, dims: g.permute(sorted(range(len(dims)), key=dims.__getitem__)),
    "result = self with its dimensions in another order",
    "grad in the original order",
    "Transpose",
    lambda t: [((t(2, 3, 4), (2, 0, 1)), {})],
)
expand = _view(
    "expand",
    lambda before, sizes: layout.expand(before, sizes),
    lambda g, self_shape: g.sum_to_size(self_shape),
    "result = self stretched with stride 0",
    "grad summed over the stretched dimensions",
    "Expand",
    lambda t: [((t(3, 1), (3, 4)), {}), ((t(3), (2, 3)), {}), ((t(), (2,)), {})],
)
squeeze = _view(
    "squeeze",
    lambda before, dims: layout.squeeze(before, dims),
    lambda g, self_shape: g.reshape(self_shape),
    "result = self without dimensions of size 1",
    "grad with them again",
    "Squeeze",
    lambda t: [((t(2, 1, 3, 1),), {}), ((t(2, 1, 3), 1), {})],
)
unsqueeze = _view(
    "unsqueeze",
    lambda before, dim: layout.unsqueeze(before, dim),
    lambda g, dim: g.squeeze(dim),
    "result = self with a new dimension of size 1",
    "grad without it",
    "Unsqueeze",
    lambda t: [((t(2, 3), 1), {}), ((t(2, 3), -1), {}), ((t(), 0), {})],
)
select = _view(
    "select",
    lambda before, dim, index: layout.select(before, dim, index),
    lambda g, self_shape, dim, index: g._op("select_backward", shape=self_shape, dim=dim, index=index),
    "result = self at one index of a dimension",
    "zeros with grad at that index",
    "Gather",
    lambda t: [((t(2, 3), 0, 1), {}), ((t(2, 3), 1, -1), {})],
)
slice_ = _view(
    "slice",
    slice_rule,
    lambda g, self_shape, dim, start, stop, step: g._op(
        "slice_backward", shape=self_shape, dim=dim, start=start, stop=stop, step=step
    ),
    "result = a slice of self along one dimension",
    "zeros with grad in that slice",
    "Slice",
    lambda t: [((t(5, 2),), {"dim": 0, "start": 1, "stop": 5, "step": 2})],
)
diagonal = _view(
    "diagonal",
    lambda before, offset, dim1, dim2: layout.diagonal(before, offset, dim1, dim2),
    lambda g, self_shape, offset, dim1, dim2: g._op(
        "diagonal_backward", shape=self_shape, offset=offset, dim1=dim1, dim2=dim2
    ),
    "result = a diagonal of two dimensions",
    "zeros with grad on that diagonal",
    NO_ONNX("GatherND"),
    lambda t: [((t(3, 4),), {}), ((t(3, 4), 1), {}), ((t(2, 3, 3), -1, 1, 2), {})],
)
unfold = _view(
    "unfold",
    lambda before, dim, size, step: layout.unfold(before, dim, size, step),
    lambda g, self_shape, dim, size, step: g._op("unfold_backward", shape=self_shape, dim=dim, size=size, step=step),
    "result = windows along one dimension",
    "zeros with grad added at every window",
    NO_ONNX("Gather"),
    lambda t: [((t(5), 0, 3, 1), {}), ((t(2, 6), 1, 2, 2), {})],
)
as_strided = _view(
    "as_strided",
    as_strided_rule,
    lambda g, base_layout, layout: g._op("as_strided_backward", base_layout=base_layout, layout=layout),
    "result = self's storage under another layout",
    "zeros with grad added through that layout",
    NO_ONNX("layouts are not visible in ONNX"),
    lambda t: [((t(2, 3), (3, 2), (1, 2)), {}), ((t(4), (3, 2), (1, 1)), {})],
)


def _split_grad(grads: Any, needs: Any, base_layout: Layout, dim: int, sizes: Sequence[int]) -> Any:
    some = next(g for g in grads if g is not None)
    shape = base_layout.shape
    parts = [
        g if g is not None else some._zeros(shape[:dim] + (n,) + shape[dim + 1 :])
        for g, n in zip(grads, sizes, strict=True)
    ]
    return [parts[0]._op("cat", *parts[1:], dim=dim, sizes=tuple(sizes))]


def _unbind_grad(grads: Any, needs: Any, base_layout: Layout, dim: int) -> Any:
    some = next(g for g in grads if g is not None)
    parts = [g if g is not None else some._zeros(some.shape) for g in grads]
    return [parts[0]._op("stack", *parts[1:], dim=dim)]


split = _view(
    "split",
    split_rule,
    _split_grad,
    "results = self cut along one dimension",
    "the gradients joined again",
    "Split",
    lambda t: [((t(5, 2), 2), {}), ((t(2, 5), (1, 4), 1), {})],
)
unbind = _view(
    "unbind",
    unbind_rule,
    _unbind_grad,
    "results = self at every index of one dimension",
    "the gradients stacked again",
    NO_ONNX("Split, Squeeze"),
    lambda t: [((t(3, 2),), {}), ((t(2, 3), 1), {})],
)
