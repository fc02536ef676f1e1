"""``GradScaler``: a loss made large before backward, so that small gradients do not vanish in float16."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from tensorlab import backend, dispatch, dtypes, modes, taps

READY, UNSCALED, STEPPED = "ready", "unscaled", "stepped"


class GradScaler:
    """Scales losses up and gradients down again, skips steps whose gradients are not finite, and finds the scale on the way.

    The scale begins at ``init_scale``, is multiplied by ``backoff_factor`` after a step with an inf or NaN, and by ``growth_factor``
    after ``growth_interval`` steps in a row without one. ``device`` may be ``"cpu"``; for ``"cuda"`` without a GPU it warns and does
    nothing, as with ``enabled=False``. Source: Micikevicius and others, "Mixed Precision Training", 2018.

    >>> import tensorlab as tl
    >>> p = tl.nn.Parameter(tl.ones(2))
    >>> optimizer = tl.optim.SGD([p], lr=0.5)
    >>> scaler = tl.amp.GradScaler("cpu", init_scale=1024.0)
    >>> scaler.scale((p * 2).sum()).backward()
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> p.detach()
    tensor([0., 0.])
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        if enabled and device == "cuda" and backend.why_no_gpu() is not None:
            warnings.warn("GradScaler is enabled, but CUDA is not available. Disabling.", stacklevel=2)
            enabled = False
        if enabled and growth_factor <= 1.0:
            raise ValueError("The growth factor must be > 1.0.")
        if enabled and not 0.0 < backoff_factor < 1.0:
            raise ValueError("The backoff factor must be > 0.0 and < 1.0.")
        if enabled and not init_scale > 0:
            raise ValueError(f"The scale must be positive, not {init_scale}.")
        self._enabled = enabled
        self._scale = float(init_scale)
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._growth_tracker = 0
        self._scaled = False  # scale() was called, so there is a scale to undo
        self._seen: dict[int, tuple[Any, str, bool]] = {}  # id -> optimizer, how far it is, whether all was finite

    # --------------------------------------------------------------------------------------------------------- a step

    def scale(self, outputs: Any) -> Any:
        """A loss, or several in a container, times the scale."""
        if not self._enabled:
            return outputs
        self._scaled = True
        if isinstance(outputs, dispatch.Tensor):
            return outputs * self._scale
        if isinstance(outputs, Iterable):
            found = map(self.scale, outputs)
            return type(outputs)(found) if isinstance(outputs, (list, tuple)) else found
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the scale, for clipping before ``step``. Once a step.

        Raises ``RuntimeError`` the second time, and ``ValueError`` for float16 gradients.
        """
        if not self._enabled:
            return
        stage = self._stage(optimizer)
        if stage == UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if stage == STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        self._needs_scale("unscale_")
        finite = True
        with modes.no_grad():
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p._grad is not None:
                        finite = self._unscale(p._grad) and finite
        self._seen[id(optimizer)] = optimizer, UNSCALED, finite

    def _unscale(self, gradient: Any) -> bool:
        """Divide one gradient by the scale; whether it is finite."""
        if gradient._a.dtype == np.float16:
            raise ValueError(
                "Attempting to unscale FP16 gradients. Keep parameters in float32: autocast casts them where it should."
            )
        gradient.mul_(1.0 / self._scale)
        a = gradient._a
        with backend.of(a).on(a):
            xp = backend.namespace(a)
            return bool(xp.isfinite(a.astype(np.float32) if a.dtype.kind == "V" else a).all())

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step(*args, **kwargs)``, with the gradients unscaled; left out where one of them is inf or NaN.

        A scheduler is told of a step that was left out, so that it does not complain of a wrong order of calls.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        if self._stage(optimizer) == STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if self._stage(optimizer) == READY:
            self.unscale_(optimizer)
        finite = self._seen[id(optimizer)][2]
        if not any(p._grad is not None for group in optimizer.param_groups for p in group["params"]):
            raise AssertionError(
                "No inf checks were recorded for this optimizer: none of its parameters has a gradient."
            )
        found = optimizer.step(*args, **kwargs) if finite else None
        if not finite:
            optimizer._opt_called = True
            for tap in list(taps.left_out):
                tap(optimizer, self._scale)
        self._seen[id(optimizer)] = optimizer, STEPPED, finite
        return found

    def update(self, new_scale: Any = None) -> None:
        """After the steps of all optimizers: move the scale, or set it to ``new_scale``."""
        if not self._enabled:
            return
        self._needs_scale("update")
        if new_scale is not None:
            self._scale = float(new_scale)
        else:
            if not self._seen:
                raise AssertionError("No inf checks were recorded prior to update: call step() before update().")
            if all(finite for _, _, finite in self._seen.values()):
                self._growth_tracker += 1
                if self._growth_tracker == self._growth_interval:
                    self._grow()
            else:
                self._scale *= self._backoff_factor
                self._growth_tracker = 0
        self._seen = {}

    def _grow(self) -> None:
        """A larger scale, as long as float32 holds it."""
        larger = self._scale * self._growth_factor
        if larger <= dtypes.finfo(dtypes.float32).max:
            self._scale = larger
        self._growth_tracker = 0

    def _stage(self, optimizer: Any) -> str:
        known = self._seen.get(id(optimizer))
        return READY if known is None else known[1]

    def _needs_scale(self, what: str) -> None:
        if not self._scaled:
            raise AssertionError(
                f"Attempted {what} but _scale is None. This may indicate your script did not use scaler.scale(loss or outputs) earlier "
                "in the iteration."
            )

    # ------------------------------------------------------------------------------------------------------- settings

    def get_scale(self) -> float:
        """The scale; 1 where scaling is off."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """What the scale grows by."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Choose what the scale grows by."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale shrinks by."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Choose what the scale shrinks by."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many finite steps the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Choose after how many finite steps the scale grows."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Whether anything is scaled."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """Scale, factors and counts, for a saved training state; empty where scaling is off."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a saved state. Raises ``RuntimeError`` for an empty one."""
        if not self._enabled:
            return
        if len(state_dict) == 0:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._scale = float(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]

    def __getstate__(self) -> dict[str, Any]:
        if self._seen:
            raise RuntimeError("A GradScaler may be pickled between update() and the next step(), not in between.")
        return self.__dict__.copy()
