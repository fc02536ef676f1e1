"""Host memory by storage, to the byte: what is held, the most of it, and what only a graph holds."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tensorlab as tl

cpu = tl.cpu


@pytest.fixture
def more() -> Iterator[Callable[[], int]]:
    """How many bytes are held more than at the start of the test."""
    gc.collect()
    before = cpu.memory_allocated()
    yield lambda: cpu.memory_allocated() - before
    cpu.stop_counting()


def test_views_are_not_counted_twice(more: Any) -> None:
    x = tl.zeros(25, 10)
    kept = [
        x.t(),
        x[1:],
        x.view(250),
        x.detach(),
        x.data,
        x.numpy(),
        x.expand(4, 25, 10),
        x.unfold(0, 3, 1),
        x.T.split(5),
    ]
    assert more() == 1000
    del x
    assert more() == 1000
    kept.clear()
    assert more() == 0


def test_every_type_counts_its_bytes(more: Any) -> None:
    kept = [tl.zeros(10, dtype=d) for d in (tl.bool, tl.bfloat16, tl.float64, tl.complex128)]
    assert more() == 10 + 20 + 80 + 160
    assert len(kept) == 4


def test_in_place_writes_and_out_take_no_new_memory(more: Any) -> None:
    x, out = tl.ones(100), tl.empty(100)
    x.add_(1).mul_(x).clamp_(0, 3)
    tl.exp(x, out=out)
    x[3:] = 0
    assert more() == 800


def test_memory_of_an_array_outside_is_counted_once_and_as_a_whole(more: Any) -> None:
    array = np.zeros(1000, np.uint8)
    x, y = tl.from_numpy(array[:10]), tl.from_numpy(array[500:])
    assert more() == 1000
    z = tl.frombuffer(bytearray(64), dtype=tl.float32)
    assert more() == 1064
    assert x.numel() + y.numel() + z.numel() == 526


@pytest.fixture
def held() -> Callable[[], int]:
    """How many bytes graphs alone hold more than at the start of the test."""
    gc.collect()
    before = cpu.memory_held_by_graph()
    return lambda: cpu.memory_held_by_graph() - before


def test_what_a_graph_saves_is_held_by_it_alone_and_is_free_after_backward(more: Any, held: Any) -> None:
    w = tl.ones(100, requires_grad=True)
    loss = ((w * 3).exp() * w).sum()
    assert held() == 400  # the result of exp: exp needs it, and so does the product; w is a tensor of its own
    assert more() == 400 + 400 + 4
    loss.backward()
    assert held() == 0
    assert more() == 400 + 400 + 4  # w, its gradient, and the loss
    del loss
    w.grad = None
    assert more() == 400


def test_a_retained_graph_goes_on_holding(held: Any) -> None:
    w = tl.ones(100, requires_grad=True)
    loss = w.exp().sum()
    loss.backward(retain_graph=True)
    assert held() == 400
    del loss
    assert held() == 0


def test_gradients_that_wait_in_a_pass_are_counted(held: Any) -> None:
    from tensorlab.engine.run import BackwardRun

    w = tl.ones(100, requires_grad=True)
    run = BackwardRun([(w * 2).sum()], [None], unseen=True)
    run.step()
    assert held() in (4, 400)  # the gradient of the sum, spread or still one number
    run.run()
    assert w.grad.tolist() == [2] * 100


def trained() -> Any:
    """A little training, in the middle of a third step."""
    net = tl.nn.Sequential(tl.nn.Linear(30, 40), tl.nn.ReLU(), tl.nn.Linear(40, 5))
    optimizer = tl.optim.SGD(net.parameters(), lr=0.1)
    x = tl.rand(16, 30)
    for step in range(3):
        loss = tl.nn.functional.cross_entropy(net(x), tl.zeros(16, dtype=tl.int64))
        if step < 2:
            optimizer.zero_grad()
            loss.backward()
    return net, optimizer, x, loss


def test_the_walk_finds_what_numpy_asked_the_system_for_to_the_byte() -> None:
    """NumPy tells tracemalloc of its elements under a number of its own."""
    trained()  # constants that are kept for good exist now
    gc.collect()
    before = cpu.memory_allocated()
    tracemalloc.start()
    try:
        kept = trained()
        gc.collect()
        taken = tracemalloc.take_snapshot().filter_traces([tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)])
    finally:
        tracemalloc.stop()
    assert sum(trace.size for trace in taken.traces) == cpu.memory_allocated() - before
    assert kept[-1].item() > 0


def test_the_most_is_that_of_a_chain_to_the_byte(more: Any) -> None:
    x = tl.ones(1000)
    cpu.reset_peak_memory_stats()
    base = cpu.max_memory_allocated()
    y = x * 2
    y = y + 1  # both are alive while the sum is made
    y = y.exp()
    assert cpu.max_memory_allocated() - base == 8000
    del y
    assert cpu.max_memory_allocated() - base == 8000
    cpu.reset_peak_memory_stats()
    assert cpu.max_memory_allocated() == base
    z = tl.zeros(500)
    assert cpu.max_memory_allocated() - base == 2000
    del z
    stats = cpu.memory_stats()
    assert stats["allocated_bytes.all.peak"] - stats["allocated_bytes.all.current"] == 2000
    cpu.stop_counting()
    assert "allocated_bytes.all.peak" not in cpu.memory_stats()


def test_the_most_of_a_backward_and_of_an_optimizer_is_seen(more: Any) -> None:
    w = tl.ones(1000, requires_grad=True)
    optimizer = tl.optim.Adam([w], lr=0.1)
    cpu.reset_peak_memory_stats()
    base = cpu.max_memory_allocated()
    w.exp().sum().backward()
    assert cpu.max_memory_allocated() - base >= 8000  # the result of exp and a gradient
    optimizer.step()
    assert cpu.memory_allocated() - base == 4000 + 8000 + 4  # the gradient, two moments and a step count


def test_counting_leaves_nothing_behind(more: Any) -> None:
    cpu.reset_peak_memory_stats()
    tl.ones(10).add(1)
    cpu.stop_counting()
    assert more() == 0
    from tensorlab import taps

    assert not taps.ops
    assert not taps.steps
    assert not taps.buffers
