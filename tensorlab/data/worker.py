"""A worker process of a ``DataLoader``: waits for indices, answers with batches.

It leaves when the main process closes the pipe, and also when the main process is gone without having closed anything.
"""

from __future__ import annotations

import os
import pickle
import queue
import random as python_random
import signal
import threading
import traceback
import weakref
from collections.abc import Callable
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

from tensorlab import random
from tensorlab.data import transport
from tensorlab.data.fetch import Ended, fetcher

#: How often, in seconds, an idle worker looks whether its main process is still there.
LOOK = 3.0

#: The main process's ends of all pipes. A forked worker inherits them and closes them, or its siblings would never see an end.
main_ends: weakref.WeakSet[Connection] = weakref.WeakSet()


class WorkerInfo(NamedTuple):
    """What a worker knows of itself: its number, how many there are, its seed, and its copy of the data set."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Which worker process this is: its ``id``, ``num_workers``, ``seed`` and ``dataset``; ``None`` in the main process.

    An ``IterableDataset`` asks this to give every worker its own part of the samples.
    """
    return _info


class Setup(NamedTuple):
    """What every worker of a loader is given."""

    dataset: Any
    collate_fn: Callable[[Any], Any]
    batched: bool
    drop_last: bool
    init: Callable[[int], None] | None
    workers: int


class Failure(NamedTuple):
    """An exception of a worker, with its traceback in words."""

    error_class: Any  # the exception's class, pickled on its own: it may not exist in the main process
    type_name: str
    said: str
    where: str

    @classmethod
    def of(cls, error: BaseException, where: str) -> Failure:
        """The exception that is being handled."""
        try:
            kind = pickle.dumps(type(error))
        except Exception:
            kind = None
        return cls(kind, type(error).__name__, "".join(traceback.format_exception(error)), where)

    def error(self) -> BaseException:
        """The same exception for the main process, its message the worker's traceback."""
        message = f"Caught {self.type_name} {self.where}.\nOriginal {self.said}"
        try:
            kind = pickle.loads(self.error_class)
            if kind is KeyError:
                message = _Readable(message)
            if issubclass(kind, (StopIteration, KeyboardInterrupt, SystemExit, GeneratorExit)):
                kind = RuntimeError  # these would end or leave the loop instead of telling of a mistake
            return kind(message)
        except Exception:
            return RuntimeError(message)


class _Readable(str):
    """A text that is shown as it is where others are shown quoted."""

    def __repr__(self) -> str:
        return str(self)


def run(connection: Connection, setup: Setup | bytes, number: int, seed: int) -> None:
    """The life of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process is interrupted, and ends its workers
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if not isinstance(setup, bytes):
        for inherited in list(main_ends):
            inherited.close()
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, requests), daemon=True).start()
    transport.outgoing = transport.Outgoing(connection)
    try:
        _answer(requests, setup, number, seed)
    except (BrokenPipeError, ConnectionResetError, EOFError):
        pass  # nobody wants the answer any more


def _listen(connection: Connection, requests: queue.SimpleQueue[Any]) -> None:
    """Read requests as they come, so that the main process never waits for a worker that is busy."""
    try:
        while True:
            requests.put(connection.recv())
    except (EOFError, OSError):
        requests.put(None)


def _next(requests: queue.SimpleQueue[Any], forked: bool) -> Any:
    """The next request; ``None`` when there will be none."""
    parent = parent_process()
    while True:
        try:
            return requests.get(timeout=LOOK)
        except queue.Empty:
            if parent is not None and (not parent.is_alive() or forked and os.getppid() != parent.pid):
                return None


def _answer(requests: queue.SimpleQueue[Any], given: Setup | bytes, number: int, seed: int) -> None:
    """Answer one request after the other. What fails is an answer too."""
    out = transport.outgoing
    assert out is not None
    fetch: Callable[[Any], Any] | None = None
    broken: Failure | None = None
    setup: Any = None
    where = f"in DataLoader worker process {number}"
    try:
        setup = _prepared(given, number, seed)
    except Exception as error:
        broken = Failure.of(error, where)
    while (request := _next(requests, isinstance(given, Setup))) is not None:
        kind, turn, task, indices, released = request
        out.given_back(released)
        if kind == "again":
            fetch = None
            if setup is not None:
                _seed(setup, number, indices)
            continue
        answer: Any = broken
        if broken is None:
            out.begin()
            try:
                if fetch is None:
                    fetch = fetcher(setup.dataset, setup.collate_fn, setup.batched, setup.drop_last)
                answer = fetch(indices)
            except Ended:
                out.send((turn, task, "end"), None)
                continue
            except Exception as error:
                answer = Failure.of(error, where)
        _send(out, turn, task, answer, where)
        del answer


def _send(out: transport.Outgoing, turn: int, task: int, answer: Any, where: str) -> None:
    if not isinstance(answer, Failure):
        try:
            out.send((turn, task, "batch"), answer)
            return
        except (BrokenPipeError, ConnectionResetError):
            raise
        except Exception as error:
            answer = Failure.of(error, f"{where}, sending a batch")
    out.send((turn, task, "error"), answer)


def _prepared(given: Setup | bytes, number: int, seed: int) -> Setup:
    """What a worker was given, with everything random in it started from the worker's own seed."""
    if isinstance(given, bytes):
        given = pickle.loads(given)
    assert isinstance(given, Setup)
    _one_thread()
    _seed(given, number, seed)
    if given.init is not None:
        given.init(number)
    return given


def _seed(setup: Setup, number: int, base: int) -> None:
    global _info
    seed = base + number
    python_random.seed(seed)
    np.random.seed(np.random.SeedSequence(seed).generate_state(4))
    random.manual_seed(seed)
    _info = WorkerInfo(number, setup.workers, seed, setup.dataset)


def _one_thread() -> None:
    """Linear algebra in this process runs on one thread: the workers together use the cores."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return
    threadpool_limits(1)
