"""Arguments that are one number, or one for each dimension."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def ntuple(value: Any, n: int) -> tuple[Any, ...]:
    """A tuple of what is given, or of ``n`` times the one thing that is."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * n


def reversed_twice(values: Iterable[int]) -> list[int]:
    """Amounts as ``pad`` takes them: the last dimension first, each before and after."""
    return [v for value in reversed(list(values)) for v in (value, value)]
