"""Complex numbers: seen as pairs of real ones, made from them, and taken apart.

A gradient of a real number with respect to a complex one is ``∂/∂re + i ∂/∂im``: the direction of steepest ascent, as PyTorch has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab.layout import Layout, contiguous_strides
from tensorlab.ops.elementwise import broadcast, unary
from tensorlab.ops.table import CPU_FLOAT32, NO_ONNX, OWN, SAME, no_cost, nothing, per_element, row

_COMPLEX = NO_ONNX("complex numbers")
REAL_TYPE = {np.dtype(np.complex64): np.dtype(np.float32), np.dtype(np.complex128): np.dtype(np.float64)}
COMPLEX_TYPE = {real: wide for wide, real in REAL_TYPE.items()}


def as_real(before: Layout) -> Layout:
    """Complex elements as pairs of real ones along a new last dimension."""
    shape, strides, offset = before
    return Layout((*shape, 2), (*[2 * s for s in strides], 1), 2 * offset)


def as_complex(before: Layout) -> Layout:
    """Pairs of real elements along the last dimension as complex ones. Raises ``RuntimeError`` where they are no pairs."""
    shape, strides, offset = before
    if not shape:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if shape[-1] != 2:
        raise RuntimeError(
            f"Tensor must have a last dimension of size 2: the real and the imaginary part; got shape {list(shape)}"
        )
    if strides[-1] != 1:
        raise RuntimeError(f"Tensor must have a last dimension with stride 1, got strides {list(strides)}")
    if any(s % 2 for s in strides[:-1]):
        raise RuntimeError(f"Tensor must have a stride divisible by 2 for all but last dimension, got {list(strides)}")
    if offset % 2:
        raise RuntimeError(f"Tensor must have a storage_offset divisible by 2, got {offset}")
    return Layout(shape[:-1], tuple([s // 2 for s in strides[:-1]]), offset // 2)


def _inferred(rule: Any) -> Any:
    def infer(shapes: Any, **attrs: Any) -> Any:
        shape = tuple(shapes[0])
        return rule(Layout(shape, contiguous_strides(shape))).shape

    return infer


view_as_real = row(
    "view_as_real",
    "self",
    view=as_real,
    seen_as=REAL_TYPE,
    infer=_inferred(as_real),
    grad={"self": lambda g: g.contiguous().view_as_complex()},
    formula="result = self as pairs (real, imaginary)",
    derivatives={"self": "grad, its pairs as complex numbers"},
    onnx=_COMPLEX,
    cost=no_cost,
    samples=lambda t: [((t.complex(2, 3),), {}), ((t.complex(),), {})],
)


def _made(t: Any, *shape: int) -> Any:
    """A sample in a type that complex numbers are made of."""
    return t(*shape) if t.np_dtype in COMPLEX_TYPE else t(*shape).detach().double()


view_as_complex = row(
    "view_as_complex",
    "self",
    view=as_complex,
    seen_as=COMPLEX_TYPE,
    infer=_inferred(as_complex),
    grad={"self": lambda g: g.view_as_real()},
    formula="result = pairs (real, imaginary) as complex numbers",
    derivatives={"self": "grad as pairs"},
    onnx=_COMPLEX,
    cost=no_cost,
    samples=lambda t: [((_made(t, 2, 3, 2),), {}), ((_made(t, 2),), {})],
    holomorphic=False,
)


def _joined(xp: Any, real: Any, imag: Any) -> Any:
    out = xp.empty(np.broadcast_shapes(real.shape, imag.shape), COMPLEX_TYPE.get(real.dtype, np.complex64))
    out.real[...], out.imag[...] = real, imag
    return out


def _same_reals(op: str) -> Any:
    def refuse(types: Any) -> None:
        if not all(t in COMPLEX_TYPE or t == np.float16 for t in types):
            names = [t.name for t in types]
            raise RuntimeError(f"{op}(): Expected both inputs to be Half, Float or Double tensors but got {names}")
        if types[0] != types[1]:
            raise RuntimeError(
                f"{op}(): Expected object of scalar type {types[0].name} but got scalar type {types[1].name} for second argument"
            )

    return refuse


def _pairs(t: Any) -> Any:
    shapes: list[Any] = [((2, 3), (2, 3)), ((2, 1), (3,)), ((), ()), ((0, 3), (3,))]
    return [((_made(t, *a), _made(t, *b)), {}) for a, b in shapes]


complex_ = row(
    "complex",
    "real imag",
    forward=_joined,
    infer=broadcast,
    grad={"real": lambda g: g.real, "imag": lambda g: g.imag},
    formula="result = real + i · imag",
    derivatives={"real": "real part of grad", "imag": "imaginary part of grad"},
    onnx=_COMPLEX,
    cost=no_cost,
    samples=_pairs,
    refuses=_same_reals("complex"),
    promotes=True,
    holomorphic=False,
)


def _polar(xp: Any, size: Any, angle: Any) -> Any:
    if size.dtype.itemsize == 2:
        size, angle = size.astype(np.float32), angle.astype(np.float32)
    return _joined(xp, size * xp.cos(angle), size * xp.sin(angle))


polar = row(
    "polar",
    "abs angle",
    forward=_polar,
    infer=broadcast,
    grad={
        "abs": lambda g, angle: g.real * angle.cos() + g.imag * angle.sin(),
        "angle": lambda g, result: g.imag * result.real - g.real * result.imag,
    },
    formula="result = abs · (cos(angle) + i · sin(angle))",
    derivatives={"abs": "what of grad is along exp(i · angle)", "angle": "what of grad is along i · result"},
    onnx=_COMPLEX,
    cost=per_element(22),
    samples=_pairs,
    refuses=_same_reals("polar"),
    promotes=True,
    holomorphic=False,
    autocast=CPU_FLOAT32,
)


def _angle(xp: Any, a: Any) -> Any:
    if a.dtype.kind == "c":
        return xp.angle(a)
    found = xp.where(a < 0, a.dtype.type(np.pi), a.dtype.type(0))
    return xp.where(xp.isnan(a), a, found)


def _angle_grad(g: Any, self: Any) -> Any:
    """``i · self ÷ |self|²``: across, and the less the farther out."""
    if not self.is_complex():
        return nothing(g)
    square = self.real * self.real + self.imag * self.imag
    return (g * (self * 1j) / square.masked_fill(square == 0, 1)).masked_fill(square == 0, 0)


angle = unary(
    "angle",
    _angle,
    _angle_grad,
    formula="result = the angle of self in the complex plane",
    derivative="i · grad · self ÷ |self|²; 0 for real numbers",
    result=OWN,
    onnx=_COMPLEX,
    flops=15,
    holomorphic=False,
    samples=lambda t: [((t.complex(2, 3),), {}), ((t(2, 3),), {}), ((t(0, 3),), {})],
)
conj_physical = unary(
    "conj_physical",
    lambda xp, a: xp.conj(a) if a.dtype.kind == "c" else a.copy(order="K"),
    lambda g: g.conj(),
    formula="result = self with its imaginary part negated",
    derivative="conjugate of grad",
    result=SAME,
    onnx=_COMPLEX,
    holomorphic=False,
    samples=lambda t: [((t.complex(2, 3),), {}), ((t.complex(3, 2).T,), {}), ((t.complex(),), {})],
)
