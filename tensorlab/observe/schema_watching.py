"""The documents of instruments that watch a program run: hooks, and memory. What ``schema.py`` says of documents holds here too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tensorlab.observe.schema import ArrayPreview, Site

HOOKS: Final = "tensorlab.hooks/1"

HookState = Literal["fired", "silent", "removed", "gone"]
OutputForm = Literal["images", "sequence", "statistics"]


@dataclass(frozen=True, slots=True)
class HookEntry:
    """A hook, or several that one line registered: who registered it, whether it was called, and if not, why not."""

    number: int  # of its registration; of the first one where there are several
    kind: str  # "tensor", "post accumulate", "node pre", "forward", "backward", "step pre" ...
    owner: str  # what it hangs on, by the user's name
    name: str  # of the function
    count: int  # registrations that this entry stands for
    owners: tuple[str, ...]  # the first of them
    defined: Site | None
    registered: Site | None
    cell: int  # the notebook cell that ran when it was registered, or -1
    held: bool  # somebody holds its handle
    library: bool  # a function of tensorlab itself
    fired: int
    state: HookState
    left: str  # why it looks left behind, and what to do; or ""
    why: str  # why it was not called in the last pass; or ""


@dataclass(frozen=True, slots=True)
class HookRow:
    """One line of the timeline: a hook that was called, a gradient that was added to ``.grad``, a pass or a call that began."""

    row: int
    what: Literal["hook", "accumulated", "pass", "call"]
    number: int  # of the entry it belongs to, or -1
    turn: int  # the backward pass, counted since the recording began, or -1
    kind: str
    owner: str
    name: str
    place: str  # where that is relative to the accumulation: "before w.grad is added to"
    before: float | None  # norm of what it was given
    after: float | None  # norm of what went on
    change: str  # "unchanged", "halved", "× 0.5", "replaced" ...
    wrote: bool  # it wrote into what it was given
    printed: str
    printed_characters: int  # in all; more than are kept
    error: str
    milliseconds: float
    site: Site | None


@dataclass(frozen=True, slots=True)
class HookLook:
    """Something that a hook was given or gave."""

    label: str
    preview: ArrayPreview


@dataclass(frozen=True, slots=True)
class HookDetail:
    """The last call of a hook that was looked at closely."""

    number: int
    row: HookRow | None
    looks: tuple[HookLook, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Tile:
    """A part of an output as a small picture: cells from 0 (``ModuleOutput.low``) to 99 (``high``), -1 for what is not finite."""

    label: str
    cells: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class ModuleOutput:
    """What a module gave last: as pictures of channels, as a sequence, or as numbers."""

    name: str
    type: str
    calls: int
    shape: tuple[int, ...]
    dtype: str
    form: OutputForm
    mean: float | None
    std: float | None
    low: float | None
    high: float | None
    zeros: float | None  # part of the elements that are exactly 0
    bad: int  # elements that are NaN or infinite
    bars: tuple[int, ...]  # histogram in 16 bins
    caption: str
    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class HooksDocument:
    """Every hook there is, what they did, and what modules gave."""

    schema: Literal["tensorlab.hooks/1"]
    title: str
    hooks: tuple[HookEntry, ...]
    unlisted: int  # entries that there is no room for
    rows: tuple[HookRow, ...]
    forgotten: int  # rows that are too old to be kept
    outputs: tuple[ModuleOutput, ...]
    attached: bool
    trouble: str  # what went wrong in the recording itself; or ""
    sentence: str
