"""SciPy's special functions where an array is: ``scipy.special`` on the CPU, ``cupyx.scipy.special`` on a GPU.

Both are imported when a function of theirs is first used, never by ``import tensorlab``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

_ROOMS = {"numpy": "scipy.special", "cupy": "cupyx.scipy.special"}


def special(xp: Any) -> Any:
    """The special functions for arrays of a namespace. Raises ``RuntimeError`` where the package that has them is missing."""
    try:
        return import_module(_ROOMS[xp.__name__])
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
