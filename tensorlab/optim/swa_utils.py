"""Averages of models along the way: stochastic weight averaging, and exponential moving averages."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from typing import Any

from tensorlab import creation, dtypes, modes
from tensorlab.nn.modules.module import Module
from tensorlab.optim.lr_scheduler.schedule import LRScheduler, one_a_group
from tensorlab.optim.optimizer import Optimizer

__all__ = [
    "AveragedModel",
    "SWALR",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

#: ``f(average, current, how many were averaged)``: the new average.
Average = Callable[[Any, Any, Any], Any]
#: The same for lists of tensors, in place.
Averages = Callable[[list[Any], list[Any], Any], None]


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """An exponential moving average: ``decay * average + (1 - decay) * current``."""
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")

    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        with modes.no_grad():
            return ema_param * decay + current_param * (1 - decay)

    return ema_update


def get_swa_avg_fn() -> Average:
    """The mean of all values so far: ``average + (current - average) / (n + 1)``."""

    def swa_update(averaged_param: Any, current_param: Any, num_averaged: Any) -> Any:
        with modes.no_grad():
            return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def _for_lists(average: Average) -> Averages:
    def update(averaged: list[Any], current: list[Any], num_averaged: Any) -> None:
        with modes.no_grad():
            for mean, value in zip(averaged, current, strict=True):
                mean.copy_(average(mean, value, num_averaged))

    return update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Averages:
    """An exponential moving average of lists of tensors, in place."""
    return _for_lists(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> Averages:
    """The mean of all values so far, of lists of tensors, in place."""
    return _for_lists(get_swa_avg_fn())


class AveragedModel(Module):
    """A copy of a model that holds averages of its parameters.

    ``update_parameters(model)`` takes in the present values: the first time as they are, then by ``avg_fn`` (one tensor) or
    ``multi_avg_fn`` (lists, in place), the plain mean unless given. Buffers are copied, or averaged too with
    ``use_buffers``.
    """

    n_averaged: Any

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Averages | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", creation.tensor(0, dtype=dtypes.int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged model computes."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the present values of ``model`` into the average."""
        with modes.no_grad():
            averaged, current = _tensors(self.module, self.use_buffers), _tensors(model, self.use_buffers)
            current = [value.to(mean.device) for mean, value in zip(averaged, current, strict=True)]
            count = self.n_averaged
            if count == 0:
                for mean, value in zip(averaged, current, strict=True):
                    mean.copy_(value)
            elif self.avg_fn is not None:
                for mean, value in zip(averaged, current, strict=True):
                    mean.copy_(self.avg_fn(mean, value, count.to(mean.device)))
            else:
                update = self.multi_avg_fn or get_swa_multi_avg_fn()
                for means, values in _by_kind(averaged, current):
                    update(means, values, count.to(means[0].device))
            if not self.use_buffers:
                for mine, theirs in zip(self.module.buffers(), model.buffers(), strict=True):
                    mine.detach().copy_(theirs.detach())
            self.n_averaged += 1


def _tensors(model: Module, buffers: bool) -> list[Any]:
    found = [*model.parameters(), *(model.buffers() if buffers else [])]
    return [x.detach() for x in found]


def _by_kind(averaged: list[Any], current: list[Any]) -> Iterable[tuple[list[Any], list[Any]]]:
    """The lists in parts of one device and type each."""
    parts: dict[Any, tuple[list[Any], list[Any]]] = {}
    for mean, value in zip(averaged, current, strict=True):
        means, values = parts.setdefault((mean.device, mean.dtype), ([], []))
        means.append(mean)
        values.append(value)
    return parts.values()


def _is_batch_norm(module: Module) -> bool:
    return any("BatchNorm" in kind.__name__ for kind in type(module).__mro__)


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of all batch norms of ``model`` again, in one pass over ``loader``.

    Of a batch that is a list or a tuple the first part is taken. The model's training mode is put back afterwards.
    """
    norms: list[Any] = [module for module in model.modules() if _is_batch_norm(module)]
    if not norms:
        return
    momenta = [module.momentum for module in norms]
    training = model.training
    model.train()
    try:
        for module in norms:
            module.reset_running_stats()
            module.momentum = None  # the mean of all batches
        with modes.no_grad():
            for batch in loader:
                x = batch[0] if isinstance(batch, (list, tuple)) else batch
                model(x if device is None else x.to(device))
    finally:
        for module, momentum in zip(norms, momenta, strict=True):
            module.momentum = momentum
        model.train(training)


class SWALR(LRScheduler):
    """From the rate that a group has to ``swa_lr`` in ``anneal_epochs`` steps, along a cosine or a line, and then constant.

    Source: Izmailov and others, 2018.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for rate, group in zip(one_a_group("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates of all groups at this step."""
        self._warn_if_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._way(step - 1), self._way(step)
        rates = []
        for group in self.optimizer.param_groups:
            target = group["swa_lr"]
            start = target if before == 1 else (group["lr"] - before * target) / (1 - before)
            rates.append(target * now + start * (1 - now))
        return rates

    def _way(self, step: int) -> float:
        """Which part of the way is done after some steps."""
        done = max(0, min(1, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * done)) / 2 if self._anneal_strategy == "cos" else done
