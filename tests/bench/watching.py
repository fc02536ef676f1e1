"""What a training loop costs more in a notebook, where places are recorded, than in a plain program.

    python tests/bench/watching.py [pairs]

No view is open and nothing is sent: the cost is what notes where every node was made, and in which module. Blocks of ten training
steps with and without it alternate in one process, in changing order, and CPU time of the thread is read, so that neither what else
the machine does nor how warm it is can favour one side. The figure is the median of the ratios of neighbours, with the quartiles;
beside it, in microseconds a step, the difference of the medians.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import tensorlab as tl
from tensorlab import modes

STEPS = 10


def loop(batch: int, *sizes: int) -> Callable[[], None]:
    """Ten training steps of a classifier with these layers."""
    tl.manual_seed(0)
    layers: list[Any] = []
    for inner, outer in zip(sizes, sizes[1:], strict=False):
        layers += [tl.nn.Linear(inner, outer), tl.nn.ReLU()]
    model = tl.nn.Sequential(*layers[:-1])
    optimizer, loss_of = tl.optim.Adam(model.parameters(), lr=1e-3), tl.nn.CrossEntropyLoss()
    x, y = tl.randn(batch, sizes[0]), tl.randint(0, sizes[-1], (batch,))

    def run() -> None:
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss_of(model(x), y).backward()
            optimizer.step()

    return run


def microseconds(run: Callable[[], None], watched: bool) -> float:
    """CPU time of one step."""
    if watched:
        modes.watch_sites(True)
    start = time.thread_time_ns()
    run()
    took = time.thread_time_ns() - start
    if watched:
        modes.watch_sites(False)
    return took / STEPS / 1000


def measure(what: str, run: Callable[[], None], pairs: int) -> None:
    for _ in range(20):
        run()
    times: dict[bool, list[float]] = {True: [], False: []}
    for pair in range(pairs):
        for watched in (True, False) if pair % 2 else (False, True):
            times[watched].append(microseconds(run, watched))
    ratios = sorted(a / b for a, b in zip(times[True], times[False], strict=True))
    on, off = statistics.median(times[True]), statistics.median(times[False])
    low, high = ratios[len(ratios) // 4], ratios[3 * len(ratios) // 4]
    print(
        f"{what:44}{off:9.0f} us a step  +{on - off:6.1f} us   ratio {statistics.median(ratios):.4f} "
        f"({low:.3f} to {high:.3f})   target 1.01",
        flush=True,
    )


def main(pairs: int) -> None:
    measure("lesson 1: 64-32-10, batch 32", loop(32, 64, 32, 10), pairs)
    measure("64-128-10, batch 64", loop(64, 64, 128, 10), pairs)
    measure("784-512-256-10, batch 128", loop(128, 784, 512, 256, 10), max(20, pairs // 5))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
