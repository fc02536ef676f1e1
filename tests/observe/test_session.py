"""A session steps through the engine's own backward pass, and refuses clearly what cannot be done."""

from __future__ import annotations

import gc
import json
import math
import threading
import time
import weakref

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.observe import wire
from tensorlab.observe.drivers import Worker, wait_for_view, why_not_blocking
from tensorlab.observe.names import Names
from tensorlab.observe.protocol import Refused
from tensorlab.observe.schema import STATES, SessionState, Stopped
from tensorlab.observe.session import StepSession


def states(stopped: dict) -> dict[int, str]:
    changes = stopped["changes"]
    return {node: STATES[state] for node, state in zip(changes["node"], changes["state"], strict=True)}


def expected_gradients(net) -> dict[str, np.ndarray]:
    again = {name: net[name].detach().clone().requires_grad_() for name in "xw"}
    h = (again["x"] @ again["w"]).tanh()
    (h * h).sum().backward()
    return {name: again[name].grad.numpy() for name in "xw"}


def test_opening_tells_the_whole_order_and_where_the_run_stands(session, net):
    state = session.handle({"seq": 7, "command": "initialize"})
    assert state["seq"] == 7
    assert state["success"]
    body = state["body"]
    assert body["stopped"]["reason"] == "entry"
    assert (body["stopped"]["step"], body["stopped"]["total"]) == (0, 6)
    assert body["stopped"]["node"] == net["loss"].grad_fn.seq
    assert len(body["stopped"]["upcoming"]) == 6
    assert states(body["stopped"]) == {net["loss"].grad_fn.seq: "current"}
    assert wire.from_json(SessionState, json.loads(json.dumps(body, allow_nan=False))) == session.state()


def test_a_step_runs_one_node_and_tells_only_what_changed(session, net):
    stopped = session.ask("next")
    loss, product = net["loss"].grad_fn.seq, net["loss"].grad_fn.next_functions[0][0].seq
    assert states(stopped) == {loss: "done", product: "current"}
    assert stopped["changes"]["norm"] == [None, pytest.approx(math.sqrt(8))]
    assert stopped["changes"]["flow"] == [pytest.approx(math.sqrt(8))]
    assert sum(stopped["histogram"]) == 8
    assert len(json.dumps(stopped, ensure_ascii=False).encode()) <= 1024


def test_running_to_the_end_gives_the_gradients_of_backward(session, net):
    stopped = session.ask("continue")
    assert stopped["reason"] == "done"
    assert stopped["node"] == -1
    assert "Finished after 6 nodes. Gradients have arrived at 2 leaves." in stopped["sentence"]
    for name, gradient in expected_gradients(net).items():
        np.testing.assert_array_equal(net[name].grad.numpy(), gradient)


def test_going_back_restores_every_gradient_to_the_bit(session, net):
    net["w"].grad = tl.full((3, 2), 0.1)
    before = net["w"].grad.numpy().copy()
    session.ask("continue")
    assert not np.array_equal(net["w"].grad.numpy(), before)
    assert session.ask("restart")["step"] == 0
    assert net["x"].grad is None
    np.testing.assert_array_equal(net["w"].grad.numpy(), before)
    session.ask("continue")
    np.testing.assert_array_equal(net["w"].grad.numpy(), before + expected_gradients(net)["w"])


def test_back_and_go_to_move_by_steps(session):
    session.ask("next", count=4)
    assert session.ask("stepBack")["step"] == 3
    assert session.ask("stepBack", count=2)["step"] == 1
    assert session.ask("goTo", step=5)["step"] == 5
    back = session.ask("goTo", step=2)
    assert (back["step"], back["reason"]) == (2, "goto")
    assert set(states(back).values()) == {"current", "idle"}


def test_a_breakpoint_stops_before_its_node_and_lets_it_go_on(session, net):
    tanh = net["h"].grad_fn.seq
    assert session.ask("setBreakpoints", nodes=[tanh]) == {"nodes": [tanh], "predicates": [], "together": False}
    stopped = session.ask("continue")
    assert (stopped["node"], stopped["reason"]) == (tanh, "breakpoint")
    assert "at a breakpoint" in stopped["sentence"]
    assert session.ask("continue")["reason"] == "done"


