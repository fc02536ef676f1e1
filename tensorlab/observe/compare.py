"""Two models, steps or graphs compared. How things are matched:

- **What has a name** (parameters, buffers, inputs, modules) is the same thing where its whole dotted name is the same. Of what is left, a
  parameter or buffer is the same where shape, type and the last part of its name are, and no other left one on either side has these:
  it moved. All else was added or removed.
- **Operations** have no names, so they are aligned in forward order: first the longest sequence that both sides have in common of module,
  call and shape; then, between two that were matched, of module and call; then of call alone. An operation of another call is
  another operation, never a changed one.
- A matched thing *changed* where its type, shape or settings differ, or its value or gradient by more than ``tolerance`` (0: at all).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from tensorlab.observe.aligning import aligned
from tensorlab.observe.names import Names
from tensorlab.observe.schema import KINDS, EdgeColumns, Graph, Group, NodeColumns
from tensorlab.observe.schema_compare import CHANGES, COMPARE, Comparison, RowColumns
from tensorlab.observe.schema_kept import KeepColumns, StorageColumns
from tensorlab.observe.steps import Item, Step, difference, step_of
from tensorlab.observe.words import count_text, number_text

SAME, CHANGED, ADDED, REMOVED = range(len(CHANGES))
SIGNS = ("", "~ ", "+ ", "− ")


@dataclass(slots=True)
class _Row:
    name: str
    kind: str
    parent: int
    status: int  # of a part, what is in it included
    left: Item | None = None
    right: Item | None = None
    note: str = ""
    amount: float | None = 0.0
    changes: int = 0
    children: list[int] = field(default_factory=list)
    own: int = -1  # its own status


def compared(
    a: Any, b: Any, *, names: Names | None = None, called: tuple[str, str] = ("", ""), tolerance: float = 0.0
) -> Comparison:
    """Compare ``a`` (before, the left) with ``b`` (after, the right). Each is anything that :func:`step_of` takes."""
    if not tolerance >= 0:
        raise ValueError(f"tolerance={tolerance!r}: a relative difference, 0 or more")
    left, right = step_of(a, names, called[0]), step_of(b, names, called[1])
    if (left.graph is None) != (right.graph is None):
        raise TypeError(
            f"one side is a graph and the other a model: {left!r} and {right!r}. Compare two of a kind, such as model(x) with model(y)"
        )
    return _Writer(left, right, tolerance).document()


class _Writer:
    def __init__(self, left: Step, right: Step, tolerance: float) -> None:
        self.left, self.right, self.tolerance = _rooted(left, right), right, tolerance
        self.rows: list[_Row] = []
        self.parts: dict[tuple[str, ...], int] = {}
        self.strings: dict[str, int] = {}
        for one, other in _merged(self.left.items, right.items):
            self._add(one, other)
        self._count()

    # ---- rows --------------------------------------------------------------------------------------------------------

    def _add(self, one: Item | None, other: Item | None) -> None:
        item = other or one
        assert item is not None
        status, note, amount = self._compare(one, other)
        if item.kind == "part":
            number = self._part(item.path)
            row = self.rows[number]
            row.left, row.right, row.status, row.note, row.amount = one, other, status, note, amount
            return
        parent = self._part(item.path) if item.path else -1
        self.rows.append(_Row(item.name, item.kind, parent, status, one, other, note, amount))
        if parent >= 0:
            self.rows[parent].children.append(len(self.rows) - 1)

    def _part(self, path: tuple[str, ...]) -> int:
        """The row of a module; those around it get one first. The module itself is the row without a name."""
        known = self.parts.get(path)
        if known is None:
            parent = self._part(path[:-1]) if path else -1
            name = path[-1] if path else self.right.name or self.left.name
            known = self.parts[path] = len(self.rows)
            self.rows.append(_Row(name, "part", parent, -1))
            if parent >= 0:
                self.rows[parent].children.append(known)
        return known

    def _compare(self, one: Item | None, other: Item | None) -> tuple[int, str, float | None]:
        if one is None:
            return ADDED, "", None
        if other is None:
            return REMOVED, "", None
        notes: list[str] = []
        if (one.path, one.name) != (other.path, other.name) and other.kind != "operation":
            notes.append(f"was {'.'.join((*one.path, one.name))}")
        if one.facts != other.facts:
            notes.append(f"{one.facts} became {other.facts}")
        most: float | None = 0.0
        for what, look in other.looks.items():
            before = one.looks.get(what)
            if before is None or before.shape != look.shape:
                if before is None and what == "gradient" and one.looks:
                    notes.append("has a gradient now")
                continue
            amount, words = difference(before, look)
            if amount is None or amount > self.tolerance:
                sampled = " (sampled)" if look.partial and amount is not None else ""
                size = f" changed by {_percent(amount)}" if amount is not None else ""
                notes.append(f"{what}{size}{', ' if size and words else ' ' if words else ''}{words}{sampled}")
                most = None if amount is None or most is None else max(most, amount)
        if "gradient" in one.looks and "gradient" not in other.looks and other.looks:
            notes.append("has no gradient any more")
        return (CHANGED if notes else SAME), "; ".join(notes), most

    def _count(self) -> None:
        """Status and counts of parts from what is in them, the innermost first."""
        for row in reversed(self.rows):
            inside = [self.rows[child] for child in row.children]
            row.own = row.status
            own = int(row.own > SAME)
            row.changes = own + sum(child.changes for child in inside)
            if row.kind == "part" and row.status <= SAME:
                found = {child.status for child in inside}
                row.status = found.pop() if len(found) == 1 else CHANGED if row.changes else SAME
            amounts = [child.amount for child in inside if child.status == CHANGED and child.amount is not None]
            if row.kind == "part" and amounts and not row.amount:
                row.amount = max(amounts)

    # ---- the document ------------------------------------------------------------------------------------------------

    def document(self) -> Comparison:
        # A part may be met after what stands before it was written: rows go out with every part before what is in it.
        order: list[int] = []
        stack = [number for number, row in reversed(list(enumerate(self.rows))) if row.parent < 0]
        while stack:
            order.append(stack.pop())
            stack += reversed(self.rows[order[-1]].children)
        place = {old: new for new, old in enumerate(order)}
        rows = [self.rows[at] for at in order]
        text = self._text
        columns = RowColumns(
            parent=tuple(place[row.parent] if row.parent >= 0 else -1 for row in rows),
            status=tuple(max(0, row.status) for row in rows),
            name=tuple(text(row.name) for row in rows),
            kind=tuple(text(row.kind) for row in rows),
            left=tuple(text(row.left.facts) if row.left else -1 for row in rows),
            right=tuple(text(row.right.facts) if row.right else -1 for row in rows),
            note=tuple(text(row.note) if row.note else -1 for row in rows),
            changes=tuple(row.changes for row in rows),
            first=tuple(row.left.node if row.left else -1 for row in rows),
            second=tuple(row.right.node if row.right else -1 for row in rows),
        )
        return Comparison(
            schema=COMPARE,
            title=f"{self.left.name} → {self.right.name}",
            names=(self.left.name, self.right.name),
            sentence=self._sentence(rows),
            strings=tuple(self.strings),
            rows=columns,
            amount=tuple(
                row.amount if row.status == CHANGED and row.amount and math.isfinite(row.amount) else None
                for row in rows
            ),
            merged=self._picture(),
            left=self.left.graph,
            right=self.right.graph,
        )

    def _text(self, words: str) -> int:
        return self.strings.setdefault(words, len(self.strings))

    def _sentence(self, rows: Sequence[_Row]) -> str:
        things = [row for row in rows if row.kind != "part" or row.left or row.right]
        counts = Counter(row.own for row in things)
        a, b = self.left.name or "the left", self.right.name or "the right"
        if counts[SAME] == len(things):
            return f"{a} and {b} are the same: {count_text(len(things), 'thing')} compared."
        words = ((CHANGED, "changed"), (ADDED, "added"), (REMOVED, "removed"))
        said = ", ".join(f"{counts[status]:,} {word}" for status, word in words if counts[status])
        said = f"From {a} to {b}: {said}, {counts[SAME]:,} the same."
        sized = [
            row
            for row in things
            if row.kind != "part" and row.status == CHANGED and row.amount and math.isfinite(row.amount)
        ]
        if sized:
            most = max(sized, key=lambda row: row.amount or 0)
            said += f" Most changed {_called(most)}, by {_percent(most.amount)}."
        first = next((row for row in things if row.status == CHANGED and row.kind == "operation"), None)
        return said + (f" The first operation that differs is {_called(first)}." if first else "")

    def _picture(self) -> Graph | None:
        """Both graphs as one: what was matched once, and what was not with its sign."""
        a, b = self.left.graph, self.right.graph
        if a is None or b is None:
            return None
        return _Union(a, b, self.rows, self._sentence(self.rows)).graph


def _called(row: _Row) -> str:
    item = row.right or row.left
    return ".".join((*item.path, item.name)) if item and item.name else row.name


def _percent(amount: float | None) -> str:
    if amount is None or math.isinf(amount):
        return "more than can be told from zero"
    return f"{100 * amount:.3g} %" if amount < 100 else f"{number_text(amount)} times its size"


def _merged(left: Sequence[Item], right: Sequence[Item]) -> list[tuple[Item | None, Item | None]]:
    """Matched pairs and what has no partner, in the order of the right with removed things where they stood."""
    pairs = _matched(left, right)
    partner = {j: i for i, j in pairs}
    taken = set(partner.values())
    order: list[tuple[Item | None, Item | None]] = []
    at = 0
    for j, item in enumerate(right):
        if j in partner:
            while at < partner[j]:
                if at not in taken:
                    order.append((left[at], None))
                    taken.add(at)
                at += 1
        order.append((left[partner[j]], item) if j in partner else (None, item))
    return order + [(item, None) for i, item in enumerate(left) if i not in taken]


def _rooted(left: Step, right: Step) -> Step:
    """The left with its outermost module called as that of the right, where each has one that the other has not: two models have two
    names."""
    ours, theirs = ({item.path[0] for item in side.items if item.path} for side in (left, right))
    mine, other = ours - theirs, theirs - ours
    if len(mine) != 1 or len(other) != 1 or left.graph is None:
        return left
    (old,), (new,) = mine, other
    items = (
        replace(item, path=(new, *item.path[1:])) if item.path and item.path[0] == old else item for item in left.items
    )
    return replace(left, items=tuple(items))


def _matched(left: Sequence[Item], right: Sequence[Item]) -> list[tuple[int, int]]:
    ours = [i for i, item in enumerate(left) if item.kind == "operation"]
    theirs = [j for j, item in enumerate(right) if item.kind == "operation"]
    levels = (
        lambda item: (item.path, item.name, item.facts),
        lambda item: (item.path, item.name),
        lambda item: item.name,
    )
    found = aligned(
        [[key(left[i]) for i in ours] for key in levels], [[key(right[j]) for j in theirs] for key in levels]
    )
    pairs = [(ours[i], theirs[j]) for i, j in found]
    return pairs + _by_name(left, right)


def _by_name(left: Sequence[Item], right: Sequence[Item]) -> list[tuple[int, int]]:
    def keyed(items: Sequence[Item]) -> dict[Any, int]:
        found: dict[Any, int] = {}
        for number, item in enumerate(items):
            if item.kind != "operation":
                seen = (item.kind == "part", item.path, item.name)
                repeat = 0
                while (*seen, repeat) in found:
                    repeat += 1
                found[(*seen, repeat)] = number
        return found

    ours, theirs = keyed(left), keyed(right)
    pairs = [(ours[key], theirs[key]) for key in ours if key in theirs]
    mine = [number for key, number in ours.items() if key not in theirs and left[number].kind != "part"]
    other = [number for key, number in theirs.items() if key not in ours and right[number].kind != "part"]
    counts = Counter(_moved(left[i]) for i in mine), Counter(_moved(right[j]) for j in other)
    by_look = {_moved(right[j]): j for j in other}
    for i in mine:
        key = _moved(left[i])
        if counts[0][key] == counts[1][key] == 1:
            pairs.append((i, by_look[key]))
    return pairs


def _moved(item: Item) -> tuple[str, str, str]:
    return item.kind, item.name, item.facts


class _Union:
    """The document of two graphs in one. Ids are those of the right, and below zero for what only the left has."""

    def __init__(self, a: Graph, b: Graph, rows: Sequence[_Row], sentence: str) -> None:
        self.strings: dict[str, int] = {}
        self.groups: dict[tuple[str, str], int] = {}
        order = [row for row in rows if row.kind != "part"]
        self.place: tuple[dict[int, int], dict[int, int]] = ({}, {})
        columns: list[tuple[int, ...]] = []
        for at, row in enumerate(order):
            if row.left is not None:
                self.place[0][row.left.position] = at
            if row.right is not None:
                self.place[1][row.right.position] = at
            graph, item = (b, row.right) if row.right is not None else (a, row.left)
            assert item is not None
            columns.append(self._node(graph, item.position, row))
        edges = dict.fromkeys(
            (place[source], place[target], slot)
            for graph, place in ((a, self.place[0]), (b, self.place[1]))
            for source, target, slot in zip(graph.edges.source, graph.edges.target, graph.edges.slot, strict=True)
        )
        sources, targets, slots = zip(*edges, strict=True) if edges else ((), (), ())
        self.graph = Graph(
            schema=b.schema,
            title=f"{a.title} → {b.title}",
            sentence=sentence,
            strings=tuple(self.strings),
            nodes=NodeColumns(*(zip(*columns, strict=True) if columns else [()] * len(fields(NodeColumns)))),
            edges=EdgeColumns(sources, targets, slots, (-1,) * len(sources)),
            groups=tuple(Group(name, kind, -1) for name, kind in self.groups),
            sites=(),
            broadcasts=(),
            storages=StorageColumns(*((),) * len(fields(StorageColumns))),
            keeps=KeepColumns((), (), ()),
            hidden=a.hidden + b.hidden,
        )

    def _node(self, graph: Graph, at: int, row: _Row) -> tuple[int, ...]:
        nodes, strings = graph.nodes, graph.strings
        sign = SIGNS[row.status]

        def text(index: int, before: str = "") -> int:
            return self.strings.setdefault(before + strings[index], len(self.strings)) if index >= 0 else -1

        group = -1
        if nodes.group[at] >= 0:
            found = graph.groups[nodes.group[at]]
            item = row.right or row.left
            name = ".".join(item.path) if item is not None and found.type != "part" else found.name
            group = self.groups.setdefault((name, found.type), len(self.groups))
        given = nodes.kind[at] in (KINDS.index("parameter"), KINDS.index("leaf"), KINDS.index("input"))
        label = text(nodes.label[at], sign if given else "")
        number = nodes.id[at] if row.right is not None else -(2**21) - at
        return (
            number,
            nodes.kind[at],
            text(nodes.name[at], sign),
            text(nodes.op[at], sign),
            label,
            text(nodes.shape[at]),
            text(nodes.dtype[at]),
            group,
            -1,
            nodes.flags[at],
            0,
            0,
            -1,
        )
