"""Custom ``Function`` classes under autocast."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tensorlab import dispatch, dtypes
from tensorlab.amp.autocast_mode import autocast, get_autocast_dtype, is_autocast_enabled
from tensorlab.functional.autocasting import _eligible


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: dtypes.dtype | None = None
) -> Any:
    """For the ``forward`` of a custom ``Function``: with ``cast_inputs``, tensors arrive in that type and autocast is off inside.

    Without it, ``forward`` runs as autocast is set. Either way ``custom_bwd`` runs ``backward`` under the same setting.
    """
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        on = is_autocast_enabled(device_type)
        ctx._dtype = get_autocast_dtype(device_type)
        if cast_inputs is None or not on:
            ctx._fwd_used_autocast = on
            return fwd(*args, **kwargs)
        ctx._fwd_used_autocast = False
        with autocast(device_type, enabled=False):
            return fwd(*_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))

    return forward


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """For the ``backward`` that belongs to a ``forward`` with ``custom_fwd``: it runs with the autocast that ``forward`` had."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(*args, **kwargs)

    return backward


def _cast(value: Any, device_type: str, target: dtypes.dtype) -> Any:
    """The floating-point tensors of a device in a value, float64 excepted, as another type."""
    if isinstance(value, dispatch.Tensor):
        here = (type(value._a) is np.ndarray) == (device_type == "cpu")
        return value.to(target) if here and _eligible(value) else value
    if isinstance(value, Mapping):
        return {_cast(key, device_type, target): _cast(one, device_type, target) for key, one in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_cast(one, device_type, target) for one in value)
    return value
