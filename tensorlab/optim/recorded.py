"""Steps that are recorded: the same rules as in lanes, computed with tensors, so that a gradient goes through them.

A rule calls functions that write into an array they are given. Here such an array is a ``Cell``, and a function that
writes into it puts a new tensor there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorlab import functional
from tensorlab.dispatch import wrap
from tensorlab.optim.lanes import scalar_type


class Cell:
    """A place for a tensor."""

    __slots__ = ("x",)

    def __init__(self, x: Any = None) -> None:
        self.x = x

    def __gt__(self, other: Any) -> Any:
        return self.x > other

    def __lt__(self, other: Any) -> Any:
        return self.x < other

    def __eq__(self, other: object) -> Any:
        return self.x == other

    __hash__ = None  # type: ignore[assignment]


def _bare(value: Any) -> Any:
    return value.x if isinstance(value, Cell) else value


def _into(function: Callable[..., Any], inputs: int) -> Callable[..., Any]:
    """A function of tensors as one that writes: ``f(a, b, out)``."""

    def written(*args: Any, out: Any = None) -> Cell:
        if out is None:
            out = args[inputs] if len(args) > inputs else Cell()
        out.x = function(*[_bare(value) for value in args[:inputs]])
        return out

    return written


class Recorder:
    """The functions that rules use, in place of NumPy's."""

    add = staticmethod(_into(lambda a, b: a + b, 2))
    subtract = staticmethod(_into(lambda a, b: a - b, 2))
    multiply = staticmethod(_into(lambda a, b: a * b, 2))
    divide = staticmethod(_into(lambda a, b: a / b, 2))
    maximum = staticmethod(_into(functional.maximum, 2))
    sqrt = staticmethod(_into(functional.sqrt, 1))
    negative = staticmethod(_into(functional.neg, 1))
    absolute = staticmethod(_into(functional.abs, 1))
    sign = staticmethod(_into(functional.sign, 1))
    where = staticmethod(_into(functional.where, 3))

    @staticmethod
    def clip(a: Cell, low: float, high: float, out: Cell) -> Cell:
        out.x = a.x.clamp(low, high)
        return out

    @staticmethod
    def copyto(out: Cell, value: Any) -> None:
        out.x = _bare(value)


class RecordedLane:
    """One parameter, whose step is recorded. What is remembered of it are tensors with a history."""

    xp = Recorder

    def __init__(
        self, p: Any, state: dict[str, Any], kinds: Sequence[str], numbers: Sequence[str], start: Callable[[str], float]
    ) -> None:
        self.p, self.state, self.kinds = p, state, kinds
        self.fresh = all(state.get(kind) is None for kind in kinds)
        self.paired = p.is_complex()
        for kind in kinds:
            if state.get(kind) is None:
                first = complex(start(kind), start(kind)) if self.paired else start(kind)
                state[kind] = wrap(np.full(p.shape, first, p._a.dtype)).to(p.device)
        for name in numbers:
            value = state.get(name)
            if value is None or not hasattr(value, "_a"):
                state[name] = wrap(np.array(start(name) if value is None else value, scalar_type()))
            elif value.requires_grad:
                raise RuntimeError(f"`requires_grad` is not supported for `{name}` in differentiable mode")

    def read(self, option: Any) -> Any:
        """An option as it is: a tensor gets its gradient."""
        return option

    number = constant = read

    def chain(self, name: str) -> None:
        """``None``: what is recorded goes step by step."""

    def scalar(self, name: str) -> float:
        """A number that is remembered."""
        return float(self.state[name].item())

    def remember(self, name: str, value: Any) -> float:
        """Remember a number, and return what can be kept of it."""
        self.state[name] = wrap(np.array(float(value), self.state[name]._a.dtype))
        return self.scalar(name)

    def count(self) -> float:
        """Count one more step and return its number."""
        return self.remember("step", self.scalar("step") + 1)

    def _real(self, x: Any) -> Any:
        return functional.view_as_real(x) if self.paired else x

    def scale(self, factor: Any) -> None:
        """Multiply the parameter."""
        self.p.copy_(self.p.clone() * factor)  # of a copy, whose value a gradient of the factor may ask for

    def gradient(self) -> Any:
        """The gradient."""
        return Cell(self._real(self.p._grad))

    def value(self) -> Any:
        """The parameter as it is now, safe from later writes."""
        return Cell(self._real(self.p.clone()))

    def slots(self) -> list[Cell]:
        """What is remembered, to compute with."""
        return [Cell(self._real(self.state[kind])) for kind in self.kinds]

    def finish(self, change: Cell, slots: Sequence[Cell]) -> None:
        """Take the change from the parameter, and remember what the rule left in the slots."""
        self.p.sub_(self._packed(change.x))
        for kind, slot in zip(self.kinds, slots, strict=True):
            self.state[kind] = self._packed(slot.x)

    def _packed(self, x: Any) -> Any:
        return functional.view_as_complex(x) if self.paired else x
