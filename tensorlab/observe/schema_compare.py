"""Two things side by side: what was added, what was removed, what changed and by how much.

A part of :mod:`tensorlab.observe.schema`; its types are generated into ``widgets/shared/compared.ts``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tensorlab.observe.schema import Graph

COMPARE: Final = "tensorlab.compare/1"

#: What became of a row, by its number in ``RowColumns.status``.
CHANGES = ("same", "changed", "added", "removed")


@dataclass(frozen=True, slots=True)
class RowColumns:
    """Parts and what stands in them, a part before what is in it; one entry a row in every column."""

    parent: tuple[int, ...]  # index of the row around it, or -1
    status: tuple[int, ...]  # index into CHANGES
    name: tuple[int, ...]  # string
    kind: tuple[int, ...]  # string: "part", "operation", "parameter", "buffer", "input"
    left: tuple[int, ...]  # string: what it is on the left, "[64, 16] float32"; or -1 where it is not
    right: tuple[int, ...]
    note: tuple[int, ...]  # string: what changed, in words; or -1
    changes: tuple[int, ...]  # rows below it (or itself) that are not the same
    first: tuple[int, ...]  # id of its node in the left graph, or -1
    second: tuple[int, ...]  # and in the right one


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two models, steps or graphs compared. ``amount`` is the size of the difference over the size of the left value, one entry a row."""

    schema: Literal["tensorlab.compare/1"]
    title: str
    names: tuple[str, ...]  # of the left and the right
    sentence: str
    strings: tuple[str, ...]
    rows: RowColumns
    amount: tuple[float | None, ...]
    merged: Graph | None  # both graphs as one picture; names begin with +, - or ~ where they differ
    left: Graph | None
    right: Graph | None
