"""What rows should give, written a second time and another way, on arrays."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.ops.references_linalg import LINALG


def each(function: Callable[..., float]) -> Callable[..., np.ndarray]:
    """A function of Python numbers, applied element by element."""
    return np.vectorize(function, otypes=[np.float64])


def softmax(a: np.ndarray, dim: int) -> np.ndarray:
    return np.exp(a) / np.exp(a).sum(dim, keepdims=True)


def axes(a: np.ndarray, dim: Any) -> Any:
    return None if dim is None else tuple(dim) if isinstance(dim, (tuple, list)) else dim


def reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, dim=None, keepdim=False: function(a, axis=axes(a, dim), keepdims=keepdim)


def spread(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, dim=None, keepdim=False, correction=1: function(
        a, axis=axes(a, dim), ddof=correction, keepdims=keepdim
    )


def nll(a: np.ndarray, target: np.ndarray, reduction: str = "mean", ignore_index: int = -100) -> Any:
    if a.ndim == 1:
        return -a[target]
    losses = np.zeros(target.shape)
    for at in np.ndindex(target.shape):
        losses[at] = 0.0 if target[at] == ignore_index else -a[(at[0], target[at], *at[1:])]
    kept = (target != ignore_index).sum()
    return losses if reduction == "none" else losses.sum() / (kept if reduction == "mean" else 1)


def mse(a: np.ndarray, b: np.ndarray, reduction: str = "mean") -> Any:
    off = (a - b) ** 2
    return off if reduction == "none" else off.mean() if reduction == "mean" else off.sum()


def gelu(x: float) -> float:
    return x * (1 + math.erf(x / math.sqrt(2))) / 2


def gelu_by_tanh(x: float) -> float:
    return x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def sort(a: np.ndarray, dim: int = -1, descending: bool = False) -> Any:
    if a.ndim == 0:
        return a, np.array(0)
    at = np.argsort(-a if descending else a, axis=dim, kind="stable")
    return np.take_along_axis(a, at, dim), at


def topk(a: np.ndarray, k: int, dim: int = -1, largest: bool = True) -> Any:
    if a.ndim == 0:
        return a, np.array(0)
    values, at = sort(a, dim, largest)
    return tuple(np.take(each, range(k), dim) for each in (values, at))


def scatter(a: np.ndarray, dim: int, index: np.ndarray, src: np.ndarray) -> np.ndarray:
    out = a.copy()
    for at in np.ndindex(index.shape):
        out[(*at[:dim], index[at], *at[dim + 1 :])] = src[at]
    return out


def index_add(a: np.ndarray, dim: int, index: np.ndarray, source: np.ndarray, alpha: float = 1) -> np.ndarray:
    out = np.moveaxis(a.copy(), dim, 0)
    for i, part in zip(index, np.moveaxis(source, dim, 0), strict=True):
        out[i] += alpha * part
    return np.moveaxis(out, 0, dim)


def around(function: Callable[[float], float]) -> float:
    """The mean of a function over a full turn, exact to the last digits for smooth ones."""
    return math.fsum(function(2 * math.pi * k / 64) for k in range(64)) / 64


def integral(function: Callable[[float], float], end: float) -> float:
    """The integral from 0 to ``end``, by substitution so that ends with a root or a pole are harmless."""
    total = 0.0
    for k in range(-400, 401):
        u = k / 100
        x = end / (1 + math.exp(-math.pi * math.sinh(u)))
        total += function(x) * x * (1 - x / end) * math.pi * math.cosh(u) if 0 < x < end else 0.0
    return total / 100


def running(choose: Callable[..., Any]) -> Callable[..., Any]:
    """The extreme of everything so far along ``dim``, and where it last stood."""

    def along(a: np.ndarray, dim: int) -> Any:
        if a.ndim == 0 or a.size == 0:
            return a, np.zeros(a.shape, int)
        lanes = np.moveaxis(a, dim, -1)
        values, places = np.empty(lanes.shape), np.empty(lanes.shape, int)
        for at in np.ndindex(lanes.shape):
            before = lanes[at[:-1]][: at[-1] + 1]
            values[at] = choose(before)
            places[at] = np.flatnonzero(before == values[at])[-1]
        return np.moveaxis(values, -1, dim), np.moveaxis(places, -1, dim)

    return along


def picked(place: Callable[..., int]) -> Callable[..., Any]:
    """One element of every lane along ``dim``: ``place(lane, ...)`` says which."""

    def along(a: np.ndarray, *args: Any, dim: int = -1, keepdim: bool = False) -> Any:
        lanes = np.moveaxis(np.atleast_1d(a), dim, -1)
        places = np.apply_along_axis(lambda lane: place(lane, *args), -1, lanes).astype(int)
        values = np.take_along_axis(lanes, places[..., None], -1)[..., 0]
        if keepdim:
            return np.expand_dims(values, dim), np.expand_dims(places, dim)
        return values.reshape(np.delete(a.shape, dim) if a.ndim else ()), places.reshape(values.shape if a.ndim else ())

    return along


def kthvalue(a: np.ndarray, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    return picked(lambda lane: np.argsort(lane, kind="stable")[k - 1])(a, dim=dim, keepdim=keepdim)


def mode(a: np.ndarray, dim: int = -1, keepdim: bool = False) -> Any:
    def place(lane: np.ndarray) -> int:
        values, counts = np.unique(lane, return_counts=True)
        return np.flatnonzero(lane == values[counts.argmax()])[-1]

    return picked(place)(a, dim=dim, keepdim=keepdim)


def placed(a: np.ndarray, dim: int, index: np.ndarray, source: Any) -> np.ndarray:
    out = np.moveaxis(np.atleast_1d(a).copy(), dim, 0)
    for k, i in enumerate(np.atleast_1d(index)):
        out[i] = source if np.ndim(source) == 0 else np.moveaxis(np.atleast_1d(source), dim, 0)[k]
    return np.moveaxis(out, 0, dim).reshape(a.shape)


def put(a: np.ndarray, index: np.ndarray, source: np.ndarray, accumulate: bool = False) -> np.ndarray:
    out = a.reshape(-1).copy()
    for i, value in zip(index.reshape(-1), source.reshape(-1), strict=True):
        out[i] = out[i] + value if accumulate else value
    return out.reshape(a.shape)


def masked_scatter(a: np.ndarray, mask: np.ndarray, source: np.ndarray) -> np.ndarray:
    out = a.copy()
    np.place(out, mask, source)
    return out


def scatter_reduce(
    a: np.ndarray, dim: int, index: np.ndarray, src: np.ndarray, how: str, include_self: bool = True
) -> np.ndarray:
    whole, index, src = np.atleast_1d(a), np.atleast_1d(index), np.atleast_1d(src)
    met: dict[Any, list[float]] = {at: [whole[at]] if include_self else [] for at in np.ndindex(whole.shape)}
    for at in np.ndindex(index.shape):
        met[(*at[:dim], int(index[at]), *at[dim + 1 :])].append(src[at])
    combine = {"sum": sum, "prod": math.prod, "mean": np.mean, "amax": max, "amin": min}[how]
    values = [combine(values) if values else whole[at] for at, values in met.items()]
    return np.array(values).reshape(a.shape)


def diag_embed(a: np.ndarray, offset: int = 0, dim1: int = -2, dim2: int = -1) -> np.ndarray:
    n = a.shape[-1] + abs(offset)
    lanes = [np.diag(a[at], offset) if a.shape[-1] else np.zeros((n, n)) for at in np.ndindex(a.shape[:-1])]
    return np.moveaxis(np.array(lanes).reshape(*a.shape[:-1], n, n), (-2, -1), (dim1, dim2))


def block_diag(*parts: np.ndarray) -> np.ndarray:
    parts = tuple(np.atleast_2d(part) for part in parts)
    out = np.zeros(np.sum([part.shape for part in parts], 0))
    at = np.zeros(2, int)
    for part in parts:
        out[at[0] : at[0] + part.shape[0], at[1] : at[1] + part.shape[1]] = part
        at += part.shape
    return out


REFERENCES: dict[str, Callable[..., Any]] = {
    "cummax": running(np.max),
    "cummin": running(np.min),
    "logcumsumexp": lambda a, dim: a if a.ndim == 0 else np.log(np.cumsum(np.exp(a), dim)),
    "kthvalue": kthvalue,
    "mode": mode,
    "nansum": reduction(np.nansum),
    "nanmedian": lambda a: np.sort(a, axis=None)[(a.size - 1) // 2],
    "count_nonzero": lambda a, dim=None: np.count_nonzero(a, axis=axes(a, dim)),
    "aminmax": lambda a, dim=None, keepdim=False: tuple(f(a, axis=dim, keepdims=keepdim) for f in (np.min, np.max)),
    "std_mean": lambda a, dim=None, keepdim=False, correction=1: (
        np.std(a, axis=dim, ddof=correction, keepdims=keepdim),
        np.mean(a, axis=dim, keepdims=keepdim),
    ),
    "var_mean": lambda a, dim=None, keepdim=False, correction=1: (
        np.var(a, axis=dim, ddof=correction, keepdims=keepdim),
        np.mean(a, axis=dim, keepdims=keepdim),
    ),
    "index_fill": placed,
    "index_copy": placed,
    "take": lambda a, i: a.reshape(-1)[i],
    "put": put,
    "masked_scatter": masked_scatter,
    "scatter_reduce": scatter_reduce,
    "diag_embed": diag_embed,
    "block_diag": block_diag,
    **LINALG,
    "silu": each(lambda x: x / (1 + math.exp(-x))),
    "gelu": lambda a, approximate="none": each(gelu if approximate == "none" else gelu_by_tanh)(a),
    "softplus": lambda a, beta=1.0, threshold=20.0: each(
        lambda x: x if x * beta > threshold else math.log(1 + math.exp(x * beta)) / beta
    )(a),
    "leaky_relu": lambda a, slope=0.01: np.maximum(a, 0) + slope * np.minimum(a, 0),
    "elu": lambda a, alpha=1.0: np.where(a > 0, a, alpha * np.expm1(np.minimum(a, 0))),
    "celu": lambda a, alpha=1.0: np.maximum(a, 0) + np.minimum(0, alpha * (np.exp(a / alpha) - 1)),
    "mish": each(lambda x: x * math.tanh(math.log(1 + math.exp(x)))),
    "log_sigmoid": each(lambda x: -math.log(1 + math.exp(-x))),
    "hardtanh": lambda a, low=-1.0, high=1.0: np.clip(a, low, high),
    "threshold": lambda a, t, value: np.where(a > t, a, value),
    "hardsigmoid": lambda a: np.clip(a / 6 + 0.5, 0, 1),
    "hardswish": lambda a: a * np.clip(a / 6 + 0.5, 0, 1),
    "hardshrink": lambda a, lambd=0.5: np.where(np.abs(a) > lambd, a, 0),
    "softshrink": lambda a, lambd=0.5: np.sign(a) * np.maximum(np.abs(a) - lambd, 0),
    "prelu": lambda a, w: np.maximum(a, 0) + w.reshape((1, -1) + (1,) * (a.ndim - 2)) * np.minimum(a, 0),
    "glu": lambda a, dim=-1: np.split(a, 2, dim)[0] / (1 + np.exp(-np.split(a, 2, dim)[1])),
    "lerp": lambda a, b, w: (1 - w) * a + w * b,
    "addcmul": lambda a, b, c, value=1: a + value * b * c,
    "addcdiv": lambda a, b, c, value=1: a + value * b / c,
    "sort": sort,
    "topk": topk,
    "median": lambda a: np.sort(a, axis=None)[(a.size - 1) // 2],
    "roll": lambda a, shifts, dims: np.roll(a, shifts, dims),
    "scatter": scatter,
    "index_add": index_add,
    "add": each(lambda x, y: x + y),
    "sub": each(lambda x, y: x - y),
    "mul": each(lambda x, y: x * y),
    "div": each(lambda x, y: x / y),
    "floor_divide": each(lambda x, y: math.floor(x / y)),
    "div_floor": each(lambda x, y: math.floor(x / y)),
    "remainder": each(lambda x, y: x % y),
    "fmod": each(math.fmod),
    "neg": each(lambda x: -x),
    "reciprocal": each(lambda x: 1 / x),
    "square": each(lambda x: x * x),
    "exp": each(math.exp),
    "exp2": each(lambda x: 2**x),
    "expm1": each(math.expm1),
    "log": each(math.log),
    "log2": each(math.log2),
    "log10": each(math.log10),
    "log1p": each(math.log1p),
    "sqrt": each(math.sqrt),
    "rsqrt": each(lambda x: x**-0.5),
    "sin": each(math.sin),
    "cos": each(math.cos),
    "tan": each(math.tan),
    "asin": each(math.asin),
    "acos": each(math.acos),
    "atan": each(math.atan),
    "sinh": each(math.sinh),
    "cosh": each(math.cosh),
    "tanh": each(math.tanh),
    "erf": each(math.erf),
    "sigmoid": each(lambda x: 1 / (1 + math.exp(-x))),
    "relu": each(lambda x: max(x, 0.0)),
    "abs": each(lambda x: math.copysign(x, 1.0)),
    "sign": each(lambda x: float((x > 0) - (x < 0))),
    "floor": each(math.floor),
    "ceil": each(math.ceil),
    "round": each(round),
    "trunc": each(math.trunc),
    "maximum": each(max),
    "minimum": each(min),
    "clamp": lambda a, min=None, max=None: np.clip(a, min, max),
    "where": lambda c, a, b: c * a + ~c * b,
    "masked_fill": lambda a, m, v: ~m * a + m * v,
    "sum": reduction(np.sum),
    "mean": reduction(np.mean),
    "prod": reduction(np.prod),
    "amax": reduction(np.max),
    "amin": reduction(np.min),
    "all": reduction(np.all),
    "any": reduction(np.any),
    "var": spread(np.var),
    "std": spread(np.std),
    "argmax": lambda a, dim=None, keepdim=False: np.argmax(a, axis=dim, keepdims=keepdim),
    "argmin": lambda a, dim=None, keepdim=False: np.argmin(a, axis=dim, keepdims=keepdim),
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "vector_norm": lambda a, dim=None, p=2, keepdim=False: (np.abs(a) ** p).sum(dim, keepdims=keepdim) ** (1 / p),
    "logsumexp": lambda a, dim, keepdim=False: np.log(np.exp(a).sum(axes(a, dim), keepdims=keepdim)),
    "softmax": softmax,
    "log_softmax": lambda a, dim: np.log(softmax(a, dim)),
    "mm": lambda a, b: np.einsum("ij,jk->ik", a, b),
    "mv": lambda a, b: np.einsum("ij,j->i", a, b),
    "dot": lambda a, b: np.einsum("i,i->", a, b),
    "bmm": lambda a, b: np.einsum("bij,bjk->bik", a, b),
    "matmul": np.matmul,
    "linear": lambda x, w, b: np.einsum("...i,oi->...o", x, w) + b,
    "addmm": lambda c, a, b, beta=1, alpha=1: beta * c + alpha * np.einsum("ij,jk->ik", a, b),
    "mse_loss": mse,
    "nll_loss": nll,
    "cat": lambda parts, dim=0: np.concatenate(parts, dim),
    "stack": lambda parts, dim=0: np.stack(parts, dim),
    "flip": lambda a, dims: np.flip(a, dims),
    "transpose": np.swapaxes,
    "permute": np.transpose,
    "tril": np.tril,
    "triu": np.triu,
    "gather": lambda a, dim, index: np.take_along_axis(a, index, dim),
    "index_select": lambda a, dim, index: np.take(a, index, dim),
}
REFERENCES |= {
    "acosh": each(math.acosh),
    "asinh": each(math.asinh),
    "atanh": each(math.atanh),
    "atan2": each(math.atan2),
    "hypot": each(math.hypot),
    "copysign": each(math.copysign),
    "nextafter": each(math.nextafter),
    "ldexp": each(lambda x, y: x * 2.0**y),
    "logaddexp": each(lambda x, y: math.log(math.exp(x) + math.exp(y))),
    "logaddexp2": each(lambda x, y: math.log2(2**x + 2**y)),
    "fmax": each(max),
    "fmin": each(min),
    "frac": each(lambda x: math.fmod(x, 1)),
    "frexp": lambda a: tuple(each(lambda x, i=i: math.frexp(x)[i])(a) for i in (0, 1)),
    "deg2rad": each(math.radians),
    "rad2deg": each(math.degrees),
    "sinc": each(lambda x: math.sin(math.pi * x) / (math.pi * x)),
    "signbit": each(lambda x: math.copysign(1, x) < 0),
    "sgn": lambda a: a / np.abs(a),
    "gcd": each(math.gcd),
    "lcm": each(math.lcm),
    "bitwise_left_shift": each(lambda x, y: x << y),
    "bitwise_right_shift": each(lambda x, y: x >> y),
    "erfc": each(math.erfc),
    "erfcx": each(lambda x: math.exp(x * x) * math.erfc(x)),
    "lgamma": each(math.lgamma),
    "ndtr": each(statistics.NormalDist().cdf),
    "ndtri": each(statistics.NormalDist().inv_cdf),
    "log_ndtr": each(lambda x: math.log(statistics.NormalDist().cdf(x))),
    "erfinv": each(lambda x: statistics.NormalDist().inv_cdf((x + 1) / 2) / math.sqrt(2)),
    "entr": each(lambda x: -x * math.log(x)),
    "xlogy": each(lambda x, y: x * math.log(y)),
    "xlog1py": each(lambda x, y: x * math.log1p(y)),
    "igamma": each(lambda a, x: integral(lambda t: (x * t) ** (a - 1) * math.exp(-x * t) * x, 1) / math.gamma(a)),
    "bessel_j0": each(lambda x: around(lambda t: math.cos(x * math.sin(t)))),
    "bessel_j1": each(lambda x: around(lambda t: math.cos(t - x * math.sin(t)))),
    "i0": each(lambda x: around(lambda t: math.exp(x * math.cos(t)))),
    "i1": each(lambda x: around(lambda t: math.exp(x * math.cos(t)) * math.cos(t))),
    "i0e": each(lambda x: around(lambda t: math.exp(x * math.cos(t) - abs(x)))),
    "i1e": each(lambda x: around(lambda t: math.exp(x * math.cos(t) - abs(x)) * math.cos(t))),
    "modified_bessel_k0": each(lambda x: integral(lambda t: math.exp(-x * math.cosh(t)), 8)),
    "modified_bessel_k1": each(lambda x: integral(lambda t: math.exp(-x * math.cosh(t)) * math.cosh(t), 8)),
    "spherical_bessel_j0": each(lambda x: math.sin(x) / x),
    "polar": lambda size, angle: size * np.exp(1j * angle),
    "complex": lambda real, imag: real + 1j * imag,
    "conj_physical": lambda a: a.real - 1j * a.imag,
    "view_as_real": lambda a: np.stack([a.real, a.imag], -1),
    "view_as_complex": lambda a: a[..., 0] + 1j * a[..., 1],
}
