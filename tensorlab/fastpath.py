"""The short way through the door, for elementwise rows on the CPU with nothing unusual on.

``unary`` and ``binary`` build one function for each row: no tables, no argument packing, no checks that cost anything before
something fails. What they do not handle goes the long way, ``dispatch.call``. Both ways make the same results and nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorlab import modes
from tensorlab.backend import namespace
from tensorlab.backend.storage import Storage
from tensorlab.dispatch import call, comparable, constant, edge_of, join, lost, made_here, made_of, recover, storage_of
from tensorlab.engine.node import accumulator, counter, node_class
from tensorlab.modes import state
from tensorlab.ops.table import BOOL, FLOAT, SAME, Row, Ufunc

new = object.__new__
ndarray, generic = np.ndarray, np.generic
Tensor: Any = None  # the class of results, given by bind()

_into: Any = None  # puts a result where ``out=`` says, given by bind_out()

_unusual = False  # a layer, a tap, a hook on saved values or inference mode is on somewhere
_sites = False  # places are recorded


def _listen(unusual: bool, watched: bool) -> None:
    global _unusual, _sites
    _unusual, _sites = unusual, watched


modes.listen(_listen)


def bind(tensor_class: type) -> None:
    """Make ``tensor_class`` the class of results."""
    global Tensor
    Tensor = tensor_class


def bind_out(into: Any) -> None:
    """Let ``into(out, function, args, kwargs)`` do what ``out=`` asks for."""
    global _into
    _into = into


def unary(row: Row) -> Callable[[Any], Any]:
    """The function that people call for a row with one elementwise input."""
    kernel = _kernel(row)
    new_node = node_class(row)
    grad = row.vjps is not None
    saves_x, saves_r = (name in row.needs[0] if grad else False for name in (row.params[0], row.results[0]))
    free = row.result == BOOL

    def op(x: Any, *, out: Any = None) -> Any:
        if _unusual or out is not None:
            return call(row, (x,)) if out is None else _into(out, op, (x,), {})
        try:
            a = x._a
            r = kernel(a)
        except Exception as error:
            return recover(row, (x,), {}, error)
        if type(r) is not ndarray:
            if isinstance(r, generic):
                r = np.asarray(r)
            elif not _usual(r, a):
                return call(row, (x,))
        if r.dtype is not a.dtype and not free:
            return call(row, (x,))
        out = new(Tensor)
        out._a = r
        out._st = out._edge = out._grad = out._view = out._acc = out._notes = None
        out._rg = out._live = False
        out._off = 0
        if x._live and grad and state.grad:
            edge = x._edge if x._view is None else edge_of(x)
            if edge is None and x._rg:
                edge = (x._acc or accumulator(x), 0, x)
            if edge is not None:
                sx = sr = None
                if saves_x:
                    st = x._st
                    if st is None:
                        st = x._st = Storage()
                    sx = (a, st, st.version)
                if saves_r:
                    st = out._st = Storage()
                    sr = (r, st, 0)
                node = new(new_node)
                node.edges = (edge,)
                node.saved = (sx, sr)
                node.attrs = None
                node.seq = next(counter)
                node.outs = (r.shape, r.dtype)
                node.hooks = None
                node.made = made_here() if _sites else None
                out._edge = (node, 0)
                out._rg = out._live = True
        elif _sites:
            lost(row, (x,), (out,))
        return out

    op.__name__ = op.__qualname__ = row.name
    return op


def binary(row: Row) -> Callable[[Any, Any], Any]:
    """The function that people call for a row with two elementwise inputs, either of which may be a Python number."""
    kernel = _kernel(row)
    new_node = node_class(row)
    grad = row.vjps is not None
    crossed = row.needs == ((row.params[1],), (row.params[0],))
    kept = None if crossed or not any(row.needs) else _keeper(row)
    keeps = row.result in (SAME, FLOAT)
    beside = _beside(comparable if row.result == BOOL else row.beside_int)

    def op(x: Any, y: Any, *, out: Any = None) -> Any:
        if _unusual or out is not None:
            return call(row, (x, y)) if out is None else _into(out, op, (x, y), {})
        given = y
        try:
            if type(y) is not Tensor and (type(y) is float or type(y) is int):
                x, y = beside(x, y)
            a, b = x._a, y._a
            if a.dtype is not b.dtype:
                return call(row, (x, given))
            r = kernel(a, b)
        except Exception as error:
            return recover(row, (x, given), {}, error)
        if type(r) is not ndarray:
            if isinstance(r, generic):
                r = np.asarray(r)
            elif not _usual(r, a, b):
                return call(row, (x, given))
        if keeps and r.dtype is not a.dtype:
            return call(row, (x, given))
        out = new(Tensor)
        out._a = r
        out._st = out._edge = out._grad = out._view = out._acc = out._notes = None
        out._rg = out._live = False
        out._off = 0
        if (x._live or y._live) and grad and state.grad:
            ex = x._edge if x._view is None else edge_of(x)
            if ex is None and x._rg:
                ex = (x._acc or accumulator(x), 0, x)
            ey = y._edge if y._view is None else edge_of(y)
            if ey is None and y._rg:
                ey = (y._acc or accumulator(y), 0, y)
            if ex is None and ey is None:
                return out
            sx = sy = sr = None
            if crossed:  # as in a product: each side's gradient needs the other side
                if ey is not None:
                    st = x._st
                    if st is None:
                        st = x._st = Storage()
                    sx = (a, st, st.version)
                if ex is not None:
                    st = y._st
                    if st is None:
                        st = y._st = Storage()
                    sy = (b, st, st.version)
            elif kept is not None:
                sx, sy, sr = kept((x, y, out), ex is not None, ey is not None)
            node = new(new_node)
            node.edges, node.attrs = (ex, ey), None
            node.saved = (sx, sy, sr)
            node.seq = next(counter)
            node.outs = (r.shape, r.dtype)
            node.hooks = None
            node.made = made_of(node, (x, y)) if _sites else None
            out._edge, out._rg, out._live = (node, 0), True, True
        elif _sites:
            lost(row, (x, y), (out,))
        return out

    op.__name__ = op.__qualname__ = row.name
    return op


def _kernel(row: Row) -> Callable[..., Any]:
    """What computes a row from arrays. NumPy's own functions hand arrays of a GPU over to CuPy's."""
    forward = row.forward
    if type(forward) is Ufunc:
        return getattr(np, forward.name)
    if len(row.params) == 1:
        return lambda a: forward(np if type(a) is ndarray else namespace(a), a)
    return lambda a, b: forward(np if type(a) is ndarray else namespace(a), a, b)


def _usual(result: Any, *arrays: Any) -> bool:
    """Whether a result on a GPU is what the long way would give: on its operands' device, all of them row by row."""
    for a in arrays:
        if a.device != result.device or not a.flags.c_contiguous:
            return False
    return True


def _beside(adapt: Callable[[Any, int], Any] | None) -> Callable[[Any, Any], tuple[Any, Any]]:
    """How a tensor and a Python number become two tensors; ``adapt`` may first widen the tensor for an integer."""

    def beside(x: Any, number: Any) -> tuple[Any, Any]:
        if adapt is not None and type(number) is int:
            x = adapt(x, number)
        a = x._a
        found = constant(a.dtype, number)
        return x, found if type(a) is ndarray else join(found, a)

    return beside


def _keeper(row: Row) -> Callable[[tuple[Any, Any, Any], bool, bool], list[Any]]:
    """What the formulas that will run need of both inputs and the result, saved with its version."""

    def kept(values: tuple[Any, Any, Any], for_first: bool, for_second: bool) -> list[Any]:
        saved: list[Any] = []
        for users, value in zip(row.keep, values, strict=True):
            if (for_first and 0 in users) or (for_second and 1 in users):
                st = storage_of(value)
                saved.append((value._a, st, st.version))
            else:
                saved.append(None)
        return saved

    return kept
