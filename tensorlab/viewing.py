"""The door for views: a layout rule on the storage that is there, and what a view remembers of its base."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from tensorlab import backend, dispatch, layout
from tensorlab.backend.storage import Storage
from tensorlab.dispatch import edge_of, made_here, record, tell, wrap
from tensorlab.engine.hooks import move_retained
from tensorlab.engine.node import Edge, counter, node_class
from tensorlab.engine.rewriting import rewritten
from tensorlab.errors import out_of_memory
from tensorlab.explain import refused
from tensorlab.modes import state
from tensorlab.ops.complex import as_real
from tensorlab.ops.table import ROWS, Row

new = object.__new__


class View:
    """What a view knows: its base, how it lies in the base's storage, and how it came to be."""

    __slots__ = ("base", "made_in", "stamp", "layout")

    def __init__(self, base: Any, made_in: str, stamp: int, at: layout.Layout) -> None:
        self.base = base
        self.made_in = made_in  # "" (ordinary), "no_grad", "inference", "several" (one of several views) or "function"
        self.stamp = stamp  # the storage's version for which the view's edge is right
        self.layout = at

    def sync(self, x: Any) -> None:
        """Bring a view's place in the graph up to date after somebody wrote into its storage."""
        st = x._st
        if st.inference or st.version == self.stamp:
            return
        base = self.base
        if not base._rg and x._edge is None:
            return  # nothing is recorded of either, yet
        if self.made_in:
            raise rewritten(x, self.made_in)
        old, x._edge = x._edge, edge_of_view(base, x)
        x._rg = True
        move_retained(old, x._edge)
        self.stamp = st.version


def edge_of_view(base: Any, x: Any) -> Edge:
    """The edge of ``x`` as a view of ``base``, however it was made; between complex and real elements, in real ones."""
    edge, at, below = edge_of(base), layout_of(x), layout_of(base)
    kind, base_kind = x._a.dtype, base._a.dtype
    if kind == base_kind:
        return _edge("as_strided", edge, at.shape, kind, layout=at, base_layout=below)
    if base_kind.kind == "c":
        below = as_real(below)
        edge = _edge("view_as_real", edge, below.shape, kind)
        return _edge("as_strided", edge, at.shape, kind, layout=at, base_layout=below)
    pairs = as_real(at)
    edge = _edge("as_strided", edge, pairs.shape, base_kind, layout=pairs, base_layout=below)
    return _edge("view_as_complex", edge, at.shape, kind)


def _edge(name: str, edge: Edge | None, shape: tuple[int, ...], dtype: Any, **attrs: Any) -> Edge:
    """An edge to a new node of a view that leads on to ``edge``."""
    node = new(node_class(ROWS[name]))
    node.edges = (edge,)
    node.attrs = attrs
    node.saved = (None, None)
    node.seq = next(counter)
    node.outs = (shape, dtype)
    node.hooks = None
    node.made = made_here() if dispatch.watched else None
    return node, 0


def strides_of(a: Any) -> tuple[int, ...]:
    """Strides in elements, for empty arrays those of PyTorch."""
    size = a.itemsize
    strides = tuple([s // size for s in a.strides])
    return layout.contiguous_strides(a.shape) if a.size == 0 and not any(strides) else strides


def layout_of(x: Any) -> layout.Layout:
    """How a tensor lies in its storage, in elements."""
    if x._view is not None:
        return x._view.layout
    a = x._a
    return _lying(a.shape, a.strides, a.itemsize, x._off)


@lru_cache(8192)
def _lying(shape: tuple[int, ...], steps: tuple[int, ...], size: int, offset: int) -> layout.Layout:
    """A layout from strides in bytes; empty arrays have the strides of PyTorch."""
    strides = tuple([s // size for s in steps])
    return layout.Layout(
        shape, layout.contiguous_strides(shape) if 0 in shape and not any(strides) else strides, offset
    )


@lru_cache(8192, typed=True)
def _after(rule: Callable[..., layout.Layout], before: layout.Layout, **attrs: Any) -> layout.Layout:
    """What a layout rule makes of a layout: the same each time, so it is looked up."""
    return rule(before, **attrs)


def _ruled(row: Row, x: Any, before: layout.Layout, attrs: dict[str, Any]) -> layout.Layout:
    try:
        return row.view(before, **attrs)
    except Exception as error:
        raise refused(row.name, ("self",), (x,), {**attrs, "layout": before}, error) from None


def view(row: Row, x: Any, **attrs: Any) -> Any:
    """Run a row whose result is a view: its layout rule, on the same storage."""
    if not isinstance(x, dispatch.Tensor):
        raise TypeError(f"{row.name}(): argument 'self' (position 1) must be Tensor, not {type(x).__name__}")
    before = layout_of(x)
    try:
        after = _after(row.view, before, **attrs)
    except TypeError:  # an argument that cannot be looked up, or a wrong one
        after = _ruled(row, x, before, attrs)
    except Exception as error:
        raise refused(row.name, ("self",), (x,), {**attrs, "layout": before}, error) from None
    out = alias(x, after, x._a.dtype if row.seen_as is None else row.seen_as[x._a.dtype])
    above = x._view
    st = x._st
    stamp = -1 if st.inference else st.version
    if state.grad:
        made_in = "" if above is None else above.made_in
        out._view = View(x if above is None else above.base, made_in, stamp, after)
        out._live = True
        if x._live:
            attrs["base_layout"] = before
            record(row, (x,), attrs, (out,))
    else:
        out._view = View(
            x if above is None else above.base, "inference" if state.inference else "no_grad", stamp, after
        )
        out._live = True
    if dispatch.watched and not out._rg:
        dispatch.lost(row, (x,), (out,))
    if dispatch.unusual:
        tell(row, (x,), attrs, (out,))
    return out


def views(row: Row, x: Any, **attrs: Any) -> tuple[Any, ...]:
    """Run a row whose results are several views (split, unbind)."""
    before = layout_of(x)
    base = x._view.base if x._view is not None else x
    outs = []
    for after in row.view(before, **attrs):
        out = alias(x, after, x._a.dtype)
        out._view = View(base, "several", -1 if x._st.inference else x._st.version, after)
        out._live = True
        outs.append(out)
    made = tuple(outs)
    if state.grad and x._live:
        record(row, (x,), {**attrs, "base_layout": before}, made)
    if dispatch.watched and made and not made[0]._rg:
        dispatch.lost(row, (x,), made)
    if dispatch.unusual:
        tell(row, (x,), attrs, made)
    return made


def alias(x: Any, after: layout.Layout, dtype: Any) -> Any:
    """A tensor over the storage of ``x``, under another layout."""
    a = x._a
    st = x._st
    if st is None:
        st = x._st = Storage()
    root = st.root
    if root is None:
        root = st.root = backend.of(a).root(a)
    size = dtype.itemsize
    shape, strides, offset = after
    start = offset * size
    if 0 in shape:
        start = min(start, root.nbytes)
    steps = [s * size for s in strides]
    try:
        made = (
            np.ndarray(shape, dtype, root, start, steps)
            if type(a) is np.ndarray
            else backend.of(a).strided(root, shape, steps, start, dtype)
        )
    except ValueError as error:
        raise out_of_memory(f"a view of shape {list(shape)}", error) or error from None
    out = wrap(made)
    out._st = st
    out._off = offset
    return out
