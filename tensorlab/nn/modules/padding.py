"""Padding as layers: ``padding`` is one amount for all sides, or pairs (before, after) with the last dimension first."""

from __future__ import annotations

from typing import Any

from tensorlab.nn import functional as F
from tensorlab.nn.modules.module import Module
from tensorlab.nn.modules.tuples import ntuple

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ReflectionPad1d",
    "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d",
    "ZeroPad3d",
]  # fmt: skip


class _Pad(Module):
    """Padding of ``_n`` dimensions out of the tensor itself, in ``_mode``."""

    _n, _mode = 0, ""

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = ntuple(padding, 2 * self._n)

    def forward(self, input: Any) -> Any:
        if self._mode == "circular" and input.dim() not in (self._n + 1, self._n + 2):
            raise ValueError(f"expected {self._n + 1}D or {self._n + 2}D input (got {input.dim()}D input)")
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(Module):
    """Padding of ``_n`` dimensions by a number."""

    _n = 0

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__()
        self.padding = ntuple(padding, 2 * self._n)
        self.value = value

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ZeroPadNd(_ConstantPadNd):
    """Padding of ``_n`` dimensions by 0."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ConstantPad1d(_ConstantPadNd):
    """``value`` around the last dimension."""

    _n = 1


class ConstantPad2d(_ConstantPadNd):
    """``value`` around the last two dimensions."""

    _n = 2


class ConstantPad3d(_ConstantPadNd):
    """``value`` around the last three dimensions."""

    _n = 3


class ZeroPad1d(_ZeroPadNd):
    """Zeros around the last dimension."""

    _n = 1


class ZeroPad2d(_ZeroPadNd):
    """Zeros around the last two dimensions."""

    _n = 2


class ZeroPad3d(_ZeroPadNd):
    """Zeros around the last three dimensions."""

    _n = 3


class ReflectionPad1d(_Pad):
    """The last dimension mirrored at its edges, which are not repeated."""

    _n, _mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """The last two dimensions mirrored at their edges, which are not repeated."""

    _n, _mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """The last three dimensions mirrored at their edges, which are not repeated."""

    _n, _mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """The edges of the last dimension repeated."""

    _n, _mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """The edges of the last two dimensions repeated."""

    _n, _mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """The edges of the last three dimensions repeated."""

    _n, _mode = 3, "replicate"


class CircularPad1d(_Pad):
    """The last dimension continued with its other end."""

    _n, _mode = 1, "circular"


class CircularPad2d(_Pad):
    """The last two dimensions continued with their other ends."""

    _n, _mode = 2, "circular"


class CircularPad3d(_Pad):
    """The last three dimensions continued with their other ends."""

    _n, _mode = 3, "circular"
