"""Nothing outlives its last use: with the cycle collector off, weak references tell what is still alive."""

from __future__ import annotations

import gc
import sys
import warnings
import weakref

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.autograd import Function, grad, graph
from tensorlab.engine.node import accumulator
from tensorlab.engine.run import BackwardRun
from tests.engine.graphs import leaf, tangle


@pytest.fixture(autouse=True)
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class Watch:
    """Weak references to tensors, their arrays and their nodes."""

    def __init__(self, *tensors):
        self.known = []
        for x in tensors:
            self.known.append(("tensor", weakref.ref(x)))
            if x.grad_fn is not None:
                self.known.append((x.grad_fn.name(), weakref.ref(x.grad_fn)))
                if type(x._a) is np.ndarray:
                    self.known.append((f"array of {x.grad_fn.name()}", weakref.ref(x._a)))

    def alive(self):
        return [name for name, known in self.known if known() is not None]


def net():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = (x * w).tanh()
    z = y.exp() + y
    view = z.view(1, 2)[0]
    written = z * 1
    written[0].mul_(2)
    first, second = written.unbind()
    return x, w, y, z, view, written, first, second


def test_after_backward_and_del_nothing_is_left():
    tensors = net()
    loss = tensors[3].sum() + tensors[4].sum() + tensors[6] * tensors[7]
    watch = Watch(*tensors, loss)
    loss.backward()
    del tensors, loss
    assert watch.alive() == []


def test_a_graph_that_never_ran_is_freed_with_its_last_tensor():
    tensors = net()
    loss = tensors[3].sum()
    watch = Watch(*tensors[2:], loss)
    del tensors
    assert "TanhBackward0" in watch.alive()
    del loss
    assert watch.alive() == []


def test_saved_arrays_are_freed_by_backward_though_the_graph_lives():
    x = leaf(1.0, 2.0)
    y = x * 3
    known = weakref.ref(y._a)
    loss = y.exp().log().sin().sum()
    del y
    assert known() is None
    y = x.sin()
    known = weakref.ref(y._a)
    loss = (y * y).sum()
    del y
    assert known() is not None
    loss.backward()
    assert known() is None


def test_a_leaf_lives_as_long_as_a_graph_that_uses_it():
    x = leaf(1.0)
    known = weakref.ref(x)
    loss = (x * x).sum()
    del x
    assert known() is not None
    loss.backward()
    assert known().grad.tolist() == [2]
    del loss
    assert known() is None


def test_the_node_of_a_leaf_does_not_keep_it():
    x = leaf(1.0)
    known, node = weakref.ref(x), accumulator(x)
    del x
    assert known() is None
    assert node.variable is None


@pytest.mark.parametrize("journal", [True, False])
def test_a_dropped_run_leaves_nothing_finished_or_not(journal):
    for count in (0, 3, 10_000):
        tensors = net()
        loss = tensors[3].sum()
        watch = Watch(*tensors, loss)
        run = BackwardRun((loss,), journal=journal)
        run.run(until=lambda run, node, count=count: run.count == count)
        known = weakref.ref(run)
        del tensors, loss, run
        assert known() is None
        assert watch.alive() == []


def test_a_closed_run_keeps_no_graph():
    tensors = net()
    loss = tensors[3].sum()
    watch = Watch(*tensors, loss)
    run = BackwardRun((loss,), journal=True)
    run.run()
    run.close()
    del tensors, loss
    assert watch.alive() == []
    assert run.closed


def test_gradients_of_a_pass_are_gone_after_it():
    x = leaf(1.0, 2.0)
    seen = []
    y = x * 2
    y.register_hook(lambda g: seen.append(weakref.ref(g._a)))
    (y * y).sum().backward()
    assert [known() for known in seen] == [None]


def test_grad_leaves_nothing_but_its_result():
    tensors = net()
    loss = tensors[3].sum()
    watch = Watch(*tensors[2:], loss)
    found = grad(loss, [tensors[0]])
    del tensors, loss
    assert watch.alive() == []
    assert found[0].shape == (2,)


def test_a_second_derivative_leaves_nothing():
    x = leaf(2.0)
    y = (x**3).sum()
    (g,) = grad(y, x, create_graph=True)
    (h,) = grad(g.sum(), x)
    watch = Watch(x, y, g)
    del x, y, g
    assert watch.alive() == []
    assert h.tolist() == [12]


