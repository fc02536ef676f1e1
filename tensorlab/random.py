"""Random numbers from NumPy generators, one default generator for the process.

Draws depend on the seed alone, not on the device: tensors on a GPU get the numbers that the host drew. They are not PyTorch's: the
same seed gives other numbers there.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tensorlab import backend, creation, dispatch, dtypes
from tensorlab.device import device as device_class
from tensorlab.functional.arguments import need_tensor

Tensor = Any


class Generator:
    """A source of random numbers with its own state (Philox, from NumPy).

    ``device`` is where the tensors are meant to be that are drawn from it; the numbers are the same everywhere.

    >>> import tensorlab as tl
    >>> g = tl.Generator().manual_seed(3); state = g.get_state(); a = tl.rand(2, generator=g)
    >>> tl.equal(a, tl.rand(2, generator=g.set_state(state)))
    True
    """

    def __init__(self, device: Any = "cpu") -> None:
        self._device = device_class(device)
        self.seed()

    @property
    def device(self) -> device_class:
        """The device that the generator was made for."""
        return self._device

    def manual_seed(self, seed: int) -> Generator:
        """Start again from a seed; any Python int will do, of which 64 bits count."""
        self._seed = int(seed) % 2**64
        self._numpy = np.random.Generator(np.random.Philox(self._seed))
        return self

    def seed(self) -> int:
        """Start again from the system's entropy, and return the seed."""
        found = int(np.random.SeedSequence().entropy % 2**63)  # type: ignore[operator]
        self.manual_seed(found)
        return found

    def initial_seed(self) -> int:
        """The seed that this generator started from."""
        return self._seed

    def get_state(self) -> Tensor:
        """Where the generator stands, as a tensor of bytes, for ``set_state``."""
        state: Any = self._numpy.bit_generator.state
        numbers = [self._seed, *state["state"]["counter"], *state["state"]["key"], *state["buffer"]]
        numbers += [state["buffer_pos"], state["has_uint32"], state["uinteger"]]
        return dispatch.wrap(np.array([int(n) for n in numbers], np.uint64).view(np.uint8))

    def set_state(self, new_state: Tensor) -> Generator:
        """Go back to where ``get_state`` was called. Raises ``TypeError`` for anything but a tensor of bytes."""
        if not isinstance(new_state, dispatch.Tensor):
            raise TypeError(f"expected a tensor of bytes, as get_state() gives it, but got {type(new_state).__name__}")
        if new_state.dtype is not dtypes.uint8:
            raise TypeError(f"RNG state must be a tensor of type uint8, not {new_state.dtype.name}")
        numbers = np.ascontiguousarray(backend.to_host(new_state._a)).reshape(-1)
        if numbers.size != _STATE_BYTES:
            raise RuntimeError(
                f"Expected a state of {_STATE_BYTES} bytes but found the input RNG state size to be {numbers.size}"
            )
        found = numbers.view(np.uint64)
        self.manual_seed(int(found[0]))
        self._numpy.bit_generator.state = {
            "bit_generator": "Philox",
            "state": {"counter": found[1:5], "key": found[5:7]},
            "buffer": found[7:11],
            "buffer_pos": int(found[11]),
            "has_uint32": int(found[12]),
            "uinteger": int(found[13]),
        }
        return self

    def get_offset(self) -> int:
        """Raises ``RuntimeError``: the state is more than a number of draws; see ``get_state``."""
        raise RuntimeError("Generator does not use offset; use get_state()")

    def set_offset(self, offset: int) -> None:
        """Raises ``RuntimeError``: the state is more than a number of draws; see ``set_state``."""
        raise RuntimeError("Generator does not use offset; use set_state()")

    def clone_state(self) -> Generator:
        """A new generator that stands where this one stands."""
        return Generator(self._device).set_state(self.get_state())


_STATE_BYTES = 14 * 8

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


def get_rng_state() -> Tensor:
    """Where the default generator stands, as a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Put the default generator where ``get_rng_state`` was called."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, device_type: str = "cuda") -> Iterator[None]:
    """Leave the default generator after the block as it was before. All devices draw from it, so ``devices`` changes nothing.

    >>> import tensorlab as tl
    >>> _ = tl.manual_seed(0); before = tl.random.get_rng_state()
    >>> with tl.random.fork_rng():
    ...     _ = tl.rand(3)
    >>> tl.equal(before, tl.random.get_rng_state())
    True
    """
    state = default_generator.get_state()
    try:
        yield
    finally:
        if enabled:
            default_generator.set_state(state)


def numpy_generator(generator: Generator | None = None) -> np.random.Generator:
    """NumPy's generator behind one of ours, behind the default one if none is given."""
    if generator is None:
        return default_generator._numpy
    if not isinstance(generator, Generator):
        raise TypeError(f"generator must be a tensorlab.Generator, not {type(generator).__name__}")
    return generator._numpy


