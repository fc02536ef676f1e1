"""Data sets for tests with worker processes, in a module that a spawned process can import; and what processes there are."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil

import tensorlab as tl
from tensorlab.data import Dataset, IterableDataset, get_worker_info


class Rows(Dataset):
    """Sample ``i`` is an array full of ``i``, the number, and the process that made it."""

    def __init__(self, size: int = 20, shape: tuple[int, ...] = (3, 4)) -> None:
        self.size, self.shape = size, shape

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Any:
        return np.full(self.shape, index, np.float32), index, os.getpid()


class Noise(Rows):
    """Samples that are random by all three sources, after a time that depends on who asks."""

    def __getitem__(self, index: int) -> Any:
        info = get_worker_info()
        if info is not None and info.id == self.slow:
            time.sleep(0.01)
        return random.random(), float(np.random.rand()), tl.rand(2)

    slow = -1


class Odd(Rows):
    """Something unusual happens at sample 5."""

    def __init__(self, what: str) -> None:
        super().__init__(12)
        self.what = what

    def __getitem__(self, index: int) -> Any:
        if index == 5:
            getattr(self, self.what)()
        return index

    def missing(self) -> None:
        raise KeyError("no such file: five.png")

    def own(self) -> None:
        raise Needs("one", "two")

    def stop(self) -> None:
        raise StopIteration

    def killed(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def left(self) -> None:
        os._exit(3)

    def asleep(self) -> None:
        time.sleep(60)


class Needs(Exception):
    """An exception that cannot be made of a message."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


class Stream(IterableDataset):
    """The numbers up to ``size``, shared out among the workers; each gives its own part, of another length."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __iter__(self) -> Any:
        info = get_worker_info()
        return iter(range(self.size) if info is None else range(info.id, self.size, info.num_workers))


class OddStream(IterableDataset):
    """A stream that breaks off."""

    def __iter__(self) -> Any:
        yield 1
        raise KeyError("end of file")


def mark(number: int) -> None:
    """A ``worker_init_fn`` that leaves a trace in the data set."""
    info = get_worker_info()
    assert info is not None
    info.dataset.size = 4 + number


def fail(number: int) -> None:
    raise OSError(f"no data for worker {number}")


#: Processes that other tests started and need, such as a JupyterLab and a browser.
strangers: set[int] = set()


def meet_strangers() -> None:
    """Whoever runs now is a stranger."""
    strangers.update(process.pid for process in psutil.Process().children())


def children() -> list[psutil.Process]:
    """The processes that this one started and that live, without strangers and those that Python keeps for itself."""
    found = []
    for process in psutil.Process().children():
        if process.pid in strangers:
            continue
        try:
            line = " ".join(process.cmdline())
            if process.status() != psutil.STATUS_ZOMBIE and "resource_tracker" not in line and "forkserver" not in line:
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


def no_children_within(seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not children():
            return True
        time.sleep(0.02)
    return False


def shared_files() -> int:
    """How many pieces of shared memory this process has open or mapped."""
    maps = Path("/proc/self/maps")
    mapped = maps.read_text().count("memfd:tensorlab") if maps.exists() else 0
    opened = Path("/proc/self/fd")
    if opened.exists():
        for entry in opened.iterdir():
            try:
                mapped += "memfd:tensorlab" in str(entry.readlink())
            except OSError:
                continue
    return mapped
