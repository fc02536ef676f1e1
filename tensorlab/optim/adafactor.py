"""Adafactor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorlab import creation, functional, modes
from tensorlab.dispatch import wrap
from tensorlab.dtypes import finfo
from tensorlab.optim import checks
from tensorlab.optim.lanes import scalar_type
from tensorlab.optim.optimizer import Group, Optimizer


class Adafactor(Optimizer):
    """Adam's scaling with a fraction of its memory: of a matrix, only the mean squares of rows and columns are kept.

    With ``a = t**beta2_decay``: ``v += a * (mean(g**2) - v)`` by row and by column, whose product over the mean of the
    rows estimates the squares; of a vector, ``v`` is kept whole. ``u = g / sqrt(v)`` is shortened to a root mean square
    of at most ``d``, and ``p -= max(eps2, rms(p)) * min(lr, 1 / sqrt(t)) * u``. ``eps[0]`` left out is the type's machine
    epsilon. ``weight_decay`` is taken from the parameter. Source: Shazeer and Stern, 2018.
    """

    like_parameter = ("variance",)

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        checks.rate(lr)
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None:
            checks.not_negative("epsilon1 should be >= 0 but is: {}", eps[0])
        checks.not_negative("epsilon2 should be >= 0 but is: {}", eps[1])
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        checks.not_negative("weight_decay should be >= 0 but is: {}", weight_decay)
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters that have a gradient by one step. Raises ``RuntimeError`` for complex ones."""
        loss = None
        if closure is not None:
            with modes.enable_grad():
                loss = closure()
        with modes.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p._grad is not None:
                        self._step(p, group)
        return loss

    def _step(self, p: Any, group: Group) -> None:
        if p.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        g = -p._grad if group["maximize"] else p._grad
        state = self.state[p]
        if not state:
            self._begin(state, g)
        state["step"] += 1
        step, lr = state["step"].item(), float(group["lr"])
        eps1 = finfo(p.dtype).eps if group["eps"][0] is None else group["eps"][0]
        size = max(group["eps"][1], _rms(p)) * min(lr, 1 / step**0.5)
        if group["weight_decay"]:
            p.mul_(1 - lr * group["weight_decay"])
        new = step ** group["beta2_decay"]
        squares = g * g
        if g.dim() > 1:
            rows, columns = state["row_var"], state["col_var"]
            rows.add_((squares.mean(-1, keepdim=True) - rows) * new)
            columns.add_((squares.mean(-2, keepdim=True) - columns) * new)
            v = rows @ columns / rows.mean(-2, keepdim=True).clamp(min=eps1)
        else:
            v = state["variance"].add_((squares - state["variance"]) * new)
        u = g / functional.sqrt(v.clamp(min=eps1 * eps1))
        p.sub_(u * (size / max(1.0, _rms(u) / group["d"])))

    def _begin(self, state: dict[str, Any], g: Any) -> None:
        state["step"] = wrap(np.array(0, scalar_type()))
        if g.dim() > 1:
            state["row_var"] = creation.zeros_like(g.select(-1, 0).unsqueeze(-1))
            state["col_var"] = creation.zeros_like(g.select(-2, 0).unsqueeze(-2))
        else:
            state["variance"] = creation.zeros_like(g)


def _rms(x: Any) -> float:
    """The root of the mean square; 0 for no elements."""
    return functional.norm(x).item() / x.numel() ** 0.5 if x.numel() else 0.0
