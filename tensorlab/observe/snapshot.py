"""A live graph as a document: walked once from its results, without recursion, and written down in plain facts.

The walk (``Walk``) still holds nodes and is what a session steps through; the document made from it (``Graph``) holds
numbers and strings only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from tensorlab.backend import to_host
from tensorlab.engine.node import AccumulateGrad, Bound, Node
from tensorlab.observe import broadcasts, folding, places
from tensorlab.observe.kept import Keeping, called
from tensorlab.observe.names import Names, dotted
from tensorlab.observe.preview import preview
from tensorlab.observe.schema import FLAGS, GRAPH, KINDS, STATES, EdgeColumns, Graph, Group, NodeColumns, Site
from tensorlab.observe.schema_kept import StorageColumns, Stretched
from tensorlab.observe.words import bytes_text, count_text, number_text, shape_text
from tensorlab.tensor import Tensor

#: Nodes of a document unless another limit is asked for.
MOST_NODES = 20_000
_KIND = {name: number for number, name in enumerate(KINDS)}
_STATE = {name: number for number, name in enumerate(STATES)}


@dataclass(slots=True)
class Input:
    """A value that takes part without wanting a gradient: known because a node saved it. ``id`` is negative."""

    id: int
    array: Any


class Walk:
    """The part of a graph that a document shows: nodes in forward order and the edges between them.

    ``items`` are nodes and inputs in forward order, ``place`` gives the position of an item by its id, ``edges`` are
    (source position, target position, slot). ``hidden`` counts the nodes past ``limit``, the oldest ones.
    """

    def __init__(self, roots: Sequence[Any], limit: int = MOST_NODES) -> None:
        if not isinstance(limit, int):
            raise TypeError(f"limit is how many nodes to take, a whole number, not {type(limit).__name__}")
        if limit < 1:
            raise ValueError(f"limit={limit}: a picture of a graph needs at least one node")
        for root in roots:
            if not isinstance(root, Tensor):
                raise TypeError(f"a graph shows how a Tensor was made; this is {type(root).__name__}")
        self.roots = [Bound.edge(root)[0] for root in roots if root.requires_grad]
        self.plain = [root for root in roots if not root.requires_grad]
        self.items: list[Node | Input] = []
        self.place: dict[int, int] = {}
        self.edges: list[tuple[int, int, int]] = []
        self.inputs: dict[tuple[int, tuple[int, ...], tuple[int, ...]], Input] = {}
        reached = reachable(self.roots)
        operations = sorted((node for node in reached if type(node) is not AccumulateGrad), key=_seq)
        for node in operations[max(0, len(operations) - limit) :]:
            self._add(node)
        for node in self.roots:
            if type(node) is AccumulateGrad and node.seq not in self.place:
                self._append(node)
        for root in self.plain:
            self._append(Input(-2 - len(self.inputs), root._a))
        self.hidden = len(reached) - len(self.nodes)

    @property
    def nodes(self) -> list[Node]:
        return [item for item in self.items if isinstance(item, Node)]

    def node(self, number: int) -> Node | None:
        """The node with this id, if the walk holds one."""
        at = self.place.get(number)
        item = self.items[at] if at is not None else None
        return item if isinstance(item, Node) else None

    def clear(self) -> None:
        """Let go of every node and array."""
        self.roots, self.plain = [], []
        self.items.clear()
        self.place.clear()
        self.edges.clear()
        self.inputs.clear()

    def _add(self, node: Node) -> None:
        """Append an operation, after the leaves and inputs that it is the first to use."""
        sources: list[tuple[int, int]] = []
        for slot, edge in enumerate(node.edges):
            if edge is None:
                given = self._input(node, slot)
                if given is not None:
                    sources.append((self.place[given.id], slot))
                continue
            producer = edge[0]
            if type(producer) is AccumulateGrad and producer.seq not in self.place:
                self._append(producer)
            if producer.seq in self.place:
                sources.append((self.place[producer.seq], slot))
        target = self._append(node)
        self.edges += [(source, target, slot) for source, slot in sources]

    def _append(self, item: Node | Input) -> int:
        at = len(self.items)
        self.items.append(item)
        self.place[item.id if isinstance(item, Input) else item.seq] = at
        return at

    def _input(self, node: Node, slot: int) -> Input | None:
        """What a node saved of an input that wants no gradient; numbers written in the code are not inputs."""
        saved = node.saved
        value = saved[slot] if type(saved) is tuple and slot < len(saved) else None
        if type(value) is not tuple or value[0].ndim == 0:
            return None
        array, storage, _ = value
        key = (id(storage), array.shape, array.strides)
        given = self.inputs.get(key)
        if given is None:
            given = self.inputs[key] = Input(-2 - len(self.inputs), array)
            self._append(given)
        return given


def _seq(node: Node) -> int:
    return node.seq


def reachable(roots: Sequence[Node]) -> dict[Node, None]:
    """Every node that the roots lead to, themselves included."""
    found = dict.fromkeys(roots)
    stack = list(found)
    while stack:
        for edge in stack.pop().edges:
            if edge is not None and edge[0] not in found:
                found[edge[0]] = None
                stack.append(edge[0])
    return found


def snapshot(
    result: Any,
    names: Names | None = None,
    *,
    title: str | None = None,
    limit: int = MOST_NODES,
    walk: Walk | None = None,
    fold: folding.Fold | None = None,
) -> Graph:
    """The document of the graph that made ``result`` (a tensor or several).

    ``names`` are the user's names for tensors, ``title`` what the picture is called (the first result's name by
    default), and ``limit`` the number of operations kept, newest first; ``Graph.hidden`` counts the others. ``walk``
    spares walking again. ``fold`` decides what opens folded, see :mod:`tensorlab.observe.folding`.
    """
    results = list(result) if isinstance(result, list | tuple) else [result]
    walk = walk or Walk(results, limit)
    names = names or Names()
    names.learn(walk.nodes)
    writer = _Writer(walk, names)
    title = title or ", ".join(filter(None, (_name_of(tensor, names) for tensor in results))) or "result"
    graph = writer.graph(title, results)
    return graph if fold is None else folded(graph, fold)


def folded(graph: Graph, fold: folding.Fold) -> Graph:
    """The document with the parts that a person's function asks for."""
    if not callable(fold):
        raise TypeError(f"fold is a function of a node, not {type(fold).__name__}: fold=lambda node: node.op == 'view'")

    def path(group: int) -> str:
        names: list[tuple[str, str]] = []
        while group >= 0:
            names.insert(0, (graph.groups[group].name, ""))
            group = graph.groups[group].parent
        return names[-1][0] if names else ""

    groups, group, flags = folding.asked(graph, fold, path)
    nodes = replace(graph.nodes, group=tuple(group), flags=tuple(flags))
    return replace(graph, groups=tuple(groups), nodes=nodes)


