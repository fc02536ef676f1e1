"""Rprop."""

from __future__ import annotations

from typing import Any

from tensorlab.optim import checks
from tensorlab.optim.optimizer import Group
from tensorlab.optim.stepping import LaneOptimizer, Rule


class Rprop(LaneOptimizer):
    """Steps of the gradient's sign; each element has a step size of its own, starting with ``lr``.

    Where the sign stayed, the step size is multiplied by ``etas[1]``, where it changed by ``etas[0]`` and the element
    sits out this step; step sizes stay within ``step_sizes``. Source: Riedmiller and Braun, 1993.
    """

    like_parameter = ("prev", "step_size")

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        checks.rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _start(self, name: str, group: Group) -> float:
        return float(group["lr"]) if name == "step_size" else 0.0

    def _rule(self, lane: Any, group: Group) -> Rule:
        xp = lane.xp
        lane.count()
        less, more = (lane.constant(eta) for eta in group["etas"])
        least, most = (lane.constant(size) for size in group["step_sizes"])
        none, same = lane.constant(0.0), lane.constant(1.0)

        def rule(g: Any, p: Any, t: Any, u: Any, before: Any, size: Any) -> None:
            xp.sign(xp.multiply(g, before, t), t)
            turned = t < 0
            xp.copyto(u, xp.where(t > 0, more, xp.where(turned, less, xp.where(t == 0, same, t))))
            xp.clip(xp.multiply(size, u, size), least, most, size)
            xp.copyto(before, xp.where(turned, none, g))
            xp.multiply(xp.sign(before, t), size, t)

        return rule
