"""Expressions at a run that waits: what they see, and that none can disturb the run."""

from __future__ import annotations

import gc
import threading
import time
import weakref

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.observe.protocol import Refused
from tensorlab.observe.session import StepSession


def told(session: StepSession) -> dict[str, tuple[str, bool]]:
    return {each.expression: (each.text, each.wrong) for each in session.watched()}


def plain_gradients(net) -> dict[str, np.ndarray]:
    leaves = {name: net[name].detach().clone().requires_grad_() for name in "xw"}
    h = (leaves["x"] @ leaves["w"]).tanh()
    (h * h).sum().backward()
    return {name: leaf.grad.numpy() for name, leaf in leaves.items()}


def test_watched_expressions_are_told_after_every_step(session, net):
    session.set_watches(["grad.norm()", "node.name", "w.grad", "1 / 0"], net)
    first = session.ask("next")["watches"]
    assert [each["expression"] for each in first] == ["grad.norm()", "node.name", "w.grad", "1 / 0"]
    assert [each["wrong"] for each in first] == [False, False, False, True]
    assert first[3]["text"] == "ZeroDivisionError: division by zero"
    second = session.ask("next")["watches"]
    assert second[1]["text"] == "'TanhBackward0'"
    assert [each["changed"] for each in second] == [True, True, False, False]


def test_the_gradient_the_node_and_what_it_saved_can_be_asked_for(session, net):
    session.ask("runTo", node=net["h"].grad_fn.seq)
    session.set_watches(
        ["grad.shape", "node.saved['result'].equal(h)", "node.module", "node.saved['self']", "len(grads)"], net
    )
    said = told(session)
    assert said["grad.shape"][0] == "tensorlab.Size([4, 2])"
    assert said["node.saved['result'].equal(h)"] == ("True", False)
    assert said["node.saved['self']"] == ("KeyError: there is no saved 'self'; it saved 'result'", True)
    assert said["len(grads)"] == ("1", False)


def test_a_name_that_is_none_says_which_there_are(session):
    session.set_watches(["loss_of_mine"])
    assert "there are grad, grads, node, and your own names" in told(session)["loss_of_mine"][0]


def test_at_the_end_no_gradient_waits(session):
    session.set_watches(["grad", "grad.norm()"])
    session.ask("finish")
    assert told(session) == {"grad": ("None", False), "grad.norm()": ("no gradient waits: the run is over", False)}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "an expression is text"),
        ("grad +", "is no expression"),
        ("grad = 3", "is no expression"),
        ("(a := 3)", "gives no names"),
        ("grad.mul_(0)", r"mul_\(\) writes in place, and an expression only looks; use mul\(\)"),
        ("loss.backward()", "would change what the run works on"),
        ("w.add(1, out=w)", "writes into a tensor"),
        ("x" * 2000, "may have 1,000 characters"),
        (3, "an expression is text"),
    ],
)
def test_what_is_no_expression_that_only_looks_is_refused(session, net, text, why):
    session.set_watches(["grad"])
    with pytest.raises(Refused, match=why):
        session.set_watches([text], net)
    assert [each.text for each in session.watches.expressions] == ["grad"]


def test_an_expression_that_writes_all_the_same_cannot_reach_the_run(session, net):
    def evil(tensor):
        tensor.mul_(0)
        return "wrote"

    def descend():
        net["loss"].backward()

    names = {**net, "evil": evil, "descend": descend, "again": lambda: session.ask("next")}
    session.ask("next")
    session.set_watches(["evil(grad)", "evil(w)", "evil(w.detach())", "descend()", "again()"], names)
    said = [session.watched(), session.watched()][-1]
    assert said[0].text == "'wrote'"  # into its own copy
    for each in said[1:3]:
        assert "would write into what a paused backward pass works on" in each.text
    assert "runs no backward pass" in said[3].text
    assert "cannot ask this run for anything" in said[4].text
    assert session.run.count == 1
    session.ask("finish")
    for name, gradient in plain_gradients(net).items():
        np.testing.assert_array_equal(net[name].grad.numpy(), gradient)


def test_a_slow_expression_is_not_waited_for_and_the_run_goes_on(session, net):
    begin = time.monotonic()
    first = session.set_watches(["__import__('time').sleep(8)", "grad.norm()"]).watches
    second = session.ask("next")["watches"]
    assert time.monotonic() - begin < 8
    assert first[0].text == "not done within 1 s, so nobody waited for it"
    assert "still being worked out" in second[0]["text"]
    session.set_watches([])
    session.ask("finish")
    np.testing.assert_array_equal(net["w"].grad.numpy(), plain_gradients(net)["w"])


def test_an_endless_expression_is_ended(session):
    def running():
        return [thread for thread in threading.enumerate() if thread.name == "tensorlab-expression"]

    session.set_watches(["[0 for _ in iter(int, 1)]"])
    session.ask("next")
    deadline = time.monotonic() + 8
    while running() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running() == []


