"""Who added to a leaf's ``.grad``: one entry for every backward pass whose gradient is still in it.

Kept where places are recorded, as in a notebook: a cell that is run twice without ``zero_grad()`` shows as two entries.
"""

from __future__ import annotations

import itertools
import time
from typing import Any, NamedTuple
from weakref import ref

from tensorlab.engine.notes import note, noted
from tensorlab.engine.sites import Site

#: Entries that a leaf keeps, the latest.
MOST = 64

passes = itertools.count(1)


class Contribution(NamedTuple):
    """What one pass added: its number, where ``backward()`` was called, and when that was."""

    number: int
    site: Site | None
    time: float


def ledger_of(leaf: Any) -> tuple[Contribution, ...]:
    """The passes whose gradients make up ``leaf.grad``, oldest first; empty where none were noted."""
    gradient = leaf._grad
    return () if gradient is None or _zeroed(gradient) else _entries(leaf, gradient)


def _entries(leaf: Any, gradient: Any) -> tuple[Contribution, ...]:
    """What was noted of a gradient of ``leaf``; nothing of one that somebody else put there."""
    entry = noted(leaf, "ledger")
    return entry[0] if entry is not None and entry[1]() is gradient else ()


def begin(site: Site | None) -> Contribution:
    """What a pass that starts now, from ``site``, will have added."""
    return Contribution(next(passes), site, time.time())


def enter(leaf: Any, before: Any, added: Contribution) -> None:
    """Note what a pass added to the gradient of ``leaf``, which was ``before``. Noting it twice is noting it once."""
    now = leaf._grad
    kept = () if before is None or _zeroed(before, now is before) else _entries(leaf, before)
    if not kept or kept[-1].number != added.number:
        kept = (*kept[1 - MOST :], added)
    note(leaf, "ledger", (kept, ref(now)))


def _zeroed(gradient: Any, but_for: int = 0) -> bool:
    """Whether the latest write to a gradient, but for the last few, was one that forgets what was there."""
    storage = gradient._st
    writes: tuple[Any, ...] = storage.writes[: len(storage.writes) - but_for] if storage is not None else ()
    return bool(writes) and writes[-1][1] in ("zero_", "fill_", "copy_")
