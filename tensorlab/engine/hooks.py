"""Functions that people attach to tensors and nodes, the handles that take them off again, and the order they run in.

One step of a backward pass calls, in this order: the tensor hooks of each output, as they were registered; then ``retain_grad``
fills ``.grad``; then the node's pre-hooks; then the node runs; then its post-hooks. At a leaf the pre-hooks are followed by the
accumulation, the post-accumulate-grad hooks, and the post-hooks.
"""

from __future__ import annotations

import copy
import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tensorlab import taps
from tensorlab.engine import sites

_ids = itertools.count()
#: Hooks that were taken off which a table remembers, the latest.
MOST_REMOVED = 4


class RemovableHandle:
    """Returned by everything that registers a hook. ``remove()`` takes it off; it also works as a context manager."""

    def __init__(self, *tables: dict[int, Any]) -> None:
        self.id = next(_ids)
        while any(self.id in table for table in tables):  # which may have come out of a file, with numbers of their own
            self.id = next(_ids)
        self._tables = [weakref.ref(_Table.checked(table)) for table in tables]

    def remove(self) -> None:
        """Take the hook off; calling it again does nothing."""
        for known in self._tables:
            table = known()
            if table is not None and self.id in table:
                _remember_removed(table, self.id, sites.here(2))
                table.pop(self.id, None)

    def __getstate__(self) -> Any:
        """A copy of the owner of the hooks gets a handle of its own."""
        return self.id, [known() for known in self._tables]

    def __setstate__(self, state: Any) -> None:
        self.id, tables = state
        self._tables = [weakref.ref(_Table() if table is None else table) for table in tables]

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: Any) -> None:
        self.remove()


class Registration(NamedTuple):
    """Where a hook was registered, while which cell of a notebook ran (-1: none), and its handle, if somebody kept it."""

    site: Any
    cell: int
    handle: Any


class Removed(NamedTuple):
    """A hook that was taken off: its number, what it was called, where it had been registered and where it was removed."""

    number: int
    name: str
    made: Registration | None
    site: Any
    cell: int


class _Table(dict[int, Any]):
    """A dictionary that can be referred to weakly, and knows where its hooks came from; files do not keep that."""

    __slots__ = ("__weakref__", "made", "removed")

    made: dict[int, Registration]
    removed: tuple[Removed, ...]

    def __getstate__(self) -> None:
        return None

    def __deepcopy__(self, memo: dict[int, Any]) -> _Table:
        new = memo[id(self)] = _Table()
        new.update({number: copy.deepcopy(hook, memo) for number, hook in self.items()})
        new.made = dict(getattr(self, "made", {}))
        return new

    @staticmethod
    def checked(table: dict[int, Any]) -> _Table:
        if not isinstance(table, _Table):
            raise TypeError("hooks live in a table made by hook_table()")
        return table


def hook_table() -> dict[int, Any]:
    """An empty table of hooks, in order of registration."""
    return _Table()


