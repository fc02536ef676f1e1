"""Switches of the whole process that programs set when they start: threads, determinism, the precision of products."""

from __future__ import annotations

import ctypes
import functools
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

_threads: int | None = None
_deterministic = _warns_only = False
_precision = "highest"

_PRECISIONS = ("highest", "high", "medium")


@functools.cache
def _openblas() -> Any:
    """How many threads NumPy's products use, as ``(function that asks, function that sets)``; ``None`` where it is not known."""
    home = Path(np.__file__).parent
    places = [home.parent / "numpy.libs", home / ".dylibs", home / ".libs"]
    for path in [path for place in places if place.is_dir() for path in sorted(place.iterdir())]:
        if "openblas" not in path.name:
            continue
        library = ctypes.CDLL(str(path))  # NumPy has it loaded: this is another handle on it
        for before, after in (("scipy_", "64_"), ("scipy_", ""), ("", "64_"), ("", "")):
            ask = getattr(library, f"{before}openblas_get_num_threads{after}", None)
            put = getattr(library, f"{before}openblas_set_num_threads{after}", None)
            if ask and put:
                return ask, put
    return None


def get_num_threads() -> int:
    """How many threads one product of matrices may use on the CPU."""
    if _openblas() is not None:
        return int(_openblas()[0]())
    return _threads or os.cpu_count() or 1


def set_num_threads(num_threads: int) -> None:
    """How many threads one product of matrices may use on the CPU: those of the OpenBLAS in NumPy's wheels.

    A NumPy with another library keeps the number that this library started with (its own environment variable says it, such as
    ``MKL_NUM_THREADS``). All other operations use one thread. Raises ``RuntimeError`` for a number below 1.

    >>> import tensorlab as tl
    >>> before = tl.get_num_threads()
    >>> tl.set_num_threads(1); tl.get_num_threads()
    1
    >>> tl.set_num_threads(before)
    """
    global _threads
    if isinstance(num_threads, bool) or not isinstance(num_threads, int):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(num_threads).__name__}")
    if num_threads < 1:
        raise RuntimeError(f"set_num_threads expects a positive integer, but got {num_threads}")
    _threads = num_threads
    if _openblas() is not None:
        _openblas()[1](num_threads)


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for the same bits every time. Kept for ``are_deterministic_algorithms_enabled``; it changes nothing.

    On the CPU every operation gives the same bits every time in any case. On a GPU, sums of several values at one place
    (``index_add``, ``scatter_add``, gradients of indexing and of embeddings) are formed in no fixed order, whatever is said here.
    """
    global _deterministic, _warns_only
    if not isinstance(mode, bool):
        raise TypeError(f"use_deterministic_algorithms(): argument 'mode' must be bool, not {type(mode).__name__}")
    _deterministic, _warns_only = mode, mode and warn_only


def are_deterministic_algorithms_enabled() -> bool:
    """Whether ``use_deterministic_algorithms`` was last called with ``True``."""
    return _deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether ``use_deterministic_algorithms`` was last called with ``True`` and ``warn_only=True``."""
    return _warns_only


def get_float32_matmul_precision() -> str:
    """What ``set_float32_matmul_precision`` was last told; ``"highest"`` at the start."""
    return _precision


def set_float32_matmul_precision(precision: str) -> None:
    """Allow less than float32 inside of float32 products. Kept for ``get_float32_matmul_precision``; it changes nothing.

    Products compute in whole float32 under each of ``"highest"``, ``"high"`` and ``"medium"``. Other words are warned of and left out.
    """
    global _precision
    if precision not in _PRECISIONS:
        known = ", ".join(repr(word) for word in _PRECISIONS)
        warnings.warn(f"{precision!r} is not one of {known}: the precision stays {_precision!r}", stacklevel=2)
        return
    _precision = precision
