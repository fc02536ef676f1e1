"""Layers that take their number of input features or channels from the first input."""

from __future__ import annotations

from typing import Any

from tensorlab import creation, dtypes
from tensorlab.nn.modules.batchnorm import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)
from tensorlab.nn.modules.conv import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from tensorlab.nn.modules.lazy import LazyModuleMixin
from tensorlab.nn.modules.linear import Linear
from tensorlab.nn.parameter import UninitializedBuffer, UninitializedParameter

__all__ = [
    "LazyLinear", "LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d",
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d",
]  # fmt: skip


class LazyLinear(LazyModuleMixin, Linear):
    """A ``Linear`` whose ``in_features`` is the last size of the first input.

    >>> import tensorlab as tl
    >>> layer = tl.nn.LazyLinear(3)
    >>> _ = layer(tl.ones(2, 5))
    >>> layer
    Linear(in_features=5, out_features=3, bias=True)
    """

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the first values again, once there are parameters."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        """Make the parameters for an input."""
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()
        if self.in_features == 0:  # the parameters were loaded
            self.in_features = self.weight.shape[-1]


class _LazyConv(LazyModuleMixin):
    """What lazy convolutions share; a class of the family stands behind it."""

    def __init__(self, out_channels: int, *args: Any, device: Any, dtype: Any, bias: bool, **options: Any) -> None:
        super().__init__(0, 0, *args, bias=False, device=device, dtype=dtype, **options)
        own: Any = self
        own.weight = UninitializedParameter(device=device, dtype=dtype)
        own.out_channels = out_channels
        if bias:
            own.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the first values again, once there are parameters."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Any, *args: Any, **kwargs: Any) -> None:
        """Make the parameters for an input."""
        own: Any = self
        if self.has_uninitialized_params():
            self.in_channels = self._channels(input)
            if self.in_channels % own.groups != 0:
                raise ValueError("in_channels must be divisible by groups")
            ends = (self.in_channels, own.out_channels) if own.transposed else (own.out_channels, self.in_channels)
            own.weight.materialize((ends[0], ends[1] // own.groups, *own.kernel_size))
            if own.bias is not None:
                own.bias.materialize((own.out_channels,))
            self.reset_parameters()
        if self.in_channels == 0:  # the parameters were loaded
            self.in_channels = own.weight.shape[0] if own.transposed else own.weight.shape[1] * own.groups

    def _channels(self, input: Any) -> int:
        own: Any = self
        n = own._n
        if input.dim() not in (n + 1, n + 2):
            raise RuntimeError(
                f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {type(self).__name__}, but got input of size: "
                f"{list(input.shape)}"
            )
        return input.shape[-n - 1]


class _LazyPlainConv(_LazyConv):
    def __init__(
        self, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        bias: bool = True, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            out_channels, kernel_size, stride, padding, dilation, groups, bias=bias, padding_mode=padding_mode,
            device=device, dtype=dtype,
        )  # fmt: skip


class _LazyTransposedConv(_LazyConv):
    def __init__(
        self, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            out_channels, kernel_size, stride, padding, output_padding, groups, bias=bias, dilation=dilation,
            padding_mode=padding_mode, device=device, dtype=dtype,
        )  # fmt: skip


class LazyConv1d(_LazyPlainConv, Conv1d):
    """A ``Conv1d`` that takes ``in_channels`` from the first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyPlainConv, Conv2d):
    """A ``Conv2d`` that takes ``in_channels`` from the first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyPlainConv, Conv3d):
    """A ``Conv3d`` that takes ``in_channels`` from the first input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyTransposedConv, ConvTranspose1d):
    """A ``ConvTranspose1d`` that takes ``in_channels`` from the first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyTransposedConv, ConvTranspose2d):
    """A ``ConvTranspose2d`` that takes ``in_channels`` from the first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyTransposedConv, ConvTranspose3d):
    """A ``ConvTranspose3d`` that takes ``in_channels`` from the first input."""

    cls_to_become = ConvTranspose3d


class _LazyNorm(LazyModuleMixin):
    """What lazy norms share; a class of the family stands behind it."""

    def __init__(
        self, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(0, eps, momentum, False, False)
        own: Any = self
        own.affine = affine
        own.track_running_stats = track_running_stats
        if own.affine:
            own.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                own.bias = UninitializedParameter(device=device, dtype=dtype)
        if own.track_running_stats:
            own.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            own.running_var = UninitializedBuffer(device=device, dtype=dtype)
            own.num_batches_tracked = creation.tensor(0, dtype=dtypes.int64, device=device)

    def reset_parameters(self) -> None:
        """Running statistics and weights as at the start, once there are some."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Any) -> None:
        """Make parameters and buffers for an input."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            for x in [*self._parameters.values(), *self._buffers.values()]:
                if isinstance(x, (UninitializedParameter, UninitializedBuffer)):
                    x.materialize((self.num_features,))
            self.reset_parameters()
        if self.num_features == 0:  # they were loaded, or there are none
            self.num_features = input.shape[1]


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """A ``BatchNorm1d`` that takes ``num_features`` from the first input."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """A ``BatchNorm2d`` that takes ``num_features`` from the first input."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """A ``BatchNorm3d`` that takes ``num_features`` from the first input."""

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """An ``InstanceNorm1d`` that takes ``num_features`` from the first input."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """An ``InstanceNorm2d`` that takes ``num_features`` from the first input."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """An ``InstanceNorm3d`` that takes ``num_features`` from the first input."""

    cls_to_become = InstanceNorm3d
