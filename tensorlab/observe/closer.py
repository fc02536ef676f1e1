"""A closer look at samples: how sizes are spread, and units that are dead or saturated."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from tensorlab import backend
from tensorlab.observe.findings import NONE, NOT_FINITE
from tensorlab.observe.preview import norm as careful_norm
from tensorlab.tensor import Tensor

#: Elements of a parameter that a look takes.
SAMPLE = 1024
#: Modules whose units may be dead, and those whose outputs may be stuck at an end of their range.
DYING = ("ReLU", "ReLU6")
ENDS = {
    "Tanh": (-1.0, 1.0),
    "Sigmoid": (0.0, 1.0),
    "Softmax": (0.0, 1.0),
    "Hardtanh": (-1.0, 1.0),
    "Hardsigmoid": (0.0, 1.0),
}


class Look:
    """What one look found: for every parameter a histogram of sizes, how many were 0, how far it moved, which signs changed."""

    __slots__ = ("step", "counts", "zeros", "update", "flips")
    first, bins = -40, 28  # powers of two: four times as large from bin to bin

    def __init__(self, step: int, parameters: int) -> None:
        self.step = step
        self.counts = np.zeros((parameters, self.bins), dtype=np.uint16)
        self.zeros = np.zeros(parameters, dtype=np.uint16)
        self.update = np.full(parameters, math.nan)
        self.flips = np.full(parameters, math.nan)


def spread(values: np.ndarray) -> tuple[np.ndarray, int]:
    """A histogram of the sizes of finite values by powers of two, and how many are 0."""
    sizes = values[np.isfinite(values) & (values != 0)]
    places = (np.frexp(sizes)[1].astype(np.int64) - 1 - Look.first) // 2
    counts = np.bincount(np.clip(places, 0, Look.bins - 1), minlength=Look.bins)
    return counts.astype(np.uint16), int(np.count_nonzero(values == 0))


def measure(gradient: Any) -> float:
    """The norm of a gradient, or what stands for none and not finite."""
    if gradient is None:
        return NONE
    a = gradient._a
    if a.dtype.kind != "f" or a.itemsize < 4:
        size = careful_norm(a)
    elif type(a) is np.ndarray:
        flat = a.ravel(order="K")
        size = math.sqrt(float(np.dot(flat, flat)))
    else:
        with backend.of(a).on(a):
            flat = a.ravel()
            size = math.sqrt(float(backend.namespace(a).dot(flat, flat)))
    if size == 0.0 or not math.isfinite(size):  # squares that vanish or overflow, or are what they seem
        size = careful_norm(a)
    return size if math.isfinite(size) else NOT_FINITE


def sample(a: Any) -> np.ndarray:
    """Evenly spread elements of an array, in host memory."""
    flat = a.reshape(-1)
    return backend.to_host(flat[:: max(1, flat.size // SAMPLE)]).copy()


class Watch:
    """A hook that looks at the units of a module the first time it is called, and at nothing after that. Holds the recorder weakly."""

    def __init__(self, recorder: Any, name: str, kind: str) -> None:
        self.recorder, self.name, self.kind = weakref.ref(recorder), name, kind
        self.handle: Any = None

    @classmethod
    def all_in(cls, model: Any, recorder: Any) -> Iterator[Any]:
        """Hooks on every module of a model whose units are worth a look; their handles."""
        for name, module in model.named_modules():
            kind = type(module).__name__
            if kind in DYING or kind in ENDS:
                watch = cls(recorder, name, kind)
                watch.handle = module.register_forward_hook(watch)
                yield watch.handle

    def __call__(self, module: Any, inputs: Any, output: Any) -> None:
        recorder = self.recorder()
        self.handle.remove()
        if recorder is None or not isinstance(output, Tensor) or output.dim() < 2:
            return
        a = backend.to_host(output._a if output._a.size <= 1 << 20 else output._a[:64])
        if not a.size:
            return
        if self.kind in DYING:
            silent = np.asarray((a <= 0).all(axis=tuple(d for d in range(a.ndim) if d != 1)))
            recorder.units[self.name] = "dead", float(silent.mean()), recorder.step
        else:
            low, high = ENDS[self.kind]
            margin = (high - low) / 100
            at_ends = (a >= high - margin) if self.kind == "Softmax" else (a <= low + margin) | (a >= high - margin)
            part = at_ends.any(axis=-1).mean() if self.kind == "Softmax" else at_ends.mean()
            recorder.units[self.name] = "saturated", float(part), recorder.step
