"""Why a gradient is None: the shortest way from the tensor to the result, and where it is broken."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

from tensorlab.dispatch import edge_of
from tensorlab.engine import cuts
from tensorlab.engine.cuts import Cut
from tensorlab.engine.ledger import ledger_of
from tensorlab.engine.node import AccumulateGrad, Node
from tensorlab.observe.names import Names, caller_namespace
from tensorlab.observe.places import place, words
from tensorlab.observe.why.story import Link, Story
from tensorlab.observe.words import count_text, shape_text

HOW = {
    "detach": "detach() gives the values without their history",
    "detach_": "detach_() took the history away",
    "no_grad": "it was computed inside no_grad(), where nothing is recorded",
}
ADVICE = {
    "detach": "Leave the detach() (or .data) away, or use the tensor itself there.",
    "detach_": "Leave the detach_() away.",
    "no_grad": "Compute it outside of no_grad().",
}


def why_none(x: Any, loss: Any = None, names: Names | None = None) -> Story:
    """The story of ``x.grad``: why it is ``None``, or who added to it.

    With ``loss``, the path between the two is looked at: by which operations ``loss`` depends on ``x``, or where the path is cut.
    """
    names = names or Names(caller_namespace())
    name = names.of_tensor(x) or "the tensor"
    if x._grad is not None:
        return _told(x, name)
    if not (x.is_floating_point() or x.is_complex()):
        return Story(
            f"{name}.grad is None",
            f"{name} is {x.dtype.name}, and only floating-point and complex tensors carry gradients.",
            (Link("bad", name, f"{x.dtype.name} {shape_text(x.shape)}"),),
            fix="Make it floating-point before it is used, for example with .float(), and set requires_grad.",
        )
    before = cuts.cuts_of(x)
    if before:
        return _cut_off(x, name, before, names)
    if not x.requires_grad:
        return Story(
            f"{name}.grad is None",
            f"{name} does not require grad, so no operation on it is recorded.",
            (Link("bad", name, f"requires_grad=False · {shape_text(x.shape)}"),),
            fix=f"Set {name}.requires_grad_() before it is used, or make it with requires_grad=True.",
        )
    if x._edge is not None and not x.retains_grad:
        node = x._edge[0]
        return Story(
            f"{name}.grad is None",
            f"{name} is an intermediate value, made by {node.name()}: its gradient is passed on and not kept.",
            (*_ways_in(node, names), Link("bad", name, f"{node.name()}{_at(node.site)}")),
            fix=f"Call {name}.retain_grad() before backward(), or step through the pass with tensorlab.show.stepper(loss).",
        )
    if loss is not None:
        return _between(x, name, loss, names)
    return Story(
        f"{name}.grad is None",
        f"No backward pass has reached {name} yet (or its gradient was set to None since).",
        (Link("leaf", name, f"requires_grad=True · {shape_text(x.shape)}"),),
        fix=f"Call backward() on a result that depends on it. Say which, as in explain_grad({name}, loss), to see the way between them.",
    )


def _told(x: Any, name: str) -> Story:
    """The gradient is there: who added to it."""
    entries = ledger_of(x)
    facts = [
        (
            f"pass {entry.number}",
            f"backward() at {words(place(entry.site)) or 'an unknown place'}, {time.strftime('%H:%M:%S', time.localtime(entry.time))}",
        )
        for entry in entries
    ]
    places = [words(place(entry.site)) for entry in entries]
    again = next((p for p in places if p and places.count(p) > 1), "")
    sentence = (
        f"{name}.grad is there: {count_text(len(entries), 'contribution')}" if entries else f"{name}.grad is there"
    )
    if again:
        sentence += f", {places.count(again)} of them from {again}"
    elif not entries:
        sentence += (
            "; who added to it was not noted (passes are noted in notebooks, and inside tensorlab.modes.watch_sites())"
        )
    fix = ""
    if len(entries) > 1:
        fix = (
            "Gradients add up from pass to pass. Clear them between passes with optimizer.zero_grad() or x.grad = None."
        )
    return Story(f"{name}.grad", f"{sentence}.", (), tuple(facts), fix, found=len(entries) > 1)


def _cut_off(x: Any, name: str, before: tuple[Cut, ...], names: Names) -> Story:
    """The tensor itself was cut off from what it was computed from."""
    first = before[0]
    how = HOW.get(first.how, f"{first.how}() has no gradient")
    return Story(
        f"{name}.grad is None",
        f"{name} has no history: {how}{_where(first.site)}.",
        (*_source(first, names), Link("cut", _call(first), words(place(first.site))), Link("bad", name, "no history")),
        fix=ADVICE.get(first.how, f"Use an operation that has a gradient in place of {first.how}()."),
    )


def _between(x: Any, name: str, loss: Any, names: Names) -> Story:
    """What lies between a leaf and a result."""
    result = names.of_tensor(loss) or "the result"
    target = edge_of(x)
    start = edge_of(loss) if loss._live else None
    title = f"{name}.grad is None"
    if target is None:
        return Story(title, f"{name} takes no part in any graph.")
    if start is not None:
        way = _path(start[0], lambda node: node is target[0])
        if way is not None:
            chain = _chain(x, name, way, result, names)
            if any(node.freed is not None for node in way):
                return Story(
                    title, f"{result} depends on {name}, and its graph has been freed; .grad was cleared since.", chain
                )
            return Story(
                title,
                f"{result} depends on {name} by {count_text(len(way) - 1, 'operation')}, and backward() has not been run from it.",
                chain,
                fix=f"Call {result}.backward().",
            )
    broken = _broken(target[0], loss, start)
    if broken is not None:
        cut, upper, lower = broken
        how = HOW.get(cut.how, f"{cut.how}() has no gradient")
        chain = (
            Link("leaf", name, shape_text(x.shape)),
            *_down_to(cut, lower, names),
            Link("cut", _call(cut), words(place(cut.site))),
            *_operations(reversed(upper[1:]), names),
            Link("result", result, _made(loss)),
        )
        return Story(
            title,
            f"The way from {name} to {result} is cut by {_call(cut)}{_where(cut.site)}: {how}.",
            chain,
            fix=ADVICE.get(cut.how, f"Use an operation that has a gradient in place of {cut.how}()."),
        )
    chain = (
        Link("leaf", name, shape_text(x.shape)),
        Link("gap", "no path"),
        Link("result", result, shape_text(loss.shape)),
    )
    if start is None:
        return Story(
            title,
            f"{result} has no history at all, so nothing depends on {name}.",
            chain,
            fix="Compute it from tensors that require grad.",
        )
    return Story(
        title,
        f"{result} does not depend on {name}: no operation on the way to it used {name}, as far as was recorded.",
        chain,
        fix="Look for a copy through NumPy, item() or tolist(), a tensor made anew, or another tensor of the same name.",
    )


# ------------------------------------------------------------------------------------------------------------ the way


def _path(start: Node, wanted: Any) -> list[Node] | None:
    """The shortest way from a node back to a wanted one, both included."""
    came: dict[Node, Node | None] = {start: None}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        if wanted(node):
            way: list[Node] = []
            at: Node | None = node
            while at is not None:
                way.append(at)
                at = came[at]
            return way[::-1]
        for edge in node.edges:
            if edge is not None and edge[0] not in came:
                came[edge[0]] = node
                queue.append(edge[0])
    return None


def _broken(target: Node, loss: Any, start: Any) -> tuple[Cut, list[Node], list[Node]] | None:
    """A cut with the leaf on its far side: the cut, the nodes from the result down to it, and those from it to the leaf."""
    best = None
    candidates: list[tuple[tuple[Cut, ...], list[Node]]] = [(cuts.cuts_of(loss), [])]
    if start is not None:
        for node, found in list(cuts.entered.items()):
            upper = _path(start[0], lambda n, node=node: n is node)
            if upper is not None:
                candidates += [(group, upper) for _, group in found]
    for group, upper in candidates:
        for cut in group:
            lower = _path(cut.node, lambda n: n is target) if cut.node is not None else None
            if lower is None and cut.leads_to(target):
                lower = []  # the graph between them is gone
            if lower is not None and (best is None or len(upper) + len(lower) < len(best[1]) + len(best[2])):
                best = (cut, upper, lower)
    return best


def _down_to(cut: Cut, lower: list[Node], names: Names) -> tuple[Link, ...]:
    """The stops from the leaf to the cut. Of a graph that is gone the last one is remembered."""
    if lower:
        return _operations(reversed(lower[:-1]), names)
    return (Link("operation", cut.name, f"its graph is gone{_at(cut.made)}"),)


def _chain(x: Any, name: str, way: list[Node], result: str, names: Names) -> tuple[Link, ...]:
    nodes = [node for node in reversed(way) if type(node) is not AccumulateGrad]
    last = _operations(nodes[:-1], names) if nodes else ()
    made = f"{nodes[-1].name()}{_at(nodes[-1].site)}" if nodes else ""
    return (Link("leaf", name, shape_text(x.shape)), *last, Link("result", result, made))


def _operations(nodes: Any, names: Names) -> tuple[Link, ...]:
    """Links for nodes; of a long way the beginning and the end."""
    links = [_operation(node, names) for node in nodes if type(node) is not AccumulateGrad]
    if len(links) > 8:
        links = [*links[:4], Link("gap", f"{len(links) - 7} operations"), *links[-3:]]
    return tuple(links)


def _operation(node: Node, names: Names) -> Link:
    name = names.of_value(node, 0)
    if name:
        return Link("operation", name, f"{node.name()}{_at(node.site)}")
    return Link("operation", node.name(), words(place(node.site)))


def _ways_in(node: Node, names: Names) -> tuple[Link, ...]:
    leaves = [edge[2] for edge in node.edges if edge is not None and len(edge) == 3]
    return (Link("leaf", names.of_tensor(leaves[0]) or "a leaf", shape_text(leaves[0].shape)),) if leaves else ()


def _source(cut: Cut, names: Names) -> tuple[Link, ...]:
    node = cut.node
    if node is None:
        return (Link("operation", cut.name, f"its graph is gone{_at(cut.made)}"),)
    if type(node) is AccumulateGrad:
        leaf = node.variable
        return (Link("leaf", names.of_tensor(leaf) or "a leaf", shape_text(cut.shape)),)
    return (_operation(node, names),)


def _made(x: Any) -> str:
    """What made a tensor, and its shape."""
    node = x._edge[0] if x._edge is not None else None
    return f"{node.name()}{_at(node.site)} · {shape_text(x.shape)}" if node is not None else shape_text(x.shape)


def _call(cut: Cut) -> str:
    return "no_grad()" if cut.how == "no_grad" else f"{cut.how}()"


def _at(site: Any) -> str:
    said = words(place(site))
    return f" · {said}" if said else ""


def _where(site: Any) -> str:
    found = place(site)
    return f" ({words(found)}: {found.code})" if found is not None else ""
