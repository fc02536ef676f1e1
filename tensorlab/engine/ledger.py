"""Who added to a leaf's ``.grad``: one entry for every backward pass whose gradient is still in it.

Kept where places are recorded, as in a notebook: a cell that is run twice without ``zero_grad()`` shows as two entries. The gradient
itself is what remembers: one that somebody puts there by hand has none.
"""

from __future__ import annotations

import itertools
import time
from typing import Any, NamedTuple

from tensorlab.engine.notes import note, noted
from tensorlab.engine.sites import Site

#: Entries that a leaf keeps, the latest.
MOST = 64

passes = itertools.count(1)


class Contribution(NamedTuple):
    """What one pass added: its number, where ``backward()`` was called, when that was, and the node that it began at."""

    number: int
    site: Site | None
    time: float
    root: str


def ledger_of(leaf: Any) -> tuple[Contribution, ...]:
    """The passes whose gradients make up ``leaf.grad``, oldest first; empty where none were noted."""
    gradient = leaf._grad
    if gradient is None or _zeroed(gradient):
        return ()
    return tuple([Contribution(*entry) for entry in noted(gradient, "ledger", ())])


def begin(site: Site | None, root: str) -> dict[str, Any]:
    """What a pass that starts now, from ``site`` and at the node called ``root``, has to note of every gradient that it makes."""
    return {"ledger": ((next(passes), site, time.time(), root),)}


def enter(now: Any, before: Any, added: dict[str, Any]) -> None:
    """Note what a pass added to a gradient, which was ``before``. Noting it twice is noting it once."""
    kept = () if _zeroed(before, now is before) else noted(before, "ledger", ())
    (entry,) = added["ledger"]
    if not kept or kept[-1] is not entry:
        note(now, "ledger", (*kept[1 - MOST :], entry))


def _zeroed(gradient: Any, but_for: int = 0) -> bool:
    """Whether the latest write to a gradient, but for the last few, was one that forgets what was there."""
    storage = gradient._st
    writes: tuple[Any, ...] = storage.writes[: len(storage.writes) - but_for] if storage is not None else ()
    return bool(writes) and writes[-1][1] in ("zero_", "fill_", "copy_")
