"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from tensorlab.optim import checks
from tensorlab.optim.optimizer import Group
from tensorlab.optim.stepping import LaneOptimizer, Rule


class SGD(LaneOptimizer):
    """Steps against the gradient, with momentum if asked for.

    With gradient ``g = grad + weight_decay * p`` and momentum: ``b = momentum * b + (1 - dampening) * g`` (the first
    ``b`` is ``g``), then ``p -= lr * b``, or with ``nesterov`` ``p -= lr * (g + momentum * b)``. Source: Sutskever and
    others, 2013.
    """

    like_parameter = ("momentum_buffer",)
    numbers = ()

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: Any = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        checks.rate(lr)
        checks.not_negative("Invalid momentum value: {}", momentum)
        checks.not_negative("Invalid weight_decay value: {}", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        checks.switches(foreach, fused, differentiable)

    def _kinds(self, group: Group) -> tuple[str, ...]:
        return ("momentum_buffer",) if group["momentum"] != 0 else ()

    def _rule(self, lane: Any, group: Group) -> Rule:
        xp = lane.xp
        multiply, add = xp.multiply, xp.add
        lr, momentum, nesterov = lane.constant(lane.read(group["lr"])), group["momentum"], group["nesterov"]
        keep, rest = lane.constant(momentum), lane.constant(1 - group["dampening"]) if group["dampening"] else None
        fresh = lane.fresh

        def rule(g: Any, p: Any, t: Any, u: Any, b: Any = None) -> None:
            if momentum:
                if fresh:
                    xp.copyto(b, g)
                else:
                    multiply(b, keep, b)
                    add(b, g if rest is None else multiply(g, rest, t), b)
                g = add(g, multiply(b, keep, t), t) if nesterov else b
            multiply(g, lr, t)

        return rule
