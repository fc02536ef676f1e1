"""Operators, methods and in-place forms of ``Tensor``, put in place from the functions that already exist."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorlab import dispatch, dtypes, random
from tensorlab import functional as F
from tensorlab.inplace import write
from tensorlab.ops import ROWS
from tensorlab.tensor import Tensor

#: Functions that are methods under the same name, with the tensor as their first argument.
SAME_NAME = """
    add sub mul div floor_divide remainder fmod pow subtract multiply divide true_divide maximum minimum
    eq ne lt le gt ge greater greater_equal less less_equal not_equal logical_and logical_or logical_xor logical_not
    bitwise_and bitwise_or bitwise_xor bitwise_not neg negative abs absolute sign sgn exp exp2 expm1 log log2 log10 log1p sqrt
    rsqrt square reciprocal sin cos tan asin acos atan arcsin arccos arctan sinh cosh tanh sigmoid relu erf floor ceil round trunc
    isnan isinf isfinite clamp clip masked_fill sum mean var std prod cumsum cumprod amax amin max min argmax argmin all any
    logsumexp norm matmul mm mv dot bmm outer addmm transpose swapaxes swapdims t movedim moveaxis broadcast_to squeeze unsqueeze
    flatten ravel unflatten select narrow as_strided diagonal unfold split chunk unbind tril triu clone gather scatter_add
    index_select masked_select nonzero softmax log_softmax equal allclose
""".split()

#: In-place forms: the row that computes, for methods named after it with a trailing underscore.
IN_PLACE = """
    mul floor_divide remainder fmod pow maximum minimum eq ne lt le gt ge logical_and logical_or logical_xor logical_not
    bitwise_and bitwise_or bitwise_xor bitwise_not neg abs sign exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square reciprocal
    sin cos tan asin acos atan sinh cosh tanh sigmoid relu erf floor ceil trunc
""".split()


def _in_place(name: str) -> Callable[..., Any]:
    row = ROWS[name]

    if len(row.params) == 1:

        def method(self: Any) -> Any:
            return write(row, self)
    else:

        def method(self: Any, other: Any) -> Any:  # type: ignore[misc]
            return write(row, self, other)

    method.__name__ = method.__qualname__ = f"{name}_"
    method.__doc__ = f"``{name}``, written into the tensor. Returns the tensor."
    return method


def _scaled(other: Any, alpha: Any) -> Any:
    return other if alpha == 1 else other * alpha


def add_(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``self += alpha * other``. Returns the tensor."""
    return write(ROWS["add"], self, _scaled(other, alpha))


def sub_(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``self -= alpha * other``. Returns the tensor."""
    return write(ROWS["sub"], self, _scaled(other, alpha))


def div_(self: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """``self /= other``. Returns the tensor."""
    if rounding_mode is None:
        return write(ROWS["div"], self, other)
    return write(ROWS["copy"], self, F.div(self, other, rounding_mode=rounding_mode), op="div_")


def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Write the elements of ``src``, broadcast and converted, into the tensor. Returns the tensor."""
    if not isinstance(src, Tensor):
        raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(src).__name__}")
    return write(ROWS["copy"], self, src, op="copy_")


def fill_(self: Any, value: Any) -> Any:
    """Write one value everywhere. Returns the tensor."""
    if isinstance(value, Tensor) and value.dim():
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.dim()} dimensions.")
    value = value if isinstance(value, Tensor) else dispatch.wrap(dispatch.np.asarray(value).astype(self._a.dtype))
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
    if mask._a.dtype.kind != "b":
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype}")
    return write(ROWS["masked_fill"], self, mask, value)


def scatter_add_(self: Any, dim: int, index: Any, src: Any) -> Any:
    """Add ``src`` at ``index`` along ``dim``, in place. Returns the tensor."""
    return write(ROWS["scatter_add"], self, index, src, dim=F.wrap_dim(dim, self._a.ndim, "scatter_add_"))


def _clip_(self: Any, min: Any = None, max: Any = None) -> Any:
    return clamp_(self, min, max)


