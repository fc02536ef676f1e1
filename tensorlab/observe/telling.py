"""One sentence that says where a run stands: shown under the picture, and what a screen reader hears."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorlab.engine.node import AccumulateGrad, Node
from tensorlab.observe import preview
from tensorlab.observe.words import count_text, number_text, shape_text

if TYPE_CHECKING:
    from tensorlab.observe.moves import Moves


def sentence(session: Moves) -> str:
    """Where the run stands, why it stopped there, and what the next node would do."""
    run = session.run
    node = run.current
    if node is None:
        leaves = count_text(sum(type(done) is AccumulateGrad for done in run.done), "leaf", "leaves")
        return f"Finished after {count_text(run.count, 'node')}. Gradients have arrived at {leaves}."
    waiting = run.held(node)
    others = len(run.waiting) - (waiting is not None)
    said = [
        f"Step {run.count + 1} of {run.total}{_why(session)}.",
        f"Next is {called(node, session)}: {_gradient(waiting)}.",
        f"{count_text(others, 'more node waits', 'more nodes wait')}." if others else "",
        _will_do(node),
    ]
    return " ".join(filter(None, said))


def called(node: Node, session: Moves) -> str:
    """A node as a person would call it: its name, and the user's name for its value or the module it is part of."""
    if type(node) is AccumulateGrad:
        label = session.names.of_tensor(node.variable)
    else:
        label = session.names.of_value(node, 0) or session.names.path_of(node)
    return f"{node.name()} ({label})" if label else node.name()


def _why(session: Moves) -> str:
    return {
        "breakpoint": ", at a breakpoint",
        "predicate": f", because {session.why}",
        "exception": f", where {session.why or 'an exception'} was raised",
        "edited": ", gradient edited",
        "paused": ", interrupted",
    }.get(session.reason, "")


def _gradient(waiting: list[Any] | None) -> str:
    arrays = [gradient._a for gradient in waiting or () if gradient is not None]
    if not arrays:
        return "no gradient came to it"
    told = [f"gradient {shape_text(array.shape)} with norm {number_text(preview.norm(array))}" for array in arrays[:2]]
    return " and ".join(told) + (f" and {len(arrays) - 2} more" if len(arrays) > 2 else "")


def _will_do(node: Node) -> str:
    """What the node works out, in the words of its row."""
    if type(node) is AccumulateGrad:
        return "It adds its gradient to .grad of the leaf."
    if node.row is None:
        return "It runs a backward that was written by hand."
    lines = gradient_lines(node)
    return f"It works out {', '.join(lines)}." if lines else ""


def gradient_lines(node: Node) -> list[str]:
    """The gradients that a node works out, in the words of its row: ``grad_self = grad · (1 − result²)``."""
    row = node.row
    if row is None:
        return []
    return [
        f"grad_{name} = {row.derivatives[name]}"
        for name, edge in zip(row.params, node.edges, strict=False)
        if edge is not None and name in row.derivatives
    ]
