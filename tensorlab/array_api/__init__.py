"""The Python array API, version 2024.12, over tensors: its names, argument names and results.

``x.__array_namespace__()`` gives this module, so that code written for the standard takes tensors. Whatever has a gradient keeps it.
Not here: unsigned integers of 16 to 64 bits, the extensions ``linalg`` and ``fft`` (use ``tensorlab.linalg`` and ``tensorlab.fft``), and
the attribute ``x.size``, which PyTorch made a method. Sums of uint8 are int64. Source: data-apis.org, array API standard.

>>> import tensorlab as tl
>>> xp = tl.ones(2).__array_namespace__()
>>> xp.sum(xp.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=0, keepdims=True)
tensor([[4., 6.]])
"""

from __future__ import annotations

import math as _math
from typing import Any as _Any

from tensorlab import backend as _backend
from tensorlab import defaults as _defaults
from tensorlab import dtypes as _types
from tensorlab.array_api.creation import *  # noqa: F403
from tensorlab.array_api.elementwise import *  # noqa: F403
from tensorlab.array_api.finding import *  # noqa: F403
from tensorlab.array_api.manipulation import *  # noqa: F403
from tensorlab.array_api.reducing import *  # noqa: F403
from tensorlab.array_api.types import *  # noqa: F403
from tensorlab.array_api.types import KINDS as _KINDS
from tensorlab.array_api.types import isdtype as isdtype
from tensorlab.device import device as _device_class
from tensorlab.dtypes import bool_ as bool  # noqa: F401  (the standard's name)

__array_api_version__ = "2024.12"
e, inf, nan, newaxis, pi = _math.e, _math.inf, _math.nan, None, _math.pi


class _Info:
    """What this namespace offers."""

    def capabilities(self) -> dict[str, _Any]:
        """What calls may do."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> _device_class:
        """The device of new tensors."""
        return _defaults.get_default_device()

    def default_dtypes(self, *, device: _Any = None) -> dict[str, _types.dtype]:
        """The types of new tensors, by kind."""
        real = _types.default.float
        return {
            "real floating": real, "complex floating": real.to_complex(), "integral": _types.int64, "indexing": _types.int64,
        }  # fmt: skip

    def dtypes(self, *, device: _Any = None, kind: _Any = None) -> dict[str, _types.dtype]:
        """The types of the standard that there are, by name; all, or those of a kind."""
        return {d.name: d for d in (_types.bool_, *_KINDS["numeric"]) if kind is None or isdtype(d, kind)}

    def devices(self) -> list[_device_class]:
        """The devices that tensors can be on."""
        count = _backend.gpu().count() if _backend.why_no_gpu() is None else 0
        return [_device_class("cpu"), *[_device_class("cuda", i) for i in range(count)]]


def __array_namespace_info__() -> _Info:
    """What this namespace offers: types, devices, capabilities."""
    return _Info()
