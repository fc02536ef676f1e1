"""A model, a graph or a step as it is at one moment, ready to be compared with another: names, shapes and a look at every value."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tensorlab import backend
from tensorlab.engine.node import Node
from tensorlab.nn.parameter import is_lazy
from tensorlab.observe.detail import arrays
from tensorlab.observe.measure import walked
from tensorlab.observe.names import Names, is_module
from tensorlab.observe.protocol import Refused
from tensorlab.observe.schema import KINDS, Graph
from tensorlab.observe.snapshot import MOST_NODES, Walk, snapshot
from tensorlab.observe.words import shape_text
from tensorlab.tensor import Tensor

#: Elements of a value that are kept for a comparison, evenly spread over it.
MOST_ELEMENTS = 4096
#: A value of more bytes is compared by its sample alone.
MOST_READ = 2**28
#: Up to so many elements an array is its own digest.
SMALL = 256


@dataclass(frozen=True, slots=True)
class Look:
    """What is remembered of an array: an even sample as doubles, and a digest of all of it (empty where it was not read)."""

    shape: tuple[int, ...]
    dtype: str
    sample: np.ndarray
    digest: bytes
    partial: bool


@dataclass(slots=True)
class Item:
    """One thing that can be compared. ``path`` are the modules around it; ``looks`` its arrays by what they are."""

    path: tuple[str, ...]
    name: str
    kind: str
    facts: str
    looks: dict[str, Look] = field(default_factory=dict)
    node: int = -1
    position: int = -1


@dataclass(frozen=True)
class Step:
    """What was there at one moment: of a graph its nodes with values and gradients, of a model its state."""

    name: str
    items: tuple[Item, ...]
    graph: Graph | None = None

    def __repr__(self) -> str:
        kind = "a graph" if self.graph is not None else "a model"
        return f"Step({self.name}: {kind} of {len(self.items):,} things)"


def step_of(thing: Any, names: Names | None = None, name: str = "") -> Step:
    """A module, a dictionary of tensors, or the graph of one or several tensors, as it is now. A ``Step`` is returned as it is.

    Nothing is kept alive and nothing changes: values are sampled, and gradients come from a backward pass that leaves every ``.grad``
    alone, where the graph still allows one. Raises ``TypeError`` for anything else.
    """
    names = names or Names()
    if isinstance(thing, Step):
        return Step(name, thing.items, thing.graph) if name and not thing.name else thing
    if is_module(thing):
        return Step(name or names.of_module(thing) or type(thing).__name__, tuple(_parts(thing)))
    if isinstance(thing, Mapping):
        return Step(name or "state", tuple(_state(thing)))
    results = list(thing) if isinstance(thing, list | tuple) else [thing]
    if not results or not all(isinstance(result, Tensor) for result in results):
        raise TypeError(
            f"compare two modules, two state_dicts, two tensors with their graphs, or steps made with show.step(); "
            f"this is {type(thing).__name__}"
        )
    return _graph(results, names, name)


def look_at(array: Any) -> Look:
    """What is to be remembered of an array."""
    shape, kind = tuple(array.shape), str(array.dtype)
    if type(array) is np.ndarray and array.size <= SMALL and array.dtype.kind == "f":
        return Look(shape, kind, array.reshape(-1).astype(np.float64), array.tobytes(), False)
    flat = array.reshape(-1)
    partial = flat.size > MOST_ELEMENTS
    part = flat[:: max(1, flat.size // MOST_ELEMENTS)][:MOST_ELEMENTS] if partial else flat
    host = backend.to_host(part)
    sample = np.abs(host) if host.dtype.kind == "c" else host
    digest = b""
    if isinstance(array, np.ndarray) and array.nbytes <= MOST_READ:
        digest = hashlib.blake2b(np.ascontiguousarray(array).tobytes(), digest_size=16).digest()
    return Look(shape, kind, sample.astype(np.float64), digest, partial)


def difference(one: Look, other: Look) -> tuple[float | None, str]:
    """How much two looks at arrays of one shape differ, over the size of the first, and in words; 0 where they are the same."""
    if one.digest and one.digest == other.digest and one.dtype == other.dtype:
        return 0.0, ""
    a, b = one.sample, other.sample
    with np.errstate(all="ignore"):
        gap = b - a
        size, norm, broken = math.sqrt(gap.dot(gap)), math.sqrt(a.dot(a)), 0
        if not math.isfinite(size) or not math.isfinite(norm):
            finite = np.isfinite(a) & np.isfinite(b)
            broken = int((~np.isfinite(b)).sum() - (~np.isfinite(a)).sum())
            gap = np.where(finite, gap, 0.0)
            size, norm = float(np.linalg.norm(gap)), float(np.linalg.norm(np.where(finite, a, 0.0)))
        most = float(np.abs(gap).max()) if gap.size else 0.0
    if broken > 0:
        return None, f"has {broken:,} more NaN or Inf"
    if size == 0:
        if one.digest and other.digest and one.digest != other.digest and one.dtype == other.dtype:
            return None, "differs outside the sample, or in the sign of zero"
        return 0.0, ""
    return (size / norm if norm > 0 else math.inf), f"by at most {most:.3g}"


def _parts(module: Any) -> list[Item]:
    """Modules with what they are made of, and their parameters and buffers."""
    items: list[Item] = []
    for path, part in module.named_modules():
        where = tuple(path.split(".")) if path else ()
        extra = part.extra_repr() if callable(getattr(part, "extra_repr", None)) else ""
        items.append(Item(where, "", "part", f"{type(part).__name__}({extra})"))
        named = [*part.named_parameters(recurse=False), *part.named_buffers(recurse=False)]
        for number, (name, tensor) in enumerate(named):
            kind = "parameter" if number < sum(1 for _ in part.named_parameters(recurse=False)) else "buffer"
            items.append(_value(where, name, kind, tensor))
    return items


def _value(path: tuple[str, ...], name: str, kind: str, tensor: Any) -> Item:
    if is_lazy(tensor):
        return Item(path, name, kind, "shape not known yet")
    item = Item(path, name, kind, _facts(tensor._a))
    item.looks["value"] = look_at(tensor._a)
    grad = tensor.grad if tensor.is_leaf else None
    if grad is not None:
        item.looks["gradient"] = look_at(grad._a)
    return item


def _facts(array: Any) -> str:
    return f"{shape_text(array.shape)} {array.dtype}"


def _state(state: Mapping[str, Any]) -> list[Item]:
    items = []
    for key, value in state.items():
        *path, name = str(key).split(".")
        if isinstance(value, Tensor):
            items.append(_value(tuple(path), name, "parameter", value))
        else:
            items.append(Item(tuple(path), name, "value", repr(value)[:80]))
    return items


def _graph(results: Sequence[Any], names: Names, name: str) -> Step:
    walk = Walk(results, MOST_NODES)
    graph = snapshot(list(results), names, walk=walk)
    gradients = _gradients(results)
    consumers: dict[int, list[Node]] = {}
    for source, target, _ in walk.edges:
        consumers.setdefault(source, []).append(walk.items[target])  # type: ignore[arg-type]
    nodes, strings = graph.nodes, graph.strings
    items = []
    for at, node in enumerate(walk.items):
        group = nodes.group[at]
        path = tuple(filter(None, graph.groups[group].name.split("."))) if group >= 0 else ()
        kind = KINDS[nodes.kind[at]]
        label = strings[nodes.label[at]] if nodes.label[at] >= 0 else ""
        facts = f"{strings[nodes.shape[at]]} {strings[nodes.dtype[at]]}"
        word = strings[nodes.op[at]] if nodes.op[at] >= 0 else label or strings[nodes.name[at]]
        kind = "operation" if kind == "root" else "parameter" if kind == "leaf" else kind
        if kind == "parameter" and label:
            *where, word = label.split(".")
            path = tuple(where)
        item = Item(path, word, kind, facts, {}, nodes.id[at], at)
        value = arrays(node, None, consumers.get(at, ())).get("value") if isinstance(node, Node) else node.array
        if value is not None:
            item.looks["value"] = look_at(value)
        if nodes.id[at] in gradients:
            item.looks["gradient"] = gradients[nodes.id[at]]
        items.append(item)
    return Step(name or graph.title, tuple(items), graph)


def _gradients(results: Sequence[Any]) -> dict[int, Look]:
    """A look at the gradient that comes to each node, by id; empty where no backward pass can run any more."""
    found: dict[int, Look] = {}
    roots = [result for result in results if result.requires_grad]

    def note(node: Node, gradients: Sequence[Any]) -> None:
        if len(gradients) == 1 and gradients[0] is not None:
            found[node.seq] = look_at(gradients[0]._a)

    try:
        walked(roots, note)
    except Refused:
        return {}
    return found
