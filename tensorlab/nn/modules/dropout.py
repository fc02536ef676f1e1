"""Layers that act in training only."""

from __future__ import annotations

from typing import Any

from tensorlab.nn import functional as F
from tensorlab.nn.modules.module import Module

__all__ = ["Dropout"]


class Dropout(Module):
    """In training each element is 0 with probability ``p``, else divided by ``1 - p``; in evaluation nothing
    happens.
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"
