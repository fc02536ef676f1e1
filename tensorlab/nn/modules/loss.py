"""Losses as modules: the functions of ``nn.functional`` with their options kept."""

from __future__ import annotations

from typing import Any

from tensorlab.nn import functional as F
from tensorlab.nn.modules.module import Module
from tensorlab.nn.reduction import named_reduction

__all__ = ["MSELoss", "L1Loss", "NLLLoss", "CrossEntropyLoss"]


class _Loss(Module):
    """A loss with a ``reduction``: ``"mean"``, ``"sum"`` or ``"none"``."""

    def __init__(self, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = named_reduction(reduction, size_average, reduce)
        self.reduction = reduction


class _WeightedLoss(_Loss):
    """A loss that may count classes differently."""

    weight: Any

    def __init__(
        self, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class MSELoss(_Loss):
    """Mean (or sum, or each) of ``(input - target) ** 2``."""

    def forward(self, input: Any, target: Any) -> Any:
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """Mean (or sum, or each) of ``|input - target|``."""

    def forward(self, input: Any, target: Any) -> Any:
        return F.l1_loss(input, target, reduction=self.reduction)


class NLLLoss(_WeightedLoss):
    """Minus the log-probability of each target class; ``input`` holds log-probabilities ``[N, C, *]``."""

    def __init__(
        self,
        weight: Any = None,
        size_average: Any = None,
        ignore_index: int = -100,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Any, target: Any) -> Any:
        return F.nll_loss(input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class CrossEntropyLoss(_WeightedLoss):
    """Minus the log of the probability that ``softmax(input)`` gives to each target: class numbers, or probabilities.

    See :func:`tensorlab.nn.functional.cross_entropy`.
    """

    def __init__(
        self,
        weight: Any = None,
        size_average: Any = None,
        ignore_index: int = -100,
        reduce: Any = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Any, target: Any) -> Any:
        weight = self._buffers["weight"]
        return F.cross_entropy(
            input, target, weight, None, self.ignore_index, None, self.reduction, self.label_smoothing
        )
