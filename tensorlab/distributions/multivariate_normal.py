"""Normal vectors."""

from __future__ import annotations

import math
from typing import Any

from tensorlab import functional as F
from tensorlab import linalg
from tensorlab.distributions import constraints
from tensorlab.distributions.distribution import Distribution
from tensorlab.distributions.utils import lazy_property, normal_like, one_of
from tensorlab.factories import eye

Tensor = Any


class MultivariateNormal(Distribution):
    """Normal vectors with mean ``loc``, and with a covariance that exactly one of three matrices gives.

    These are ``covariance_matrix``, its inverse ``precision_matrix``, or its lower Cholesky factor ``scale_tril``; the factor costs
    least. Batches of vectors and matrices broadcast.
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc: Tensor, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        name, matrix = one_of(
            "MultivariateNormal",
            covariance_matrix=covariance_matrix,
            precision_matrix=precision_matrix,
            scale_tril=scale_tril,
        )
        if loc.dim() < 1:
            raise ValueError("MultivariateNormal: parameter loc must be at least a vector, but is one number")
        if matrix.dim() < 2:
            raise ValueError(
                f"MultivariateNormal: parameter {name} must be at least a matrix, but has shape {list(matrix.shape)}"
            )
        batch = F.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.loc = loc.expand(*batch, loc.shape[-1])
        setattr(self, name, matrix.expand(*batch, *matrix.shape[-2:]))
        super().__init__(batch, loc.shape[-1:], validate_args=validate_args)
        self._root = {
            "scale_tril": lambda x: x,
            "covariance_matrix": linalg.cholesky,
            "precision_matrix": _root_of_inverse,
        }[name](matrix)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance."""
        return self._as_matrix(self._root)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        return self._as_matrix(self._root @ self._root.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return self._as_matrix(F.cholesky_inverse(self._root))

    def _as_matrix(self, x: Tensor) -> Tensor:
        return x.expand(*self._batch_shape, *x.shape[-2:])

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self._root.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        eps = normal_like(self.loc, self._extended_shape(sample_shape))
        return self.loc + (self._root @ eps.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        away = squared_length(self._root, self._ready(value) - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + away) - log_diagonal(self._root)

    def entropy(self) -> Tensor:
        found = 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi)) + log_diagonal(self._root)
        return found.expand(self._batch_shape)


def _root_of_inverse(matrix: Tensor) -> Tensor:
    """The lower Cholesky factor of the inverse, without inverting: turned around, a lower factor is an upper one."""
    upper = linalg.cholesky(matrix.flip(-2, -1)).flip(-2, -1).mT
    same = eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
    return linalg.solve_triangular(upper, same, upper=False)


def log_diagonal(root: Tensor) -> Tensor:
    """Half the logarithm of the determinant of a covariance, from its factor."""
    return root.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def squared_length(root: Tensor, away: Tensor) -> Tensor:
    """The square of Mahalanobis' length of vectors, from the factor of the covariance."""
    return linalg.solve_triangular(root, away.unsqueeze(-1), upper=False).squeeze(-1).pow(2).sum(-1)
