"""Convolutions as layers."""

from __future__ import annotations

import math
from typing import Any

from tensorlab import creation
from tensorlab.nn import functional as F
from tensorlab.nn import init
from tensorlab.nn.modules.module import Module
from tensorlab.nn.modules.tuples import ntuple, reversed_twice
from tensorlab.nn.parameter import Parameter

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What all convolutions share: their arguments, ``weight`` and ``bias``, and how these start.

    Both start uniform in ``±1 / sqrt(fan in)``.
    """

    weight: Any
    bias: Any
    _n = 0

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
        output_padding: Any, groups: int, bias: bool, padding_mode: str, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        _check(in_channels, out_channels, groups, stride, padding, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._margins()
        shape = (in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(creation.empty((*shape, *kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(creation.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _margins(self) -> list[int]:
        if not isinstance(self.padding, str):
            return reversed_twice(self.padding)
        if self.padding == "valid":
            return [0, 0] * len(self.kernel_size)
        totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
        return [part for total in reversed(totals) for part in (total // 2, total - total // 2)]

    def reset_parameters(self) -> None:
        """Draw the first values again."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        said = [
            str(self.in_channels),
            str(self.out_channels),
            f"kernel_size={self.kernel_size}",
            f"stride={self.stride}",
        ]
        said += [f"padding={self.padding}"] if self.padding != (0,) * len(self.kernel_size) else []
        said += [f"dilation={self.dilation}"] if self.dilation != (1,) * len(self.dilation) else []
        said += (
            [f"output_padding={self.output_padding}"] if self.output_padding != (0,) * len(self.output_padding) else []
        )
        said += [f"groups={self.groups}"] if self.groups != 1 else []
        said += ["bias=False"] if self.bias is None else []
        said += [f"padding_mode={self.padding_mode}"] if self.padding_mode != "zeros" else []
        return ", ".join(said)


def _check(in_channels: int, out_channels: int, groups: int, stride: Any, padding: Any, padding_mode: str) -> None:
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups:
        raise ValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {padding!r}, should be one of 'same', 'valid'")
        if padding == "same" and any(s != 1 for s in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in _MODES:
        raise ValueError(f"padding_mode must be one of {set(_MODES)}, but got padding_mode='{padding_mode}'")


class _Conv(_ConvNd):
    """A plain convolution of ``_n`` dimensions."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        n = self._n
        super().__init__(
            in_channels, out_channels, ntuple(kernel_size, n), ntuple(stride, n),
            padding if isinstance(padding, str) else ntuple(padding, n), ntuple(dilation, n), False, (0,) * n, groups, bias,
            padding_mode, device, dtype,
        )  # fmt: skip

    def _conv_forward(self, input: Any, weight: Any, bias: Any) -> Any:
        convolve = _FUNCTIONS[self._n]
        if self.padding_mode == "zeros":
            return convolve(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        wide = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return convolve(wide, weight, bias, self.stride, (0,) * self._n, self.dilation, self.groups)

    def forward(self, input: Any) -> Any:
        return self._conv_forward(input, self.weight, self.bias)


_FUNCTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
_TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


class Conv1d(_Conv):
    """Kernels that slide along one dimension: ``[N, in_channels, L]`` to ``[N, out_channels, L']``; the batch may be missing.

    ``weight`` is ``[out_channels, in_channels / groups, kernel_size]``. ``padding`` may be ``"same"`` or ``"valid"``;
    ``padding_mode`` is ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``. See
    :func:`tensorlab.nn.functional.conv1d`.
    """

    _n = 1


class Conv2d(_Conv):
    """Kernels that slide over images: ``[N, in_channels, H, W]`` to ``[N, out_channels, H', W']``; the batch may be missing.

    ``weight`` is ``[out_channels, in_channels / groups, *kernel_size]``; arguments as of :class:`Conv1d`, sizes one number or two.

    >>> import tensorlab as tl
    >>> tl.nn.Conv2d(3, 8, 3, padding=1)(tl.ones(2, 3, 5, 5)).shape
    tensorlab.Size([2, 8, 5, 5])
    """

    _n = 2


class Conv3d(_Conv):
    """Kernels that slide through volumes: ``[N, in_channels, D, H, W]`` to ``[N, out_channels, D', H', W']``.

    ``weight`` is ``[out_channels, in_channels / groups, *kernel_size]``; arguments as of :class:`Conv1d`, sizes one number or three.
    """

    _n = 3


class _ConvTransposeNd(_ConvNd):
    """A transposed convolution of ``_n`` dimensions."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        n = self._n
        super().__init__(
            in_channels, out_channels, ntuple(kernel_size, n), ntuple(stride, n), ntuple(padding, n), ntuple(dilation, n), True,
            ntuple(output_padding, n), groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def forward(self, input: Any, output_size: Any = None) -> Any:
        more = self._output_padding(input, output_size)
        run = _TRANSPOSED[self._n]
        return run(input, self.weight, self.bias, self.stride, self.padding, more, self.groups, self.dilation)

    def _output_padding(self, input: Any, output_size: Any) -> Any:
        """How much the result is extended at its end, so that it has the size asked for. Raises ``ValueError`` where none does."""
        if output_size is None:
            return self.output_padding
        n, wanted = self._n, list(output_size)
        lead = input.dim() - n
        if len(wanted) == input.dim():
            wanted = wanted[lead:]
        if len(wanted) != n:
            raise ValueError(
                f"{type(self).__name__}: for {input.dim()}D input, output_size must have {n} or {input.dim()} elements (got {len(wanted)})"
            )
        least = [
            (size - 1) * s - 2 * p + d * (k - 1) + 1
            for size, s, p, d, k in zip(
                input.shape[lead:], self.stride, self.padding, self.dilation, self.kernel_size, strict=True
            )
        ]
        most = [low + s - 1 for low, s in zip(least, self.stride, strict=True)]
        if any(not low <= size <= high for size, low, high in zip(wanted, least, most, strict=True)):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {least} to {most} (for an input of "
                f"{list(input.shape[lead:])})"
            )
        return tuple([size - low for size, low in zip(wanted, least, strict=True)])


class ConvTranspose1d(_ConvTransposeNd):
    """The gradient of :class:`Conv1d` as a layer: ``[N, in_channels, L]`` to a longer ``[N, out_channels, L']``.

    ``weight`` is ``[in_channels, out_channels / groups, kernel_size]``. ``output_padding``, or ``output_size`` of the call, chooses
    among the sizes that a stride above 1 allows.
    """

    _n = 1


class ConvTranspose2d(_ConvTransposeNd):
    """The gradient of :class:`Conv2d` as a layer: ``[N, in_channels, H, W]`` to larger images; see :class:`ConvTranspose1d`."""

    _n = 2


class ConvTranspose3d(_ConvTransposeNd):
    """The gradient of :class:`Conv3d` as a layer: ``[N, in_channels, D, H, W]`` to larger volumes; see :class:`ConvTranspose1d`."""

    _n = 3
