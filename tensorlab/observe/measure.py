"""One backward pass over a graph that changes nothing, and what it measured at every node."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any

from tensorlab import backend
from tensorlab.engine.node import AccumulateGrad, Bound, Node
from tensorlab.engine.run import BackwardRun
from tensorlab.observe.changes import size
from tensorlab.observe.kept import saved_arrays
from tensorlab.observe.protocol import Refused
from tensorlab.observe.schema_kept import MEASURES, Measures
from tensorlab.observe.snapshot import reachable
from tensorlab.observe.timing import forward_time
from tensorlab.observe.words import count_text, number_text

_VALUE, _GRADIENT = 1, 2


def measured(results: Sequence[Any], shown: Sequence[Node]) -> Measures:
    """Run the backward pass of ``results`` once, keeping what the graph saved and leaving every ``.grad`` as it is.

    Results of several elements are seeded with ones. Hooks on tensors and nodes run, as in any backward pass. Raises ``Refused``
    with the reason where the pass cannot run.
    """
    roots = [result for result in results if result.requires_grad]
    if not roots:
        raise Refused("nothing here requires grad, so there is no backward pass to measure")
    norms, times, bad = _walked(roots)
    for node in shown:
        if _broken(node):
            bad[node.seq] = bad.get(node.seq, 0) | _VALUE
    ids = [node.seq for node in shown]
    forward = [forward_time(number) for number in ids]
    return Measures(
        schema=MEASURES,
        node=tuple(ids),
        forward=tuple(None if time is None else time / 1e3 for time in forward),
        backward=tuple(times[number] / 1e3 if number in times else None for number in ids),
        norm=tuple(norms.get(number) for number in ids),
        bad=tuple(bad.get(number, 0) for number in ids),
        sentence=_sentence(
            times, [number for number in ids if number in bad], any(time is not None for time in forward)
        ),
    )


def _walked(roots: Sequence[Any]) -> tuple[dict[int, float], dict[int, int], dict[int, int]]:
    """Norms of what came to the nodes, nanoseconds that they took, and where gradients are not finite, by number."""
    norms: dict[int, float] = {}
    bad: dict[int, int] = {}

    def note(node: Node, gradients: Sequence[Any]) -> None:
        sizes = [size(gradient) for gradient in gradients if gradient is not None]
        if sizes:
            norms[node.seq] = sizes[0] if len(sizes) == 1 else math.hypot(*sizes)
            if not math.isfinite(norms[node.seq]):
                bad[node.seq] = _GRADIENT

    return norms, walked(roots, note), bad


def walked(roots: Sequence[Any], note: Callable[[Node, Sequence[Any]], None]) -> dict[int, int]:
    """Run a backward pass that leaves every ``.grad`` alone and the graph whole; ``note`` is told of each node and what came to it.

    Returns the nanoseconds that the nodes took, by number. Raises ``Refused`` where the pass cannot run.
    """
    found = reachable([Bound.edge(root)[0] for root in roots])
    leaves = [node.variable for node in found if type(node) is AccumulateGrad and node.variable is not None]
    seeds = [None if root.numel() == 1 else root.detach().new_ones(root.shape) for root in roots]
    times: dict[int, int] = {}
    try:
        run = BackwardRun(roots, seeds, retain_graph=True, inputs=leaves, accumulate=False)
        while (node := run.current) is not None:
            note(node, run.held(node) or ())
            begin = perf_counter_ns()
            run.step()
            times[node.seq] = perf_counter_ns() - begin
    except RuntimeError as error:
        raise Refused(f"the backward pass cannot run: {error}") from None
    return times


def _broken(node: Node) -> bool:
    """Whether a value that the node keeps or holds has NaN or Inf in it."""
    if type(node) is AccumulateGrad:
        return node.variable is not None and not _finite(node.variable._a)
    inputs = len(node.edges)
    return any(not _finite(array) for slot, _, array, _ in saved_arrays(node) if slot >= inputs)


def _finite(array: Any) -> bool:
    if array.dtype.kind not in "fc":
        return True
    return bool(backend.namespace(array).isfinite(array).all()) if array.size else True


def _sentence(times: dict[int, int], bad: Sequence[int], forward: bool) -> str:
    said = f"One backward pass of {count_text(len(times), 'node')} took {number_text(sum(times.values()) / 1e6)} ms."
    if bad:
        said += f" NaN or Inf at {count_text(len(bad), 'node')}."
    if not forward:
        said += " The forward was not timed: run it inside `with tensorlab.show.timed():`."
    return said
