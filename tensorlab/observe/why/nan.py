"""Where the first value that is not finite came from: in the order of the forward pass, with the inputs that made it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import numpy as np

from tensorlab import backend, layout, modes, taps
from tensorlab.dispatch import edge_of
from tensorlab.engine import sites
from tensorlab.engine.node import AccumulateGrad, Node
from tensorlab.engine.run import BackwardRun
from tensorlab.observe.names import Names, caller_namespace
from tensorlab.observe.places import place, words
from tensorlab.observe.why.story import Link, Story
from tensorlab.observe.words import number_text, shape_text

#: Inputs that are finite and still give something that is not, by row: what happened there.
REASONS = {
    "log": "the logarithm of 0 is minus infinity, of a negative number NaN",
    "log2": "the logarithm of 0 is minus infinity, of a negative number NaN",
    "log10": "the logarithm of 0 is minus infinity, of a negative number NaN",
    "log1p": "the logarithm of a number below -1 is NaN",
    "sqrt": "a negative number has no real square root",
    "rsqrt": "1 divided by the root of 0 is infinite; a negative number has no real root",
    "div": "a division by 0",
    "reciprocal": "a division by 0",
    "pow": "a negative base with a fractional exponent is NaN; a large power overflows",
    "exp": "the exponential of a large number overflows",
    "acos": "the arc cosine is defined between -1 and 1",
    "asin": "the arc sine is defined between -1 and 1",
}
FIXES = {
    "log": "Keep the argument away from 0, with clamp(min=1e-8), or use log_softmax, logsumexp or log1p.",
    "sqrt": "Keep the argument from 0, with clamp(min=1e-12), or add a small number under the root.",
    "div": "Keep the divisor from 0, with clamp(min=...) or by adding a small number; where(...) alone does not protect gradients.",
    "exp": "Subtract the maximum first, or use softmax, log_softmax or logsumexp, which do.",
}


def why_nan(subject: Any, names: Names | None = None) -> Story:
    """The first value that is NaN or infinite, in forward order, and the call that made it of finite inputs.

    ``subject`` is a result (its graph is looked through: what the nodes kept, and what can be computed again from it; where all
    values are finite, its backward pass), or a function without arguments, which is run once with every operation watched.
    """
    names = names or Names(caller_namespace())
    if callable(subject) and not hasattr(subject, "_a"):
        return _while_running(subject, names)
    story = _in_graph(subject, names)
    return story if story is not None else _in_backward(subject, names)


# ------------------------------------------------------------------------------------------------------- running it


class _Found(Exception):
    def __init__(self, story: Story) -> None:
        self.story = story


def _while_running(function: Callable[[], Any], names: Names) -> Story:
    """Run a function, and stop at the first operation that makes something that is not finite of finite inputs."""
    seen = 0

    def look(row: Any, inputs: Sequence[Any], attrs: dict[str, Any], outs: Sequence[Any]) -> None:
        nonlocal seen
        seen += 1
        for out in outs:
            if _bad(out._a):
                arrays = [None if x is None else getattr(x, "_a", x) for x in inputs]
                raise _Found(_story(row, arrays, out._a, sites.here(2), names, seen))

    modes.watch_sites(True)
    undo = taps.watch_ops(look)
    try:
        result = function()
    except _Found as found:
        return found.story
    finally:
        undo()
        modes.watch_sites(False)
    if hasattr(result, "_a") and result.requires_grad:
        return _in_backward(result, names)
    return Story(
        "all values are finite", f"None of the {seen:,} operations made anything that is not finite.", found=False
    )


# ------------------------------------------------------------------------------------------------------ in a graph


def _in_graph(result: Any, names: Names) -> Story | None:
    """The first node, oldest first, whose value is known not to be finite."""
    edge = edge_of(result) if result._live else None
    if edge is None:
        name = names.of_tensor(result) or "the result"
        if _bad(result._a):
            return Story(
                f"{name} is not finite",
                f"{name} has no history to look through.",
                (Link("bad", name, _where_bad(result._a)),),
                fix="Give the code that computes it: why_nan(lambda: ...).",
            )
        return Story(f"{name} is finite", f"{name} is finite and has no history.", found=False)
    nodes = _nodes(edge[0])
    values: dict[tuple[Node, int], Any] = {(edge[0], edge[1]): result._a}
    for node in nodes:
        if type(node) is AccumulateGrad:
            values[node, 0] = node.variable._a if node.variable is not None else None
        _take_saved(node, values)
    for number, node in enumerate(nodes, 1):
        inputs = None if type(node) is AccumulateGrad else _inputs(node, values)
        if (node, 0) not in values and inputs is not None:
            _compute_again(node, inputs, values)
        for output in range(len(node.outs) // 2):
            a = values.get((node, output))
            if a is not None and _bad(a):
                if type(node) is AccumulateGrad:
                    return _bad_leaf(node, names)
                return _story(node.row, inputs or [], a, node.site, names, number, node)
    if _bad(result._a):
        return Story(
            "not finite",
            "The graph no longer holds the values that tell where it began.",
            fix="Run it watched: why_nan(lambda: ...).",
        )
    return None


def _nodes(start: Node) -> list[Node]:
    """All nodes of a graph, leaves first, then oldest first."""
    seen, stack = {start}, [start]
    while stack:
        for edge in stack.pop().edges:
            if edge is not None and edge[0] not in seen:
                seen.add(edge[0])
                stack.append(edge[0])
    return sorted(seen, key=lambda node: (type(node) is not AccumulateGrad, node.seq))


def _take_saved(node: Node, values: dict[tuple[Node, int], Any]) -> None:
    """Enter what a node kept: values of the nodes before it, and its own."""
    if node.row is None or node.row.variadic or not node.saved or node.freed is not None:
        return
    count = len(node.row.params)
    for i, kept in enumerate(node.saved):
        if type(kept) is not tuple or kept[1].version != kept[2]:
            continue
        if i >= count:
            values[node, i - count] = kept[0]
        elif i < len(node.edges) and (edge := node.edges[i]) is not None:
            values.setdefault((edge[0], edge[1]), kept[0])


def _inputs(node: Node, values: dict[tuple[Node, int], Any]) -> list[Any] | None:
    """The arrays that a node was computed from, ``None`` for those that are not known."""
    found: list[Any] = []
    kept = node.saved if node.saved and node.freed is None and type(node.saved) is tuple else ()
    for i, edge in enumerate(node.edges):
        saved = kept[i] if i < len(kept) and type(kept[i]) is tuple else None
        if saved is not None:
            found.append(saved[0] if saved[1].version == saved[2] else None)
        else:
            found.append(values.get((edge[0], edge[1])) if edge is not None else None)
    return found


def _compute_again(node: Node, inputs: list[Any], values: dict[tuple[Node, int], Any]) -> None:
    """Work out what a node made from what it was made of, where the row needs nothing else."""
    row = node.row
    if row is None or row.variadic or any(a is None for a in inputs):
        return
    try:
        with np.errstate(all="ignore"), backend.of(inputs[0]).on(inputs[0]):
            if row.view is not None:
                made = _seen_again(row, inputs[0], node.attrs or {})
            else:
                made = row.forward(backend.namespace(inputs[0]), *inputs, **(node.attrs or {}))
    except Exception:  # a value that was optional, or an attribute that only the call knew
        return
    for output, a in enumerate(made if isinstance(made, tuple) else (made,)):
        values[node, output] = np.asarray(a) if isinstance(a, np.generic) else a


def _seen_again(row: Any, a: Any, attrs: dict[str, Any]) -> Any:
    """What a view shows of a row-major copy of its base."""
    a = backend.namespace(a).ascontiguousarray(a)
    found = row.view(
        layout.Layout(a.shape, layout.contiguous_strides(a.shape)),
        **{k: v for k, v in attrs.items() if k != "base_layout"},
    )
    made = [
        backend.of(a).strided(
            a.reshape(-1), at.shape, [s * a.itemsize for s in at.strides], at.offset * a.itemsize, a.dtype
        )
        for at in (found if isinstance(found, list) else [found])
    ]
    return tuple(made)


# ------------------------------------------------------------------------------------------------------ in backward


def _in_backward(result: Any, names: Names) -> Story:
    """The first node that turns finite gradients into others. The pass fills no ``.grad`` and keeps the graph."""
    name = names.of_tensor(result) or "the result"
    if not result.requires_grad:
        return Story(f"{name} is finite", f"{name} and everything it was computed from is finite.", found=False)
    found: list[tuple[Node, int, Any]] = []

    def look(node: Node, incoming: Any, outgoing: Sequence[Any]) -> None:
        for i, g in enumerate(outgoing):
            if not found and g is not None and _bad(g._a) and not any(h is not None and _bad(h._a) for h in incoming):
                found.append((node, i, g._a))

    undo = taps.watch_steps(look)
    run = BackwardRun(
        [result], [None if result.numel() == 1 else result.new_ones(result.shape)], retain_graph=True, accumulate=False
    )
    try:
        run.run(until=lambda run, node: bool(found))
    except RuntimeError as error:
        return Story(
            f"{name} is finite", f"{name} is finite; its backward pass could not be looked at: {error}", found=False
        )
    finally:
        undo()
        run.close()
    if not found:
        return Story(
            f"{name} is finite",
            f"All values on the way to {name}, and all gradients on the way back, are finite.",
            found=False,
        )
    node, i, a = found[0]
    said = words(place(node.site))
    which = node.row.params[i] if node.row is not None and i < len(node.row.params) else f"input {i}"
    formula = node.row.derivatives.get(which, "") if node.row is not None else ""
    return Story(
        f"the gradient of {name} is not finite",
        f"{name} is finite, but in its backward pass {node.name()}{f' ({said})' if said else ''} makes {_where_bad(a)} of a finite "
        "gradient.",
        (Link("result", name), Link("bad", node.name(), said), Link("gap", "everything before it")),
        tuple(
            filter(
                lambda fact: fact[1],
                (("formula", f"gradient for {which} = {formula}" if formula else ""), ("first at", _where_bad(a))),
            )
        ),
        "Keep the value away from where the slope is infinite (0 for sqrt, log and norms), with clamp or a small number added.",
    )


# ------------------------------------------------------------------------------------------------------ in words


def _bad(a: Any) -> bool:
    """Whether an array holds NaN or an infinity. One pass as a rule: a sum of finite numbers is nearly always finite."""
    if type(a) is np.ndarray and a.dtype.kind == "f":
        return not isfinite(np.add.reduce(a, axis=None)) and not bool(np.isfinite(a).all())
    kind = getattr(getattr(a, "dtype", None), "kind", "")
    if kind not in ("f", "c", "V"):
        return False
    with backend.of(a).on(a):
        return not bool(backend.namespace(a).isfinite(a.astype(np.float32) if kind == "V" else a).all())


def _first_bad(a: Any) -> tuple[tuple[int, ...], float]:
    host = backend.to_host(a)
    host = host.astype(np.float32) if host.dtype.kind == "V" else host
    at = tuple(int(i) for i in np.argwhere(~np.isfinite(host))[0]) if host.ndim else ()
    value = host[at]
    return at, float(value.real if np.iscomplexobj(value) and not np.isfinite(value.real) else np.real(value))


def _where_bad(a: Any) -> str:
    at, value = _first_bad(a)
    return f"{number_text(value)} at {list(at)}" if at else number_text(value)


def _bad_leaf(node: Any, names: Names) -> Story:
    leaf = node.variable
    name = names.of_tensor(leaf) or "a leaf"
    return Story(
        f"{name} is not finite",
        f"{name} holds {_where_bad(leaf._a)}: it was not finite before any operation ran.",
        (Link("bad", name, _where_bad(leaf._a)),),
        fix="Look at the data, or at the update before: a step with an infinite gradient does this (clip gradients, lower the rate).",
    )


def _story(
    row: Any, inputs: Sequence[Any], out: Any, site: Any, names: Names, number: int, node: Node | None = None
) -> Story:
    """The operation that made the first bad value."""
    at, value = _first_bad(out)
    found = place(site)
    op = node.name() if node is not None else row.name
    call = row.name if row is not None else op
    facts = [("made by", f"{op}{f', {words(found)}: {found.code}' if found is not None else ''}")]
    params = row.params if row is not None and not row.variadic else [f"input {i}" for i in range(len(inputs))]
    finite = True
    for name, a in zip(params, inputs, strict=False):
        if a is None or not hasattr(a, "shape"):
            continue
        finite = finite and not _bad(a)
        facts.append((name, f"{shape_text(a.shape)} {_at(a, at, out)}"))
    what = number_text(value)
    where = f" at {list(at)}" if at else ""
    reason = REASONS.get(call, "")
    said = f" of finite inputs: {reason}" if finite and reason else " of finite inputs" if finite else ""
    line = f" in {words(found)}" if found is not None else ""
    return Story(
        f"{what} first appears in {call}()",
        f"The first value that is not finite is {what}{where}, made by {call}(){line}{said}.",
        (*_given(node, names), Link("bad", call + "()", f"{what}{where}"), Link("gap", "everything after it")),
        tuple(facts),
        FIXES.get(call, ""),
    )


def _given(node: Node | None, names: Names) -> tuple[Link, ...]:
    if node is None:
        return ()
    links = []
    for edge in node.edges:
        if edge is not None:
            leaf = edge[2] if len(edge) == 3 else None
            label = names.of_tensor(leaf) if leaf is not None else names.of_value(edge[0], edge[1])
            links.append(Link("leaf" if leaf is not None else "operation", label or edge[0].name()))
    return tuple(links[:3])


def _at(a: Any, at: tuple[int, ...], out: Any) -> str:
    """The element of an input that went into the bad one, for what works element by element; else its range."""
    host = backend.to_host(a)
    try:
        if layout.broadcast_shapes(tuple(host.shape), tuple(out.shape)) == tuple(out.shape):
            value = np.broadcast_to(host, out.shape)[at]
            return f"{value:.6g} at {list(at)}" if at else f"{value:.6g}"
    except (RuntimeError, TypeError, ValueError):
        pass
    if host.size and host.dtype.kind in "fiu":
        return f"from {number_text(float(host.min()))} to {number_text(float(host.max()))}"
    return ""