def test_run_to_stops_before_a_node_whatever_breakpoints_there_are(session, net):
    tanh = net["h"].grad_fn
    session.ask("setBreakpoints", nodes=[net["loss"].grad_fn.next_functions[0][0].seq])
    stopped = session.ask("runTo", node=tanh.seq)
    assert (stopped["node"], stopped["reason"]) == (tanh.seq, "goto")


def test_finish_ignores_breakpoints(session, net):
    session.ask("setBreakpoints", nodes=[net["h"].grad_fn.seq])
    assert session.ask("finish")["reason"] == "done"


@pytest.mark.parametrize(
    ("predicate", "why"),
    [
        ({"kind": "nan", "value": None}, "the gradient holds NaN"),
        ({"kind": "inf", "value": None}, "the gradient holds an infinite value"),
        ({"kind": "norm_above", "value": 5}, "the norm infinite is above 5"),
    ],
)
def test_a_condition_stops_the_run_and_says_which(predicate, why):
    x = tl.tensor([0.0, 1.0], requires_grad=True)
    weight = 0.0 if predicate["kind"] == "nan" else 1.0
    session = StepSession((x.sqrt() * tl.tensor([weight, 1.0])).sum())
    session.ask("setBreakpoints", nodes=[], predicates=[predicate])
    stopped = session.ask("continue")
    assert stopped["reason"] == "predicate"
    assert why in stopped["sentence"]
    json.dumps(stopped, allow_nan=False)


def test_a_small_gradient_stops_too(session):
    session.ask("setBreakpoints", nodes=[], predicates=[{"kind": "norm_below", "value": 1e9}])
    assert session.ask("continue")["reason"] == "predicate"


def test_an_edited_gradient_changes_everything_after_it(session, net):
    session.ask("runTo", node=net["h"].grad_fn.seq)
    edited = session.ask("setGradient", node=net["h"].grad_fn.seq, output=0, index=[0, 1], value=100)
    assert edited["reason"] == "edited"
    assert edited["edited"] == [net["h"].grad_fn.seq]
    session.ask("continue")
    plain = expected_gradients(net)
    assert not np.allclose(net["x"].grad.numpy()[0], plain["x"][0])
    np.testing.assert_array_equal(net["x"].grad.numpy()[1:], plain["x"][1:])
    detail = session.ask("inspect", node=net["h"].grad_fn.seq)
    assert [slot["edited"] for slot in detail["gradients"] if slot["role"] == "incoming"] == [True]


def test_going_back_past_an_edit_forgets_it(session, net):
    session.ask("next", count=2)
    waiting = session.run.current.seq
    session.ask("setGradient", node=waiting, output=0, index=[0, 0], value="nan")
    assert session.ask("stepBack")["edited"] == []
    session.ask("continue")
    np.testing.assert_array_equal(net["w"].grad.numpy(), expected_gradients(net)["w"])


def test_an_edit_before_the_first_step_can_be_undone(session, net):
    loss = net["loss"].grad_fn.seq
    session.ask("setGradient", node=loss, output=0, index=[], value=3.0)
    restarted = session.ask("restart")
    assert (restarted["step"], restarted["edited"]) == (0, [])
    session.ask("continue")
    np.testing.assert_array_equal(net["w"].grad.numpy(), expected_gradients(net)["w"])


