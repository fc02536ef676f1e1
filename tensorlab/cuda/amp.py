"""PyTorch's older place for mixed precision on GPUs: the same classes, with ``"cuda"`` left out."""

from __future__ import annotations

from typing import Any

from tensorlab import amp, dtypes


class autocast(amp.autocast):
    """``tensorlab.amp.autocast`` for GPUs."""

    def __init__(self, enabled: bool = True, dtype: dtypes.dtype = dtypes.float16, cache_enabled: bool = True) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """``tensorlab.amp.GradScaler`` for GPUs."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd: Any = None, *, cast_inputs: dtypes.dtype | None = None) -> Any:
    """``tensorlab.amp.custom_fwd`` for GPUs."""
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any = None) -> Any:
    """``tensorlab.amp.custom_bwd`` for GPUs."""
    return amp.custom_bwd(bwd, device_type="cuda")
