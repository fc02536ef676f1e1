"""Pooling as layers: the functions of ``nn.functional`` with their options kept."""

from __future__ import annotations

from typing import Any

from tensorlab.nn import functional as F
from tensorlab.nn.modules.module import Module
from tensorlab.nn.modules.tuples import ntuple

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d",
    "LPPool2d", "LPPool3d", "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
]  # fmt: skip


class _MaxPoolNd(Module):
    """The largest value of each window."""

    _function: Any = None

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Any) -> Any:
        return type(self)._function(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class _AvgPoolNd(Module):
    """The mean of each window."""

    kernel_size: Any
    stride: Any
    padding: Any

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _AvgPool(_AvgPoolNd):
    """The mean of each window of an image or a volume."""

    _function: Any = None

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Any) -> Any:
        return type(self)._function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class _AdaptiveAvgPoolNd(Module):
    """The mean of as many windows as asked for."""

    _function: Any = None

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Any) -> Any:
        return type(self)._function(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class _AdaptiveMaxPoolNd(Module):
    """The largest values of as many windows as asked for."""

    _function: Any = None

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input: Any) -> Any:
        return type(self)._function(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class _LPPoolNd(Module):
    """The power sum of each window, and its root."""

    _function: Any = None

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Any) -> Any:
        return type(self)._function(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        return f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, ceil_mode={self.ceil_mode}"


class _FractionalMaxPoolNd(Module):
    """The largest values of windows whose places are drawn."""

    _n = 0
    _function: Any = None

    def __init__(
        self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = ntuple(kernel_size, self._n)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = ntuple(output_size, self._n) if output_size is not None else None
        self.output_ratio = ntuple(output_ratio, self._n) if output_ratio is not None else None
        if output_size is None and output_ratio is None:
            raise ValueError(f"{type(self).__name__} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Any) -> Any:
        return type(self)._function(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples
        )


class _MaxUnpoolNd(Module):
    """Zeros with the largest values back in their places."""

    _n = 0
    _function: Any = None

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = ntuple(kernel_size, self._n)
        self.stride = ntuple(stride if stride is not None else kernel_size, self._n)
        self.padding = ntuple(padding, self._n)

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        return type(self)._function(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean of each window along the last dimension of ``[N, C, L]``; see :func:`tensorlab.nn.functional.avg_pool1d`."""

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = ntuple(kernel_size, 1)
        self.stride = ntuple(stride if stride is not None else kernel_size, 1)
        self.padding = ntuple(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Any) -> Any:
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class AvgPool2d(_AvgPool):
    """The mean of each window of an image; see :func:`tensorlab.nn.functional.avg_pool2d`."""

    _function = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPool):
    """The mean of each window of a volume; see :func:`tensorlab.nn.functional.avg_pool3d`."""

    _function = staticmethod(F.avg_pool3d)


class MaxPool1d(_MaxPoolNd):
    """The largest value of each window along the last dimension; see :func:`tensorlab.nn.functional.max_pool1d`."""

    _function = staticmethod(F.max_pool1d)


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The mean of ``output_size`` windows along the last dimension; see :func:`tensorlab.nn.functional.adaptive_avg_pool1d`."""

    _function = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest values of ``output_size`` windows along the last dimension; see :func:`tensorlab.nn.functional.adaptive_max_pool1d`."""

    _function = staticmethod(F.adaptive_max_pool1d)


class LPPool1d(_LPPoolNd):
    """The root of the power sum of each window along the last dimension; see :func:`tensorlab.nn.functional.lp_pool1d`."""

    _function = staticmethod(F.lp_pool1d)


class MaxUnpool1d(_MaxUnpoolNd):
    """The inverse of ``MaxPool1d``, with zeros for what was lost; see :func:`tensorlab.nn.functional.max_unpool1d`."""

    _n, _function = 1, staticmethod(F.max_unpool1d)


class MaxPool2d(_MaxPoolNd):
    """The largest value of each window of an image; see :func:`tensorlab.nn.functional.max_pool2d`."""

    _function = staticmethod(F.max_pool2d)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The mean of ``output_size`` windows of an image; see :func:`tensorlab.nn.functional.adaptive_avg_pool2d`."""

    _function = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest values of ``output_size`` windows of an image; see :func:`tensorlab.nn.functional.adaptive_max_pool2d`."""

    _function = staticmethod(F.adaptive_max_pool2d)


class LPPool2d(_LPPoolNd):
    """The root of the power sum of each window of an image; see :func:`tensorlab.nn.functional.lp_pool2d`."""

    _function = staticmethod(F.lp_pool2d)


class MaxUnpool2d(_MaxUnpoolNd):
    """The inverse of ``MaxPool2d``, with zeros for what was lost; see :func:`tensorlab.nn.functional.max_unpool2d`."""

    _n, _function = 2, staticmethod(F.max_unpool2d)


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The largest values of windows of an image at places that are drawn; see :func:`tensorlab.nn.functional.fractional_max_pool2d`."""

    _n, _function = 2, staticmethod(F.fractional_max_pool2d)


class MaxPool3d(_MaxPoolNd):
    """The largest value of each window of a volume; see :func:`tensorlab.nn.functional.max_pool3d`."""

    _function = staticmethod(F.max_pool3d)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The mean of ``output_size`` windows of a volume; see :func:`tensorlab.nn.functional.adaptive_avg_pool3d`."""

    _function = staticmethod(F.adaptive_avg_pool3d)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest values of ``output_size`` windows of a volume; see :func:`tensorlab.nn.functional.adaptive_max_pool3d`."""

    _function = staticmethod(F.adaptive_max_pool3d)


class LPPool3d(_LPPoolNd):
    """The root of the power sum of each window of a volume; see :func:`tensorlab.nn.functional.lp_pool3d`."""

    _function = staticmethod(F.lp_pool3d)


class MaxUnpool3d(_MaxUnpoolNd):
    """The inverse of ``MaxPool3d``, with zeros for what was lost; see :func:`tensorlab.nn.functional.max_unpool3d`."""

    _n, _function = 3, staticmethod(F.max_unpool3d)


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The largest values of windows of a volume at places that are drawn; see :func:`tensorlab.nn.functional.fractional_max_pool3d`."""

    _n, _function = 3, staticmethod(F.fractional_max_pool3d)
