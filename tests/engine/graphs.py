"""Graphs that several tests of the engine run."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import tensorlab as tl


def leaf(*values: float) -> Any:
    """A float32 leaf that requires grad."""
    return tl.tensor(list(values), requires_grad=True)


def tangle(seed: int, size: int = 120) -> tuple[list[Any], Any]:
    """Leaves and the loss of a random graph: shared values, several outputs, views, writes, broadcasting, a custom function."""
    rng = random.Random(seed)
    values = np.random.default_rng(seed)
    leaves = [
        tl.tensor(values.uniform(-1, 1, shape).astype(np.float32), requires_grad=True)
        for shape in ((3, 4), (4,), (3, 1), ())
    ]
    pool = [x * 1 for x in leaves]

    def full(x: Any) -> Any:
        return x.expand(3, 4) if x.shape != (3, 4) else x

    steps: list[Callable[[Any, Any], Any]] = [
        lambda a, b: a * b,
        lambda a, b: a + b,
        lambda a, b: (a - b).tanh(),
        lambda a, b: a.sin() * 0.5,
        lambda a, b: full(a).t().t() + b,
        lambda a, b: tl.where(full(a) > 0, full(b), full(a)),
        lambda a, b: tl.cat([full(a)[:1], full(b)[1:]]),
        lambda a, b: full(a).unbind()[rng.randrange(3)] * 0.7,
        lambda a, b: full(a).split(2, 1)[1].sum(1, keepdim=True).tanh(),
        lambda a, b: full(a).max(1, keepdim=True)[0],
        lambda a, b: full(a).softmax(1),
        lambda a, b: full(a).matmul(full(b).t()).tanh().matmul(full(b)) * 0.1,
        written,
        Tanh.apply,
    ]
    for _ in range(size):
        pool.append(rng.choice(steps)(rng.choice(pool), rng.choice(pool)))
    loss = sum((x.mean() for x in pool[-8:]), pool[0].sum() * 0.1)
    return leaves, loss


def written(a: Any, b: Any) -> Any:
    """A copy of ``a`` with a part that was overwritten by a function of ``b``."""
    out = (a.expand(3, 4) if a.shape != (3, 4) else a) * 1
    out[1:, ::2].mul_(0.5)
    out[0] = b.mean().tanh()
    return out


class Tanh(tl.autograd.Function):
    """tanh(a) + b, with a gradient written by hand."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        y = a.tanh()
        ctx.save_for_backward(y)
        ctx.shapes = a.shape, b.shape
        return y + b

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (y,) = ctx.saved_tensors
        first, second = ctx.shapes
        return (g * (1 - y * y)).sum_to_size(*first), g.sum_to_size(*second)


def picture(run: Any, leaves: list[Any]) -> Any:
    """Everything of a run that going back must restore, with values bit by bit."""

    def bits(x: Any) -> Any:
        return None if x is None else (tuple(x.shape), x.numpy(force=True).tobytes())

    return (
        run.count,
        run.current,
        run.planned(),
        run.done,
        {node: [bits(g) for g in gs] for node, gs in run.waiting.items()},
        {node: run.left(node) for node in run.cells},
        [(None if x._grad is None else (id(x._grad), x._grad._version), bits(x._grad)) for x in leaves],
        sorted((i, bits(g)) for i, g in run.captured.items()),
    )
