"""``LRScheduler``: counts steps and writes learning rates into the groups of an optimizer."""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any

from tensorlab.optim.optimizer import Optimizer
from tensorlab.tensor import Tensor

EPOCH_GIVEN = "The epoch parameter in `scheduler.step()` is not needed: `scheduler.step()` counts by itself."


class LRScheduler:
    """The base of schedules. A subclass defines ``get_lr``: the rates of all groups at step ``last_epoch``.

    The rate that a group has is what the next one is computed from, so schedules of one optimizer add up. ``last_epoch``
    other than -1 goes on from there; groups must then have ``initial_lr``, or a ``KeyError`` says so.
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        need_optimizer(optimizer)
        self.optimizer = optimizer
        for at, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{at}] when resuming scheduler with last_epoch "
                    ">= 0: load the optimizer's state first, or start with last_epoch=-1"
                )
        self.base_lrs = [copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_lr(self) -> list[Any]:
        """The rates of all groups at this step; every schedule says them. ``get_last_lr()`` tells them to users."""
        raise NotImplementedError(f"{type(self).__name__} has no get_lr()")

    def get_last_lr(self) -> list[Any]:
        """The rates that the last step set, one a group."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go one step on, or to ``epoch``. Call it after ``optimizer.step()``: the other order skips the first rate, and is
        warned of.
        """
        if self._step_count == 1 and not self.optimizer._opt_called:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. Call them in the opposite order: "
                "`optimizer.step()` before `lr_scheduler.step()`; otherwise the first value of the learning rate schedule "
                "is skipped.",
                UserWarning,
                stacklevel=2,
            )
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_GIVEN, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        with self._inside_step():
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            closed = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
            self._set(self.get_lr() if closed is None else closed())

    @contextmanager
    def _inside_step(self) -> Any:
        self._get_lr_called_within_step = True
        try:
            yield
        finally:
            self._get_lr_called_within_step = False

    def _set(self, rates: Sequence[Any]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            write_rate(group, rate)
        self._last_lr = self._rates()

    def _rates(self) -> list[Any]:
        """The rates that the groups have now."""
        return rates_of(self.optimizer)

    def _warn_if_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer, by attribute."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a saved state. Load the optimizer's too: the rates are in there."""
        self.__dict__.update(state_dict)


def need_optimizer(optimizer: Any) -> None:
    """``TypeError`` for what is no optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def copied(value: Any) -> Any:
    """A number as it is; a tensor as a copy, since rates are written into tensors."""
    return value.detach().clone() if isinstance(value, Tensor) else value


def rates_of(optimizer: Optimizer) -> list[Any]:
    """The rates that the groups of an optimizer have now."""
    return [copied(group["lr"]) for group in optimizer.param_groups]


def write_rate(group: dict[str, Any], rate: Any) -> None:
    """Give a group another rate; one that is a tensor stays the same tensor."""
    if isinstance(group["lr"], Tensor):
        group["lr"].detach().fill_(float(rate))
    else:
        group["lr"] = rate


def one_a_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """A value for each group, from one for all or a list of them."""
    groups = optimizer.param_groups
    if isinstance(value, (list, tuple)):
        if len(value) != len(groups):
            raise ValueError(
                f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, "
                f"param_groups has {len(groups)}."
            )
        return [copied(item) for item in value]
    return [copied(value) for _ in groups]


def saved_function(function: Callable[..., Any] | None) -> dict[str, Any] | None:
    """What can be saved of a user's function: the attributes of an object that is callable, nothing of a plain one."""
    plain = function is None or isinstance(function, (types.FunctionType, types.BuiltinFunctionType))
    return None if plain else dict(vars(function))
