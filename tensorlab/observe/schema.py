"""The documents that leave Python: frozen, versioned, made of plain facts only.

An instrument sees nothing but these. They hold numbers, strings and tuples, never a tensor, a node or a frame, so a
view can keep a document for ever without keeping anything alive. The TypeScript types in
``widgets/shared/snapshot.ts`` are generated from this file (``python -m tensorlab.observe.typescript``) and a test
keeps the two equal.

A graph is written in columns: node ``i`` is entry ``i`` of every column of ``NodeColumns``. The same columns travel
as JSON in a notebook file and as one binary buffer over a live connection. Strings are stored once, in
``Graph.strings``; a column that holds text holds indexes into it, and ``-1`` where there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tensorlab.observe.schema_asking import Breakpoints, Contribution, Watched
from tensorlab.observe.schema_kept import KeepColumns, StorageColumns, Stretched

GRAPH: Final = "tensorlab.graph/1"
NODE: Final = "tensorlab.node/1"
SESSION: Final = "tensorlab.session/1"
LAYOUT: Final = "tensorlab.layout/2"
LINES: Final = "tensorlab.lines/1"

#: What a node is, by its number in ``NodeColumns.kind``.
KINDS = ("operation", "parameter", "leaf", "input", "root", "storage")

#: Where a backward pass stands at a node, by its number in ``NodeColumns.state`` and ``Changes.state``.
STATES = ("idle", "waiting", "current", "done", "freed")

#: Facts that are true or not, as bits of ``NodeColumns.flags``.
FLAGS = {"no_grad": 1, "hooks": 2, "retains_grad": 4, "in_place": 8, "view": 16, "nan": 32, "folded": 64}

Reason = Literal["entry", "step", "back", "breakpoint", "predicate", "goto", "edited", "paused", "done", "exception"]


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the user's code. ``cell`` is the execution count of a notebook cell, or -1 outside notebooks."""

    file: str
    line: int
    function: str
    code: str
    cell: int


@dataclass(frozen=True, slots=True)
class Group:
    """A module that enclosed the making of nodes. ``parent`` is an index into ``Graph.groups``, or -1."""

    name: str
    type: str
    parent: int


@dataclass(frozen=True, slots=True)
class NodeColumns:
    """Nodes in forward order (a producer stands before its consumers), one entry a node in every column."""

    id: tuple[int, ...]
    kind: tuple[int, ...]  # index into KINDS
    name: tuple[int, ...]  # string: "MulBackward0", "AccumulateGrad", "input"
    op: tuple[int, ...]  # string: what was called, "mul"; or -1 for what was given
    label: tuple[int, ...]  # string: the user's name for the value, "W1", "hidden.0.weight"; or -1
    shape: tuple[int, ...]  # string: "[64, 16]"
    dtype: tuple[int, ...]  # string: "float32"
    group: tuple[int, ...]  # index into Graph.groups, or -1
    site: tuple[int, ...]  # index into Graph.sites, or -1
    flags: tuple[int, ...]  # bits of FLAGS
    saved_bytes: tuple[int, ...]
    state: tuple[int, ...]  # index into STATES
    freed: tuple[int, ...]  # index into Graph.sites: the call that freed what it had saved; or -1


@dataclass(frozen=True, slots=True)
class EdgeColumns:
    """Edges in the direction data moved: from the producer to the consumer. Ends are positions in the node columns."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    slot: tuple[int, ...]  # which input of the consumer
    broadcast: tuple[int, ...]  # index into Graph.broadcasts where the value was stretched on its way; or -1


@dataclass(frozen=True, slots=True)
class Graph:
    """A computation graph as a picture needs it (mime type ``application/vnd.tensorlab.graph+json``)."""

    schema: Literal["tensorlab.graph/1"]
    title: str
    sentence: str
    strings: tuple[str, ...]
    nodes: NodeColumns
    edges: EdgeColumns
    groups: tuple[Group, ...]
    sites: tuple[Site, ...]
    broadcasts: tuple[Stretched, ...]
    storages: StorageColumns
    keeps: KeepColumns
    hidden: int  # nodes left out because the graph is larger than the limit asked for


@dataclass(frozen=True, slots=True)
class ArrayPreview:
    """A bounded look at an array: at most 8 x 16 values, 64 bins, one line of statistics. Non-finite values are
    ``None`` in ``grid`` and named in ``marks`` ("nan", "inf", "-inf", or "" for a finite one)."""

    shape: tuple[int, ...]
    dtype: str
    stride: tuple[int, ...]
    device: str
    elements: int
    bytes: int
    sampled: bool  # statistics come from an even sample, not from every element
    start: tuple[int, ...]  # the element in the upper left corner of the grid
    grid: tuple[tuple[float | None, ...], ...]
    marks: tuple[tuple[str, ...], ...]
    grid_caption: str  # "first 8 of 64 rows"
    histogram: tuple[int, ...]
    low: float | None
    high: float | None
    mean: float | None
    std: float | None
    norm: float | None
    nan: int
    inf: int
    text: str  # as the tensor prints, cut short


@dataclass(frozen=True, slots=True)
class ArrayWindow:
    """Another part of an array that is looked at: what ``ArrayPreview`` says of its grid."""

    start: tuple[int, ...]
    grid: tuple[tuple[float | None, ...], ...]
    marks: tuple[tuple[str, ...], ...]
    grid_caption: str  # "rows 8 to 15 of 64"


@dataclass(frozen=True, slots=True)
class Saved:
    """A value that a node keeps for its backward."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    version: int
    version_now: int
    storage: int  # equal for values that share memory
    preview: ArrayPreview | None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A node that this node's gradients go to."""

    id: int
    name: str
    label: str
    shape: str
    state: str


