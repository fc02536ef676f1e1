"""Memory as it is taken and given back: every buffer with what made it, where, and what let go of it.

Time is counted in ticks, one for each buffer that comes, goes or changes its use, so what stood at the peak adds up to the peak exactly.
Buffers are counted as ``tensorlab.census`` counts them. What a single operation uses while it computes is no buffer of the program's.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np

from tensorlab import census, modes, taps
from tensorlab.engine import sites
from tensorlab.engine.node import AccumulateGrad, Node
from tensorlab.modes import state
from tensorlab.observe.hook_recorder import _all, _Weakly
from tensorlab.observe.schema_watching import USES
from tensorlab.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

BEFORE, KEPT, GRADIENT, FORWARD, PASSING, OPTIMIZER = range(len(USES))
#: Points of the curve, and buffers that are gone, that are kept; past that the curve is thinned and the smallest are forgotten.
MOST_POINTS, MOST_GONE = 4_000, 3_000


class Block:
    """One buffer."""

    __slots__ = ("number", "size", "use", "op", "path", "site", "born", "died", "saved", "freed", "freed_site", "shape")

    def __init__(self, number: int, size: int, use: int, op: str, path: Any, site: Any, born: int, shape: str) -> None:
        self.number, self.size, self.use, self.op, self.path, self.site = number, size, use, op, path, site
        self.born, self.died, self.shape = born, -1, shape
        self.saved: list[str] = []
        self.freed = ""
        self.freed_site: Any = None


class MemoryRecorder:
    """The buffers of one device, ``("cpu", 0)`` or ``("cuda", index)``, from ``attach()`` on."""

    def __init__(self, device: tuple[str, int] = ("cpu", 0)) -> None:
        self.device = device
        self.alive: dict[int, Block] = {}
        self.gone: list[Block] = []
        self.forgotten = self.forgotten_bytes = 0
        self.tick = 0
        self.totals = [0] * len(USES)
        self.points: list[tuple[int, tuple[int, ...]]] = []
        self.phases: list[tuple[int, str]] = []
        self.peak = self.peak_tick = 0
        self.trouble = ""
        self._number = 0
        self._dying: list[Block] = []
        self._told = ""  # the node that ran last
        self._stepping = 0
        self._kept: set[int] = set()
        self._lock = threading.RLock()
        self._refs: dict[int, Any] = {}  # of each buffer a weak reference that tells when it goes
        self._undo: list[Any] = []

    @property
    def now(self) -> int:
        """Bytes that are held now."""
        return sum(self.totals)

    @property
    def attached(self) -> bool:
        """Whether memory is followed."""
        return bool(self._undo)

    def attach(self) -> None:
        """Begin anew with what is there now, and follow it. Doing it twice does nothing more."""
        if self._undo:
            return
        self.__init__(self.device)  # type: ignore[misc]
        self._kept = census._kept()
        modes.watch_sites(True)
        handles = [
            register_optimizer_step_pre_hook(_Weakly(self, "_begins")),
            register_optimizer_step_post_hook(_Weakly(self, "_ended")),
        ]
        self._undo = [
            lambda: modes.watch_sites(False),
            taps.watch_ops(_Weakly(self, "_called")),
            taps.watch_steps(_Weakly(self, "_stepped")),
            taps.watch_buffers(_Weakly(self, "_made")),
            *[handle.remove for handle in handles],
        ]
        weakref.finalize(self, _all, list(self._undo)).atexit = False
        tensors, graphs = census.buffers()
        for found in (*tensors.values(), *graphs.values()):
            self._see(found, BEFORE, "", None, None, "")
        self._start()

    def _start(self) -> None:
        """What is there now was there before the first tick."""
        with self._lock:
            self.tick = self.peak = self.peak_tick = 0
            self.points = []
            for block in self.alive.values():
                block.born = 0
            self._point()

    def detach(self) -> None:
        """Stop. What was recorded stays."""
        undo, self._undo = self._undo, []
        _all(undo)
        self._refs.clear()

    # ---------------------------------------------------------------------------------------------- coming and going

    def _see(self, found: Any, use: int, op: str, path: Any, site: Any, shape: str) -> Block | None:
        key, size, device, owner = found
        block = self.alive.get(key)
        if block is not None or device != self.device or not size or key in self._kept:
            return block
        with self._lock:
            self.tick += 1
            block = self.alive[key] = Block(self._number, size, use, op, path, site, self.tick, shape)
            self._number += 1
            self.totals[use] += size
            self._point()
        told = _Weakly(self, "_gone")
        end = _weakly(owner, lambda _: told(key))
        if end is None:
            self.trouble = (
                f"When arrays of type {type(owner).__name__} go cannot be seen: they are counted as if they stayed."
            )
        self._refs[key] = end
        return block

    def _gone(self, key: int) -> None:
        with self._lock:
            self._refs.pop(key, None)
            block = self.alive.pop(key, None)
            if block is None or not self._undo:
                return
            self.tick += 1
            block.died = self.tick
            self.totals[block.use] -= block.size
            if state.run is not None and block.use == PASSING and self._told:
                block.freed = f"freed once {self._told} had used it"
            elif state.run is not None:
                self._dying.append(block)
            else:
                block.freed_site = sites.here(1)
            self.gone.append(block)
            self._point()
            if len(self.gone) > MOST_GONE:
                self._forget()

    def _becomes(self, block: Block | None, use: int) -> None:
        if block is None or block.use == use:
            return
        with self._lock:
            self.tick += 1
            self.totals[block.use] -= block.size
            self.totals[use] += block.size
            block.use = use
            self._point()

    def _point(self) -> None:
        now = sum(self.totals)
        if now > self.peak or not self.points:
            self.peak, self.peak_tick = now, self.tick
        self.points.append((self.tick, tuple(self.totals)))
        if len(self.points) > MOST_POINTS:
            pairs = zip(self.points[:-1:2], self.points[1::2], strict=False)
            self.points = [max(pair, key=lambda point: sum(point[1])) for pair in pairs]

    def _forget(self) -> None:
        """Let go of the smaller half of what is gone and did not stand at the peak."""
        at_peak = [b for b in self.gone if b.born <= self.peak_tick < b.died]
        rest = sorted((b for b in self.gone if not b.born <= self.peak_tick < b.died), key=lambda b: b.size)
        half = len(rest) // 2
        self.forgotten += half
        self.forgotten_bytes += sum(b.size for b in rest[:half])
        self.gone = sorted(at_peak + rest[half:], key=lambda b: b.born)

    def settle(self) -> None:
        """Leave out what turned out to be the library's own: constants that it keeps."""
        kept = census._kept()
        with self._lock:
            for key in [key for key in self.alive if key in kept]:
                self._never(self.alive.pop(key))
            self._kept |= kept

    def _never(self, block: Block) -> None:
        """Take a block out of everything, as if it had not been seen."""
        self.totals[block.use] -= block.size
        for at, (tick, totals) in enumerate(self.points):
            if tick >= block.born:
                changed = list(totals)
                changed[block.use if changed[block.use] >= block.size else FORWARD] -= block.size
                self.points[at] = tick, tuple(changed)
        if self.peak_tick >= block.born:
            self.peak -= block.size

    # ---------------------------------------------------------------------------------------------- taps

    def complete(self, known: Mapping[int, Any]) -> None:
        """Tell those that hold no graph what made them, as far as it was seen."""
        for key, one in known.items():
            block = self.alive.get(key)
            if block is not None and one.made is None and block.op:
                one.made = block.op, block.site, block.path

    def _where(self) -> tuple[Any, Any]:
        mark = state.mark
        if mark is None:
            return sites.here(3), None
        return mark.made or (sites.here(3), mark.path)

    def _use(self) -> int:
        return OPTIMIZER if self._stepping else PASSING if state.run is not None else FORWARD

    def _phase(self, name: str) -> None:
        if not self.phases or self.phases[-1][1] != name:
            self.phases.append((self.tick, name))
            if len(self.phases) > 400:
                del self.phases[1:200]

    def _called(self, row: Any, inputs: Any, attrs: Any, outs: Any) -> None:
        try:
            if state.run is None:
                self._phase("step" if self._stepping else "forward")
            site, path = self._where()
            node = outs[0]._edge[0] if outs and outs[0] is not None and outs[0]._edge is not None else None
            name = node.name() if node is not None and node.row is row else row.name
            for x in inputs:
                if x is not None and hasattr(x, "_a"):
                    self._see(census.buffer_of(x._a), BEFORE, "", None, None, _shape(x))
            for x in outs:
                if x is not None:
                    self._see(census.buffer_of(x._a), self._use(), name, path, site, _shape(x))
            if node is not None and state.run is None:
                self._saved(node)
        except Exception as error:  # what goes wrong with us must not go wrong with the program
            self.trouble = f"A call of {row.name} could not be recorded: {type(error).__name__}: {error}"

    def _saved(self, node: Node) -> None:
        for label, array, *_ in node.saved_facts():
            block = self.alive.get(census.buffer_of(array)[0])
            if block is None:
                found = census.buffer_of(array)
                made = node.made or (None, None)
                block = self._see(found, KEPT, node.name(), made[1], made[0], f"{list(array.shape)} {array.dtype}")
            if block is not None:
                words = f"{node.name()} as {label}"
                if words not in block.saved and len(block.saved) < 8:
                    block.saved.append(words)
                if block.use == FORWARD:
                    self._becomes(block, KEPT)

    def _stepped(self, node: Any, incoming: Any, outgoing: Any) -> None:
        try:
            self._phase("backward")
            name, made = node.name(), getattr(node, "made", None) or (None, None)
            dying, self._dying = self._dying, []
            for gone in dying:
                gone.freed = f"freed by {name} in backward"
            self._told = name
            for x in (*incoming, *outgoing):
                if x is not None:
                    self._see(census.buffer_of(getattr(x, "_a", x)), PASSING, name, made[1], made[0], _shape(x))
            leaf = node.variable if isinstance(node, AccumulateGrad) else None
            if leaf is not None and leaf._grad is not None:
                g = leaf._grad
                found = census.buffer_of(g._a)
                block = self._see(found, GRADIENT, name, None, None, _shape(g))
                self._becomes(block, GRADIENT)
        except Exception as error:
            self.trouble = f"A step of backward could not be recorded: {type(error).__name__}: {error}"

    def _made(self, array: Any) -> None:
        site, path = self._where()
        shape = f"{list(array.shape)} {array.dtype}"
        self._see(
            census.buffer_of(array), self._use(), "creation" if not self._stepping else "state", path, site, shape
        )

    def _begins(self, optimizer: Any, *_: Any) -> None:
        self._stepping += 1
        self._phase("step")

    def _ended(self, optimizer: Any, *_: Any) -> None:
        self._stepping = max(0, self._stepping - 1)


def _weakly(owner: Any, told: Any) -> Any:
    """A weak reference to a buffer that calls ``told`` when it goes: on a GPU to what hangs on the block of the pool."""
    memory = None if isinstance(owner, np.ndarray) else getattr(getattr(owner, "data", None), "mem", None)
    for one in (getattr(memory, "note", None), memory, owner):
        try:
            if one is not None:
                return weakref.ref(one, told)
        except TypeError:
            continue
    return None


def _shape(x: Any) -> str:
    a = getattr(x, "_a", x)
    return f"{list(a.shape)} {a.dtype}"
