"""Short programs of the kinds that people write, each for whichever library it is given under the name `torch`.

A program takes the library and the numbers to work on, and returns what it would show: curves, tensors, words. Draws differ
between libraries, so everything random is drawn by NumPy here and handed to both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Program = Callable[[Any, "Given"], Any]
PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    assert function.__name__ not in PROGRAMS
    PROGRAMS[function.__name__] = function
    return function


class Given:
    """Numbers that are the same whichever library asks for them, as that library's tensors."""

    def __init__(self, torch: Any, seed: int = 0) -> None:
        self.torch, self.random = torch, np.random.default_rng(seed)

    def __call__(self, *shape: int, scale: float = 1.0, requires_grad: bool = False) -> Any:
        """Normal draws."""
        numbers = self.torch.tensor(self._rounded(self.random.standard_normal(shape) * scale))
        return numbers.requires_grad_() if requires_grad else numbers

    def _rounded(self, numbers: Any) -> Any:
        wide = self.torch.get_default_dtype() == self.torch.float64
        return np.asarray(numbers, np.float64 if wide else np.float32)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> Any:
        return self.torch.tensor(self._rounded(self.random.uniform(low, high, shape)))

    def whole(self, high: int, *shape: int) -> Any:
        return self.torch.tensor(self.random.integers(0, high, shape))

    def fill(self, module: Any, scale: float = 1.0) -> Any:
        """The module with parameters drawn anew: weights as wide as their inputs ask for, vectors near what they were."""
        with self.torch.no_grad():
            for p in module.parameters():
                fan = p[0].numel() if p.dim() > 1 else 100
                drawn = self(*p.shape, scale=scale * fan**-0.5)
                begun_alike = p.dim() == 1 and p.numel() > 1 and bool(p.eq(p[0]).all())  # ones or zeros, of a norm
                p.copy_(drawn + p[0] if begun_alike else drawn)
        return module
