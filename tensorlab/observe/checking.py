"""One node's backward beside finite differences of its forward.

The forward is run again at the values that the node saw, in float64, with one element of one input moved a little up and a little
down. Where a value was kept by nobody and cannot be worked out, drawn numbers stand in for it: then the formula is checked, not the
point, and the sentence says so. What cannot be checked at all is said to be so, with the reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorlab import backend, modes, viewing
from tensorlab.autograd.function import Context, Function, FunctionNode
from tensorlab.backend import to_host
from tensorlab.dispatch import call, wrap
from tensorlab.engine.node import AccumulateGrad, Node
from tensorlab.observe.recompute import UNKNOWN, Consumers, Values, forward_of
from tensorlab.observe.schema_asking import Check, CheckedInput
from tensorlab.observe.words import count_text, number_text, shape_text
from tensorlab.tensor import Tensor

#: Elements of one input that are moved, and seconds that a check may take.
MOST_ELEMENTS, PATIENCE = 64, 3.0
#: How much of the largest entry an error may be, by the size of a number in the graph.
TOLERANCE = {2: 5e-2, 4: 2e-3, 8: 1e-5}

#: Rows that read one triangle of a symmetric matrix, and give both their part of its gradient.
ONE_TRIANGLE = frozenset({"linalg_cholesky_ex", "linalg_eigh", "linalg_eigvalsh"})

Forward = Callable[..., tuple[Any, ...]]


class Impossible(Exception):
    """Why a node cannot be checked, in a sentence."""


@dataclass
class Subject:
    """What is checked: a forward at some inputs (``None`` for one that is no array), and the node whose backward belongs to it."""

    node: Node
    forward: Forward
    inputs: list[Any]
    outputs: frozenset[int]  # those that a gradient can come from
    drawn: bool = False  # inputs were drawn, and nothing of them matters to the formulas
    elsewhere: bool = False  # the node is another one, at drawn inputs


def check(node: Node, consumers: Consumers, name: str) -> Check:
    """Compare the gradients that a node works out with finite differences. ``name`` is what the node is called."""
    try:
        subject = _subject(node, consumers)
        with modes.no_grad():
            rows = _compared(subject)
    except Impossible as why:
        return Check(node.seq, name, False, False, (), f"{name} was not checked: {why}")
    return Check(node.seq, name, True, all(row.agrees for row in rows), tuple(rows), _sentence(name, subject, rows))


def _sentence(name: str, subject: Subject, rows: Sequence[CheckedInput]) -> str:
    worst = max(rows, key=lambda row: row.relative)
    wrong = [row.name for row in rows if not row.agrees]
    size = f"the largest error is {number_text(worst.relative)} of the largest entry, in {worst.name}{worst.index}"
    if wrong:
        said = f"The backward of {name} disagrees with its forward for {', '.join(wrong)}: {size}."
    else:
        said = f"The backward of {name} agrees with finite differences of its forward: {size}."
    if subject.elsewhere:
        return (
            said
            + " Its inputs were not kept, so both were worked out at drawn values: the formula was checked, not this point."
        )
    if subject.drawn:
        return said + " Its formulas use no values, so drawn ones stood in for inputs that were not kept."
    if isinstance(subject.node, FunctionNode):
        return said + " Its forward ran again for this."
    return said


# ---- what is compared ------------------------------------------------------------------------------------------------


def _subject(node: Node, consumers: Consumers) -> Subject:
    if type(node) is AccumulateGrad:
        raise Impossible("it works out no gradient, it adds what arrives to .grad of its leaf.")
    if node.freed is not None:
        raise Impossible(
            "its saved values were freed by a backward. Compute the result anew, and check before that runs."
        )
    if any(dtype is not None and dtype.kind == "c" for _, dtype in node.meta):
        raise Impossible("it works on complex numbers, which are not checked node by node; use autograd.gradcheck.")
    if isinstance(node, FunctionNode):
        return _of_function(node, Values(consumers), _used(node, consumers))
    forward = forward_of(node)
    if forward is None:
        raise Impossible(
            "its forward cannot be run on its own: it stands for a write to a view, or for another type of the same memory."
        )
    if node.row.name in ONE_TRIANGLE:
        forward = _of_both_triangles(forward)
    values = Values(consumers)
    inputs = [values.input(node, index) for index in range(len(node.edges))]
    left_out = [index for index, value in enumerate(inputs) if value is UNKNOWN and node.edges[index] is None]
    for index in left_out:
        inputs[index] = _absent(node)
    missing = [index for index, value in enumerate(inputs) if value is UNKNOWN]
    outputs = _used(node, consumers)
    subject = _drawn(node, forward, inputs, missing, outputs) if missing else Subject(node, forward, inputs, outputs)
    if left_out:
        try:
            _run(forward, subject.inputs)
        except Impossible:
            raise Impossible(f"{_called(node, left_out[0])[5:]} needs no gradient, so nobody kept it.") from None
    return subject


def _used(node: Node, consumers: Consumers) -> frozenset[int]:
    """The outputs that something was computed from. Others, such as statistics that a node only keeps, may have no gradient."""
    found = {edge[1] for consumer in consumers(node) for edge in consumer.edges if edge is not None and edge[0] is node}
    return frozenset(found or {0})


def _of_both_triangles(forward: Forward) -> Forward:
    """A forward that reads one triangle of a symmetric matrix, as a function of both: so its gradient is defined."""
    return lambda x, *others: forward((x + x.swapaxes(-1, -2)) / 2, *others)


def _absent(node: Node) -> Any:
    """An input that no gradient goes to and no formula needs: it may be anything of the result's shape, or it was left out."""
    if node.row.promotes and len(node.row.params) == 2 and type(_some(node)) is np.ndarray:
        return np.full(node.outs[0], 0.5, node.outs[1])
    return None


