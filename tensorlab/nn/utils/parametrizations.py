"""Ready parametrizations: weight norm, spectral norm, orthogonal matrices."""

from __future__ import annotations

from typing import Any

from tensorlab import functional
from tensorlab.nn import functional as F
from tensorlab.nn.modules.module import Module
from tensorlab.nn.utils import parametrize
from tensorlab.nn.utils.norms import (
    as_matrix,
    directed,
    norm_except,
    output_dim,
    power_method,
    random_direction,
)
from tensorlab.tensor import Tensor

__all__ = ["spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    """A weight from its lengths and its directions."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return directed(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Any) -> tuple[Any, Any]:
        return norm_except(weight, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Train the lengths (``original0``) and directions (``original1``) of a weight instead of the weight itself.

    There is a length for every slice along ``dim``, or one for all with ``dim=None``. States that were saved by the older
    ``nn.utils.weight_norm`` load. Returns the module. Source: Salimans and Kingma, 2016.
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    module._register_load_state_dict_pre_hook(_OldNames(name))
    return module


class _OldNames:
    """Takes the names that the hook form of weight norm saves under."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, state_dict: dict[str, Any], prefix: str, *report: Any) -> None:
        for end, original in (("_g", "original0"), ("_v", "original1")):
            if f"{prefix}{self.name}{end}" in state_dict:
                value = state_dict.pop(f"{prefix}{self.name}{end}")
                state_dict[f"{prefix}parametrizations.{self.name}.{original}"] = value


class _SpectralNorm(Module):
    """A weight over an estimate of its largest singular value."""

    _u: Any
    _v: Any

    def __init__(self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        dims = weight.dim()
        if not -dims <= dim < dims:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{dims}, {dims - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % dims
        self.eps = eps
        if dims > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight.detach(), self.dim)
            height, width = matrix.shape
            self.register_buffer("_u", random_direction(weight, height, eps))
            self.register_buffer("_v", random_direction(weight, width, eps))
            power_method(matrix, self._u, self._v, 15, eps, v_first=False)

    def forward(self, weight: Any) -> Any:
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            power_method(matrix, self._u, self._v, self.n_power_iterations, self.eps, v_first=False)
        u, v = self._u.clone(), self._v.clone()  # a second call moves the vectors on, and a backward pass wants these
        return weight / functional.vdot(u, functional.mv(matrix, v))

    def right_inverse(self, value: Any) -> Any:
        return value


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divide a weight by an estimate of its largest singular value; reading it in training makes the estimate better.

    ``dim`` counts the outputs: 1 for transposed convolutions, else 0. Returns the module. Raises ``ValueError`` if there is
    no such tensor. Source: Miyato and others, 2018.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    dim = output_dim(module) if dim is None else dim
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module
