"""What hooks print while a request is served belongs to no cell: it is caught here, for this thread of work only. What they ask a
person is asked where a cell waits for the run, and fails with a clear word elsewhere.

Replacing ``sys.stdout`` for the process would swallow what a running cell prints meanwhile. The stream put in its
place asks a context variable where this context's words go, and passes everything else on; it is there only while
somebody captures. The same goes for ``input()`` and ``breakpoint()``.
"""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

#: Characters kept of what one request prints.
MOST_CHARACTERS = 10_000

NOBODY = (
    "there is nobody to ask here: this step was asked for by its view, and no cell waits for it. Step to it from a cell "
    "(view.next(), view.resume()), or let a cell wait with stepper(loss, block=True)"
)


class Printed:
    """What was printed, cut at a limit. ``total`` counts all of it; ``onward`` is where it goes besides, if anywhere. ``can_ask``: a
    person is there to answer."""

    def __init__(
        self,
        most: int = MOST_CHARACTERS,
        onward: Printed | None = None,
        copied: bool = False,
        can_ask: bool = False,
    ) -> None:
        self.can_ask = can_ask
        self.text = ""
        self.total = 0
        self.most = most
        self.onward = onward
        self.copied = copied

    def add(self, words: str) -> None:
        room = self.most - len(self.text)
        self.total += len(words)
        self.text += words if len(words) <= room else words[: max(room, 0)]


_sink: ContextVar[Printed | None] = ContextVar("sink", default=None)


class _Router:
    """A stream that writes to the sink of the context it is used in, or to the stream it stands in for."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, words: str) -> int:
        sink = _sink.get()
        if sink is None:
            return self.stream.write(words)
        while sink is not None and sink.copied:
            sink.add(words)
            sink = sink.onward
        if sink is None:
            return self.stream.write(words)
        sink.add(words)
        return len(words)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def _asking(what: str) -> None:
    """Let a person be asked in this context from now on, and see what is printed; or refuse."""
    sink = _sink.get()
    while sink is not None and sink.copied:
        sink = sink.onward
    if sink is None:
        return
    if not sink.can_ask:
        raise RuntimeError(f"{what} was reached, but {NOBODY}")
    _sink.set(None)


class _Input:
    """Stands in for ``input()``."""

    def __init__(self, ask: Any) -> None:
        self.ask = ask

    def __call__(self, *args: Any) -> str:
        _asking("input()")
        return self.ask(*args)


def _hears_nothing(hook: Any) -> bool:
    """Whether a hook would open no debugger by itself: the usual one, or debugpy's (in every kernel) while no front end debugs."""
    if "debugpy" in getattr(hook, "__name__", ""):
        debugpy = sys.modules.get("debugpy")
        return debugpy is None or not debugpy.is_client_connected()
    return hook is sys.__breakpointhook__


class _Breakpoint:
    """Stands in for ``sys.breakpointhook``; the usual one would begin in a frame of ours."""

    def __init__(self, hook: Any) -> None:
        self.hook = hook

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        _asking("breakpoint()")
        if not _hears_nothing(self.hook):
            return self.hook(*args, **kwargs)
        import pdb

        pdb.Pdb().set_trace(sys._getframe(1))
        return None


_lock = threading.Lock()
_captures = 0
_replaced: list[tuple[Any, str, Any, Any]] = []
_STAND_INS: tuple[tuple[Any, str, Any], ...] = (
    (sys, "stdout", _Router),
    (sys, "stderr", _Router),
    (builtins, "input", _Input),
    (sys, "breakpointhook", _Breakpoint),
)


@contextmanager
def captured_output(can_ask: bool = False) -> Iterator[Printed]:
    """Catch what this context prints to standard output and error. ``can_ask``: what it asks, by ``breakpoint()`` or ``input()``, a
    person can answer where this runs; else it raises ``RuntimeError``."""
    with _listening(Printed(can_ask=can_ask)) as printed:
        yield printed


@contextmanager
def copied_output(most: int) -> Iterator[Printed]:
    """A copy, of so many characters at most, of what this context prints; it still goes where it always went."""
    with _listening(Printed(most, _sink.get(), copied=True)) as printed:
        yield printed


@contextmanager
def _listening(printed: Printed) -> Iterator[Printed]:
    token = _sink.set(printed)
    _begin()
    try:
        yield printed
    finally:
        _end()
        _sink.reset(token)


def _begin() -> None:
    global _captures
    with _lock:
        _captures += 1
        if _captures == 1:
            for owner, name, stand_in in _STAND_INS:
                before = getattr(owner, name)
                _replaced.append((owner, name, before, stand_in(before)))
                setattr(owner, name, _replaced[-1][3])


def _end() -> None:
    global _captures
    with _lock:
        _captures -= 1
        if _captures == 0:
            for owner, name, before, stand_in in _replaced:
                if getattr(owner, name) is stand_in:
                    setattr(owner, name, before)
            _replaced.clear()
