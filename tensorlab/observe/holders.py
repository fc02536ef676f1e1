"""Who holds a buffer: variables, gradients, optimizers, graphs, closures, hooks. Found by one walk over the program's objects.

Nothing is kept: a walk answers with words and numbers only.
"""

from __future__ import annotations

import gc
import inspect
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tensorlab.census import buffer_of
from tensorlab.engine.node import AccumulateGrad, Node
from tensorlab.observe.names import NOTEBOOK_NAMES, is_module
from tensorlab.observe.places import place, words
from tensorlab.optim.optimizer import Optimizer
from tensorlab.tensor import Tensor

#: Tensors without a name whose holders are looked for, and holders that are told of a buffer.
MOST_SEARCHED, MOST_HOLDERS = 200, 6


@dataclass(slots=True)
class Held:
    """What is known of a buffer at one moment."""

    key: int
    size: int
    device: tuple[str, int]
    names: list[str] = field(default_factory=list)
    grads: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    graph: list[tuple[int, str]] = field(default_factory=list)  # number of the node, in words
    others: list[str] = field(default_factory=list)
    shape: str = ""
    made: Any = None  # (name of the operation, site, path)
    parameter: bool = False
    tensors: list[Any] = field(default_factory=list)  # emptied before the walk ends

    @property
    def holders(self) -> tuple[str, ...]:
        """Everybody who holds it, in words."""
        said = [*self.names, *self.grads, *self.states, *(words for _, words in sorted(self.graph)), *self.others]
        more = [f"and {len(said) - MOST_HOLDERS:,} more"] if len(said) > MOST_HOLDERS else []
        return (*said[:MOST_HOLDERS], *more)

    @property
    def frees(self) -> str:
        """What would free it."""
        if self.states:
            return "stays with the optimizer"
        if self.grads:
            return "zero_grad() frees it"
        if self.parameter:
            return "stays with the model"
        if self.names:
            also = ", and the graph that keeps it is gone" if self.graph else ""
            return f"goes once {_plain(self.names[0])} is deleted or given another value{also}"
        if self.graph:
            return "backward() frees it, or letting go of the result whose graph keeps it"
        if self.others:
            return f"goes once {self.others[0]} lets go of it"
        return "nothing of yours holds it; it goes with the next collection"


def _plain(name: str) -> str:
    return name.partition(".")[0].partition("[")[0]


def held(namespace: Mapping[str, Any], search: bool = True) -> dict[int, Held]:
    """Every buffer that tensors and graphs hold, by its identity, with who holds it."""
    found: dict[int, Held] = {}
    named: set[int] = set()
    for name, x, kind in named_things(namespace):
        one = _enter(found, x)
        named.add(id(x))
        if kind == "grad":
            one.grads.append(name)
        elif kind == "state":
            one.states.append(name)
        else:
            one.names.append(name)
            one.parameter = one.parameter or kind == "part"
    loose: list[Any] = []
    for thing in gc.get_objects():
        cls = type(thing)  # isinstance() would run what a stranger's object says of its class
        if issubclass(cls, Tensor):
            if getattr(thing, "_a", None) is None:
                continue
            one = _enter(found, thing)
            if id(thing) not in named:
                one.tensors.append(thing)
                loose.append(thing)
            if one.made is None and thing._edge is not None and thing._view is None:
                node = thing._edge[0]
                one.made = node.name(), node.site, node.made[1] if node.made else None
            grad = thing._grad
            if grad is not None and id(grad) not in named and not one.parameter:
                _enter(found, grad).grads.append("the .grad of a tensor without a name")
                named.add(id(grad))
        elif issubclass(cls, Node) and cls is not AccumulateGrad and type(getattr(thing, "saved", None)) is tuple:
            _of_node(found, thing)
    if search:
        nameless = [x for x in loose if id(x) not in named]
        loose.clear()
        _search(found, nameless)
    for one in found.values():
        one.tensors.clear()
    return found


def _enter(found: dict[int, Held], x: Any) -> Held:
    key, size, where, _ = buffer_of(x._a)
    one = found.get(key)
    if one is None:
        one = found[key] = Held(key, size, where)
    if not one.shape or x._view is None:
        one.shape = f"{list(x._a.shape)} {x.dtype.name}"
    return one


def _of_node(found: dict[int, Held], node: Node) -> None:
    where = words(place(node.site))
    for name, array, *_ in node.saved_facts():
        key, size, at, _ = buffer_of(array)
        one = found.get(key)
        if one is None:
            one = found[key] = Held(key, size, at)
            one.shape = f"{list(array.shape)} {array.dtype}"
        one.graph.append((node.seq, f"{node.name()} keeps it as {name}{f' ({where})' if where else ''}"))
        if one.made is None and node.row is not None and name in node.row.results:
            one.made = node.name(), node.site, node.made[1] if node.made else None


# ------------------------------------------------------------------------------------------------------------- names


