"""Derivatives along a direction, carried forward: dual tensors, each a value with a tangent.

There is one rule for each operation here, its gradient, and forward derivatives come from the same rules. A level has a number,
epsilon, which is 0; ``make_dual(x, t)`` is ``x + epsilon * t``. What is computed from dual tensors is a function of epsilon, and its
tangent is its derivative by epsilon. That is read off in two backward passes: the gradient for epsilon is linear in the gradient
that comes in, and the derivative of a linear map is the map, turned round (J. Townsend, "A new trick for calculating Jacobian vector
products", 2017).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tensorlab import creation, modes
from tensorlab.autograd.function import Function
from tensorlab.autograd.leaves import marked, others, released, zeros
from tensorlab.modes import state
from tensorlab.passes import grad
from tensorlab.tensor import Tensor

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class UnpackedDualTensor(NamedTuple):
    """A value and its tangent, which is ``None`` where the value is the same for every epsilon."""

    primal: Any
    tangent: Any


class _Attach(Function):
    """``primal + epsilon * tangent`` at epsilon 0, where an infinite tangent must not make NaN of the value."""

    @staticmethod
    def forward(ctx: Any, primal: Tensor, tangent: Tensor, epsilon: Tensor) -> Tensor:
        ctx.save_for_backward(tangent)
        return primal.clone()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, Tensor]:
        (tangent,) = ctx.saved_tensors
        return g, None, (g.conj() * tangent).sum()  # of which the real part is taken, as for any real input


def attach(primal: Tensor, tangent: Tensor, epsilon: Tensor) -> Tensor:
    """The value of ``primal``, with ``tangent`` as its derivative by ``epsilon``."""
    with modes.enable_grad():
        return _Attach.apply(primal, tangent, epsilon)


def epsilon_for(x: Tensor) -> Tensor:
    """A number, 0, to differentiate by, on the device of ``x`` and in its precision."""
    kind = x.dtype.to_real() if x.is_complex() else x.dtype
    return marked(creation.zeros((), dtype=kind, device=x.device, requires_grad=True))


def along(y: Tensor, epsilon: Tensor, create_graph: bool) -> Tensor | None:
    """The derivative of every element of ``y`` by ``epsilon``; ``None`` if it does not depend on it."""
    if not y.requires_grad:
        return None
    with modes.enable_grad():
        weights = zeros(y)
        (g,) = grad((y,), (epsilon,), (weights,), create_graph=True, allow_unused=True)
        if g is None:
            return None
        if not g.requires_grad:
            return creation.zeros_like(y)
        (found,) = grad((g,), (weights,), create_graph=create_graph, retain_graph=True, allow_unused=True)
    if found is None:
        return creation.zeros_like(y)
    return found.detach() if not create_graph and found.requires_grad else found


# ------------------------------------------------------------------------------------------------------------ levels

_levels: list[list[Tensor]] = []  # of each level its epsilons, one a device and precision, made when first asked for


def enter_dual_level() -> int:
    """Begin a level of dual tensors, and return its number. ``dual_level`` does so for a block."""
    _levels.append([])
    return len(_levels) - 1


def exit_dual_level(*, level: int | None = None) -> None:
    """End the innermost level. Raises ``RuntimeError`` for any other one, or if there is none."""
    if level is None:
        level = len(_levels) - 1
    if not _levels or level != len(_levels) - 1:
        raise RuntimeError(
            f"exit_dual_level(): level {level} is not the innermost one ({len(_levels) - 1}); levels end in the order in which they began"
        )
    _levels.pop()


class dual_level:
    """The block in which dual tensors live. Levels may be nested only to carry reverse derivatives through forward ones.

    >>> import tensorlab as tl
    >>> import tensorlab.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     x = fwAD.make_dual(tl.tensor(3.), tl.tensor(1.))
    ...     fwAD.unpack_dual(x * x).tangent
    tensor(6.)
    """

    def __enter__(self) -> int:
        self.level = enter_dual_level()
        return self.level

    def __exit__(self, *error: Any) -> None:
        exit_dual_level(level=self.level)


def _level(level: int | None, what: str) -> list[Tensor]:
    if not _levels:
        raise RuntimeError(
            f"{what}(): Trying to use forward AD outside a `dual_level` block. Wrap the code in `with forward_ad.dual_level():`."
        )
    return _levels[len(_levels) - 1 if level is None else level]


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A dual tensor: the value of ``tensor`` with a derivative, ``tangent``, of the same shape and type.

    Raises ``RuntimeError`` outside a level or where the two do not fit, ``ValueError`` for types without derivatives.
    """
    for name, x in (("tensor", tensor), ("tangent", tangent)):
        if not isinstance(x, Tensor):
            raise TypeError(f"make_dual(): argument '{name}' must be Tensor, not {type(x).__name__}")
    epsilons = _level(level, "make_dual")
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise ValueError(f"Expected primal to be floating point or complex, but got: {tensor.dtype}")
    if not (tangent.is_floating_point() or tangent.is_complex()):
        raise ValueError(f"Expected tangent to be floating point or complex, but got: {tangent.dtype}")
    if tensor.shape != tangent.shape or tensor.dtype != tangent.dtype:
        raise RuntimeError(
            f"make_dual(): the tangent must have the shape and type of the value, {list(tensor.shape)} {tensor.dtype}, not "
            f"{list(tangent.shape)} {tangent.dtype}"
        )
    like = epsilon_for(tensor)
    known = next((e for e in epsilons if e.dtype == like.dtype and e.device == like.device), None)
    if known is None:
        epsilons.append(like)
        known = like
    return attach(tensor, tangent, known)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The value of a dual tensor and its tangent, ``None`` for a tensor that does not depend on any of this level's duals."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"unpack_dual(): argument 'tensor' must be Tensor, not {type(tensor).__name__}")
    if not _levels and level is None:
        return UnpackedDualTensor(tensor, None)
    total: Any = None
    epsilons = _level(level, "unpack_dual")
    for epsilon in epsilons:
        part = along(tensor, epsilon, create_graph=state.grad and others(tensor, epsilons))
        total = part if total is None or part is None else total + part
    return UnpackedDualTensor(released(tensor, epsilons), released(total, epsilons))
