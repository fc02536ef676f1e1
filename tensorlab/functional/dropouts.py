"""Dropout in its native forms: elements or whole channels, set to 0 or to what keeps the mean and deviation of SELU."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorlab import dispatch, random
from tensorlab.functional.arguments import need_tensor

Tensor = Any

#: What SELU gives far below zero.
_ALPHA = -1.7580993408473766


def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """In training each element is 0 with probability ``p``, else divided by ``1 - p``."""
    return _scaled("dropout", input, p, train, False, False)


def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """:func:`dropout`, written into ``input``."""
    return _scaled("dropout_", input, p, train, True, False)


def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """In training each channel of ``[N, C, *]`` is 0 with probability ``p``, else divided by ``1 - p``."""
    return _scaled("feature_dropout", input, p, train, False, True)


def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """:func:`feature_dropout`, written into ``input``."""
    return _scaled("feature_dropout_", input, p, train, True, True)


def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """In training each element takes SELU's lowest value with probability ``p``; all are scaled to keep mean and deviation.

    Source: Klambauer et al., "Self-Normalizing Neural Networks", 2017.
    """
    return _shifted("alpha_dropout", input, p, train, False, False)


def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """:func:`alpha_dropout`, written into ``input``."""
    return _shifted("alpha_dropout_", input, p, train, True, False)


def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """:func:`alpha_dropout` of whole channels of ``[N, C, *]``."""
    return _shifted("feature_alpha_dropout", input, p, train, False, True)


def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """:func:`feature_alpha_dropout`, written into ``input``."""
    return _shifted("feature_alpha_dropout_", input, p, train, True, True)


def _kept(op: str, input: Tensor, p: float, features: bool) -> np.ndarray:
    """Which elements, or which channels, stay."""
    shape = tuple(input._a.shape)
    if features:
        if len(shape) < 2:
            raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
        shape = shape[:2] + (1,) * (len(shape) - 2)
    return random.numpy_generator().random(shape, np.float32) >= p


def _there(values: np.ndarray, input: Tensor) -> Tensor:
    """Host values as a tensor of the input's type, where that is."""
    return dispatch.move(dispatch.wrap(values.astype(input._a.dtype)), dispatch.device_of(input._a))


def _idle(op: str, input: Tensor, p: float, train: bool) -> bool:
    need_tensor(op, "input", 1, input)
    if not 0.0 <= p <= 1.0:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
    return not train or p == 0 or input._a.size == 0


def _scaled(op: str, input: Tensor, p: float, train: bool, inplace: bool, features: bool) -> Tensor:
    if _idle(op, input, p, train):
        return input
    keep = _kept(op, input, p, features)
    noise = _there(keep.astype(np.float64) * (0.0 if p == 1 else 1.0 / (1.0 - p)), input)
    return input.mul_(noise) if inplace else input * noise


def _shifted(op: str, input: Tensor, p: float, train: bool, inplace: bool, features: bool) -> Tensor:
    if _idle(op, input, p, train):
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    keep = _kept(op, input, p, features).astype(np.float64)
    a = 1.0 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    noise, shift = _there(keep * a, input), _there((1 - keep) * (_ALPHA * a) - _ALPHA * a * p, input)
    return input.mul_(noise).add_(shift) if inplace else input * noise + shift
