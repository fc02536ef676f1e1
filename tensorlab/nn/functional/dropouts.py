"""Dropout of whole channels, and the dropout that goes with SELU."""

from __future__ import annotations

import warnings
from typing import Any

from tensorlab import functional
from tensorlab.functional.arguments import need_tensor

__all__ = ["alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]

Tensor = Any


def _probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """While ``training``: each element takes SELU's lowest value with probability ``p``; mean and deviation are kept."""
    _probability(p)
    return (functional.alpha_dropout_ if inplace else functional.alpha_dropout)(input, p, training)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """:func:`alpha_dropout` of whole channels of ``[N, C, *]``."""
    _probability(p)
    return (functional.feature_alpha_dropout_ if inplace else functional.feature_alpha_dropout)(input, p, training)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """While ``training``: each channel of ``[N, C, L]`` or ``[C, L]`` is 0 with probability ``p``, else divided by ``1 - p``."""
    _probability(p)
    need_tensor("dropout1d", "input", 1, input)
    ndim = input._a.ndim
    if ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {ndim}D input. Note that dropout1d exists to provide channel-wise "
            "dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch dimension."
        )
    return _channels(input, p, training, inplace, ndim == 3)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """While ``training``: each channel of ``[N, C, H, W]`` is 0 with probability ``p``, else divided by ``1 - p``."""
    _probability(p)
    need_tensor("dropout2d", "input", 1, input)
    _usual("dropout2d", input._a.ndim, (3, 4))
    if input._a.ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input, which is read as [N, C, L], as dropout1d reads it, and not as one image [C, H, W]. "
            "Say dropout1d if that is meant; for one image add a batch dimension with input.unsqueeze(0).",
            stacklevel=2,
        )
    return _channels(input, p, training, inplace, True)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """While ``training``: each channel of ``[N, C, D, H, W]`` or ``[C, D, H, W]`` is 0 with probability ``p``."""
    _probability(p)
    need_tensor("dropout3d", "input", 1, input)
    _usual("dropout3d", input._a.ndim, (4, 5))
    return _channels(input, p, training, inplace, input._a.ndim == 5)


def _usual(op: str, ndim: int, usual: tuple[int, ...]) -> None:
    if ndim not in usual:
        warnings.warn(
            f"{op}: Received a {ndim}-D input, but {op} is meant for {' or '.join(f'{n}-D' for n in usual)}. The first dimensions are "
            "taken for batch and channels; use the dropout that is named after the number of dimensions.",
            stacklevel=3,
        )


def _channels(input: Tensor, p: float, training: bool, inplace: bool, batched: bool) -> Tensor:
    run = functional.feature_dropout_ if inplace else functional.feature_dropout
    if batched:
        return run(input, p, training)
    if inplace:
        run(input.unsqueeze(0), p, training)
        return input
    return run(input.unsqueeze(0), p, training).squeeze(0)
