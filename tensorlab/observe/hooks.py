"""Every hook there is, found by looking: on tensors, nodes, modules and optimizers, and those of all modules and all optimizers.

Nothing is kept but numbers and words. The tables are walked anew whenever somebody looks, so what was registered or removed meanwhile
is right too, and it costs nothing as long as nobody does.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tensorlab.engine import sites
from tensorlab.engine.hooks import Registration, Removed, name_of, registration
from tensorlab.engine.node import AccumulateGrad, Node
from tensorlab.nn.modules import calling, module
from tensorlab.nn.modules.saving import WithoutModule
from tensorlab.observe.names import NOTEBOOK_NAMES, Names, is_module
from tensorlab.observe.places import place, words
from tensorlab.observe.schema import Site
from tensorlab.observe.schema_watching import HookEntry
from tensorlab.optim import optimizer as optimizers
from tensorlab.tensor import Tensor

#: Nodes of a graph that are looked at, newest first; registrations of one line that stay apart; owners that an entry names.
MOST_NODES, MOST_ALIKE, MOST_OWNERS = 20_000, 3, 24

OF_MODULES = {
    "_forward_pre_hooks": "forward pre", "_forward_hooks": "forward", "_backward_pre_hooks": "backward pre",
    "_backward_hooks": "backward", "_state_dict_pre_hooks": "state_dict pre", "_state_dict_hooks": "state_dict",
    "_load_state_dict_pre_hooks": "load_state_dict pre", "_load_state_dict_post_hooks": "load_state_dict",
}  # fmt: skip
#: Where hooks of views come from, which nobody has to know of.
OURS = "tensorlab.observe."
OF_OPTIMIZERS = {
    "_step_pre_hooks": "step pre", "_step_post_hooks": "step", "_state_dict_pre_hooks": "state_dict pre",
    "_state_dict_post_hooks": "state_dict", "_load_state_dict_pre_hooks": "load_state_dict pre",
    "_load_state_dict_post_hooks": "load_state_dict",
}  # fmt: skip
#: Kinds that a backward pass calls.
IN_BACKWARD = ("tensor", "node pre", "node", "post accumulate", "backward pre", "backward")


@dataclass(slots=True)
class Found:
    """A hook as it stands in its table. Holds live objects: it is used up while a document is made."""

    number: int
    kind: str
    owner: str
    hook: Any
    table: dict[int, Any]
    on: Any  # the tensor, node, module or optimizer; None for hooks of all of them
    output: int = 0

    @property
    def made(self) -> Registration | None:
        return registration(self.table, self.number)


# ------------------------------------------------------------------------------------------------------------- looking


def hooks_of(target: Any, title: str, namespace: Mapping[str, Any]) -> Iterator[Found]:
    """Every hook that has to do with ``target``, a module, tensor, optimizer or ``None`` for all that the user has a name for."""
    names = Names(namespace)
    done: set[tuple[int, int]] = set()

    def fresh(found: Iterable[Found]) -> Iterator[Found]:
        for one in found:
            key = id(one.table), one.number
            if key not in done:
                done.add(key)
                yield one

    if target is None:
        for name, value in _named(namespace):
            if is_module(value):
                yield from fresh(of_module(value, name))
            elif isinstance(value, Tensor):
                yield from fresh(of_tensor(value, name, names))
    elif is_module(target):
        yield from fresh(of_module(target, title or type(target).__name__))
    elif isinstance(target, Tensor):
        yield from fresh(of_tensor(target, title, names))
    else:
        yield from fresh(of_optimizer(target, title or type(target).__name__))
    for name, value in _named(namespace):
        if isinstance(value, optimizers.Optimizer) and _concerns(value, target):
            yield from fresh(of_optimizer(value, name))
    yield from fresh(of_everything())


def _named(namespace: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [
        (name, value)
        for name, value in list(namespace.items())
        if isinstance(name, str) and not name.startswith("_") and name not in NOTEBOOK_NAMES
    ]


def _concerns(optimizer: Any, target: Any) -> bool:
    """Whether an optimizer moves parameters of ``target``."""
    if target is None or optimizer is target:
        return True
    if not is_module(target):
        return False
    ours = {id(p) for p in target.parameters()}
    return any(id(p) in ours for group in optimizer.param_groups for p in group["params"])


def of_module(model: Any, root: str) -> Iterator[Found]:
    """The hooks of a module, of all modules in it, and of its parameters."""
    for path, part in model.named_modules():
        owner = f"{root}.{path}" if path else root
        for attribute, kind in OF_MODULES.items():
            table = part.__dict__.get(attribute) or {}
            yield from (Found(number, kind, owner, hook, table, part) for number, hook in list(table.items()))
        for name, parameter in part._parameters.items():
            if parameter is not None:
                yield from of_leaf(parameter, f"{owner}.{name}")


def of_leaf(leaf: Any, owner: str) -> Iterator[Found]:
    """The hooks of a tensor that no operation made, and of the node where its gradient arrives."""
    node = leaf._acc
    if node is None:
        return
    yield from of_node(node, owner, leaf)
    yield from (Found(n, "post accumulate", owner, hook, node.after, leaf) for n, hook in list(node.after.items()))


def of_node(node: Node, owner: str, on: Any = None) -> Iterator[Found]:
    """The hooks of a node and of what it made."""
    hooks = node.hooks
    if hooks is None:
        return
    on = node if on is None else on
    for output, table in list(hooks.tensor.items()):
        yield from (Found(n, "tensor", owner, hook, table, on, output) for n, hook in list(table.items()))
    for kind, table in (("node pre", hooks.pre), ("node", hooks.post)):
        yield from (Found(n, kind, owner, hook, table, on) for n, hook in list(table.items()))


def of_tensor(x: Any, title: str, names: Names) -> Iterator[Found]:
    """The hooks of a tensor, and of everything in the graph that made it."""
    try:
        start = x.grad_fn
    except RuntimeError:  # a view that lost its place in the graph
        return
    if start is None:
        yield from of_leaf(x, title or names.of_tensor(x) or "tensor")
        return
    seen, waiting = {start}, [start]
    while waiting and len(seen) <= MOST_NODES:
        node = waiting.pop()
        if type(node) is AccumulateGrad:
            leaf: Any = node.variable
            if leaf is not None:
                yield from of_leaf(leaf, names.of_tensor(leaf) or "leaf")
            continue
        if node.hooks is not None:
            yield from of_node(node, owner_of(node, names))
        for edge in node.edges:
            if edge is not None and edge[0] not in seen:
                seen.add(edge[0])
                waiting.append(edge[0])


def owner_of(node: Node, names: Names) -> str:
    """What a node made, by the user's name for it, or by the module and the operation."""
    name = names.of_value(node, 0)
    if name:
        return name
    path = names.path_of(node)
    return f"{node.name()} in {path}" if path else node.name()


