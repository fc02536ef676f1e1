"""Elementwise functions of the array API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorlab import creation, dtypes
from tensorlab.functional import plain
from tensorlab.tensor import Tensor

__all__ = [
    "abs", "bitwise_invert", "clip", "conj", "equal", "imag", "round", "sign",
]  # fmt: skip


#: Functions that the standard and PyTorch have under one name, with the same meaning for tensors and numbers.
_SAME = """
acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor ceil copysign
cos cosh divide exp expm1 floor floor_divide hypot isfinite isinf isnan log log10 log1p log2 logaddexp logical_and logical_not
logical_or logical_xor maximum minimum multiply negative nextafter not_equal greater greater_equal less less_equal positive pow real
reciprocal remainder signbit sin sinh sqrt square subtract tan tanh trunc isin
"""


def _elementwise(name: str) -> Any:
    """A function of the standard whose tensors may be one Python number each."""
    own = plain[name]

    def function(*args: Any, **kwargs: Any) -> Any:
        return own(*joined(args), **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``tensorlab.{name}``, under the standard's name."
    return function


def joined(args: Sequence[Any]) -> list[Any]:
    """Arguments as PyTorch's rules give the standard's result: tensors of no dimensions count as any other tensor does, and a number
    in the first place becomes a tensor of the type it takes beside the others.
    """
    kinds = [x.dtype for x in args if isinstance(x, Tensor)]
    if len(set(kinds)) > 1:
        common = kinds[0]
        for kind in kinds[1:]:
            common = dtypes.promote_types(common, kind)
        args = [x.to(common) if isinstance(x, Tensor) else x for x in args]
    if args and not isinstance(args[0], Tensor):
        beside = next((x for x in args if isinstance(x, Tensor)), None)
        if beside is not None:
            kind = dtypes.meet_scalar(beside.dtype, args[0])
            return [creation.tensor(args[0], dtype=kind, device=beside.device), *args[1:]]
    return list(args)


globals().update({_name: _elementwise(_name) for _name in _SAME.split()})
__all__ += _SAME.split()


def equal(x1: Tensor, x2: Any, /) -> Tensor:
    """Where elements are equal."""
    return plain["eq"](*joined((x1, x2)))


def bitwise_invert(x: Tensor, /) -> Tensor:
    """Every bit turned over."""
    return plain["bitwise_not"](x)


def abs(x: Tensor, /) -> Tensor:
    """Magnitudes."""
    return plain["abs"](x)


def sign(x: Tensor, /) -> Tensor:
    """-1, 0 or 1; of complex numbers their direction; NaN of NaN."""
    if x.is_complex():
        return plain["sgn"](x)
    found = plain["sign"](x)
    return plain["where"](plain["isnan"](x), x, found) if x.is_floating_point() else found


def round(x: Tensor, /) -> Tensor:
    """The nearest integer, of two the even one; of complex numbers in both parts."""
    if x.is_complex():
        return plain["complex"](plain["round"](x.real), plain["round"](x.imag))
    return plain["round"](x)


def conj(x: Tensor, /) -> Tensor:
    """The complex conjugate; real numbers as they are."""
    return x.conj()


def imag(x: Tensor, /) -> Tensor:
    """The imaginary part; 0 of real numbers."""
    return x.imag if x.is_complex() else creation.zeros_like(x)


def clip(x: Tensor, /, min: Any = None, max: Any = None) -> Tensor:
    """Values limited to ``[min, max]``, in the type of ``x``; either may be left out."""
    if min is None and max is None:
        return x.clone()
    bounds = [b.to(x.dtype) if isinstance(b, Tensor) and b.dtype is not x.dtype else b for b in (min, max)]
    return plain["clamp"](x, *bounds).to(x.dtype)
