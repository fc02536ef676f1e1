"""SparseAdam."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorlab import modes
from tensorlab.optim import checks
from tensorlab.optim.optimizer import Optimizer


class SparseAdam(Optimizer):
    """Adam for sparse gradients. Gradients are dense here, so a step that finds one is refused, as PyTorch refuses dense
    ones.

    It takes options and saved states, so that code and checkpoints that name it load.
    """

    like_parameter = ("exp_avg", "exp_avg_sq")

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        checks.rate(lr)
        if not 0.0 < lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        checks.betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        groups = [group["params"] for group in self.param_groups]
        found = [[n, at] for n, group in enumerate(groups) for at, p in enumerate(group) if p.is_complex()]
        if found:
            raise ValueError(f"Complex params at indices {found}: SparseAdam does not support complex parameters")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Refuse the first gradient there is, with a ``RuntimeError``; without gradients there is nothing to do."""
        loss = None
        if closure is not None:
            with modes.enable_grad():
                loss = closure()
        if any(p._grad is not None for group in self.param_groups for p in group["params"]):
            raise RuntimeError(
                "SparseAdam does not support dense gradients, please consider Adam instead: tensorlab has no sparse "
                "gradients"
            )
        return loss
