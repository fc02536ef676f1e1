"""The door's second half: writing into tensors that exist.

A write runs the row's ordinary forward, copies the result into place, counts one version, and gives the tensor new history. A
write to a view also gives its base new history: ``CopySlices`` passes the part of a gradient that was written through the write,
and the rest to what was there before. Every other view finds out when it is next asked for its place in the graph.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tensorlab import backend, dispatch, dtypes, layout, taps
from tensorlab.dispatch import as_tensors, edge_of, made_here, promoted, saved_value, storage_of
from tensorlab.engine import hidden, sites
from tensorlab.engine.hooks import move_retained
from tensorlab.engine.node import Node, counter, node_class
from tensorlab.engine.rewriting import NOT_REWRITTEN
from tensorlab.errors import out_of_memory
from tensorlab.explain import explain, inputs_in_words
from tensorlab.modes import state
from tensorlab.ops.complex import as_real
from tensorlab.ops.table import ROWS, Row, nothing
from tensorlab.viewing import layout_of, strides_of

new = object.__new__


class CopySlices(Node):
    """History of a base after a write to one of its views. ``write`` is the node of the write itself, whose input number
    ``position`` was the view.
    """

    __slots__ = ("write", "position", "base_layout", "view_layout")

    write: Any
    position: Any
    base_layout: Any
    view_layout: Any

    @property
    def saved(self) -> Any:
        """What the write saved: it is freed with this node, which stands in the graph in its place."""
        return self.write.saved

    @saved.setter
    def saved(self, value: Any) -> None:
        self.write.saved = value

    def saved_facts(self) -> list[tuple[str, Any, int, int, int]]:
        return self.write.saved_facts()

    def apply(self, grads: Sequence[Any], graph: bool, edges: Sequence[Any] | None = None) -> list[Any]:
        g = grads[0]
        if g is None:
            return [None] * len(self.edges)
        of_base, of_view = g._a.dtype.kind == "c", self.write.outs[1].kind == "c"
        base_layout, view_layout = self.base_layout, self.view_layout
        if (
            of_base and not of_view
        ):  # where one sees complex numbers and the other pairs of real ones, all is done in real ones
            g, base_layout = g.contiguous().view_as_real(), as_real(base_layout)
        elif of_view and not of_base:
            view_layout = as_real(view_layout)
        where = {"base_layout": base_layout, "layout": view_layout}
        part = g._op("as_strided_copy", **where)
        if of_view and not of_base:
            part = part.view_as_complex()
        at, inner = self.position, None
        if edges is not None:
            inner = [own if e is not None else None for own, e in zip(self.write.edges, edges, strict=True)]
        found = list(self.write.apply([part], graph, inner))
        if (edges or self.edges)[at] is not None:
            before = found[at] if found[at] is not None else part._zeros(part.shape)
            if of_view and not of_base:
                before = before.contiguous().view_as_real()
            rest = g._op("as_strided_scatter", before, **where)
            found[at] = rest.view_as_complex() if of_base and not of_view else rest
        return found


def write(row: Row, x: Any, *others: Any, op: str = "", anywhere: bool = False, **attrs: Any) -> Any:
    """Run ``row`` with ``x`` as its first input and put the result into ``x``. Returns ``x``.

    ``anywhere`` allows memory that several indexes reach (``fill_`` writes the same value everywhere, so it may).
    """
    name = op or f"{row.name}_"
    if not isinstance(x, dispatch.Tensor):
        raise TypeError(f"{name}(): argument 'self' must be Tensor, not {type(x).__name__}")
    tensors = as_tensors(row, (x, *others))
    _may_write(name, x, tensors, anywhere)
    if not all(t is None or type(t._a) is np.ndarray for t in tensors):
        tensors = _where_written(row, tensors)
    result, saved_inputs = _compute(row, name, x, tensors, attrs)
    recording = state.grad and any(t is not None and t._live and edge_of(t) is not None for t in tensors)
    if recording:
        may_record(name, x)
        if row.vjps is None and row.joint is None:
            row = _constant(row)
        node = _history(row, x, tensors, saved_inputs, attrs)
    a = x._a
    try:
        if type(a) is np.ndarray:
            a[...] = result
        else:
            backend.put(a, result)
    except ValueError as error:
        raise _not_writable(name, a) or error from None
    storage_of(x).bump(name, sites.here(2), None if recording else a)
    owner = x if x._view is None else x._view.base
    if not owner._rg and getattr(owner, "_notes", None) is not None:
        hidden.notice(owner, name)
    if recording:
        _save_result(row, node, x)
        rebase(x, node)
    if dispatch.unusual:
        for tap in taps.ops:
            tap(row, tensors, attrs, (x,))
    return x


_constants: dict[str, Row] = {}


def _constant(row: Row) -> Row:
    """A row without gradients, for its in-place form: what it writes is constant, so all its inputs get 0."""
    known = _constants.get(row.name)
    if known is None:
        known = _constants[row.name] = copy.copy(row)
        known.vjps, known.needs = (nothing,) * len(row.params), ((),) * len(row.params)
        known.node, known.node_name = None, row.node_name.replace("Backward0", "Backward1")
    return known


def _not_writable(name: str, a: Any) -> RuntimeError | None:
    """What to raise for a write into memory that belongs to somebody who forbids it; ``None`` for any other."""
    if type(a) is not np.ndarray or a.flags.writeable:
        return None
    return RuntimeError(
        f"{name}(): the tensor lies in memory that may not be written to, that of a read-only array or buffer. Please clone() the tensor "
        "before performing the operation."
    )


def _compute(row: Row, name: str, x: Any, tensors: list[Any], attrs: dict[str, Any]) -> tuple[Any, list[Any]]:
    """The new value of ``x``, in its type and shape, and the inputs the gradient formulas are to see."""
    inputs = promoted(row, tensors) if row.promotes else tensors
    arrays = [None if t is None else t._a for t in inputs]
    try:
        if type(x._a) is np.ndarray:
            result = row.forward(np, *arrays, **attrs)
        else:
            result = dispatch.on_device(row, inputs, attrs)[2]
    except (RuntimeWarning, FloatingPointError):
        with np.errstate(all="ignore"):
            result = row.forward(np, *arrays, **attrs)
    except Exception as error:
        raise explain(row, tensors, attrs, error) from None
    a = x._a
    if result.shape != a.shape:
        raise RuntimeError(
            f"{name}(): output with shape {list(a.shape)} doesn't match the broadcast shape {list(result.shape)}; an in-place operation "
            f"cannot make its tensor larger (given {inputs_in_words(row, tensors)})"
        )
    if not dtypes.can_cast(dtypes.of(result.dtype), dtypes.of(a.dtype)):
        raise RuntimeError(
            f"{name}(): result type {dtypes.of(result.dtype).name} can't be cast to the desired output type {dtypes.of(a.dtype).name}. "
            f"Use the out-of-place form, or convert the tensor first."
        )
    return result, inputs


def _where_written(row: Row, tensors: list[Any]) -> list[Any]:
    """Inputs on the device of the first, which is written to: a copy may come from any device, other writes may not."""
    x = tensors[0]
    if row.name == "copy":
        return [x, dispatch.move(tensors[1], dispatch.device_of(x._a))]
    found = list(dispatch.together(row, tensors))
    if found[0] is not x:  # it would have joined the others
        raise RuntimeError(dispatch.apart(row, tensors))
    return found


def _may_write(name: str, x: Any, tensors: Sequence[Any], anywhere: bool) -> None:
    a = x._a
    if state.looking is not None and (id(a) in state.looking or id(x._st) in state.looking):
        raise RuntimeError(f"{name}() would write into what a paused backward pass works on; an expression only looks")
    if x._st is not None and x._st.inference and not state.inference:
        raise RuntimeError(
            f"{name}(): Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a normal "
            "tensor before doing inplace update."
        )
    if not anywhere and layout.overlaps_itself(a.shape, a.strides):
        raise RuntimeError(
            f"{name}(): unsupported operation: more than one element of the written-to tensor refers to a single memory location. Shape "
            f"{list(a.shape)}, strides {list(strides_of(a))}. Please clone() the tensor before performing the operation."
        )
    for other in tensors[1:]:
        if other is None or other._a is a or other._st is None or other._st is not x._st:
            continue
        b = other._a
        same = b.shape == a.shape and b.strides == a.strides and backend.of(a).address(a) == backend.of(b).address(b)
        if not same and backend.of(a).overlap(a, b):
            raise RuntimeError(
                f"{name}(): unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
                "location. Please clone() the input before performing the operation."
            )
    if state.grad and x._rg and x._edge is None and x._view is None:
        raise RuntimeError(
            f"{name}(): a leaf Variable that requires grad is being used in an in-place operation. Wrap the write in `with no_grad():`, or "
            "use the out-of-place form."
        )


def may_record(name: str, x: Any) -> None:
    """Raise ``RuntimeError`` if the history of ``x`` cannot be rewritten."""
    view = x._view
    if view is None:
        return
    if view.made_in in ("several", "function"):
        what = f"Output {x._edge[1]} of {x._edge[0].name()}" if x._edge is not None else "Output 0 of a function"
        hooked = getattr(x._edge[0], "hooked", None) if x._edge is not None else None
        whose = f" {hooked()}." if hooked is not None else ""
        raise RuntimeError(
            f"{name}(): {what} is a view and is being modified inplace.{whose} {NOT_REWRITTEN[view.made_in]}"
        )
    if view.made_in:
        raise RuntimeError(
            f"{name}(): A view was created in {view.made_in} mode and is being modified inplace with grad mode enabled. "
            f"{NOT_REWRITTEN[view.made_in]}"
        )
    if x.requires_grad and view.base._edge is None:
        raise RuntimeError(
            f"{name}(): a view of a leaf Variable that requires grad is being used in an in-place operation. Wrap the write in "
            "`with no_grad():`, or write to a clone()."
        )


def _history(row: Row, x: Any, tensors: Sequence[Any], inputs: Sequence[Any], attrs: dict[str, Any]) -> Node:
    """The node of a write. What it saves of ``x`` is a copy, since ``x`` is about to change."""
    node = new(node_class(row))
    node.edges = tuple([edge_of(t) if t is not None and t._live else None for t in tensors])
    node.attrs = attrs
    node.seq = next(counter)
    node.outs = (x._a.shape, x._a.dtype)
    node.hooks = None
    node.made = made_here() if dispatch.watched else None
    wanted = {n for edge, names in zip(node.edges, row.needs, strict=True) if edge is not None for n in names}
    saved: list[Any] = []
    for name, tensor in zip(row.params, inputs, strict=True):
        if name not in wanted or tensor is None:
            saved.append(None)
        elif tensor is x or tensor._st is not None and tensor._st is x._st:
            saved.append(saved_value(row.name, dispatch.wrap(tensor._a.copy())))
        else:
            saved.append(saved_value(row.name, tensor))
    saved.append(row.results[0] in wanted or None)
    node.saved = tuple(saved)
    return node


def _save_result(row: Row, node: Node, x: Any) -> None:
    if node.saved[-1] is not None:
        node.saved = (*node.saved[:-1], saved_value(row.name, x))


def rebase(x: Any, node: Node, number: int = 0, position: int = 0) -> None:
    """Give ``x``, and its base if it is a view, the history of a write: output ``number`` of ``node``, of which it was an input."""
    if x._view is None:
        move_retained(x._edge, (node, number))
        x._edge = (node, number)
        x._rg = x._live = True
        return
    base = x._view.base
    while base._view is not None:  # a base that stepped back behind one that a module's backward hooks made
        base = base._view.base
    over = new(CopySlices)
    over.write = node
    over.base_layout, over.view_layout = layout_of(base), layout_of(x)
    over.position = position
    edges = list(node.edges)
    edges[position] = edge_of(base) if base._live else None
    over.edges = tuple(edges)
    over.attrs = None
    over.seq = next(counter)
    over.outs = (base._a.shape, base._a.dtype)
    over.hooks = None
    over.made = node.made
    move_retained(base._edge, (over, 0))
    base._edge = (over, 0)
    base._rg = base._live = True
    x._rg = True
    x._view.stamp = -1
    x._view.sync(x)


def resized(x: Any, shape: tuple[int, ...]) -> None:
    """Give ``x`` another shape over its own storage, row by row from where it starts; over new storage if that is too small."""
    old, st = x._a, storage_of(x)
    where = backend.of(old)
    root, start = st.root if st.root is not None else where.root(old), layout_of(x).offset
    if (start + prod(shape)) * old.itemsize > root.nbytes:
        root, start = _grown(old, root, start, prod(shape)), 0
        x._st, x._view, x._off = type(st)(), None, 0
        if not st.inference:
            x._st.version = st.version
        st = x._st
    st.root = root
    strides = tuple([s * old.itemsize for s in layout.contiguous_strides(shape)])
    x._a = where.strided(root, shape, strides, start * old.itemsize, old.dtype)
    if x._view is not None:
        x._view.layout = layout.Layout(shape, layout.contiguous_strides(shape), start)
    if shape != old.shape:
        st.bump("resize_", sites.here(2))


def _grown(a: Any, root: Any, start: int, count: int) -> Any:
    """A larger buffer that begins with what lies in ``root`` from ``start`` on."""
    try:
        fresh = backend.namespace(a).empty(count, a.dtype)
    except (MemoryError, ValueError) as error:
        raise out_of_memory("resize_", error) or error from None
    kept = root.reshape(-1).view(a.dtype)[start:][:count]
    fresh[: kept.size] = kept
    return fresh


def assign(x: Any, value: Any) -> None:
    """``x[...] = value`` for a view ``x`` of the target: copy with broadcasting, once leading 1s of ``value`` are dropped."""
    if not isinstance(value, dispatch.Tensor):
        raise TypeError(f"can't assign a {type(value).__name__} to a tensor")
    shape = value._a.shape
    extra = len(shape) - x._a.ndim
    if extra > 0 and all(n == 1 for n in shape[:extra]):
        value = value.reshape(shape[extra:])
    write(ROWS["copy"], x, value, op="copy_")
