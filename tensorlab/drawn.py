"""Draws from distributions: new tensors, and in-place forms as methods of ``Tensor``.

Draws are made on the host in float64 where a type is narrower, and rounded once.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tensorlab import backend, creation, dispatch, dtypes
from tensorlab.functional.arguments import a_number, need_tensor
from tensorlab.inplace import write
from tensorlab.ops import ROWS
from tensorlab.random import Generator, draw, inexact, numpy_generator, whole

Tensor = Any


def _beside(input: Tensor, drawn: Any) -> Tensor:
    """A draw as a tensor like ``input``, whose gradient it has: 0, since no draw moves with its odds."""
    found = creation.finish(np.asarray(drawn).astype(input._a.dtype), device=input.device)
    return dispatch.call(ROWS["copy"], (input, found)) if input._live else found


def _floats(op: str, input: Tensor) -> np.ndarray:
    """The values of a floating-point tensor, on the host and in float64."""
    need_tensor(op, "input", 1, input)
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f'"{op}" not implemented for {input.dtype.name}; it takes floating-point numbers')
    return backend.to_host(input._a).astype(np.float64)


def a_real(op: str, name: str, value: Any) -> Any:
    """A real number. Raises ``TypeError`` naming operation and argument for anything else."""
    if isinstance(value := a_number(op, name, value), complex):
        raise TypeError(f"{op}(): argument '{name}' must be a real number, not complex")
    return value


def _odds(p: Any) -> Any:
    """Probabilities on the host. Raises ``RuntimeError`` for anything outside [0, 1]."""
    if isinstance(p, dispatch.Tensor):
        p = _floats("bernoulli_", p)
    else:
        p = a_number("bernoulli_", "p", p)
    if not np.all((np.asarray(p) >= 0) & (np.asarray(p) <= 1)):
        raise RuntimeError(
            f"bernoulli_ expects p to be in [0, 1], but got p={p}: expected probabilities between 0 and 1"
        )
    return p


def bernoulli(input: Tensor, p: Any = None, *, generator: Generator | None = None) -> Tensor:
    """1 with the probability that ``input`` holds, element by element, else 0; with ``p``, a number, with that for all.

    >>> import tensorlab as tl
    >>> tl.bernoulli(tl.tensor([0., 1.]))
    tensor([0., 1.])
    """
    need_tensor("bernoulli", "input", 1, input)
    odds = _odds(input if p is None else p)
    return _beside(input, numpy_generator(generator).random(input._a.shape) < odds)


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Counts of a Poisson process with the expected numbers ``input``, in its type. Raises ``RuntimeError`` for negative ones."""
    rate = _floats("poisson", input)
    if not np.all(rate >= 0):
        raise RuntimeError("poisson(): invalid Poisson rate, expected rate to be non-negative")
    return _beside(input, numpy_generator(generator).poisson(rate))


def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """How many of ``count`` trials succeed, each with probability ``prob``. Both have one floating-point type and broadcast.

    Counts below 1 give 0, and probabilities are limited to [0, 1].
    """
    need_tensor("binomial", "count", 1, count)
    need_tensor("binomial", "prob", 2, prob)
    for name, x in (("count", count), ("prob", prob)):
        if not x.dtype.is_floating_point:
            raise ValueError(f"binomial only supports floating-point dtypes for {name}, got: {x.dtype.name}")
    if count.dtype is not prob.dtype:
        raise RuntimeError(f"binomial(): Found dtype {prob.dtype.name} but expected {count.dtype.name}")
    trials, odds = _floats("binomial", count), _floats("binomial", prob)
    wrong = np.isnan(trials) | np.isnan(odds)
    trials = np.where(wrong, 0, np.maximum(trials, 0)).astype(np.int64)
    drawn = numpy_generator(generator).binomial(trials, np.where(wrong, 0, np.clip(odds, 0, 1)))
    found = np.where(wrong, np.nan, drawn)
    return creation.finish(found.astype(count._a.dtype), device=count.device)


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """``num_samples`` indices, drawn with the weights in ``input``: of a vector, or of every row of a matrix.

    Weights need not sum to 1. Without ``replacement`` no index comes twice. Raises ``RuntimeError`` for negative,
    infinite or missing weights, and where too few are above 0.

    >>> import tensorlab as tl
    >>> tl.multinomial(tl.tensor([0., 3., 0.]), 2, replacement=True)
    tensor([1, 1])
    """
    need_tensor("multinomial", "input", 1, input)
    if not input.dtype.is_floating_point:
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {input.dtype.name}")
    weights, n = _floats("multinomial", input), operator.index(num_samples)
    if weights.ndim not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim, got {weights.ndim}")
    if n <= 0:
        raise RuntimeError(f"cannot sample n_sample <= 0 samples, got {n}")
    if not replacement and n > weights.shape[-1]:
        raise RuntimeError(
            f"cannot sample n_sample > prob_dist.size(-1) samples without replacement: {n} of {weights.shape[-1]}"
        )
    if not np.all(np.isfinite(weights) & (weights >= 0)):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    totals = weights.sum(-1, keepdims=True)
    if not np.all(totals > 0):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement and np.any((weights > 0).sum(-1) < n):
        raise RuntimeError(
            f"invalid multinomial distribution (with replacement=False, not enough non-negative category to sample): {n} samples need "
            f"{n} weights above 0 in every row"
        )
    source, shape = numpy_generator(generator), (*weights.shape[:-1], n)
    if replacement:
        found = _with_replacement(weights / totals, source.random(shape))
    else:  # who comes first in a race of exponential waiting times
        with np.errstate(divide="ignore"):
            times = source.standard_exponential(weights.shape) / weights
        found = np.argsort(times, axis=-1, kind="stable")[..., :n]
    return creation.finish(np.ascontiguousarray(found, np.int64), device=input.device)


