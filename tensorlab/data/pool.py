"""The worker processes of a loader, as the main process sees them: start, ask, hear, end.

One pipe a worker and nothing else: no queue, no lock, no thread in the main process that a killed worker could leave in a bad
state. A death is an end of its pipe, so it is noticed at once.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import pickletools
import signal
import sys
import time
import warnings
import weakref
from collections.abc import Iterable
from multiprocessing.connection import Connection, wait
from typing import Any

import __main__
from tensorlab.data.transport import Incoming
from tensorlab.data.worker import Setup, main_ends, run

#: How long, in seconds, workers may take to leave by themselves, and then after they were told to.
PATIENCE = 1.0

#: How often, in seconds, a silent worker is looked after, in case its pipe is held open by a process that it started.
LOOK = 2.0


def context(given: Any) -> Any:
    """How processes are started: as asked for, else as the program has set, else by ``fork`` on Linux.

    A forked worker sees everything that the main process has defined, in notebook cells as well.
    """
    if given is None:
        chosen = multiprocessing.get_start_method(allow_none=True)
        return multiprocessing.get_context(chosen or ("fork" if sys.platform == "linux" else None))
    if isinstance(given, str):
        known = multiprocessing.get_all_start_methods()
        if given not in known:
            raise ValueError(
                f"multiprocessing_context option should specify a valid start method in {known!r}, but got "
                f"multiprocessing_context={given!r}"
            )
        return multiprocessing.get_context(given)
    if not isinstance(given, multiprocessing.context.BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying the start "
            f"method, but got multiprocessing_context={given!r}"
        )
    return given


class Worker:
    """One worker process and the pipe to it."""

    def __init__(self, process: Any, connection: Connection, waiting: int) -> None:
        self.process = process
        self.connection = connection
        self.incoming = Incoming(connection, waiting)


class Pool:
    """The workers of one loader. They end with ``close()``, or when the pool is garbage, or with the program."""

    def __init__(self, setup: Setup, how: Any, seed: int, waiting: int) -> None:
        self.workers: list[Worker] = []
        self._end = weakref.finalize(self, _end, os.getpid(), self.workers)
        forked = how.get_start_method() == "fork"
        given = setup if forked else parcel(setup, how.get_start_method())
        for number in range(setup.workers):
            self.workers.append(_start(how, given, number, seed, waiting))

    def ask(self, number: int, kind: str, turn: int, task: int, indices: Any) -> None:
        """Send a request to a worker."""
        worker = self.workers[number]
        try:
            worker.connection.send((kind, turn, task, indices, worker.incoming.take_released()))
        except (BrokenPipeError, ConnectionResetError):
            self.fail(worker)

    def hear(self, timeout: float) -> tuple[int, tuple[Any, ...], Any]:
        """What a worker says next: its number, the head, and the function that unpacks the value.

        Raises ``RuntimeError`` for a worker that is dead, and after ``timeout`` seconds, if that is not 0.
        """
        ends: dict[Any, int] = {worker.connection: number for number, worker in enumerate(self.workers)}
        until = time.monotonic() + timeout
        while True:
            left = min(LOOK, until - time.monotonic()) if timeout else LOOK
            for ready in wait(list(ends), max(left, 0)):
                worker = self.workers[ends[ready]]
                try:
                    head, value = worker.incoming.receive()
                except (EOFError, ConnectionResetError):
                    self.fail(worker)
                return ends[ready], head, value
            for worker in self.workers:
                if not worker.process.is_alive() and not worker.connection.poll():
                    self.fail(worker)
            if timeout and time.monotonic() >= until:
                self.close()
                raise RuntimeError(f"DataLoader timed out after {timeout} seconds")

    def fail(self, worker: Worker) -> None:
        """End all workers, because one of them is dead, and say why it is."""
        worker.process.join(PATIENCE)
        pid, code = worker.process.pid, worker.process.exitcode
        self.close()
        if code is not None and code < 0:
            name = signal.Signals(-code).name
            hint = {
                "SIGKILL": " The system does that when memory runs out: use fewer workers, smaller batches, or a "
                "smaller prefetch_factor.",
                "SIGSEGV": " Native code that it called crashed; num_workers=0 shows where.",
            }.get(name, "")
            raise RuntimeError(f"DataLoader worker (pid {pid}) is killed by signal: {name}.{hint}")
        raise RuntimeError(
            f"DataLoader worker (pid(s) {pid}) exited unexpectedly with exit code {code}. What it wrote to stderr says "
            "why; num_workers=0 runs the same code in this process. Where workers start by spawn, a script must start "
            "its loaders under: if __name__ == '__main__'"
        )

    def close(self) -> None:
        """End all workers. Arrays that they sent stay valid."""
        self._end()


def _start(how: Any, given: Setup | bytes, number: int, seed: int, waiting: int) -> Worker:
    ours, theirs = how.Pipe()
    main_ends.add(ours)
    process = how.Process(target=run, args=(theirs, given, number, seed), daemon=True)
    with warnings.catch_warnings():
        # Python says that forking beside threads may deadlock; the worker uses nothing that those threads hold.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    theirs.close()
    return Worker(process, ours, waiting)


def _end(owner: int, workers: list[Worker]) -> None:
    """End processes: close their pipes, then ask, then insist. Does nothing in a forked copy of their owner."""
    if os.getpid() != owner:
        return
    processes = [worker.process for worker in workers]
    try:
        for worker in workers:
            worker.connection.close()
        _wait_for(processes)
        for process in processes:
            if process.is_alive():
                process.terminate()
        _wait_for(processes)
    finally:
        for process in processes:
            if process.is_alive():
                process.kill()
                process.join()


def _wait_for(processes: Iterable[Any]) -> None:
    until = time.monotonic() + PATIENCE
    for process in processes:
        process.join(max(0.0, until - time.monotonic()))


# --------------------------------------------------------------------------------------------- for workers that see nothing


def parcel(setup: Setup, method: str) -> bytes:
    """A setup for a process that imports modules and sees nothing else.

    What was defined in a notebook or a console is no part of a module. cloudpickle can send it, if it is installed; otherwise a
    ``RuntimeError`` says what cannot be sent, and the ways out.
    """
    try:
        data = pickle.dumps(setup)
        lost = [] if _main_can_be_imported() else _names_of_main(data)
        reason = f"{', '.join(lost)} was defined in this notebook or console" if lost else ""
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        data, reason = b"", str(error)
    if not reason:
        return data
    try:
        import cloudpickle
    except ImportError:
        raise RuntimeError(
            f"a DataLoader worker started by {method!r} imports modules and cannot see what only this process has: "
            f"{reason}. Ways out: move it to a .py file and import it; or install cloudpickle; or, on Linux and macOS, "
            "multiprocessing_context='fork'; or num_workers=0."
        ) from None
    return cloudpickle.dumps(setup)


def _main_can_be_imported() -> bool:
    """Whether a new process can run the main module again."""
    return getattr(__main__, "__spec__", None) is not None or os.path.isfile(getattr(__main__, "__file__", None) or "")


def _names_of_main(data: bytes) -> list[str]:
    """What pickled data looks up in the main module."""
    found, texts = [], []
    for opcode, argument, _ in pickletools.genops(data):
        if isinstance(argument, str):
            texts.append(argument)
        if opcode.name == "STACK_GLOBAL" and len(texts) > 1 and "__main__" in texts[-2:]:
            found.append(texts[-1])
    return sorted(set(found))
