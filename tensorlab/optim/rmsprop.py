"""RMSprop."""

from __future__ import annotations

from typing import Any

from tensorlab.optim import checks
from tensorlab.optim.optimizer import Group
from tensorlab.optim.stepping import LaneOptimizer, Rule


class RMSprop(LaneOptimizer):
    """Gradients divided by the root of their running mean square.

    ``v = alpha * v + (1 - alpha) * g**2``; ``centered`` takes the square of the running mean from ``v``. With
    ``d = g / (sqrt(v) + eps)``: ``p -= lr * d``, or with momentum ``b = momentum * b + d`` and ``p -= lr * b``. Sources:
    Hinton, 2012; Graves, 2013.
    """

    like_parameter = ("square_avg", "momentum_buffer", "grad_avg")

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        checks.rate(lr)
        checks.not_negative("Invalid epsilon value: {}", eps)
        checks.not_negative("Invalid momentum value: {}", momentum)
        checks.not_negative("Invalid weight_decay value: {}", weight_decay)
        checks.not_negative("Invalid alpha value: {}", alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _kinds(self, group: Group) -> tuple[str, ...]:
        asked = (True, group["momentum"] > 0, group["centered"])
        return tuple([kind for kind, wanted in zip(self.like_parameter, asked, strict=True) if wanted])

    def _rule(self, lane: Any, group: Group) -> Rule:
        xp = lane.xp
        multiply, add, subtract = xp.multiply, xp.add, xp.subtract
        lane.count()
        lr, momentum, centered = lane.constant(lane.read(group["lr"])), group["momentum"], group["centered"]
        keep, rest = lane.constant(group["alpha"]), lane.constant(1 - group["alpha"])
        eps, inertia = lane.constant(group["eps"]), lane.constant(momentum)

        def rule(g: Any, p: Any, t: Any, u: Any, squares: Any, *others: Any) -> None:
            multiply(multiply(g, g, t), rest, t)
            v = add(multiply(squares, keep, squares), t, squares)
            if centered:
                mean = others[-1]
                add(mean, multiply(subtract(g, mean, t), rest, t), mean)
                v = subtract(v, multiply(mean, mean, t), t)
            add(xp.sqrt(v, t), eps, t)
            d = xp.divide(g, t, t)
            if momentum > 0:
                d = add(multiply(others[0], inertia, others[0]), t, others[0])
            multiply(d, lr, t)

        return rule