def _some(node: Node) -> Any:
    """An array that says on which device a node lives; one on the host where nothing is known."""
    facts = node.saved_facts()
    return facts[0][1] if facts else np.empty(0)


def _drawn(node: Node, forward: Forward, inputs: list[Any], missing: Sequence[int], outputs: frozenset[int]) -> Subject:
    """A node whose inputs are not all known, at drawn ones. Where its formulas use values it has to be made anew there."""
    random = np.random.default_rng(node.seq)
    for index in missing:
        edge = node.edges[index]
        assert edge is not None
        shape, dtype = edge[0].outs[2 * edge[1]], edge[0].outs[2 * edge[1] + 1]
        inputs[index] = np.asarray(random.uniform(0.25, 0.75, shape), dtype)
    if type(node.saved) is tuple and all(value is None for value in node.saved):
        return Subject(node, forward, inputs, outputs, drawn=True)
    if not all(value is None or type(value) is np.ndarray for value in inputs):
        raise Impossible("its inputs were not kept, and it lives on another device than the host.")
    return Subject(_made_anew(node, inputs), forward, inputs, outputs, elsewhere=True)


def _made_anew(node: Node, inputs: Sequence[Any]) -> Node:
    """The node that the same operation leaves at other inputs."""
    tensors = [None if value is None else wrap(value) for value in inputs]
    for tensor, edge in zip(tensors, node.edges, strict=True):
        if tensor is not None and edge is not None:
            tensor.requires_grad_()
    attrs = dict(node.attrs or {})
    try:
        with modes.enable_grad():
            if node.row.view is not None:
                attrs.pop("base_layout", None)
                made = viewing.view(node.row, tensors[0], **attrs)
            else:
                made = call(node.row, tensors, **attrs)
    except Exception as error:
        raise Impossible(
            f"its inputs were not kept, and at drawn ones it raises {type(error).__name__}: {error}"
        ) from None
    return (made[0] if isinstance(made, tuple) else made)._edge[0]


# ---- functions that people wrote -------------------------------------------------------------------------------------


def _of_function(node: FunctionNode, values: Values, outputs: frozenset[int]) -> Subject:
    function: type[Function] = node.function
    random = np.random.default_rng(node.seq)
    arguments, drawn = [], False
    for index, edge in enumerate(node.edges):
        found = _argument(node, index, values)
        if found is UNKNOWN:
            shape, dtype = edge[0].outs[2 * edge[1]], edge[0].outs[2 * edge[1] + 1]  # type: ignore[index]
            found, drawn = np.asarray(random.uniform(0.25, 0.75, shape), dtype), True
        arguments.append(found)
    tensors = [value if node.tensors[index] else None for index, value in enumerate(arguments)]

    def given(arrays: Sequence[Any]) -> list[Any]:
        return [other if a is None else wrap(a.copy()) for a, other in zip(arrays, arguments, strict=True)]

    def forward(*arrays: Any) -> tuple[Any, ...]:
        own = function.setup_context is not Function.setup_context
        context = Context()
        context.needs_input_grad = tuple(edge is not None for edge in node.edges)
        found = function.forward(*given(arrays)) if own else function.forward(context, *given(arrays))
        outputs = found if isinstance(found, tuple) else (found,)
        return tuple(each._a if isinstance(each, Tensor) else None for each in outputs)

    if not drawn:
        return Subject(node, forward, tensors, outputs)
    return Subject(_applied(node, given(tensors)), forward, tensors, outputs, elsewhere=True)


