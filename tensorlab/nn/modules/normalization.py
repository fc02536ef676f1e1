"""Normalisation without a batch: over the last dimensions, over groups of channels, across neighbouring channels."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from tensorlab import creation
from tensorlab.functional.normalization import channel_windows
from tensorlab.nn import functional as F
from tensorlab.nn import init
from tensorlab.nn.modules.module import Module
from tensorlab.nn.parameter import Parameter

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class _OverLast(Module):
    """Normalisation over the last dimensions, with weights of their shape."""

    normalized_shape: tuple[int, ...]

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None,
        affine: bool,
        names: str,
        device: Any,
        dtype: Any,
    ) -> None:
        super().__init__()
        shape = [normalized_shape] if isinstance(normalized_shape, int) else normalized_shape
        self.normalized_shape = tuple([operator.index(n) for n in shape])
        self.eps = eps
        self.elementwise_affine = affine
        for name in ("weight", "bias"):
            if name in names:
                made = creation.empty(self.normalized_shape, device=device, dtype=dtype)
                self.register_parameter(name, Parameter(made))
            elif name == "weight" or isinstance(self, LayerNorm):
                self.register_parameter(name, None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        bias = self._parameters.get("bias")
        if bias is not None:
            init.zeros_(bias)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class LayerNorm(_OverLast):
    """``(input - mean) / sqrt(var + eps) * weight + bias``, mean and variance over the last dimensions.

    ``weight`` and ``bias`` have the shape ``normalized_shape``. Source: Ba, Kiros and Hinton, 2016.
    """

    eps: float

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        names = "" if not elementwise_affine else "weight bias" if bias else "weight"
        super().__init__(normalized_shape, eps, elementwise_affine, names, device, dtype)

    def forward(self, input: Any) -> Any:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, bias={self.bias is not None}"


class RMSNorm(_OverLast):
    """``input / sqrt(mean(input ** 2) + eps) * weight`` over the last dimensions; ``eps`` is the type's if ``None``."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            normalized_shape, eps, elementwise_affine, "weight" if elementwise_affine else "", device, dtype
        )

    def forward(self, input: Any) -> Any:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)


class GroupNorm(Module):
    """Normalisation of each of ``num_groups`` groups of channels of each example of ``[N, C, *]``.

    ``weight`` and ``bias`` ``[num_channels]``. Raises ``ValueError`` unless the groups divide the channels.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            made = Parameter(creation.empty(num_channels, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Any) -> Any:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"


class LocalResponseNorm(Module):
    """``input / (k + alpha * mean(input ** 2 over size neighbouring channels)) ** beta``, channels in dimension 1."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Any) -> Any:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """``LocalResponseNorm`` of images ``[N, C, H, W]``, as older models call it; an even ``size`` counts as the odd one
    below it, still divided by ``size``.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Any) -> Any:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        reach = (self.size - 1) // 2
        around = channel_windows(input * input, reach, reach)
        return input / (around * (self.alpha / self.size) + self.k) ** self.beta
