"""What adds up to ``.grad`` of a leaf: the passes that added to it, and what each node sends in the pass that is looked at."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from tensorlab.engine.ledger import ledger_of
from tensorlab.engine.node import AccumulateGrad, Node
from tensorlab.observe import places
from tensorlab.observe.names import Names
from tensorlab.observe.preview import norm
from tensorlab.observe.schema_asking import Contribution
from tensorlab.observe.words import count_text

_TIMES = {1: "", 2: " twice"}


def badge(leaf: Any) -> str:
    """``2 contributions: cell 7 twice``; empty where no more than one pass added to the gradient."""
    entries = ledger_of(leaf)
    if len(entries) < 2:
        return ""
    counts: dict[str, int] = {}
    for entry in entries:
        where = _where(entry.site)
        counts[where] = counts.get(where, 0) + 1
    told = [f"{where}{_TIMES.get(count, f' {count} times')}" for where, count in counts.items()]
    return f"{count_text(len(entries), 'contribution')}: {', '.join(told)}"


def _where(site: Any) -> str:
    found = places.place(site)
    if found is None:
        return "an unknown place"
    return f"cell {found.cell}" if found.cell >= 0 else places.words(found)


def contributions(
    node: Node, names: Names, run: Any = None, consumers: Iterable[Node] = ()
) -> tuple[Contribution, ...]:
    """The rows of a leaf's ledger, oldest first: passes, and below the one that ``run`` is what each node sends in it."""
    leaf = node.variable if type(node) is AccumulateGrad else None
    if leaf is None:
        return ()
    entries = [] if leaf.grad is None else list(ledger_of(leaf))
    rows = [
        Contribution(
            -1,
            f"pass {entry.number} from {entry.root}" if entry.root else f"pass {entry.number}",
            places.words(places.place(entry.site)),
            time.strftime("%H:%M:%S", time.localtime(entry.time)),
            None,
            "added",
        )
        for entry in entries
    ]
    return (*rows, *_sent(node, names, run, consumers)) if run is not None else tuple(rows)


def _sent(node: Node, names: Names, run: Any, consumers: Iterable[Node]) -> Iterator[Contribution]:
    """What the nodes that used a leaf send to it in this pass."""
    arrived = run.left(node) is not None and run.left(node) < 0
    for consumer in dict.fromkeys(consumers):
        sent = dict(run.flow(consumer))
        for slot, edge in enumerate(consumer.edges):
            if edge is None or edge[0] is not node or not run.reaches(consumer):
                continue
            gradient = sent.get(slot)
            left = run.left(consumer)
            done = left is not None and left < 0
            label = names.of_value(consumer, 0) or names.path_of(consumer)
            yield Contribution(
                consumer.seq,
                f"{consumer.name()} ({label})" if label else consumer.name(),
                places.words(places.place(consumer.site)),
                "",
                norm(gradient._a) if gradient is not None else None,
                "added" if done and arrived else "arriving" if done else "to come",
            )
