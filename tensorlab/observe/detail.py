"""Everything an inspector shows of one node, made when it is opened and not before."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tensorlab.dispatch import device_of
from tensorlab.engine.hooks import name_of
from tensorlab.engine.node import AccumulateGrad, Node, Packed
from tensorlab.observe import places
from tensorlab.observe.names import Names
from tensorlab.observe.preview import preview
from tensorlab.observe.schema import NODE, ArrayPreview, GradientSlot, Neighbour, NodeDetail, Saved
from tensorlab.observe.snapshot import Input, memory_bytes
from tensorlab.observe.telling import gradient_lines
from tensorlab.observe.words import shape_text


def detail(
    node: Node,
    names: Names | None = None,
    *,
    run: Any = None,
    state_of: Callable[[Node], str] | None = None,
    edited: Iterable[int] = (),
    consumers: Iterable[Node] = (),
) -> NodeDetail:
    """The document of one node.

    ``run`` is the backward pass that stands somewhere in its graph, ``state_of`` tells where it stands at a node,
    ``edited`` the outputs whose waiting gradient a person changed, ``consumers`` the nodes that took what this node
    made: they may have saved it.
    """
    names = names or Names()
    leaf = node.variable if type(node) is AccumulateGrad else None
    value = leaf._a if leaf is not None else _value(node, consumers)
    shape, dtype = node.meta[0]
    label = names.of_tensor(leaf) if leaf is not None else names.of_value(node, 0)
    state_of = state_of or _state
    return NodeDetail(
        schema=NODE,
        id=node.seq,
        name=node.name(),
        label=label,
        state=state_of(node),
        module=names.module_path(node.scope or ()),
        formula=node.row.formula if node.row is not None else "",
        derivative=_derivative(node),
        derivative_shapes=_derivative_shapes(node),
        site=places.place(node.site),
        shape=tuple(shape),
        dtype=str(dtype),
        stride=tuple(step // value.itemsize for step in value.strides) if value is not None else (),
        value=_preview(value),
        gradients=tuple(_gradients(node, run, set(edited))),
        saved=tuple(_saved(node)),
        freed_by=places.place(node.freed.site) if node.freed is not None else None,
        hooks=tuple(_hooks(node)),
        neighbours=tuple(_neighbours(node, names, state_of)),
        note=_note(node),
    )


def input_detail(item: Input, array: Any, names: Names | None = None) -> NodeDetail:
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
        value=_preview(array),
        gradients=(),
        saved=(),
        freed_by=None,
        hooks=(),
        neighbours=(),
        note="It does not require grad, so no gradient is worked out for it.",
    )


def _state(node: Node) -> str:
    return "freed" if node.freed is not None else "idle"


def _preview(array: Any) -> ArrayPreview | None:
    return preview(array, device=str(device_of(array))) if array is not None else None


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
    """The shapes of what stands in the first line of the derivative, in the order in which it stands there."""
    row = node.row
    if row is None or row.variadic:
        return ""
    known = {name: array.shape for name, array, *_ in node.saved_facts()}
    known |= {row.results[0]: node.meta[0][0], "grad": node.meta[0][0]}
    for name, edge in zip(row.params, node.edges, strict=False):
        if edge is not None:
            shape = edge[0].meta[edge[1]][0]
            known |= {name: shape, f"grad_{name}": shape}
    line = _derivative(node).partition("\n")[0]
    found = [word for word in re.findall(r"\w+", line, re.ASCII) if word in known]
    return "   ".join(shape_text(known[word]) for word in found)


def _gradients(node: Node, run: Any, edited: set[int]) -> Iterable[GradientSlot]:
    """What waits at the node or came to it, what it sent on, and what a leaf has gathered."""
    if run is not None:
        for output, gradient in enumerate(run.incoming(node) or ()):
            name = "grad" if len(node.meta) == 1 else f"grad of {_result(node, output)}"
            yield GradientSlot(output, "incoming", name, _of(gradient), output in edited)
        for slot, gradient in run.flow(node):
            yield GradientSlot(slot, "outgoing", f"grad_{_parameter(node, slot)}", _of(gradient), False)
    if type(node) is AccumulateGrad and node.variable is not None and node.variable.grad is not None:
        yield GradientSlot(0, "accumulated", "grad", _of(node.variable.grad), False)


def _of(gradient: Any) -> ArrayPreview | None:
    return _preview(gradient._a) if gradient is not None else None


def _result(node: Node, output: int) -> str:
    results: Sequence[str] = node.row.results if node.row is not None else ()
    return results[output] if output < len(results) else f"output {output}"


def _parameter(node: Node, slot: int) -> str:
    params: Sequence[str] = node.row.params if node.row is not None and not node.row.variadic else ()
    return params[slot] if slot < len(params) else f"input {slot}"


def _saved(node: Node) -> Iterable[Saved]:
    for name, array, version, now, storage in node.saved_facts():
        yield Saved(
            name, tuple(array.shape), str(array.dtype), memory_bytes(array), version, now, storage, _preview(array)
        )


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
