"""The time of a call with small tensors and a graph, of every operation that PyTorch's own table has sample calls for.

    python tests/bench/ops.py [part of a name]

In one process: of each operation up to three sample calls with few elements, float32 with gradients wanted where there are any. PyTorch
(two threads) and tensorlab take turns, each time is the best of several, in CPU time of the thread, so that what else the machine does
counts little. The figure of an operation is the mean of its ratios in logarithms; the table shows those above 3, with the reasons that
README.md gives, and the median of all.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tests.parity import oracle

torch = oracle.torch

#: Sample calls of an operation, elements of their tensors at most, and repeats of a measurement.
CALLS, ELEMENTS, REPEATS = 3, 256, 9
#: Names of the table that are calls of something else, or that make memory without values.
NOT_MEASURED = ("_", "masked.", "sparse", "ops.", "torch.", "jiterator")


def tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors(item)
    elif isinstance(value, dict):
        yield from tensors(list(value.values()))


def cpu_time(call: Callable[[], Any], number: int) -> float:
    """Microseconds of one call."""
    start = time.thread_time_ns()
    for _ in range(number):
        call()
    return (time.thread_time_ns() - start) / number / 1000


def best(calls: list[Callable[[], Any]]) -> list[float]:
    """The best times of several calls that take turns."""
    numbers = [max(1, min(100, int(300 / max(0.1, min(cpu_time(call, 1) for _ in range(3)))))) for call in calls]
    rounds = [[cpu_time(call, n) for call, n in zip(calls, numbers, strict=True)] for _ in range(REPEATS)]
    return [min(times) for times in zip(*rounds, strict=True)]


def small(op: Any) -> Iterator[tuple[Callable[[], Any], Callable[[], Any]]]:
    """A few sample calls of an operation, PyTorch's and ours."""
    grad = op.supports_autograd and torch.float32 in op.supported_backward_dtypes("cpu")
    ours = oracle.function(op.name)
    found = 0
    for sample in oracle.samples(op, torch.float32, grad):
        if not 0 < sum(t.numel() for t in tensors((sample.input, sample.args, sample.kwargs))) <= ELEMENTS:
            continue
        theirs = sample.input, sample.args, sample.kwargs
        x, args, kwargs = oracle.ours(sample.input), oracle.ours(sample.args), oracle.ours(sample.kwargs)
        yield (lambda t=theirs: op(t[0], *t[1], **t[2])), (lambda x=x, a=args, k=kwargs: ours(x, *a, **k))
        found += 1
        if found == CALLS:
            return


def measured(part: str) -> dict[str, tuple[float, float, float]]:
    """Of every operation: the ratio, and both times of the call that weighs most."""
    found: dict[str, tuple[float, float, float]] = {}
    for op in oracle.table():
        name = f"{op.name} {op.variant_test_name}".strip()
        if op.name.startswith(NOT_MEASURED) or part not in name or oracle.function(op.name) is None:
            continue
        if torch.float32 not in op.supported_dtypes("cpu"):
            continue
        pairs: list[list[float]] = []
        for theirs, ours in small(op):
            try:
                theirs(), ours()
            except Exception:
                continue
            pairs.append(best([theirs, ours]))
        if pairs:
            ratios = [b / a for a, b in pairs]
            most = max(pairs, key=lambda pair: pair[1] / pair[0])
            found[name] = math.exp(statistics.mean(map(math.log, ratios))), most[0], most[1]
    return found


def main(part: str, least: float) -> None:
    torch.set_num_threads(2)
    warnings.simplefilter("ignore")
    found = measured(part)
    print(f"{'operation':52}{'PyTorch':>10}{'tensorlab':>11}{'ratio':>8}")
    for name, (ratio, theirs, ours) in sorted(found.items(), key=lambda item: -item[1][0]):
        if ratio > least or part:
            print(f"{name:52}{theirs:8.2f}us{ours:9.2f}us{ratio:8.2f}")
    above = sum(ratio > 3 for ratio, *_ in found.values())
    print(
        f"{len(found)} operations: median ratio {statistics.median(r for r, *_ in found.values()):.2f}, {above} above 3"
    )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "", float(sys.argv[2]) if len(sys.argv) > 2 else 3.0)
