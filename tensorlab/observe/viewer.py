"""A graph that is looked at and not run: the document, and details of a node while the node is still there.

A viewer keeps nothing alive. It refers to nodes weakly; when the graph has gone the picture stays and says so.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorlab.engine.node import Node
from tensorlab.observe import wire
from tensorlab.observe.architecture import module_graph
from tensorlab.observe.detail import arrays, detail, input_detail, storage_detail, values
from tensorlab.observe.folding import Fold
from tensorlab.observe.kept import saved_arrays
from tensorlab.observe.measure import measured
from tensorlab.observe.names import Names, is_module
from tensorlab.observe.protocol import Message, Refused, element, served, whole, windows
from tensorlab.observe.schema import ArrayWindow, Graph, NodeDetail
from tensorlab.observe.schema_kept import FIRST_STORAGE, Measures
from tensorlab.observe.snapshot import MOST_NODES, Input, Walk, folded, snapshot

GONE = "this node is gone: nothing refers to its graph any more. The picture is as it was when the view was made"


PART = "this is a part of a module: it has values once something was computed with it. Look at the graph of a result"


class GraphViewer:
    """The document of the graph that made ``result``, and the answers to a view of it. A module shows its parts."""

    def __init__(
        self,
        result: Any,
        *,
        names: Names | None = None,
        title: str | None = None,
        limit: int = MOST_NODES,
        fold: Fold | None = None,
    ) -> None:
        self.names = names or Names()
        self._gone = GONE
        self._limit, self._fold = limit, fold
        self._results: list[weakref.ref[Any]] = []
        self.measures: Measures | None = None  # the latest
        self._nodes: weakref.WeakValueDictionary[int, Node] = weakref.WeakValueDictionary()
        self._consumers: dict[int, list[int]] = {}
        self._inputs: dict[int, tuple[weakref.ref[Node], int, Input]] = {}
        if is_module(result):
            self._gone = PART
            self.graph = module_graph(result, title or self.names.of_module(result))
            if fold is not None:
                self.graph = folded(self.graph, fold)
            return
        results = list(result) if isinstance(result, list | tuple) else [result]
        self._look(results, title)

    def _look(self, results: Sequence[Any], title: str | None) -> None:
        walk = Walk(results, self._limit)
        self.graph = snapshot(list(results), self.names, title=title, walk=walk, fold=self._fold)
        self._results = [weakref.ref(result) for result in results]
        self._remember(walk)

    def _remember(self, walk: Walk) -> None:
        for source, target, slot in walk.edges:
            producer, consumer = walk.items[source], walk.items[target]
            if not isinstance(consumer, Node):
                continue
            if isinstance(producer, Input):
                # The consumer saved the value: while it is there, so is the value, and no other reference is needed.
                facts = Input(producer.id, _Outline(producer.array))
                self._inputs.setdefault(producer.id, (weakref.ref(consumer), slot, facts))
            else:
                self._consumers.setdefault(producer.seq, []).append(consumer.seq)
        self._nodes.update((node.seq, node) for node in walk.nodes)

    def handle(self, request: Any) -> Message:
        """Answer one request: ``initialize``, ``inspect``, ``values``, ``measure`` or ``refresh``."""
        return served(request, self._actions(), "a picture of a graph cannot {command!r}; open a stepper to run it")

    def _actions(self) -> dict[str, Callable[[Mapping[str, Any]], Message]]:
        return {
            "initialize": lambda arguments: {"graph": wire.to_json(self.graph)},
            "inspect": lambda a: wire.to_json(self.inspect(whole(a, "node"), windows(a))),
            "values": lambda a: wire.to_json(self.values(whole(a, "node"), a.get("part"), element(a, "start"))),
            "measure": lambda arguments: wire.to_json(self.measure()),
            "refresh": lambda arguments: self._refresh(),
            "disconnect": lambda arguments: {},
        }

    def inspect(self, number: int, windows: Mapping[str, Sequence[int]] | None = None) -> NodeDetail:
        """Everything there is to see of one node now. Raises ``Refused`` when there is no such node, or no longer."""
        if number <= FIRST_STORAGE:
            begin = (windows or {}).get("value", ())
            return storage_detail(self.graph, FIRST_STORAGE - number, self._stored(number), begin)
        if number in self._inputs:
            facts, array = self._input(number)
            return input_detail(facts, array, self.names, (windows or {}).get("value", ()))
        return detail(self._node(number), self.names, consumers=self._users(number), windows=windows)

    def values(self, number: int, part: Any, start: Sequence[int]) -> ArrayWindow:
        """Another part of one of a node's arrays: ``part`` is "value" or "saved.0" and the like."""
        if number <= FIRST_STORAGE:
            array = self._stored(number)
            return values({} if array is None else {"value": array}, part, start, "this storage")
        if number in self._inputs:
            array = self._input(number)[1]
            return values({} if array is None else {"value": array}, part, start, "this input")
        node = self._node(number)
        return values(arrays(node, None, self._users(number)), part, start, node.name())

    def measure(self) -> Measures:
        """Run the backward pass once, changing nothing, and say what it measured. Raises ``Refused`` where it cannot run."""
        self.measures = measured(self._alive(), list(self._nodes.values()))
        return self.measures

    def _alive(self) -> list[Any]:
        results = [reference() for reference in self._results]
        if not results or any(result is None for result in results):
            raise Refused(self._gone)
        return results

    def _refresh(self) -> Message:
        """The document as it would be made now, or nothing where it would be the same."""
        if not self._results or any(reference() is None for reference in self._results):
            return {"graph": None}
        before = self.graph
        self._look(self._alive(), before.title)
        return {"graph": None if _same(before, self.graph) else wire.to_json(self.graph)}

    def _stored(self, number: int) -> Any:
        """An array in a storage that a node keeps, while it does; ``None`` afterwards."""
        keeps, wanted = self.graph.keeps, FIRST_STORAGE - number
        if wanted not in keeps.storage:
            raise Refused(f"there is no storage {number} in this graph")
        at = keeps.storage.index(wanted)
        node = self._nodes.get(self.graph.nodes.id[keeps.node[at]])
        name = self.graph.strings[keeps.name[at]]
        found = (array for _, known, array, _ in saved_arrays(node) if known == name) if node is not None else iter(())
        return next(found, None)

    def _input(self, number: int) -> tuple[Input, Any]:
        """What is known of an input, and its array while that is still there."""
        consumer, slot, facts = self._inputs[number]
        node = consumer()
        saved = node.saved[slot] if node is not None and type(node.saved) is tuple else None
        return facts, saved[0] if type(saved) is tuple else None

    def _node(self, number: int) -> Node:
        node = self._nodes.get(number)
        if node is None:
            known = number in self.graph.nodes.id
            raise Refused(self._gone if known else f"there is no node {number} in this graph")
        return node

    def _users(self, number: int) -> list[Node]:
        found = (self._nodes.get(consumer) for consumer in self._consumers.get(number, ()))
        return [node for node in found if node is not None]


def _same(one: Graph, other: Graph) -> bool:
    """Whether two documents of one graph say the same of its nodes."""
    return (
        one.nodes.state == other.nodes.state and one.nodes.flags == other.nodes.flags and one.storages == other.storages
    )


class _Outline:
    """Shape and type of an array, without the array."""

    __slots__ = ("shape", "dtype")

    def __init__(self, array: Any) -> None:
        self.shape = tuple(array.shape)
        self.dtype = str(array.dtype)
