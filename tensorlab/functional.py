"""Operations under the names people type. Each reads its arguments as PyTorch does and walks through the door.

Elementwise operations without arguments of their own are built by ``dispatch.unary`` and ``dispatch.binary`` straight from their
rows; everything else is a short function here.
"""

from __future__ import annotations

import builtins
import operator
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorlab import dispatch, dtypes, layout
from tensorlab.dispatch import call, layout_of, view, views
from tensorlab.layout import wrap_dim, wrap_dims
from tensorlab.ops import ROWS
from tensorlab.return_types import named

Tensor = Any


def _row_function(name: str, doc: str) -> Any:
    row = ROWS[name]
    make = dispatch.unary if len(row.params) == 1 else dispatch.binary
    made = make(row)
    made.__doc__ = f"{doc}\n\n``{row.formula}``, element by element; inputs promote" + (
        " and broadcast." if len(row.params) == 2 else "."
    )
    made.__module__ = "tensorlab"
    return made


_add = _row_function("add", "Sum.")
_sub = _row_function("sub", "Difference.")
rsub = _row_function("rsub", "Difference with the operands exchanged.")
mul = _row_function("mul", "Product.")
_div = _row_function("div", "Quotient; integers divide to floating point.")
floor_divide = _row_function("floor_divide", "Quotient rounded towards minus infinity.")
remainder = _row_function("remainder", "Remainder with the sign of the divisor.")
fmod = _row_function("fmod", "Remainder with the sign of the dividend.")
pow = _row_function("pow", "Power.")
maximum = _row_function("maximum", "The larger of two; NaN wins.")
minimum = _row_function("minimum", "The smaller of two; NaN wins.")
eq = _row_function("eq", "Whether equal.")
ne = _row_function("ne", "Whether different.")
lt = _row_function("lt", "Whether less.")
le = _row_function("le", "Whether less or equal.")
gt = _row_function("gt", "Whether greater.")
ge = _row_function("ge", "Whether greater or equal.")
logical_and = _row_function("logical_and", "Logical and; anything but 0 is true.")
logical_or = _row_function("logical_or", "Logical or; anything but 0 is true.")
logical_xor = _row_function("logical_xor", "Logical exclusive or; anything but 0 is true.")
bitwise_and = _row_function("bitwise_and", "Bitwise and of integers or booleans.")
bitwise_or = _row_function("bitwise_or", "Bitwise or of integers or booleans.")
bitwise_xor = _row_function("bitwise_xor", "Bitwise exclusive or of integers or booleans.")
neg = _row_function("neg", "Negative.")
abs = _row_function("abs", "Absolute value.")
sign = _row_function("sign", "Sign: -1, 0 or 1; 0 for NaN.")
exp = _row_function("exp", "Exponential.")
exp2 = _row_function("exp2", "Power of two.")
expm1 = _row_function("expm1", "``exp(x) - 1``, accurate near 0.")
log = _row_function("log", "Natural logarithm.")
log2 = _row_function("log2", "Logarithm to base 2.")
log10 = _row_function("log10", "Logarithm to base 10.")
log1p = _row_function("log1p", "``log(1 + x)``, accurate near 0.")
sqrt = _row_function("sqrt", "Square root.")
rsqrt = _row_function("rsqrt", "Reciprocal square root.")
square = _row_function("square", "Square.")
reciprocal = _row_function("reciprocal", "Reciprocal.")
sin = _row_function("sin", "Sine.")
cos = _row_function("cos", "Cosine.")
tan = _row_function("tan", "Tangent.")
asin = _row_function("asin", "Inverse sine.")
acos = _row_function("acos", "Inverse cosine.")
atan = _row_function("atan", "Inverse tangent.")
sinh = _row_function("sinh", "Hyperbolic sine.")
cosh = _row_function("cosh", "Hyperbolic cosine.")
tanh = _row_function("tanh", "Hyperbolic tangent.")
sigmoid = _row_function("sigmoid", "Logistic sigmoid.")
relu = _row_function("relu", "Rectified linear unit; its derivative at 0 is 0.")
erf = _row_function("erf", "Error function.")
floor = _row_function("floor", "Largest integer not above.")
ceil = _row_function("ceil", "Smallest integer not below.")
trunc = _row_function("trunc", "Integer part.")
_round = _row_function("round", "Nearest integer, halves to even.")
isnan = _row_function("isnan", "Whether NaN.")
isinf = _row_function("isinf", "Whether plus or minus infinity.")
isfinite = _row_function("isfinite", "Whether neither NaN nor infinite.")
logical_not = _row_function("logical_not", "Logical not; anything but 0 is true.")
bitwise_not = _row_function("bitwise_not", "Bitwise not of integers, logical not of booleans.")
absolute, negative, multiply = abs, neg, mul
arcsin, arccos, arctan = asin, acos, atan
greater, greater_equal, less, less_equal, not_equal = gt, ge, lt, le, ne