def test_create_graph_makes_the_cycle_it_warns_of_and_grad_none_breaks_it():
    x = leaf(2.0)
    y = (x**3).sum()
    watch = Watch(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y.backward(create_graph=True)
    x.grad = None
    del x, y
    assert watch.alive() == []


# ------------------------------------------------------------------------------------------------ hooks and functions


def test_hooks_go_with_their_tensor():
    class Hook:
        def __call__(self, *given):
            return None

    hook = Hook()
    known = weakref.ref(hook)
    x = leaf(1.0)
    y = x * 2
    y.register_hook(hook)
    y.grad_fn.register_hook(hook)
    x.register_post_accumulate_grad_hook(hook)
    handle = x.register_hook(hook)
    y.sum().backward()
    del hook, x, y
    assert known() is None
    handle.remove()


def test_retain_grad_keeps_no_tensor_alive():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    loss = (y * 3).sum()
    known = weakref.ref(y)
    del y
    assert known() is None
    loss.backward()
    assert x.grad.tolist() == [6]


def test_a_multi_grad_hook_keeps_no_pass_alive():
    x, w = leaf(1.0), leaf(2.0)
    graph.register_multi_grad_hook((x, w), lambda gs: None)
    loss = (x * w).sum()
    watch = Watch(loss)
    run = BackwardRun((loss,))
    known = weakref.ref(run)
    run.run()
    del run, loss
    assert known() is None
    assert watch.alive() == []


class Keeps(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.x = x
        ctx.inner = x * 2
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[1]


def test_custom_functions_leave_nothing():
    x = leaf(1.0) * 1
    y = Keeps.apply(x)
    context = weakref.ref(y.grad_fn.ctx)
    loss = y.sum()
    watch = Watch(x, y, loss)
    loss.backward()
    del x, y, loss
    assert watch.alive() == []
    assert context() is None


def test_a_custom_function_that_writes_leaves_nothing():
    class Write(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    for part in (lambda x: x, lambda x: x[0]):
        base = leaf(1.0, 2.0) * 1
        y = Write.apply(part(base))
        watch = Watch(base, y)
        base.sum().backward()
        del base, y
        assert watch.alive() == []


def test_saved_values_of_a_custom_function_are_freed_by_backward():
    x = leaf(1.0) * 1
    y = Keeps.apply(x)
    known = weakref.ref(y._a)
    loss = y.sum()
    del y
    assert known() is not None
    loss.backward()
    assert known() is None


def test_what_hooks_packed_is_freed_by_backward():
    class Payload:
        def __init__(self, x):
            self.x = x

    payloads = []

    def pack(x):
        payload = Payload(x)
        payloads.append(weakref.ref(payload))
        return payload

    x = leaf(1.0)
    with graph.saved_tensors_hooks(pack, lambda payload: payload.x):
        loss = x.exp().sum()
    assert payloads[0]() is not None
    loss.backward()
    assert payloads[0]() is None


# ------------------------------------------------------------------------------------------------ failures


def test_a_failed_operation_keeps_nothing():
    x = leaf(1.0, 2.0)
    y = x * 2
    watch = Watch(x, y)
    wrongs = [
        lambda y: y @ tl.ones(3),
        lambda y: y + tl.ones(3),
        lambda y: y.view(5),
        lambda y: y.add_(tl.ones(3)),
        lambda y: y[5],
    ]
    for wrong in wrongs:
        with pytest.raises((RuntimeError, IndexError)):
            wrong(y)
    del x, y
    assert watch.alive() == []


def test_a_failed_backward_keeps_nothing():
    def broken(g):
        raise ZeroDivisionError

    tensors = net()
    loss = tensors[3].sum()
    tensors[2].register_hook(broken)
    watch = Watch(*tensors, loss)
    try:
        loss.backward()
    except ZeroDivisionError:
        pass
    del tensors, loss
    assert watch.alive() == []


def test_an_interrupted_backward_keeps_nothing():
    def interrupt(g):
        raise KeyboardInterrupt

    tensors = net()
    loss = tensors[3].sum()
    tensors[0].register_post_accumulate_grad_hook(interrupt)
    watch = Watch(*tensors, loss)
    try:
        loss.backward()
    except KeyboardInterrupt:
        pass
    del tensors, loss
    assert watch.alive() == []


def test_a_version_error_keeps_nothing():
    y = leaf(1.0).exp()
    y.add_(1)
    watch = Watch(y)
    try:
        y.sum().backward()
    except RuntimeError:
        pass
    del y
    assert watch.alive() == []


# ------------------------------------------------------------------------------------------------ no growth


def test_a_training_loop_makes_no_garbage_for_the_collector():
    leaves, loss = tangle(1, 60)
    loss.backward()
    del loss
    gc.collect()
    for _ in range(3):
        leaves, loss = tangle(1, 60)
        loss.backward()
        del leaves, loss
    assert gc.collect() == 0


def test_a_training_loop_does_not_grow():
    x = leaf(*[0.1] * 64)
    x.grad = tl.zeros(64)

    def step():
        y = x * 2
        y[:10].mul_(3)
        (y.tanh() * y).sum().backward()

    growth = []
    for _ in range(4):
        before = sys.getallocatedblocks()
        for _ in range(300):
            step()
        growth.append(sys.getallocatedblocks() - before)
    assert min(growth) < 50  # the interpreter's own free lists fill up first


def test_accumulating_keeps_no_log_that_grows():
    x = leaf(1.0)
    (x * 2).sum().backward()
    _ = x.grad.detach()
    for _ in range(100):
        (x * 2).sum().backward()
    assert len(x.grad._st.writes) <= 16
