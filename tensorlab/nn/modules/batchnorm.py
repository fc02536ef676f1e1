"""Normalisation of channels, over the batch or over each example, with running statistics."""

from __future__ import annotations

from typing import Any

from tensorlab import creation, dtypes
from tensorlab.nn import functional as F
from tensorlab.nn import init
from tensorlab.nn.modules.module import Module
from tensorlab.nn.parameter import Parameter

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "SyncBatchNorm",
]  # fmt: skip


class _NormBase(Module):
    """What batch and instance norm have in common: weights, and running statistics as buffers."""

    _version = 2  # files of version 1 do not count batches

    num_features: int
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        options = {"device": device, "dtype": dtype}
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, Parameter(creation.empty(num_features, **options)) if wanted else None)
        if track_running_stats:
            self.register_buffer("running_mean", creation.zeros(num_features, **options))
            self.register_buffer("running_var", creation.ones(num_features, **options))
            self.register_buffer("num_batches_tracked", creation.tensor(0, dtype=dtypes.int64, device=device))
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Mean 0, variance 1, no batch counted."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Running statistics and weights as at the start: weight 1, bias 0."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Any) -> None:
        """Raise ``ValueError`` for a number of dimensions that this layer does not take."""

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing: Any, unexpected: Any, errors: Any
    ) -> None:  # fmt: skip
        version = local_metadata.get("version")
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            state_dict[key] = self.num_batches_tracked.detach()
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing, unexpected, errors)


def _dims(input: Any, *wanted: int) -> None:
    if input.dim() not in wanted:
        said = " or ".join(f"{n}D" for n in wanted)
        raise ValueError(f"expected {said} input (got {input.dim()}D input)")


class _BatchNorm(_NormBase):
    """Normalises by the batch in training, by the running statistics in evaluation."""

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        mean, var = self.running_mean, self.running_var
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the plain average of all batches
                momentum = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or (mean is None and var is None)
        kept = not self.training or self.track_running_stats
        return F.batch_norm(
            input, mean if kept else None, var if kept else None, self.weight, self.bias, by_batch, momentum, self.eps
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of ``[N, C]`` or ``[N, C, L]``: each channel to mean 0 and variance 1, then ``* weight + bias``.

    In training by the statistics of the batch, which move the running ones by ``momentum`` (by a plain average of all
    batches if that is ``None``); in evaluation by the running ones, if they are tracked.
    """

    def _check_input_dim(self, input: Any) -> None:
        _dims(input, 2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of images ``[N, C, H, W]``; see :class:`BatchNorm1d`."""

    def _check_input_dim(self, input: Any) -> None:
        _dims(input, 4)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of volumes ``[N, C, D, H, W]``; see :class:`BatchNorm1d`."""

    def _check_input_dim(self, input: Any) -> None:
        _dims(input, 5)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over all processes of a group; in one process the batch is all there is.

    Takes ``[N, C, *]`` of any number of dimensions.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """``module`` with every batch norm in it replaced by a ``SyncBatchNorm`` with the same tensors."""
        made = module
        if isinstance(module, _BatchNorm) and not isinstance(module, SyncBatchNorm):
            made = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
            )
            for name in ("weight", "bias"):
                made._parameters[name] = module._parameters[name]
            made._buffers.update(module._buffers)
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


class _InstanceNorm(_NormBase):
    """Normalises each example by itself, or by the running statistics in evaluation if they are tracked."""

    _batched: int

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _check_input_dim(self, input: Any) -> None:
        _dims(input, self._batched - 1, self._batched)

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        dim = input.dim() - self._batched + 1
        if input.shape[dim] != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: "
                    f"{input.shape[dim]}."
                )
        single = dim == 0
        out = F.instance_norm(
            input.unsqueeze(0) if single else input, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, 0.0 if self.momentum is None else self.momentum, self.eps,
        )  # fmt: skip
        return out.squeeze(0) if single else out


class InstanceNorm1d(_InstanceNorm):
    """Normalisation of each channel of each example of ``[N, C, L]`` or ``[C, L]``; see :class:`BatchNorm1d`."""

    _batched = 3


class InstanceNorm2d(_InstanceNorm):
    """Normalisation of each channel of each image of ``[N, C, H, W]`` or ``[C, H, W]``; see :class:`BatchNorm1d`."""

    _batched = 4


class InstanceNorm3d(_InstanceNorm):
    """Normalisation of each channel of each volume of ``[N, C, D, H, W]`` or ``[C, D, H, W]``; see :class:`BatchNorm1d`."""

    _batched = 5
