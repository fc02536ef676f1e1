"""Which module a node belongs to, so that a run can step over one and out of one."""

from __future__ import annotations

from tensorlab.engine.marks import Path
from tensorlab.engine.node import AccumulateGrad, Node


def path_to_leave(node: Node, out: bool) -> Path | None:
    """The module that a step over ``node`` runs through: the innermost one it was made in, or with ``out`` the one around that.
    ``None`` where there is none."""
    path: Path | None = node.made[1] if node.made else None
    return path if not out or path is None else path.outer


def has_left(node: Node, wanted: Path) -> bool:
    """Whether a node lies outside of a module. Leaves belong to whatever their gradients came from."""
    if type(node) is AccumulateGrad:
        return False
    path: Path | None = node.made[1] if node.made else None
    while path is not None:
        if path is wanted:
            return False
        path = path.outer
    return True
