"""What of a graph can be folded: modules as they were called, repeats as they are found, parameters as badges.

The algorithm is that of ``widgets/shared/layout.md``, section A; the live picture runs the same one in TypeScript and
tests hold the two equal. It looks at the document only, so a fold has the same number whatever is folded at the
moment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tensorlab.observe.schema import FLAGS, KINDS, Graph

ROOT = -1
PARAMETER = KINDS.index("parameter")
SOURCE_KINDS = (KINDS.index("leaf"), KINDS.index("input"))
STORAGE = KINDS.index("storage")
#: A leaf or an input with more consumers than this becomes a badge, as parameters always do.
MOST_LINES = 3
LONGEST_PERIOD, FEWEST_TIMES, FEWEST_OPS = 64, 3, 16

#: An item of a fold: the position of a node, or ``~id`` of a fold.
Item = int


@dataclass
class Fold:
    """A run of nodes that can be drawn as one box: a called module (``group``) or a repeat (``times`` periods)."""

    id: int
    parent: int
    group: int = -1
    times: int = 0
    period: int = 0
    items: list[Item] = field(default_factory=list)
    ops: int = 0

    @property
    def is_repeat(self) -> bool:
        return self.times > 0


class Outline:
    """The folds of a graph document and where each node stands in them."""

    def __init__(self, graph: Graph, layer: str = "both", room: int = 0) -> None:
        self.graph = graph
        self.layer = layer
        self.room = room  # characters that every title leaves free for a number beside it
        self.count = len(graph.nodes.id)
        self.consumers: list[list[int]] = [[] for _ in range(self.count)]
        self.is_source = [True] * self.count
        for source, target in zip(graph.edges.source, graph.edges.target, strict=True):
            self.consumers[source].append(target)
            self.is_source[target] = False
        self.is_badge = [self.is_source[at] and self._is_badge(at) for at in range(self.count)]
        self.folds: list[Fold] = []
        self.top: list[Item] = []
        self.home = [ROOT] * self.count
        self._fold_modules()
        self._fold_repeats()
        self._place_sources()

    # ---- where things stand ----------------------------------------------------------------------------------------

    def ancestors(self, fold: int) -> list[int]:
        """``fold`` and the folds around it, innermost first; empty for the root."""
        found = []
        while fold != ROOT:
            found.append(fold)
            fold = self.folds[fold].parent
        return found

    def common(self, one: int, other: int) -> int:
        """The innermost fold that holds both folds (one of them, perhaps), or the root."""
        around = set(self.ancestors(one))
        while other != ROOT and other not in around:
            other = self.folds[other].parent
        return other

    def default_folds(self, limit: int = 240) -> frozenset[int]:
        """What is folded when a picture opens: what a person asked for, or else nothing in a small graph, then repeats, then
        modules from the inside out."""
        folded = self._wanted_folds()
        if folded:
            return folded
        if self.drawn(folded) <= limit:
            return folded
        folded = frozenset(fold.id for fold in self.folds if fold.is_repeat)
        modules: dict[int, list[int]] = {}
        for fold in self.folds:
            if not fold.is_repeat:
                modules.setdefault(len(self.ancestors(fold.id)) - 1, []).append(fold.id)
        for depth in sorted(modules, reverse=True):
            if self.drawn(folded) <= limit:
                break
            folded |= frozenset(modules[depth])
        return folded

    def _wanted_folds(self) -> frozenset[int]:
        """The outermost folds of which a person's function wants every node folded."""
        flags = self.graph.nodes.flags
        if not any(flag & FLAGS["folded"] for flag in flags):
            return frozenset()
        missing: set[int] = set()
        for at in range(self.count):
            if not self.is_source[at] and not flags[at] & FLAGS["folded"]:
                missing.update(self.ancestors(self.home[at]))
        wanted = {fold.id for fold in self.folds} - missing
        return frozenset(fold for fold in wanted if self.folds[fold].parent not in wanted)

    def drawn(self, folded: frozenset[int]) -> int:
        """The number of boxes that are drawn when ``folded`` is folded."""
        boxes = {self.box_of(at, folded) for at in range(self.count) if not self.is_badge[at]}
        return len(boxes)

    def box_of(self, at: int, folded: frozenset[int]) -> Item:
        """The box that stands for the node at ``at``: the outermost folded fold around it, or the node itself."""
        box = at
        for fold in self.ancestors(self.home[at]):
            if fold in folded:
                box = ~fold
        return box

    # ---- texts -----------------------------------------------------------------------------------------------------

    def text(self, index: int) -> str:
        return self.graph.strings[index] if index >= 0 else ""

    def path(self, group: int) -> str:
        """The dotted name of a module: ``hidden.0``."""
        names = []
        while group >= 0:
            names.append(self.graph.groups[group].name)
            group = self.graph.groups[group].parent
        path = ""
        for name in reversed(names):
            if not name:
                continue
            path = name if not path or name.startswith(path + ".") else f"{path}.{name}"
        return path

    def titles(self, box: Item) -> tuple[str, str]:
        """The bold line and the quiet line of a box."""
        return self._fold_titles(self.folds[~box]) if box < 0 else self._node_titles(box)

    def badge(self, at: int) -> str:
        """A parameter in a few letters: ``W 10×64``."""
        nodes = self.graph.nodes
        short = self.text(nodes.label[at]).rpartition(".")[2]
        short = {"weight": "W", "bias": "b"}.get(short, short)
        dims = self.text(nodes.shape[at]).strip("[]").replace(", ", "×")
        return f"{short} {dims}".strip() or self.text(nodes.name[at])

    def _node_titles(self, at: int) -> tuple[str, str]:
        nodes = self.graph.nodes
        label, name = self.text(nodes.label[at]), self.text(nodes.name[at])
        dtype = self.text(nodes.dtype[at])
        quiet = self.text(nodes.shape[at])
        if dtype not in ("", "float32"):
            quiet += f" {dtype}"
        if self.is_source[at]:
            return label or name, quiet + (" · no grad" if nodes.flags[at] & FLAGS["no_grad"] else "")
        op = self.text(nodes.op[at])
        if not op or self.layer == "backward":
            where = label or self.path(nodes.group[at])
            return name, quiet + (f" · {where}" if where else "")
        where = name if self.layer == "both" else self.path(nodes.group[at])
        return (f"{label} = {op}" if label else op), quiet + (f" · {where}" if where else "")

    def _fold_titles(self, fold: Fold) -> tuple[str, str]:
        if not fold.is_repeat:
            kind = self.graph.groups[fold.group].type
            if kind == "part":
                return self.graph.groups[fold.group].name, f"{fold.ops} node{'s' * (fold.ops != 1)}"
            return self.path(fold.group) or kind, f"{kind} · {fold.ops} nodes"
        first, what, quiet = fold.items[0], "steps", f"{fold.ops // fold.times} nodes each"
        if fold.period == 1 and first >= 0:
            nodes = self.graph.nodes
            op = self.text(nodes.op[first]) if self.layer != "backward" else ""
            what, quiet = op or self.text(nodes.name[first]), self.text(nodes.shape[first])
        elif fold.period == 1 and not self.folds[~first].is_repeat:
            what = self.graph.groups[self.folds[~first].group].type
        return f"×{fold.times} {what}", quiet

    # ---- folding ---------------------------------------------------------------------------------------------------

    def _is_badge(self, at: int) -> bool:
        kind, lines = self.graph.nodes.kind[at], len(self.consumers[at])
        return lines > 0 if kind == PARAMETER else kind in SOURCE_KINDS and lines > MOST_LINES

    def _items(self, fold: int) -> list[Item]:
        return self.top if fold == ROOT else self.folds[fold].items

    def _fold_modules(self) -> None:
        """One fold for each unbroken run of nodes made inside one call of a module."""
        nodes, groups = self.graph.nodes, self.graph.groups
        stack: list[int] = []
        for at in range(self.count):
            if self.is_source[at]:
                continue
            path, group = [], nodes.group[at]
            while group >= 0:
                path.append(group)
                group = groups[group].parent
            path.reverse()
            while [self.folds[fold].group for fold in stack] != path[: len(stack)]:
                stack.pop()
            for group in path[len(stack) :]:
                parent = stack[-1] if stack else ROOT
                fold = Fold(len(self.folds), parent, group)
                self._items(parent).append(~fold.id)
                self.folds.append(fold)
                stack.append(fold.id)
            self.home[at] = stack[-1] if stack else ROOT
            self._items(self.home[at]).append(at)
            for fold_id in stack:
                self.folds[fold_id].ops += 1

    def _fold_repeats(self) -> None:
        """Repeats within the items of every fold, from the inside out."""
        signatures = _Signatures(self)
        for fold in [*range(len(self.folds) - 1, -1, -1), ROOT]:
            for _ in range(3):
                if not self._fold_repeats_of(fold, signatures):
                    break
            if fold != ROOT:
                signatures.add_module(self.folds[fold])

    def _fold_repeats_of(self, parent: int, signatures: _Signatures) -> bool:
        items = self._items(parent)
        marks = [signatures.of(item) for item in items]
        sizes = [self.folds[~item].ops if item < 0 else 1 for item in items]
        possible = _may_repeat(marks)
        kept: list[Item] = []
        at = 0
        while at < len(items):
            period, times = _repeat_at(marks, sizes, at) if possible[at] else (0, 0)
            if not times:
                kept.append(items[at])
                at += 1
                continue
            end = at + period * times
            fold = Fold(len(self.folds), parent, times=times, period=period, items=items[at:end])
            fold.ops = sum(sizes[at:end])
            self.folds.append(fold)
            for item in fold.items:
                if item < 0:
                    self.folds[~item].parent = fold.id
                else:
                    self.home[item] = fold.id
            signatures.add_repeat(fold)
            kept.append(~fold.id)
            at = end
        found = len(kept) < len(items)
        items[:] = kept
        return found

    def _place_sources(self) -> None:
        """A source stands in the innermost repeat that holds all its consumers, if each period has one of them: so
        the inputs of loop steps fold with their steps, and the input of a deep net stays outside."""
        sources = [
            at for at in range(self.count) if self.is_source[at] and self.consumers[at] and not self.is_badge[at]
        ]
        stored = self.graph.nodes.kind
        for at in sources:
            first, *others = self.consumers[at]
            home = self.home[first]
            for other in others:
                home = self.common(home, self.home[other])
            self.home[at] = self._many_around(home) if stored[at] == STORAGE else self._repeat_around(home)
        given = [at for at in sources if stored[at] != STORAGE]
        counts = Counter(self.home[at] for at in given)
        for at in given:
            while self.home[at] != ROOT and counts[self.home[at]] < self.folds[self.home[at]].times:
                self.home[at] = self._repeat_around(self.folds[self.home[at]].parent)

    def _many_around(self, fold: int) -> int:
        """``fold`` if it holds several operations, else the innermost around it that does, or the root."""
        while fold != ROOT and self.folds[fold].ops < 2:
            fold = self.folds[fold].parent
        return fold

    def _repeat_around(self, fold: int) -> int:
        """``fold`` if it is a repeat, else the innermost repeat around it, or the root."""
        while fold != ROOT and not self.folds[fold].is_repeat:
            fold = self.folds[fold].parent
        return fold


