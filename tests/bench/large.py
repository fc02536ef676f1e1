"""Work on large tensors against PyTorch, forward and backward; the deepest graph; and peak memory.

    python tests/bench/large.py [part of a name]

Both libraries take turns in one process, with two threads each. Shown is the least time of several turns by the clock, and by the
processors: on a machine that others use too, only the second says much. Memory is what NumPy and PyTorch's allocator gave at most.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import tensorlab as tl

TURNS = 7


def tensor(lib: Any, *shape: int, grad: bool = True) -> Any:
    values = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    return lib.tensor(values).requires_grad_(grad) if lib is torch else lib.from_numpy(values).requires_grad_(grad)


def both_ways(lib: Any, function: Callable[..., Any], *inputs: Any) -> Callable[[], None]:
    """Forward and backward of a function, with a gradient of ones."""
    out = function(*inputs)
    ones = lib.ones(*out.shape)

    def run() -> None:
        function(*inputs).backward(ones)
        for x in inputs:
            x.grad = None

    return run


def softmax(lib: Any) -> Callable[[], None]:
    return both_ways(lib, lambda x: x.softmax(1), tensor(lib, 1000, 1000))


def layer_norm(lib: Any) -> Callable[[], None]:
    return both_ways(lib, lambda x: lib.nn.functional.layer_norm(x, (1000,)), tensor(lib, 1000, 1000))


def gelu(lib: Any) -> Callable[[], None]:
    return both_ways(lib, lib.nn.functional.gelu, tensor(lib, 1000, 1000))


def chain(lib: Any) -> Callable[[], None]:
    return both_ways(lib, lambda x, y: ((x * y).tanh() * x + y).tanh(), *[tensor(lib, 1000, 1000) for _ in range(2)])


def matmul(lib: Any) -> Callable[[], None]:
    return both_ways(lib, lambda x, y: x @ y, *[tensor(lib, 768, 768) for _ in range(2)])


def gather(lib: Any) -> Callable[[], None]:
    at = np.random.default_rng(1).integers(0, 100_000, 1_000_000)
    index = torch.tensor(at) if lib is torch else tl.from_numpy(at)
    return both_ways(lib, lambda x: x[index], tensor(lib, 100_000))


def unique_consecutive(lib: Any) -> Callable[[], None]:
    at = np.sort(np.random.default_rng(1).integers(0, 100_000, 1_000_000))
    x = torch.tensor(at) if lib is torch else tl.from_numpy(at)
    return lambda: lib.unique_consecutive(x)


def lstm(lib: Any) -> Callable[[], None]:
    lib.manual_seed(0)
    model, x = lib.nn.LSTM(32, 64), tensor(lib, 32, 16, 32)

    def run() -> None:
        model(x)[0].sum().backward()
        model.zero_grad()
        x.grad = None

    return run


def sgd(lib: Any, **options: Any) -> Callable[[], None]:
    params = [tensor(lib, 1000, 1000) for _ in range(4)]
    for p in params:
        p.grad = lib.ones(1000, 1000)
    return lib.optim.SGD(params, lr=0.01, **options).step


def momentum(lib: Any) -> Callable[[], None]:
    return sgd(lib, momentum=0.9)


WORK: dict[str, tuple[Callable[[Any], Callable[[], None]], float | None]] = {
    "softmax 1000x1000": (softmax, 1.5),
    "layer norm 1000x1000": (layer_norm, 1.5),
    "GELU 1000x1000": (gelu, 1.5),
    "elementwise chain with tanh 1000x1000": (chain, 0.8),
    "matmul 768x768": (matmul, 1.1),
    "gather and its gradient, 10^6": (gather, 1.5),
    "unique_consecutive, 10^6": (unique_consecutive, None),
    "LSTM 32-64, 32 steps x 16": (lstm, 1.2),
    "SGD, 4 x 10^6": (sgd, None),
    "SGD with momentum, 4 x 10^6": (momentum, None),
}


def timed(run: Callable[[], None]) -> tuple[float, float]:
    """Milliseconds by the clock and by the processors."""
    clock, processors = time.perf_counter(), time.process_time()
    run()
    return 1000 * (time.perf_counter() - clock), 1000 * (time.process_time() - processors)


def compare(name: str, make: Callable[[Any], Callable[[], None]], target: float | None) -> None:
    runs = [make(tl), make(torch)]
    for run in runs:
        run()
    turns = [[timed(run) for run in runs] for _ in range(TURNS)]
    ours, theirs = [[min(turn[i][k] for turn in turns) for k in (0, 1)] for i in (0, 1)]
    print(
        f"{name:40}{ours[0]:9.2f}{theirs[0]:9.2f}{ours[0] / theirs[0]:7.2f}  {ours[1]:9.2f}{theirs[1]:9.2f}{ours[1] / theirs[1]:7.2f}"
        f"   {target or '-'}",
        flush=True,
    )


def deep(nodes: int) -> None:
    """Microseconds a node of a graph in one line: made, run backward, freed."""
    x = y = tl.ones(1, requires_grad=True)
    start = time.process_time()
    for _ in range(nodes):
        y = y * 1.0
    made = time.process_time()
    y.backward()
    ran = time.process_time()
    del y
    gone = time.process_time()
    print(
        f"{nodes} nodes: made {(made - start) / nodes * 1e6:.2f} us a node, backward {(ran - made) / nodes * 1e6:.2f}, "
        f"freed {(gone - ran) / nodes * 1e6:.2f}; backward and freed: target 12, {x.grad is not None}"
    )


def memory() -> None:
    """What an elementwise chain takes at most, forward and backward."""
    run = chain(tl)
    run()
    tracemalloc.start()
    run()
    ours = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    theirs_run = chain(torch)
    theirs_run()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as seen:
        theirs_run()
    now = theirs = 0
    for event in seen.profiler.kineto_results.events():
        if event.name() == "[memory]":
            now += event.nbytes()
            theirs = max(theirs, now)
    print(
        f"peak of the chain: {ours / 1e6:.1f} MB, PyTorch {theirs / 1e6:.1f} MB, ratio {ours / theirs:.2f}, target 1.0"
    )


def main(part: str) -> None:
    torch.set_num_threads(2)
    print(f"{'':40}{'by the clock (ms)':>25}  {'by the processors (ms)':>25}   target")
    for name, (make, target) in WORK.items():
        if part in name:
            compare(name, make, target)
    if not part:
        deep(300_000)
        memory()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
