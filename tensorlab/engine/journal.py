"""What undoes a step of a backward pass: references to everything that was there before."""

from __future__ import annotations

from typing import Any

from tensorlab import backend
from tensorlab.engine.cells import Cell


class Undo:
    """What one step, or one edit, changed. Putting it all back any number of times gives the same."""

    __slots__ = ("node", "held", "count", "incoming", "outgoing", "targets", "retained", "leaf", "edit")

    def __init__(self, node: Any, held: Any, count: int, edit: bool = False) -> None:
        self.node = node
        self.held = held
        self.count = count  # nodes that had run
        self.incoming: Any = None
        self.outgoing: Any = ()
        self.targets: list[tuple[Cell, int, Any]] = []  # (cell, its missing edges, its gradient)
        self.retained: list[tuple[Any, Any]] = []  # (tensor, its .grad)
        self.leaf: Leaf | None = None
        self.edit = edit

    def restore(self, cell: Cell) -> None:
        """Put everything back that belongs to tensors and cells; ``cell`` is the node's own."""
        for there, left, held in reversed(self.targets):
            there[0], there[1] = left, held
        cell[0], cell[1] = 0, self.held
        restore(self.retained)
        if self.leaf is not None:
            self.leaf.restore()


def restore(retained: list[tuple[Any, Any]]) -> None:
    """Give tensors back the ``.grad`` they had before ``retain_grad`` filled it."""
    for tensor, gradient in reversed(retained):
        tensor._grad = gradient


class Leaf:
    """A leaf's ``.grad`` as it is: the object, its values and its version, and who added to it."""

    __slots__ = ("leaf", "gradient", "values", "version", "writes", "notes")

    def __init__(self, leaf: Any) -> None:
        gradient = leaf._grad
        self.leaf, self.gradient = leaf, gradient
        if gradient is not None:
            self.notes = getattr(gradient, "_notes", None)
            storage = gradient._st
            self.values = backend.copied_like(gradient._a, gradient._a)
            self.version = 0 if storage is None or storage.inference else storage.version
            self.writes = () if storage is None else storage.writes

    def restore(self) -> None:
        gradient = self.gradient
        self.leaf._grad = gradient
        if gradient is not None:
            gradient._notes = self.notes
            backend.put(gradient._a, self.values)
            if gradient._st is not None and not gradient._st.inference:
                gradient._st.version, gradient._st.writes = self.version, self.writes
