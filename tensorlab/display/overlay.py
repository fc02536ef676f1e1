"""Numbers over the boxes of a graph: what they keep, how long they took, how large their gradients are, where NaN stands."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tensorlab.observe.schema import Graph
from tensorlab.observe.schema_kept import Measures
from tensorlab.observe.words import bytes_text, number_text

#: Characters that a number needs beside a title.
ROOM = 11
OVERLAYS = ("bytes", "forward time", "backward time", "gradient norm", "not finite")
_BAD = ("", "value", "gradient", "value and gradient")


@dataclass(frozen=True)
class Overlay:
    """One number a node, by id, and how it is written. Of a folded part the sum is shown, or the greatest."""

    name: str
    values: Mapping[int, float]
    write: Callable[[float], str]
    added: bool
    log: bool = False
    wrong: frozenset[int] = frozenset()

    def of(self, graph: Graph, nodes: Sequence[int]) -> tuple[str, float, bool] | None:
        """For the nodes of one box: words, the part of the greatest value (0 to 1), and whether something is wrong."""
        ids = [graph.nodes.id[at] for at in nodes]
        wrong = any(number in self.wrong for number in ids)
        found = [self.values[number] for number in ids if number in self.values]
        if not found:
            return ("not finite", 0.0, True) if wrong else None
        value = sum(found) if self.added else max(found)
        return self.write(value), self._part(value), wrong

    def _part(self, value: float) -> float:
        most = max((each for each in self.values.values() if math.isfinite(each)), default=0.0)
        if not value > 0 or not most > 0 or not math.isfinite(value):
            return 0.0
        if not self.log:
            return min(1.0, value / most)
        return min(1.0, max(0.02, 1 + math.log10(value / most) / 6))


def overlay(name: str, graph: Graph, measures: Measures | None = None) -> Overlay:
    """The overlay of this name. All but ``"bytes"`` need ``measures``. Raises ``ValueError`` with the names that there are."""
    if name not in OVERLAYS:
        raise ValueError(f"there is no overlay {name!r}; there are {', '.join(OVERLAYS)}")
    if name == "bytes":
        return Overlay(name, _bytes(graph), lambda value: bytes_text(int(value)), added=True)
    if measures is None:
        raise ValueError(f"{name} is known once a backward pass was measured: GraphView.measure()")
    wrong = frozenset(number for number, bad in zip(measures.node, measures.bad, strict=True) if bad)
    if name == "gradient norm":
        norms = _known(measures.node, measures.norm)
        return Overlay(name, norms, lambda value: f"‖g‖ {number_text(value)}", added=False, log=True, wrong=wrong)
    if name == "not finite":
        bad = {number: float(bad) for number, bad in zip(measures.node, measures.bad, strict=True) if bad}
        return Overlay(name, bad, lambda value: f"{_BAD[int(value)]}: NaN or Inf", added=False, wrong=wrong)
    times = measures.forward if name == "forward time" else measures.backward
    return Overlay(name, _known(measures.node, times), lambda value: f"{number_text(value)} µs", added=True)


def _bytes(graph: Graph) -> dict[int, float]:
    """Kept bytes by node: a storage counts for the first that keeps it, so that sums are what memory holds."""
    found: dict[int, float] = {}
    seen: set[int] = set()
    for storage, node in zip(graph.keeps.storage, graph.keeps.node, strict=True):
        if storage not in seen:
            seen.add(storage)
            number = graph.nodes.id[node]
            found[number] = found.get(number, 0) + graph.storages.bytes[storage]
    return found


def _known(numbers: Iterable[int], values: Iterable[float | None]) -> dict[int, float]:
    return {number: value for number, value in zip(numbers, values, strict=True) if value is not None}
