"""What the optimizers demand of their options, in one place."""

from __future__ import annotations

from typing import Any

from tensorlab.tensor import Tensor


def rate(lr: Any) -> None:
    """A learning rate: a number, or a tensor of one element, that is not negative."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError(f"Tensor lr must be 1-element, got shape {list(lr.shape)}")
    not_negative("Invalid learning rate: {}", lr)


def not_negative(message: str, value: Any) -> None:
    """``ValueError`` with the message for a negative value, and for NaN."""
    if not 0.0 <= value:
        raise ValueError(message.format(value))


def betas(pair: tuple[Any, Any]) -> None:
    """Two weights of running means, each in [0, 1)."""
    for at, beta in enumerate(pair):
        if isinstance(beta, Tensor) and beta.numel() != 1:
            raise ValueError(f"Tensor betas[{at}] must be 1-element, got shape {list(beta.shape)}")
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {at}: {beta}")


def switches(foreach: bool | None, fused: bool | None, differentiable: bool) -> None:
    """Ways of computing that exclude each other."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
