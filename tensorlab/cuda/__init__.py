"""GPUs: whether there are any, which one is meant, and waiting for it.

Nothing here fails where CuPy or a GPU is missing, except for asking a GPU to do something: that error says what to install.

>>> import tensorlab as tl
>>> tl.cuda.device_count() > 0 or not tl.cuda.is_available()
True
"""

from __future__ import annotations

from typing import Any

from tensorlab import backend, random
from tensorlab.cuda import amp as amp
from tensorlab.device import device as device_class

__all__ = [
    "current_device", "device_count", "empty_cache", "get_device_name", "get_rng_state", "get_rng_state_all",
    "initial_seed", "is_available", "manual_seed", "manual_seed_all", "memory_allocated", "memory_reserved",
    "seed", "seed_all", "set_rng_state", "set_rng_state_all", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Whether tensors can live on a GPU here. ``False`` where CuPy is not installed."""
    return backend.why_no_gpu() is None


def device_count() -> int:
    """How many GPUs there are. 0 where CuPy is not installed."""
    return backend.gpu().count() if is_available() else 0


def current_device() -> int:
    """The number of the GPU that ``"cuda"`` means. Raises ``RuntimeError`` where there is none."""
    return backend.gpu().current()


def synchronize(device: Any = None) -> None:
    """Wait until a GPU, the current one unless told otherwise, has done all that it was given.

    ``device`` is a ``device``, its name or its number. Raises ``RuntimeError`` where there is none, and ``ValueError`` for the CPU.
    """
    where = device_class("cuda" if device is None else device)
    if where.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {where}")
    backend.gpu(where).synchronize(where.index)


def get_device_name(device: Any = None) -> str:
    """What a GPU, the current one unless told otherwise, is called. Raises ``RuntimeError`` where there is none."""
    where = device_class("cuda" if device is None else device)
    return backend.gpu(where).name_of(where.index)


def empty_cache() -> None:
    """Give GPU memory that no tensor uses back to the system, on the current GPU. Does nothing where there is none."""
    if is_available():
        backend.gpu().empty_cache()


def memory_allocated(device: Any = None) -> int:
    """Bytes that tensors use on a GPU, the current one unless told otherwise; 0 where there is none."""
    return _memory(device)[0]


def memory_reserved(device: Any = None) -> int:
    """Bytes that are taken from the system on a GPU, used by tensors or kept for the next ones; 0 where there is none."""
    return _memory(device)[1]


def _memory(device: Any) -> tuple[int, int]:
    where = device_class("cuda" if device is None else device)
    return backend.gpu(where).memory(where.index) if is_available() else (0, 0)


# ------------------------------------------------------------------- seeds: one generator serves all devices, with or without a GPU


def manual_seed(seed: int) -> None:
    """Start the generator that all devices draw from again from a seed, as ``tensorlab.manual_seed`` does."""
    random.manual_seed(seed)


manual_seed_all = manual_seed


def seed() -> None:
    """Start the generator that all devices draw from from the system's entropy."""
    random.seed()


seed_all = seed


def initial_seed() -> int:
    """The seed of the generator that all devices draw from."""
    return random.initial_seed()


def get_rng_state(device: Any = "cuda") -> Any:
    """Where the generator that all devices draw from stands."""
    return random.get_rng_state()


def get_rng_state_all() -> list[Any]:
    """The same as a list, once for every GPU."""
    return [random.get_rng_state() for _ in range(device_count())]


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Put the generator that all devices draw from where ``get_rng_state`` was called."""
    random.set_rng_state(new_state)


def set_rng_state_all(new_states: Any) -> None:
    """The same from a list, as ``get_rng_state_all`` gives it."""
    for state in new_states:
        random.set_rng_state(state)
