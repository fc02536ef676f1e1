"""An optimizer at work on other parameters, with another state, for a while."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from tensorlab.optim.optimizer import Group, Optimizer

_NAME = "swap_in_optimizer_params_and_state"


@contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: dict[str, Any], swapin_optim_state: dict[str, Any]
) -> Iterator[None]:
    """Let ``optimizer`` work on other parameters inside a ``with``, from a state and options shaped as its ``state_dict()``.

    The parameters come in the order of the optimizer's. What steps write into them and into the tensors of the state is
    there afterwards; the optimizer itself is as it was before. Raises ``RuntimeError`` for an optimizer that has no state
    yet, and for what does not fit it.
    """
    kept, plans = _checked(optimizer, swapin_parameters, swapin_optim_state)
    state, before = optimizer.state, [dict(group) for group in optimizer.param_groups]
    try:
        other: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        for group, given, params in plans:
            group.update({**given, "params": params})
            for number, p in zip(given["params"], params, strict=True):
                other[p] = dict(kept.get(number, {}))
        optimizer.state = other
        yield
    finally:
        for group, own in zip(optimizer.param_groups, before, strict=True):
            group.clear()
            group.update(own)
        optimizer.state = state


def _checked(
    optimizer: Optimizer, parameters: dict[str, Any], saved: Any
) -> tuple[dict[Any, Any], list[tuple[Group, Group, list[Any]]]]:
    """The saved states by number; and each group, the saved form of it, and the parameters that it is to have."""
    if not optimizer.state:
        raise RuntimeError(f"{_NAME} requires initialized optimizer state: take a step first")
    state, groups = (saved.get(key) if isinstance(saved, dict) else None for key in ("state", "param_groups"))
    if not isinstance(state, dict) or not isinstance(groups, list):
        raise RuntimeError(f"{_NAME} requires a state as optimizer.state_dict() gives it")
    if len(groups) != len(optimizer.param_groups):
        raise RuntimeError(
            "swapin_optim_state has a different number of parameter groups than the live optimizer: "
            f"{len(groups)} and {len(optimizer.param_groups)}"
        )
    waiting = iter(parameters.values())
    plans = []
    for at, (group, given) in enumerate(zip(optimizer.param_groups, groups, strict=True)):
        numbers = given.get("params") if isinstance(given, dict) else None
        if not isinstance(numbers, list) or not all(isinstance(number, int) for number in numbers):
            raise RuntimeError(f"{_NAME} requires param group {at} to list its parameters by number")
        if len(numbers) != len(group["params"]):
            raise RuntimeError(
                f"swapin_optim_state param group {at} has a different number of params than the live optimizer param group"
            )
        if set(given) != set(group):
            raise RuntimeError(
                f"{_NAME} requires the keys of param group {at} to match exactly; these are in one only: "
                f"{sorted(set(given) ^ set(group))}"
            )
        params = list(islice(waiting, len(numbers)))
        if len(params) < len(numbers):
            raise RuntimeError(f"{_NAME} requires as many parameters as the optimizer has, got {len(parameters)}")
        plans.append((group, given, params))
    extra = set(state) - {number for _, given, _ in plans for number in given["params"]}
    if extra:
        raise RuntimeError(
            f"{_NAME} requires a state of parameters in groups only; got extra keys {sorted(extra, key=str)}"
        )
    return state, plans
