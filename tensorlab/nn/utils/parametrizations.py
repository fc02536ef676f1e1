"""Ready parametrizations: weight norm, spectral norm, orthogonal matrices."""

from __future__ import annotations

from typing import Any

from tensorlab import creation, functional, linalg, modes, random
from tensorlab.dtypes import finfo
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

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


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


#: How a matrix of free numbers becomes an orthogonal one.
_MAPS = ("matrix_exp", "cayley", "householder")


class _Orthogonal(Module):
    """A matrix with orthonormal rows or columns, whichever are fewer, from a matrix of free numbers.

    ``base`` times what the map gives, so that the map works near the identity; without trivialization there is no base.
    """

    base: Any

    def __init__(self, weight: Any, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Any) -> Any:
        wide = X.shape[-2] < X.shape[-1]
        X = X.mT if wide else X
        Q = self._reflected(X) if self.orthogonal_map == "householder" else self._turned(X)
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if wide else Q

    def _turned(self, X: Any) -> Any:
        """By a skew matrix made of the lower triangle: its exponential, or its Cayley transform."""
        n, k = X.shape[-2:]
        X = X.tril()
        if n != k:
            X = functional.cat([X, X.new_zeros((*X.shape[:-2], n, n - k))], -1)
        A = X - X.mT.conj()
        if self.orthogonal_map == "matrix_exp":
            return linalg.matrix_exp(A)[..., :k]
        one = creation.eye(n, dtype=A.dtype, device=A.device)
        return linalg.solve(one - A * 0.5, one + A * 0.5)[..., :k]

    def _reflected(self, X: Any) -> Any:
        """By reflections along the columns below the diagonal, with the signs on it."""
        A = X.tril(-1)
        Q = linalg.householder_product(A, 2.0 / (1.0 + (A * A).sum(-2)))
        return Q * X.detach().diagonal(dim1=-2, dim2=-1).trunc().unsqueeze(-2)

    def right_inverse(self, Q: Any) -> Any:
        """Free numbers that give ``Q`` (made orthogonal first if it is not and there is a base)."""
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        with modes.no_grad():
            tall = Q.mT if Q.shape[-2] < Q.shape[-1] else Q
            if hasattr(self, "base"):
                self.base = _whole(tall)
                start = creation.zeros_like(Q)
                start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
                return start
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                    "use_trivialization=False."
                )
            A, tau = functional.geqrf(tall)
            signs = A.diagonal(dim1=-2, dim2=-1)
            signs.copy_(signs.sign() * (1.0 - 2.0 * (tau == 0).to(A.dtype)))
            return A.mT if tall is not Q else A


def _whole(Q: Any) -> Any:
    """A square orthogonal matrix that begins with ``Q``, or with its orthonormal form."""
    n, k = Q.shape[-2:]
    if n == k and _is_orthogonal(Q):
        return Q.clone()
    if n != k:
        more = random.randn((*Q.shape[:-2], n, n - k), dtype=Q.dtype, device=Q.device)
        Q = functional.cat([Q, more], -1)
    q, r = linalg.qr(Q)
    return q * r.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def _is_orthogonal(Q: Any) -> bool:
    n, k = Q.shape[-2:]
    one = creation.eye(k, dtype=Q.dtype, device=Q.device)
    return bool(((Q.mT.conj() @ Q - one).abs() <= 10.0 * n * finfo(Q.dtype).eps + 1e-5 * one.abs()).all())


def orthogonal(
    module: Any, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Any:
    """Keep a matrix, or a batch of them, orthogonal: its rows or columns, whichever are fewer, stay orthonormal.

    ``orthogonal_map`` makes it from free numbers: ``"matrix_exp"`` (square or complex by default), ``"cayley"`` or
    ``"householder"`` (the others). With ``use_trivialization`` the weight starts as it is, once made orthogonal, and may be
    assigned. Returns the module. Raises ``ValueError`` if there is no such tensor or it is no matrix. Source: Lezcano-Casado,
    2019.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    matrix: Any = weight
    if matrix.dim() < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {matrix.dim()} dimensions.")
    if orthogonal_map is None:
        square = matrix.shape[-2] == matrix.shape[-1]
        orthogonal_map = "matrix_exp" if square or matrix.is_complex() else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    orth = _Orthogonal(matrix, orthogonal_map, use_trivialization=use_trivialization)
    parametrize.register_parametrization(module, name, orth, unsafe=True)
    return module
