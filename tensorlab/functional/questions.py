"""Questions about tensors that Python values answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab import backend, dispatch, dtypes, layout
from tensorlab.functional.arguments import a_number, need_tensor
from tensorlab.ops import ROWS

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    equal allclose isclose
"""


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a Tensor."""
    return isinstance(obj, dispatch.Tensor)


def numel(input: Tensor) -> int:
    """The number of elements."""
    return int(input._a.size)


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and elements."""
    need_tensor("equal", "other", 2, other)
    return input._a.shape == other._a.shape and _ask("equal", "array_equal", input, other)


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether ``|input - other| <= atol + rtol * |other|`` for every element. Raises ``RuntimeError`` for different types."""
    need_tensor("allclose", "other", 2, other)
    if input._a.dtype != other._a.dtype:
        raise RuntimeError(f"allclose(): {input.dtype.name} did not match {other.dtype.name}; convert one with .to()")
    layout.broadcast_shapes(input._a.shape, other._a.shape, op="allclose")
    rtol, atol = _bounds("allclose", rtol, atol)
    return _ask("allclose", "allclose", input, other, rtol, atol, equal_nan)


def _bounds(name: str, rtol: Any, atol: Any) -> tuple[float, float]:
    """How far apart numbers may be, as two numbers. Raises ``TypeError`` for what is none, ``RuntimeError`` for negative ones."""
    for bound, value in (("rtol", rtol), ("atol", atol)):
        if a_number(name, bound, value) < 0:
            raise RuntimeError(f"{name}(): {bound} must be greater than or equal to zero, but got {value}")
    return float(rtol), float(atol)


def _ask(name: str, question: str, input: Tensor, other: Tensor, *rest: Any) -> bool:
    """The answer of a function of the array namespace that both share. Raises ``RuntimeError`` for different devices."""
    a, b = input._a, other._a
    if type(a) is np.ndarray is type(b):
        return bool(getattr(np, question)(a, b, *rest))
    if input.device != other.device:
        raise RuntimeError(
            f"{name}(): Expected all tensors to be on the same device, but 'input' is on {input.device}, 'other' is on {other.device}. "
            "Move one with .to(other.device)."
        )
    where = backend.of(a)
    with where.on(a):
        return bool(getattr(where.xp, question)(a, b, *rest))


def isclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Whether ``|input - other| <= atol + rtol * |other|``, element by element. Raises ``RuntimeError`` for different types."""
    need_tensor("isclose", "other", 2, other)
    if input._a.dtype != other._a.dtype:
        raise RuntimeError(f"isclose(): {input.dtype.name} did not match {other.dtype.name}; convert one with .to()")
    rtol, atol = _bounds("isclose", rtol, atol)
    a, where = input._a, backend.of(input._a)
    with where.on(a):
        return dispatch.wrap(where.xp.asarray(where.xp.isclose(a, other._a, rtol=rtol, atol=atol, equal_nan=equal_nan)))


def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """The type that an operation on both would give."""
    if not isinstance(tensor1, dispatch.Tensor) and not isinstance(tensor2, dispatch.Tensor):
        return dtypes.promote_types(dtypes.scalar_dtype(tensor1), dtypes.scalar_dtype(tensor2))
    return dispatch.common_dtype(dispatch.as_tensors(ROWS["add"], (tensor1, tensor2)))


def is_nonzero(input: Tensor) -> bool:
    """Whether the one element is not 0. Raises ``RuntimeError`` for any other number of elements."""
    return bool(input)


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether both have the same shape."""
    need_tensor("is_same_size", "other", 2, other)
    return bool(input._a.shape == other._a.shape)


def is_signed(input: Tensor) -> bool:
    """Whether the element type holds negative numbers."""
    return bool(input.is_signed())


def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    return bool(input.is_inference())


def detach(input: Tensor) -> Tensor:
    """The same memory as a tensor that needs no gradient."""
    return input.detach()


def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """``nonzero`` with a given number of rows: the first ones, or filled up with ``fill_value``."""
    return input.nonzero_static(size=size, fill_value=fill_value)
