"""What CuPy has, read off CuPy 14.2.0 (``dir``, ``inspect.signature``, ``ufunc.types``), which can be imported without a GPU.

Where CuPy goes its own way, as far as it concerns us:

- An array meets device arrays, Python numbers and NumPy scalars. Meeting a host array, a 0-dim one too, is a TypeError, except
  that comparisons read a 0-dim one. ``__array__`` is a TypeError. NumPy's own ufuncs hand over to CuPy's of the same name.
- Results of ufuncs, reductions, products, ``take`` and advanced indexing are row-major whatever their inputs are; ``astype``,
  ``array``, ``copy(order="K")`` and the ``*_like`` functions keep an order. A reduction gives a 0-dim array, never a number.
- ``ufunc.reduce`` knows ``add`` and ``multiply`` only, and neither ``initial`` nor ``where``. ``count_nonzero`` has no ``keepdims``.
- ``ufunc.at`` (atomic) knows the types in ``SCATTERED`` only; int64, small integers, booleans and complex numbers are TypeErrors.
- Index arrays that reach out of bounds wrap around without a word.
- ``may_share_memory`` and ``shares_memory`` take no ``max_work``. There is no ``__index__``.
- Work runs on the current device; an array of another one is refused where the two cannot reach each other's memory.
"""

from __future__ import annotations

VERSION = "14.2.0"

UFUNCS = """
abs absolute acos acosh add arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh
bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor
cbrt ceil conj conjugate copysign cos cosh deg2rad degrees divide divmod equal exp exp2 expm1 fabs float_power floor
floor_divide fmax fmin fmod frexp gcd greater greater_equal heaviside hypot invert isfinite isinf isnan lcm ldexp
left_shift less less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor
maximum minimum mod modf multiply negative nextafter not_equal positive pow power rad2deg radians reciprocal remainder
right_shift rint sign signbit sin sinh sqrt square subtract tan tanh true_divide trunc
""".split()

