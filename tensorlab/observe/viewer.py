"""A graph that is looked at and not run: the document, and details of a node while the node is still there.

A viewer keeps nothing alive. It refers to nodes weakly; when the graph has gone the picture stays and says so.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import Any

from tensorlab.engine.node import Node
from tensorlab.observe import wire
from tensorlab.observe.architecture import module_graph
from tensorlab.observe.detail import detail, input_detail
from tensorlab.observe.names import Names, is_module
from tensorlab.observe.protocol import Message, Refused, served, whole
from tensorlab.observe.schema import NodeDetail
from tensorlab.observe.snapshot import MOST_NODES, Input, Walk, snapshot

GONE = "this node is gone: nothing refers to its graph any more. The picture is as it was when the view was made"


PART = "this is a part of a module: it has values once something was computed with it. Look at the graph of a result"


class GraphViewer:
    """The document of the graph that made ``result``, and the answers to a view of it. A module shows its parts."""

    def __init__(
        self, result: Any, *, names: Names | None = None, title: str | None = None, limit: int = MOST_NODES
    ) -> None:
        self.names = names or Names()
        self._gone = GONE
        self._nodes: weakref.WeakValueDictionary[int, Node] = weakref.WeakValueDictionary()
        self._consumers: dict[int, list[int]] = {}
        self._inputs: dict[int, tuple[weakref.ref[Node], int, Input]] = {}
        if is_module(result):
            self._gone = PART
            self.graph = module_graph(result, title or self.names.of_module(type(result).__name__))
            return
        results = list(result) if isinstance(result, list | tuple) else [result]
        walk = Walk(results, limit)
        self.graph = snapshot(results, self.names, title=title, walk=walk)
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
        """Answer one request: ``initialize`` or ``inspect``."""
        return served(request, self._actions(), "a picture of a graph cannot {command!r}; open a stepper to run it")

    def _actions(self) -> dict[str, Callable[[Mapping[str, Any]], Message]]:
        return {
            "initialize": lambda arguments: {"graph": wire.to_json(self.graph)},
            "inspect": lambda arguments: wire.to_json(self.inspect(whole(arguments, "node"))),
            "disconnect": lambda arguments: {},
        }

    def inspect(self, number: int) -> NodeDetail:
        """Everything there is to see of one node now. Raises ``Refused`` when there is no such node, or no longer."""
        if number in self._inputs:
            consumer, slot, facts = self._inputs[number]
            node = consumer()
            saved = node.saved[slot] if node is not None and type(node.saved) is tuple else None
            return input_detail(facts, saved[0] if type(saved) is tuple else None, self.names)
        node = self._nodes.get(number)
        if node is None:
            known = number in self.graph.nodes.id
            raise Refused(self._gone if known else f"there is no node {number} in this graph")
        consumers = [self._nodes.get(consumer) for consumer in self._consumers.get(number, ())]
        return detail(node, self.names, consumers=[consumer for consumer in consumers if consumer is not None])


class _Outline:
    """Shape and type of an array, without the array."""

    __slots__ = ("shape", "dtype")

    def __init__(self, array: Any) -> None:
        self.shape = tuple(array.shape)
        self.dtype = str(array.dtype)
