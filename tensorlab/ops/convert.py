"""Copies: another type, another device, another order in memory, or simply one's own."""

from __future__ import annotations

from typing import Any

from tensorlab import backend
from tensorlab.device import device
from tensorlab.layout import Layout, contiguous_strides, expand, format_order, preserve_format
from tensorlab.ops.elementwise import same_shape
from tensorlab.ops.table import NO_ONNX, nothing, per_element, row


def _to_copy(xp: Any, a: Any, dtype: Any, memory_format: Any) -> Any:
    if a.dtype.kind == "c" and dtype.kind != "c":
        a = a.real
    if not a.size and memory_format in (None, preserve_format):
        return empty_as(xp, a, dtype)
    return a.astype(dtype) if memory_format in (None, preserve_format) else cloned(xp, a, memory_format).astype(dtype)


def cloned(xp: Any, a: Any, memory_format: Any) -> Any:
    """A copy that keeps a dense order of dimensions (others become row-major), or that has the order asked for."""
    if memory_format not in (None, preserve_format):
        order = format_order(a.ndim, memory_format)
        return xp.array(a.transpose(order), order="C", copy=True).transpose(
            sorted(range(a.ndim), key=order.__getitem__)
        )
    if not a.size:
        return empty_as(xp, a, a.dtype)
    strides = sorted(s for s, n in zip(a.strides, a.shape, strict=True) if n > 1)
    dense = not strides or (strides[0] == a.itemsize and _fills(a))
    return a.copy(order="K") if dense else xp.array(a, order="C", copy=True)


def empty_as(xp: Any, a: Any, dtype: Any) -> Any:
    """An array without elements that has the shape and the strides of another one, in a type."""
    strides = [s // a.itemsize * dtype.itemsize for s in a.strides]
    return backend.of(a).strided(xp.empty(0, dtype), a.shape, strides, 0, dtype)


def _fills(a: Any) -> bool:
    step = a.itemsize
    for stride, size in sorted((s, n) for s, n in zip(a.strides, a.shape, strict=True) if n > 1):
        if stride != step:
            return False
        step *= size
    return True


to_copy = row(
    "to_copy",
    "self",
    forward=_to_copy,
    infer=same_shape,
    grad={"self": lambda g: g},
    formula="result = self in another type",
    derivatives={"self": "grad in self's type"},
    onnx="Cast",
    cost=per_element(0),
    samples=lambda t: [((t(2, 3),), {"dtype": t.np_dtype, "memory_format": None})],
    holomorphic=False,
)
clone = row(
    "clone",
    "self",
    forward=cloned,
    infer=same_shape,
    grad={"self": lambda g: g},
    formula="result = a copy of self",
    derivatives={"self": "grad"},
    onnx="Identity",
    cost=per_element(0),
    samples=lambda t: [((t(2, 3),), {}), ((t(3, 2).T,), {}), ((t(),), {})],
)
copy = row(
    "copy",
    "self src",
    forward=lambda xp, a, src: xp.broadcast_to(src, a.shape).astype(a.dtype),
    infer=lambda shapes: expand(Layout(tuple(shapes[1]), contiguous_strides(shapes[1])), shapes[0]).shape,
    grad={"self": nothing, "src": lambda g: g},
    formula="self ← src",
    derivatives={"self": "0", "src": "grad, summed to src's shape"},
    onnx=NO_ONNX("in-place"),
    cost=per_element(0),
    samples=lambda t: [((t(2, 3), t(3)), {}), ((t(2, 3), t(2, 3)), {})],
    node="CopyBackwards",
    holomorphic=False,
)
fill = row(
    "fill",
    "self value",
    forward=lambda xp, a, value: xp.broadcast_to(value.astype(a.dtype), a.shape).copy(),
    infer=same_shape,
    grad={"self": nothing, "value": lambda g: g.sum()},
    formula="self ← value",
    derivatives={"self": "0", "value": "sum of grad"},
    onnx=NO_ONNX("in-place"),
    cost=per_element(0),
    samples=lambda t: [((t(2, 3), 2.0), {}), ((t(2, 3), t()), {})],
    holomorphic=False,
)
zero = row(
    "zero",
    "self",
    forward=lambda xp, a: xp.zeros_like(a),
    infer=same_shape,
    grad={"self": nothing},
    formula="self ← 0",
    derivatives={"self": "0"},
    onnx=NO_ONNX("in-place"),
    cost=per_element(0),
    samples=lambda t: [((t(2, 3),), {})],
)


def _to_device(xp: Any, a: Any, device: Any, source: Any) -> Any:
    host = backend.to_host(a)
    return host if device.type == "cpu" else backend.gpu(device).from_host(host, device.index)


to_device = row(
    "to_device",
    "self",
    forward=_to_device,
    infer=same_shape,
    grad={"self": lambda g, source: g.to(source)},
    formula="result = self on another device",
    derivatives={"self": "grad on self's device"},
    onnx="Identity",
    cost=per_element(0),
    samples=lambda t: [((t(2, 3),), {"device": device("cpu"), "source": device("cpu")})],
    node="ToCopyBackward0",
)
conj = row(
    "conj",
    "self",
    forward=lambda xp, a: xp.conj(a),
    infer=same_shape,
    grad={"self": lambda g: g.conj()},
    formula="result = self with its imaginary part negated",
    derivatives={"self": "conjugate of grad"},
    onnx=NO_ONNX("complex numbers"),
    cost=per_element(1),
    samples=lambda t: [((t.complex(2, 3),), {}), ((t.complex(),), {})],
    holomorphic=False,
)
