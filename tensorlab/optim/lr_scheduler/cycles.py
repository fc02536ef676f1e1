"""Schedules that move rate and momentum against each other, step by step of a batch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tensorlab.optim.lr_scheduler.schedule import (
    LRScheduler,
    need_optimizer,
    one_a_group,
    saved_function,
    write_rate,
)
from tensorlab.optim.optimizer import Optimizer


class _Cycle(LRScheduler):
    """A schedule that also cycles the momentum, or the first beta."""

    cycle_momentum: bool
    use_beta1: bool

    def _begin_momentum(self, base: Any, most: Any, last_epoch: int) -> tuple[list[Any], list[Any]]:
        """The lower and upper momentum of each group, which are noted there."""
        defaults = self.optimizer.defaults
        if "momentum" not in defaults and "betas" not in defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in defaults
        lows = one_a_group("base_momentum", self.optimizer, base)
        highs = one_a_group("max_momentum", self.optimizer, most)
        if last_epoch == -1:
            for low, high, group in zip(lows, highs, self.optimizer.param_groups, strict=True):
                self._set_momentum(group, high)
                group["max_momentum"] = high
                group["base_momentum"] = low
        return lows, highs

    def _set_momentum(self, group: dict[str, Any], momentum: Any) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_Cycle):
    """Up from ``base_lr`` to ``max_lr`` in ``step_size_up`` steps and down in ``step_size_down``, again and again.

    ``mode``: ``"triangular"`` keeps the height, ``"triangular2"`` halves it every cycle, ``"exp_range"`` multiplies it by
    ``gamma`` every step; ``scale_fn`` of the cycle's number or of the step's (``scale_mode``) replaces it. With
    ``cycle_momentum`` the momentum goes the other way, between ``max_momentum`` and ``base_momentum``. Source: Smith,
    2015.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.8,
        max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ) -> None:
        need_optimizer(optimizer)
        self.optimizer = optimizer
        rates = one_a_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for rate, group in zip(rates, optimizer.param_groups, strict=True):
                write_rate(group, rate)
        self.max_lrs = one_a_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(f"mode is invalid and scale_fn is None: got mode {mode!r}")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._begin_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = rates

    def scale_fn(self, x: float) -> float:
        """The height of a cycle, as a share of the first one's."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "exp_range":
            return self.gamma**x
        return 1 / 2.0 ** (x - 1) if self.mode == "triangular2" else 1.0

    def get_lr(self) -> list[Any]:
        """The rates of all groups at this step; sets their momentum too."""
        self._warn_if_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            bounds = zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups, strict=True)
            for low, high, group in bounds:
                self._set_momentum(group, high - (high - low) * height * scale)
        return [low + (high - low) * height * scale for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer. Of ``scale_fn`` only the attributes of a callable object are saved."""
        return {**super().state_dict(), "_scale_fn_custom": saved_function(self._scale_fn_custom)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a saved state; a plain ``scale_fn`` stays, a callable object gets its attributes."""
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_scale_fn_custom"})
        if state_dict["_scale_fn_custom"] is not None:
            vars(self._scale_fn_custom).update(state_dict["_scale_fn_custom"])


class OneCycleLR(_Cycle):
    """From ``max_lr / div_factor`` up to ``max_lr`` in ``pct_start`` of all steps, then down to a ``final_div_factor``-th of
    the first rate.

    The number of steps is ``total_steps``, or ``epochs * steps_per_epoch``. ``three_phase`` goes down to the first rate as
    long as it went up, and from there to the last. ``anneal_strategy`` is ``"cos"`` or ``"linear"``. With
    ``cycle_momentum`` the momentum goes the other way. Source: Smith and Topin, 2017.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Any,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.85,
        max_momentum: Any = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        need_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _number_of_steps(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        for rate, group in zip(one_a_group("max_lr", optimizer, max_lr), optimizer.param_groups, strict=True):
            if last_epoch == -1:
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates of all groups at this step; sets their momentum too. Raises ``ValueError`` after the last step."""
        self._warn_if_outside_step()
        if self.last_epoch > self.total_steps:
            raise ValueError(
                f"Tried to step {self.last_epoch} times. The specified number of total steps is {self.total_steps}"
            )
        start, phase = 0.0, self._schedule_phases[-1]
        for phase in self._schedule_phases[:-1]:
            if self.last_epoch <= phase["end_step"]:
                break
            start = phase["end_step"]
        else:
            phase = self._schedule_phases[-1]
        done = (self.last_epoch - start) / (phase["end_step"] - start)
        groups = self.optimizer.param_groups
        if self.cycle_momentum:
            for group in groups:
                ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, self._between(*ends, done))
        return [self._between(group[phase["start_lr"]], group[phase["end_lr"]], done) for group in groups]

    def _between(self, start: Any, end: Any, done: float) -> Any:
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * done) + 1)
        return (end - start) * done + start


def _number_of_steps(total: int | None, epochs: int | None, per_epoch: int | None) -> int:
    if total is not None:
        given = {"total_steps": total}
    elif epochs is not None and per_epoch is not None:
        given = {"epochs": epochs, "steps_per_epoch": per_epoch}
    else:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, value in given.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return math.prod(given.values())


def _phases(steps: int, share: float, three: bool) -> list[dict[str, Any]]:
    """Where each phase ends, and the names of the rates and momenta at its ends."""
    keys = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
    up = (float(share * steps) - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")
    if three:
        rest = [
            (float(2 * share * steps) - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
            (steps - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
        ]
    else:
        rest = [(steps - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
    return [dict(zip(keys, phase, strict=True)) for phase in [up, *rest]]