def of_optimizer(optimizer: Any, owner: str) -> Iterator[Found]:
    """The hooks of an optimizer."""
    for attribute, kind in OF_OPTIMIZERS.items():
        table = getattr(optimizer, attribute, None) or {}
        yield from (Found(number, kind, owner, hook, table, optimizer) for number, hook in list(table.items()))


def of_everything() -> Iterator[Found]:
    """The hooks of all modules, all registrations and all optimizers, but for those by which views of this library listen."""
    yield from (found for found in _of_everything() if not str(getattr(found.hook, "__module__", "")).startswith(OURS))


def _of_everything() -> Iterator[Found]:
    for number, every in list(calling.everywhere.items()):
        yield Found(number, every.kind.replace("_", " "), "every module", every.hook, calling.everywhere, None)
    for what, table in module._registrations.items():
        yield from (Found(n, f"{what} registration", "every module", h, table, None) for n, h in list(table.items()))
    for kind, table in (("step pre", optimizers._before_every_step), ("step", optimizers._after_every_step)):
        yield from (Found(n, kind, "every optimizer", hook, table, None) for n, hook in list(table.items()))


# ------------------------------------------------------------------------------------------------------------ in words


def code_of(hook: Any) -> types.CodeType | None:
    """The code of a hook: of a function, a method, a partial, or an object that is called."""
    for _ in range(8):
        if isinstance(hook, WithoutModule):
            hook = hook.hook
        code = getattr(hook, "__code__", None)
        if isinstance(code, types.CodeType):
            return code
        inner = getattr(hook, "__func__", None) or getattr(hook, "func", None) or getattr(hook, "__wrapped__", None)
        if inner is None:
            inner = next(
                (kind.__dict__["__call__"] for kind in type(hook).__mro__ if "__call__" in kind.__dict__), None
            )
            inner = inner if isinstance(inner, types.FunctionType) else None
        if inner is None:
            return None
        hook = inner
    return None


def is_library(hook: Any) -> bool:
    """Whether a hook is a function of ours."""
    code = code_of(hook)
    name = getattr(type(hook), "__module__", "")
    return (code is not None and sites.is_ours(code)) or name.startswith(("tensorlab.", "tensorlab_widgets"))


def called(hook: Any) -> str:
    """A hook's name for people: without the function that it was written in."""
    return name_of(hook.hook if isinstance(hook, WithoutModule) else hook).rpartition("<locals>.")[2]


def left_behind(found: Sequence[Found], namespace: Mapping[str, Any]) -> dict[int, str]:
    """Of each hook that looks left behind, by number: why, and what to do."""
    said: dict[int, str] = {}
    tables: dict[tuple[int, Any], list[Found]] = {}
    for one in found:
        code = code_of(one.hook)
        if code is not None and not is_library(one.hook):
            tables.setdefault((id(one.table), code), []).append(one)
    for same in tables.values():
        last = same[-1]
        for older in same[:-1]:
            said[older.number] = _doubled(older, last, len(same))
    for one in found:
        name = called(one.hook)
        now = namespace.get(name)
        if (
            one.number not in said
            and isinstance(one.hook, types.FunctionType)
            and isinstance(now, types.FunctionType)
            and now is not one.hook
            and one.hook.__globals__.get(name) is now
        ):
            said[one.number] = (
                f"{name} has been defined anew since; this is the function as it was. Remove it and register again."
            )
    return said


