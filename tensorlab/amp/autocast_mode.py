"""``autocast``: matrix products and convolutions in a narrow type, what needs the range in float32; and its switches one by one."""

from __future__ import annotations

import warnings
from typing import Any

from tensorlab import backend, dtypes, modes
from tensorlab.functional.autocasting import apply, thread

#: The types that autocast may compute in.
NARROW = (dtypes.bfloat16, dtypes.float16)


class autocast(modes._Decorator):
    """Inside, operations choose the type they compute in: products and convolutions ``dtype``, losses and the like float32.

    ``device_type`` is ``"cpu"`` or ``"cuda"``; ``dtype`` is bfloat16 on the CPU and float16 on a GPU unless given. Parameters stay
    float32, and so do their gradients. float64 and integers are left alone, and so are writes in place. A weight that is
    used several times is cast once (``cache_enabled``). Also a decorator. ``enabled=False`` turns it off inside.

    >>> import tensorlab as tl
    >>> weight = tl.ones(2, 2, requires_grad=True)
    >>> with tl.autocast("cpu"):
    ...     y = weight @ weight
    >>> y.dtype, weight.dtype
    (tensorlab.bfloat16, tensorlab.float32)
    """

    def __init__(
        self,
        device_type: str,
        dtype: dtypes.dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        _known(device_type)
        if dtype is not None and not isinstance(dtype, dtypes.dtype):
            raise TypeError(f"autocast(): dtype must be tensorlab.bfloat16 or tensorlab.float16, not {dtype!r}")
        self.device = device_type
        self.fast_dtype = thread.dtype[device_type] if dtype is None else dtype
        self._given = dtype
        if enabled and device_type == "cuda" and backend.why_no_gpu() is not None:
            warnings.warn(
                "User provided device_type of 'cuda', but CUDA is not available. Disabling autocast.", stacklevel=2
            )
            enabled = False
        if enabled and self.fast_dtype not in NARROW:
            where = "CPU" if device_type == "cpu" else "CUDA"
            warnings.warn(
                f"In {where} autocast, but the target dtype {self.fast_dtype} is not supported. Disabling autocast. "
                f"{where} Autocast only supports dtype of tensorlab.bfloat16, tensorlab.float16 currently.",
                stacklevel=2,
            )
            enabled = False
        self._enabled = bool(enabled)
        self._cache_enabled = cache_enabled
        self._before: list[tuple[bool, Any, bool]] = []

    def clone(self) -> autocast:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they were given when the decorator was made
            return type(self)._again(self)

    @staticmethod
    def _again(like: autocast) -> autocast:
        made = autocast(like.device, like._given, like._enabled, like._cache_enabled)
        made.fast_dtype, made._enabled = like.fast_dtype, like._enabled
        return made

    def __enter__(self) -> autocast:
        kind = self.device
        self._before.append((thread.enabled[kind], thread.dtype[kind], thread.cache_enabled))
        thread.enabled[kind], thread.dtype[kind] = self._enabled, self.fast_dtype
        if self._cache_enabled is not None:
            thread.cache_enabled = self._cache_enabled
        thread.nesting += 1
        apply()
        return self

    def __exit__(self, *error: Any) -> None:
        kind = self.device
        thread.nesting -= 1
        if thread.nesting == 0:
            thread.cache.clear()
        thread.enabled[kind], thread.dtype[kind], thread.cache_enabled = self._before.pop()
        apply()


def _known(device_type: str) -> str:
    if device_type not in thread.enabled:
        raise RuntimeError(f"autocast knows the device types 'cpu' and 'cuda', not {device_type!r}")
    return device_type


def is_autocast_available(device_type: str) -> bool:
    """Whether there is autocast for a kind of device. Raises ``RuntimeError`` for an unknown kind."""
    return _known(device_type) in ("cpu", "cuda")


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocast is on in this thread for a kind of device, ``"cuda"`` if it is left out."""
    return thread.enabled[_known(device_type)]


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Turn autocast on or off in this thread: ``(device_type, enabled)``, or ``(enabled)`` for GPUs."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    thread.enabled[_known(device_type)] = bool(enabled)
    apply()


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """The type that autocast computes in on a kind of device."""
    return thread.dtype[_known(device_type)]


def set_autocast_dtype(device_type: str, dtype: dtypes.dtype) -> None:
    """Choose the type that autocast computes in on a kind of device."""
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError(f"set_autocast_dtype(): dtype must be a tensorlab dtype, not {dtype!r}")
    thread.dtype[_known(device_type)] = dtype
    apply()


def is_autocast_cpu_enabled() -> bool:
    """Whether autocast is on in this thread for the CPU."""
    return is_autocast_enabled("cpu")


def get_autocast_cpu_dtype() -> dtypes.dtype:
    """The type that autocast computes in on the CPU."""
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> dtypes.dtype:
    """The type that autocast computes in on GPUs."""
    return get_autocast_dtype("cuda")


def is_autocast_cache_enabled() -> bool:
    """Whether casts of weights are kept while autocast is on."""
    return thread.cache_enabled


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Keep casts of weights while autocast is on, or not."""
    thread.cache_enabled = bool(enabled)


def clear_autocast_cache() -> None:
    """Forget the casts of weights that are kept."""
    thread.cache.clear()


def autocast_increment_nesting() -> int:
    """Count one more autocast that this thread is inside of; casts of weights are kept from 1 on."""
    thread.nesting += 1
    return thread.nesting


def autocast_decrement_nesting() -> int:
    """Count one fewer."""
    thread.nesting -= 1
    return thread.nesting
