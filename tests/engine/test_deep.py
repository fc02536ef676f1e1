"""Graphs so deep that anything recursive would overflow: built, run, stepped and freed, each with a small stack."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.engine.run import BackwardRun

SMALL_STACK = 1024 * 1024  # a recursion 20,000 deep does not fit


def with_a_small_stack(function):
    """Run ``function`` in a thread whose C stack is too small for any deep recursion; return what it returns."""
    found, before = [], threading.stack_size(SMALL_STACK)
    try:

        def work():
            try:
                found.append(function())
            except BaseException as error:
                found.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


def chain(x, depth):
    y = x
    for i in range(depth):
        y = y * 1.0 if i % 2 else y + 0.0
    return y


def test_a_chain_of_300_000_nodes_is_built_run_and_freed():
    def work():
        x = tl.ones(1, requires_grad=True)
        loss = chain(x, 300_000)
        loss.backward()
        assert x.grad.tolist() == [1]
        del loss
        return True

    assert with_a_small_stack(work)


def test_a_chain_that_never_ran_is_freed_too():
    def work():
        x = tl.ones(1, requires_grad=True)
        loss = chain(x, 300_000)
        del x, loss
        return True

    assert with_a_small_stack(work)


def test_a_chain_of_writes_to_views_is_freed():
    def work():
        x = tl.ones(3, requires_grad=True)
        y = x * 1
        for _ in range(20_000):
            y[1:].mul_(1.0)
        y.sum().backward()
        assert x.grad.tolist() == [1, 1, 1]
        del y
        return True

    assert with_a_small_stack(work)


def test_a_chain_of_views_is_freed():
    def work():
        x = tl.ones(2, 3, requires_grad=True)
        y = x * 1
        for _ in range(50_000):
            y = y.t()
        y.sum().backward()
        del y
        return x.grad.tolist()

    assert with_a_small_stack(work) == [[1, 1, 1], [1, 1, 1]]


def test_a_chain_of_custom_functions_is_freed():
    class Same(tl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g

    def work():
        x = tl.ones(1, requires_grad=True)
        y = x
        for _ in range(20_000):
            y = Same.apply(y)
        y.sum().backward()
        del y
        return x.grad.tolist()

    assert with_a_small_stack(work) == [1]


def test_a_graph_of_gradients_is_freed():
    def work():
        x = tl.ones(1, requires_grad=True)
        (g,) = tl.autograd.grad(chain(x, 20_000).sum(), x, create_graph=True)
        (g * g * x).sum().backward()
        del g
        return x.grad.tolist()

    assert with_a_small_stack(work) == [1]


def test_a_deep_run_can_be_stepped_undone_and_dropped_half_way():
    def work():
        x = tl.ones(1, requires_grad=True)
        run = BackwardRun((chain(x, 20_000).sum(),), journal=True)
        assert len(run.planned()) == run.total == 20_002
        run.run(until=lambda run, node: run.count == 15_000)
        for _ in range(5_000):
            run.back()
        assert run.count == 10_000
        run.run()
        run.close()
        return x.grad.tolist()

    assert with_a_small_stack(work) == [1]


def test_the_recursion_limit_is_reached_nowhere():
    x = tl.ones(1, requires_grad=True)
    before = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(200)
        loss = chain(x, 20_000).sum()
        loss.backward(retain_graph=True)
        tl.autograd.grad(loss, x)
        del loss
    finally:
        sys.setrecursionlimit(before)
    assert x.grad.tolist() == [1]


@pytest.mark.parametrize("how", ["global", "cycle", "exception"])
def test_a_deep_graph_that_is_alive_at_the_end_of_the_interpreter_ends_it_quietly(how):
    program = textwrap.dedent(
        f"""
        import resource
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
        import tensorlab as tl
        x = tl.ones(1, requires_grad=True)
        loss = x
        for _ in range(200_000):
            loss = loss * 1.0
        if {how!r} == "cycle":
            cycle = [loss]
            cycle.append(cycle)
            del loss, cycle
        if {how!r} == "exception":
            raise SystemExit(0)
        """
    )
    ended = subprocess.run(
        ["bash", "-c", 'ulimit -s 1024; exec "$0" -c "$1"', sys.executable, program], capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    assert not ended.stderr


def test_a_leaf_that_is_used_twenty_thousand_times_gathers_every_use():
    x = tl.ones(1, requires_grad=True)
    total = x * 0
    for _ in range(20_000):
        total = total + x
    total.sum().backward()
    assert x.grad.tolist() == [20_000]


def test_values_of_a_deep_run_equal_those_computed_directly():
    x = tl.tensor([0.5], requires_grad=True)
    y, expected = x, np.float64(1)
    value = np.float32(0.5)
    for _ in range(3_000):
        y = y.sin()
        expected *= np.cos(np.float64(value))
        value = np.sin(value)
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), [expected], rtol=1e-3)
