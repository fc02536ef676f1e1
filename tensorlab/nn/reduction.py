"""How the losses of single elements become one number, and the older ways of saying it."""

from __future__ import annotations

import warnings
from typing import Any

REDUCTIONS = frozenset(("mean", "sum", "none"))


def named_reduction(reduction: str, size_average: Any, reduce: Any) -> str:
    """The reduction by name; the two older arguments, where given, say it instead."""
    if size_average is not None or reduce is not None:
        by_mean = size_average is None or size_average
        by_any = reduce is None or reduce
        reduction = "mean" if by_mean and by_any else "sum" if by_any else "none"
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
            stacklevel=3,
        )
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction: choose 'mean', 'sum' or 'none'")
    return reduction
