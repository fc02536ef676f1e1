"""Places in the user's code, worked out when a document is made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tensorlab.engine import sites
from tensorlab.observe.names import notebook_shell
from tensorlab.observe.schema import Site

LONGEST_LINE = 200


def place(site: Any) -> Site | None:
    """A recorded site as a document: the cell it stands in, or its file as the user would write it."""
    if site is None:
        return None
    found = sites.resolve(site)
    cell = cell_number(found.file)
    file = "" if cell >= 0 else short_path(found.file)
    code = found.code if len(found.code) <= LONGEST_LINE else found.code[: LONGEST_LINE - 1] + "…"
    return Site(file=file, line=found.line, function=found.function, code=code, cell=cell)


def cell_number(file: str) -> int:
    """The execution count of the notebook cell that was compiled under this file name, or -1."""
    compiler = getattr(notebook_shell(), "compile", None)
    known = getattr(compiler, "_filename_map", {})
    return int(known.get(file, -1))


def short_path(file: str) -> str:
    """A path from the working directory if it lies in it, else from the home directory, else as it is."""
    if file.startswith("<"):
        return file
    path = Path(file)
    for base, prefix in ((Path.cwd(), ""), (Path(os.path.expanduser("~")), "~/")):
        if path.is_relative_to(base):
            return prefix + path.relative_to(base).as_posix()
    return path.as_posix()


def words(site: Site | None) -> str:
    """A place in a sentence: ``cell 4, line 2``; empty when it is not known."""
    if site is None:
        return ""
    return f"cell {site.cell}, line {site.line}" if site.cell >= 0 else f"{site.file}, line {site.line}"