BAD = [
    ("next", {"count": 0}, "at least 1"),
    ("next", {"count": "two"}, "must be a whole number"),
    ("stepBack", {}, "this is the beginning"),
    ("stepBack", {"count": -3}, "at least 1"),
    ("runTo", {}, "'node' is missing"),
    ("runTo", {"node": 10**9}, "there is no node 1000000000"),
    ("runTo", {"node": "LOSS"}, "already stands before it"),
    ("goTo", {"step": 7}, "it has steps 0 to 6"),
    ("goTo", {"step": -1}, "it has steps 0 to 6"),
    ("goTo", {"step": True}, "must be a whole number"),
    ("inspect", {"node": -1}, "there is no node -1"),
    ("setBreakpoints", {"nodes": [5.5]}, "must be a list of node ids"),
    ("setBreakpoints", {"nodes": [10**9]}, "there is no node"),
    (
        "setBreakpoints",
        {"nodes": [], "predicates": [{"kind": "huge"}]},
        "out of nan, inf, norm_above, norm_below, shape, module, line, hit",
    ),
    ("setBreakpoints", {"nodes": [], "predicates": [{"kind": "norm_above"}]}, "needs a 'value'"),
    ("setBreakpoints", {"nodes": [], "predicates": {"kind": "nan"}}, "must be a list"),
    ("setGradient", {"node": "LOSS", "index": [0], "value": 1}, "'index' has 1 numbers, but the gradient has 0"),
    ("setGradient", {"node": "LOSS", "index": [], "value": "much"}, "must be a number"),
    ("setGradient", {"node": "LOSS", "index": [], "value": None}, "must be a number"),
    ("setGradient", {"node": "LOSS", "index": "x", "value": 1}, "must be a list of whole numbers"),
    ("setGradient", {"node": "LOSS", "output": 3, "index": [], "value": 1}, "outputs 0 to 0, not 3"),
    ("setGradient", {"node": "TANH", "index": [0, 0], "value": 1}, "no gradient waits at TanhBackward0"),
    ("jump", {}, "there is no command 'jump'"),
]


@pytest.mark.parametrize(("command", "arguments", "why"), BAD)
def test_a_request_that_cannot_be_done_is_refused_and_changes_nothing(session, net, command, arguments, why):
    ids = {"LOSS": net["loss"].grad_fn.seq, "TANH": net["h"].grad_fn.seq}
    arguments = {name: ids.get(value, value) if isinstance(value, str) else value for name, value in arguments.items()}
    before = session.state()
    answer = session.handle({"seq": 3, "command": command, "arguments": arguments})
    assert not answer["success"]
    assert answer["body"] is None
    assert why in answer["message"]
    assert session.state() == before


@pytest.mark.parametrize(
    "request_", [None, [], "next", {"seq": 1}, {"command": 5}, {"command": "next", "arguments": 3}]
)
def test_something_that_is_no_request_gets_an_answer_all_the_same(session, request_):
    answer = session.handle(request_)
    assert not answer["success"]
    assert answer["message"]


def test_index_out_of_range_names_the_dimension(session, net):
    session.ask("runTo", node=net["h"].grad_fn.seq)
    with pytest.raises(Refused, match="index 9 is out of range for dimension 0 with size 4"):
        session.ask("setGradient", node=net["h"].grad_fn.seq, index=[9, 0], value=1)


def test_the_end_is_the_end(session, net):
    session.ask("finish")
    with pytest.raises(Refused, match="the run is over"):
        session.ask("next")
    with pytest.raises(Refused, match="has already run"):
        session.ask("runTo", node=net["h"].grad_fn.seq)
    with pytest.raises(Refused, match="no gradient waits"):
        session.ask("setGradient", node=net["h"].grad_fn.seq, index=[0, 0], value=1)


def test_a_hook_that_raises_stops_the_run_which_can_go_on(session, net):
    handle = net["h"].register_hook(lambda grad: 1 / 0)
    stopped = session.ask("continue")
    assert stopped["reason"] == "exception"
    assert "ZeroDivisionError: division by zero" in stopped["sentence"]
    assert stopped["node"] == net["h"].grad_fn.seq
    handle.remove()
    assert session.ask("continue")["reason"] == "done"
    np.testing.assert_array_equal(net["w"].grad.numpy(), expected_gradients(net)["w"])


def test_an_interrupt_leaves_a_run_that_goes_on(session, net):
    def interrupt(grad):
        handle.remove()
        raise KeyboardInterrupt

    handle = net["h"].register_hook(interrupt)
    with pytest.raises(KeyboardInterrupt):
        session.ask("continue")
    assert session.state().stopped.reason == "paused"
    assert session.ask("continue")["reason"] == "done"
    np.testing.assert_array_equal(net["w"].grad.numpy(), expected_gradients(net)["w"])


def test_what_hooks_print_becomes_an_event_and_not_a_line_of_a_cell(session, net, capsys):
    heard = []
    session.subscribe(heard.append)
    net["h"].register_hook(lambda grad: print("<b>hello</b>"))
    session.handle({"seq": 1, "command": "continue"})
    assert {"type": "event", "event": "output", "body": {"text": "<b>hello</b>\n"}} in heard
    assert capsys.readouterr().out == ""


