"""Complex numbers: their parts as views, made from parts, and what is asked of them."""

from __future__ import annotations

from typing import Any

from tensorlab import dtypes
from tensorlab.dispatch import call
from tensorlab.functional.arguments import need_tensor
from tensorlab.functional.fromrow import row_function
from tensorlab.functional.pointwise import conj
from tensorlab.functional.shapes import select, transpose
from tensorlab.ops import ROWS
from tensorlab.subscripts import setitem
from tensorlab.viewing import view

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    angle conj_physical view_as_real view_as_complex resolve_conj resolve_neg is_conj is_neg adjoint
"""
#: Rows that have an in-place form, ``name_``.
IN_PLACE = """
    conj_physical
"""

_conj_physical = row_function("conj_physical", "The complex conjugate.")
_angle = row_function("angle", "The angle in the complex plane.")


def angle(input: Tensor) -> Tensor:
    """The angle in the complex plane, in radians: for real numbers 0, or pi where they are negative.

    >>> import tensorlab as tl
    >>> tl.angle(tl.tensor([1j, -1 + 0j]))
    tensor([1.5708, 3.1416])
    """
    whole = input._a.dtype.kind in "biu"
    return _angle(input.to(dtypes.get_default_dtype()) if whole else input)


def conj_physical(input: Tensor) -> Tensor:
    """The complex conjugate, computed; a real tensor as it is."""
    return _conj_physical(input) if input._a.dtype.kind == "c" else input


def view_as_real(input: Tensor) -> Tensor:
    """Complex numbers seen as pairs (real, imaginary) along a new last dimension; a view.

    >>> import tensorlab as tl
    >>> tl.view_as_real(tl.tensor([1 + 2j]))
    tensor([[1., 2.]])
    """
    if input._a.dtype.kind != "c":
        raise RuntimeError(f"view_as_real is only supported for complex tensors, not for {input.dtype.name}")
    return view(ROWS["view_as_real"], input)


def view_as_complex(input: Tensor) -> Tensor:
    """Pairs (real, imaginary) along the last dimension seen as complex numbers; a view.

    Raises ``RuntimeError`` unless the last dimension has size 2 and stride 1, and every other stride is even.
    """
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(
            f"view_as_complex is only supported for float and double tensors, but got a tensor of scalar type: {input.dtype.name}"
        )
    return view(ROWS["view_as_complex"], input)


def view_as_real_copy(input: Tensor) -> Tensor:
    """Complex numbers as pairs (real, imaginary) along a new last dimension; a copy."""
    return view_as_real(input).clone()


def view_as_complex_copy(input: Tensor) -> Tensor:
    """Pairs (real, imaginary) along the last dimension as complex numbers; a copy."""
    return view_as_complex(input).clone()


def real(input: Tensor) -> Tensor:
    """The real part, a view; a real tensor as it is.

    >>> import tensorlab as tl
    >>> x = tl.tensor([1 + 2j]); _ = tl.real(x).fill_(5.); x
    tensor([5.+2.j])
    """
    return input if input._a.dtype.kind != "c" else select(view_as_real(input), -1, 0)


def imag(input: Tensor) -> Tensor:
    """The imaginary part, a view. Raises ``RuntimeError`` for a real tensor, which has none to write to."""
    if input._a.dtype.kind != "c":
        raise RuntimeError(
            f"imag is not implemented for tensors with non-complex dtypes, and this one is {input.dtype.name}."
        )
    return select(view_as_real(input), -1, 1)


def complex(real: Tensor, imag: Tensor) -> Tensor:
    """Complex numbers from real and imaginary parts, which have one type and broadcast; float16 gives complex64.

    >>> import tensorlab as tl
    >>> tl.complex(tl.tensor([1., 2.]), tl.tensor([0., -1.]))
    tensor([1.+0.j, 2.-1.j])
    """
    need_tensor("complex", "real", 1, real)
    need_tensor("complex", "imag", 2, imag)
    return call(ROWS["complex"], (real, imag))


def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Complex numbers from sizes and angles, which have one type and broadcast."""
    need_tensor("polar", "abs", 1, abs)
    need_tensor("polar", "angle", 2, angle)
    return call(ROWS["polar"], (abs, angle))


def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: a conjugate is always computed here, never only marked."""
    need_tensor("resolve_conj", "input", 1, input)
    return input


def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: a negative is always computed here, never only marked."""
    need_tensor("resolve_neg", "input", 1, input)
    return input


def is_conj(input: Tensor) -> bool:
    """Whether the elements are only marked as conjugates: never."""
    need_tensor("is_conj", "input", 1, input)
    return False


def is_neg(input: Tensor) -> bool:
    """Whether the elements are only marked as negative: never."""
    need_tensor("is_neg", "input", 1, input)
    return False


def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex numbers."""
    return bool(input._a.dtype.kind == "c")


def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are floating-point numbers."""
    return bool(input.dtype.is_floating_point)


def adjoint(input: Tensor) -> Tensor:
    """The last two dimensions exchanged, and complex numbers conjugated. Raises ``RuntimeError`` for one dimension."""
    if input._a.ndim == 1:
        raise RuntimeError("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return conj(transpose(input, -2, -1)) if input._a.ndim else conj(input)


def _hermitian(input: Tensor) -> Tensor:
    """The matrix transposed and conjugated."""
    if input._a.ndim not in (0, 2):
        more = " For batches of matrices, consider using tensor.mH" if input._a.ndim > 2 else ""
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {input._a.ndim}-D tensor.{more}")
    return adjoint(input)


def _batch_hermitian(input: Tensor) -> Tensor:
    """The last two dimensions exchanged, and complex numbers conjugated."""
    if input._a.ndim == 1:
        raise RuntimeError("tensor.mH is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return adjoint(input)


#: What is a property of a tensor. Assigning to a part writes into it.
PROPERTIES = {
    "H": property(_hermitian),
    "mH": property(_batch_hermitian),
    "real": property(real, lambda self, value: setitem(real(self), ..., value)),
    "imag": property(imag, lambda self, value: setitem(imag(self), ..., value)),
}