def _doubled(older: Found, newer: Found, count: int) -> str:
    before, after = older.made, newer.made
    times = "twice" if count == 2 else f"{count} times"
    if before is None or after is None or before.cell < 0 or before.cell == after.cell:
        return (
            f"It is registered {times} on {older.owner}, so it is called {times}. Keep the handle and remove the first."
        )
    return (
        f"Left behind: registered in cell [{before.cell}] and again in cell [{after.cell}], so it is called {times}. Keep the handle "
        "and call handle.remove() before you register again."
    )


def entries(
    found: Sequence[Found], fired: Mapping[int, int], why: Mapping[int, str], left: Mapping[int, str]
) -> tuple[list[HookEntry], dict[int, int]]:
    """The hooks as a view lists them, and which entry each number belongs to. What one line registered many times is one entry."""
    groups: dict[Any, list[Found]] = {}
    for one in found:
        key = (
            one.kind,
            called(one.hook),
            one.made and one.made.site,
            one.made and one.made.cell,
            left.get(one.number, ""),
        )
        groups.setdefault(key, []).append(one)
    listed: list[HookEntry] = []
    belongs: dict[int, int] = {}
    for same in groups.values():
        for part in [same] if len(same) > MOST_ALIKE else [[one] for one in same]:
            entry = _entry(part, fired, why, left)
            listed.append(entry)
            belongs.update((one.number, entry.number) for one in part)
    return listed, belongs


def _entry(
    same: Sequence[Found], fired: Mapping[int, int], why: Mapping[int, str], left: Mapping[int, str]
) -> HookEntry:
    first, made = same[0], same[0].made
    code = code_of(first.hook)
    calls = sum(fired.get(one.number, 0) for one in same)
    reasons = [why[one.number] for one in same if one.number in why]
    many = len(same) > 1
    return HookEntry(
        number=first.number,
        kind=first.kind,
        owner=f"{first.owner} and {len(same) - 1:,} more" if many else first.owner,
        name=called(first.hook),
        count=len(same),
        owners=tuple(one.owner for one in same[:MOST_OWNERS]),
        defined=_written(code, made),
        registered=registered_at(made),
        cell=made.cell if made is not None else -1,
        held=made is not None and any(one.made is not None and one.made.handle() is not None for one in same),
        library=is_library(first.hook),
        fired=calls,
        state="fired" if calls else "silent",
        left=left.get(first.number, ""),
        why=reasons[0] if reasons and (not many or len(reasons) == len(same)) else _some(reasons, len(same)),
    )


def _some(reasons: Sequence[str], count: int) -> str:
    return f"{len(reasons):,} of {count:,} were not called. The first: {reasons[0]}" if reasons else ""


def registered_at(made: Registration | None) -> Site | None:
    """Where a hook was registered. A cell that ran again keeps its text and gets another number, so the number was noted then."""
    found = place(made.site) if made is not None else None
    if found is None or made is None or found.cell < 0 or made.cell < 0:
        return found
    return replace(found, cell=made.cell)


def _written(code: types.CodeType | None, made: Registration | None) -> Site | None:
    """Where a hook's function stands: in the cell that registered it, or elsewhere."""
    found = place((code, -1)) if code is not None else None
    if found is None or made is None or made.cell < 0 or made.site is None or code is None:
        return found
    return replace(found, cell=made.cell) if made.site[0].co_filename == code.co_filename else found


def table_of(kind: str, owner: Any) -> dict[int, Any]:
    """The table of a hook on a node, by what those who watch are told."""
    node, output = owner if type(owner) is tuple else (owner, 0)
    hooks = getattr(node, "hooks", None)
    if hooks is None:
        return {}
    found: Any = {"tensor": hooks.tensor.get(output), "node pre": hooks.pre, "node": hooks.post}.get(kind)
    return found or {}


def taken_off(gone: Removed, kind: str, owner: str, fired: int) -> HookEntry:
    """A hook that was removed, as a view lists it."""
    where = words(place(gone.site)) if gone.site is not None else "this view"
    cell = f" (cell [{gone.cell}])" if gone.cell >= 0 and gone.site is not None and "cell" not in where else ""
    return HookEntry(
        number=gone.number,
        kind=kind,
        owner=owner,
        name=gone.name.rpartition("<locals>.")[2],
        count=1,
        owners=(owner,),
        defined=None,
        registered=registered_at(gone.made),
        cell=gone.made.cell if gone.made is not None else -1,
        held=False,
        library=False,
        fired=fired,
        state="removed",
        left="",
        why=f"It was removed in {where}{cell}.",
    )
