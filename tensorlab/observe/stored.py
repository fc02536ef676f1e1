"""Documents made from the document of a graph: with its storages as boxes of their own, or a part of it."""

from __future__ import annotations

from dataclasses import fields, replace

from tensorlab.observe.schema import KINDS, Graph
from tensorlab.observe.schema_kept import FIRST_STORAGE, KeepColumns, StorageColumns

_STORAGE = KINDS.index("storage")


def with_storages(graph: Graph) -> Graph:
    """The same graph with a node before the first that keeps it for each storage; ``widgets/shared/stored.ts`` does the same.

    Lines from storages have slot -1.
    """
    nodes, storages, keeps = graph.nodes, graph.storages, graph.keeps
    if not storages.bytes:
        return graph
    strings = (*graph.strings, "storage")
    first: dict[int, int] = {}
    for storage, node in zip(keeps.storage, keeps.node, strict=True):
        first[storage] = min(node, first.get(storage, node))
    before: dict[int, list[int]] = {}
    for storage in range(len(storages.bytes)):
        before.setdefault(first[storage], []).append(storage)
    order: list[int] = []  # positions of nodes, and of storages as -1 - storage
    for at in range(len(nodes.id)):
        order += [-1 - storage for storage in before.get(at, ())]
        order.append(at)
    place = {item: new for new, item in enumerate(order)}
    own = {
        "id": lambda s: FIRST_STORAGE - s,
        "kind": lambda s: _STORAGE,
        "name": lambda s: len(strings) - 1,
        "label": lambda s: storages.label[s],
        "shape": lambda s: storages.text[s],
        "dtype": lambda s: storages.dtype[s],
        "flags": lambda s: 0,
        "saved_bytes": lambda s: storages.bytes[s],
        "state": lambda s: 0,
    }
    columns = {
        field.name: tuple(
            getattr(nodes, field.name)[item] if item >= 0 else own.get(field.name, lambda s: -1)(-1 - item)
            for item in order
        )
        for field in fields(nodes)
    }
    edges = graph.edges
    return replace(
        graph,
        strings=strings,
        nodes=replace(nodes, **columns),
        edges=replace(
            edges,
            source=tuple(place[at] for at in edges.source) + tuple(place[-1 - storage] for storage in keeps.storage),
            target=tuple(place[at] for at in edges.target) + tuple(place[at] for at in keeps.node),
            slot=edges.slot + (-1,) * len(keeps.node),
            broadcast=edges.broadcast + (-1,) * len(keeps.node),
        ),
        storages=replace(storages, source=tuple(place[at] if at >= 0 else -1 for at in storages.source)),
        keeps=replace(keeps, node=tuple(place[at] for at in keeps.node)),
    )


def part_of(graph: Graph, start: int) -> Graph:
    """The document without its first ``start`` nodes, except the parameters that later ones use."""
    kept = [at for at in range(start) if graph.nodes.kind[at] == KINDS.index("parameter")]
    used = {source for source, target in zip(graph.edges.source, graph.edges.target, strict=True) if target >= start}
    positions = [at for at in kept if at in used] + list(range(start, len(graph.nodes.id)))
    place = {old: new for new, old in enumerate(positions)}
    columns = {
        field.name: tuple(getattr(graph.nodes, field.name)[at] for at in positions) for field in fields(graph.nodes)
    }
    ends = zip(graph.edges.source, graph.edges.target, graph.edges.slot, graph.edges.broadcast, strict=True)
    edges = [(place[a], place[b], slot, mark) for a, b, slot, mark in ends if a in place and b in place]
    sources, targets, slots, marks = zip(*edges, strict=True) if edges else ((), (), (), ())
    storages, keeps = _storages_of(graph, place)
    return replace(
        graph,
        nodes=replace(graph.nodes, **columns),
        edges=replace(graph.edges, source=sources, target=targets, slot=slots, broadcast=marks),
        storages=storages,
        keeps=keeps,
    )


def _storages_of(graph: Graph, place: dict[int, int]) -> tuple[StorageColumns, KeepColumns]:
    """The storages that the nodes of a part keep; ``place`` has their new positions."""
    storages = graph.storages
    keeps = [
        (storage, place[node], name)
        for storage, node, name in zip(graph.keeps.storage, graph.keeps.node, graph.keeps.name, strict=True)
        if node in place
    ]
    number = {old: new for new, old in enumerate(dict.fromkeys(storage for storage, _, _ in keeps))}
    columns = {field.name: tuple(getattr(storages, field.name)[at] for at in number) for field in fields(storages)}
    columns["source"] = tuple(place.get(at, -1) for at in columns["source"])
    numbers, nodes, names = zip(*keeps, strict=True) if keeps else ((), (), ())
    return replace(storages, **columns), KeepColumns(tuple(number[at] for at in numbers), nodes, names)