def inexact(op: str, dtype: Any) -> dtypes.dtype:
    """A floating-point or complex type, the default one where none is named. Raises ``NotImplementedError`` for others."""
    kind = dtypes.default.float if dtype is None else dtypes.as_dtype(dtype)
    if kind.category < dtypes.FLOAT:
        raise NotImplementedError(f'"{op}" not implemented for {kind.name}; draw floats and convert, or use randint()')
    return kind


def draw(method: str, size: tuple[int, ...], kind: dtypes.dtype, generator: Generator | None) -> np.ndarray:
    """Numbers of NumPy's ``method``; of complex numbers both parts are drawn, normal ones so that the whole has variance 1."""
    source = getattr(numpy_generator(generator), method)
    if kind.is_complex:
        pairs = draw(method, (*size, 2), kind.to_real(), generator)
        pairs *= pairs.dtype.type(np.sqrt(0.5) if method == "standard_normal" else 1)
        return pairs.view(kind.np).reshape(size)
    wide = np.float64 if kind is dtypes.float64 else np.float32
    return creation.allocate(lambda n, t: np.asarray(source(n, t)), size, np.dtype(wide)).astype(kind.np, copy=False)


def rand(
    *sizes: Any, size: Any = None, generator: Generator | None = None, dtype: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Uniform numbers in [0, 1)."""
    found = draw("random", creation.size_of(sizes, "rand", size), inexact("rand", dtype), generator)
    return creation.finish(found, requires_grad, device)


def randn(
    *sizes: Any, size: Any = None, generator: Generator | None = None, dtype: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Normal numbers with mean 0 and deviation 1."""
    found = draw("standard_normal", creation.size_of(sizes, "randn", size), inexact("randn", dtype), generator)
    return creation.finish(found, requires_grad, device)


def _like(
    op: str, input: Tensor, dtype: Any, device: Any, memory_format: Any, requires_grad: bool, make: Any
) -> Tensor:
    """What ``make(shape, dtype)`` draws, laid out like ``input``."""
    need_tensor(op, "input", 1, input)
    kind = input.dtype if dtype is None else dtypes.as_dtype(dtype)
    fresh = creation.empty_like(input, dtype=kind, device="cpu", memory_format=memory_format)
    fresh._a[...] = make(input._a.shape, kind)
    return creation.finish(fresh._a, requires_grad, input.device if device is None else device)


def rand_like(
    input: Tensor, *, generator: Generator | None = None, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Uniform numbers in [0, 1) with the shape, type and order in memory of ``input``."""

    def make(n: Any, kind: Any) -> Any:
        return draw("random", n, inexact("rand_like", kind), generator)

    return _like("rand_like", input, dtype, device, memory_format, requires_grad, make)


def randn_like(
    input: Tensor, *, generator: Generator | None = None, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Normal numbers with the shape, type and order in memory of ``input``."""

    def make(n: Any, kind: Any) -> Any:
        return draw("standard_normal", n, inexact("randn_like", kind), generator)

    return _like("randn_like", input, dtype, device, memory_format, requires_grad, make)


def randint_like(
    input: Tensor, low: Any = None, high: Any = None, *, generator: Generator | None = None, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Integers from ``low`` (0 if left out) up to but not including ``high``, with the shape and type of ``input``."""
    low, high = (0, low) if high is None else (low, high)

    def make(n: Any, kind: Any) -> Any:
        return whole("randint_like", low, high, n, kind, generator)

    return _like("randint_like", input, dtype, device, memory_format, requires_grad, make)


def whole(op: str, low: Any, high: Any, size: Any, kind: dtypes.dtype, generator: Generator | None) -> np.ndarray:
    """Integers in ``[low, high)``. Raises ``RuntimeError`` where there are none, or the type does not hold them all."""
    if high is None:
        raise TypeError(f"{op}() needs a largest value")
    for name, bound in (("low", low), ("high", high)):
        if isinstance(bound, float) or not hasattr(bound, "__index__"):
            raise TypeError(f"{op}(): argument '{name}' must be int, not {type(bound).__name__}")
    low, high = operator.index(low), operator.index(high)
    if not high > low:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    least, largest = _limits(kind)
    for name, bound in (("from", low), ("to - 1", high - 1)):
        if not least <= bound <= largest:
            raise RuntimeError(f"{op}(): {name} is out of bounds for {kind.name}: {bound}")
    return np.asarray(numpy_generator(generator).integers(low, high, size, np.int64)).astype(kind.np)


def _limits(kind: dtypes.dtype) -> tuple[float, float]:
    """The smallest and the largest number of a type."""
    if kind is dtypes.bool_:
        return 0, 1
    if kind.category == dtypes.INTEGER:
        info = dtypes.iinfo(kind)
        return info.min, info.max
    limits = dtypes.finfo(kind)
    return limits.min, limits.max


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
    kind = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    drawn = whole("randint", low, high, creation.size_of((size,), "randint"), kind, generator)
    return creation.finish(drawn, requires_grad, device)


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