def _name_of(tensor: Any, names: Names) -> str:
    found = names.of_tensor(tensor)
    if found or not tensor.requires_grad:
        return found
    node, output, *_ = Bound.edge(tensor)
    return names.of_value(node, output)


class _Writer:
    """Fills the columns, keeping each string, group and place once."""

    def __init__(self, walk: Walk, names: Names) -> None:
        self.walk = walk
        self.names = names
        self.strings: dict[str, int] = {}
        self.groups: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}  # by root and path below it
        self.sites: dict[Any, int] = {}
        self.places: dict[Site, int] = {}
        self.shapes: dict[tuple[int, ...], int] = {}
        self.dtypes: dict[Any, int] = {}
        self.broadcasts: dict[Stretched, int] = {}
        self.outer: dict[Node, None] = {}
        self.keeping = Keeping(walk.items, walk.place, names)
        self.roots = set(walk.roots)
        self.columns: dict[str, list[int]] = {field.name: [] for field in fields(NodeColumns)}

    def graph(self, title: str, results: Sequence[Any]) -> Graph:
        for at, item in enumerate(self.walk.items):
            row = self._node(item, at) if isinstance(item, Node) else self._input(item)
            for column, value in zip(self.columns.values(), row, strict=True):
                column.append(value)
        sources, targets, slots = zip(*self.walk.edges, strict=True) if self.walk.edges else ((), (), ())
        marks = tuple(self._broadcast(*edge) for edge in self.walk.edges)
        storages, keeps = self.keeping.columns(self._text)
        return Graph(
            schema=GRAPH,
            title=title,
            sentence=self._sentence(title, results, storages),
            strings=tuple(self.strings),
            nodes=NodeColumns(**{name: tuple(column) for name, column in self.columns.items()}),
            edges=EdgeColumns(sources, targets, slots, marks),
            groups=tuple(
                Group(dotted(root, path), path[-1][1], self.groups.get((root, path[:-1]), -1))
                for root, path in self.groups
            ),
            sites=tuple(self.places),
            broadcasts=tuple(self.broadcasts),
            storages=storages,
            keeps=keeps,
            hidden=self.walk.hidden,
        )

    def _node(self, node: Node, at: int) -> tuple[int, ...]:
        """The entries of one node, in the order of the columns."""
        shape, dtype = node.meta[0]
        if type(node) is AccumulateGrad:
            kind, label = _leaf_kind(node.variable), self.names.of_tensor(node.variable)
        else:
            kind = "root" if node in self.roots else "operation"
            label = self.names.of_value(node, 0)
        return (
            node.seq,
            _KIND[kind],
            self._text(node.name()),
            self._text(called(node)) if type(node) is not AccumulateGrad else -1,
            self._text(label) if label else -1,
            self._shape(tuple(shape)),
            self._dtype(dtype),
            self._group(node),
            self._site(node.site),
            _flags(node),
            self.keeping.bytes[at],
            _STATE["freed"] if node.freed is not None else 0,
            self._site(node.freed.site) if node.freed is not None else -1,
        )

    def _input(self, item: Input) -> tuple[int, ...]:
        label = self.names.of_array(item.array)
        shape, dtype = self._shape(tuple(item.array.shape)), self._dtype(item.array.dtype)
        name, flags = self._text("input"), FLAGS["no_grad"]
        known = self._text(label) if label else -1
        return item.id, _KIND["input"], name, -1, known, shape, dtype, -1, -1, flags, 0, 0, -1

    def _broadcast(self, source: int, target: int, slot: int) -> int:
        """The number of what an operation did to the shape of one of its inputs, or -1."""
        node: Any = self.walk.items[target]
        given = self.walk.items[source]
        if isinstance(given, Input):
            shape = tuple(given.array.shape)
        else:
            edge = node.edges[slot]
            shape = tuple(edge[0].outs[2 * edge[1]]) if type(given) is not AccumulateGrad else tuple(given.meta[0][0])
        if shape == node.outs[0]:
            return -1
        found = broadcasts.stretched(node, slot, shape)
        if found is None:
            return -1
        if found.outer:
            self.outer[node] = None
        return self.broadcasts.setdefault(found, len(self.broadcasts))

    def _text(self, words: str) -> int:
        return self.strings.setdefault(words, len(self.strings))

    def _shape(self, shape: tuple[int, ...]) -> int:
        known = self.shapes.get(shape)
        if known is None:
            known = self.shapes[shape] = self._text(shape_text(shape))
        return known

    def _dtype(self, dtype: Any) -> int:
        known = self.dtypes.get(dtype)
        if known is None:
            known = self.dtypes[dtype] = self._text(str(dtype))
        return known

    def _group(self, node: Node) -> int:
        """The number of the module that made a node; the modules around it get one first."""
        scope = node.scope
        if not scope:
            return -1
        root = self.names.root_of(node)
        known = self.groups.get((root, scope))
        if known is not None:
            return known
        for depth in range(1, len(scope) + 1):
            self.groups.setdefault((root, scope[:depth]), len(self.groups))
        return self.groups[root, scope]

    def _site(self, site: Any) -> int:
        """The number of a place; the several calls of one line share it."""
        if site is None:
            return -1
        known = self.sites.get(site)
        if known is None:
            found = places.place(site)
            known = self.sites[site] = self.places.setdefault(found, len(self.places)) if found is not None else -1
        return known

    def _sentence(self, title: str, results: Sequence[Any], storages: StorageColumns) -> str:
        """What the picture shows, as a person would say it."""
        kinds = self.columns["kind"]
        operations = kinds.count(_KIND["operation"]) + kinds.count(_KIND["root"]) + self.walk.hidden
        parameters = kinds.count(_KIND["parameter"]) + kinds.count(_KIND["leaf"])
        inputs = kinds.count(_KIND["input"])
        if not self.walk.roots:
            return f"{title} does not require grad, so no graph was recorded."
        value = f"{title} is {_value(results[0]._a)}. " if len(results) == 1 else ""
        if not operations:
            return f"{value}{title} is a leaf: nothing made it, and its gradient arrives in {title}.grad."
        counts = [(parameters, "parameter"), (inputs, "input")]
        begin = " and ".join(count_text(*entry) for entry in counts if entry[0]) or "constants"
        lead, keep = ("leads", "it keeps") if operations == 1 else ("lead", "they keep")
        said = f"{value}{count_text(operations, 'operation')} {lead} from {begin} to {title}"
        warning = broadcasts.told(next(iter(self.outer)), len(self.outer)) if self.outer else ""
        freed = self.columns["state"].count(_STATE["freed"])
        if freed:
            return f"{said}; {self._freed_by()} has freed what {freed:,} of them had kept.{warning}"
        total = sum(storages.bytes)
        return f"{said}; {keep} {bytes_text(total)} for backward.{warning}" if total else f"{said}.{warning}"

    def _freed_by(self) -> str:
        """The calls that freed saved values, in words."""
        sites = list(self.places)
        calls = dict.fromkeys(sites[at] for at in self.columns["freed"] if at >= 0)
        said = [f"{site.code or 'backward'} in {places.words(site)}" for site in list(calls)[:2]]
        return " and ".join(said) if said and len(calls) < 3 else "backward"


def _leaf_kind(variable: Any) -> str:
    return "parameter" if type(variable).__name__ == "Parameter" else "leaf"


def _flags(node: Node) -> int:
    flags = 0
    hooks = node.hooks
    if hooks is not None:
        if hooks.pre or hooks.post or any(hooks.tensor.values()):
            flags |= FLAGS["hooks"]
        if hooks.retain:
            flags |= FLAGS["retains_grad"]
    row = node.row
    if row is not None:
        if row.view is not None:
            flags |= FLAGS["view"]
        if row.name.endswith("_"):
            flags |= FLAGS["in_place"]
    return flags


def _value(array: Any) -> str:
    """A number, or a few facts about many: their shape, their mean, and whether some are not finite."""
    if array.ndim == 0:
        number = to_host(array).item()
        return f"{number:.4g}" if isinstance(number, float) else str(number)
    facts = preview(array)
    told = [f"{shape_text(array.shape)} {array.dtype.name}"]
    if facts.mean is not None and array.dtype.kind != "c":
        told.append(f"mean {number_text(facts.mean)}")
    told += [f"{count:,} {name}" for count, name in ((facts.nan, "NaN"), (facts.inf, "infinite")) if count]
    return ", ".join(told)