def _may_repeat(marks: Sequence[int]) -> Sequence[bool]:
    """Where a repeat may start: a period is followed by itself ``FEWEST_TIMES - 1`` times. All places at once, since in
    a large graph few are left."""
    values = np.asarray(marks)
    found = np.zeros(len(values), bool)
    places = np.arange(len(values))
    for period in range(1, min(LONGEST_PERIOD, len(values) // FEWEST_TIMES) + 1):
        differs = np.append(np.flatnonzero(values[:-period] != values[period:]), len(values) - period)
        starts = places[: len(values) - period]
        ends = differs[np.searchsorted(differs, starts)]
        found[: len(starts)] |= ends - starts >= period * (FEWEST_TIMES - 1)
    return found.tolist()


def _repeat_at(marks: Sequence[int], sizes: Sequence[int], start: int) -> tuple[int, int]:
    """The shortest period that repeats often enough from ``start`` on, and how often; ``(0, 0)`` when none does."""
    count = len(marks)
    for period in range(1, min(LONGEST_PERIOD, (count - start) // FEWEST_TIMES) + 1):
        if marks[start] != marks[start + period]:
            continue
        end = start
        while end + period < count and marks[end] == marks[end + period]:
            end += 1
        times = (end - start) // period + 1
        if times >= FEWEST_TIMES and times * sum(sizes[start : start + period]) >= FEWEST_OPS:
            return period, times
    return 0, 0


class _Signatures:
    """Numbers that are equal for items that look the same."""

    def __init__(self, outline: Outline) -> None:
        nodes, text = outline.graph.nodes, outline.text
        self.groups = outline.graph.groups
        self.known: dict[tuple, int] = {}
        self.nodes = [
            self._number(("op", text(name), text(shape), text(dtype)))
            for name, shape, dtype in zip(nodes.name, nodes.shape, nodes.dtype, strict=True)
        ]
        self.folds: dict[int, int] = {}

    def of(self, item: Item) -> int:
        return self.nodes[item] if item >= 0 else self.folds[~item]

    def add_module(self, fold: Fold) -> None:
        items = tuple(map(self.of, fold.items))
        self.folds[fold.id] = self._number(("module", self.groups[fold.group].type, items))

    def add_repeat(self, fold: Fold) -> None:
        items = tuple(map(self.of, fold.items[: fold.period]))
        self.folds[fold.id] = self._number(("repeat", fold.times, items))

    def _number(self, key: tuple) -> int:
        return self.known.setdefault(key, len(self.known))
