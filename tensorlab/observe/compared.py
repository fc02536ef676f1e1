"""What an edit has changed: the gradients of a run beside those of the same pass without its edits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tensorlab import backend
from tensorlab.backend import to_host
from tensorlab.engine.node import AccumulateGrad, Node
from tensorlab.engine.run import BackwardRun
from tensorlab.observe.names import Names
from tensorlab.observe.preview import norm
from tensorlab.observe.schema_asking import Changed, ChangedGradient
from tensorlab.observe.words import count_text, number_text, percent_text, shape_text

#: Gradients that are listed; the others are counted.
MOST = 200


def changed(run: BackwardRun, plain: BackwardRun, names: Names, edited: Sequence[int]) -> Changed:
    """Compare ``run`` with ``plain``, a pass from the same roots that was never edited; it is brought as far, and undone.

    No ``.grad`` is touched. Hooks run once more, since what they return belongs to the pass.
    """
    done = set(run.arrivals())
    plain.run(lambda _, node: node not in done)
    try:
        return _compared(_all(run), _all(plain), names, edited)
    finally:
        while plain.back() is not None:
            pass
        plain.close()


def _all(run: BackwardRun) -> dict[Node, list[Any]]:
    """The gradients of every node that some have come to."""
    return {**run.waiting, **run.arrivals()}


def _compared(
    after: Mapping[Node, list[Any]], before: Mapping[Node, list[Any]], names: Names, edited: Sequence[int]
) -> Changed:
    rows, same = [], 0
    for node, gradients in after.items():
        for gradient, other in zip(gradients, before.get(node, ()), strict=False):
            if gradient is None or other is None:
                continue
            if _equal(gradient._a, other._a):
                same += 1
            else:
                rows.append(_row(node, gradient._a, other._a, names))
    rows.sort(key=lambda row: (row.name != "AccumulateGrad", -_size(row)))
    hooked = any(node.hooks is not None for node in after)
    return Changed(tuple(rows[:MOST]), same, _sentence(rows, same, names, after, edited, hooked))


def _size(row: ChangedGradient) -> float:
    return float("inf") if row.relative is None else row.relative


def _equal(a: Any, b: Any) -> bool:
    return a is b or bool(np.array_equal(to_host(a), to_host(b), equal_nan=a.dtype.kind in "fc"))


def _row(node: Node, after: Any, before: Any, names: Names) -> ChangedGradient:
    with backend.of(after).on(after), np.errstate(all="ignore"):
        difference = norm(after - before)
    size = norm(before)
    return ChangedGradient(
        node.seq, node.name(), _label(node, names), shape_text(after.shape), size, norm(after), difference,
        difference / size if size else None,
    )  # fmt: skip


def _label(node: Node, names: Names) -> str:
    if type(node) is AccumulateGrad:
        return names.of_tensor(node.variable)
    return names.of_value(node, 0) or names.path_of(node)


def _sentence(
    rows: Sequence[ChangedGradient],
    same: int,
    names: Names,
    nodes: Mapping[Node, Any],
    edited: Sequence[int],
    hooked: bool,
) -> str:
    where = [_label(node, names) or node.name() for node in nodes if node.seq in edited]
    what = f"The edit of the gradient of {' and '.join(where)}" if where else "The edit"
    if not rows:
        return f"{what} changed nothing so far: all {same:,} gradients are what they are without it."
    first = rows[0]
    part = "" if first.relative is None else f", a change of {percent_text(first.relative)}"
    said = (
        f"{what} changed {len(rows):,} of {count_text(len(rows) + same, 'gradient')}; most of all that of "
        f"{first.label or first.name}: norm {number_text(first.before)} became {number_text(first.after)}{part}."
    )
    return f"{said} Hooks ran once more for this comparison." if hooked else said
