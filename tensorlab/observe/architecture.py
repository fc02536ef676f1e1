"""The parts of a module as a document: what a model is made of, before it has computed anything."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from tensorlab.nn.parameter import is_lazy
from tensorlab.observe.schema import GRAPH, KINDS, EdgeColumns, Graph, Group, NodeColumns
from tensorlab.observe.schema_kept import KeepColumns, StorageColumns
from tensorlab.observe.words import bytes_text, count_text, shape_text

_OPERATION, _PARAMETER = KINDS.index("operation"), KINDS.index("parameter")


def module_graph(module: Any, title: str = "") -> Graph:
    """The document of a module: its parts as nodes, their parameters, and enclosures for modules that hold others.

    Lines are drawn only within a ``Sequential``, where the order of parts is known; any other ``forward`` may use
    them as it likes.
    """
    return _Parts(module, title or type(module).__name__).graph


class _Parts:
    def __init__(self, module: Any, title: str) -> None:
        self.strings: dict[str, int] = {}
        self.rows: list[dict[str, int]] = []
        self.groups: list[Group] = []
        self.edges: list[tuple[int, int, int]] = []
        self._add_all(module)
        waiting = [parameter for parameter in module.parameters() if is_lazy(parameter)]
        parameters = [parameter for parameter in module.parameters() if not is_lazy(parameter)]
        later = f", and {count_text(len(waiting), 'tensor')} to be shaped by the first input" if waiting else ""
        numbers = sum(parameter.numel() for parameter in parameters)
        size = bytes_text(sum(parameter.nbytes for parameter in parameters))
        parts = count_text(sum(row["kind"] == _OPERATION for row in self.rows), "part")
        sources, targets, slots = zip(*self.edges, strict=True) if self.edges else ((), (), ())
        self.graph = Graph(
            schema=GRAPH,
            title=title,
            sentence=f"{title} is a {type(module).__name__} of {parts} with {numbers:,} parameters ({size}){later}.",
            strings=tuple(self.strings),
            nodes=NodeColumns(**{f.name: tuple(row[f.name] for row in self.rows) for f in fields(NodeColumns)}),
            edges=EdgeColumns(sources, targets, slots, (-1,) * len(sources)),
            groups=tuple(self.groups),
            sites=(),
            broadcasts=(),
            storages=StorageColumns(*((),) * 6),
            keeps=KeepColumns((), (), ()),
            hidden=0,
        )

    def _add_all(self, root: Any) -> None:
        """Add every module, a parent before its children, keeping the last node of each chain."""
        last: dict[int, int] = {}  # by group: the node that the next part of a Sequential follows
        stack: list[tuple[str, Any, int]] = [("", root, -1)]
        while stack:
            path, module, group = stack.pop()
            children = [(name, child) for name, child in module.named_children()]
            if not children or any(True for _ in module.named_parameters(recurse=False)):
                self._add(path, module, group, last)
            if children:
                self.groups.append(Group(path, type(module).__name__, group))
                here = len(self.groups) - 1
                stack += [(f"{path}.{name}" if path else name, child, here) for name, child in reversed(children)]
                self._chained(here, module, last)

    def _chained(self, group: int, module: Any, last: dict[int, int]) -> None:
        """A Sequential inside a Sequential goes on where the outer one stands."""
        parent = self.groups[group].parent
        if type(module).__name__ != "Sequential":
            last[group] = -2
            # Which of its parts gives the result is not known, so no line can go on from here.
            while parent >= 0 and last.get(parent, -2) != -2:
                last[parent] = -1
                parent = self.groups[parent].parent
        elif parent >= 0 and last.get(parent, -2) >= 0:
            last[group] = last[parent]
        else:
            last[group] = -1

    def _add(self, path: str, module: Any, group: int, last: dict[int, int]) -> None:
        inputs = []
        for name, parameter in module.named_parameters(recurse=False):
            label = f"{path}.{name}" if path else name
            lazy = is_lazy(parameter)
            shape = self._text("shape not known yet" if lazy else shape_text(tuple(parameter.shape)))
            dtype = self._text(parameter.dtype.name)
            inputs.append(self._row(_PARAMETER, "parameter", label, shape, dtype, -1))
        own = sum(p.numel() for _, p in module.named_parameters(recurse=False) if not is_lazy(p))
        facts = self._text(f"{own:,} parameters" if own else "no parameters")
        at = self._row(_OPERATION, type(module).__name__, path, facts, -1, group)
        self.edges += [(source, at, slot) for slot, source in enumerate(inputs, start=1)]
        if last.get(group, -2) >= 0:
            self.edges.append((last[group], at, 0))
        while group >= 0 and last.get(group, -2) != -2:
            last[group] = at
            group = self.groups[group].parent

    def _row(self, kind: int, name: str, label: str, shape: int, dtype: int, group: int) -> int:
        self.rows.append(
            {
                "id": len(self.rows),
                "kind": kind,
                "name": self._text(name),
                "op": -1,
                "label": self._text(label) if label else -1,
                "shape": shape,
                "dtype": dtype,
                "group": group,
                "site": -1,
                "flags": 0,
                "saved_bytes": 0,
                "state": 0,
                "freed": -1,
            }
        )
        return len(self.rows) - 1

    def _text(self, words: str) -> int:
        return self.strings.setdefault(words, len(self.strings))
