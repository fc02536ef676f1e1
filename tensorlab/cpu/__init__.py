"""The CPU as a device, for code that asks for its names: it is there, it is one, and whatever it was given is done.

Its memory is counted by storage: what tensors, gradients and graphs hold, each buffer once however many views it has, to the byte.

>>> import tensorlab as tl
>>> before = tl.cpu.memory_allocated()
>>> x = tl.zeros(250, dtype=tl.float32); row = x[10:]
>>> tl.cpu.memory_allocated() - before
1000
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from tensorlab.cpu import amp as amp
from tensorlab.cpu.memory import max_memory_allocated as max_memory_allocated
from tensorlab.cpu.memory import memory_allocated as memory_allocated
from tensorlab.cpu.memory import memory_held_by_graph as memory_held_by_graph
from tensorlab.cpu.memory import memory_stats as memory_stats
from tensorlab.cpu.memory import reset_peak_memory_stats as reset_peak_memory_stats
from tensorlab.cpu.memory import stop_counting as stop_counting


def is_available() -> bool:
    """Whether there is a CPU."""
    return True


def is_initialized() -> bool:
    """Whether the CPU is in use."""
    return True


def device_count() -> int:
    """How many CPUs a device name can tell apart: one."""
    return 1


def current_device() -> str:
    """The name of the CPU."""
    return "cpu"


def set_device(device: object) -> None:
    """Choose among one CPU."""


def synchronize(device: object = None) -> None:
    """Wait until the CPU has done all that it was given, which it has."""


class Stream:
    """The one queue of the CPU, which is always empty."""

    def __init__(self, priority: int = -1) -> None:
        self.priority = priority

    def wait_stream(self, stream: object) -> None:
        """Wait for another queue, which is empty."""

    def record_event(self, event: object = None) -> Event:
        """A mark behind what was given, all of which is done."""
        return event if isinstance(event, Event) else Event()

    def wait_event(self, event: object) -> None:
        """Wait for a mark, which was reached."""


class Event:
    """A mark in the queue of the CPU, which was reached."""

    def __init__(self, enable_timing: bool = False) -> None:
        self.enable_timing = enable_timing

    def query(self) -> bool:
        """Whether the mark was reached: yes."""
        return True

    def record(self, stream: object = None) -> None:
        """Put the mark behind what was given."""

    def synchronize(self) -> None:
        """Wait until the mark is reached."""

    def wait(self, stream: object = None) -> None:
        """Let a queue wait for the mark."""


_stream = Stream()


def current_stream(device: object = None) -> Stream:
    """The one queue."""
    return _stream


def stream(stream: object) -> Any:
    """A context in which a queue of the CPU is the current one: it always is."""
    return nullcontext()
