"""SciPy's special functions where an array is: ``scipy.special`` on the CPU, ``cupyx.scipy.special`` on a GPU.

Both are imported when a function of theirs is first used, never by ``import tensorlab``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np


def special(xp: Any) -> Any:
    """The special functions for arrays of a namespace. Raises ``RuntimeError`` where the package that has them is missing."""
    return _on_host() if xp is np else _loaded("cupyx.scipy.special")


@cache
def _on_host() -> Any:
    return _loaded("scipy.special")


def _loaded(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise RuntimeError(
            f"special functions need SciPy, which cannot be imported ({error}); install it with: pip install scipy"
        ) from None


def rounded_once(forward: Callable[..., Any]) -> Callable[..., Any]:
    """A forward that computes float16 and bfloat16 in float32."""

    def kernel(xp: Any, *arrays: Any, **attrs: Any) -> Any:
        kind = arrays[0].dtype
        if kind.itemsize != 2 or kind.kind not in "fV":
            return forward(xp, *arrays, **attrs)
        found = forward(xp, *[a.astype(np.float32) for a in arrays], **attrs)
        return found.astype(kind) if found.dtype == np.float32 else found

    return kernel


def from_scipy(name: str) -> Callable[..., Any]:
    """A forward that is one function of SciPy's."""
    return rounded_once(lambda xp, *arrays: getattr(special(xp), name)(*arrays))
