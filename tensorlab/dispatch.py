"""The door: every operation passes here.

    layers   may change the call          none on the ordinary path
    kernel   a view rule on the same storage, or a forward into new storage
    record   if grad mode is on and an input needs it: a node with its edges
    taps     may only look

``unary`` and ``binary`` build one function for each elementwise row: no dispatch tables, no argument packing, errors explained
only once something failed. Everything else goes through ``call``, ``view`` and ``write``. A result's class is the ``Tensor`` that
``bind`` was given, so that no floor below the tensor imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import copysign
from typing import Any

import numpy as np

from tensorlab import backend, dtypes, modes, taps
from tensorlab.backend.storage import InferenceStorage, Storage
from tensorlab.device import cpu, device
from tensorlab.engine import sites
from tensorlab.engine.cuts import enter, lineage
from tensorlab.engine.node import Edge, Node, Packed, accumulator, counter, node_class
from tensorlab.explain import explain, not_implemented
from tensorlab.modes import state
from tensorlab.ops.elementwise import broadcast, same_shape
from tensorlab.ops.table import BOOL, FLOAT, ROWS, SAME, Row

new = object.__new__
ndarray = np.ndarray
Tensor: Any = None  # the class of results, given by bind()

unusual = False  # a layer, a tap, a hook on saved values or inference mode is on somewhere
watched = False  # places are recorded
layers: list[Callable[..., Any]] = []


def _listen(anything: bool, sites_on: bool) -> None:
    global unusual, watched
    unusual, watched = anything, sites_on


modes.listen(_listen)


def bind(tensor_class: type) -> None:
    """Make ``tensor_class`` the class of results."""
    global Tensor
    Tensor = tensor_class


def wrap(array: Any) -> Any:
    """A new tensor, no part of any graph, over an array (or over a NumPy scalar, which a 0-dim computation gives)."""
    if type(array) is not ndarray and isinstance(array, np.generic):
        array = np.asarray(array)
    out = new(Tensor)
    out._a = array
    out._st = out._edge = out._grad = out._view = out._acc = out._notes = None
    out._rg = out._live = False
    out._off = 0
    return out


# ------------------------------------------------------------------------------------------------------------ edges


def edge_of(x: Any) -> Edge | None:
    """Where the gradient of a tensor goes, or ``None`` when it needs none."""
    if x._view is not None:
        x._view.sync(x)
    if x._edge is not None:
        return x._edge
    # A view made without recording is a leaf of its own, as in PyTorch.
    if x._rg or (x._view is not None and x._view.base._rg):
        return accumulator(x), 0, x
    return None


def storage_of(x: Any) -> Storage:
    """What a tensor shares with its views."""
    st = x._st
    if st is None:
        st = x._st = Storage()
    return st


def lost(row: Row, inputs: Sequence[Any], outs: Sequence[Any]) -> None:
    """Note where results without history were cut off from what they were computed from. Inside a backward pass none is meant to
    have one."""
    if state.run is not None and not state.grad:
        return
    lineage("no_grad" if not state.grad else row.name, inputs, outs, edge_of)


def made_of(node: Node, inputs: Sequence[Any]) -> tuple[Any, Any]:
    """Where a node is being made; notes on the way which of its inputs were cut off."""
    if None in node.edges:
        enter(node, inputs)
    mark = state.mark
    if mark is None:
        return sites.here(3), None
    return mark.made or (sites.here(3), mark.path)


def made_here() -> tuple[Any, Any]:
    """The site and the modules of what is being made. Every frame that is looked at costs, so a module notes who called it."""
    mark = state.mark
    if mark is None:
        return sites.here(3), None
    return mark.made or (sites.here(3), mark.path)


# ------------------------------------------------------------------------------------------------------------ numbers


def comparable(x: Any, value: int) -> Any:
    """A tensor in a type that can hold ``value``, so that comparing uint8 with 300 compares numbers and wraps nothing."""
    a = x._a
    if a.dtype.kind not in "iub":
        return x
    low, high = (0, 1) if a.dtype.kind == "b" else (int(np.iinfo(a.dtype).min), int(np.iinfo(a.dtype).max))
    return x if low <= value <= high else cast(x, np.dtype(np.int64))


_INT8, _F32, _F64 = np.dtype(np.int8), np.dtype(np.float32), np.dtype(np.float64)
_ints: dict[tuple[Any, int], Any] = {}
_floats: dict[tuple[Any, float], Any] = {}  # apart, since 2 == 2.0; and of the two zeros only +0.0, since 0.0 == -0.0
dtypes.CACHES += [_ints, _floats]


def constant(np_dtype: Any, value: int | float) -> Any:
    """A Python number as a 0-dim tensor of the type it takes beside a tensor of ``np_dtype``; small ones are kept."""
    whole = type(value) is int
    table: dict[Any, Any] = _ints if whole else _floats
    try:
        known = table[np_dtype, value]
        if value or whole or copysign(1.0, value) > 0:
            return known
    except KeyError:
        pass
    target = dtypes.meet_scalar(dtypes.of(np_dtype), value)
    if target.category == dtypes.INTEGER and whole:
        info = np.iinfo(target.np)
        if not int(info.min) <= value <= int(info.max):
            return wrap(np.asarray(int(value) & ((1 << info.bits) - 1), np.uint64).astype(target.np))
    made = wrap(np.asarray(value).astype(target.np))
    if whole:
        if len(_ints) < 4096 and -(2**53) < value < 2**53:
            _ints[np_dtype, int(value)] = made
    elif len(_floats) < 4096 and (value or copysign(1.0, value) > 0) and value == value:
        _floats[np_dtype, value] = made
    return made


# ------------------------------------------------------------------------------------------------------------ any row


def call(row: Row, inputs: Sequence[Any], **attrs: Any) -> Any:
    """Run any row that computes: layers, promotion, forward, record, taps. ``inputs`` are tensors, numbers or ``None``."""
    if unusual and layers:
        for layer in layers:
            inputs, attrs = layer(row, inputs, attrs)
    for t in inputs:
        if type(t) is not Tensor and not isinstance(t, Tensor) and t is not None:
            inputs = as_tensors(row, inputs)
            break
    if row.promotes:
        inputs = promoted(row, inputs)
    live, host = False, True
    arrays: list[Any] = []
    for t in inputs:
        if t is None:
            if row.promotes and len(row.params) == 2:
                raise _no_operand(row, len(arrays), t)
            arrays.append(None)
            continue
        arrays.append(t._a)
        if type(t._a) is not ndarray:
            host = False
        if t._live:
            live = True
    try:
        if host:
            found = row.forward(np, *arrays, **attrs)
        else:
            inputs, arrays, found = on_device(row, inputs, attrs)
    except (RuntimeWarning, FloatingPointError):
        if not host:
            raise
        with np.errstate(all="ignore"):
            found = row.forward(np, *arrays, **attrs)
    except Exception as error:
        raise explain(row, inputs, attrs, error) from None
    if row.result == SAME and found.dtype == _INT8 and arrays[0].dtype.kind == "b":
        raise not_implemented(row, inputs)  # NumPy computes with booleans as with small integers
    if type(found) is tuple:
        outs = tuple([wrap(r) for r in found])
        if live and state.grad:
            record(row, inputs, attrs, outs)
        if watched and not outs[0]._rg:
            lost(row, inputs, outs)
        if unusual:
            tell(row, inputs, attrs, outs)
        return outs
    out = wrap(found)
    if live and state.grad:
        record(row, inputs, attrs, (out,))
    if watched and not out._rg:
        lost(row, inputs, (out,))
    if unusual:
        tell(row, inputs, attrs, (out,))
    return out


def tell(row: Row, inputs: Sequence[Any], attrs: dict[str, Any], outs: tuple[Any, ...]) -> None:
    """Mark results of inference mode, and let taps look at the call."""
    if state.inference:
        for out in outs:
            if out._st is None:
                out._st = InferenceStorage()
    for tap in taps.ops:
        tap(row, inputs, attrs, outs)


def record(row: Row, tensors: Sequence[Any], attrs: dict[str, Any], outs: tuple[Any, ...]) -> Node | None:
    """Make the node of a call, if any input wants a gradient, and tie the outputs to it."""
    if row.vjps is None and row.joint is None:
        return None
    wanted = False
    edges: Any = []
    for t in tensors:
        edge = None
        if t is not None and t._live:
            edge = t._edge
            if edge is None or t._view is not None:
                edge = edge_of(t)
            if edge is not None:
                wanted = True
        edges.append(edge)
    if not wanted:
        return None
    node = new(row.node or node_class(row))
    node.edges = edges = tuple(edges)
    node.attrs = attrs
    node.seq = next(counter)
    node.hooks = None
    node.made = made_of(node, tensors) if watched else None
    node.saved = _save(row, edges, tensors, outs)
    if len(outs) == 1:
        (out,) = outs
        a = out._a
        node.outs = a.shape, a.dtype
        if a.dtype.kind in "fcV":
            out._edge = node, 0
            out._rg = out._live = True
        return node
    meta: list[Any] = []
    number = 0
    for out in outs:
        a = out._a
        meta += (a.shape, a.dtype)
        if a.dtype.kind in "fcV":
            out._edge = (node, number)
            out._rg = out._live = True
        number += 1
    node.outs = tuple(meta)
    return node


def _save(row: Row, edges: tuple[Any, ...], tensors: Sequence[Any], outs: tuple[Any, ...]) -> tuple[Any, ...]:
    """What the formulas that will run need of inputs and outputs, one entry each; see ``Row.keep``."""
    if not row.keeps:
        return (None,) * (len(outs) if row.variadic else len(tensors) + len(outs))
    named = outs if row.variadic else (*tensors, *outs)
    one_formula = row.joint is not None
    saved: list[Any] = []
    for users, tensor in zip(row.keep, named):  # noqa: B905  (hot; optional inputs may be left out at the end)
        if tensor is None or not users:
            saved.append(None)
            continue
        if not one_formula:
            for i in users:
                if edges[i] is not None:
                    break
            else:
                saved.append(None)
                continue
        st = tensor._st
        if st is None:
            st = tensor._st = Storage()
        if unusual and (st.inference or state.creation_hooks):
            saved.append(_saved_unusually(row.name, tensor, st))
        else:
            saved.append((tensor._a, st, st.version))
    return tuple(saved)


def saved_value(name: str, tensor: Any) -> Any:
    """What a node keeps of a tensor: ``(array, storage, version)``, or what a user's pack hook made of it."""
    st = storage_of(tensor)
    if st.inference or state.creation_hooks:
        return _saved_unusually(name, tensor, st)
    return tensor._a, st, st.version


