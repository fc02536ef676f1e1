"""Seeds: one generator serves all devices, with or without a GPU."""

from __future__ import annotations

from typing import Any

from tensorlab import random
from tensorlab.cuda.devices import device_count

__all__ = [
    "get_rng_state", "get_rng_state_all", "initial_seed", "manual_seed", "manual_seed_all", "seed", "seed_all", "set_rng_state",
    "set_rng_state_all",
]  # fmt: skip


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