def _conversion(name: str, target: dtypes.dtype) -> Callable[[Any], Any]:
    def method(self: Any) -> Any:
        return self.to(target)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"The tensor as {target.name}; itself if it is that already."
    return method


_CONVERSIONS = {
    "float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16, "bfloat16": dtypes.bfloat16, "int": dtypes.int32,
    "long": dtypes.int64, "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8, "bool": dtypes.bool_,
}  # fmt: skip


def _reversed(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator whose left side is no tensor."""

    def operator(self: Any, other: Any) -> Any:
        if not _operand(other):
            return NotImplemented
        return function(dispatch._tensors(ROWS["add"], (self, other))[1], self)

    return operator


def _operand(value: Any) -> bool:
    return isinstance(value, (Tensor, bool, int, float, complex, dispatch.np.generic, dispatch.np.ndarray))


def _rdiv(self: Any, other: Any) -> Any:
    return F.reciprocal(self) * other if isinstance(other, (int, float)) else _reversed(F.div)(self, other)


def _rpow(self: Any, other: Any) -> Any:
    return F.pow(other, self)


def _eq(self: Any, other: Any) -> Any:
    return F.eq(self, other) if _operand(other) else NotImplemented


def _ne(self: Any, other: Any) -> Any:
    return F.ne(self, other) if _operand(other) else NotImplemented


def _not_in_place(symbol: str, name: str) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        return getattr(self, name)(other)

    operator.__doc__ = f"``self {symbol} other``, in place."
    return operator


def _rmatmul(self: Any, other: Any) -> Any:
    return F.matmul(other, self)


def install() -> None:
    """Put operators, methods and in-place forms on the Tensor class."""
    for name in SAME_NAME:
        setattr(Tensor, name, getattr(F, name))
    for name in IN_PLACE:
        setattr(Tensor, f"{name}_", _in_place(name))
    for function in (add_, sub_, div_, copy_, fill_, zero_, clamp_, masked_fill_, scatter_add_, random.normal_, random.uniform_, random.bernoulli_):
        setattr(Tensor, function.__name__, function)
    Tensor.clip_ = _clip_  # type: ignore[attr-defined]
    Tensor.bernoulli = random.bernoulli  # type: ignore[attr-defined]
    for name, target in _CONVERSIONS.items():
        setattr(Tensor, name, _conversion(name, target))
    Tensor.where = lambda self, condition, other: F.where(condition, self, other)  # type: ignore[attr-defined]
    operators: dict[str, Any] = {
        "add": F._add, "radd": F._add, "sub": F._sub, "rsub": F.rsub, "mul": F.mul, "rmul": F.mul, "truediv": F._div, "rtruediv": _rdiv,
        "floordiv": F.floor_divide, "rfloordiv": _reversed(F.floor_divide), "mod": F.remainder, "rmod": _reversed(F.remainder),
        "pow": F.pow, "rpow": _rpow, "matmul": F.matmul, "rmatmul": _rmatmul, "neg": F.neg, "abs": F.abs, "invert": F.bitwise_not,
        "eq": _eq, "ne": _ne, "lt": F.lt, "le": F.le, "gt": F.gt, "ge": F.ge, "and": F.bitwise_and, "rand": F.bitwise_and,
        "or": F.bitwise_or, "ror": F.bitwise_or, "xor": F.bitwise_xor, "rxor": F.bitwise_xor, "pos": lambda self: self,
    }  # fmt: skip
    for name, function in operators.items():
        setattr(Tensor, f"__{name}__", function)
    in_place = {"add": "+=", "sub": "-=", "mul": "*=", "div": "/=", "floor_divide": "//=", "remainder": "%=", "pow": "**=",
                "bitwise_and": "&=", "bitwise_or": "|=", "bitwise_xor": "^="}  # fmt: skip
    spelt = {"div": "truediv", "floor_divide": "floordiv", "remainder": "mod", "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor"}
    for name, symbol in in_place.items():
        setattr(Tensor, f"__i{spelt.get(name, name)}__", _not_in_place(symbol, f"{name}_"))


install()
