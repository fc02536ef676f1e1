"""KeyboardInterrupt at chosen points: exactly where the interpreter looks for signals, one by one."""

from __future__ import annotations

import dis
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import tensorlab

_OURS = os.path.dirname(os.path.abspath(tensorlab.__file__))

#: The interpreter handles signals when a Python function begins, when a call of anything else returned, and when a loop goes back.
_LOOKS_BEFORE = {"RESUME"}
_LOOKS_AFTER = {"CALL", "CALL_KW", "CALL_FUNCTION_EX", "JUMP_BACKWARD"}


class Points:
    """Counts the points passed in code of tensorlab; raises at number ``at``."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.passed = 0
        self.raised = False
        self._last: dict[
            FrameType, str
        ] = {}  # of each frame the instruction it ran last, "" if that called a Python function
        self._names: dict[Any, dict[int, str]] = {}

    def _name(self, frame: FrameType) -> str:
        code = frame.f_code
        if code not in self._names:
            self._names[code] = {i.offset: i.opname for i in dis.get_instructions(code)}
        return self._names[code].get(frame.f_lasti, "")

    def _global(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_back in self._last:
            self._last[frame.f_back] = ""
        if not frame.f_code.co_filename.startswith(_OURS):
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return self._local

    def _local(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "return":
            self._last.pop(frame, None)
        elif event == "opcode":
            name = self._name(frame)
            before = self._last.get(frame, "")
            self._last[frame] = name
            if name in _LOOKS_BEFORE or before in _LOOKS_AFTER:
                self.passed += 1
                if self.passed == self.at:
                    self.raised = True
                    self._last.clear()
                    raise KeyboardInterrupt
        return self._local


def _trace_instructions() -> None:
    """Python 3.12 tells of single instructions only once a frame that asked for them has run."""

    def ask(frame: FrameType, event: str, argument: Any) -> Any:
        frame.f_trace_opcodes = True
        return ask

    before = sys.gettrace()
    sys.settrace(ask)
    (lambda: [n + 1 for n in range(3)])()
    sys.settrace(before)


@contextmanager
def interrupt(at: int) -> Iterator[Points]:
    """Raise ``KeyboardInterrupt`` at the ``at``-th point inside."""
    _trace_instructions()
    points = Points(at)
    before = sys.gettrace()
    sys.settrace(points._global)
    try:
        yield points
    finally:
        sys.settrace(before)
        points._last.clear()


def every_point(attempt: Callable[[int], bool], share: int = 1) -> int:
    """Call ``attempt(1)``, ``attempt(1 + share)``, ... until it says that no point was left to interrupt. Returns how many there were.

    ``TENSORLAB_EVERY_POINT=1`` in the environment tries all, whatever the share.
    """
    at, step = 1, 1 if "TENSORLAB_EVERY_POINT" in os.environ else share
    while attempt(at):
        at += step
    return at