@dataclass(frozen=True, slots=True)
class GradientSlot:
    """A gradient that waits at, or passed through, one output of a node. ``preview`` is ``None`` when there is none."""

    output: int
    role: Literal["incoming", "outgoing", "accumulated"]
    name: str
    preview: ArrayPreview | None
    edited: bool


@dataclass(frozen=True, slots=True)
class NodeDetail:
    """Everything an inspector shows of one node, made when it is opened."""

    schema: Literal["tensorlab.node/1"]
    id: int
    name: str
    label: str
    state: str
    module: str
    formula: str  # "result = tanh(self)"
    derivative: str  # "grad_self = grad · (1 − result²)"
    derivative_shapes: str  # "grad [64, 16] · result [64, 16]"
    site: Site | None
    shape: tuple[int, ...]
    dtype: str
    stride: tuple[int, ...]
    value: ArrayPreview | None  # the value that the node made, when somebody still holds it
    gradients: tuple[GradientSlot, ...]
    saved: tuple[Saved, ...]
    freed_by: Site | None
    hooks: tuple[str, ...]
    neighbours: tuple[Neighbour, ...]
    contributions: tuple[Contribution, ...]  # of a leaf
    badge: str  # "2 contributions: cell 7 twice", or ""
    note: str  # a sentence for what is unusual here, or ""


@dataclass(frozen=True, slots=True)
class Changes:
    """What a step changed, in columns: node ids with their new state and the norm of the gradient that waits there
    (``None`` where there is none), and edges (positions in ``Graph.edges``) with the norm of the gradient that moved
    along them."""

    node: tuple[int, ...]
    state: tuple[int, ...]
    norm: tuple[float | None, ...]
    edge: tuple[int, ...]
    flow: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Stopped:
    """Where a run stands after a request: the body of the ``stopped`` event."""

    reason: Reason
    step: int  # nodes run so far
    total: int  # nodes of the whole run
    node: int  # id of the node that runs next, or -1 when the run is over
    order: tuple[int, ...]  # ids in the order they ran, only in the first event of a session; else empty
    upcoming: tuple[int, ...]  # ids in the order they will run, likewise
    edited: tuple[int, ...]  # ids of nodes whose waiting gradient a person changed
    changes: Changes
    histogram: tuple[int, ...]  # 64 bins of the gradient that waits at ``node``
    sentence: str
    watches: tuple[Watched, ...] = ()
    detail: NodeDetail | None = None  # of the node that the request wanted to see next


@dataclass(frozen=True, slots=True)
class SessionState:
    """The answer to ``initialize``: the outline and where the run stands."""

    schema: Literal["tensorlab.session/1"]
    graph: Graph
    stopped: Stopped
    breakpoints: Breakpoints
    blocking: bool  # a cell waits for this run
    closed: str  # why the session is over, or ""


@dataclass(frozen=True, slots=True)
class LayoutGrid:
    """A part of a tensor as a table: the last two dimensions, at one index of those before. ``row_numbers`` and
    ``column_numbers`` are the indexes shown; ``element`` says which element of the storage each cell is."""

    lead: tuple[int, ...]
    row_numbers: tuple[int, ...]
    column_numbers: tuple[int, ...]
    element: tuple[tuple[int, ...], ...]
    text: tuple[tuple[str, ...], ...]
    caption: str


