"""Operators, methods and in-place forms of ``Tensor``, put in place from the functions that already exist."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorlab import binding as binding
from tensorlab import conversion, dispatch, drawn, interchange, memory, pinned, relaid, traits, written
from tensorlab.creation import number, size_of
from tensorlab.functional import MODULES, complexes, elementary, names, plain
from tensorlab.functional import pointwise as P
from tensorlab.functional.arguments import a_number, need_index, sizes_of
from tensorlab.functional.older import older
from tensorlab.functional.pointwise import fillable, scaled
from tensorlab.functional.products import matmul
from tensorlab.inplace import resized, write
from tensorlab.layout import wrap_dim
from tensorlab.ops import ROWS
from tensorlab.tensor import Tensor


def _in_place(name: str) -> Callable[..., Any]:
    """The in-place form of a row, under the row's name or another name of its function."""
    row = ROWS.get(name) or ROWS[plain[name].__name__]

    if len(row.params) == 1:

        def method(self: Any) -> Any:
            return write(row, self)
    else:

        def method(self: Any, other: Any) -> Any:  # type: ignore[misc]
            return write(row, self, other)

    method.__name__ = method.__qualname__ = f"{name}_"
    method.__doc__ = f"``{name}``, written into the tensor. Returns the tensor."
    return method