def named_things(namespace: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """Tensors that the user has a word for, as (word, tensor, what it is: name, part, grad or state)."""
    names: dict[int, str] = {}
    for name, value in _variables(namespace):
        for word, x, kind in _tensors_of(name, value):
            names.setdefault(id(x), word)
            yield word, x, kind
            if x._grad is not None:
                yield f"{word}.grad", x._grad, "grad"
    for name, value in _variables(namespace):
        if isinstance(value, Optimizer):
            for p, kept in list(value.state.items()):
                for key, x in list(kept.items()):
                    if isinstance(x, Tensor):
                        yield f"{name}.state[{names.get(id(p), 'parameter')}][{key!r}]", x, "state"


def _variables(namespace: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [
        (name, value)
        for name, value in list(namespace.items())
        if isinstance(name, str) and not name.startswith("_") and name not in NOTEBOOK_NAMES
    ]


def _tensors_of(name: str, value: Any) -> Iterator[tuple[str, Any, str]]:
    if isinstance(value, Tensor):
        yield name, value, "name"
    elif is_module(value):
        for path, x in [*value.named_parameters(), *getattr(value, "named_buffers", lambda: ())()]:
            yield f"{name}.{path}", x, "part"
    elif type(value) in (list, tuple):
        yield from ((f"{name}[{at}]", x, "name") for at, x in enumerate(value[:10_000]) if isinstance(x, Tensor))
    elif type(value) is dict:
        yield from ((f"{name}[{k!r}]", x, "name") for k, x in list(value.items())[:10_000] if isinstance(x, Tensor))


# ------------------------------------------------------------------------------------------------------------- others


def _search(found: dict[int, Held], loose: list[Any]) -> None:
    """Who refers to tensors without a name: closures, attributes of objects, running functions, the notebook's own records."""
    biggest = sorted(loose, key=lambda x: -x._a.nbytes)[:MOST_SEARCHED]
    if not biggest:
        return
    wanted = {id(x): x for x in biggest}
    ours = {id(loose), id(biggest), id(wanted), *(id(one.tensors) for one in found.values())}
    containers = [c for c in gc.get_referrers(*biggest) if id(c) not in ours and not isinstance(c, types.FrameType)]
    owners: dict[int, list[Any]] = {}
    inner = {id(c): c for c in containers}
    for holder in gc.get_referrers(*containers) if containers else ():
        if holder is containers or holder is inner:
            continue
        for part in _parts(holder):
            if id(part) in inner:
                owners.setdefault(id(part), []).append(holder)
    for c in containers:
        parts = _parts(c)  # before its dictionary of attributes is asked for, which changes how it refers to them
        said = _container(c, owners.get(id(c), ()), wanted)
        if said:
            for part in parts:
                if id(part) in wanted:
                    one = found[buffer_of(part._a)[0]]
                    if said not in one.others:
                        one.others.append(said)
    del containers, owners, inner


def _parts(holder: Any) -> Iterable[Any]:
    """What an object refers to directly, where that is cheap to say."""
    if type(holder) in (list, tuple, set, frozenset):
        return list(holder)
    if isinstance(holder, dict):
        return list(holder.values())
    if isinstance(holder, types.CellType):
        try:
            return [holder.cell_contents]
        except ValueError:
            return ()
    if isinstance(holder, types.FunctionType):
        return [*(holder.__closure__ or ()), holder.__closure__, holder.__defaults__]
    return gc.get_referents(holder)


def _container(c: Any, owners: Iterable[Any], wanted: Mapping[int, Any]) -> str:
    """A container that holds a tensor, in words."""
    if isinstance(c, types.CellType):
        for owner in owners:
            functions = [owner] if isinstance(owner, types.FunctionType) else _functions_with(owner)
            for function in functions:
                return f"the closure of {_function(function)}"
        return "a closure"
    if isinstance(c, types.FunctionType):
        return f"a default argument of {_function(c)}"
    if isinstance(c, types.MethodType):
        return f"the method {c.__qualname__}"
    if isinstance(c, (types.GeneratorType, types.CoroutineType)):
        return f"the running {c.__qualname__}"
    if isinstance(c, Tensor) or isinstance(c, Node):
        return ""
    if isinstance(c, (dict, list, tuple, set)):
        return _collection(c, owners, wanted)
    kind = type(c)
    attributes = getattr(c, "__dict__", None)
    if isinstance(attributes, dict):
        for name, value in list(attributes.items()):
            if id(value) in wanted:
                return f"the attribute {name} of a {kind.__qualname__}"
    return f"an object of type {kind.__qualname__}" if kind.__module__ not in ("builtins", "types") else ""


def _collection(c: Any, owners: Iterable[Any], wanted: Mapping[int, Any]) -> str:
    if type(c) is tuple and len(c) == 3 and isinstance(c[0], AccumulateGrad):
        return "a graph that leads to it"
    if isinstance(c, dict) and c.get("__name__") in sys.modules and vars(sys.modules[c["__name__"]]) is c:
        return _of_globals(c, wanted)
    for owner in owners:
        if isinstance(owner, dict):
            names = [name for name, value in list(owner.items()) if value is c and isinstance(name, str)]
            if names and not names[0].startswith("_"):
                return f"the {type(c).__name__} {names[0]}"
        if getattr(owner, "__dict__", None) is c and not isinstance(owner, types.ModuleType):
            return f"an attribute of a {type(owner).__qualname__}"
        if isinstance(owner, types.CellType):
            return f"a {type(c).__name__} in a closure"
    if isinstance(c, tuple) and all(isinstance(part, types.CellType) for part in c):
        return ""
    return f"a {type(c).__name__}"


def _of_globals(c: dict[str, Any], wanted: Mapping[int, Any]) -> str:
    names = [name for name, value in list(c.items()) if id(value) in wanted]
    if "In" in c and "Out" in c and all(name.startswith("_") for name in names):
        return "the notebook's record of results (Out, _)"
    return f"a variable of {c['__name__']}" if len(names) != 1 else f"the variable {names[0]} of {c['__name__']}"


def _functions_with(owner: Any) -> list[Any]:
    return [f for f in gc.get_referrers(owner) if isinstance(f, types.FunctionType)] if isinstance(owner, tuple) else []


def _function(function: Any) -> str:
    code = inspect.unwrap(function).__code__
    where = words(place((code, -1)))
    name = function.__qualname__.rpartition("<locals>.")[2]
    return f"{name} ({where})" if where else name
