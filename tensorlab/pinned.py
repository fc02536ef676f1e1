"""Memory that is in use while the program goes on: page-locked for a GPU to read from, or kept for a stream to finish with."""

from __future__ import annotations

import sys
import weakref
from typing import Any

import numpy as np

from tensorlab import backend
from tensorlab.device import device as device_class
from tensorlab.dispatch import storage_of, wrap

Tensor = Any


def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """A copy in page-locked host memory, laid out in the same order; the tensor itself if it lies there already.

    Raises ``RuntimeError`` without a GPU, for a tensor that is not in host memory, and for one that requires grad.
    """
    if device is not None and device_class(device).type == "cpu":
        raise RuntimeError("pin_memory(): CPU device type not an accelerator. Leave device away, or say 'cuda'.")
    cuda = backend.gpu("cuda" if device is None else device)
    if self.is_cuda:
        raise RuntimeError(
            f"cannot pin '{self.type()}' only dense CPU tensors can be pinned; this one is on {self.device}"
        )
    if self.requires_grad:
        raise RuntimeError("pin_memory(): the copy would be no part of the graph. Use x.detach().pin_memory().")
    if is_pinned(self):
        return self
    order = backend.host.memory_order(self._a)
    return wrap(cuda.pinned(self._a.transpose(order)).transpose(backend.host.inverse(order)))


def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Whether the tensor lies in page-locked host memory."""
    if device is not None:
        device_class(device)
    owner = self._a
    while isinstance(owner, np.ndarray):
        owner = owner.base
    if isinstance(owner, memoryview):
        owner = owner.obj
    cuda = sys.modules.get("tensorlab.backend.cuda")
    return owner is not None and cuda is not None and isinstance(owner, cuda.PinnedMemory)


#: Memory of tensors that are gone, which a stream may still be reading, and the mark after which it does not.
_held: list[tuple[Any, Any]] = []


def release() -> None:
    """Let go of memory whose streams are through with it."""
    _held[:] = [(mark, memory) for mark, memory in _held if not mark.query()]


def _hold(memory: Any, stream: Any) -> None:
    release()
    _held.append((stream.record_event(), memory))


def record_stream(self: Tensor, stream: Any) -> None:
    """Keep this tensor's memory, once the tensor is gone, until a stream has done what it was given by then.

    For tensors that one stream made and another one reads. Raises ``RuntimeError`` for a tensor in host memory.
    """
    if not self.is_cuda:
        raise RuntimeError(
            f"record_stream(): only memory of a GPU is kept for streams, but this tensor is on {self.device}"
        )
    if not hasattr(stream, "record_event"):
        raise TypeError(f"record_stream(): argument 's' (position 1) must be Stream, not {type(stream).__name__}")
    weakref.finalize(storage_of(self), _hold, self._a.data.mem, stream).atexit = False


FORMS: dict[str, Any] = {"pin_memory": pin_memory, "is_pinned": is_pinned, "record_stream": record_stream}
