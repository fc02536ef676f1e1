"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorlab import functional
from tensorlab.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of all parameters, one after another. Raises ``TypeError`` for parameters on several devices."""
    given: Any = list(parameters)
    _on_one_device(given)
    return functional.cat([p.reshape(-1) for p in given])


def vector_to_parameters(vec: Any, parameters: Iterable[Tensor]) -> None:
    """Give every parameter its part of ``vec`` as its new values.

    Raises ``TypeError`` for what is no tensor, ``ValueError`` unless their sizes add up; parameters stay as they are then.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected tensorlab.Tensor, but got: {type(vec).__name__}")
    own: Any = list(parameters)
    given: Any = vec
    _on_one_device(own)
    sizes = [p.numel() for p in own]
    if given.dim() != 1 or given.numel() != sum(sizes):
        raise ValueError(f"vec must hold {sum(sizes)} elements in one dimension, got shape {list(given.shape)}")
    for p, part in zip(own, given.split(sizes), strict=True):
        p.data = part.reshape(p.shape).detach()


def _on_one_device(parameters: list[Any]) -> None:
    places = {str(p.device) for p in parameters}
    if len(places) > 1:
        raise TypeError(
            f"Found two parameters on different devices, this is currently not supported: {', '.join(sorted(places))}"
        )
