"""Writes that a graph does not see: into the memory of a computed value, by a tensor that ``.data`` or ``detach()`` gave.

Where the value was saved, backward refuses. Where it was not, gradients are those of the value that is gone, and nothing fails. So
each line that writes like this is told of once.
"""

from __future__ import annotations

import weakref
from typing import Any

from tensorlab.engine import sites
from tensorlab.engine.node import Node
from tensorlab.engine.notes import note, noted
from tensorlab.errors import warn

_told: set[Any] = set()


def shares(out: Any, source: Any, how: str) -> None:
    """Note that ``out`` lies in the memory of a value that a node, the first of the edge ``source``, has made."""
    note(out, "shares", (weakref.ref(source[0]), how))


def notice(owner: Any, op: str) -> None:
    """Warn, once a line, where ``op`` wrote into memory that a graph still takes for what it was."""
    known = noted(owner, "shares")
    node: Node | None = known[0]() if known is not None else None
    if node is None or node.freed is not None:
        return
    site = sites.here(3)
    if site in _told:
        return
    _told.add(site)
    made = f", made at {sites.describe(node.site)}," if node.site else ""
    warn(
        f"{op}() at {sites.describe(site)} writes through {known[1]} into a value that {node.name()}{made} computed. The graph does not "
        "see this write: gradients can be silently wrong, those of the value that was there before. Write to the value itself, or "
        "compute a new tensor. (This is said once for each line.)"
    )
