"""Adam and AdamW."""

from __future__ import annotations

from typing import Any

from tensorlab.optim.lanes import Lane, LaneOptimizer
from tensorlab.optim.optimizer import Group


class Adam(LaneOptimizer):
    """Steps scaled by running means of the gradient and of its square.

    ``m += (1 - beta1) * (g - m)``, ``v = beta2 * v + (1 - beta2) * g**2``, and at step ``t``
    ``p -= lr / (1 - beta1**t) * m / (sqrt(v) / sqrt(1 - beta2**t) + eps)``. ``weight_decay`` is added to the gradient,
    or with ``decoupled_weight_decay`` taken from the parameter itself. ``amsgrad`` uses the largest ``v`` so far.
    Sources: Kingma and Ba, 2014; Loshchilov and Hutter, 2017; Reddi and others, 2018.
    """

    like_parameter = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")
    counts = True

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
        if not 0.0 <= lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 <= eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for at, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {at}: {beta}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if differentiable:
            raise ValueError(
                "differentiable=True: steps of this optimizer are not recorded; write the update with tensors instead"
            )
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

    def _kinds(self, group: Group) -> tuple[str, ...]:
        return self.like_parameter if group["amsgrad"] else self.like_parameter[:2]

    def _update(self, lane: Lane, group: Group) -> None:
        xp, number = lane.xp, lane.constant
        multiply, add, divide = xp.multiply, xp.add, xp.divide
        beta1, beta2 = (float(beta) for beta in group["betas"])
        lr, decay, eps = float(group["lr"]), float(group["weight_decay"]), number(group["eps"])
        step = lane.count()
        size = lane.number(lr / (1 - beta1**step))
        root = lane.number((1 - beta2**step) ** 0.5)
        keep, first, second = number(beta2), number(1 - beta1), number(1 - beta2)
        grads = lane.gradients()
        if decay and group["decoupled_weight_decay"]:
            lane.scale(lane.constant(1 - lr * decay))
            decay = 0.0
        values: Any = lane.values() if lane.direct or decay else None
        for where, t, u, m, v, *peak in lane.pieces:
            g = grads[where]
            if group["maximize"]:
                g = xp.negative(g, u)
            if decay:
                g = add(g, multiply(values[where], number(decay), t), u)
            add(m, multiply(xp.subtract(g, m, t), first, t), m)
            multiply(g, g, t)
            multiply(t, second, t)
            add(multiply(v, keep, v), t, v)
            if peak:
                v = xp.maximum(peak[0], v, out=peak[0])
            xp.sqrt(v, t)
            add(divide(t, root, t), eps, t)
            multiply(divide(m, t, t), size, t)
            if lane.direct:
                xp.subtract(values[where], t, values[where])


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
