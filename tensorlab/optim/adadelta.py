"""Adadelta."""

from __future__ import annotations

from typing import Any

from tensorlab.optim import checks
from tensorlab.optim.optimizer import Group
from tensorlab.optim.stepping import LaneOptimizer, Rule


class Adadelta(LaneOptimizer):
    """Steps in the units of the parameters, from running means of squared gradients and squared steps.

    ``v = rho * v + (1 - rho) * g**2``, ``d = sqrt(a + eps) / sqrt(v + eps) * g``, ``a = rho * a + (1 - rho) * d**2``,
    ``p -= lr * d``. Source: Zeiler, 2012.
    """

    like_parameter = ("square_avg", "acc_delta")

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        checks.rate(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        checks.not_negative("Invalid epsilon value: {}", eps)
        checks.not_negative("Invalid weight_decay value: {}", weight_decay)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _rule(self, lane: Any, group: Group) -> Rule:
        xp = lane.xp
        multiply, add, sqrt = xp.multiply, xp.add, xp.sqrt
        lane.count()
        lr, rho = lane.constant(lane.read(group["lr"])), group["rho"]
        keep, rest, eps = lane.constant(rho), lane.constant(1 - rho), lane.constant(group["eps"])

        def rule(g: Any, p: Any, t: Any, u: Any, squares: Any, steps: Any) -> None:
            multiply(multiply(g, g, t), rest, t)
            add(multiply(squares, keep, squares), t, squares)
            sqrt(add(squares, eps, t), t)
            sqrt(add(steps, eps, u), u)
            multiply(xp.divide(u, t, t), g, t)
            multiply(multiply(t, t, u), rest, u)
            add(multiply(steps, keep, steps), u, steps)
            multiply(t, lr, t)

        return rule