#: Ufuncs with ``at``, and the types it takes.
WITH_AT = ("add", "subtract", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor")
SCATTERED = ("int32", "uint32", "uint64", "float16", "float32", "float64")

#: Functions that stand in NumPy under the same name, with the parameters they take here.
FUNCTIONS = {
    name: parameters.split()
    for name, _, parameters in (
        entry.partition("(")
        for entry in """
all(a axis out keepdims) allclose(a b rtol atol equal_nan) amax(a axis out keepdims) amin(a axis out keepdims)
angle(z deg) any(a axis out keepdims) append(arr values axis) argmax(a axis dtype out keepdims)
argmin(a axis dtype out keepdims) argpartition(a kth axis) argsort(a axis kind) argwhere(a) around(a decimals out)
array_equal(a1 a2 equal_nan) array_equiv(a1 a2) array_split(ary indices_or_sections axis) ascontiguousarray(a dtype)
asfortranarray(a dtype) astype(x dtype copy) atleast_1d(*arys) atleast_2d(*arys) atleast_3d(*arys)
bincount(x weights minlength) broadcast_arrays(*args) broadcast_to(array shape) clip(a a_min a_max out) column_stack(tup)
compress(condition a axis out) concat(tup axis out dtype casting) concatenate(tup axis out dtype casting) copy(a order)
copyto(dst src casting where) count_nonzero(a axis) cross(a b axisa axisb axisc axis) cumprod(a axis dtype out)
cumsum(a axis dtype out) delete(arr indices axis) diag(v k) diagflat(v k) diagonal(a offset axis1 axis2)
diff(a n axis prepend append) dot(a b out) dsplit(ary indices_or_sections) dstack(tup)
empty_like(prototype dtype order subok shape) expand_dims(a axis) flatnonzero(a) flip(a axis) fliplr(a) flipud(a)
full_like(a fill_value dtype order subok shape) hsplit(ary indices_or_sections) hstack(tup dtype casting) imag(val)
inner(a b) isclose(a b rtol atol equal_nan) iscomplex(x) isin(element test_elements assume_unique invert)
isneginf(x out) isposinf(x out) isreal(x) kron(a b) matmul(*args axes axis keepdims casting dtype signature order out)
matrix_transpose(x) max(a axis out keepdims) mean(a axis dtype out keepdims) min(a axis out keepdims)
moveaxis(a source destination) nan_to_num(x copy nan posinf neginf) nanargmax(a axis dtype out keepdims)
nanargmin(a axis dtype out keepdims) nancumprod(a axis dtype out) nancumsum(a axis dtype out) nanmax(a axis out keepdims)
nanmean(a axis dtype out keepdims) nanmin(a axis out keepdims) nanprod(a axis dtype out keepdims)
nanstd(a axis dtype out ddof keepdims) nansum(a axis dtype out keepdims) nanvar(a axis dtype out ddof keepdims)
nonzero(a) ones_like(a dtype order subok shape) outer(a b out) partition(a kth axis) permute_dims(a axes)
prod(a axis dtype out keepdims) ptp(a axis out keepdims) put_along_axis(arr indices values axis) ravel(a order) real(val)
repeat(a repeats axis) reshape(a newshape order copy) roll(a shift axis) rollaxis(a axis start) rot90(a k axes)
round(a decimals out) searchsorted(a v side sorter) sort(a axis kind) split(ary indices_or_sections axis) squeeze(a axis)
stack(tup axis out dtype casting) std(a axis dtype out ddof keepdims) sum(a axis dtype out keepdims)
swapaxes(a axis1 axis2) take(a indices axis out) take_along_axis(a indices axis) tensordot(a b axes) tile(A reps)
trace(a offset axis1 axis2 dtype out) transpose(a axes) tril(m k) triu(m k) union1d(arr1 arr2)
unique(ar return_index return_inverse return_counts axis equal_nan) unravel_index(indices dims order)
var(a axis dtype out ddof keepdims) vdot(a b) vsplit(ary indices_or_sections) vstack(tup dtype casting)
where(condition x y) zeros_like(a dtype order subok shape)
""".replace(") ", ")\n")
        .replace(")", "")
        .strip()
        .split("\n")
    )
}

#: Functions that make arrays from nothing or from host data.
CREATION = {
    "arange": "start stop step dtype",
    "array": "obj dtype copy order subok ndmin blocking",
    "asarray": "a dtype order copy blocking",
    "empty": "shape dtype order",
    "eye": "N M k dtype order",
    "full": "shape fill_value dtype order",
    "identity": "n dtype",
    "linspace": "start stop num endpoint retstep dtype axis",
    "ones": "shape dtype order",
    "tri": "N M k dtype",
    "zeros": "shape dtype order",
}

#: Methods of arrays that compute or view, with their parameters. (What else an array has the double spells out itself.)
METHODS = {
    "all": "axis out keepdims",
    "any": "axis out keepdims",
    "argmax": "axis out dtype keepdims",
    "argmin": "axis out dtype keepdims",
    "argsort": "axis kind",
    "clip": "min max out",
    "conj": "",
    "conjugate": "",
    "cumprod": "axis dtype out",
    "cumsum": "axis dtype out",
    "diagonal": "offset axis1 axis2",
    "dot": "b out",
    "flatten": "order",
    "max": "axis out keepdims",
    "mean": "axis dtype out keepdims",
    "min": "axis out keepdims",
    "nonzero": "",
    "prod": "axis dtype out keepdims",
    "ravel": "order",
    "repeat": "repeats axis",
    "reshape": "*shape order copy",
    "round": "decimals out",
    "searchsorted": "v side sorter",
    "sort": "axis kind",
    "squeeze": "axis",
    "std": "axis dtype out ddof keepdims",
    "sum": "axis dtype out keepdims",
    "swapaxes": "axis1 axis2",
    "take": "indices axis out",
    "trace": "offset axis1 axis2 dtype out",
    "transpose": "*axes",
    "var": "axis dtype out ddof keepdims",
}

#: Functions of ``cupyx.scipy.special`` that SciPy has too.
SPECIAL = """
digamma entr erf erfc erfcinv erfcx erfinv exp1 expi expit expn exprel gamma gammainc gammaincc gammaln i0 i0e i1 i1e j0 j1
log_expit log_ndtr log_softmax loggamma logit logsumexp multigammaln ndtr ndtri poch polygamma psi rgamma sinc softmax sph_harm_y
xlog1py xlogy y0 y1 yn zeta
""".split()