def _saved_unusually(name: str, tensor: Any, st: Storage) -> Any:
    if st.inference:
        raise RuntimeError(
            f"{name}(): Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal "
            "tensor and use it in autograd."
        )
    pack, unpack = state.creation_hooks[-1]
    version = st.version
    with modes.no_grad():
        payload = pack(tensor.detach())
    if st.version != version:
        raise RuntimeError(
            f"{name}(): A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack "
            "hook can not be modified by in-place operations as this can lead to unexpected side-effects; write to "
            "a clone() in the hook."
        )
    return Packed(payload, unpack, tensor._a)


def as_tensors(row: Row, inputs: Sequence[Any]) -> list[Any]:
    """Inputs as tensors. A Python number takes the type it has beside the tensors there are."""
    out: list[Any] = []
    beside = None
    beside_int = comparable if row.result == BOOL else row.beside_int
    if beside_int is not None and len(inputs) == 2 and type(inputs[1]) is int and isinstance(inputs[0], Tensor):
        inputs = (beside_int(inputs[0], inputs[1]), inputs[1])
    for value in inputs:
        if value is None and row.promotes and len(row.params) == 2:
            raise _no_operand(row, len(out), value)
        if value is None or type(value) is Tensor or isinstance(value, Tensor):
            out.append(value)
            continue
        if isinstance(value, (bool, int, float, complex, np.generic)):
            if beside is None:
                real = [t for t in inputs if isinstance(t, Tensor)]
                kind = common_dtype(real) if real else dtypes.scalar_dtype(_python(value))
                beside = (dtypes.default.float if row.result == FLOAT and kind.category < dtypes.FLOAT else kind).np
            out.append(number_beside(beside, _python(value)))
            continue
        if isinstance(value, ndarray):
            dtypes.of(value.dtype)
            out.append(wrap(value))
            continue
        raise _no_operand(row, len(out), value)
    return out


