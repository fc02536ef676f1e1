"""RAdam."""

from __future__ import annotations

from typing import Any

from tensorlab.optim import checks
from tensorlab.optim.optimizer import Group
from tensorlab.optim.stepping import LaneOptimizer, Rule


class RAdam(LaneOptimizer):
    """Adam that scales by the mean square only once enough steps stand behind it.

    With ``rho_inf = 2 / (1 - beta2) - 1`` and ``rho = rho_inf - 2 t beta2**t / (1 - beta2**t)``: while ``rho <= 5`` the
    step is ``lr * m / (1 - beta1**t)``; afterwards it is multiplied by
    ``sqrt((rho-4) (rho-2) rho_inf / ((rho_inf-4) (rho_inf-2) rho)) * sqrt(1 - beta2**t) / (sqrt(v) + eps)``. Source: Liu
    and others, 2019.
    """

    like_parameter = ("exp_avg", "exp_avg_sq")

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
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
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _rule(self, lane: Any, group: Group) -> Rule:
        xp = lane.xp
        multiply, add = xp.multiply, xp.add
        beta1, beta2 = (lane.read(beta) for beta in group["betas"])
        step = lane.count()
        most = 2 / (1 - beta2) - 1
        rho = most - 2 * step * beta2**step / (1 - beta2**step)
        rectified = bool(rho > 5)
        size = lane.read(group["lr"]) / (1 - beta1**step)
        if rectified:
            size = size * ((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho)) ** 0.5
            size = size * (1 - beta2**step) ** 0.5
        size, eps = lane.number(size), lane.constant(group["eps"])
        first, keep, second = lane.constant(1 - beta1), lane.constant(beta2), lane.constant(1 - beta2)

        def rule(g: Any, p: Any, t: Any, u: Any, m: Any, v: Any) -> None:
            add(m, multiply(xp.subtract(g, m, t), first, t), m)
            multiply(multiply(g, g, t), second, t)
            add(multiply(v, keep, v), t, v)
            if rectified:
                multiply(xp.divide(m, add(xp.sqrt(v, t), eps, t), t), size, t)
            else:
                multiply(m, size, t)

        return rule