def test_hooks_print_where_they_are_called_from_python(session, net, capsys):
    net["h"].register_hook(lambda grad: print("hello"))
    session.ask("continue")
    assert capsys.readouterr().out == "hello\n"


def test_other_threads_print_where_they_always_did(session, net, capsys):
    def hook(grad):
        other = threading.Thread(target=lambda: print("from another thread"))
        other.start()
        other.join()

    net["h"].register_hook(hook)
    session.handle({"seq": 1, "command": "continue"})
    assert capsys.readouterr().out == "from another thread\n"


def test_every_other_view_hears_of_a_move_and_the_asking_one_gets_the_answer(session):
    mine, other = [], []
    session.subscribe(mine.append)
    session.subscribe(other.append)
    sender = mine.append
    undo = session.subscribe(sender)
    answer = session.handle({"seq": 1, "command": "next", "arguments": {}}, sender)
    assert [event["event"] for event in other] == ["stopped"]
    assert other[0]["body"] == answer["body"]
    undo()
    session.ask("next")
    assert len(other) == 2


def test_a_view_that_cannot_be_told_disturbs_neither_the_answer_nor_the_other_views(session):
    def broken(event):
        raise OSError("the page is gone")

    heard = []
    session.subscribe(broken)
    session.subscribe(heard.append)
    with pytest.warns(UserWarning, match="could not be told 'stopped': OSError: the page is gone"):
        answer = session.handle({"seq": 1, "command": "next", "arguments": {}})
    assert answer["success"]
    assert [event["event"] for event in heard] == ["stopped"]


def test_nothing_is_sent_when_nobody_listens_and_no_tap_stays(session):
    from tensorlab import taps

    before = list(taps.steps), list(taps.ops)
    session.ask("continue")
    assert (taps.steps, taps.ops) == before
    assert not any(getattr(tap, "__self__", None) is session for tap in (*taps.steps, *taps.ops))


def test_two_sessions_on_one_graph_do_not_disturb_each_other(net):
    one, other = (StepSession(net["loss"], names=Names(net)) for _ in range(2))
    one.ask("next", count=3)
    assert other.ask("next")["step"] == 1
    one.ask("finish")
    first = net["w"].grad.numpy().copy()
    one.close()
    other.ask("finish")
    np.testing.assert_array_equal(net["w"].grad.numpy(), 2 * first)


def test_closing_lets_go_of_the_graph_and_says_so(net):
    session = StepSession(net["loss"])
    heard = []
    session.subscribe(heard.append)
    session.ask("next", count=3)
    seen = [weakref.ref(net["loss"].grad_fn), weakref.ref(net["h"])]
    session.close()
    net.clear()
    gc.collect()
    assert [reference() for reference in seen] == [None, None]
    assert heard[-1]["event"] == "closed"
    state = session.handle({"seq": 1, "command": "initialize"})["body"]
    assert "closed" in state["closed"]
    assert state["graph"]["nodes"]["id"]  # what was drawn can still be shown
    for command in ("next", "inspect", "setBreakpoints", "values"):
        answer = session.handle({"seq": 1, "command": command})
        assert not answer["success"]
        assert "closed" in answer["message"]
    assert session.handle({"seq": 1, "command": "disconnect"})["success"]
    session.close()


def test_the_loss_may_be_deleted_while_its_session_is_open(session, net):
    expected = expected_gradients(net)
    w = net["w"]
    net.clear()
    gc.collect()
    assert session.ask("continue")["reason"] == "done"
    np.testing.assert_array_equal(w.grad.numpy(), expected["w"])


def test_a_graph_that_is_kept_can_be_stepped_through_again_and_one_that_is_not_is_freed(net):
    StepSession(net["loss"]).close()
    kept = StepSession(net["loss"], retain_graph=False)
    kept.ask("finish")
    kept.close()
    assert net["h"].grad_fn.freed is not None


def test_a_graph_whose_values_were_freed_says_so_before_the_first_step(net):
    net["loss"].backward()
    session = StepSession(net["loss"], names=Names(net))
    state = session.ask("initialize")
    assert state["closed"].startswith("the values that this graph had saved were freed by the backward in ")
    assert "Compute loss anew" in state["closed"]
    assert STATES.index("freed") in state["graph"]["nodes"]["state"]
    before = net["w"].grad.numpy().copy()
    for command in ("next", "continue", "restart"):
        with pytest.raises(Refused, match="freed"):
            session.ask(command)
    with pytest.raises(RuntimeError, match="freed"):
        session.wait()
    np.testing.assert_array_equal(net["w"].grad.numpy(), before)
    session.close()


