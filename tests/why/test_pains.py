"""What people trip over, in the words of what must happen instead."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.engine import hidden
from tensorlab.observe.session import StepSession


@pytest.fixture(autouse=True)
def _watched():
    tl.modes.watch_sites()
    hidden._told.clear()
    yield
    tl.modes.watch_sites(False)


class Doubled(tl.autograd.Function):
    threads: list = []

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        Doubled.threads.append(threading.current_thread())
        return grad * 2


def test_a_written_backward_and_a_hook_run_on_the_thread_that_called_backward():
    Doubled.threads = []
    x = tl.ones(2, requires_grad=True)
    h = x * 1
    h.register_hook(lambda grad: Doubled.threads.append(threading.current_thread()))
    Doubled.apply(h).sum().backward()
    assert Doubled.threads == [threading.current_thread()] * 2


def test_a_breakpoint_on_a_node_with_a_written_backward_is_hit_and_stepping_runs_its_body():
    Doubled.threads = []
    x = tl.ones(2, requires_grad=True)
    h = Doubled.apply(x)
    session = StepSession(h.sum())
    session.ask("setBreakpoints", nodes=[h.grad_fn.seq])
    assert session.ask("continue")["node"] == h.grad_fn.seq
    assert Doubled.threads == []
    session.ask("next")
    assert Doubled.threads == [threading.current_thread()]


def test_a_debugger_set_inside_a_written_backward_is_entered(monkeypatch):
    entered = []
    monkeypatch.setattr("sys.breakpointhook", lambda *args, **kwargs: entered.append(threading.current_thread()))

    class Stopping(tl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            breakpoint()
            return grad * 2

    Stopping.apply(tl.ones(2, requires_grad=True)).sum().backward()
    assert entered == [threading.current_thread()]


def test_full_backward_hooks_and_writes_in_place_go_together():
    model = tl.nn.Sequential(tl.nn.Linear(3, 4), tl.nn.ReLU(inplace=True), tl.nn.Linear(4, 1))
    seen = []
    for layer in model:
        layer.register_full_backward_hook(lambda module, grads, outs: seen.append(type(module).__name__))
    try:
        out = model(tl.ones(2, 3, requires_grad=True))
        out += 1
    except RuntimeError as error:
        said = str(error)
        assert "hook" in said
        assert "clone()" in said or "inplace=False" in said
    else:
        out.sum().backward()
        assert seen == ["Linear", "ReLU", "Linear"]


def test_a_hook_on_a_leaf_sees_the_gradient_before_it_is_added_and_a_post_accumulate_hook_after():
    w = tl.ones(2, requires_grad=True)
    seen = []
    w.register_hook(lambda grad: seen.append(("hook", w.grad is None)))
    w.register_post_accumulate_grad_hook(lambda leaf: seen.append(("after", leaf.grad.tolist())))
    (w * 3).sum().backward()
    assert seen == [("hook", True), ("after", [3.0, 3.0])]


def test_the_grad_of_an_intermediate_says_why_it_is_none_and_the_step_view_shows_it_without_retain_grad():
    w = tl.ones(2, requires_grad=True)
    h = w * 2
    loss = (h * h).sum()
    session = StepSession(loss)
    session.ask("runTo", node=h.grad_fn.seq)
    (slot,) = [slot for slot in session.inspect(h.grad_fn.seq).gradients if slot.role == "incoming"]
    assert slot.preview.grid == ((4.0, 4.0),)
    session.ask("finish")
    with pytest.warns(UserWarning, match=r"\.retain_grad\(\)"):
        assert h.grad is None
    assert "h.retain_grad()" in str(tl.why_none(h))


def test_a_gradient_that_never_came_is_explained_by_the_call_that_cut_the_way():
    w = tl.ones(2, requires_grad=True)
    loss = (w.detach() * 2).sum() + tl.ones(1, requires_grad=True).sum()
    loss.backward()
    said = str(tl.why_none(w, loss))
    assert "detach" in said
    assert "test_pains.py, line" in said


def test_a_second_backward_names_the_first_and_freed_nodes_are_told_apart():
    w = tl.ones(2, requires_grad=True)
    loss = (w * w).sum()
    loss.backward()
    with pytest.raises(RuntimeError, match=r"The first backward was .*test_pains\.py, line \d+"):
        loss.backward()
    session = StepSession(loss)
    assert "freed by the backward in" in session.closed
    from tensorlab.observe.schema import STATES

    states = [STATES[state] for state in session.graph.nodes.state]
    assert "freed" in states


def test_a_write_in_place_is_named_by_its_line_and_the_node_that_saved():
    w = tl.ones(2, requires_grad=True)
    h = w.exp()
    loss = h.sum()
    h.mul_(2)
    with pytest.raises(
        RuntimeError, match=r"ExpBackward0.*saved as 'result'.*written by mul_\(\) at .*test_pains\.py, line"
    ):
        loss.backward()


# ---- .data and detach() ----------------------------------------------------------------------------------------------


def hidden_writes(program) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program()
    return [str(each.message) for each in caught if "does not" in str(each.message)]


@pytest.mark.parametrize("how", [lambda h: h.data, lambda h: h.detach()], ids=[".data", "detach()"])
def test_a_write_through_data_or_detach_into_a_computed_value_is_told_once_with_its_line(how):
    w = tl.ones(2, requires_grad=True)

    def program():
        for _ in range(3):
            h = w + 1
            how(h).mul_(3)
            h.sum().backward()

    (said,) = hidden_writes(program)
    assert "AddBackward0, made at" in said
    assert "test_pains.py, line" in said
    assert "gradients can be silently wrong" in said
    assert "how(h).mul_(3)" in said


def test_a_write_to_a_part_of_it_is_told_too():
    w = tl.ones(2, requires_grad=True)

    def program():
        h = w + 1
        h.data[0] = 5

    assert len(hidden_writes(program)) == 1


def test_where_the_value_was_saved_backward_refuses_besides():
    w = tl.ones(2, requires_grad=True)
    h = w.exp()
    assert len(hidden_writes(lambda: h.data.mul_(3))) == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        h.sum().backward()


def test_ordinary_writes_are_not_told_of():
    w = tl.ones(2, requires_grad=True)
    h = w + 1
    loss = (h * 2).sum()
    loss.backward()

    def program():
        w.data.sub_(0.1)  # a leaf: what people do with parameters
        w.grad.data.zero_()
        h.detach().clone().mul_(2)
        loss.data.zero_()  # its graph is over
        values = h.detach() * 2
        values.add_(1)

    assert hidden_writes(program) == []


def test_what_data_gives_keeps_no_graph_alive():
    import gc
    import weakref

    w = tl.ones(2, requires_grad=True)
    h = w + 1
    node = weakref.ref(h.grad_fn)
    d = h.data
    del h
    gc.collect()
    assert node() is None
    d.mul_(2)
    np.testing.assert_array_equal(d.numpy(), [4, 4])
