"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from tensorlab.optim.lanes import Lane, LaneOptimizer
from tensorlab.optim.optimizer import Group


class SGD(LaneOptimizer):
    """Steps against the gradient, with momentum if asked for.

    With gradient ``g = grad + weight_decay * p`` and momentum: ``b = momentum * b + (1 - dampening) * g`` (the first
    ``b`` is ``g``), then ``p -= lr * b``, or with ``nesterov`` ``p -= lr * (g + momentum * b)``. Source: Sutskever and
    others, 2013.
    """

    like_parameter = ("momentum_buffer",)

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
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        if differentiable:
            raise ValueError(
                "differentiable=True: steps of this optimizer are not recorded; write the update with tensors instead"
            )
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

    def _kinds(self, group: Group) -> tuple[str, ...]:
        return ("momentum_buffer",) if group["momentum"] != 0 else ()

    def _update(self, lane: Lane, group: Group) -> None:
        xp, number = lane.xp, lane.constant
        multiply, add = xp.multiply, xp.add
        decay, momentum = float(group["weight_decay"]), group["momentum"]
        lr = number(float(group["lr"]))
        grads = lane.gradients()
        values: Any = lane.values() if lane.direct or decay else None
        for where, t, u, *slots in lane.pieces:
            g = grads[where]
            if group["maximize"]:
                g = xp.negative(g, u)
            if decay:
                multiply(values[where], number(decay), t)
                g = add(g, t, u)
            if momentum:
                b = slots[0]
                if lane.fresh:
                    b[...] = g
                else:
                    multiply(b, number(momentum), b)
                    add(b, multiply(g, number(1 - group["dampening"]), t) if group["dampening"] else g, b)
                g = add(g, multiply(b, number(momentum), t), t) if group["nesterov"] else b
            multiply(g, lr, t)
            if lane.direct:
                xp.subtract(values[where], t, values[where])
