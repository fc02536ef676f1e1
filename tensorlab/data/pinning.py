"""Batches in page-locked memory, from which a GPU reads without a detour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tensorlab import backend
from tensorlab.tensor import Tensor


def why_not_pinned() -> str | None:
    """Why page-locked memory is of no use here; ``None`` where it is."""
    reason = backend.why_no_gpu()
    return None if reason is None else f"no accelerator is found: {reason}"


def pinned(batch: Any) -> Any:
    """A batch with its tensors in page-locked memory. A batch of a class of its own is asked for ``pin_memory()``."""
    if isinstance(batch, Tensor):
        return batch if batch.is_cuda else batch.detach().pin_memory()
    if hasattr(batch, "pin_memory"):
        return batch.pin_memory()
    if isinstance(batch, Mapping):
        return {key: pinned(value) for key, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*[pinned(value) for value in batch])
    if isinstance(batch, (list, tuple)):
        return type(batch)(pinned(value) for value in batch)
    return batch
