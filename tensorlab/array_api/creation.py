"""New tensors, by the array API."""

from __future__ import annotations

from typing import Any

from tensorlab import creation, dtypes, interchange
from tensorlab.functional import plain
from tensorlab.interchange import from_dlpack as from_dlpack
from tensorlab.tensor import Tensor

__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "meshgrid", "ones",
    "ones_like", "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Tensor:
    """Anything as a tensor, sharing memory where it can."""
    return interchange.asarray(obj, dtype=dtype, device=device, copy=copy)


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Tensor:
    """``start, start + step, ...`` up to but not including ``stop``; nothing where ``stop`` lies the other way."""
    start, stop = (0, start) if stop is None else (start, stop)
    if (stop - start) * step < 0:
        whole = all(isinstance(v, int) for v in (start, stop, step))
        return creation.empty(0, dtype=dtype or (dtypes.int64 if whole else dtypes.default.float), device=device)
    return creation.arange(start, stop, step, dtype=dtype, device=device)


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Whatever was in memory."""
    return creation.empty(_shape(shape), dtype=dtype, device=device)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Zeros."""
    return creation.zeros(_shape(shape), dtype=dtype, device=device)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Ones."""
    return creation.ones(_shape(shape), dtype=dtype, device=device)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """One value everywhere."""
    return creation.full(_shape(shape), fill_value, dtype=dtype, device=device)


def _shape(shape: Any) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def empty_like(x: Tensor, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Whatever was in memory, in the shape of ``x``."""
    return creation.empty_like(x, dtype=dtype, device=device)


def zeros_like(x: Tensor, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Zeros in the shape of ``x``."""
    return creation.zeros_like(x, dtype=dtype, device=device)


def ones_like(x: Tensor, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Ones in the shape of ``x``."""
    return creation.ones_like(x, dtype=dtype, device=device)


def full_like(x: Tensor, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """One value everywhere, in the shape of ``x``."""
    return creation.full_like(x, fill_value, dtype=dtype, device=device)


def eye(n_rows: int, n_cols: Any = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Tensor:
    """Ones on the diagonal number ``k``, zeros elsewhere."""
    columns = n_rows if n_cols is None else n_cols
    out = creation.zeros(n_rows, columns, dtype=dtype, device=device)
    if -n_rows < k < columns:
        out.diagonal(k).fill_(1)
    return out


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: Any = True
) -> Tensor:
    """``num`` values at equal distances from ``start`` to ``stop``, which is the last unless ``endpoint`` is false."""
    found = creation.linspace(start, stop, num if endpoint else num + 1, dtype=dtype, device=device)
    return found if endpoint else found[:num]


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> list[Tensor]:
    """Coordinates of a grid along several axes."""
    return list(plain["meshgrid"](*arrays, indexing=indexing)) if arrays else []


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The part of matrices on and below the diagonal number ``k``; zeros above."""
    return plain["tril"](x, k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The part of matrices on and above the diagonal number ``k``; zeros below."""
    return plain["triu"](x, k)
