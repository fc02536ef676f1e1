"""Adam and AdamW."""

from __future__ import annotations

from typing import Any

from tensorlab.optim import checks
from tensorlab.optim.optimizer import Group
from tensorlab.optim.stepping import LaneOptimizer, Rule
from tensorlab.tensor import Tensor


class Adam(LaneOptimizer):
    """Steps scaled by running means of the gradient and of its square.

    ``m += (1 - beta1) * (g - m)``, ``v = beta2 * v + (1 - beta2) * g**2``, and at step ``t``
    ``p -= lr / (1 - beta1**t) * m / (sqrt(v) / sqrt(1 - beta2**t) + eps)``. ``weight_decay`` is added to the gradient,
    or with ``decoupled_weight_decay`` taken from the parameter itself. ``amsgrad`` uses the largest ``v`` so far.
    Sources: Kingma and Ba, 2014; Loshchilov and Hutter, 2017; Reddi and others, 2018.
    """

    like_parameter = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        checks.rate(lr)
        checks.not_negative("Invalid epsilon value: {}", eps)
        checks.betas(betas)
        checks.not_negative("Invalid weight_decay value: {}", weight_decay)
        if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
            raise ValueError("betas must be either both floats or both Tensors")
        if isinstance(betas[0], Tensor) and foreach and not capturable:
            raise ValueError("betas[0] as a Tensor is not supported for capturable=False and foreach=True")
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)
        checks.switches(foreach, fused, differentiable)

    def _kinds(self, group: Group) -> tuple[str, ...]:
        return self.like_parameter if group["amsgrad"] else self.like_parameter[:2]

    def _rule(self, lane: Any, group: Group) -> Rule:
        xp = lane.xp
        multiply, add, divide = xp.multiply, xp.add, xp.divide
        beta1, beta2 = (lane.read(beta) for beta in group["betas"])
        step = lane.count()
        size = lane.number(lane.read(group["lr"]) / (1 - beta1**step))
        root = lane.number((1 - beta2**step) ** 0.5)
        keep, first, second = lane.constant(beta2), lane.constant(1 - beta1), lane.constant(1 - beta2)
        eps = lane.constant(group["eps"])
        run = None if group["amsgrad"] else lane.chain("adam")
        if run is not None:
            return lambda g, p, t, u, m, v: run(g, first, keep, second, root, eps, size, m, v, t)

        def rule(g: Any, p: Any, t: Any, u: Any, m: Any, v: Any, *peak: Any) -> None:
            add(m, multiply(xp.subtract(g, m, t), first, t), m)
            multiply(multiply(g, g, t), second, t)
            add(multiply(v, keep, v), t, v)
            if peak:
                v = xp.maximum(peak[0], v, out=peak[0])
            xp.sqrt(v, t)
            add(divide(t, root, t), eps, t)
            multiply(divide(m, t, t), size, t)

        return rule


class AdamW(Adam):
    """Adam with ``weight_decay`` taken from the parameters themselves. Source: Loshchilov and Hutter, 2017."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
            differentiable=differentiable, fused=fused, decoupled_weight_decay=True,
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
