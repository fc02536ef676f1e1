"""Who holds memory: a walk over all tensors, graphs and passes that are alive, and a watch over the most there was at one time.

Memory is counted by buffer, in bytes, once however many views look at it: on the CPU what the array that owns it says, on a GPU the
block of the pool. Constants that the library keeps for itself (Python numbers as tensors) are left out. Asking costs a walk over the
program's objects; nothing is kept for it in between. Only the peak needs a watch that is told of every operation.
"""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tensorlab import dispatch, taps
from tensorlab.engine.node import AccumulateGrad, Node
from tensorlab.engine.run import BackwardRun

Buffer = tuple[int, int, tuple[str, int], Any]  # identity, bytes, (kind of device, number), what owns it


def buffer_of(a: Any) -> Buffer:
    """The buffer behind an array."""
    if not isinstance(a, np.ndarray):
        memory = a.data.mem
        return id(memory), int(memory.size), ("cuda", a.device.id), a if a.base is None else a.base
    owner: Any = a
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if owner.base is None or isinstance(owner.base, np.generic):
        return id(owner), owner.nbytes, ("cpu", 0), owner
    lender = owner.base.obj if isinstance(owner.base, memoryview) else owner.base
    if isinstance(lender, np.ndarray):
        return buffer_of(lender)
    try:
        return id(lender), memoryview(lender).nbytes, ("cpu", 0), owner
    except (
        TypeError,
        ValueError,
        BufferError,
    ):  # it lends nothing by that protocol, or elements that it has no letter for
        return id(lender), owner.nbytes, ("cpu", 0), owner


def _arrays_in(value: Any) -> Iterator[Any]:
    """Arrays in what a node or a pass keeps, through tuples, lists and dictionaries."""
    stack = [value]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind in (tuple, list):
            stack.extend(item)
        elif kind is dict:
            stack.extend(item.values())
        elif isinstance(item, np.ndarray) or (kind.__name__ == "ndarray" and hasattr(item, "data")):
            yield item


def _of_graph(thing: Any) -> Iterator[Any]:
    if isinstance(thing, BackwardRun):
        yield from _arrays_in([cell[1] for cell in thing.cells.values()])
    elif not isinstance(thing, AccumulateGrad):
        yield from _arrays_in((thing.saved if isinstance(thing.saved, tuple) else (), thing.attrs or ()))


def _kept() -> set[int]:
    """Buffers of the constants that the library keeps for itself."""
    known = [x._a for table in (dispatch._ints, dispatch._floats) for x in table.values()]
    cuda = sys.modules.get("tensorlab.backend.cuda")
    known += list(cuda._constants.values()) if cuda is not None else []
    return {buffer_of(a)[0] for a in known}


def buffers() -> tuple[dict[int, Buffer], dict[int, Buffer]]:
    """The buffers that tensors hold, and those that only graphs and passes hold."""
    kept = _kept()
    tensors: dict[int, Buffer] = {}
    graphs: dict[int, Buffer] = {}
    wanted = (dispatch.Tensor, Node, BackwardRun)
    things: list[Any] = [
        x for x in gc.get_objects() if issubclass(type(x), wanted)
    ]  # a proxy would do something if asked itself
    for x in things:
        if isinstance(x, dispatch.Tensor):
            if (a := getattr(x, "_a", None)) is not None:
                _enter(a, kept, tensors)
    for x in things:
        if not isinstance(x, dispatch.Tensor):
            for a in _of_graph(x):
                _enter(a, kept, graphs)
    return tensors, {key: found for key, found in graphs.items() if key not in tensors}


def _enter(a: Any, kept: set[int], into: dict[int, Buffer]) -> None:
    found = buffer_of(a)
    if found[0] not in kept:
        into[found[0]] = found


def _sum(found: Iterable[Buffer], where: tuple[str, int]) -> int:
    return sum(size for _, size, at, _ in found if at == where)


def allocated(kind: str, index: int) -> int:
    """Bytes that tensors, gradients and graphs hold on a device now."""
    tensors, graphs = buffers()
    return _sum((*tensors.values(), *graphs.values()), (kind, index))


def held_by_graph(kind: str, index: int) -> int:
    """Bytes that only graphs and passes hold on a device."""
    return _sum(buffers()[1].values(), (kind, index))


# ------------------------------------------------------------------------------------------------------------ the most


class _Watch:
    """The buffers of host memory that have been seen and are alive, and the most bytes of them at one time."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.alive: dict[int, int] = {}
        self.now = self.most = 0
        self.kept = _kept()
        self.look_around()
        self.most = self.now
        self.ends = [
            taps.watch_ops(self._called), taps.watch_steps(self._stepped), taps.watch_buffers(self._made),
        ]  # fmt: skip

    def look_around(self) -> None:
        """Take in what no operation has told of."""
        tensors, graphs = buffers()
        for found in (*tensors.values(), *graphs.values()):
            self._see(found)

    def _see(self, found: Buffer) -> None:
        key, size, (kind, _), owner = found
        if kind != "cpu" or not size or key in self.alive or key in self.kept:
            return
        with self.lock:
            self.alive[key] = size
            self.now += size
            self.most = max(self.most, self.now)
        weakref.finalize(owner, self._gone, key).atexit = False

    def _gone(self, key: int) -> None:
        with self.lock:
            self.now -= self.alive.pop(key, 0)

    def _made(self, array: Any) -> None:
        if isinstance(array, np.ndarray):
            self._see(buffer_of(array))

    def _called(self, row: Any, inputs: Any, attrs: Any, outs: Any) -> None:
        for x in (*inputs, *outs):
            if x is not None:
                self._made(x._a)
                if x._edge is not None:
                    for a in _of_graph(x._edge[0]):
                        self._made(a)

    def _stepped(self, node: Any, incoming: Any, outgoing: Any) -> None:
        for x in (*incoming, *outgoing):
            if x is not None:
                self._made(getattr(x, "_a", x))
        leaf = node.variable if isinstance(node, AccumulateGrad) else None
        if leaf is not None and leaf._grad is not None:
            self._made(leaf._grad._a)


_watch: _Watch | None = None


def watch_peak() -> None:
    """Begin to watch, or let the peak begin again from what is there now."""
    global _watch
    if _watch is None:
        _watch = _Watch()
    _watch.look_around()
    _watch.most = _watch.now


def watching() -> bool:
    """Whether operations are watched."""
    return _watch is not None


def peak() -> int:
    """The most bytes of host memory at one time since the watch began. Begins it where there is none."""
    if _watch is None:
        watch_peak()
    assert _watch is not None
    _watch.look_around()
    return _watch.most


def stop() -> None:
    """End the watch."""
    global _watch
    if _watch is not None:
        for end in _watch.ends:
            end()
        _watch = None
