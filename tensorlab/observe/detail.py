"""Everything an inspector shows of one node, made when it is opened and not before."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from tensorlab.dispatch import device_of
from tensorlab.engine.hooks import name_of
from tensorlab.engine.node import AccumulateGrad, Node, Packed
from tensorlab.observe import places
from tensorlab.observe.accumulation import badge, contributions
from tensorlab.observe.kept import memory_bytes
from tensorlab.observe.names import Names
from tensorlab.observe.preview import preview, window
from tensorlab.observe.protocol import Refused
from tensorlab.observe.schema import NODE, ArrayWindow, GradientSlot, Graph, Neighbour, NodeDetail, Saved
from tensorlab.observe.schema_kept import FIRST_STORAGE, HOLDERS
from tensorlab.observe.snapshot import Input
from tensorlab.observe.telling import gradient_lines
from tensorlab.observe.words import bytes_text, count_text, shape_text

Role = Literal["incoming", "outgoing", "accumulated"]


def detail(
    node: Node,
    names: Names | None = None,
    *,
    run: Any = None,
    state_of: Callable[[Node], str] | None = None,
    edited: Iterable[int] = (),
    consumers: Iterable[Node] = (),
    windows: Mapping[str, Sequence[int]] | None = None,
) -> NodeDetail:
    """The document of one node.

    ``run`` is the backward pass that stands somewhere in its graph, ``state_of`` tells where it stands at a node,
    ``edited`` the outputs whose waiting gradient a person changed, ``consumers`` the nodes that took what this node
    made: they may have saved it. ``windows`` says where the grids of its arrays begin that do not begin at their first
    element, by the names that :func:`arrays` gives.
    """
    names = names or Names()
    consumers = tuple(consumers)
    leaf = node.variable if type(node) is AccumulateGrad else None
    known = arrays(node, run, consumers)
    value = known.get("value")
    looks = {
        name: preview(array, device=str(device_of(array)), start=_begin(array, (windows or {}).get(name, ())))
        for name, array in known.items()
    }
    shape, dtype = node.meta[0]
    label = names.of_tensor(leaf) if leaf is not None else names.of_value(node, 0)
    state_of = state_of or _state
    return NodeDetail(
        schema=NODE,
        id=node.seq,
        name=node.name(),
        label=label,
        state=state_of(node),
        module=names.path_of(node),
        formula=node.row.formula if node.row is not None else "",
        derivative=_derivative(node),
        derivative_shapes=_derivative_shapes(node),
        site=places.place(node.site),
        shape=tuple(shape),
        dtype=str(dtype),
        stride=tuple(step // value.itemsize for step in value.strides) if value is not None else (),
        value=looks.get("value"),
        gradients=tuple(
            GradientSlot(
                output, role, name, looks.get(f"{role}.{output}"), role == "incoming" and output in set(edited)
            )
            for role, output, name, _ in _gradients(node, run)
        ),
        saved=tuple(
            Saved(*facts, looks[f"saved.{at}"])
            for at, facts in enumerate(
                (name, tuple(array.shape), str(array.dtype), memory_bytes(array), version, now, storage)
                for name, array, version, now, storage in node.saved_facts()
            )
        ),
        freed_by=places.place(node.freed.site) if node.freed is not None else None,
        hooks=tuple(_hooks(node)),
        neighbours=tuple(_neighbours(node, names, state_of)),
        contributions=contributions(node, names, run, consumers),
        badge=badge(leaf) if leaf is not None else "",
        note=_note(node),
    )


def input_detail(item: Input, array: Any, names: Names | None = None, start: Sequence[int] = ()) -> NodeDetail:
    """The document of a value that takes part without wanting a gradient; ``array`` is ``None`` once it is gone."""
    label = (names or Names()).of_array(array) if array is not None else ""
    return NodeDetail(
        schema=NODE,
        id=item.id,
        name="input",
        label=label,
        state="idle",
        module="",
        formula="",
        derivative="",
        derivative_shapes="",
        site=None,
        shape=tuple(item.array.shape),
        dtype=str(item.array.dtype),
        stride=(),
        value=preview(array, device=str(device_of(array)), start=_begin(array, start)) if array is not None else None,
        gradients=(),
        saved=(),
        freed_by=None,
        hooks=(),
        neighbours=(),
        contributions=(),
        badge="",
        note="It does not require grad, so no gradient is worked out for it.",
    )


def storage_detail(graph: Graph, number: int, array: Any, start: Sequence[int] = ()) -> NodeDetail:
    """The document of memory that is kept for backward; ``array`` is ``None`` once it is gone."""
    storages, keeps, strings = graph.storages, graph.keeps, graph.strings
    label = strings[storages.label[number]] if storages.label[number] >= 0 else ""
    times = sum(storage == number for storage in keeps.storage)
    holder = HOLDERS[storages.holder[number]]
    also = (
        "It goes when the graph goes." if storages.holder[number] == 0 else f"{holder.capitalize()} holds it as well."
    )
    note = f"{bytes_text(storages.bytes[number])}, kept {count_text(times, 'time')} and counted once. {also}"
    return NodeDetail(
        schema=NODE,
        id=FIRST_STORAGE - number,
        name="storage",
        label=label,
        state="idle",
        module="",
        formula="",
        derivative="",
        derivative_shapes="",
        site=None,
        shape=tuple(array.shape) if array is not None else (),
        dtype=strings[storages.dtype[number]],
        stride=tuple(step // array.itemsize for step in array.strides) if array is not None else (),
        value=preview(array, device=str(device_of(array)), start=_begin(array, start)) if array is not None else None,
        gradients=(),
        saved=(),
        freed_by=None,
        hooks=(),
        neighbours=(),
        contributions=(),
        badge="",
        note=note,
    )


def _state(node: Node) -> str:
    return "freed" if node.freed is not None else "idle"


def _begin(array: Any, start: Sequence[int]) -> Sequence[int]:
    """A wish that may be older than the array is passed over where it does not suit."""
    return start if len(start) == array.ndim else ()


def arrays(node: Node, run: Any = None, consumers: Iterable[Node] = ()) -> dict[str, Any]:
    """The arrays that can be looked at in a node, by name: ``value``, ``saved.0``, and gradients such as ``incoming.0``."""
    leaf = node.variable if type(node) is AccumulateGrad else None
    found = {"value": leaf._a if leaf is not None else _value(node, consumers)}
    found |= {f"{role}.{at}": gradient._a for role, at, _, gradient in _gradients(node, run) if gradient is not None}
    found |= {f"saved.{at}": array for at, (_, array, *_) in enumerate(node.saved_facts())}
    return {name: array for name, array in found.items() if array is not None}


def values(known: Mapping[str, Any], part: Any, start: Sequence[int], what: str) -> ArrayWindow:
    """A part of one of the arrays of a node. Raises ``Refused`` where there is no such array or element."""
    if part not in known:
        there = f"there are {', '.join(known)}" if known else "there are none"
        raise Refused(f"{what} has no array {part!r} now; {there}")
    try:
        return window(known[part], start)
    except ValueError as error:
        raise Refused(str(error)) from None


def _value(node: Node, consumers: Iterable[Node]) -> Any:
    """What a node made, if it or a node that used it has kept it as it was."""
    inputs = len(node.edges)
    if type(node.saved) is tuple and inputs < len(node.saved) and _unchanged(node.saved[inputs]):
        return node.saved[inputs][0]
    for consumer in consumers:
        if type(consumer.saved) is not tuple:
            continue
        for edge, saved in zip(consumer.edges, consumer.saved, strict=False):
            if edge is not None and edge[0] is node and edge[1] == 0 and _unchanged(saved):
                return saved[0]
    return None


def _unchanged(saved: Any) -> bool:
    return type(saved) is tuple and saved[1].version == saved[2]


def _derivative(node: Node) -> str:
    """One line for each gradient that the node works out."""
    if type(node) is AccumulateGrad:
        return "variable.grad += grad"
    return "\n".join(gradient_lines(node))


def _derivative_shapes(node: Node) -> str:
    """The shapes of what the derivative is made from, each with its name: ``grad [8, 5] · result [8, 5]``."""
    row = node.row
    if row is None or row.variadic:
        return ""
    known = {name: array.shape for name, array, *_ in node.saved_facts()}
    known |= {row.results[0]: node.meta[0][0], "grad": node.meta[0][0]}
    for name, edge in zip(row.params, node.edges, strict=False):
        if edge is not None:
            shape = edge[0].meta[edge[1]][0]
            known[name] = shape
    found = dict.fromkeys(word for word in re.findall(r"\w+", _derivative(node), re.ASCII) if word in known)
    return " · ".join(f"{word} {shape_text(known[word])}" for word in found)


def _gradients(node: Node, run: Any) -> Iterator[tuple[Role, int, str, Any]]:
    """What waits at the node or came to it, what it sent on, and what a leaf has gathered: role, place, name, gradient."""
    if run is not None:
        for output, gradient in enumerate(run.incoming(node) or ()):
            yield "incoming", output, "grad" if len(node.meta) == 1 else f"grad of {_result(node, output)}", gradient
        for slot, gradient in run.flow(node):
            yield "outgoing", slot, f"grad_{_parameter(node, slot)}", gradient
    if type(node) is AccumulateGrad and node.variable is not None and node.variable.grad is not None:
        yield "accumulated", 0, "grad", node.variable.grad


def _result(node: Node, output: int) -> str:
    results: Sequence[str] = node.row.results if node.row is not None else ()
    return results[output] if output < len(results) else f"output {output}"


def _parameter(node: Node, slot: int) -> str:
    params: Sequence[str] = node.row.params if node.row is not None and not node.row.variadic else ()
    return params[slot] if slot < len(params) else f"input {slot}"


def _hooks(node: Node) -> Iterable[str]:
    if node.hooks is not None:
        yield from node.hooks.names()
    if type(node) is AccumulateGrad:
        for hook in node.after.values():
            yield f"post-accumulate hook {name_of(hook)}"


def _neighbours(node: Node, names: Names, state_of: Callable[[Node], str]) -> Iterable[Neighbour]:
    for edge in node.edges:
        if edge is None:
            continue
        target, output = edge[:2]
        label = names.of_tensor(target.variable) if type(target) is AccumulateGrad else names.of_value(target, output)
        yield Neighbour(target.seq, target.name(), label, shape_text(target.meta[output][0]), state_of(target))


def _note(node: Node) -> str:
    """What is unusual here, in a sentence."""
    if node.freed is not None:
        place = places.words(places.place(node.freed.site))
        return (
            f"Its saved values were freed by a backward{f' in {place}' if place else ''}; a second one needs them kept."
        )
    changed = [name for name, _, version, now, _ in node.saved_facts() if version != now]
    if changed:
        return (
            f"'{changed[0]}' was written in place after it was saved, so backward will refuse to use it. "
            "Use the out-of-place form, or write to a clone()."
        )
    if type(node.saved) is tuple and any(type(value) is Packed for value in node.saved):
        return "Its saved values are in the care of saved_tensors_hooks."
    return ""