def test_values_are_told_in_a_line(session, net):
    class Loud:
        def __repr__(self):
            raise OSError("no")

    names = {**net, "loud": Loud(), "long": "a" * 1000, "nan": tl.tensor([1.0, float("nan"), 2, 3, 4, 5, 6])}
    session.set_watches(["x", "x[0]", "x.sum().item()", "loud", "long", "nan", "[1, 2]"], names)
    said = {name: text for name, (text, _) in told(session).items()}
    assert said["x"].startswith("[4, 3] float32 · norm ")
    assert said["x[0]"].startswith("[")
    assert said["x[0]"].count(",") == 2
    assert said["loud"] == "Loud whose repr raised OSError"
    assert len(said["long"]) == 160
    assert "NaN 1" in said["nan"]
    assert said["[1, 2]"] == "[1, 2]"


def test_a_closed_session_keeps_no_name_that_was_watched(net):
    session = StepSession(net["loss"])
    session.set_watches(["h.norm()"], net)
    known = weakref.ref(net["h"])
    session.close()
    net.clear()
    gc.collect()
    assert known() is None


def test_many_watches_are_too_many(session):
    with pytest.raises(Refused, match="at most 20 expressions"):
        session.set_watches([f"grad + {i}" for i in range(21)])


# ---- editing ---------------------------------------------------------------------------------------------------------


def test_an_expression_takes_the_place_of_a_gradient(session, net):
    session.ask("runTo", node=net["h"].grad_fn.seq)
    edited = session.ask("setExpression", node=net["h"].grad_fn.seq, expression="grad.clamp(-1, 1) * 2")
    assert edited["reason"] == "edited"
    session.ask("finish")
    leaves = {name: net[name].detach().clone().requires_grad_() for name in "xw"}
    h = (leaves["x"] @ leaves["w"]).tanh()
    h.register_hook(lambda grad: grad.clamp(-1, 1) * 2)
    (h * h).sum().backward()
    for name, leaf in leaves.items():
        np.testing.assert_array_equal(net[name].grad.numpy(), leaf.grad.numpy())


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("grad[0]", r"has shape \[4, 2\] and type float32; this has \[2\]"),
        ("grad.double()", "this has .* float64"),
        ("1 / 0", "ZeroDivisionError"),
        ("'text'", "a gradient is a tensor"),
        ("grad.zero_()", "writes in place"),
        ("None", "a gradient is a tensor"),
    ],
)
def test_an_expression_that_does_not_suit_changes_nothing(session, net, expression, why):
    session.ask("runTo", node=net["h"].grad_fn.seq)
    before = session.run.held(net["h"].grad_fn)[0].numpy().copy()
    with pytest.raises(Refused, match=why):
        session.ask("setExpression", node=net["h"].grad_fn.seq, expression=expression)
    np.testing.assert_array_equal(session.run.held(net["h"].grad_fn)[0].numpy(), before)
    assert session.edits == []


def test_an_expression_needs_a_gradient_that_waits(session, net):
    with pytest.raises(Refused, match="no gradient waits at TanhBackward0"):
        session.ask("setExpression", node=net["h"].grad_fn.seq, expression="grad * 0")


def test_what_an_edit_changed_is_listed_beside_the_pass_without_it(session, net):
    with pytest.raises(Refused, match="nothing was edited"):
        session.ask("compare")
    tanh = net["h"].grad_fn.seq
    session.ask("runTo", node=tanh)
    session.ask("setExpression", node=tanh, expression="grad * 3")
    early = session.ask("compare")
    assert [row["node"] for row in early["gradients"]] == [tanh]
    session.ask("finish")
    found = session.ask("compare")
    plain = plain_gradients(net)
    rows = {row["label"]: row for row in found["gradients"]}
    assert {"x", "w", "h"} <= set(rows)
    for name in "xw":
        assert rows[name]["before"] == pytest.approx(np.linalg.norm(plain[name]), rel=1e-5)
        assert rows[name]["relative"] == pytest.approx(2, rel=1e-5)
        np.testing.assert_allclose(net[name].grad.numpy(), 3 * plain[name], rtol=1e-5)
    assert found["gradients"][0]["name"] == "AccumulateGrad"
    assert found["same"] == 2  # the loss and the product before it
    assert "The edit of the gradient of h changed 4 of 6 gradients" in found["sentence"]


def test_comparing_touches_no_gradient_and_says_where_hooks_ran_again(session, net):
    calls = []
    net["h"].register_hook(lambda grad: calls.append(1))
    net["h"].retain_grad()
    session.ask("runTo", node=net["h"].grad_fn.seq)
    session.ask("setExpression", node=net["h"].grad_fn.seq, expression="grad * 0")
    session.ask("finish")
    kept = {name: net[name].grad.numpy().copy() for name in "xwh"}
    found = session.ask("compare")
    assert "Hooks ran once more" in found["sentence"]
    assert len(calls) == 2
    for name, gradient in kept.items():
        np.testing.assert_array_equal(net[name].grad.numpy(), gradient)


def test_an_edit_without_effect_is_told_as_such(session, net):
    session.ask("setExpression", node=net["loss"].grad_fn.seq, expression="grad * 1")
    session.ask("finish")
    assert "changed nothing so far: all 6 gradients" in session.ask("compare")["sentence"]
