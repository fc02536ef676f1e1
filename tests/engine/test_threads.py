"""Several threads at once: shared leaves get the right sums, modes and passes do not mix."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import tensorlab as tl
from tensorlab import modes
from tensorlab.engine.node import accumulator
from tensorlab.engine.run import BackwardRun
from tests.engine.graphs import leaf, tangle


def together(*works):
    """Run functions in threads that start at the same time; raise what any of them raised."""
    errors = []
    barrier = threading.Barrier(len(works))

    def guarded(work):
        try:
            barrier.wait()
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_shared_leaves_get_the_sum_of_all_threads():
    x, w = tl.ones(50, 50, requires_grad=True), tl.ones(50, 50, requires_grad=True)

    def work(factor):
        for _ in range(50):
            ((x * w).tanh() * 0 + x * factor + w).sum().backward()

    together(*[lambda f=f: work(float(f)) for f in (1, 2, 3, 4)])
    assert (x.grad == 50 * 10).all()
    assert (w.grad == 50 * 4).all()


def test_large_gradients_are_added_one_at_a_time():
    x = tl.zeros(1_000_000, requires_grad=True)
    together(*[lambda: [x.sum().backward() for _ in range(10)]] * 3)
    assert (x.grad == 30).all()


def test_a_leaf_has_one_node_however_many_threads_ask_first():
    for _ in range(50):
        x = leaf(1.0)
        nodes = []
        together(*[lambda x=x, nodes=nodes: nodes.append(accumulator(x))] * 4)
        assert len(set(nodes)) == 1


def test_one_graph_run_by_several_threads_that_retain_it():
    leaves, loss = tangle(2)
    together(*[lambda: loss.backward(retain_graph=True)] * 3)
    fresh, other = tangle(2)
    other.backward()
    for x, y in zip(leaves, fresh, strict=True):
        np.testing.assert_allclose(x.grad.numpy(), 3 * y.grad.numpy(), rtol=1e-6)


def test_grad_mode_of_one_thread_is_not_seen_by_another():
    def quiet():
        with tl.no_grad():
            for _ in range(200):
                assert not (leaf(1.0) * 2).requires_grad

    def recording():
        for _ in range(200):
            assert (leaf(1.0) * 2).requires_grad
            (leaf(1.0) * 2).backward()
            assert tl.is_grad_enabled()

    together(quiet, recording, quiet, recording)
    assert tl.is_grad_enabled()


def test_inference_mode_and_saved_hooks_of_one_thread_are_not_seen_by_another():
    packed = []

    def inference():
        for _ in range(100):
            with tl.inference_mode():
                assert (tl.ones(1) * 2).is_inference()

    def hooks():
        for _ in range(100):
            with tl.autograd.graph.saved_tensors_hooks(lambda t: packed.append(1) or t, lambda t: t):
                leaf(1.0).exp().backward()

    def ordinary():
        for _ in range(200):
            y = leaf(1.0).exp()
            assert not y.is_inference()
            y.backward()

    together(inference, hooks, ordinary)
    assert len(packed) == 100


def test_a_run_goes_on_from_another_thread_while_the_first_waits():
    leaves, loss = tangle(4)
    run = BackwardRun((loss,), journal=True)
    run.run(until=lambda run, node: run.count == 10)
    done = threading.Event()
    thread = threading.Thread(target=lambda: (run.run(until=lambda run, node: run.count == 50), run.back(), done.set()))
    thread.start()
    assert done.wait(30)
    thread.join()
    assert run.count == 49
    run.run()
    fresh, other = tangle(4)
    other.backward()
    assert all(np.array_equal(x.grad.numpy(), y.grad.numpy()) for x, y in zip(leaves, fresh, strict=True))


def test_two_threads_that_step_one_run_share_its_nodes():
    leaves, loss = tangle(6)
    run = BackwardRun((loss,), journal=True)

    def work():
        while run.step() is not None:
            pass

    together(work, work, work)
    assert run.count == run.total == len(run.done) == len(set(run.done))
    fresh, other = tangle(6)
    other.backward()
    assert all(np.array_equal(x.grad.numpy(), y.grad.numpy()) for x, y in zip(leaves, fresh, strict=True))


def test_a_second_thread_waits_while_a_step_runs_and_then_moves():
    x = leaf(1.0)
    y = x * 2
    entered, leave = threading.Event(), threading.Event()

    def slow(g):
        entered.set()
        assert leave.wait(30)

    y.register_hook(slow)
    run = BackwardRun((y.sum(),), journal=True)
    first = threading.Thread(target=run.run)
    first.start()
    assert entered.wait(30)
    stepped = []
    second = threading.Thread(target=lambda: stepped.append(run.step()))
    second.start()
    time.sleep(0.05)
    assert stepped == []
    assert run.current is y.grad_fn
    leave.set()
    first.join(30)
    second.join(30)
    assert stepped == [None]
    assert x.grad.tolist() == [2]


def test_the_mode_of_a_pass_belongs_to_the_thread_that_advances_it():
    x = leaf(1.0)
    y = x * 2
    entered, leave = threading.Event(), threading.Event()
    y.register_hook(lambda g: (entered.set(), leave.wait(30)) and None)
    thread = threading.Thread(target=y.sum().backward)
    thread.start()
    assert entered.wait(30)
    assert tl.is_grad_enabled()
    assert (x * 2).requires_grad
    leave.set()
    thread.join(30)


def test_hooks_run_in_the_thread_that_called_backward():
    seen = []
    x = leaf(1.0)
    x.register_hook(lambda g: seen.append(threading.current_thread()))
    x.sum().backward()
    thread = threading.Thread(target=x.sum().backward)
    thread.start()
    thread.join()
    assert seen == [threading.main_thread(), thread]


@pytest.mark.parametrize("mode", ["no_grad", "inference"])
def test_switching_modes_from_many_threads_leaves_the_ordinary_path_on(mode):
    switch = tl.no_grad if mode == "no_grad" else tl.inference_mode

    def work():
        for _ in range(300):
            with switch():
                pass

    together(work, work, work)
    assert not any(modes._counts.values())
