"""Updates of many parameters in few NumPy calls.

A *lane* is a set of parameters that take the same step. Small ones share one flat buffer: their gradients are gathered
into it, the update is computed once for all of them, and each part is taken from its parameter. What the optimizer
remembers of them (momentum and the like) lies in flat arrays too; the tensors in ``optimizer.state`` are views of
these. A large parameter is a lane of its own and is worked on where it lies, piece by piece, so that scratch memory
stays in the processor's cache.

Parameters keep their own memory: nothing is moved under the feet of whoever holds it. Complex numbers are pairs of real
ones here. Floats of 16 bits are computed with in 32; what is kept of them has 16.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tensorlab import backend, dispatch, dtypes, taps
from tensorlab.dispatch import storage_of, wrap

#: A parameter of this many elements is a lane of its own.
LARGE = 8_192
#: Elements of one piece: a few buffers of it fit into a second-level cache.
PIECE = 32_768

State = dict[str, Any]
#: The first value of what is remembered under a name.
Start = Callable[[str], float]


class Lane:
    """Parameters that take the same step, and their state in flat arrays, one a kind (``slots``).

    ``pieces`` are (where, scratch, scratch, scratch, parts of the slots); ``fresh`` says that nothing was remembered
    before; ``scalars`` holds the numbers that are remembered of each parameter, one row a name.
    """

    def __init__(
        self, params: Sequence[Any], states: Sequence[State], kinds: Sequence[str], numbers: Sequence[str], start: Start
    ) -> None:
        first = params[0]._a
        self.xp = backend.namespace(first)
        self.on = backend.of(first).on(first)
        self.params = list(params)
        self.dtype = first.dtype
        self.work, self.narrow = computing_type(first.dtype)
        self.paired = first.dtype.kind == "c"
        self.direct = len(params) == 1 and first.size >= LARGE and not self.narrow and _dense(first) is not None
        self.strides = first.strides
        self.fresh = all(state.get(kind) is None for state in states for kind in kinds)
        self.size = sum([p._a.size for p in params]) * (2 if self.paired else 1)
        self.kept: list[tuple[State, str, Any, Any]] = []
        self.slots = [self._slot(kind, states, start(kind)) for kind in kinds]
        self.scalars = self._numbers(numbers, states, start)
        self._row_of = {name: row for row, name in enumerate(numbers)}
        self._values: tuple[Any, list[Any]] | None = None
        if not self.direct:
            self._grads, self._grad_parts = self._buffer(self.work)
            self._delta, self._delta_parts = self._buffer(self.work)
        self.pieces = list(self._pieces())
        self._constants: dict[float, Any] = {}

    # ----------------------------------------------------------------------------------------------- how it is laid out

    def _buffer(self, dtype: Any) -> tuple[Any, list[Any]]:
        """A flat array for all parameters, and for each its part in its own shape."""
        flat = self.xp.zeros(self.size, dtype)
        seen = flat.view(self.dtype) if self.paired else flat
        parts, at = [], 0
        for p in self.params:
            a = p._a
            parts.append(seen[at : at + a.size].reshape(a.shape))
            at += a.size
        return flat, parts

    def _slot(self, kind: str, states: Sequence[State], start: float) -> Any:
        """The flat array of one kind of state, with what was remembered so far; the state's tensors become its
        parts.
        """
        if self.direct:
            part = self.xp.zeros_like(self.params[0]._a)
            flat, parts = self._flat(part), [part]
        else:
            flat, parts = self._buffer(self.dtype if self.narrow else self.work)
        if start:
            flat[...] = start
        for state, part in zip(states, parts, strict=True):
            self._keep(state, kind, part)
        return flat

    def _numbers(self, names: Sequence[str], states: Sequence[State], start: Start) -> Any:
        rows = np.empty((len(names), len(states)), scalar_type())
        for row, name in zip(rows, names, strict=True):
            row[...] = start(name)
            for at, state in enumerate(states):
                self._keep(state, name, row[at : at + 1].reshape(()))
        return rows

    def _keep(self, state: State, kind: str, part: Any) -> None:
        tensor = state.get(kind)
        if tensor is None:
            tensor = state[kind] = wrap(part)
            for tap in taps.buffers:
                tap(part)
        else:
            part[...] = dispatch.move(tensor, dispatch.device_of(part))._a
            tensor._a, tensor._st = part, None
        self.kept.append((state, kind, tensor, part))

    def _pieces(self) -> Iterator[tuple[Any, ...]]:
        piece = PIECE if self.xp is np else max(self.size, 1)  # a GPU has no second-level cache to fit into
        length = min(self.size, piece)
        scratch = [self.xp.empty(length, self.work) for _ in range(3)]
        for start in range(0, max(self.size, 1), piece):
            where = slice(start, min(start + piece, self.size))
            t, u, w = (part[: where.stop - start] for part in scratch)
            yield where, t if self.direct else self._delta[where], u, w, [slot[where] for slot in self.slots]

    def _flat(self, array: Any) -> Any:
        flat = _dense(array)
        return flat.view(self.work) if self.paired else flat

    def intact(self) -> bool:
        """Whether nobody replaced what is remembered, or changed single numbers of it."""
        for state, kind, tensor, part in self.kept:
            if tensor._a is not part or state.get(kind) is not tensor:
                return False
        if len(self.params) == 1:
            return True
        for row in self.scalars.tolist():
            if row.count(row[0]) != len(row):
                return False
        return True

    # -------------------------------------------------------------------------------------------------- one step of it

    def chain(self, name: str) -> Any:
        """A rule as one kernel, on a GPU; ``None`` where it is computed step by step."""
        return None if self.xp is np else backend.of(self.params[0]._a).chain(name)

    def read(self, option: Any) -> float:
        """An option of a group as a number; it may be a tensor."""
        return float(option)

    def number(self, value: float) -> Any:
        """A number as a 0-dim array, which NumPy takes in half the time that it needs for a Python number."""
        return np.array(value, self.work) if self.xp is np else value

    def constant(self, value: float) -> Any:
        """A number that stays the same from step to step, made once."""
        known = self._constants.get(value)
        if known is None:
            if len(self._constants) > 64:
                self._constants.clear()
            known = self._constants[value] = self.number(value)
        return known

    def scalar(self, name: str) -> float:
        """A number that is remembered of each parameter."""
        return float(self.scalars[self._row_of[name]][0])

    def remember(self, name: str, value: float) -> float:
        """Remember a number, and return what can be kept of it."""
        self.scalars[self._row_of[name]] = value
        return self.scalar(name)

    def count(self) -> float:
        """Count one more step and return its number."""
        return self.remember("step", self.scalar("step") + 1)

    def gradients(self) -> Any:
        """The gradients as one flat array."""
        if self.direct:
            a = self.params[0]._grad._a
            return self._flat(a if a.strides == self.strides else backend.copied_like(a, self.params[0]._a))
        for part, p in zip(self._grad_parts, self.params):  # noqa: B905  (hot; of equal length by construction)
            part[...] = p._grad._a
        return self._grads

    def values(self) -> Any:
        """The parameters as one flat array: themselves for a direct lane, else a copy."""
        if self.direct:
            return self._flat(self.params[0]._a)
        if self._values is None:
            self._values = self._buffer(self.work)
        flat, parts = self._values
        for part, p in zip(parts, self.params, strict=True):
            part[...] = p._a
        return flat

    def wide(self, slots: list[Any]) -> list[Any]:
        """Parts of slots to compute with."""
        return [slot.astype(self.work) for slot in slots] if self.narrow else slots

    def stored(self, slots: list[Any], wide: list[Any]) -> None:
        """Put what was computed back into narrow slots."""
        if self.narrow:
            for slot, values in zip(slots, wide, strict=True):
                slot[...] = values

    def scale(self, factor: float) -> None:
        """Multiply the parameters."""
        number = self.constant(factor)
        for p in self.params:
            if self.narrow:
                p._a[...] = p._a.astype(self.work) * number
            else:
                self.xp.multiply(p._a, number, p._a)

    def finish(self, name: str, site: Any) -> None:
        """Take the computed changes from the parameters, and count one write to each."""
        subtract = self.xp.subtract
        if self.direct:
            storage_of(self.params[0]).bump(name, site)
            return
        for p, part in zip(self.params, self._delta_parts):  # noqa: B905
            a = p._a
            if self.narrow:
                a[...] = a.astype(self.work) - part
            else:
                subtract(a, part, a)
            storage_of(p).bump(name, site)


class Plan:
    """The lanes of one group, for as long as the same parameters have gradients."""

    def __init__(
        self, ready: list[Any], state: dict[Any, State], kinds: tuple[str, ...], numbers: tuple[str, ...], start: Start
    ) -> None:
        self.kinds = kinds
        self.remembers = bool(kinds or numbers)
        self.states = [state[p] if self.remembers else {} for p in ready]
        self.known = [(p, type(p._a), p._a.shape, p._a.dtype, p._a.strides) for p in ready]
        together: dict[Any, list[int]] = {}
        for at, (p, mine) in enumerate(zip(ready, self.states, strict=True)):
            fresh = all(mine.get(kind) is None for kind in kinds)
            alone = at if p._a.size >= LARGE else -1
            counted = tuple([_counted(mine, name) for name in numbers])
            together.setdefault((p._a.dtype, dispatch.device_of(p._a), fresh, counted, alone), []).append(at)
        self.lanes = []
        for places in together.values():
            params = [ready[at] for at in places]
            with backend.of(params[0]._a).on(params[0]._a):
                self.lanes.append(Lane(params, [self.states[at] for at in places], kinds, numbers, start))

    def fits(self, ready: list[Any], state: dict[Any, Any], kinds: tuple[str, ...]) -> bool:
        """Whether it still holds: same parameters, same layouts, and a state that nobody replaced."""
        known = self.known
        if self.kinds != kinds or len(ready) != len(known):
            return False
        for p, mine, (q, kind, shape, dtype, strides) in zip(ready, self.states, known):  # noqa: B905
            a = p._a
            if (
                p is not q
                or (self.remembers and state.get(p) is not mine)
                or type(a) is not kind
                or a.shape != shape
                or a.dtype is not dtype
                or a.strides != strides
            ):
                return False
        return all(lane.intact() for lane in self.lanes)


def scalar_type() -> Any:
    """The type of numbers that are remembered of a parameter: float64 where that is the default, else float32."""
    return np.float64 if dtypes.default.float is dtypes.float64 else np.float32


def _counted(state: State, name: str) -> float | None:
    """A number that is remembered; it becomes a tensor if it was none."""
    value = state.get(name)
    if value is None:
        return None
    if not hasattr(value, "_a"):
        value = state[name] = wrap(np.array(value, scalar_type()))
    return float(value.item())


def computing_type(dtype: Any) -> tuple[Any, bool]:
    """The element type to compute in, and whether it is wider than the parameter's."""
    if dtype.kind == "c":
        return np.dtype(f"f{dtype.itemsize // 2}"), False
    return (np.dtype(np.float32), True) if dtype.itemsize < 4 else (dtype, False)


def _dense(array: Any) -> Any:
    """All elements in the order of memory, as a view; ``None`` for an array with gaps or overlaps."""
    if array.flags.c_contiguous:
        return array.reshape(-1)
    order = sorted(range(array.ndim), key=lambda d: -array.strides[d])
    turned = array.transpose(order)
    return turned.reshape(-1) if turned.flags.c_contiguous else None
