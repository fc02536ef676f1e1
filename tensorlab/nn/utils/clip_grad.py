"""Gradients kept within bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from tensorlab import creation, functional, modes
from tensorlab.tensor import Tensor


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients together, in place, so that their common norm is at most ``max_norm``. Returns the norm
    before.

    Raises ``ValueError`` for a negative ``max_norm``, and ``RuntimeError`` for a norm that is NaN or infinite if
    ``error_if_nonfinite``.
    """
    bound = float(max_norm)
    if not bound >= 0:
        raise ValueError(f"max_norm must not be negative or NaN, got {max_norm}: it would reverse the gradients")
    grads = _grads(parameters)
    if not grads:
        return creation.tensor(0.0)
    with modes.no_grad():
        norms = [functional.norm(g, float(norm_type)) for g in grads]
        total = functional.norm(functional.stack([n.to(norms[0].dtype) for n in norms]), float(norm_type))
        if error_if_nonfinite and not math.isfinite(total.item()):
            raise RuntimeError(
                f"The total norm of order {float(norm_type)} for gradients from `parameters` is non-finite, so it "
                "cannot be clipped. To disable this error and scale the gradients by the non-finite norm anyway, "
                "set `error_if_nonfinite=False`"
            )
        factor = (bound / (total + 1e-6)).clamp(max=1.0)
        for g in grads:
            g.mul_(factor.to(g.dtype))
    return total


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Limit every element of the gradients to ``[-clip_value, clip_value]``, in place. Raises ``ValueError`` for a
    negative one.
    """
    bound = float(clip_value)
    if not bound >= 0:
        raise ValueError(f"clip_value must not be negative or NaN, got {clip_value}")
    with modes.no_grad():
        for g in _grads(parameters):
            g.clamp_(-bound, bound)


def _grads(parameters: Any) -> list[Any]:
    return [p._grad for p in ([parameters] if isinstance(parameters, Tensor) else parameters) if p._grad is not None]