def _applied(node: FunctionNode, arguments: Sequence[Any]) -> Node:
    """The node that the same function leaves at other arguments."""
    for value, edge in zip(arguments, node.edges, strict=True):
        if edge is not None:
            value.requires_grad_()
    try:
        with modes.enable_grad():
            made = node.function.apply(*arguments)
        return next(each._edge[0] for each in (made if isinstance(made, tuple) else (made,)) if each._edge is not None)
    except Exception as error:
        raise Impossible(
            f"an argument was not kept, and at drawn ones it raises {type(error).__name__}: {error}"
        ) from None


def _argument(node: FunctionNode, index: int, values: Values) -> Any:
    """What a Function was called with: an array for a tensor, else the value itself; ``UNKNOWN`` for a tensor that can be drawn."""
    found = node.argument(index)
    if found is not node.LOST:
        return found
    if node.edges[index] is not None:
        return values.input(node, index)
    what = "a tensor that is gone or was written to since" if node.tensors[index] else "a value that was not kept"
    raise Impossible(
        f"argument {index} of its forward is {what}. Save it with ctx.save_for_backward, or keep a name for it."
    )


# ---- comparing -------------------------------------------------------------------------------------------------------


def _compared(subject: Subject) -> list[CheckedInput]:
    node, inputs = subject.node, subject.inputs
    wanted = [
        index
        for index, edge in enumerate(node.edges)
        if edge is not None and inputs[index] is not None and inputs[index].dtype.kind in "fV"
    ]
    if not wanted:
        raise Impossible("no gradient of a real tensor goes out of it.")
    wide = [None if x is None else _wide(x) for x in inputs]
    results = _run(subject.forward, wide)
    again = _run(subject.forward, wide)
    if not all(_same(a, b) for a, b in zip(results, again, strict=True)):
        raise Impossible("its forward gives another result each time, as drawn numbers do.")
    weights = _weights(subject, results)
    found = _backward(node, weights)
    # A forward that rounds to fewer digits needs a wider step to see anything at all.
    rounds = min((r.dtype.itemsize for r in results if r is not None and r.dtype.kind in "fV"), default=8)
    step = {8: 1e-6, 4: 1e-2}.get(rounds, 1e-1)
    deadline = time.monotonic() + PATIENCE
    rows = []
    for index in wanted:
        if not np.isfinite(to_host(wide[index])).all():
            raise Impossible(
                f"{_called(node, index)} holds NaN or infinite values, beside which there are no differences."
            )
        rows.append(_row(subject, index, wide, weights, found[index], step, rounds, deadline))
    return rows


def _wide(x: Any) -> Any:
    """Real numbers in float64, in memory of their own; anything else as it is."""
    return backend.of(x).xp.asarray(x, np.float64).copy() if x.dtype.kind in "fV" else x


def _run(forward: Forward, arrays: Sequence[Any]) -> tuple[Any, ...]:
    try:
        with np.errstate(all="ignore"):
            return tuple(forward(*arrays))
    except Exception as error:
        raise Impossible(f"its forward cannot be run again: {type(error).__name__}: {error}") from None


def _same(a: Any, b: Any) -> bool:
    return (a is None and b is None) or bool(np.array_equal(to_host(a), to_host(b), equal_nan=a.dtype.kind in "fc"))


def _weights(subject: Subject, results: Sequence[Any]) -> list[Any]:
    """A drawn gradient for every output: the same number is then differentiated on both sides, their weighted sum."""
    node = subject.node
    random = np.random.default_rng(node.seq)
    drawn: list[Any] = []
    for at, (result, (shape, _)) in enumerate(zip(results, node.meta, strict=False)):
        if at not in subject.outputs or result is None or result.dtype.kind not in "fV":
            drawn.append(None)
        elif tuple(result.shape) != tuple(shape):
            raise Impossible(f"its forward gives shape {shape_text(result.shape)} now, and gave {shape_text(shape)}.")
        else:
            drawn.append(backend.of(result).xp.asarray(random.standard_normal(shape)))
    return drawn


