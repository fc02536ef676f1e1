"""Gradients kept within bounds."""

from __future__ import annotations

import math
import types
import warnings
from collections.abc import Iterable
from typing import Any

from tensorlab import creation, functional, modes, taps
from tensorlab.tensor import Tensor


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all elements of some tensors together, on the device of the first; 0 for none.

    Raises ``RuntimeError`` for a norm that is NaN or infinite if ``error_if_nonfinite``.
    """
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not given:
        return creation.tensor(0.0)
    order = float(norm_type)
    with modes.no_grad():
        norms = [functional.norm(x, order).to(given[0].device) for x in given]
        total = functional.norm(functional.stack([n.to(norms[0].dtype) for n in norms]), order)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(
            f"The total norm of order {order} for gradients from `parameters` is non-finite, so it cannot be clipped. To "
            "disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale all gradients together, in place, by ``max_norm / total_norm`` where that is below 1.

    Raises ``ValueError`` for a negative ``max_norm``.
    """
    bound = float(max_norm)
    if not bound >= 0:
        raise ValueError(f"max_norm must not be negative or NaN, got {max_norm}: it would reverse the gradients")
    total: Any = total_norm
    with modes.no_grad():
        factor = (bound / (total + 1e-6)).clamp(max=1.0)
        for g in _grads(parameters):
            g.mul_(factor.to(device=g.device, dtype=g.dtype))


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
    if not float(max_norm) >= 0:
        raise ValueError(f"max_norm must not be negative or NaN, got {max_norm}: it would reverse the gradients")
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    if not given and isinstance(parameters, types.GeneratorType):
        warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    total = get_total_norm(_grads(given), norm_type, error_if_nonfinite, foreach)
    for tap in list(taps.clips):
        tap(given, total, max_norm)
    clip_grads_with_norm_(given, max_norm, total, foreach)
    return total


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The name of ``clip_grad_norm_`` in old code; warns."""
    warnings.warn(
        "`tensorlab.nn.utils.clip_grad_norm` is now deprecated in favor of `tensorlab.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


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