def add(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``input + alpha * other``; inputs promote and broadcast.

    >>> import tensorlab as tl
    >>> tl.add(tl.tensor([1., 2.]), 10, alpha=2)
    tensor([21., 22.])
    """
    return _add(input, other if alpha == 1 else mul(other, alpha) if isinstance(other, dispatch.Tensor) else other * alpha)


def sub(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``input - alpha * other``; inputs promote and broadcast."""
    return _sub(input, other if alpha == 1 else mul(other, alpha) if isinstance(other, dispatch.Tensor) else other * alpha)


def div(input: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """``input / other``; ``rounding_mode`` is ``None`` (true division), ``"floor"`` or ``"trunc"``.

    >>> import tensorlab as tl
    >>> tl.div(tl.tensor([7, -7]), 2, rounding_mode="floor")
    tensor([ 3, -4])
    """
    if rounding_mode is None:
        return _div(input, other)
    if rounding_mode == "floor":
        return floor_divide(input, other)
    if rounding_mode == "trunc":
        whole = trunc(_div(input, other))
        kind = dispatch.common_dtype(dispatch._tensors(ROWS["div"], (input, other)))
        return whole.to(kind) if kind.category < dtypes.FLOAT else whole
    raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'")


subtract, divide, true_divide = sub, div, div


def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """The nearest integer, halves to even; ``decimals`` digits after the point are kept."""
    if decimals == 0:
        return _round(input)
    scale = 10.0**decimals
    return _round(input * scale) / scale


def sgn(input: Tensor) -> Tensor:
    """Sign; for complex numbers ``x / |x|``, and 0 for 0."""
    if input._a.dtype.kind != "c":
        return sign(input)
    size = abs(input)
    return input / where(size == 0, 1, size)


def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Values limited to ``[min, max]``; either end may be ``None``, a number or a tensor. The gradient passes at both edges.

    >>> import tensorlab as tl
    >>> tl.clamp(tl.tensor([-2., 0.5, 3.]), -1, 1)
    tensor([-1.0000,  0.5000,  1.0000])
    """
    if min is None and max is None:
        raise RuntimeError("clamp(): At least one of 'min' or 'max' must not be None")
    return call(ROWS["clamp"], (input, min, max))


clip = clamp


def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """Elements of ``input`` where ``condition`` holds, else of ``other``; with the condition alone, its true positions.

    Shapes broadcast and types promote. Raises ``TypeError`` unless the condition is boolean.
    """
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    if not isinstance(condition, dispatch.Tensor) or condition._a.dtype.kind not in "bu":
        raise RuntimeError(f"where(): expected condition to be a boolean tensor, but got {getattr(condition, 'dtype', type(condition).__name__)}")
    row = ROWS["where"]
    a, b = dispatch._tensors(row, (input, other)) if isinstance(input, dispatch.Tensor) or isinstance(other, dispatch.Tensor) else (
        dispatch._number(dtypes.scalar_dtype(input).np, input),
        dispatch._number(dtypes.scalar_dtype(other).np, other),
    )
    target = dispatch.common_dtype([a, b]).np
    a, b = (t if t._a.dtype == target else dispatch.cast(t, target) for t in (a, b))
    mask = condition if condition._a.dtype.kind == "b" else condition != 0
    return call(row, (mask, a, b))


def conj(input: Tensor) -> Tensor:
    """The complex conjugate; a real tensor as it is."""
    return call(ROWS["conj"], (input,)) if input._a.dtype.kind == "c" else input


def view_dtype(input: Tensor, dtype: dtypes.dtype) -> Tensor:
    """The same bits read as another type of the same width; a view without gradient."""
    if dtype.itemsize != input._a.itemsize:
        raise RuntimeError(f"view(dtype): {input.dtype.name} has {input._a.itemsize} bytes an element and {dtype.name} {dtype.itemsize}; only equal widths can be seen as each other")
    return dispatch.alias(input, layout_of(input), dtype.np)


def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """``input`` with ``value`` where ``mask`` holds."""
    if mask._a.dtype.kind != "b":
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype}")
    return call(ROWS["masked_fill"], (input, mask, value))


# -------------------------------------------------------------------------------------------------------- reductions


def _dims(x: Tensor, dim: Any, op: str) -> tuple[int, ...]:
    n = x._a.ndim
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return tuple(range(n))
    found = wrap_dims(dim, n, op)
    return found if n else ()


def _np(dtype: Any) -> Any:
    return None if dtype is None else dtypes.as_dtype(dtype).np


def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Sum of all elements, or over ``dim``; integers and booleans sum to int64.

    >>> import tensorlab as tl
    >>> tl.sum(tl.tensor([[1, 2], [3, 4]]), dim=0)
    tensor([4, 6])
    """
    return call(ROWS["sum"], (input,), dim=_dims(input, dim, "sum"), keepdim=keepdim, dtype=_np(dtype))


def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Arithmetic mean of all elements, or over ``dim``. Raises ``RuntimeError`` for integers unless ``dtype`` is given."""
    return call(ROWS["mean"], (input,), dim=_dims(input, dim, "mean"), keepdim=keepdim, dtype=_np(dtype))


def _spread(op: str, input: Tensor, dim: Any, unbiased: Any, correction: Any, keepdim: bool) -> Tensor:
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased in (None, True) else 0
    dims = _dims(input, dim, op)
    count = 1
    for d in dims:
        count *= input._a.shape[d]
    if count - correction <= 0:
        warnings.warn(
            f"{op}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel divided by "
            f"output numel); here {count} - {correction}.",
            stacklevel=3,
        )
    return call(ROWS[op], (input,), dim=dims, keepdim=keepdim, correction=correction)


def var(input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None) -> Tensor:
    """Variance, divided by ``n - correction`` (1 unless said otherwise)."""
    return _spread("var", input, dim, unbiased, correction, keepdim)


def std(input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None) -> Tensor:
    """Standard deviation, with ``n - correction`` (1 unless said otherwise)."""
    return _spread("std", input, dim, unbiased, correction, keepdim)


def prod(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Product of all elements, or over one ``dim``; integers multiply to int64. Its gradient is exact with zeros too."""
    return call(ROWS["prod"], (input,), dim=_dims(input, dim, "prod"), keepdim=keepdim, dtype=_np(dtype))


def cumsum(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Running sum along ``dim``."""
    return call(ROWS["cumsum"], (input,), dim=wrap_dim(dim, input._a.ndim, "cumsum"), dtype=_np(dtype))


def cumprod(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Running product along ``dim``."""
    return call(ROWS["cumprod"], (input,), dim=wrap_dim(dim, input._a.ndim, "cumprod"), dtype=_np(dtype))


def _filled(input: Tensor, dim: tuple[int, ...], op: str) -> None:
    if input._a.size == 0 and (not dim or builtins.any(input._a.shape[d] == 0 for d in dim)):
        raise (IndexError if len(dim) == 1 and input._a.ndim > 1 else RuntimeError)(
            f"{op}(): Expected reduction dim to be specified for input.numel() == 0, with a non-zero size. Shape {list(input._a.shape)} has "
            "no element to choose; specify another reduction dim with the 'dim' argument."
        )


def amax(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Largest value over ``dim``; ties share the gradient evenly."""
    dims = _dims(input, dim, "amax")
    _filled(input, dims, "amax")
    return call(ROWS["amax"], (input,), dim=dims, keepdim=keepdim)


def amin(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Smallest value over ``dim``; ties share the gradient evenly."""
    dims = _dims(input, dim, "amin")
    _filled(input, dims, "amin")
    return call(ROWS["amin"], (input,), dim=dims, keepdim=keepdim)


def _extreme(op: str, input: Tensor, dim: Any, keepdim: bool) -> Any:
    if isinstance(dim, dispatch.Tensor):
        return maximum(input, dim) if op == "max" else minimum(input, dim)
    if dim is None:
        _filled(input, (), op)
        return call(ROWS[op], (input,))
    d = wrap_dim(dim, input._a.ndim, op)
    if input._a.ndim:
        _filled(input, (d,), op)
    return named(op)(*call(ROWS[f"{op}_dim"], (input,), dim=d, keepdim=keepdim))


def max(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """Largest element of all; with ``dim``, the pair ``(values, indices)``; with a tensor, ``maximum``. NaN counts as largest."""
    return _extreme("max", input, dim, keepdim)


def min(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """Smallest element of all; with ``dim``, the pair ``(values, indices)``; with a tensor, ``minimum``. NaN counts as smallest."""
    return _extreme("min", input, dim, keepdim)


def _arg(op: str, input: Tensor, dim: Any, keepdim: bool) -> Tensor:
    d = None if dim is None else wrap_dim(dim, input._a.ndim, op)
    _filled(input, () if d is None or not input._a.ndim else (d,), op)
    return call(ROWS[op], (input,), dim=d, keepdim=keepdim)


def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Index of the largest element, the first if several; into the flattened tensor unless ``dim`` is given."""
    return _arg("argmax", input, dim, keepdim)


def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Index of the smallest element, the first if several; into the flattened tensor unless ``dim`` is given."""
    return _arg("argmin", input, dim, keepdim)


def all(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether all elements are true (not 0)."""
    return call(ROWS["all"], (input,), dim=_dims(input, dim, "all"), keepdim=keepdim)


def any(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether any element is true (not 0)."""
    return call(ROWS["any"], (input,), dim=_dims(input, dim, "any"), keepdim=keepdim)


def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """``log(sum(exp(input)))`` over ``dim``, without overflow."""
    return call(ROWS["logsumexp"], (input,), dim=_dims(input, dim, "logsumexp"), keepdim=keepdim)


def norm(input: Tensor, p: Any = 2, dim: Any = None, keepdim: bool = False) -> Tensor:
    """The ``p``-norm of all elements, or over ``dim``; ``p`` is a number, ``inf``, ``-inf`` or ``"fro"``. Its gradient at 0 is 0."""
    if p in ("fro", None):
        p = 2
    size = abs(input)
    if p == float("inf"):
        return amax(size, dim, keepdim)
    if p == float("-inf"):
        return amin(size, dim, keepdim)
    if p == 0:
        return sum((size != 0).to(input.dtype), dim, keepdim)
    if p == 1:
        return sum(size, dim, keepdim)
    return vector_norm(input, dim, p=p, keepdim=keepdim)


def vector_norm(input: Tensor, dim: Any = None, keepdim: bool = False, *, p: Any = 2) -> Tensor:
    """``(sum(|input| ** p)) ** (1 / p)`` over ``dim``. Its gradient where the norm is 0 is 0."""
    return call(ROWS["vector_norm"], (input,), dim=_dims(input, dim, "norm"), keepdim=keepdim, p=float(p))


# ------------------------------------------------------------------------------------------------------------ products


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Product of matrices and vectors, batches broadcast. Raises ``RuntimeError`` showing the sizes that do not meet."""
    if not isinstance(other, dispatch.Tensor) or not isinstance(input, dispatch.Tensor):
        wrong = other if isinstance(input, dispatch.Tensor) else input
        raise TypeError(f"matmul(): both arguments must be Tensors, got {type(wrong).__name__}")
    m, n = input._a.ndim, other._a.ndim
    name = {(1, 1): "dot", (2, 1): "mv", (2, 2): "mm"}.get((m, n))
    if name is None:
        name = "bmm" if m == n == 3 and input._a.shape[0] == other._a.shape[0] else "matmul"
    return call(ROWS[name], (input, other))


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Product of two matrices, ``[n, m]`` and ``[m, p]``."""
    _need_dims("mm", (("self", input, 2), ("mat2", mat2, 2)))
    return call(ROWS["mm"], (input, mat2))


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """Product of a matrix ``[n, m]`` and a vector ``[m]``."""
    _need_dims("mv", (("self", input, 2), ("vec", vec, 1)))
    return call(ROWS["mv"], (input, vec))


def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """Inner product of two vectors of equal length."""
    _need_dims("dot", (("self", input, 1), ("tensor", tensor, 1)))
    return call(ROWS["dot"], (input, tensor))


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Products of a batch of matrices, ``[b, n, m]`` and ``[b, m, p]``."""
    _need_dims("bmm", (("self", input, 3), ("mat2", mat2, 3)))
    if input._a.shape[0] != mat2._a.shape[0]:
        raise RuntimeError(f"bmm(): Expected size for first two dimensions of batch2 tensor to be equal: batches {input._a.shape[0]} and {mat2._a.shape[0]}")
    return call(ROWS["bmm"], (input, mat2))


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Outer product of two vectors, ``[n]`` and ``[m]`` to ``[n, m]``."""
    _need_dims("outer", (("self", input, 1), ("vec2", vec2, 1)))
    return unsqueeze(input, 1) * vec2


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)``; ``input`` broadcasts to the product's shape."""
    _need_dims("addmm", (("mat1", mat1, 2), ("mat2", mat2, 2)))
    return call(ROWS["addmm"], (input, mat1, mat2), beta=beta, alpha=alpha)


def _need_dims(op: str, arguments: Sequence[tuple[str, Tensor, int]]) -> None:
    for name, x, n in arguments:
        if not isinstance(x, dispatch.Tensor):
            raise TypeError(f"{op}(): argument '{name}' must be Tensor, not {type(x).__name__}")
        if x._a.ndim != n:
            kind = {1: "a vector", 2: "a matrix", 3: "a batch of matrices"}[n]
            raise RuntimeError(f"{op}(): {name} must be {kind}, that is {n}D tensor, but has {x._a.ndim} dimensions: {list(x._a.shape)}")


# ------------------------------------------------------------------------------------------------------------ shapes


def _sizes(given: tuple[Any, ...]) -> tuple[int, ...]:
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = tuple(given[0])
    return tuple(given)


def view_as_shape(input: Tensor, shape: Sequence[int]) -> Tensor:
    """The same storage under another shape. Raises ``RuntimeError`` naming the dimension pair that makes it impossible."""
    return view(ROWS["view"], input, shape=layout.infer_size(shape, input._a.size))


def reshape(input: Tensor, shape: Sequence[int]) -> Tensor:
    """Another shape: a view where one is possible, else a copy.

    >>> import tensorlab as tl
    >>> tl.reshape(tl.arange(4), (2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    wanted = layout.infer_size(shape if isinstance(shape, (tuple, list)) else (shape,), input._a.size)
    if isinstance(layout.view(layout.Layout(input._a.shape, dispatch.strides_of(input._a)), wanted), layout.Blocked):
        input = clone(input, memory_format="contiguous")
    return view(ROWS["view"], input, shape=wanted)


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged; a view."""
    n = input._a.ndim
    return view(ROWS["transpose"], input, dim0=wrap_dim(dim0, n, "transpose"), dim1=wrap_dim(dim1, n, "transpose"))


swapaxes = swapdims = transpose


def t(input: Tensor) -> Tensor:
    """A matrix transposed; vectors and numbers as they are. Raises ``RuntimeError`` for more than 2 dimensions."""
    if input._a.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input._a.ndim}D; use .mT or permute()")
    return view(ROWS["t"], input)


def permute(input: Tensor, dims: Any) -> Tensor:
    """Dimensions in another order; a view."""
    order = wrap_dims(dims, input._a.ndim, "permute")
    if len(order) != input._a.ndim:
        raise RuntimeError(
            f"permute(): number of dimensions in the tensor input does not match the length of the desired ordering of "
            f"dimensions i.e. input.dim() = {input._a.ndim} is not equal to len(dims) = {len(order)}"
        )
    return view(ROWS["permute"], input, dims=order)


def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions moved to other places, the rest in order; a view."""
    n = input._a.ndim
    src, dst = wrap_dims(source, n, "movedim"), wrap_dims(destination, n, "movedim")
    if len(src) != len(dst):
        raise RuntimeError(f"movedim(): Invalid source or destination dims: {len(src)} sources, {len(dst)} destinations")
    rest = [d for d in range(n) if d not in src]
    order = [-1] * n
    for s, d in zip(src, dst, strict=True):
        order[d] = s
    return permute(input, [rest.pop(0) if d == -1 else d for d in order])


moveaxis = movedim


def expand(input: Tensor, sizes: Sequence[int]) -> Tensor:
    """Dimensions of size 1 stretched with stride 0, new ones in front; a view. ``-1`` keeps a size."""
    return view(ROWS["expand"], input, sizes=tuple(sizes))


def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """``input`` expanded to ``size``; a view."""
    return expand(input, size)


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """All tensors expanded to their common shape."""
    shape = layout.broadcast_shapes(*[x._a.shape for x in tensors], op="broadcast_tensors")
    return tuple([expand(x, shape) for x in tensors])


def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Dimensions of size 1 dropped: all, or those named; a view."""
    return view(ROWS["squeeze"], input, dims=None if dim is None else wrap_dims(dim, input._a.ndim, "squeeze"))


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A new dimension of size 1 before ``dim``; a view."""
    return view(ROWS["unsqueeze"], input, dim=wrap_dim(dim, input._a.ndim + 1, "unsqueeze"))


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions ``start_dim`` to ``end_dim`` made one; a view where possible."""
    n = input._a.ndim
    if n == 0:
        return reshape(input, (1,))
    first, last = wrap_dim(start_dim, n, "flatten"), wrap_dim(end_dim, n, "flatten")
    if first > last:
        raise RuntimeError(f"flatten() has invalid args: start_dim cannot come after end_dim (got {start_dim} and {end_dim})")
    if first == last:
        return input
    shape = input._a.shape
    size = 1
    for d in range(first, last + 1):
        size *= shape[d]
    return reshape(input, (*shape[:first], size, *shape[last + 1 :]))


def ravel(input: Tensor) -> Tensor:
    """All dimensions made one."""
    return reshape(input, (-1,)) if input._a.size else reshape(input, (0,))


def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """One dimension split into several; a view. ``-1`` once is worked out."""
    d = wrap_dim(dim, input._a.ndim, "unflatten")
    shape = input._a.shape
    return view_as_shape(input, (*shape[:d], *layout.infer_size(sizes, shape[d]), *shape[d + 1 :]))


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """One index of a dimension, which goes away; a view. Raises ``IndexError`` naming the size."""
    n = input._a.ndim
    if n == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d = wrap_dim(dim, n, "select")
    size = input._a.shape[d]
    at = operator.index(index)
    if not -size <= at < size:
        raise IndexError(f"select(): index {at} out of range for tensor of size {list(input._a.shape)} at dimension {d}")
    return view(ROWS["select"], input, dim=d, index=at % size)


def slice_dim(input: Tensor, dim: int, start: int | None, stop: int | None, step: int | None) -> Tensor:
    """``start:stop:step`` of one dimension; a view. Raises ``ValueError`` for steps below 1."""
    step = 1 if step is None else operator.index(step)
    if step <= 0:
        raise ValueError(f"step must be greater than zero, got {step}; use .flip({dim}) to reverse a dimension")
    size = input._a.shape[dim]
    first, last, _ = slice(start, stop, step).indices(size)
    return view(ROWS["slice"], input, dim=dim, start=first, stop=last if last > first else first, step=step)


def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """``length`` indexes of a dimension from ``start``; a view. Raises ``RuntimeError`` where they reach past the end."""
    d = wrap_dim(dim, input._a.ndim, "narrow")
    size = input._a.shape[d]
    if length < 0 or not -size <= start <= size or (start + size if start < 0 else start) + length > size:
        raise RuntimeError(f"narrow(): start ({start}) + length ({length}) exceeds dimension size ({size}).")
    start = start + size if start < 0 else start
    return view(ROWS["slice"], input, dim=d, start=start, stop=start + length, step=1)


def as_strided(input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """The storage of ``input`` under any layout, checked against the storage's size."""
    at = layout_of(input)
    wanted = layout.Layout(tuple(size), tuple(stride), at.offset if storage_offset is None else storage_offset)
    if len(wanted.shape) != len(wanted.strides):
        raise RuntimeError(f"as_strided(): mismatch in length of strides and shape: {list(size)} and {list(stride)}")
    if builtins.min((*wanted.shape, *wanted.strides, wanted.offset)) < 0:
        raise RuntimeError(f"as_strided(): sizes, strides and offset must not be negative, got {list(size)}, {list(stride)}, {wanted.offset}")
    st = dispatch.storage_of(input)
    held = (st.root if st.root is not None else dispatch.backend.of(input._a).root(input._a)).nbytes
    needed = (wanted.offset + layout.extent(wanted.shape, wanted.strides)) * input._a.itemsize
    if 0 not in wanted.shape and needed > held:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {wanted.offset}, and itemsize {input._a.itemsize} "
            f"requiring a storage size of {needed} are out of bounds for storage of size {held}"
        )
    return view(ROWS["as_strided"], input, layout=wanted)


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A diagonal of two dimensions as a new last one; a view."""
    n = input._a.ndim
    d1, d2 = wrap_dim(dim1, n, "diagonal"), wrap_dim(dim2, n, "diagonal")
    if d1 == d2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return view(ROWS["diagonal"], input, offset=offset, dim1=d1, dim2=d2)


def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Windows of ``size``, ``step`` apart, along a dimension, as a new last one; a view."""
    d = wrap_dim(dimension, input._a.ndim, "unfold")
    if input._a.ndim == 0:
        input = unsqueeze(input, 0)
    if size > input._a.shape[d] or size < 0 or step <= 0:
        raise RuntimeError(
            f"unfold(): maximum size for tensor at dimension {d} is {input._a.shape[d]} but size is {size}; step must be > 0, got {step}"
        )
    return view(ROWS["unfold"], input, dim=d, size=size, step=step)


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of a size, or of several sizes, along ``dim``; views."""
    d = wrap_dim(dim, tensor._a.ndim, "split")
    size = tensor._a.shape[d]
    if isinstance(split_size_or_sections, (tuple, list)):
        sizes = tuple(split_size_or_sections)
        if builtins.sum(sizes) != size:
            raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension {d}), but got split_sizes={list(sizes)}")
    else:
        step = split_size_or_sections
        if step < 0 or (step == 0 and size):
            raise RuntimeError(f"split expects split_size be positive, but got split_size={step}")
        sizes = tuple([builtins.min(step, size - at) for at in range(0, size, step or 1)]) or (0,)
    return views(ROWS["split"], tensor, dim=d, sizes=sizes)


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` parts of equal size, the last perhaps smaller; views."""
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    d = wrap_dim(dim, input._a.ndim, "chunk")
    size = input._a.shape[d]
    return split(input, (size + chunks - 1) // chunks if size else 0, d)


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The tensor at every index of a dimension; views."""
    if input._a.ndim == 0:
        raise RuntimeError("unbind(): Dimension specified as 0 but tensor has no dimensions")
    return views(ROWS["unbind"], input, dim=wrap_dim(dim, input._a.ndim, "unbind"))


def _list_of_tensors(op: str, tensors: Any) -> list[Tensor]:
    if isinstance(tensors, dispatch.Tensor) or not isinstance(tensors, (tuple, list)):
        raise TypeError(f"{op}(): argument 'tensors' (position 1) must be tuple of Tensors, not {type(tensors).__name__}")
    for i, x in enumerate(tensors):
        if not isinstance(x, dispatch.Tensor):
            raise TypeError(f"{op}(): expected Tensor as element {i} in argument 0, but got {type(x).__name__}")
    if not tensors:
        raise RuntimeError(f"{op}(): expected a non-empty list of Tensors")
    return list(tensors)


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors one after another along ``dim``; all other sizes must agree. Types promote."""
    parts = _list_of_tensors("cat", tensors)
    n = builtins.max([x._a.ndim for x in parts])
    if builtins.any(x._a.ndim == 0 for x in parts):
        raise RuntimeError("zero-dimensional tensor (at position 0) cannot be concatenated; use stack()")
    d = wrap_dim(dim, n, "cat")
    sizes = tuple([0 if x._a.shape == (0,) and n > 1 else x._a.shape[d] if d < x._a.ndim else -1 for x in parts])
    return call(ROWS["cat"], parts, dim=d, sizes=sizes)


concat = concatenate = cat


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors of one shape side by side along a new dimension. Types promote."""
    parts = _list_of_tensors("stack", tensors)
    return call(ROWS["stack"], parts, dim=wrap_dim(dim, parts[0]._a.ndim + 1, "stack"))


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors side by side: along dimension 0 for vectors, 1 for everything else."""
    parts = [x if x._a.ndim else reshape(x, (1,)) for x in _list_of_tensors("hstack", tensors)]
    return cat(parts, 0 if parts[0]._a.ndim == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors on top of each other, vectors as rows."""
    return cat([x if x._a.ndim > 1 else reshape(x, (1, -1)) for x in _list_of_tensors("vstack", tensors)], 0)


def flip(input: Tensor, dims: Any) -> Tensor:
    """Dimensions reversed; a copy."""
    return call(ROWS["flip"], (input,), dims=wrap_dims(dims, input._a.ndim, "flip") if input._a.ndim else ())


def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The lower triangle of matrices, zeros above ``diagonal``."""
    return _triangle("tril", input, diagonal)


def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The upper triangle of matrices, zeros below ``diagonal``."""
    return _triangle("triu", input, diagonal)


def _triangle(op: str, input: Tensor, diagonal: int) -> Tensor:
    if input._a.ndim < 2:
        raise RuntimeError(f"{op}: input tensor must have at least 2 dimensions")
    return call(ROWS[op], (input,), diagonal=diagonal)


def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy with its own storage, and the same place in the graph. A dense order of dimensions is kept."""
    return call(ROWS["clone"], (input,), memory_format=memory_format)


# ----------------------------------------------------------------------------------------------------------- indexing


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """``result[i, j] = input[i, index[i, j]]`` along ``dim``. Raises ``IndexError`` for an index out of bounds."""
    _need_index("gather", index)
    return call(ROWS["gather"], (input, index), dim=wrap_dim(dim, input._a.ndim, "gather"))


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """``input`` with ``src`` added at ``index`` along ``dim``; every repeated index counts."""
    _need_index("scatter_add", index)
    return call(ROWS["scatter_add"], (input, index, src), dim=wrap_dim(dim, input._a.ndim, "scatter_add"))


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The indexes of one dimension listed in a vector; a copy."""
    _need_index("index_select", index)
    return call(ROWS["index_select"], (input, index), dim=wrap_dim(dim, input._a.ndim, "index_select"))


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where ``mask`` holds, as a vector."""
    a, m = broadcast_tensors(input, mask)
    return a[m]


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Positions of elements that are not 0: one row each, or a tuple with one vector a dimension."""
    found = [dispatch.wrap(np.ascontiguousarray(i)) for i in np.nonzero(np.atleast_1d(input._a))]
    if as_tuple:
        return tuple(found)
    if input._a.ndim == 0:
        return dispatch.wrap(np.zeros((found[0]._a.size, 0), np.int64))
    return dispatch.wrap(np.stack([i._a for i in found], 1))


def _need_index(op: str, index: Tensor) -> None:
    if not isinstance(index, dispatch.Tensor) or index._a.dtype not in (np.dtype(np.int64), np.dtype(np.int32)):
        raise RuntimeError(f"{op}(): Expected dtype int64 for index, got {getattr(index, 'dtype', type(index).__name__)}")


# --------------------------------------------------------------------------------------------------- softmax and losses


def softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """``exp(input) / sum(exp(input))`` along ``dim``."""
    input = input if dtype is None else input.to(dtype)
    return call(ROWS["softmax"], (input,), dim=wrap_dim(dim, input._a.ndim, "softmax"))


def log_softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """``log(softmax(input))`` along ``dim``, computed without overflow."""
    input = input if dtype is None else input.to(dtype)
    return call(ROWS["log_softmax"], (input,), dim=wrap_dim(dim, input._a.ndim, "log_softmax"))


# ------------------------------------------------------------------------------------------------------------- questions


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a Tensor."""
    return isinstance(obj, dispatch.Tensor)


def numel(input: Tensor) -> int:
    """The number of elements."""
    return int(input._a.size)


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and elements."""
    return input._a.shape == other._a.shape and bool(np.array_equal(input._a, other._a))


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether ``|input - other| <= atol + rtol * |other|`` for every element. Raises ``RuntimeError`` for different types."""
    if input._a.dtype != other._a.dtype:
        raise RuntimeError(f"allclose(): {input.dtype} did not match {other.dtype}; convert one with .to()")
    return bool(np.allclose(input._a, other._a, rtol, atol, equal_nan))


def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """The type that an operation on both would give."""
    if not isinstance(tensor1, dispatch.Tensor) and not isinstance(tensor2, dispatch.Tensor):
        return dtypes.promote_types(dtypes.scalar_dtype(tensor1), dtypes.scalar_dtype(tensor2))
    return dispatch.common_dtype(dispatch._tensors(ROWS["add"], (tensor1, tensor2)))
