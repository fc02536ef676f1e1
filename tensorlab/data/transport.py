"""How batches travel from a worker process: arrays in shared memory, the rest pickled through the pipe.

A worker owns a few *blocks* of memory that both processes map. ``default_collate`` stacks samples straight into one of them, so
an array is written once and never copied. The main process makes tensors over the block, and tells the worker when the last of
them is gone; the block is then written again, which saves the cost of fresh pages.

A block has no name: it is a file descriptor sent along with the first batch that uses it, closed as soon as it is mapped. So there
is nothing that a killed process could leave behind. Where descriptors cannot be sent (Windows), arrays go through the pipe.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import socket
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import accumulate
from math import prod
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

#: Every array in a block starts at a multiple of this many bytes.
ALIGNMENT = 64

#: How many blocks of one worker the main process keeps; batches that are kept beyond that are copied out.
HELD = 8

SHARED = sys.platform != "win32" and hasattr(socket, "send_fds")

#: The blocks of this process, if it is a worker.
outgoing: Outgoing | None = None


def take(shape: Sequence[int], dtype: Any) -> np.ndarray | None:
    """An uninitialised array in shared memory for a batch that a worker is making; ``None`` where there is no room for it."""
    return None if outgoing is None or dtype.hasobject else outgoing.take(shape, dtype)


class Outgoing:
    """A worker's end: packs batches."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.blocks: dict[int, tuple[int, np.ndarray]] = {}  # number -> descriptor, memory
        self.free: list[int] = []
        self.current: int | None = None
        self.used = 0
        self.news: set[int] = set()  # blocks whose descriptor the main process has not got yet

    def begin(self) -> None:
        """Start a batch: the largest free block is the one it goes to."""
        if self.current is None and self.free:
            self.current = max(self.free, key=lambda number: self.blocks[number][1].nbytes)
            self.free.remove(self.current)
        self.used = 0

    def take(self, shape: Sequence[int], dtype: Any) -> np.ndarray | None:
        """An array in the current block, if it has room for it."""
        if self.current is None:
            return None
        size, memory = prod(shape) * dtype.itemsize, self.blocks[self.current][1]
        if self.used + size > memory.nbytes:
            return None
        found = np.ndarray(shape, dtype, memory, self.used)
        self.used = _aligned(self.used + size)
        return found

    def send(self, head: tuple[Any, ...], value: Any) -> None:
        """Send ``head`` and a value, whose arrays go into a block."""
        body, memories = _pickled(value)
        if not SHARED or not sum(m.nbytes for m in memories):
            self._post(head, body, None, [m.tobytes() for m in memories], 0)
            return
        places = self._places(memories)
        number, self.current = self.current, None
        assert number is not None
        descriptor, memory = self.blocks[number]
        self._post(head, body, number, places, memory.nbytes if number in self.news else 0)
        if number in self.news:
            with socket.socket(fileno=os.dup(self.connection.fileno())) as pipe:
                socket.send_fds(pipe, [b"b"], [descriptor])
            self.news.remove(number)

    def _post(self, head: tuple[Any, ...], body: bytes, block: int | None, places: list[Any], size: int) -> None:
        self.connection.send_bytes(pickle.dumps((head, body, block, places, size), 5))

    def _places(self, memories: list[np.ndarray]) -> list[tuple[int, int]]:
        """Where each array lies in the current block, once those that lie elsewhere are copied into it."""
        block = None if self.current is None else self.blocks[self.current][1]
        if block is not None:
            start, end = _address(block), self.used
            places = []
            for m in memories:
                inside = 0 <= _address(m) - start and _address(m) - start + m.nbytes <= self.used
                places.append((_address(m) - start if inside else end, m.nbytes))
                end = end if inside else _aligned(end + m.nbytes)
            if end <= block.nbytes:
                for m, (offset, size) in zip(memories, places, strict=True):
                    if offset >= self.used:
                        block[offset : offset + size] = m
                return places
        ends = list(accumulate((_aligned(m.nbytes) for m in memories), initial=0))
        block = self._make(ends[-1])
        places = [(offset, m.nbytes) for offset, m in zip(ends, memories, strict=False)]
        for m, (offset, size) in zip(memories, places, strict=True):
            block[offset : offset + size] = m
        return places

    def _make(self, size: int) -> np.ndarray:
        """A new block, a little larger than asked for, in the place of the current one, which was too small, if there is one."""
        size = -(-(size + size // 8) // mmap.PAGESIZE) * mmap.PAGESIZE
        descriptor = _anonymous_file(size)
        memory = np.frombuffer(mmap.mmap(descriptor, size), np.uint8)
        if self.current is None:
            self.current = len(self.blocks)
        else:
            os.close(self.blocks[self.current][0])
        self.blocks[self.current] = descriptor, memory
        self.news.add(self.current)
        return memory

    def given_back(self, numbers: Sequence[int]) -> None:
        """The main process has no more use for what lies in these blocks."""
        self.free += numbers


class Incoming:
    """The main process's end for one worker: unpacks batches."""

    def __init__(self, connection: Connection, waiting: int) -> None:
        self.connection = connection
        self.most = HELD + waiting  # with the batches that nobody has asked for yet
        self.blocks: dict[int, np.ndarray] = {}
        self.released: list[int] = []  # blocks to give back with the next request
        self.held = 0

    def receive(self) -> tuple[tuple[Any, ...], Callable[[], Any]]:
        """The head of the next message, and the function that unpacks its value. Raises ``EOFError`` if the worker is gone."""
        head, body, number, places, size = pickle.loads(self.connection.recv_bytes())
        if number is None:
            return head, lambda: pickle.loads(body, buffers=[bytearray(b) for b in places])
        if size:
            with socket.socket(fileno=os.dup(self.connection.fileno())) as pipe:
                _, (descriptor,), _, _ = socket.recv_fds(pipe, 1, 1)
            try:
                self.blocks[number] = np.frombuffer(mmap.mmap(descriptor, size), np.uint8)
            finally:
                os.close(descriptor)
        lease = Lease(self, number, self.blocks[number])
        return head, lambda: pickle.loads(body, buffers=self._buffers(lease, places))

    def _buffers(self, lease: Lease, places: list[tuple[int, int]]) -> list[Any]:
        memory = np.asarray(lease)
        if self.held > self.most:
            return [memory[offset : offset + size].copy() for offset, size in places]
        return [memory[offset : offset + size] for offset, size in places]

    def take_released(self) -> list[int]:
        """The blocks that became free since this was last asked."""
        found, self.released = self.released, []
        return found


class Lease:
    """A block while something made of it is alive: arrays over it have this object as their base."""

    __slots__ = ("__array_interface__", "incoming", "number", "memory")

    def __init__(self, incoming: Incoming, number: int, memory: np.ndarray) -> None:
        self.incoming, self.number, self.memory = incoming, number, memory
        self.__array_interface__ = memory.__array_interface__
        incoming.held += 1

    def __del__(self) -> None:
        self.incoming.held -= 1
        self.incoming.released.append(self.number)


class _Pickler(pickle.Pickler):
    """Takes memory out of every array; NumPy's own way leaves some kinds of arrays inside."""

    def reducer_override(self, obj: Any) -> Any:
        if type(obj) is np.ndarray and not obj.dtype.hasobject:
            registered = obj.dtype.isbuiltin == 2  # a type that is not NumPy's own, such as bfloat16
            if registered or not obj.flags.forc:
                plain = np.ascontiguousarray(obj).reshape(obj.shape)
                return _as_type, (plain.view(f"u{obj.itemsize}") if registered else plain, obj.dtype)
        return NotImplemented


def _as_type(array: np.ndarray, dtype: Any) -> np.ndarray:
    return array if array.dtype == dtype else array.view(dtype)


def _pickled(value: Any) -> tuple[bytes, list[np.ndarray]]:
    """A value without the memory of its arrays, and that memory."""
    buffers: list[pickle.PickleBuffer] = []
    out = io.BytesIO()
    _Pickler(out, 5, buffer_callback=buffers.append).dump(value)
    return out.getvalue(), [np.asarray(buffer.raw()) for buffer in buffers]


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT


def _address(memory: np.ndarray) -> int:
    return int(memory.__array_interface__["data"][0])


def _anonymous_file(size: int) -> int:
    """The descriptor of memory that has no name and goes with its last descriptor and mapping."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("tensorlab")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    try:
        os.ftruncate(descriptor, size)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
