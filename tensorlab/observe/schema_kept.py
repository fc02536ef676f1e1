"""What a graph says besides its nodes and edges: memory that is kept, values that were stretched, what a pass measured.

A part of :mod:`tensorlab.observe.schema`; its types are generated into ``widgets/shared/kept.ts``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

MEASURES: Final = "tensorlab.measures/1"

#: The layers of a picture: what was called, what its gradient takes, or both in one box.
LAYERS = ("both", "forward", "backward")

#: Ids of storages in a picture: the first is this, the next one less.
FIRST_STORAGE: Final = -(2**20)

#: Who else holds a storage that nodes keep, by its number in ``StorageColumns.holder``.
HOLDERS = ("nobody else", "a parameter or leaf", "a name in your code")


@dataclass(frozen=True, slots=True)
class Stretched:
    """A value that an operation stretched without being told to: forward along which dimensions, backward summed over them.

    ``outer`` is set where every input was stretched, so that each element met all of the other input's.
    """

    given: str
    result: str
    dims: tuple[int, ...]
    outer: bool
    forward: str
    backward: str


@dataclass(frozen=True, slots=True)
class StorageColumns:
    """Memory that nodes keep for backward, one entry a storage however often it is kept."""

    bytes: tuple[int, ...]
    label: tuple[int, ...]  # string: what a person calls a tensor in it, or what made it
    text: tuple[int, ...]  # string: "4.0 KiB · [64, 16]"
    dtype: tuple[int, ...]
    source: tuple[int, ...]  # position of the node whose value it is, or -1
    holder: tuple[int, ...]  # index into HOLDERS


@dataclass(frozen=True, slots=True)
class KeepColumns:
    """Who keeps what: one entry for each saved value of each node."""

    storage: tuple[int, ...]  # index into the storage columns
    node: tuple[int, ...]  # position in the node columns
    name: tuple[int, ...]  # string: "result", "self"


@dataclass(frozen=True, slots=True)
class Measures:
    """What one backward pass over a graph measured, one entry a node: microseconds, the norm of the gradient that came to it, and
    whether its value (1), its gradient (2) or both (3) hold NaN or Inf."""

    schema: Literal["tensorlab.measures/1"]
    node: tuple[int, ...]
    forward: tuple[float | None, ...]
    backward: tuple[float | None, ...]
    norm: tuple[float | None, ...]
    bad: tuple[int, ...]
    sentence: str
