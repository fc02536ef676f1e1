"""How long comparing two graphs of 4,000 nodes takes: ``python tests/bench/compare.py``. CPU time, median of seven."""

from __future__ import annotations

import random
import statistics
import time
from typing import Any

import tensorlab as tl
from tensorlab.observe.compare import compared


def chain(seed: int) -> Any:
    dice, y = random.Random(seed), tl.randn(8, requires_grad=True)
    for _ in range(4000):
        y = dice.choice([tl.sin, tl.cos, tl.tanh, lambda x: x * 0.5])(y)
    return y.sum()


def main() -> None:
    a, b = chain(0), chain(1)
    seconds = []
    for _ in range(7):
        begin = time.process_time()
        compared(a, b)
        seconds.append(time.process_time() - begin)
    print(f"4,000 nodes against 4,000: {statistics.median(seconds):.2f} s")


if __name__ == "__main__":
    main()