def register(hooks: dict[int, Any], hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
    """Put a hook into a table, last or first, and return its handle. Raises ``TypeError`` for what cannot be called."""
    if not callable(hook):
        raise TypeError(f"a hook must be callable, not {type(hook).__name__}")
    handle = RemovableHandle(hooks)
    made = getattr(hooks, "made", None)
    if made is None:
        made = hooks.made = {}  # type: ignore[attr-defined]
    made[handle.id] = Registration(sites.here(2), sites.Turn.cell, weakref.ref(handle))
    if prepend:
        later = dict(hooks)
        hooks.clear()
        hooks[handle.id] = hook
        hooks.update(later)
    else:
        hooks[handle.id] = hook
    return handle


def registration(hooks: dict[int, Any], number: int) -> Registration | None:
    """Where the hook of this number came into the table; ``None`` where that is not known, as of one out of a file."""
    return getattr(hooks, "made", {}).get(number)


def removed_from(hooks: dict[int, Any]) -> tuple[Removed, ...]:
    """The latest hooks that were taken off a table, oldest first."""
    return getattr(hooks, "removed", ())


def take_off(hooks: dict[int, Any], number: int) -> bool:
    """Take a hook off without its handle. Returns whether it was there."""
    if number not in hooks:
        return False
    _remember_removed(hooks, number, None)
    return hooks.pop(number, None) is not None


def _remember_removed(hooks: Any, number: int, site: Any) -> None:
    made = getattr(hooks, "made", {}).pop(number, None)
    gone = Removed(number, name_of(hooks[number]), made, site, sites.Turn.cell)
    hooks.removed = (*getattr(hooks, "removed", ())[1 - MOST_REMOVED :], gone)


class Told:
    """A hook that is called while somebody watches hooks: they are told before, and after."""

    __slots__ = ("kind", "owner", "number", "hook")

    def __init__(self, kind: str, owner: Any, number: int, hook: Any) -> None:
        self.kind, self.owner, self.number, self.hook = kind, owner, number, hook

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        after = [tap(self.kind, self.owner, self.number, self.hook, args) for tap in list(taps.hooks)]
        found = error = None
        try:
            found = self.hook(*args, **kwargs)
            return found
        except BaseException as raised:
            error = raised
            raise
        finally:
            for tell in reversed(after):
                if tell is not None:
                    tell(found, error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.hook, name)


def told(kind: str, owner: Any, hooks: dict[int, Any]) -> list[Any]:
    """The hooks of a table in order, ready to be called."""
    if not taps.hooks:
        return list(hooks.values())
    return [Told(kind, owner, number, hook) for number, hook in hooks.items()]


class NodeHooks:
    """All hooks of one node."""

    __slots__ = ("tensor", "retain", "pre", "post")

    def __init__(self) -> None:
        self.tensor: dict[int, dict[int, Any]] = {}  # output number -> hooks
        self.retain: dict[int, weakref.ref[Any]] = {}  # output number -> the tensor whose .grad is filled
        self.pre: dict[int, Any] = hook_table()
        self.post: dict[int, Any] = hook_table()

    def names(self) -> list[str]:
        """What is registered, in words, for an inspector."""
        said = [f"tensor hook {name_of(h)}" for table in self.tensor.values() for h in table.values()]
        said += ["retain_grad"] * len(self.retain)
        said += [f"pre-hook {name_of(h)}" for h in self.pre.values()]
        return said + [f"hook {name_of(h)}" for h in self.post.values()]

    def arriving(self, node: Any, grads: list[Any], retained: list[tuple[Any, Any]], journal: bool) -> list[Any]:
        """The gradients of a node's outputs after their tensor hooks, with ``retain_grad`` done.

        ``retained`` is given every tensor whose ``.grad`` is filled, with what its ``.grad`` was. With a ``journal`` hooks get
        copies, so that one which writes into its gradient changes what goes on, as it does without, and not what the journal
        remembers.
        """
        for output, table in self.tensor.items():
            for hook in told("tensor", (node, output), table):
                g = grads[output]
                if g is not None or getattr(hook, "told_of_nothing", False):
                    (given,) = _given((g,), journal)
                    found = hook(given)
                    grads[output] = checked(node, hook, _written((given,))[0] if found is None else found, g)
        for output, known in self.retain.items():
            tensor, g = known(), grads[output]
            if tensor is not None and g is not None:
                old = tensor._grad
                new = g.clone() if old is None else old + g  # its own memory: people may write into it
                retained.append((tensor, old))
                tensor._grad = new
        return grads

    def entering(self, node: Any, grads: list[Any], journal: bool) -> list[Any]:
        """The gradients of a node's outputs after the node's pre-hooks."""
        for hook in told("node pre", node, self.pre):
            given = _given(grads, journal)
            found = hook(given)
            grads = _replaced(node, hook, _or_else(_written(given), grads) if found is None else found, grads)
        return grads

    def leaving(self, node: Any, outs: Sequence[Any], grads: Sequence[Any], journal: bool) -> Sequence[Any]:
        """The gradients that leave a node after its post-hooks, which are called with them and with what came in."""
        for hook in told("node", node, self.post):
            given = _given(outs, journal)
            found = hook(given, _given(grads, journal))
            outs = _replaced(node, hook, _or_else(_written(given), outs) if found is None else found, outs)
        return outs


def _given(grads: Sequence[Any], journal: bool) -> tuple[Any, ...]:
    return tuple([None if g is None else g.clone() for g in grads]) if journal else tuple(grads)


def _written(given: Sequence[Any]) -> list[Any]:
    """Those gradients that a hook wrote into, ``None`` for the others."""
    return [g if g is not None and g._st is not None and not g._st.inference and g._st.version else None for g in given]


def _or_else(new: Sequence[Any], old: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([b if a is None else a for a, b in zip(new, old, strict=True)])


def _replaced(node: Any, hook: Any, found: Any, old: Sequence[Any]) -> list[Any]:
    """What a hook on a node returned: a tuple with one gradient, or ``None`` for no gradient, for each that it was given."""
    if not isinstance(found, tuple):
        raise TypeError(
            f"hook {name_of(hook)} of {node.name()}: expected tuple, but hook returned {type(found).__name__!r}; "
            f"return one gradient for each it was given, here ({', '.join(['...'] * len(old))},), or None to change "
            "nothing"
        )
    if len(found) != len(old):
        raise RuntimeError(
            f"hook {name_of(hook)} of {node.name()} has returned an incorrect number of values (got {len(found)}, but expected {len(old)})"
        )
    return [None if new is None else checked(node, hook, new, g) for new, g in zip(found, old, strict=True)]


def checked(node: Any, hook: Any, new: Any, old: Any) -> Any:
    """What takes the place of gradient ``old``, once it is a tensor of the same shape and type; ``None`` keeps the old one."""
    if new is None:
        return old
    who = f"hook {name_of(hook)!r} of {node.name()}"
    if not hasattr(new, "_a"):
        raise TypeError(
            f"{who}: expected Variable, but hook returned {type(new).__name__!r}; return a Tensor, or None to change nothing"
        )
    if old is None:
        raise RuntimeError(f"{who}: can't replace a None gradient with a non-None value")
    if new._a.shape != old._a.shape:
        raise RuntimeError(
            f"{who} has changed the size of value: it got shape {list(old._a.shape)} and returned {list(new._a.shape)}"
        )
    if new._a.dtype != old._a.dtype:
        raise RuntimeError(
            f"{who} has changed the type of value: it got {old.dtype} and returned {new.dtype}; return the same type, for example with "
            ".to(grad.dtype)"
        )
    return new


def move_retained(old: Any, new: Any) -> None:
    """``retain_grad`` follows its tensor to its new history; hooks stay with the old."""
    if old is not None and old[0].hooks is not None:
        known = old[0].hooks.retain.pop(old[1], None)
        if known is not None:
            new[0].hook_tables().retain[new[1]] = known


def name_of(hook: Any) -> str:
    """A hook's name for people."""
    if isinstance(hook, Told):
        hook = hook.hook
    return getattr(hook, "__qualname__", None) or type(hook).__name__