def _backward(node: Node, weights: Sequence[Any]) -> list[Any]:
    grads: list[Any] = [None] * len(node.meta)
    for at, weight in enumerate(weights):
        dtype = node.meta[at][1]
        if weight is not None and dtype is not None:
            grads[at] = wrap(weight.astype(dtype))
    try:
        return [None if g is None else g._a for g in node.apply(grads, False, None)]
    except Exception as error:
        raise Impossible(f"its backward raises {type(error).__name__}: {error}") from None


def _row(
    subject: Subject,
    index: int,
    wide: list[Any],
    weights: Sequence[Any],
    found: Any,
    step: float,
    rounds: int,
    deadline: float,
) -> CheckedInput:
    """One input: its gradient from the node beside differences, at up to ``MOST_ELEMENTS`` elements."""
    whole = wide[index]
    shape = tuple(whole.shape)
    count = int(np.prod(shape, dtype=np.int64))
    analytic = np.zeros(shape) if found is None else to_host(found).astype(np.float64)
    places: Any = np.unique(np.linspace(0, count - 1, min(count, MOST_ELEMENTS)).astype(np.int64)) if count else ()

    def total(values: Any) -> float:
        with np.errstate(all="ignore"):
            results = subject.forward(*wide[:index], values, *wide[index + 1 :])
        return sum(
            float((result.astype(np.float64) * weight).sum())
            for result, weight in zip(results, weights, strict=False)
            if weight is not None
        )

    middle, known = total(whole), to_host(whole)
    checked: list[tuple[tuple[int, ...], float, float]] = []
    for place in places:
        if checked and time.monotonic() > deadline:
            break
        at = tuple(int(part) for part in np.unravel_index(int(place), shape))
        value = float(known[at])
        move = step * max(1.0, abs(value))
        up, down = (_moved(whole, at, value + sign * move) for sign in (1, -1))
        above, below = total(up), total(down)
        slopes = ((above - middle) / move, (middle - below) / move)
        checked.append((at, float(analytic[at]), _nearest(float(analytic[at]), slopes, (above - below) / (2 * move))))
    return _summed(_called(subject.node, index), shape, count, checked, _tolerance(subject.node, rounds))


def _moved(whole: Any, at: tuple[int, ...], value: float) -> Any:
    other = whole.copy()
    other[at] = value
    return other


def _nearest(analytic: float, slopes: tuple[float, float], difference: float) -> float:
    """The slope to compare with: at a kink any between those of the two sides is right."""
    low, high = sorted(slopes)
    bend = abs(high - low) > 1e-3 * max(1.0, abs(low), abs(high))
    return min(max(analytic, low), high) if bend else difference


def _tolerance(node: Node, rounds: int) -> float:
    sizes = [dtype.itemsize for _, dtype in node.meta if dtype is not None and dtype.kind in "fV"]
    return TOLERANCE.get(min([rounds, *sizes]), 5e-2)


def _summed(
    name: str,
    shape: tuple[int, ...],
    count: int,
    checked: Sequence[tuple[tuple[int, ...], float, float]],
    tolerance: float,
) -> CheckedInput:
    if not checked:
        return CheckedInput(name, shape_text(shape), 0, count, 0.0, 0.0, "", 0.0, 0.0, True)
    scale = max(max(abs(a), abs(n)) for _, a, n in checked) or 1.0
    errors = [abs(a - n) for _, a, n in checked]
    errors = [error if np.isfinite(error) else float("inf") for error in errors]
    worst = int(np.argmax(errors))
    at, analytic, difference = checked[worst]
    relative = errors[worst] / scale if np.isfinite(scale) else float("inf")
    place = shape_text(at) if at else ""
    agrees = relative <= tolerance
    return CheckedInput(
        name, shape_text(shape), len(checked), count, errors[worst], relative, place, analytic, difference, agrees
    )


def _called(node: Node, index: int) -> str:
    row = node.row
    if row is None or row.variadic or index >= len(row.params):
        return f"grad of input {index}"
    return f"grad_{row.params[index]}"


def in_words(found: Check) -> str:
    """A verdict as text: the sentence, and a line for every input."""
    lines = [found.sentence]
    for row in found.inputs:
        of = f"{row.checked:,} of {count_text(row.elements, 'element')}"
        mark = "agrees" if row.agrees else "DISAGREES"
        lines.append(
            f"  {row.name} {row.shape}: {mark}, {of}; at {row.index or 'it'} backward {row.backward:.6g}, "
            f"differences {row.difference:.6g}"
        )
    return "\n".join(lines)
