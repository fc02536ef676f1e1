"""Random numbers from NumPy generators, one default generator for the process.

Draws depend on the seed alone, not on the device: tensors on a GPU get the numbers that the host drew. They are not PyTorch's: the
same seed gives other numbers there.
"""

from __future__ import annotations

import operator
import threading
from typing import Any

import numpy as np

from tensorlab import backend, creation, dispatch, dtypes, modes
from tensorlab.functional.arguments import need_tensor
from tensorlab.inplace import write
from tensorlab.ops import ROWS

Tensor = Any


class Generator:
    """A source of random numbers with its own state (Philox, from NumPy)."""

    def __init__(self, device: Any = "cpu") -> None:
        self._lock = threading.Lock()
        self.seed()

    def manual_seed(self, seed: int) -> Generator:
        """Start again from a seed; any Python int will do."""
        self._seed = int(seed)
        self._numpy = np.random.Generator(np.random.Philox(self._seed % 2**64))
        return self

    def seed(self) -> int:
        """Start again from the system's entropy, and return the seed."""
        found = int(np.random.SeedSequence().entropy % 2**63)  # type: ignore[operator]
        self.manual_seed(found)
        return found

    def initial_seed(self) -> int:
        """The seed that this generator started from."""
        return self._seed

    def get_state(self) -> dict[str, Any]:
        """Where the generator stands, for ``set_state``."""
        return {"seed": self._seed, "state": self._numpy.bit_generator.state}

    def set_state(self, state: dict[str, Any]) -> Generator:
        """Go back to where ``get_state`` was called."""
        self._seed = state["seed"]
        self._numpy.bit_generator.state = state["state"]
        return self


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Start the default generator again from a seed; the same seed gives the same draws.

    >>> import tensorlab as tl
    >>> _ = tl.manual_seed(0); a = tl.rand(3)
    >>> _ = tl.manual_seed(0); tl.equal(a, tl.rand(3))
    True
    """
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Start the default generator from the system's entropy, and return the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the default generator."""
    return default_generator.initial_seed()


def get_rng_state() -> dict[str, Any]:
    """Where the default generator stands."""
    return default_generator.get_state()


def set_rng_state(state: dict[str, Any]) -> None:
    """Put the default generator where ``get_rng_state`` was called."""
    default_generator.set_state(state)


def numpy_generator(generator: Generator | None = None) -> np.random.Generator:
    """NumPy's generator behind one of ours, behind the default one if none is given."""
    return (generator or default_generator)._numpy


def _float(dtype: Any, op: str) -> dtypes.dtype:
    kind = dtypes.default.float if dtype is None else dtypes.as_dtype(dtype)
    if not kind.is_floating_point:
        raise RuntimeError(f'"{op}" not implemented for {kind.name}; draw floats and convert, or use randint()')
    return kind


def _draw(method: str, size: tuple[int, ...], kind: dtypes.dtype, generator: Generator | None) -> np.ndarray:
    source = getattr(numpy_generator(generator), method)
    wide = np.float64 if kind is dtypes.float64 else np.float32
    return creation.allocate(lambda n, t: source(n, t), size, np.dtype(wide)).astype(kind.np, copy=False)


