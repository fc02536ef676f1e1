"""What a graph keeps for backward: each storage once, however many nodes keep it, with the bytes that go when the graph goes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tensorlab import backend
from tensorlab.engine.node import AccumulateGrad, Node
from tensorlab.observe.names import Names
from tensorlab.observe.schema_kept import HOLDERS, KeepColumns, StorageColumns
from tensorlab.observe.words import bytes_text, shape_text

_NOBODY, _LEAF, _NAME = range(len(HOLDERS))


@dataclass(slots=True)
class _Storage:
    bytes: int
    label: str
    shape: str
    dtype: str
    source: int
    holder: int
    keeps: list[tuple[int, str]] = field(default_factory=list)


class Keeping:
    """The storages that the nodes among ``items`` keep, each once, and the bytes that each node keeps (``bytes``, by position).

    ``place`` gives positions by id.
    """

    def __init__(self, items: Sequence[Any], place: Mapping[int, int], names: Names) -> None:
        self.place, self.names = place, names
        self.leaves = _leaves(items)
        self.bytes = [0] * len(items)
        self.rows: list[_Storage] = []
        self._found: dict[int, _Storage] = {}
        self._texts: dict[Any, str] = {}
        known: dict[
            int, _Storage
        ] = {}  # by the identity of what keeps the versions of a storage, which is quicker to ask for
        for at, node in enumerate(items):
            if not isinstance(node, Node):
                continue
            for slot, name, array, storage in saved_arrays(node):
                self.bytes[at] += memory_bytes(array)
                row = known.get(id(storage)) if storage is not None else None
                if row is None:
                    row = self._row(node, slot, name, array)
                    if row is None:
                        continue
                    if storage is not None:
                        known[id(storage)] = row
                row.keeps.append((at, name))

    def columns(self, text: Callable[[str], int]) -> tuple[StorageColumns, KeepColumns]:
        """The same as documents; ``text`` numbers a string."""
        rows = self.rows
        keeps = [(number, at, text(name)) for number, row in enumerate(rows) for at, name in row.keeps]
        storages, nodes, values = zip(*keeps, strict=True) if keeps else ((), (), ())
        columns = StorageColumns(
            bytes=tuple(row.bytes for row in rows),
            label=tuple(text(row.label) if row.label else -1 for row in rows),
            text=tuple(text(f"{bytes_text(row.bytes)} · {row.shape}") for row in rows),
            dtype=tuple(text(row.dtype) for row in rows),
            source=tuple(row.source for row in rows),
            holder=tuple(row.holder for row in rows),
        )
        return columns, KeepColumns(storages, nodes, values)

    def _row(self, node: Node, slot: int, name: str, array: Any) -> _Storage | None:
        """The storage that an array lies in, ``None`` for an array without elements."""
        where, size = backend.of(array).owner(array)
        if not size:
            return None
        row = self._found.get(where)
        if row is None:
            row = self._found[where] = self._new(node, slot, name, array, where, size)
            self.rows.append(row)
        return row

    def _new(self, node: Node, slot: int, name: str, array: Any, where: int, size: int) -> _Storage:
        """A storage as it is first met: an input of the node that keeps it, or its result."""
        names, source, label, holder = self.names, -1, self.names.of_array(array), _NOBODY
        maker, output = self._maker(node, slot)
        if maker is not None:
            source = self.place.get(maker.seq, -1)
            if not label and type(maker) is not AccumulateGrad:
                label = names.of_value(maker, output) or f"result of {called(maker)}"
        if where in self.leaves:
            holder, label = _LEAF, names.of_tensor(self.leaves[where]) or label
        elif names.holds(where):
            holder, label = _NAME, label or names.holds(where)
        label = label or name
        return _Storage(size, label, self._text(array.shape, shape_text), self._text(array.dtype, str), source, holder)

    def _maker(self, node: Node, slot: int) -> tuple[Node | None, int]:
        """The node whose value a saved one is, and which of its outputs."""
        inputs = len(node.edges)
        if slot < 0:
            return None, 0
        if slot >= inputs:
            return node, slot - inputs
        edge = node.edges[slot]
        return (None, 0) if edge is None else (edge[0], edge[1])

    def _text(self, value: Any, write: Callable[[Any], str]) -> str:
        known = self._texts.get(value)
        if known is None:
            known = self._texts[value] = write(value)
        return known


def saved_arrays(node: Node) -> Iterator[tuple[int, str, Any, Any]]:
    """What a node keeps: which input or result it is (-1 for something else), what the node calls it, the array, and its storage."""
    saved = node.saved
    if type(saved) is tuple:
        row = node.row
        known = row.params + row.results if row is not None and not row.variadic else ()
        for slot, value in enumerate(saved):
            if type(value) is tuple:
                name = known[slot] if slot < len(known) else f"saved_tensors[{slot}]"
                yield slot if known else -1, name, value[0], value[1]
    if node.attrs:
        for name, value in node.attrs.items():
            for part in value if type(value) in (tuple, list) else (value,):
                if hasattr(part, "strides") and hasattr(part, "dtype") and hasattr(part, "nbytes"):
                    yield -1, name, getattr(part, "_a", part), None


def memory_bytes(array: Any) -> int:
    """The bytes that the elements of an array occupy; repeated (expanded) dimensions count once."""
    if 0 not in array.strides:
        return int(array.nbytes)
    sizes = (size for size, step in zip(array.shape, array.strides, strict=True) if step)
    return math.prod(sizes) * int(array.itemsize) if array.size else 0


def called(node: Node) -> str:
    """What was called to make a node: the operation's name, or the class of a person's own."""
    return node.row.name if node.row is not None else node.name().removesuffix("Backward")


def _leaves(items: Sequence[Any]) -> dict[int, Any]:
    """The leaves of a graph by the memory that they lie in."""
    variables = (item.variable for item in items if type(item) is AccumulateGrad)
    return {backend.of(leaf._a).owner(leaf._a)[0]: leaf for leaf in variables if leaf is not None}
