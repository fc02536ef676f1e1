"""What a training loop costs more in a notebook: where places are recorded, and where gradients are followed.

    python tests/bench/watching.py [pairs] [places | flow | closed]

`places`: no view is open and nothing is sent; the cost is what notes where every node was made, and in which module. `flow`: a recorder
of gradients is attached, and asked ten times a second on another thread, as a view does. `closed`: it was attached and is not any more.
Blocks of ten training steps with and without it alternate in one process, in changing order, and CPU time of the process is read, so
that neither what else the machine does nor how warm it is can favour one side. The figure is the median of the ratios of neighbours,
with the quartiles; beside it, in microseconds a step, the difference of the medians.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import tensorlab as tl
from tensorlab import modes
from tensorlab.observe import wire
from tensorlab.observe.flow import FlowRecorder

STEPS = 10
#: Seconds of a block in which gradients are followed, and between what a view asks.
BLOCK, ASKING = 0.4, 0.1


class Loop:
    """Training steps of a classifier with these layers."""

    def __init__(self, batch: int, *sizes: int) -> None:
        tl.manual_seed(0)
        layers: list[Any] = []
        for inner, outer in itertools.pairwise(sizes):
            layers += [tl.nn.Linear(inner, outer), tl.nn.ReLU()]
        self.model = tl.nn.Sequential(*layers[:-1])
        self.optimizer, self.loss_of = tl.optim.Adam(self.model.parameters(), lr=1e-3), tl.nn.CrossEntropyLoss()
        self.steps_of_a_block = STEPS
        self.x, self.y = tl.randn(batch, sizes[0]), tl.randint(0, sizes[-1], (batch,))

    def run(self, steps: int = STEPS) -> None:
        """Train for some steps."""
        for _ in range(steps):
            self.optimizer.zero_grad()
            self.loss_of(self.model(self.x), self.y).backward()
            self.optimizer.step()


def with_places(loop: Loop, watched: bool) -> float:
    """CPU time of one step, in microseconds."""
    if watched:
        modes.watch_sites(True)
    start = time.thread_time_ns()
    loop.run()
    took = time.thread_time_ns() - start
    if watched:
        modes.watch_sites(False)
    return took / STEPS / 1000


def followed(loop: Loop, watched: bool) -> float:
    """The same while a recorder is attached from the first step and asked ten times a second on another thread."""
    recorder = FlowRecorder(loop.model.named_parameters(), "model", loop.model) if watched else None
    steps, ended = loop.steps_of_a_block, threading.Event()

    def view() -> None:
        known = -1
        while recorder is not None and not ended.wait(ASKING):
            document = recorder.document(known, recorder.generation, fresh=False)
            wire.pack(wire.to_json(document))
            known = document.steps[-1] if document.steps else known

    asking = threading.Thread(target=view)
    start = time.process_time_ns()
    asking.start()
    loop.run(steps)
    ended.set()
    asking.join()
    took = time.process_time_ns() - start
    if recorder is not None:
        recorder.detach()
    return took / steps / 1000


def closed(loop: Loop, watched: bool) -> float:
    """The same after a recorder was attached and taken off."""
    if watched:
        recorder = FlowRecorder(loop.model.named_parameters(), "model", loop.model)
        loop.run(1)
        recorder.detach()
    start = time.thread_time_ns()
    loop.run()
    return (time.thread_time_ns() - start) / STEPS / 1000


def measure(what: str, loop: Loop, pairs: int, cost: Callable[[Loop, bool], float], target: float) -> None:
    """Compare blocks with and without it, and print the ratio."""
    for _ in range(20):
        loop.run()
    start = time.perf_counter()
    loop.run()
    loop.steps_of_a_block = max(STEPS, round(BLOCK / (time.perf_counter() - start) * STEPS))
    times: dict[bool, list[float]] = {True: [], False: []}
    for pair in range(pairs):
        for watched in (True, False) if pair % 2 else (False, True):
            times[watched].append(cost(loop, watched))
    ratios = sorted(a / b for a, b in zip(times[True], times[False], strict=True))
    on, off = statistics.median(times[True]), statistics.median(times[False])
    low, high = ratios[len(ratios) // 4], ratios[3 * len(ratios) // 4]
    print(
        f"{what:44}{off:9.0f} us a step  +{on - off:6.1f} us   ratio {statistics.median(ratios):.4f} "
        f"({low:.3f} to {high:.3f})   target {target:.2f}",
        flush=True,
    )


KINDS = {"places": (with_places, 1.01), "flow": (followed, 1.10), "closed": (closed, 1.01)}


def main(pairs: int, kind: str) -> None:
    """Measure one kind of watching on loops of four sizes."""
    cost, target = KINDS[kind]
    few = max(20, pairs // 5)
    measure("lesson 1: 64-32-10, batch 32", Loop(32, 64, 32, 10), pairs, cost, target)
    measure("64-128-10, batch 64", Loop(64, 64, 128, 10), pairs, cost, target)
    measure("784-512-256-10, batch 128", Loop(128, 784, 512, 256, 10), few, cost, target)
    if kind != "places":
        measure("1,000 parameters of 16 x 16, batch 32", Loop(32, *[16] * 501), few // 2, cost, target)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300, sys.argv[2] if len(sys.argv) > 2 else "places")