def rand(
    *sizes: Any, size: Any = None, generator: Generator | None = None, dtype: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Uniform numbers in [0, 1)."""
    return creation.finish(
        _draw("random", creation.size_of(sizes, "rand", size), _float(dtype, "rand"), generator), requires_grad, device
    )


def randn(
    *sizes: Any, size: Any = None, generator: Generator | None = None, dtype: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Normal numbers with mean 0 and deviation 1."""
    found = _draw("standard_normal", creation.size_of(sizes, "randn", size), _float(dtype, "randn"), generator)
    return creation.finish(found, requires_grad, device)


def rand_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Uniform numbers in [0, 1) with the shape and type of ``input``."""
    need_tensor("rand_like", "input", 1, input)
    return rand(input._a.shape, dtype=dtype or input.dtype, device=device or input.device, requires_grad=requires_grad)


def randn_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Normal numbers with the shape and type of ``input``."""
    need_tensor("randn_like", "input", 1, input)
    return randn(input._a.shape, dtype=dtype or input.dtype, device=device or input.device, requires_grad=requires_grad)


def randint(
    low: Any = None, high: Any = None, size: Any = None, *, generator: Generator | None = None, dtype: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Integers from ``low`` (0 if left out) up to but not including ``high``."""
    if size is None:
        low, high, size = 0, low, high
    low = 0 if low is None else low
    if size is None or high is None:
        raise TypeError("randint() needs a largest value and a size: randint(high, size) or randint(low, high, size)")
    for name, bound in (("low", low), ("high", high)):
        if isinstance(bound, float) or not hasattr(bound, "__index__"):
            raise TypeError(f"randint(): argument '{name}' must be int, not {type(bound).__name__}")
    low, high = operator.index(low), operator.index(high)
    if not high > low:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    kind = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    drawn = numpy_generator(generator).integers(low, high, creation.size_of((size,), "randint"), np.int64)
    return creation.finish(np.asarray(drawn).astype(kind.np), requires_grad, device)


def randperm(
    n: int, *, generator: Generator | None = None, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The numbers 0 to ``n - 1`` in random order."""
    if not hasattr(n, "__index__"):
        raise TypeError(f"randperm(): argument 'n' (position 1) must be int, not {type(n).__name__}")
    if n < 0:
        raise RuntimeError(f"randperm(): n must be non-negative, got {n}")
    kind = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    return creation.finish(numpy_generator(generator).permutation(n).astype(kind.np), requires_grad, device)


def bernoulli(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """1 with the probability that ``input`` holds, else 0, element by element."""
    need_tensor("bernoulli", "input", 1, input)
    odds = backend.to_host(input._a)
    _probabilities(odds)
    drawn = numpy_generator(generator).random(odds.shape) < odds
    return creation.finish(np.asarray(drawn).astype(odds.dtype), device=input.device)


def _probabilities(p: Any) -> None:
    if not np.all((p >= 0) & (p <= 1)):
        raise RuntimeError("bernoulli(): expected probabilities between 0 and 1")


def normal(
    mean: Any, std: Any = 1.0, size: Any = None, *, generator: Generator | None = None, dtype: Any = None
) -> Tensor:
    """Normal numbers with a mean and a deviation, given as numbers with a size, or as tensors."""
    if size is None:
        shapes = [v._a.shape for v in (mean, std) if isinstance(v, dispatch.Tensor)]
        if not shapes:
            raise TypeError("normal(): give a size when mean and std are numbers")
        size = np.broadcast_shapes(*shapes)
    if not isinstance(std, dispatch.Tensor) and std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    where = next((v.device for v in (mean, std) if isinstance(v, dispatch.Tensor)), None)
    drawn = randn(size, generator=generator, dtype=dtype, device=where)
    with modes.no_grad():
        return drawn * std + mean


# ------------------------------------------------------------------------------------------- in place, as Tensor methods


def _refill(x: Tensor, op: str, draw: Any) -> Tensor:
    kind = dtypes.of(x._a.dtype)
    if not kind.is_floating_point:
        raise RuntimeError(f'"{op}" not implemented for {kind.name}; draw into a floating-point tensor')
    fresh = dispatch.wrap(np.asarray(draw(x._a.shape)).astype(kind.np))
    return write(ROWS["copy"], x, fresh, op=op)


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with normal numbers. Raises ``RuntimeError`` for a negative ``std``."""
    if std < 0:
        raise RuntimeError(f"normal_ expects std >= 0.0, but found std {std}")
    return _refill(self, "normal_", lambda n: numpy_generator(generator).standard_normal(n) * std + mean)


def uniform_(self: Tensor, a: float = 0.0, b: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with uniform numbers in [a, b). Raises ``RuntimeError`` when ``a > b``."""
    if a > b:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={a} > to={b}")
    return _refill(self, "uniform_", lambda n: numpy_generator(generator).random(n) * (b - a) + a)


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with 1 with probability ``p``, else 0."""
    odds = backend.to_host(p._a) if isinstance(p, dispatch.Tensor) else p
    _probabilities(np.asarray(odds))
    drawn = np.asarray(numpy_generator(generator).random(self._a.shape) < odds).astype(self._a.dtype)
    return write(ROWS["copy"], self, dispatch.wrap(drawn), op="bernoulli_")
