"""What autocast does to a call: which inputs it casts, and to what.

A row says it in its autocast column. Functions that are made of several rows are listed here, where PyTorch casts for the function
as a whole. Source: PyTorch's documentation, "CUDA Op-Specific Behavior" and "CPU Op-Specific Behavior", and what PyTorch 2.13 does.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorlab import dispatch, dtypes, modes
from tensorlab.modes import state
from tensorlab.ops.table import (
    AS_IS,
    AUTOCAST,
    CPU_FLOAT32,
    FLOAT32,
    GPU_FLOAT32,
    GPU_PROMOTE,
    LOWER,
    PROMOTE,
    Row,
)

#: Functions of several rows, by what happens to all their inputs at once.
COMPOSED = {
    **dict.fromkeys(
        """
        cosine_embedding_loss hinge_embedding_loss huber_loss kl_div l1_loss margin_ranking_loss multi_margin_loss
        multilabel_margin_loss poisson_nll_loss smooth_l1_loss soft_margin_loss triplet_margin_loss
        binary_cross_entropy binary_cross_entropy_with_logits cross_entropy cdist
        """.split(),
        FLOAT32,
    ),
    **dict.fromkeys("cosine_similarity dist pdist renorm rms_norm interpolate upsample".split(), GPU_FLOAT32),
    **dict.fromkeys(
        "quantile nanquantile stft trace lstsq view_as_complex max_unpool1d max_unpool2d max_unpool3d ctc_loss".split(),
        CPU_FLOAT32,
    ),
    **dict.fromkeys("tensordot bilinear dot vdot cross scatter_add index_put".split(), GPU_PROMOTE),
    **dict.fromkeys("grid_sample grid_sampler_2d grid_sampler_3d".split(), "grid_sample"),
    **dict.fromkeys("scaled_dot_product_attention vecdot".split(), LOWER),
}
AUTOCAST_OF = {**AUTOCAST, "grid_sample": (FLOAT32, PROMOTE)}

F32 = np.dtype(np.float32)


class _Thread(threading.local):
    """What a thread has set. ``state.autocast`` is made of it."""

    def __init__(self) -> None:
        self.enabled = {"cpu": False, "cuda": False}
        self.dtype = {"cpu": dtypes.bfloat16, "cuda": dtypes.float16}
        self.cache_enabled = True
        self.nesting = 0
        self.cache: dict[Any, tuple[Any, int, Any]] = {}


thread = _Thread()


def apply() -> None:
    """Make ``state.autocast`` say what this thread has set, and have the door know that something is on."""
    before = state.autocast is not None
    on = [thread.dtype[kind].np if thread.enabled[kind] else None for kind in ("cpu", "cuda")]
    state.autocast = tuple(on) if any(kind is not None for kind in on) else None
    after = state.autocast is not None
    if after and _layer not in dispatch.layers:
        dispatch.layers.append(_layer)
    if before != after:
        modes.switch("autocast", +1 if after else -1)


def _layer(row: Row, inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    """The door's layer: the inputs of a call as autocast wants them."""
    on = state.autocast
    policy = row.autocast
    if on is None or policy == AS_IS or (row.promotes and policy == PROMOTE):
        return inputs, attrs
    if attrs.get("dtype") is not None and policy in (FLOAT32, GPU_FLOAT32):
        return inputs, attrs  # the caller says the type
    return _cast(inputs, AUTOCAST[policy], on), attrs


def _cast(inputs: Sequence[Any], policies: tuple[str, str], on: tuple[Any, Any]) -> Sequence[Any]:
    """Floating-point tensors of one call, except float64, cast as the policy for their device says."""
    at = next((int(type(x._a) is not np.ndarray) for x in inputs if _eligible(x)), None)
    if at is None or on[at] is None or policies[at] == AS_IS:
        return inputs
    target = on[at] if policies[at] == LOWER else F32
    if policies[at] == PROMOTE and not any(_eligible(x) and x._a.dtype == F32 for x in inputs):
        return inputs
    return [cast(x, target) if _eligible(x) and x._a.dtype != target else x for x in inputs]


def lowered(*inputs: Any) -> Sequence[Any]:
    """Inputs of a product, whichever row computes it."""
    return _cast(inputs, AUTOCAST[LOWER], state.autocast)


def widened(*inputs: Any) -> Sequence[Any]:
    """Inputs of a function that looks at their type before a row does, and that computes in float32 on the CPU."""
    return _cast(inputs, AUTOCAST[CPU_FLOAT32], state.autocast)


def _eligible(x: Any) -> bool:
    """Whether autocast may cast something: a tensor of a floating-point type up to float32."""
    if not isinstance(x, dispatch.Tensor):
        return False
    kind = x._a.dtype
    return kind.kind in "fV" and kind.itemsize <= 4


def cast(x: Any, target: Any) -> Any:
    """A tensor in another type. What became of a weight is kept while autocast is on, unless the weight is written to."""
    leaf = x._rg and x._edge is None and x._view is None and x._a.dtype == F32
    if not (leaf and thread.cache_enabled and thread.nesting):
        return dispatch.cast(x, target)
    key = (id(x), target, state.grad)
    version = 0 if x._st is None or x._st.inference else x._st.version
    known = thread.cache.get(key)
    if known is not None and known[0] is x and known[1] == version:
        return known[2]
    made = dispatch.cast(x, target)
    thread.cache[key] = x, version, made
    return made


# ------------------------------------------------------------------------------------------- functions of several rows


def composed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function with the casts of autocast before it, if it is one of those that PyTorch casts for as a whole."""
    policy = COMPOSED.get(getattr(function, "__name__", ""))
    if policy is None:
        return function

    @functools.wraps(function)
    def casting(*args: Any, **kwargs: Any) -> Any:
        if state.autocast is None:
            return function(*args, **kwargs)
        return _as_one(function, AUTOCAST_OF[policy], args, kwargs)

    return casting


def _as_one(function: Any, policies: tuple[str, str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a function on cast inputs, with autocast off inside."""
    on = state.autocast
    values = [*args, *kwargs.values()]
    gpu = any(_eligible(x) and type(x._a) is not np.ndarray for x in values)
    if on[gpu] is None or policies[gpu] == AS_IS:
        return function(*args, **kwargs)
    if gpu and function.__name__ == "binary_cross_entropy":
        raise RuntimeError(
            "binary_cross_entropy and BCELoss are unsafe to autocast: their input has been through a sigmoid in a narrow type. Use "
            "binary_cross_entropy_with_logits or BCEWithLogitsLoss, which are safe, or turn autocast off around this call."
        )
    found = _cast(values, policies, on)
    state.autocast = None
    try:
        return function(*found[: len(args)], **dict(zip(kwargs, found[len(args) :], strict=True)))
    finally:
        state.autocast = on
