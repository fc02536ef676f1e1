"""The devices of the stand-in for CuPy: GPUs, memory and its pool, streams and events, with an account of what happened.

Work is done at once, so a stream never has anything left to do; what it was given, and what waited for what, stands in
``machine.log``. A test may put ``machine.busy`` on to see what is asked of streams that are not through.
"""

from __future__ import annotations

import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np

BLOCK, TOTAL = 512, 1 << 34


class CUDARuntimeError(RuntimeError):
    """What CuPy raises for a device that is not there."""


class OutOfMemoryError(MemoryError):
    """What CuPy raises where the pool gets no more memory."""


class Machine:
    """The devices, which of them is current, and the copies made: ("in" or "out", number of elements)."""

    def __init__(self) -> None:
        self.devices = 2
        self.current = 0
        self.copies: list[tuple[str, int]] = []
        self.synchronized: list[int] = []
        self.log: list[tuple[Any, ...]] = []
        self.busy = False
        self.clock = 0.0
        self.streams: dict[int, Any] = {}
        self.pool = Pool()
        self.allocator = self.pool.malloc

    def copied(self, way: str) -> list[int]:
        """The sizes of all copies one way that were more than one element."""
        return [size for direction, size in self.copies if direction == way and size > 1]


class Pool:
    """Memory of all devices: blocks of 512 bytes a step, kept for the next ones once they are free."""

    def __init__(self) -> None:
        self.used: dict[int, int] = {}
        self.total: dict[int, int] = {}
        self.limit: dict[int, int] = {}

    def malloc(self, size: int) -> MemoryPointer:
        rounded = -(-size // BLOCK) * BLOCK
        where = machine.current
        used = self.used.get(where, 0) + rounded
        if self.limit.get(where) and used > self.limit[where]:
            raise OutOfMemoryError(
                f"Out of memory allocating {rounded:,} bytes (limit set to: {self.limit[where]:,} bytes)."
            )
        memory = Memory(np.zeros(rounded, np.uint8), where)
        self.used[where] = used
        self.total[where] = max(self.total.get(where, 0), used)
        weakref.finalize(memory, self._free, where, rounded)
        return MemoryPointer(memory, 0)

    def _free(self, where: int, size: int) -> None:
        self.used[where] -= size

    def used_bytes(self) -> int:
        return self.used.get(machine.current, 0)

    def total_bytes(self) -> int:
        return self.total.get(machine.current, 0)

    def free_all_blocks(self, stream: Any = None) -> None:
        self.total[machine.current] = self.used_bytes()

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        self.limit[machine.current] = int(TOTAL * fraction) if fraction is not None else size or 0

    def get_limit(self) -> int:
        return self.limit.get(machine.current, 0)


class Device:
    """One GPU; as a context manager, the current one."""

    def __init__(self, device: int | None = None) -> None:
        self.id = machine.current if device is None else int(device)
        self._before: list[int] = []

    def use(self) -> None:
        if not 0 <= self.id < machine.devices:
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        machine.current = self.id

    def __enter__(self) -> Device:
        before = machine.current
        self.use()
        self._before.append(before)
        return self

    def __exit__(self, *error: Any) -> None:
        machine.current = self._before.pop()

    def synchronize(self) -> None:
        machine.synchronized.append(self.id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"


class Memory:
    """One allocation."""

    def __init__(self, host: np.ndarray, device: int) -> None:
        self.bytes = host
        self.ptr = host.__array_interface__["data"][0]
        self.size = host.nbytes
        self.device_id = device


class MemoryPointer:
    """A place in an allocation."""

    def __init__(self, mem: Memory, offset: int) -> None:
        self.mem = mem
        self.ptr = mem.ptr + offset
        self.device_id = mem.device_id

    @property
    def device(self) -> Device:
        return Device(self.device_id)

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self.ptr - self.mem.ptr + offset)

    def __sub__(self, offset: int) -> MemoryPointer:
        return self + -offset


class PinnedMemoryPointer(bytearray):
    """Page-locked host memory."""


class Stream:
    """A queue of work of one device."""

    null: Any = None
    _next = 0x1000

    def __init__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: int | None = None
    ) -> None:
        Stream._next += 16
        self.ptr = 0 if null else Stream._next
        self.device_id = -1 if null else machine.current
        self.non_blocking, self.priority = non_blocking, priority

    def use(self) -> Stream:
        if self.device_id not in (-1, machine.current):
            raise RuntimeError("This stream was not created on device")
        machine.streams[machine.current] = self
        return self

    @property
    def done(self) -> bool:
        return not machine.busy

    def synchronize(self) -> None:
        machine.log.append(("synchronize", self.ptr))
        machine.busy = False

    def record(self, event: Event | None = None) -> Event:
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        machine.log.append(("wait", self.ptr, event.ptr))


