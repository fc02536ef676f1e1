"""Adagrad."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab import creation
from tensorlab.dispatch import wrap
from tensorlab.optim import checks
from tensorlab.optim.lanes import scalar_type
from tensorlab.optim.optimizer import Group
from tensorlab.optim.stepping import LaneOptimizer, Rule


class Adagrad(LaneOptimizer):
    """Steps that shrink where gradients were large.

    ``s += g**2``, ``p -= lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps)``. Source: Duchi and others, 2011.
    """

    like_parameter = ("sum",)

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        checks.rate(lr)
        checks.not_negative("Invalid lr_decay value: {}", lr_decay)
        checks.not_negative("Invalid weight_decay value: {}", weight_decay)
        checks.not_negative("Invalid initial_accumulator_value value: {}", initial_accumulator_value)
        checks.not_negative("Invalid epsilon value: {}", eps)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        checks.switches(foreach, fused, differentiable)
        for group in self.param_groups:
            first = group["initial_accumulator_value"]
            for p in group["params"]:
                value = complex(first, first) if p.is_complex() else first
                total = creation.full_like(p.detach(), value)
                self.state[p] = {"step": wrap(np.array(0, scalar_type())), "sum": total}

    def _start(self, name: str, group: Group) -> float:
        return group["initial_accumulator_value"] if name == "sum" else 0.0

    def _rule(self, lane: Any, group: Group) -> Rule:
        xp = lane.xp
        multiply, add = xp.multiply, xp.add
        size = lane.number(lane.read(group["lr"]) / (1 + (lane.count() - 1) * group["lr_decay"]))
        eps = lane.constant(group["eps"])

        def rule(g: Any, p: Any, t: Any, u: Any, total: Any) -> None:
            add(total, multiply(g, g, t), total)
            multiply(xp.divide(g, add(xp.sqrt(total, t), eps, t), t), size, t)

        return rule
