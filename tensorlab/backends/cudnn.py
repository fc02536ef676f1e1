"""NVIDIA's library of layers, which tensorlab does not use: its switches can be set and change nothing.

>>> import tensorlab as tl
>>> tl.backends.cudnn.benchmark = False
>>> tl.backends.cudnn.is_available()
False
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

enabled = True
benchmark = False
deterministic = False
allow_tf32 = True
benchmark_limit: int | None = 10


def is_available() -> bool:
    """False: layers are computed without cuDNN, on GPUs too."""
    return False


def version() -> None:
    """``None``: there is no cuDNN."""


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int | None = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
) -> Iterator[None]:
    """The switches of this module with other values inside a ``with``. They change nothing."""
    inside = {
        "enabled": enabled, "benchmark": benchmark, "benchmark_limit": benchmark_limit, "deterministic": deterministic,
        "allow_tf32": allow_tf32,
    }  # fmt: skip
    before = {name: globals()[name] for name in inside}
    globals().update(inside)
    try:
        yield
    finally:
        globals().update(before)
