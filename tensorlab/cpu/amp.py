"""PyTorch's older place for mixed precision on the CPU: the same classes, with ``"cpu"`` left out."""

from __future__ import annotations

from tensorlab import amp, dtypes


class autocast(amp.autocast):
    """``tensorlab.amp.autocast`` for the CPU."""

    def __init__(self, enabled: bool = True, dtype: dtypes.dtype = dtypes.bfloat16, cache_enabled: bool = True) -> None:
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """``tensorlab.amp.GradScaler`` for the CPU."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
