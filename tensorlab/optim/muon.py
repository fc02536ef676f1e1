"""Muon."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tensorlab import creation, functional, modes
from tensorlab.optim import checks
from tensorlab.optim.optimizer import Group, Optimizer

#: How the step size is fitted to the shape of a matrix.
ADJUSTMENTS = ("original", "match_rms_adamw")


class Muon(Optimizer):
    """Momentum whose matrix is made nearly orthogonal before the step; for the matrices of hidden layers only.

    ``b += (1 - momentum) * (g - b)``; of it, or of ``g + momentum * (b - g)`` with ``nesterov``, ``ns_steps`` rounds of
    ``x = a x + (b xx' + c (xx')**2) x`` in bfloat16 bring all singular values near 1. ``adjust_lr_fn`` fits the step to
    the shape (m, n): ``"original"`` by ``sqrt(max(1, m / n))``, ``"match_rms_adamw"`` by ``0.2 sqrt(max(m, n))``.
    ``weight_decay`` is taken from the parameter. Raises ``ValueError`` for parameters that are no matrices. Sources:
    Jordan and others, 2024; Liu and others, 2025.
    """

    like_parameter = ("momentum_buffer",)

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        checks.rate(lr)
        checks.not_negative("momentum should be >= 0 but is: {}", momentum)
        checks.not_negative("weight decay should be >= 0 but is: {}", weight_decay)
        if adjust_lr_fn is not None and adjust_lr_fn not in ADJUSTMENTS:
            raise ValueError(
                f"Adjust learning rate function {adjust_lr_fn} is not supported; choose one of {', '.join(ADJUSTMENTS)}"
            )
        if ns_steps >= 100:
            raise ValueError(f"Number of steps must be less than 100 for computational efficiency, got {ns_steps}")
        if len(ns_coefficients) != 3:
            raise ValueError(f"Coefficients must be a tuple of exactly 3 values, got {len(ns_coefficients)}")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)

    def _check_parameters(self, group: Group) -> None:
        super()._check_parameters(group)
        for p in group["params"]:
            if p.dim() != 2:
                raise ValueError(
                    f"Muon only supports 2D parameters whereas we found a parameter with size: {list(p.shape)}; give "
                    "the others to another optimizer"
                )

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
            raise RuntimeError("Muon does not support complex parameters")
        g, lr, momentum, state = p._grad, float(group["lr"]), group["momentum"], self.state[p]
        if state.get("momentum_buffer") is None:
            state["momentum_buffer"] = creation.zeros_like(g)
        b = state["momentum_buffer"]
        b.add_((g - b) * (1 - momentum))
        update = g + (b - g) * momentum if group["nesterov"] else b
        direction = _orthogonal(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        m, n = p.shape
        fitted = 0.2 * math.sqrt(max(m, n)) if group["adjust_lr_fn"] == ADJUSTMENTS[1] else math.sqrt(max(1, m / n))
        p.mul_(1 - lr * group["weight_decay"])
        p.sub_(direction.to(p.dtype) * (lr * fitted))


def _orthogonal(x: Any, coefficients: tuple[float, float, float], steps: int, eps: float) -> Any:
    """A matrix with its singular values brought near 1, by a polynomial of fifth degree applied ``steps`` times.

    Every result is rounded to bfloat16, and products are summed in float32.
    """
    a, b, c = coefficients
    upright = x.shape[0] > x.shape[1]
    out = _rounded(x)
    out = out.T if upright else out
    out = _rounded(out / _rounded(functional.norm(out)).clamp(min=eps))
    for _ in range(steps):
        gram = _rounded(out @ out.T)
        out = _rounded(out * a + _rounded(gram * b + gram @ gram * c) @ out)
    return out.T if upright else out


def _rounded(x: Any) -> Any:
    return x.bfloat16().float()
