"""NAdam."""

from __future__ import annotations

from typing import Any

from tensorlab.optim import checks
from tensorlab.optim.optimizer import Group
from tensorlab.optim.stepping import LaneOptimizer, Rule


class NAdam(LaneOptimizer):
    """Adam with Nesterov's momentum.

    With ``mu(t) = beta1 * (1 - 0.96**(t * momentum_decay) / 2)`` and ``P(t) = mu(1) * ... * mu(t)``:
    ``p -= lr * ((1 - mu(t)) / (1 - P(t)) * g + mu(t+1) / (1 - P(t+1)) * m) / (sqrt(v / (1 - beta2**t)) + eps)``, with ``m``
    and ``v`` as in Adam. Source: Dozat, 2016.
    """

    like_parameter = ("exp_avg", "exp_avg_sq")
    numbers = ("step", "mu_product")

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
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
        checks.not_negative("Invalid momentum_decay value: {}", momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _start(self, name: str, group: Group) -> float:
        return 1.0 if name == "mu_product" else 0.0

    def _rule(self, lane: Any, group: Group) -> Rule:
        xp = lane.xp
        multiply, add = xp.multiply, xp.add
        beta1, beta2 = (lane.read(beta) for beta in group["betas"])
        lr, step, slowing = lane.read(group["lr"]), lane.count(), group["momentum_decay"]
        now = beta1 * (1 - 0.5 * 0.96 ** (step * slowing))
        later = beta1 * (1 - 0.5 * 0.96 ** ((step + 1) * slowing))
        product = lane.remember("mu_product", lane.scalar("mu_product") * now)
        of_gradient = lane.number(lr * (1 - now) / (1 - product))
        of_mean = lane.number(lr * later / (1 - product * later))
        correction, eps = lane.number(1 - beta2**step), lane.constant(group["eps"])
        first, keep, second = lane.constant(1 - beta1), lane.constant(beta2), lane.constant(1 - beta2)

        def rule(g: Any, p: Any, t: Any, u: Any, m: Any, v: Any) -> None:
            add(m, multiply(xp.subtract(g, m, t), first, t), m)
            multiply(multiply(g, g, t), second, t)
            add(multiply(v, keep, v), t, v)
            add(multiply(g, of_gradient, t), multiply(m, of_mean, u), t)
            add(xp.sqrt(xp.divide(v, correction, u), u), eps, u)
            xp.divide(t, u, t)

        return rule