@older("self alpha other")
def add_(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``self += alpha * other``. Returns the tensor."""
    return write(ROWS["add"], self, other if alpha == 1 and alpha is not True else scaled("add_", self, other, alpha))


@older("self alpha other")
def sub_(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``self -= alpha * other``. Returns the tensor."""
    return write(ROWS["sub"], self, other if alpha == 1 and alpha is not True else scaled("sub_", self, other, alpha))


def div_(self: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """``self /= other``. Returns the tensor."""
    if rounding_mode not in (None, "floor", "trunc"):
        raise RuntimeError(
            f"div_ expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return write(ROWS["div" if rounding_mode is None else f"div_{rounding_mode}"], self, other, op="div_")


def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Write the elements of ``src``, broadcast and converted, into the tensor. Returns the tensor."""
    if isinstance(src, (bool, int, float, complex)):
        src = dispatch.wrap(number(src, self.dtype))
    if not isinstance(src, Tensor):
        raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(src).__name__}")
    return write(ROWS["copy"], self, src, op="copy_")


def fill_(self: Any, value: Any) -> Any:
    """Write one value everywhere. Returns the tensor."""
    if isinstance(value, Tensor) and value.dim():
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value.dim()} dimensions."
        )
    value = value if isinstance(value, Tensor) else dispatch.wrap(number(value, self.dtype))
    return write(ROWS["fill"], self, value, op="fill_", anywhere=True)


def zero_(self: Any) -> Any:
    """Write 0 everywhere. Returns the tensor."""
    return write(ROWS["zero"], self, op="zero_", anywhere=True)


def clamp_(self: Any, min: Any = None, max: Any = None) -> Any:
    """Limit the values to ``[min, max]``, in place. Returns the tensor."""
    if min is None and max is None:
        raise RuntimeError("clamp_(): At least one of 'min' or 'max' must not be None")
    return write(ROWS["clamp"], self, min, max)


def masked_fill_(self: Any, mask: Any, value: Any) -> Any:
    """Write ``value`` where ``mask`` holds. Returns the tensor."""
    return write(ROWS["masked_fill"], *fillable("masked_fill_", self, mask, value))


def index_add_(self: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """Add ``alpha * source`` at the indices of one dimension, in place. Returns the tensor."""
    need_index("index_add_", index)
    return write(ROWS["index_add"], self, index, source, dim=wrap_dim(dim, self._a.ndim, "index_add_"), alpha=alpha)


def lerp_(self: Any, end: Any, weight: Any) -> Any:
    """``self += weight * (end - self)``. Returns the tensor."""
    return write(ROWS["lerp"], self, end, weight)


@older("self value tensor1 tensor2")
def addcmul_(self: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """``self += value * tensor1 * tensor2``. Returns the tensor."""
    return write(ROWS["addcmul"], self, tensor1, tensor2, value=a_number("addcmul_", "value", value))


@older("self value tensor1 tensor2")
def addcdiv_(self: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """``self += value * tensor1 / tensor2``. Returns the tensor."""
    return write(ROWS["addcdiv"], self, tensor1, tensor2, value=a_number("addcdiv_", "value", value))


def tile(self: Any, *times: Any, dims: Any = None) -> Any:
    """The tensor laid out several times along its last dimensions; a copy."""
    return plain["tile"](self, sizes_of("tile", "dims", times, dims))


def resize_(self: Any, *sizes: Any) -> Any:
    """Give the tensor another shape, in place; what fits of its storage is kept and read row by row. Returns the tensor.

    Raises ``RuntimeError`` for a tensor that requires grad. A tensor that must grow gets new storage; others that shared the old one
    keep that.
    """
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad; use reshape() or a new tensor")
    resized(self, size_of(sizes, "resize_"))
    return self


def scatter_add_(self: Any, dim: int, index: Any, src: Any) -> Any:
    """Add ``src`` at ``index`` along ``dim``, in place. Returns the tensor."""
    return write(ROWS["scatter_add"], self, index, src, dim=wrap_dim(dim, self._a.ndim, "scatter_add_"))


def where(self: Any, condition: Any, other: Any) -> Any:
    """Elements of the tensor where ``condition`` holds, else of ``other``."""
    return P.where(condition, self, other)


def _reversed_dims(self: Any) -> Any:
    """``reversed(x)``: all dimensions read backwards; a copy."""
    return plain["flip"](self, tuple(range(self._a.ndim)))


def _polygamma(self: Any, n: int) -> Any:
    """The derivative number ``n`` of the digamma function."""
    return plain["polygamma"](n, self)


def _reversed(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator whose left side is no tensor."""

    def operator(self: Any, other: Any) -> Any:
        if not _operand(other):
            return NotImplemented
        return function(dispatch.as_tensors(ROWS["add"], (self, other))[1], self)

    return operator


def _operand(value: Any) -> bool:
    return isinstance(value, (Tensor, bool, int, float, complex, np.generic, np.ndarray))


def _rdiv(self: Any, other: Any) -> Any:
    return P.reciprocal(self) * other if isinstance(other, (int, float)) else _reversed(P.div)(self, other)


def _rpow(self: Any, other: Any) -> Any:
    return P.pow(other, self)


def _eq(self: Any, other: Any) -> Any:
    return P.eq(self, other) if _operand(other) else NotImplemented


def _ne(self: Any, other: Any) -> Any:
    return P.ne(self, other) if _operand(other) else NotImplemented


def _not_in_place(symbol: str, name: str) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        return getattr(self, name)(other)

    operator.__doc__ = f"``self {symbol} other``, in place."
    return operator


def _matmul(self: Any, other: Any) -> Any:
    return matmul(self, dispatch.wrap(other) if type(other) is np.ndarray else other)


def _rmatmul(self: Any, other: Any) -> Any:
    return matmul(other, self)


def _contains(self: Any, element: Any) -> bool:
    """Whether an element of the tensor equals ``element``, a number or a tensor that broadcasts."""
    if not isinstance(element, (Tensor, int, float, complex)):
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")
    return bool(P.eq(self, element).any())


def install() -> None:
    """Put operators, methods and in-place forms on the Tensor class."""
    for module in MODULES:
        for name in names(module, "METHODS"):
            setattr(Tensor, name, plain[name])
        for name in names(module, "IN_PLACE"):
            setattr(Tensor, f"{name}_", _in_place(name))
    for function in (
        add_, sub_, div_, copy_, fill_, zero_, clamp_, masked_fill_, scatter_add_, index_add_, lerp_, addcmul_, addcdiv_, resize_,
        tile, where, *drawn.METHODS,
    ):  # fmt: skip
        setattr(Tensor, function.__name__, function)
    for forms in (written.FORMS, relaid.FORMS, memory.FORMS, traits.FORMS, interchange.FORMS, pinned.FORMS):
        for name, form in forms.items():
            setattr(Tensor, name, form)
    for alias, known in {
        "clip_": clamp_, "subtract_": sub_, "divide_": div_, "true_divide_": div_, "polygamma": _polygamma, "__reversed__": _reversed_dims,
        "__contains__": _contains,
    }.items():  # fmt: skip
        setattr(Tensor, alias, known)
    for name, part in complexes.PROPERTIES.items():
        setattr(Tensor, name, part)
    for name, convert in conversion.METHODS.items():
        setattr(Tensor, name, convert)
    bare = P.BARE
    operators: dict[str, Any] = {
        "add": bare["add"], "radd": bare["add"], "sub": bare["sub"], "rsub": bare["rsub"], "mul": P.mul, "rmul": P.mul,
        "truediv": bare["div"], "rtruediv": _rdiv,
        "floordiv": P.floor_divide, "rfloordiv": _reversed(P.floor_divide), "mod": P.remainder, "rmod": _reversed(P.remainder),
        "pow": P.pow, "rpow": _rpow, "matmul": _matmul, "rmatmul": _rmatmul, "neg": P.neg, "abs": P.abs, "invert": P.bitwise_not,
        "eq": _eq, "ne": _ne, "lt": P.lt, "le": P.le, "gt": P.gt, "ge": P.ge, "and": P.bitwise_and, "rand": P.bitwise_and,
        "or": P.bitwise_or, "ror": P.bitwise_or, "xor": P.bitwise_xor, "rxor": P.bitwise_xor, "pos": elementary.positive,
        "lshift": elementary.bitwise_left_shift, "rlshift": _reversed(elementary.bitwise_left_shift),
        "rshift": elementary.bitwise_right_shift, "rrshift": _reversed(elementary.bitwise_right_shift),
    }  # fmt: skip
    for name, function in operators.items():
        setattr(Tensor, f"__{name}__", function)
    in_place = {"add": "+=", "sub": "-=", "mul": "*=", "div": "/=", "floor_divide": "//=", "remainder": "%=", "pow": "**=",
                "bitwise_and": "&=", "bitwise_or": "|=", "bitwise_xor": "^=", "bitwise_left_shift": "<<=",
                "bitwise_right_shift": ">>="}  # fmt: skip
    spelt = {
        "div": "truediv",
        "floor_divide": "floordiv",
        "remainder": "mod",
        "bitwise_and": "and",
        "bitwise_or": "or",
        "bitwise_xor": "xor",
        "bitwise_left_shift": "lshift",
        "bitwise_right_shift": "rshift",
    }
    for name, symbol in in_place.items():
        setattr(Tensor, f"__i{spelt.get(name, name)}__", _not_in_place(symbol, f"{name}_"))


install()
