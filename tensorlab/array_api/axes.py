"""What functions of the array API make of their arguments."""

from __future__ import annotations

from typing import Any

from tensorlab import dtypes
from tensorlab.tensor import Tensor


def axes_of(x: Tensor, axis: Any) -> tuple[int, ...]:
    """The axes that an argument names; all of them for ``None``."""
    return tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)


def sum_type(x: Tensor, dtype: Any) -> dtypes.dtype:
    """The type that sums and products are formed in."""
    if dtype is not None:
        return dtypes.as_dtype(dtype)
    return dtypes.int64 if x.dtype.category <= dtypes.INTEGER else x.dtype
