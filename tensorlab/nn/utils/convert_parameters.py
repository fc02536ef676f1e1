"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorlab import functional
from tensorlab.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of all parameters, one after another."""
    return functional.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Any, parameters: Iterable[Tensor]) -> None:
    """Give every parameter its part of ``vec`` as its new values. Raises ``ValueError`` unless their sizes add up."""
    own = list(parameters)
    sizes = [p.numel() for p in own]
    if vec.dim() != 1 or vec.numel() != sum(sizes):
        raise ValueError(f"vec must hold {sum(sizes)} elements in one dimension, got shape {list(vec.shape)}")
    for p, part in zip(own, vec.split(sizes), strict=True):
        p.data = part.reshape(p.shape).detach()
