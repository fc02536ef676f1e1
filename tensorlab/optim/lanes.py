"""Updates of many parameters in few NumPy calls.

A *lane* is a set of parameters that take the same step. Small ones share one flat buffer: their gradients are gathered
into it, the update is computed once for all of them, and each part is taken from its parameter. What the optimizer
remembers of them (momentum and the like) lies in flat arrays too; the tensors in ``optimizer.state`` are views of
these. A large parameter is a lane of its own and is worked on where it lies, piece by piece, so that scratch memory
stays in the processor's cache.

Parameters keep their own memory: nothing is moved under the feet of whoever holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tensorlab import backend, dispatch, modes
from tensorlab.dispatch import storage_of, wrap
from tensorlab.engine import sites
from tensorlab.optim.optimizer import Group, Optimizer

#: A parameter of this many elements is a lane of its own.
LARGE = 8_192
#: Elements of one piece: three or four buffers of it fit into a second-level cache.
PIECE = 32_768


class Lane:
    """Parameters that take the same step, and their state in flat arrays, one a kind (``slots``).

    ``pieces`` are (where, scratch, scratch, parts of the slots); ``fresh`` says that nothing was remembered before.
    """

    def __init__(
        self, params: Sequence[Any], states: Sequence[dict[str, Any]], kinds: Sequence[str], counts: bool
    ) -> None:
        first = params[0]._a
        self.xp = backend.namespace(first)
        self.on = backend.of(first).on(first)
        self.params = list(params)
        self.dtype = first.dtype
        self.real = np.dtype(f"f{first.itemsize // 2}") if first.dtype.kind == "c" else first.dtype
        self.direct = len(params) == 1 and first.size >= LARGE and _dense(first) is not None
        self.strides = first.strides
        self.fresh = all(state.get(kind) is None for state in states for kind in kinds)
        self.size = sum([p._a.size for p in params]) * (2 if self.real is not self.dtype else 1)
        self.kept: list[tuple[dict[str, Any], str, Any, Any]] = []
        self.slots = [self._slot(kind, states) for kind in kinds]
        self.steps = self._steps(states) if counts else None
        self._values: tuple[Any, list[Any]] | None = None
        if not self.direct:
            self._grads, self._grad_parts = self._buffer()
            self._delta, self._delta_parts = self._buffer()
        self.pieces = list(self._pieces())
        self._constants: dict[float, Any] = {}

    # ----------------------------------------------------------------------------------------------- how it is laid out

    def _buffer(self) -> tuple[Any, list[Any]]:
        """A flat array for all parameters, and for each its part in its own shape."""
        flat = self.xp.zeros(self.size, self.real)
        seen = flat if self.real is self.dtype else flat.view(self.dtype)
        parts, at = [], 0
        for p in self.params:
            a = p._a
            parts.append(seen[at : at + a.size].reshape(a.shape))
            at += a.size
        return flat, parts

    def _slot(self, kind: str, states: Sequence[dict[str, Any]]) -> Any:
        """The flat array of one kind of state, with what was remembered so far; the state's tensors become its
        parts.
        """
        if self.direct:
            part = self.xp.zeros_like(self.params[0]._a)
            flat, parts = self._flat(part), [part]
        else:
            flat, parts = self._buffer()
        for state, part in zip(states, parts, strict=True):
            self._keep(state, kind, part)
        return flat

    def _steps(self, states: Sequence[dict[str, Any]]) -> Any:
        steps = np.zeros(len(states), np.float32)
        for at, state in enumerate(states):
            self._keep(state, "step", steps[at : at + 1].reshape(()))
        return steps

    def _keep(self, state: dict[str, Any], kind: str, part: Any) -> None:
        tensor = state.get(kind)
        if tensor is None:
            tensor = state[kind] = wrap(part)
        else:
            part[...] = dispatch.move(tensor, dispatch.device_of(part))._a
            tensor._a, tensor._st = part, None
        self.kept.append((state, kind, tensor, part))

    def _pieces(self) -> Iterator[tuple[Any, ...]]:
        piece = PIECE if self.xp is np else max(self.size, 1)  # a GPU has no second-level cache to fit into
        length = min(self.size, piece)
        scratch = self.xp.empty(length, self.real), self.xp.empty(length, self.real)
        for start in range(0, max(self.size, 1), piece):
            where = slice(start, min(start + piece, self.size))
            n = where.stop - start
            first = scratch[0][:n] if self.direct else self._delta[where]
            yield where, first, scratch[1][:n], *[slot[where] for slot in self.slots]

    def _flat(self, array: Any) -> Any:
        flat = _dense(array)
        return flat if self.real is self.dtype else flat.view(self.real)

    def intact(self) -> bool:
        """Whether nobody replaced what is remembered, or changed single step counts."""
        for state, kind, tensor, part in self.kept:
            if tensor._a is not part or state.get(kind) is not tensor:
                return False
        if self.steps is None or len(self.steps) == 1:
            return True
        steps = self.steps.tolist()
        return steps.count(steps[0]) == len(steps)

    # -------------------------------------------------------------------------------------------------- one step of it

    def number(self, value: float) -> Any:
        """A number as a 0-dim array, which NumPy takes in half the time that it needs for a Python number."""
        return np.array(value, self.real) if self.xp is np else value

    def constant(self, value: float) -> Any:
        """A number that stays the same from step to step, made once."""
        known = self._constants.get(value)
        if known is None:
            if len(self._constants) > 64:
                self._constants.clear()
            known = self._constants[value] = self.number(value)
        return known

    def count(self) -> float:
        """Count one more step and return its number."""
        self.steps += 1  # type: ignore[operator]
        return float(self.steps[0])  # type: ignore[index]

    def gradients(self) -> Any:
        """The gradients as one flat array."""
        if self.direct:
            a = self.params[0]._grad._a
            return self._flat(a if a.strides == self.strides else _laid_out_like(self.params[0]._a, a))
        for part, p in zip(self._grad_parts, self.params):  # noqa: B905  (hot; of equal length by construction)
            part[...] = p._grad._a
        return self._grads

    def values(self) -> Any:
        """The parameters as one flat array: themselves for a direct lane, else a copy."""
        if self.direct:
            return self._flat(self.params[0]._a)
        if self._values is None:
            self._values = self._buffer()
        flat, parts = self._values
        for part, p in zip(parts, self.params, strict=True):
            part[...] = p._a
        return flat

    def scale(self, factor: Any) -> None:
        """Multiply the parameters."""
        for p in self.params:
            self.xp.multiply(p._a, factor, p._a)

    def finish(self, name: str, site: Any) -> None:
        """Take the computed changes from the parameters, and count one write to each."""
        subtract = self.xp.subtract
        if self.direct:
            storage_of(self.params[0]).bump(name, site)
            return
        for p, part in zip(self.params, self._delta_parts):  # noqa: B905
            a = p._a
            subtract(a, part, a)
            storage_of(p).bump(name, site)


class Plan:
    """The lanes of one group, for as long as the same parameters have gradients."""

    def __init__(self, group: Group, ready: list[Any], owner: LaneOptimizer, kinds: tuple[str, ...]) -> None:
        self.group = group
        self.kinds = kinds
        self.remembers = bool(kinds or owner.counts)
        self.states = [owner.state[p] if self.remembers else {} for p in ready]
        self.known = [(p, type(p._a), p._a.shape, p._a.dtype, p._a.strides) for p in ready]
        together: dict[Any, list[int]] = {}
        for at, p in enumerate(ready):
            state = self.states[at]
            tensor = state.get("step")
            step = tensor if tensor is None or isinstance(tensor, (int, float)) else tensor.item()
            if owner.counts and step is not None and not hasattr(tensor, "_a"):
                state["step"] = wrap(np.array(step, np.float32))
            fresh = all(state.get(kind) is None for kind in kinds)
            alone = at if p._a.size >= LARGE else -1
            together.setdefault((p._a.dtype, dispatch.device_of(p._a), fresh, step or 0, alone), []).append(at)
        self.lanes = []
        for places in together.values():
            params = [ready[at] for at in places]
            with backend.of(params[0]._a).on(params[0]._a):
                self.lanes.append(Lane(params, [self.states[at] for at in places], kinds, owner.counts))

    def fits(self, group: Group, ready: list[Any], state: dict[Any, Any], kinds: tuple[str, ...]) -> bool:
        """Whether it still holds: same parameters, same layouts, and a state that nobody replaced."""
        known = self.known
        if self.group is not group or self.kinds != kinds or len(ready) != len(known):
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


class LaneOptimizer(Optimizer):
    """An optimizer whose update is written once, for lanes."""

    #: Whether each parameter's state counts its steps.
    counts = False

    _plans: dict[int, Plan]

    def _prepare(self) -> None:
        super()._prepare()
        self._plans = {}

    def _kinds(self, group: Group) -> tuple[str, ...]:
        """The names of what is remembered of each parameter, in its shape."""
        return ()

    def _update(self, lane: Lane, group: Group) -> None:
        """Compute the change of a lane's parameters into the first scratch of each piece; apply it if the lane is
        direct.
        """
        raise NotImplementedError(type(self).__name__)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters that have a gradient by one step. ``closure`` computes the loss again; its value is
        returned.
        """
        loss = None
        if closure is not None:
            with modes.enable_grad():
                loss = closure()
        name, site = f"{type(self).__name__}.step", sites.here(2)
        with np.errstate(all="ignore"):
            for group in self.param_groups:
                ready = [p for p in group["params"] if p._grad is not None]
                if not ready:
                    continue
                kinds = self._kinds(group)
                plan = self._plans.get(id(group))
                if plan is None or not plan.fits(group, ready, self.state, kinds):
                    plan = self._plans[id(group)] = Plan(group, ready, self, kinds)
                for lane in plan.lanes:
                    with lane.on:
                        self._update(lane, group)
                        lane.finish(name, site)
                    lane.fresh = False
        return loss


def _dense(array: Any) -> Any:
    """All elements in the order of memory, as a view; ``None`` for an array with gaps or overlaps."""
    if array.flags.c_contiguous:
        return array.reshape(-1)
    order = sorted(range(array.ndim), key=lambda d: -array.strides[d])
    turned = array.transpose(order)
    return turned.reshape(-1) if turned.flags.c_contiguous else None


def _laid_out_like(model: Any, array: Any) -> Any:
    return backend.copied_like(array, model)
