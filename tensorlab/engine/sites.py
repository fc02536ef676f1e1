"""Where something was made: a pair (code object, instruction offset), taken in about 0.1 us and worked out only when asked.

A kept frame would keep the user's variables alive; a code object keeps only code.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import NamedTuple

Site = tuple[CodeType, int]

_folders: tuple[str, ...] = (os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,)


class _Files(dict[str, bool]):
    """Whether a file is one of this library's, of the files that were met."""

    def __missing__(self, name: str) -> bool:
        if len(self) > 10_000:
            self.clear()
        self[name] = found = name.startswith(_folders)
        return found


_ours = _Files()


class Turn:
    """Which cell of a notebook runs, or ran last, by its execution count; -1 outside of notebooks. ``of_file`` says which cell was
    compiled under a file name, or -1.
    """

    cell = -1
    of_file: Callable[[str], int] = staticmethod(lambda file: -1)


class Place(NamedTuple):
    """A site, worked out."""

    file: str
    line: int
    function: str
    code: str

    def __str__(self) -> str:
        cell = Turn.of_file(self.file)
        where = f"cell {cell}" if cell >= 0 else self.file
        within = "" if cell >= 0 and self.function == "<module>" else f", in {self.function}"
        return f'{where}, line {self.line}{within}: "{self.code}"'


def pass_over(folder: str) -> None:
    """Take code in a folder for part of this library: it is nobody's place."""
    global _folders
    _folders = (*_folders, folder + os.sep)
    _ours.clear()


def is_ours(code: CodeType) -> bool:
    """Whether code belongs to this library."""
    return _ours[code.co_filename]


def here(depth: int = 1) -> Site | None:
    """The innermost frame that is not ours, as a site."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        code = frame.f_code
        if not _ours[code.co_filename]:
            return code, frame.f_lasti
        frame = frame.f_back
    return None


def resolve(site: Site) -> Place:
    """File, line, function and source text of a site."""
    code, offset = site
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= offset < end and number is not None:
            line = number
            break
    text = linecache.getline(code.co_filename, line).strip()
    return Place(code.co_filename, line, code.co_name, text)


def describe(site: Site | None) -> str:
    """A site in words for an error message, or an empty string."""
    return str(resolve(site)) if site is not None else ""
