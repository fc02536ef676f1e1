"""Passes of other kinds step too: for some inputs, recorded ones, second ones; and blocking ones stop where they are told to."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.observe.names import Names
from tensorlab.observe.occasions import is_now
from tensorlab.observe.session import StepSession

pytest.importorskip("tensorlab_widgets")


@pytest.fixture
def watched():
    tl.modes.watch_sites()
    yield
    tl.modes.watch_sites(False)


def test_a_pass_for_inputs_is_that_of_grad_and_touches_no_grad(net):
    view = tl.show.stepper(net["loss"], inputs=[net["w"], net["h"]])
    assert view.gradients == (None, None)
    view.finish()
    wanted = tl.autograd.grad(net["loss"], [net["w"], net["h"]], retain_graph=True)
    for found, gradient in zip(view.gradients, wanted, strict=True):
        np.testing.assert_array_equal(found.numpy(), gradient.numpy())
    assert net["w"].grad is None
    assert net["x"].grad is None
    view.restart()
    assert view.gradients == (None, None)


@pytest.mark.parametrize(
    ("inputs", "error", "why"),
    [
        ([], RuntimeError, "asks for no gradient"),
        ([3], TypeError, "element 0 is int"),
        ([tl.ones(2)], RuntimeError, "does not require grad"),
    ],
)
def test_inputs_that_can_have_no_gradient_are_refused(net, inputs, error, why):
    with pytest.raises(error, match=why):
        tl.show.stepper(net["loss"], inputs=inputs)


def test_a_recorded_pass_can_be_differentiated_and_stepped_again_back_and_forth(net):
    first = tl.show.stepper(net["loss"], inputs=[net["x"]], create_graph=True)
    first.next(3)
    first.back(2)
    first.finish()
    (gradient,) = first.gradients
    assert gradient.requires_grad
    wanted = tl.autograd.grad((gradient**2).sum(), net["w"], retain_graph=True)[0]
    second = tl.show.stepper((gradient**2).sum())
    second.next(6)
    second.back(4)
    second.finish()
    np.testing.assert_array_equal(net["w"].grad.numpy(), wanted.numpy())
    second.restart()
    assert net["w"].grad is None


def test_what_a_recorded_pass_made_stands_in_parts_of_its_own(watched):
    before = tl.modes.state.mark
    x = tl.ones(3, requires_grad=True)
    session = StepSession((x**3).sin().sum(), inputs=[x], create_graph=True)
    session.ask("finish")
    (gradient,) = session.gradients
    graph = StepSession((gradient**2).sum()).graph
    names = {group.name for group in graph.groups}
    assert {"backward", "backward.SinBackward0", "backward.PowBackward0"} <= names
    again = StepSession(gradient.sum())
    cosine = next(node for node in again.walk.nodes if node.name() == "CosBackward0")
    assert "x**3).sin()" in again.inspect(cosine.seq).site.code  # the line of the forward
    assert tl.modes.state.mark is before


def test_a_second_recorded_pass_is_told_apart_from_the_first(watched):
    x = tl.ones(3, requires_grad=True)
    (first,) = tl.autograd.grad((x**4).sum(), x, create_graph=True)
    (second,) = tl.autograd.grad(first.sum(), x, create_graph=True)
    groups = {group.name for group in StepSession(second.sum(), names=Names({"x": x})).graph.groups}
    assert "second backward" in groups


def test_a_thousand_nodes_go_back_to_the_bit():
    tl.manual_seed(0)
    w = tl.randn(4, 4, requires_grad=True)
    h = tl.randn(2, 4)
    for _ in range(400):
        h = (h @ w).tanh() + 0.1 * h
    session = StepSession((h * h).sum())
    assert session.run.total > 1000
    seen = {}
    for step in range(0, session.run.total, 97):
        session.ask("goTo", step=step)
        seen[step] = [gradient.numpy().copy() for gradient in session.run.held(session.run.current)]
    session.ask("finish")
    whole = w.grad.numpy().copy()
    for step in sorted(seen, reverse=True):
        session.ask("goTo", step=step)
        assert w.grad is None
        for before, now in zip(seen[step], session.run.held(session.run.current), strict=True):
            np.testing.assert_array_equal(before, now.numpy())
    session.ask("finish")
    np.testing.assert_array_equal(w.grad.numpy(), whole)


# ---- when a blocking call stops --------------------------------------------------------------------------------------


def trained(when) -> tuple[list[int], list[float]]:
    """The steps at which a loop of four stopped, and the weight afterwards. Nobody can wait here, so each pass is finished by hand."""
    w = tl.full((2,), 0.5, requires_grad=True)
    stopped = []
    for step in range(4):
        w.grad = None
        loss = (w * w * (step + 1)).sum()
        view = tl.show.stepper(loss, block=True, when=when(step) if callable(when) else when)
        if view is not None:
            stopped.append(step)
            view.finish()
            view.close()
        with tl.no_grad():
            w -= 0.1 * w.grad
    return stopped, w.tolist()


@pytest.mark.filterwarnings("ignore:stepper.block=True. did not wait")
def test_a_loop_stops_at_the_step_the_loss_or_the_condition_that_was_named():
    plain, weight = trained(False)
    assert plain == []
    for when, steps in (
        (2, [2]),
        (lambda step: step == 1, [1]),
        (lambda step: lambda loss: loss.item() < 0.3, [3]),
        ({"norm_above": 50}, []),
        ("nan", []),
    ):
        assert trained(when) == (steps, weight)


def test_a_condition_on_gradients_stops_in_the_middle_of_the_first_pass_that_meets_it():
    w = tl.full((2,), 0.5, requires_grad=True)
    for step in range(6):
        w.grad = None
        loss = (w * 10.0**step).sum()
        if step < 3:
            assert tl.show.stepper(loss, block=True, when={"norm_above": 1e3}) is None
            assert w.grad.tolist() == [10.0**step] * 2
        else:
            with pytest.warns(UserWarning, match="did not wait"):
                view = tl.show.stepper(loss, block=True, when={"norm_above": 1e3})
            assert view.session.reason == "predicate"
            assert view.session.run.current.name() == "AccumulateGrad"
            break


def test_a_pass_that_fails_stops_where_it_failed():
    w = tl.ones(2, requires_grad=True)
    h = w * 2
    h.register_hook(lambda grad: 1 / 0)
    with pytest.warns(UserWarning, match="did not wait"):
        view = tl.show.stepper(h.sum(), block=True, when={"nan": True})
    assert view.session.reason == "exception"
    assert view.session.run.current is h.grad_fn


def test_occasions_are_truths_counts_nan_or_functions():
    loss = tl.tensor(1.0)
    assert is_now(True, loss)
    assert not is_now(tl.tensor(False), loss)
    assert [is_now(2, loss) for _ in range(4)] == [False, False, True, False]
    assert [is_now("nan", tl.tensor(value)) for value in (1.0, math.nan, math.inf)] == [False, True, True]
    assert is_now(lambda given: given.item() > 0, loss)
    with pytest.raises(TypeError, match="which time this line is reached"):
        is_now(2.5, loss)
    with pytest.raises(ValueError, match="needs block=True"):
        tl.show.stepper((tl.ones(2, requires_grad=True)).sum(), when=3)


def test_a_call_that_does_not_stop_is_an_ordinary_backward():
    x = tl.ones(2, requires_grad=True)
    assert tl.show.stepper((x * 2).sum(), block=True, when=False) is None
    assert x.grad.tolist() == [2.0, 2.0]
    (gradient,) = tl.show.stepper((x * 3).sum(), inputs=[x], block=True, when=False)
    assert gradient.tolist() == [3.0, 3.0]
    assert x.grad.tolist() == [2.0, 2.0]