def _with_replacement(shares: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The index in whose share of [0, 1) each point lies; never one whose share is 0."""
    ends = np.cumsum(shares, -1)
    last = shares.shape[-1] - 1 - np.argmax(shares[..., ::-1] > 0, axis=-1)
    pairs = zip(ends.reshape(-1, ends.shape[-1]), points.reshape(-1, points.shape[-1]), strict=True)
    found = np.array([np.searchsorted(e, p, side="right") for e, p in pairs], np.int64).reshape(points.shape)
    return np.minimum(found, last[..., None])  # sums may end just below 1


def normal(
    mean: Any, std: Any = 1.0, size: Any = None, *, generator: Generator | None = None, dtype: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Normal numbers with a mean and a deviation, given as numbers with a size, or as tensors that broadcast.

    Raises ``RuntimeError`` for a negative deviation.

    >>> import tensorlab as tl
    >>> tl.normal(tl.zeros(2, 1), tl.ones(3)).shape
    tensorlab.Size([2, 3])
    """
    _deviation("normal", std)
    mean = mean if isinstance(mean, dispatch.Tensor) else a_number("normal", "mean", mean)
    given = [v for v in (mean, std) if isinstance(v, dispatch.Tensor)]
    if not given:
        if size is None:
            raise TypeError("normal(): give a size when mean and std are numbers")
        kind = inexact("normal", dtype)
        drawn = draw("standard_normal", creation.size_of((size,), "normal"), kind, generator) * std + mean
        return creation.finish(drawn.astype(kind.np), requires_grad, device)
    kind = inexact("normal", given[0].dtype)
    shape = np.broadcast_shapes(*[v._a.shape for v in given])
    drawn = draw("standard_normal", shape, kind, generator)
    low, wide = (backend.to_host(v._a) if isinstance(v, dispatch.Tensor) else v for v in (mean, std))
    found = creation.finish((drawn * wide + low).astype(kind.np), device=given[0].device)
    return dispatch.call(ROWS["copy"], (given[0].expand(shape), found)) if given[0]._live else found


def _deviation(op: str, std: Any) -> None:
    if isinstance(std, dispatch.Tensor):
        if std._a.dtype.kind == "c":
            raise RuntimeError(f"{op} expects standard deviation to be non-complex")
        if not (backend.to_host(std._a) >= 0).all():
            raise RuntimeError(f"{op} expects all elements of std >= 0.0")
    elif not a_real(op, "std", std) >= 0:
        raise RuntimeError(f"{op} expects std >= 0.0, but found std {std}")


# ------------------------------------------------------------------------------------------- in place, as Tensor methods


def _refill(x: Tensor, op: str, values: Any) -> Tensor:
    return write(ROWS["copy"], x, dispatch.wrap(np.asarray(values).astype(x._a.dtype)), op=op)


def _continuous(x: Tensor, op: str, *, complex: bool = False) -> None:
    """Refuse types that hold no fractions."""
    kind = x.dtype
    if not (kind.is_floating_point or (complex and kind.is_complex)):
        raise NotImplementedError(
            f'"{op}" not implemented for {kind.name}: the distribution is continuous, so draw into a floating-point tensor'
        )


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with normal numbers. Raises ``RuntimeError`` for a negative ``std``. Returns the tensor."""
    _deviation("normal_", std)
    _continuous(self, "normal_", complex=True)
    return _refill(self, "normal_", draw("standard_normal", self._a.shape, _wide(self), generator) * std + mean)


def uniform_(self: Tensor, a: float = 0.0, b: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with uniform numbers in [a, b). Raises ``RuntimeError`` when ``a > b``. Returns the tensor."""
    a, b = a_real("uniform_", "from", a), a_real("uniform_", "to", b)
    if a > b:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={a} > to={b}")
    _continuous(self, "uniform_", complex=True)
    corner = a * (1 + 1j) if self._a.dtype.kind == "c" else a
    return _refill(self, "uniform_", draw("random", self._a.shape, _wide(self), generator) * (b - a) + corner)


def _wide(x: Tensor) -> dtypes.dtype:
    return dtypes.complex128 if x._a.dtype.kind == "c" else dtypes.float64


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with 1 with probability ``p``, a number or a tensor, else 0. Returns the tensor."""
    return _refill(self, "bernoulli_", numpy_generator(generator).random(self._a.shape) < _odds(p))


def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with waiting times for events that come ``lambd`` times a unit, never 0. Returns the tensor."""
    if not a_real("exponential_", "lambd", lambd) > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    _continuous(self, "exponential_")
    times = draw("standard_exponential", self._a.shape, dtypes.float64, generator) / lambd
    return _refill(self, "exponential_", np.maximum(times, dtypes.finfo(self.dtype).tiny))


def cauchy_(self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers of a Cauchy distribution of half width ``sigma`` around ``median``. Returns the tensor."""
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    _continuous(self, "cauchy_")
    with np.errstate(over="ignore"):
        return _refill(self, "cauchy_", numpy_generator(generator).standard_cauchy(self._a.shape) * sigma + median)


def log_normal_(self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with exponentials of normal numbers of that mean and deviation. Returns the tensor."""
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    _continuous(self, "log_normal_")
    with np.errstate(over="ignore"):
        normal = draw("standard_normal", self._a.shape, dtypes.float64, generator) * std + mean
        return _refill(self, "log_normal_", np.exp(normal))


def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fill with the number of the first trial, from 1, that succeeds with probability ``p``. Returns the tensor."""
    if not 0 < a_real("geometric_", "p", p) < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    if self._a.dtype.kind not in "iufV":
        raise NotImplementedError(
            f'"geometric_" not implemented for {self.dtype.name}; it gives whole numbers from 1 on'
        )
    return _refill(self, "geometric_", numpy_generator(generator).geometric(p, self._a.shape))


def random_(self: Tensor, *bounds: int, generator: Generator | None = None, **named: Any) -> Tensor:
    """Fill with integers: ``random_(from, to)`` up to but not including ``to``, ``random_(to)`` from 0 on.

    Without bounds: all that the type holds from 0 on; for floating point, from 0 to the last of the integers that have no gaps.
    Returns the tensor.
    """
    low, high = named.pop("from", None), named.pop("to", None)
    if named:
        raise TypeError(f"random_() got an unexpected keyword argument {next(iter(named))!r}")
    given = [*bounds, *[v for v in (low, high) if v is not None]]
    if len(given) > 2:
        raise TypeError(f"random_() takes at most 2 bounds, 'from' and 'to', but {len(given)} were given")
    if self._a.dtype.kind == "c":
        raise NotImplementedError(f'"random_" not implemented for {self.dtype.name}')
    low, high = given if len(given) == 2 else (0, given[0] if given else _beyond(self.dtype))
    return _refill(self, "random_", whole("random_", low, high, self._a.shape, self.dtype, generator))


def _beyond(kind: dtypes.dtype) -> int:
    """The first integer after those that a type holds without gaps."""
    if kind.category == dtypes.BOOL:
        return 2
    if kind.category == dtypes.INTEGER:
        return int(min(dtypes.iinfo(kind).max, 2**63 - 2)) + 1
    return int(2 / dtypes.finfo(kind).eps) + 1


METHODS = (
    normal_,
    uniform_,
    bernoulli_,
    exponential_,
    cauchy_,
    log_normal_,
    geometric_,
    random_,
    bernoulli,
    multinomial,
)
