"""Where the requests of a view are done that may run somebody's code: on the thread that the person sees, if it can be had.

A view's messages may arrive on a thread of their own (a subshell). Looks are answered there. Moves call hooks and backwards that people
wrote: those are to run on the main thread, where an interrupt of the kernel reaches them and a debugger can ask. A cell that waits for
the run takes them up in its wait; a main thread with nothing to do takes them up between cells. Where it is busy with another cell a
thread of ours does them, and only *Stop* can end one.
"""

from __future__ import annotations

import ctypes
import signal
import threading
import warnings
from collections import deque
from collections.abc import Callable
from typing import Any

from tensorlab.observe.names import notebook_shell

#: Seconds that a main thread with nothing to do takes at most to begin a request.
SOON = 0.25

Serve = Callable[[Any, Any], None]


class Task:
    """A request and whom to answer."""

    __slots__ = ("request", "reply", "taken")

    def __init__(self, request: Any, reply: Any) -> None:
        self.request, self.reply, self.taken = request, reply, threading.Event()


class Desk:
    """Requests in the order they came, done one at a time by whoever comes to it first."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._lock = threading.Lock()
        self._tasks: deque[Task] = deque()
        self._news = threading.Event()
        self._busy = False
        self._main_is_free = True
        self.attended = False  # a cell waits at it

    def put(self, request: Any, reply: Any) -> None:
        """Hand a request over. Returns when somebody has begun it, or soon will."""
        task = Task(request, reply)
        with self._lock:
            self._tasks.append(task)
            attended, busy = self.attended, self._busy
        self._news.set()
        if attended or busy:
            return
        loop = main_loop()
        if loop is not None:
            loop.add_callback(self._between_cells)
            if self._main_is_free and task.taken.wait(SOON):
                return
        self._main_is_free = False
        threading.Thread(target=self.work, name="tensorlab-session", daemon=True).start()

    def open(self) -> None:
        """A cell is about to wait here."""
        self.attended = True

    def leave(self) -> None:
        """No cell waits any more; what is still to be done others do."""
        self.attended = False
        with self._lock:
            left = bool(self._tasks)
        if left:
            threading.Thread(target=self.work, name="tensorlab-session", daemon=True).start()

    def attend(self, seconds: float) -> None:
        """Do what there is to do, waiting for it at most so long: what a cell does that waits."""
        if self._news.wait(seconds):
            self._news.clear()
            self.work()

    def work(self) -> None:
        """Do requests until there are none, unless somebody else is at it."""
        while True:
            with self._lock:
                if self._busy or not self._tasks:
                    return
                self._busy = True
                task = self._tasks.popleft()
            task.taken.set()
            try:
                self._serve(task.request, task.reply)
            except Exception as error:  # an answer that cannot be sent is nobody else's trouble
                warnings.warn(f"a view could not be answered: {type(error).__name__}: {error}", stacklevel=2)
            finally:
                self._busy = False

    def _between_cells(self) -> None:
        """On the main thread, while it runs no cell: an interrupt of the kernel ends what is being done."""
        self._main_is_free = True
        try:
            before = signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                self.work()
            finally:
                signal.signal(signal.SIGINT, before)
        except KeyboardInterrupt:
            pass


def main_loop() -> Any:
    """The loop that the main thread of a notebook kernel runs between cells, or ``None``."""
    return getattr(getattr(notebook_shell(), "kernel", None), "io_loop", None)


def interrupt(thread: int) -> None:
    """Raise ``KeyboardInterrupt`` in a thread: at once in the main one, in another as soon as it runs Python again."""
    if thread == threading.main_thread().ident:
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(thread, signal.SIGINT)
        else:
            signal.raise_signal(signal.SIGINT)
    else:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))