def _no_operand(row: Row, at: int, value: Any) -> TypeError:
    """What to raise for an input that is neither a tensor nor a number."""
    name = row.params[min(at, len(row.params) - 1)]
    kind = type(value).__name__
    return TypeError(f"{row.name}(): argument '{name}' (position {at + 1}) must be Tensor or a number, not {kind}")


def _python(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def number_beside(np_dtype: Any, value: Any) -> Any:
    """A Python number as a 0-dim tensor of the type it takes beside a tensor of ``np_dtype``."""
    if type(value) in (int, float):
        return constant(np_dtype, value)
    target = dtypes.meet_scalar(dtypes.of(np_dtype), value)
    return wrap(np.asarray(value, target.np))


def promoted(row: Row, tensors: Sequence[Any]) -> list[Any]:
    """Inputs of an elementwise row in their common type, decided before any kernel runs."""
    first = tensors[0]._a.dtype if tensors[0] is not None else None
    if (first is _F32 or first is _F64) and row.refuses is None:
        for t in tensors:
            if t is not None and t._a.dtype is not first:
                break
        else:
            return list(tensors)
    real = [t for t in tensors if t is not None]
    if row.refuses is not None:
        row.refuses([t._a.dtype for t in real])
    common = common_dtype(real)
    if row.result == FLOAT and common.category < dtypes.FLOAT:
        common = dtypes.default.float
    target = common.np
    return [t if t is None or t._a.dtype == target else cast(t, target) for t in tensors]


def common_dtype(tensors: Sequence[Any]) -> dtypes.dtype:
    """The result type of several tensors: those with dimensions first, then 0-dim ones if their category is higher."""
    found, found_dim = dtypes.of(tensors[0]._a.dtype), tensors[0]._a.ndim
    for t in tensors[1:]:
        found = dtypes.meet(found, found_dim, dtypes.of(t._a.dtype), t._a.ndim)
        found_dim = max(found_dim, t._a.ndim)
    return found


def cast(x: Any, np_dtype: Any) -> Any:
    """A tensor in another type, with its gradient; dropping an imaginary part is what a caller asked for."""
    return call(ROWS["to_copy"], (x,), dtype=np_dtype, memory_format=None)


# ------------------------------------------------------------------------------------------------------------ devices


def on_device(row: Row, inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[Sequence[Any], list[Any], Any]:
    """Run the forward of a row whose inputs are not all in host memory: the inputs as they ran, their arrays, and the result."""
    inputs = together(row, inputs)
    arrays = [None if t is None else t._a for t in inputs]
    first = next(a for a in arrays if a is not None)
    where = backend.of(first)
    with where.on(first):
        if not attrs and row.infer in (same_shape, broadcast):
            return inputs, arrays, where.elementwise(row.forward, arrays)
        return inputs, arrays, row.forward(where.xp, *arrays, **attrs)


def together(row: Row, inputs: Sequence[Any]) -> Sequence[Any]:
    """Inputs on the one device that they share. 0-dim CPU tensors join those on a GPU, as numbers do."""
    if len({device_of(t._a) for t in inputs if t is not None}) == 1:
        return inputs
    gpus = {t._a.device.id: t._a for t in inputs if t is not None and not isinstance(t._a, ndarray)}
    if len(gpus) > 1 or any(t._a.ndim for t in inputs if t is not None and isinstance(t._a, ndarray)):
        raise RuntimeError(apart(row, inputs))
    beside = next(iter(gpus.values()))
    return [t if t is None or not isinstance(t._a, ndarray) else join(t, beside) for t in inputs]


def apart(row: Row, inputs: Sequence[Any]) -> str:
    """Which argument sits where."""
    names = row.params if not row.variadic else [f"{row.params[0]}[{i}]" for i in range(len(inputs))]
    sits = ", ".join(
        f"'{name}' is on {device_of(t._a)}" for name, t in zip(names, inputs, strict=False) if t is not None
    )
    return f"{row.name}(): Expected all tensors to be on the same device, but {sits}. Move one with .to(other.device)."


def join(x: Any, beside: Any) -> Any:
    """A 0-dim CPU tensor on the GPU of an array, with its gradient."""
    if x._live:
        return move(x, device_of(beside))
    return wrap(backend.of(beside).constant(x._a, beside.device.id))


def move(x: Any, where: device) -> Any:
    """A tensor on another device, with its gradient; itself if it is there. A GPU without a number is the current one."""
    source = device_of(x._a)
    if where.type == "cuda" and where.index is None:
        where = device("cuda", backend.gpu(where).current())
    if source == where or source.type == where.type == "cpu":
        return x
    return call(ROWS["to_device"], (x,), device=where, source=source)


def recover(row: Row, inputs: Sequence[Any], attrs: dict[str, Any], error: Exception) -> Any:
    """After the short way failed: try the long one, whose failure explains itself."""
    if isinstance(error, AttributeError) and not any(isinstance(i, Tensor) for i in inputs):
        first = inputs[0]
        raise TypeError(
            f"{row.name}(): argument 'input' (position 1) must be Tensor, not {type(first).__name__}"
        ) from None
    try:
        return call(row, inputs, **attrs)
    except Exception as better:
        better.__suppress_context__ = True  # what NumPy said first would only confuse
        raise


def device_of(a: Any) -> device:
    """Where an array is."""
    return cpu if isinstance(a, ndarray) else device("cuda", a.device.id)
