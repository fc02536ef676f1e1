"""Small-tensor speed against PyTorch (one thread) and hand-written NumPy, in alternating processes.

    python tests/bench/engine.py [rounds]

Each round starts one process for every library; a process reports, for every workload, the best time of several repeats.
The table shows the median over rounds, in microseconds, and the median of the ratios taken round by round.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import time
import timeit
from collections.abc import Callable
from typing import Any

TARGETS = {
    "mul": 0.9,
    "mul, recorded": 0.8,
    "chain of 21": 0.65,
    "chain of 100, an op": 0.7,
    "mlp step": 0.7,
    "mlp step vs numpy": 2.5,
}


def best(function: Callable[[], Any], number: int, repeat: int = 90) -> float:
    """The shortest time of one call, in microseconds: of the processor, so that what else the machine does counts little."""
    number = max(1, number // 10)
    return min(timeit.repeat(function, number=number, repeat=repeat, timer=time.thread_time)) / number * 1e6


def library(name: str) -> dict[str, float]:
    """All workloads on tensorlab or PyTorch."""
    if name == "torch":
        import torch

        torch.set_num_threads(1)
    else:
        import tensorlab as torch  # type: ignore[no-redef]
    torch.manual_seed(0)
    a, b = torch.rand(4, 4), torch.rand(4, 4)
    # The same values for both, near 1: a product of many small ones is subnormal, which costs any library a multiple.
    draws = random.Random(0)
    p, q = (
        torch.tensor([[draws.uniform(0.75, 1.25) for _ in range(4)] for _ in range(4)]).requires_grad_()
        for _ in range(2)
    )

    def chain(pairs: int = 10) -> None:
        x = p
        for _ in range(pairs):
            x = (x * q).tanh()
        x.sum().backward()
        p.grad = q.grad = None

    return {
        "mul": best(lambda: a * b, 20_000),
        "mul, recorded": best(lambda: p * q, 20_000),
        "chain of 21": best(chain, 300),
        "chain of 100, an op": best(lambda: chain(50), 100) / 100,
        "mlp step": best(mlp(torch), 200),
    }


def mlp(torch: Any) -> Callable[[], None]:
    """One training step of a small classifier, as a person writes it."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss_of = nn.CrossEntropyLoss()
    x, y = torch.randn(32, 2), torch.randint(0, 10, (32,))

    def step() -> None:
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()

    return step


def by_hand() -> dict[str, float]:
    """The same training step written out in NumPy."""
    import numpy as np

    rng = np.random.default_rng(0)
    sizes = [(2, 16), (16, 16), (16, 10)]
    weights = [(rng.standard_normal(s) / np.sqrt(s[0])).astype(np.float32) for s in sizes]
    biases = [np.zeros(s[1], np.float32) for s in sizes]
    params = [v for pair in zip(weights, biases, strict=True) for v in pair]
    m, v = [np.zeros_like(p) for p in params], [np.zeros_like(p) for p in params]
    x, y = rng.standard_normal((32, 2)).astype(np.float32), rng.integers(0, 10, 32)
    rows, count = np.arange(32), 0

    def step() -> None:
        nonlocal count
        h1 = np.maximum(x @ params[0] + params[1], 0)
        h2 = np.maximum(h1 @ params[2] + params[3], 0)
        z = h2 @ params[4] + params[5]
        z -= z.max(1, keepdims=True)
        e = np.exp(z)
        total = e.sum(1, keepdims=True)
        _ = -(z[rows, y] - np.log(total[:, 0])).mean()
        g = e / total
        g[rows, y] -= 1
        g /= 32
        g4, g5 = h2.T @ g, g.sum(0)
        g = (g @ params[4].T) * (h2 > 0)
        g2, g3 = h1.T @ g, g.sum(0)
        g = (g @ params[2].T) * (h1 > 0)
        grads = [x.T @ g, g.sum(0), g2, g3, g4, g5]
        count += 1
        c1, c2 = 1 - 0.9**count, 1 - 0.999**count
        for p, d, mm, vv in zip(params, grads, m, v, strict=True):
            mm *= 0.9
            mm += 0.1 * d
            vv *= 0.999
            vv += 0.001 * d * d
            p -= 1e-3 * (mm / c1) / (np.sqrt(vv / c2) + 1e-8)

    return {"mlp step": best(step, 200)}


def imports() -> dict[str, float]:
    """Seconds to import NumPy, and tensorlab on top of it, in fresh processes."""

    def seconds(code: str) -> float:
        text = f"import time, numpy; t = time.perf_counter(); {code}; print(time.perf_counter() - t)"
        environment = {
            k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"
        }  # compiled once, as installed
        return min(float(subprocess.check_output([sys.executable, "-c", text], env=environment)) for _ in range(3))

    return {"import tensorlab": seconds("import tensorlab")}


WORKERS: dict[str, Callable[[], dict[str, float]]] = {
    "tensorlab": lambda: library("tensorlab"),
    "torch": lambda: library("torch"),
    "numpy": by_hand,
    "imports": imports,
}


def main(rounds: int) -> None:
    found: dict[str, list[dict[str, float]]] = {name: [] for name in WORKERS}
    for _ in range(rounds):
        for name in WORKERS:
            found[name].append(json.loads(subprocess.check_output([sys.executable, __file__, "--worker", name])))
    print(f"{'what':22}{'tensorlab':>12}{'other':>12}{'ratio':>8}{'target':>8}")
    for what in ("mul", "mul, recorded", "chain of 21", "chain of 100, an op", "mlp step"):
        line(what, [r[what] for r in found["tensorlab"]], [r[what] for r in found["torch"]])
    line("mlp step vs numpy", [r["mlp step"] for r in found["tensorlab"]], [r["mlp step"] for r in found["numpy"]])
    took = statistics.median(r["import tensorlab"] for r in found["imports"])
    print(f"{'import tensorlab':22}{took:11.3f}s{'':12}{'':8}{'0.10s':>8}")


def line(what: str, ours: list[float], theirs: list[float]) -> None:
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    print(f"{what:22}{statistics.median(ours):12.2f}{statistics.median(theirs):12.2f}{ratio:8.2f}{TARGETS[what]:8.2f}")


if __name__ == "__main__":
    if "--worker" in sys.argv:
        print(json.dumps(WORKERS[sys.argv[-1]]()))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
