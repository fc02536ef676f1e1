"""Averaged stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from tensorlab.optim import checks
from tensorlab.optim.optimizer import Group
from tensorlab.optim.stepping import LaneOptimizer, Rule


class ASGD(LaneOptimizer):
    """Gradient descent with a shrinking step that also keeps an average of the parameters, as ``state[p]["ax"]``.

    ``p = (1 - lambd * eta) * p - eta * g``, ``ax += mu * (p - ax)``, then ``eta = lr / (1 + lambd * lr * t)**alpha`` and
    ``mu = 1 / max(1, t - t0)``. Source: Polyak and Juditsky, 1992.
    """

    like_parameter = ("ax",)
    numbers = ("step", "eta", "mu")
    sees_values = True

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        checks.rate(lr)
        checks.not_negative("Invalid weight_decay value: {}", weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _start(self, name: str, group: Group) -> float:
        return {"eta": float(group["lr"]), "mu": 1.0}.get(name, 0.0)

    def _rule(self, lane: Any, group: Group) -> Rule:
        xp = lane.xp
        multiply, add, subtract = xp.multiply, xp.add, xp.subtract
        lr, shrink = float(group["lr"]), group["lambd"]
        step, eta, mu = lane.count(), lane.scalar("eta"), lane.scalar("mu")
        lane.remember("eta", lr / (1 + shrink * lr * step) ** group["alpha"])
        lane.remember("mu", 1 / max(1, step - group["t0"]))
        size, decay, weight = lane.number(eta), lane.number(shrink * eta), lane.number(mu)

        def rule(g: Any, p: Any, t: Any, u: Any, average: Any) -> None:
            add(multiply(g, size, t), multiply(p, decay, u), t)
            subtract(p, t, u)
            if mu == 1:
                xp.copyto(average, u)
            else:
                add(average, multiply(subtract(u, average, u), weight, u), average)

        return rule
