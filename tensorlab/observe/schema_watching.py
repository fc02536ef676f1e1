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


#: What memory is for, by its number in ``MemoryBlock.use`` and its row in ``MemoryCurve.stack``.
USES = ("there before", "kept for backward", "gradients", "made in forward", "passing in backward", "optimizer state")

MEMORY: Final = "tensorlab.memory/1"


@dataclass(frozen=True, slots=True)
class MemoryPhase:
    """Where a part of the timeline begins: forward, a backward pass, a step of an optimizer."""

    tick: int
    name: str


@dataclass(frozen=True, slots=True)
class MemoryCurve:
    """Bytes over time. Time is counted in ticks: a tick is one buffer more or one fewer, or one that changes its use."""

    ticks: tuple[int, ...]
    stack: tuple[tuple[int, ...], ...]  # a row for each of USES
    phases: tuple[MemoryPhase, ...]
    now: int
    peak: int
    peak_tick: int
    last: int  # the latest tick
    attached: bool
    forecast: bool  # not what was, but what a backward pass will free
    sentence: str


@dataclass(frozen=True, slots=True)
class MemoryBlock:
    """A buffer, counted once however many tensors and nodes look at it."""

    number: int
    bytes: int
    name: str  # by the user's name, or by the operation that made it
    use: int  # index into USES
    op: str
    module: str
    shape: str
    made: Site | None
    born: int
    died: int  # tick, or -1 while it is there
    holders: tuple[str, ...]  # who holds it now
    frees: str  # what freed it, or what will
    at_peak: bool


@dataclass(frozen=True, slots=True)
class MemoryShare:
    """The part of the peak that belongs to one module or one operation."""

    name: str
    bytes: int
    count: int


@dataclass(frozen=True, slots=True)
class MemoryGrowth:
    """What there is more of than at the first of two snapshots, by what made it and who holds it."""

    name: str
    made: Site | None
    holder: str
    count_before: int
    count_after: int
    bytes_before: int
    bytes_after: int


@dataclass(frozen=True, slots=True)
class MemoryPool:
    """Memory of a GPU as its pool sees it: used by arrays, and taken from the system altogether."""

    device: str
    used: int
    taken: int


@dataclass(frozen=True, slots=True)
class MemoryDocument:
    """Who holds memory, how much there was over time, and what stood at the peak."""

    schema: Literal["tensorlab.memory/1"]
    title: str
    device: str
    curve: MemoryCurve
    blocks: tuple[MemoryBlock, ...]
    unlisted: int  # blocks that are too small to be listed
    unlisted_bytes: int
    modules: tuple[MemoryShare, ...]
    ops: tuple[MemoryShare, ...]
    growth: tuple[MemoryGrowth, ...]
    marked: bool  # a snapshot was taken that growth is measured from
    pools: tuple[MemoryPool, ...]
    trouble: str
    sentence: str


@dataclass(frozen=True, slots=True)
class MemorySnapshot:
    """What was held at one moment: groups by what made it and who holds it. Two of them tell what grew."""

    name: str
    device: str
    bytes: int
    groups: tuple[MemoryGrowth, ...]  # with the same figures before and after
