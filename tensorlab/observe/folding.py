"""Folding as a person wants it: a function that is asked of every node what it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tensorlab.observe.schema import FLAGS, KINDS, Graph, Group

#: ``fold(node)``: a name puts the node into the part of that name, ``True`` folds it with its neighbours, ``False`` leaves it.
Fold = Callable[["FoldNode"], Any]
_FOLDED = FLAGS["folded"]


class FoldNode(NamedTuple):
    """What a folding function is told of a node."""

    id: int
    name: str  # "MulBackward0"
    op: str  # "mul"
    label: str  # your name for its value, or ""
    module: str  # "encoder.0.attention", or ""
    shape: str  # "[64, 16]"
    file: str
    line: int
    cell: int
    code: str
    saved_bytes: int


def asked(graph: Graph, fold: Fold, paths: Callable[[int], str]) -> tuple[list[Group], list[int], list[int]]:
    """The groups, the group of each node and its flags, after ``fold`` was asked of every operation.

    What a function wants folded opens folded and all else opens unfolded; a module of which every node is wanted is folded as a
    whole. What the function raises is raised.
    """
    nodes = graph.nodes
    groups, group, flags = list(graph.groups), list(nodes.group), list(nodes.flags)
    given = {KINDS.index(kind) for kind in ("parameter", "leaf", "input")}
    wanted = {
        at: answer
        for at in range(len(nodes.id))
        if nodes.kind[at] not in given and (answer := fold(_node(graph, at, paths)))
    }
    for at in wanted:
        flags[at] |= _FOLDED
    whole = _whole(graph, wanted, given)
    parts: dict[tuple[str, int], int] = {}
    for at, answer in wanted.items():
        name = answer if isinstance(answer, str) else ""
        if not name and group[at] in whole:
            continue
        key = (name or "folded", group[at])
        if key not in parts:
            parts[key] = len(groups)
            groups.append(Group(key[0], "part", group[at]))
        group[at] = parts[key]
    return groups, group, flags


def _whole(graph: Graph, wanted: dict[int, Any], given: set[int]) -> set[int]:
    """The groups of which every operation is wanted without a name of its own."""
    missing: set[int] = set()
    for at, kind in enumerate(graph.nodes.kind):
        if kind in given or (at in wanted and not isinstance(wanted[at], str)):
            continue
        group = graph.nodes.group[at]
        while group >= 0:
            missing.add(group)
            group = graph.groups[group].parent
    return set(range(len(graph.groups))) - missing


def _node(graph: Graph, at: int, paths: Callable[[int], str]) -> FoldNode:
    nodes, strings = graph.nodes, graph.strings

    def text(index: int) -> str:
        return strings[index] if index >= 0 else ""

    site = graph.sites[nodes.site[at]] if nodes.site[at] >= 0 else None
    return FoldNode(
        id=nodes.id[at],
        name=text(nodes.name[at]),
        op=text(nodes.op[at]),
        label=text(nodes.label[at]),
        module=paths(nodes.group[at]),
        shape=text(nodes.shape[at]),
        file=site.file if site else "",
        line=site.line if site else -1,
        cell=site.cell if site else -1,
        code=site.code if site else "",
        saved_bytes=nodes.saved_bytes[at],
    )