def test_a_vector_needs_a_gradient_as_backward_does(net):
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        StepSession(net["h"])
    session = StepSession(net["h"], tl.ones(4, 2))
    assert session.ask("continue")["reason"] == "done"


# ---- waiting -------------------------------------------------------------------------------------------------------


def serve(session, *requests) -> threading.Thread:
    def work():
        while not session.blocking:
            time.sleep(0.01)
        for command in requests:
            session.handle({"seq": 1, "command": command})

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_a_waiting_cell_goes_on_when_the_run_has_reached_its_end(session, net):
    session.ask("setBreakpoints", nodes=[net["h"].grad_fn.seq])
    server = serve(session, "initialize", "continue", "next", "continue")
    assert wait_for_view(session, patience=30) == ""
    server.join()
    np.testing.assert_array_equal(net["w"].grad.numpy(), expected_gradients(net)["w"])


@pytest.mark.parametrize("command", ["finish", "disconnect"])
def test_finish_and_a_closed_view_release_a_waiting_cell_with_all_gradients(session, net, command):
    session.ask("setBreakpoints", nodes=[net["h"].grad_fn.seq])
    server = serve(session, "initialize", "continue", command)
    assert wait_for_view(session, patience=30) == ""
    server.join()
    np.testing.assert_array_equal(net["w"].grad.numpy(), expected_gradients(net)["w"])


def test_a_closed_view_of_a_paused_session_changes_nothing(session):
    session.ask("next")
    session.handle({"seq": 1, "command": "disconnect"})
    assert session.state().stopped.step == 1


def test_a_hook_that_never_lets_the_pass_end_raises_in_the_waiting_cell(session, net):
    net["h"].register_hook(lambda grad: 1 / 0)
    server = serve(session, "initialize", "disconnect")
    with pytest.raises(ZeroDivisionError):
        wait_for_view(session, patience=30)
    server.join()


def test_a_front_end_that_never_answers_is_not_waited_for_for_ever(session):
    why = wait_for_view(session, patience=0.2)
    assert "no view of it answered within 0.2 seconds" in why
    assert session.ask("next")["step"] == 1


def test_closing_releases_a_waiting_cell(session):
    closer = threading.Timer(0.2, session.close)
    closer.start()
    assert wait_for_view(session, patience=30) == ""


def test_without_a_notebook_the_reason_not_to_block_is_said():
    assert why_not_blocking() == "there is no notebook whose view could release the cell"


def test_a_worker_serves_requests_on_its_own_thread(session):
    worker = Worker(session)
    worker.post("next", seq=1, count=2)
    worker.post("jump", seq=2)
    first, second = worker.replies.get(timeout=10), worker.replies.get(timeout=10)
    worker.close()
    assert (first["seq"], first["body"]["step"]) == (1, 2)
    assert (second["seq"], second["success"]) == (2, False)


def test_threads_that_step_at_the_same_time_run_every_node_once(session, net):
    def work():
        for _ in range(4):
            session.handle({"seq": 1, "command": "next"})

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.state().stopped.step == 6
    np.testing.assert_array_equal(net["w"].grad.numpy(), expected_gradients(net)["w"])


# ---- size ----------------------------------------------------------------------------------------------------------


def test_twenty_thousand_nodes_in_a_row_are_stepped_and_undone_without_recursion():
    x = tl.ones(2, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y * 1.0
    session = StepSession(y.sum(), limit=50_000)
    assert session.ask("continue")["step"] == 20_002
    assert session.ask("goTo", step=10_000)["step"] == 10_000
    session.close()


def test_a_picture_may_be_smaller_than_the_run(net):
    x = tl.ones(2, requires_grad=True)
    y = x
    for _ in range(50):
        y = y * 1.0
    session = StepSession(y.sum(), limit=10)
    state = session.state()
    assert state.graph.hidden == 42
    assert state.stopped.total == 52
    assert session.ask("continue")["reason"] == "done"
    assert isinstance(session.state().stopped, Stopped)
