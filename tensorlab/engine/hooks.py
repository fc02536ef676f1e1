"""Functions that people attach to tensors and nodes, and the handles that take them off again."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any

_ids = itertools.count()


class RemovableHandle:
    """Returned by everything that registers a hook. ``remove()`` takes it off; it also works as a context manager."""

    def __init__(self, hooks: dict[int, Any]) -> None:
        self.id = next(_ids)
        self._hooks = weakref.ref(_Holder.of(hooks))

    def remove(self) -> None:
        """Take the hook off; calling it again does nothing."""
        holder = self._hooks()
        if holder is not None:
            holder.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: Any) -> None:
        self.remove()


class _Holder(dict[int, Any]):
    """A dictionary that can be referred to weakly."""

    __slots__ = ("__weakref__",)

    @staticmethod
    def of(hooks: dict[int, Any]) -> _Holder:
        if not isinstance(hooks, _Holder):
            raise TypeError("hooks live in a table made by hook_table()")
        return hooks


def hook_table() -> dict[int, Any]:
    """An empty table of hooks, in order of registration."""
    return _Holder()


def register(hooks: dict[int, Any], hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
    """Put a hook into a table, last or first, and return its handle."""
    handle = RemovableHandle(hooks)
    if prepend:
        later = dict(hooks)
        hooks.clear()
        hooks[handle.id] = hook
        hooks.update(later)
    else:
        hooks[handle.id] = hook
    return handle


class NodeHooks:
    """All hooks of one node. Order of a step: tensor hooks of each output, retained gradients, pre-hooks, the node, post-hooks."""

    __slots__ = ("tensor", "retain", "pre", "post")

    def __init__(self) -> None:
        self.tensor: dict[int, dict[int, Any]] = {}  # output number -> hooks
        self.retain: dict[int, weakref.ref[Any]] = {}  # output number -> the tensor whose .grad is filled
        self.pre: dict[int, Any] = hook_table()
        self.post: dict[int, Any] = hook_table()

    def names(self) -> list[str]:
        """What is registered, in words, for an inspector."""
        said = [f"tensor hook {_name(h)}" for table in self.tensor.values() for h in table.values()]
        said += ["retain_grad"] * len(self.retain)
        said += [f"pre-hook {_name(h)}" for h in self.pre.values()]
        return said + [f"hook {_name(h)}" for h in self.post.values()]


def _name(hook: Any) -> str:
    return getattr(hook, "__qualname__", None) or type(hook).__name__