@dataclass(frozen=True, slots=True)
class StorageStrip:
    """A stretch of a storage, element by element. ``first`` is the element it begins with, of ``total``; the storage begins
    ``skew`` bytes into a cache line."""

    first: int
    total: int
    bytes: int
    skew: int
    text: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Alias:
    """A tensor that lies in the same storage. It reaches stretches of elements, each from a ``first`` to a ``last`` one."""

    name: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    first: tuple[int, ...]
    last: tuple[int, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a call would do: give a view, copy so many bytes, or fail for a reason. ``dims`` are the dimensions that stand in the
    way; ``order`` the elements of the storage that a copy takes first, in the order in which it takes them."""

    call: str
    kind: Literal["view", "copy", "cannot"]
    bytes: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    why: str
    dims: tuple[int, ...]
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """Reading a tensor in the order of its indexes: the first elements of the storage that are read and the cache line of each,
    how many lines are touched, and how often the line changes. ``least`` is what as many elements in one piece need."""

    element: tuple[int, ...]
    line: tuple[int, ...]
    reads: int
    touched: int
    fetched: int
    least: int
    exact: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class Operand:
    """One side of a broadcast. ``stretched`` are the dimensions of the result along which it repeats itself, ``missing`` those of
    them that it does not have; ``text`` and ``ghost`` are a corner of it as the result sees it, ghosts being repeats. In backward its
    gradient is summed over ``stretched``: each element collects ``each`` gradients."""

    name: str
    shape: tuple[int, ...]
    stretched: tuple[int, ...]
    missing: int
    each: int
    text: tuple[tuple[str, ...], ...]
    ghost: tuple[tuple[bool, ...], ...]


@dataclass(frozen=True, slots=True)
class Broadcast:
    """Shapes that meet in one operation, aligned at the right. ``outer`` says that each side stretches where the other does not;
    ``dim`` is the dimension of the result at which they do not meet, or -1."""

    operands: tuple[Operand, ...]
    shape: tuple[int, ...]
    outer: bool
    dim: int
    sentence: str


@dataclass(frozen=True, slots=True)
class LayoutDocument:
    """How a tensor lies in memory."""

    schema: Literal["tensorlab.layout/2"]
    title: str
    dtype: str
    itemsize: int
    device: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    contiguous: bool
    version: int
    grid: LayoutGrid
    strip: StorageStrip
    aliases: tuple[Alias, ...]
    verdicts: tuple[Verdict, ...]
    reading: Reading
    broadcast: Broadcast | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Bits:
    """A group of bits of one element, and what it says: a sign, an exponent, a mantissa."""

    part: str
    bits: str
    says: str


@dataclass(frozen=True, slots=True)
class Picked:
    """Where one element lies: the sum that leads to it, and which other tensors see it, by index. ``line`` is its cache line, counted
    from the first of the storage."""

    index: tuple[int, ...]
    element: int
    byte: int
    address: str
    line: int
    text: str
    sum: str
    also: tuple[str, ...]
    parts: tuple[Bits, ...]
    value: str  # how the bits make up the value


@dataclass(frozen=True, slots=True)
class Scratch:
    """A view that a person tries out: what it would show and the stretches of the storage it reaches, or why it cannot be."""

    grid: LayoutGrid | None
    contiguous: bool
    first: tuple[int, ...]
    last: tuple[int, ...]
    call: str
    note: str


@dataclass(frozen=True, slots=True)
class Tried:
    """The answer to a call that was typed: a verdict, or how shapes meet."""

    verdict: Verdict | None
    broadcast: Broadcast | None


@dataclass(frozen=True, slots=True)
class LineSource:
    """A piece of code that ran: a cell, or a function of a cell or file. ``first`` is the number of its first line."""

    name: str  # "cell 4", "model.py"
    function: str  # "forward", or "" for a whole cell
    first: int
    text: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepColumns:
    """Lines in the order they ran, one entry a step in every column. A line that goes on after a call stands again, as ``back``."""

    source: tuple[int, ...]  # index into LinesDocument.sources
    line: tuple[int, ...]
    last: tuple[int, ...]  # the last line of the statement
    depth: tuple[int, ...]  # calls around it
    caller: tuple[int, ...]  # the step that called, or -1
    turn: tuple[int, ...]  # how often the line has run in this call, this time included
    back: tuple[int, ...]  # 1 where a line goes on after a call
    raised: tuple[int, ...]  # 1 where an exception came out of the line
    note: tuple[int, ...]  # string: what names became, "i = 2"; or -1
    printed: tuple[int, ...]  # string: what the line printed; or -1


@dataclass(frozen=True, slots=True)
class ValueColumns:
    """What the nodes of a record held when they were made, one entry a node of its graph."""

    step: tuple[int, ...]  # the step that made or first used it
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    mean: tuple[float | None, ...]
    std: tuple[float | None, ...]
    bad: tuple[int, ...]  # values that are not finite
    heat: tuple[int, ...]  # string: a small heat map, a letter a value ("0" lowest, "V" zero, "!" not finite); or -1


@dataclass(frozen=True, slots=True)
class LinesDocument:
    """A run line by line (mime type ``application/vnd.tensorlab.lines+json``). ``graph`` holds everything that took part, in the
    order of time."""

    schema: Literal["tensorlab.lines/1"]
    title: str
    sentence: str
    strings: tuple[str, ...]
    sources: tuple[LineSource, ...]
    steps: StepColumns
    graph: Graph
    values: ValueColumns
    error: str  # what ended the run, or ""
    cut: str  # why the record ends before the run did, or ""
