"""Adamax."""

from __future__ import annotations

from typing import Any

from tensorlab.optim import checks
from tensorlab.optim.optimizer import Group
from tensorlab.optim.stepping import LaneOptimizer, Rule


class Adamax(LaneOptimizer):
    """Adam with the largest recent gradient in place of the mean square.

    ``m += (1 - beta1) * (g - m)``, ``u = max(beta2 * u, |g| + eps)``, ``p -= lr / (1 - beta1**t) * m / u``. Source: Kingma
    and Ba, 2014, section 7.
    """

    like_parameter = ("exp_avg", "exp_inf")

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        checks.rate(lr)
        checks.not_negative("Invalid epsilon value: {}", eps)
        checks.betas(betas)
        checks.not_negative("Invalid weight_decay value: {}", weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _rule(self, lane: Any, group: Group) -> Rule:
        xp = lane.xp
        multiply, add = xp.multiply, xp.add
        beta1, beta2 = (lane.read(beta) for beta in group["betas"])
        size = lane.number(lane.read(group["lr"]) / (1 - beta1 ** lane.count()))
        first, keep, eps = lane.constant(1 - beta1), lane.constant(beta2), lane.constant(group["eps"])

        def rule(g: Any, p: Any, t: Any, u: Any, m: Any, largest: Any) -> None:
            add(m, multiply(xp.subtract(g, m, t), first, t), m)
            add(xp.absolute(g, t), eps, t)
            xp.maximum(multiply(largest, keep, largest), t, out=largest)
            multiply(xp.divide(m, largest, t), size, t)

        return rule
