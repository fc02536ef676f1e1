"""What distributions share: parameters of one shape, values worked out when first asked for, probabilities and their logits."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

from tensorlab import creation, dispatch, dtypes
from tensorlab import functional as F
from tensorlab.autograd import enable_grad
from tensorlab.nn import functional as NF
from tensorlab.random import rand, randn

Tensor = Any

euler_constant = 0.57721566490153286060


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Numbers and tensors as tensors of one shape. Numbers take the type and device of the first tensor, else the default type.

    Raises ``ValueError`` for anything that is neither number nor tensor.
    """
    if not all(isinstance(v, (dispatch.Tensor, Number)) for v in values):
        kinds = ", ".join(type(v).__name__ for v in values)
        raise ValueError(
            f"the parameters of a distribution are numbers or tensors, but got {kinds}; make tensors of lists"
        )
    first = next((v for v in values if isinstance(v, dispatch.Tensor)), None)
    like: dict[str, Any] = {"dtype": dtypes.get_default_dtype()}
    if first is not None:
        like = {"dtype": first.dtype, "device": first.device}
    tensors = [v if isinstance(v, dispatch.Tensor) else creation.tensor(v, **like) for v in values]
    return tuple(F.broadcast_tensors(*tensors))


class lazy_property:
    """A value that is worked out when first asked for, with a graph even inside ``no_grad``, and kept."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__
        self.__name__ = wrapped.__name__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        instance.__dict__[self.__name__] = value
        return value


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities moved away from 0 and 1 by the ``eps`` of their type, so that their logarithms are finite."""
    eps = dtypes.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of log-odds (``is_binary``), or of unnormalised log-probabilities along the last dimension."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Log-odds of probabilities (``is_binary``), or their logarithms. Probabilities 0 and 1 give large finite numbers."""
    safe = clamp_probs(probs)
    return safe.log() - (-safe).log1p() if is_binary else safe.log()


def sum_rightmost(value: Any, count: int) -> Any:
    """The sum over the last ``count`` dimensions."""
    return value if count == 0 else value.reshape(*value.shape[:-count], -1).sum(-1)


def one_of(owner: str, **given: Any) -> tuple[str, Any]:
    """Name and value of the one argument that was given. Raises ``ValueError`` for none and for several."""
    found = [(name, value) for name, value in given.items() if value is not None]
    if len(found) != 1:
        got = " and ".join(name for name, _ in found) or "none"
        raise ValueError(f"{owner}() takes exactly one of {', '.join(given)}, but got {got}")
    return found[0]


def uniform_like(param: Tensor, shape: Any) -> Tensor:
    """Uniform numbers strictly between 0 and 1, in type and on the device of a parameter."""
    info = dtypes.finfo(param.dtype)
    return rand(shape, dtype=param.dtype, device=param.device).clamp(min=info.tiny, max=1 - info.eps / 2)


def normal_like(param: Tensor, shape: Any) -> Tensor:
    """Standard normal numbers, in type and on the device of a parameter."""
    return randn(shape, dtype=param.dtype, device=param.device)


def log_odds_of_success(value: Tensor, logits: Tensor) -> Tensor:
    """The log-probability of 0, 1, or a share between them, under success with the log-odds ``logits``."""
    return -NF.binary_cross_entropy_with_logits(logits, value, reduction="none")