class ExternalStream(Stream):
    """A stream that somebody else made."""

    def __init__(self, ptr: int, device_id: int = -1) -> None:
        self.ptr, self.device_id = ptr, device_id


Stream.null = Stream.__new__(Stream)
Stream.null.__dict__.update(ptr=0, device_id=-1, non_blocking=False, priority=None)


class Event:
    """A mark in a stream."""

    _next = 0x9000

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        Event._next += 16
        self.ptr, self.timed, self.at, self.device_id = Event._next, not disable_timing, -1.0, machine.current

    def record(self, stream: Stream | None = None) -> None:
        if self.device_id != machine.current:
            raise CUDARuntimeError("cudaErrorInvalidResourceHandle: invalid resource handle")
        stream = current_stream() if stream is None else stream
        machine.clock += 1.5
        self.at = machine.clock
        machine.log.append(("record", stream.ptr, self.ptr))

    @property
    def done(self) -> bool:
        return not machine.busy

    def synchronize(self) -> None:
        machine.log.append(("synchronize", self.ptr))
        machine.busy = False


def current_stream(device_id: int = -1) -> Stream:
    return machine.streams.get(machine.current if device_id < 0 else device_id, Stream.null)


def elapsed(start: Event, end: Event) -> float:
    if not (start.timed and end.timed):
        raise CUDARuntimeError("cudaErrorInvalidResourceHandle: invalid resource handle")
    return end.at - start.at


machine = Machine()


def _device_count() -> int:
    if not machine.devices:
        raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
    return machine.devices


def _properties(index: int) -> dict[str, Any]:
    return {
        "name": b"GPU %d" % index, "major": 9, "minor": 0, "totalGlobalMem": TOTAL, "multiProcessorCount": 132, "warpSize": 32,
        "l2CacheSize": 50 << 20,
    }  # fmt: skip


def _set_allocator(allocator: Any = None) -> None:
    machine.allocator = machine.pool.malloc if allocator is None else allocator


def namespace() -> Any:
    """``cupy.cuda``."""
    runtime = SimpleNamespace(
        getDeviceCount=_device_count,
        runtimeGetVersion=lambda: 12090,
        CUDARuntimeError=CUDARuntimeError,
        getDeviceProperties=_properties,
        deviceCanAccessPeer=lambda device, peer: int(device != peer),
        memGetInfo=lambda: (TOTAL - machine.pool.total_bytes(), TOTAL),
    )
    nvtx = SimpleNamespace(
        RangePush=lambda text: machine.log.append(("push", text)),
        RangePop=lambda: machine.log.append(("pop",)),
        Mark=lambda text: machine.log.append(("mark", text)),
    )
    return SimpleNamespace(
        Device=Device,
        Event=Event,
        ExternalStream=ExternalStream,
        MemoryPointer=MemoryPointer,
        PinnedMemoryPointer=PinnedMemoryPointer,
        Stream=Stream,
        alloc_pinned_memory=PinnedMemoryPointer,
        get_allocator=lambda: machine.allocator,
        get_current_stream=current_stream,
        get_device_id=lambda: machine.current,
        get_elapsed_time=elapsed,
        is_available=lambda: machine.devices > 0,
        nvtx=nvtx,
        runtime=runtime,
        set_allocator=_set_allocator,
    )
