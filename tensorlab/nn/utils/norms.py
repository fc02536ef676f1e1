"""What weight norm and spectral norm compute, in whichever way they are attached to a module."""

from __future__ import annotations

from typing import Any

from tensorlab import functional, modes
from tensorlab.nn import functional as F
from tensorlab.nn.modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d


def norm_except(v: Any, dim: int) -> Any:
    """The 2-norms of the slices of ``v`` along ``dim``, in a shape that broadcasts; -1 is all of ``v`` as one."""
    if dim == -1:
        return functional.norm(v)
    others = [d for d in range(v.dim()) if d != dim % v.dim()]
    return functional.norm(v, 2, others, keepdim=True) if others else functional.abs(v)


def directed(v: Any, g: Any, dim: int) -> Any:
    """``v`` with its slices brought to the lengths ``g``."""
    return v * (g / norm_except(v, dim))


def as_matrix(weight: Any, dim: int) -> Any:
    """A weight as a matrix whose rows are its slices along ``dim``."""
    if dim != 0:
        weight = weight.permute(dim, *[d for d in range(weight.dim()) if d != dim])
    return weight.flatten(1)


def power_method(matrix: Any, u: Any, v: Any, turns: int, eps: float, v_first: bool) -> None:
    """Turn ``u`` and ``v``, in place, towards the singular vectors of the largest singular value."""
    with modes.no_grad():
        back = matrix.detach().t().conj()
        for _ in range(turns):
            if v_first:
                v.copy_(F.normalize(functional.mv(back, u), dim=0, eps=eps))
            u.copy_(F.normalize(functional.mv(matrix, v), dim=0, eps=eps))
            if not v_first:
                v.copy_(F.normalize(functional.mv(back, u), dim=0, eps=eps))


def random_direction(weight: Any, size: int, eps: float) -> Any:
    """A random vector of length 1, of a weight's type and on its device."""
    return F.normalize(weight.detach().new_empty(size).normal_(0, 1), dim=0, eps=eps)


def output_dim(module: Any) -> int:
    """Which dimension of a module's weight counts its outputs."""
    return 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
