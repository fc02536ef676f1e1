"""Adafactor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorlab import backend, creation, modes
from tensorlab.dispatch import storage_of, wrap
from tensorlab.dtypes import finfo
from tensorlab.engine import sites
from tensorlab.optim import checks
from tensorlab.optim.lanes import computing_type, scalar_type
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
        site = sites.here(2)
        with np.errstate(all="ignore"):
            for group in self.param_groups:
                for p in group["params"]:
                    if p._grad is not None:
                        if p.is_complex():
                            raise RuntimeError("Adafactor does not support complex parameters")
                        with backend.of(p._a).on(p._a):
                            self._step(p, group)
                        storage_of(p).bump("Adafactor.step", site)
        return loss

    def _step(self, p: Any, group: Group) -> None:
        state = self.state[p] or self._begin(p)
        state["step"] += 1
        step, lr = state["step"].item(), float(group["lr"])
        own, work = p._a, computing_type(p._a.dtype)[0]
        xp = backend.namespace(own)
        g = p._grad._a.astype(work, copy=False)
        squares, new = g * g, step ** group["beta2_decay"]
        eps1 = finfo(p.dtype).eps if group["eps"][0] is None else group["eps"][0]
        size = max(group["eps"][1], _rms(xp, own.astype(work, copy=False))) * min(lr, 1 / step**0.5)
        if g.ndim > 1:
            rows = _moved(state["row_var"]._a, squares.mean(-1, keepdims=True), new)
            columns = _moved(state["col_var"]._a, squares.mean(-2, keepdims=True), new)
            v = rows * columns
            v /= xp.maximum(rows.mean(-2, keepdims=True), eps1)
        else:
            v = _moved(state["variance"]._a, squares, new)
        u = g / xp.sqrt(xp.maximum(v, eps1 * eps1))
        u *= size / max(1.0, _rms(xp, u) / group["d"])
        keep = 1 - lr * group["weight_decay"]
        own[...] = own * keep + u if group["maximize"] else own * keep - u

    def _begin(self, p: Any) -> dict[str, Any]:
        state, g = self.state[p], p._grad.detach()
        state["step"] = wrap(np.array(0, scalar_type()))
        if g.dim() > 1:
            state["row_var"] = creation.zeros((*g.shape[:-1], 1), dtype=g.dtype, device=g.device)
            state["col_var"] = creation.zeros((*g.shape[:-2], 1, g.shape[-1]), dtype=g.dtype, device=g.device)
        else:
            state["variance"] = creation.zeros_like(g)
        return state


def _moved(mean: Any, now: Any, weight: float) -> Any:
    """A running mean, moved in place towards new values; in the type to compute in."""
    mean[...] = mean + (now - mean) * weight
    return mean.astype(now.dtype, copy=False)


def _rms(xp: Any, x: Any) -> float:
    """The root of the mean square; 0 for no elements."""
    flat = x.reshape(-1)
    return (float(xp.dot(flat, flat)) / x.size) ** 0.5 if x.size else 0.0
