"""What hooks print while a request is served belongs to no cell: it is caught here, for this thread of work only.

Replacing ``sys.stdout`` for the process would swallow what a running cell prints meanwhile. The stream put in its
place asks a context variable where this context's words go, and passes everything else on; it is there only while
somebody captures.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

#: Characters kept of what one request prints.
MOST_CHARACTERS = 10_000


class Printed:
    """What was printed, cut at a limit. ``total`` counts all of it; ``onward`` is where it goes besides, if anywhere."""

    def __init__(self, most: int = MOST_CHARACTERS, onward: Printed | None = None, copied: bool = False) -> None:
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


_lock = threading.Lock()
_captures = 0
_replaced: list[tuple[str, Any, _Router]] = []


@contextmanager
def captured_output() -> Iterator[Printed]:
    """Catch what this context prints to standard output and error."""
    with _listening(Printed()) as printed:
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
            for name in ("stdout", "stderr"):
                router = _Router(getattr(sys, name))
                _replaced.append((name, getattr(sys, name), router))
                setattr(sys, name, router)


def _end() -> None:
    global _captures
    with _lock:
        _captures -= 1
        if _captures == 0:
            for name, stream, router in _replaced:
                if getattr(sys, name) is router:
                    setattr(sys, name, stream)
            _replaced.clear()
