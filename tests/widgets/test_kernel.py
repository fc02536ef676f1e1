"""The instruments inside a real kernel, spoken to as a page speaks to them, also while a cell waits."""

from __future__ import annotations

import pytest

from tensorlab.observe import wire

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def made(front) -> str:
    """The comm id of the newest instrument."""
    front.wait(lambda: bool(front.widgets()))
    return front.widgets()[-1]


def opened(front) -> str:
    """The newest instrument, after its view has opened."""
    widget = made(front)
    front.ask(widget, "initialize")
    return widget


def test_a_stepper_steps_and_the_kernel_has_the_gradient(front):
    front.run("stepper = tl.show.stepper(loss)\nstepper")
    widget = made(front)
    state = front.ask(widget, "initialize")["body"]
    assert state["graph"]["title"] == "loss"
    assert "h" in state["graph"]["strings"]
    total = state["stopped"]["total"]
    assert front.ask(widget, "next")["body"]["step"] == 1
    assert front.ask(widget, "finish")["body"]["step"] == total
    assert "True" in front.run("import numpy as np; print(np.isfinite(w.grad.numpy()).all())")


def test_notebook_cells_are_named_by_their_number(front):
    front.run("y = (w * 2).sum()\ntl.show.graph(y)")
    front.run("print(1)")
    state = front.ask(made(front), "initialize")["body"]
    (site,) = state["graph"]["sites"][:1]
    assert site["file"] == ""
    assert site["cell"] > 0
    assert site["code"] == "y = (w * 2).sum()"


def test_a_waiting_cell_is_released_by_its_view(front):
    cell = front.start("print('before'); tl.show.stepper(loss, block=True); print('after', w.grad is not None)")
    widget = opened(front)
    assert front.ask(widget, "initialize")["body"]["blocking"]
    assert front.ask(widget, "next", count=2)["body"]["step"] == 2
    assert front.printed(cell) == "before\n"
    assert front.ask(widget, "continue")["body"]["reason"] == "done"
    assert front.finish(cell) == "before\nafter True\n"


def test_a_breakpoint_stops_inside_a_training_loop_and_the_loop_goes_on(front):
    cell = front.start(
        "for step in range(2):\n"
        "    w.grad = None\n"
        "    value = ((x @ w).tanh() ** 2).sum()\n"
        "    tl.show.stepper(value, block=True)\n"
        "    print('step', step, w.grad.shape)\n"
    )
    for count in (1, 2):
        front.wait(lambda count=count: len(front.widgets()) == count)
        widget = opened(front)
        order = front.ask(widget, "initialize")["body"]["stopped"]["upcoming"]
        front.ask(widget, "setBreakpoints", nodes=[order[2]], predicates=[])
        stopped = front.ask(widget, "continue")["body"]
        assert (stopped["reason"], stopped["node"]) == ("breakpoint", order[2])
        front.ask(widget, "continue")
    assert front.finish(cell).count("tensorlab.Size([3, 2])") == 2


def test_what_a_cell_prints_while_it_waits_stays_in_the_cell_and_hooks_speak_in_the_view(front):
    front.run("handle = h.register_hook(lambda grad: print('from the hook'))")
    cell = front.start(
        "import threading\n"
        "timer = threading.Timer(0.5, lambda: print('from a thread')); timer.start()\n"
        "tl.show.stepper(loss, block=True); timer.join()"
    )
    widget = opened(front)
    front.ask(widget, "finish")
    printed = front.finish(cell)
    assert "from the hook" not in printed
    events = [m for m in front.messages(widget) if m["type"] == "event" and m["event"] == "output"]
    assert events[0]["body"]["text"] == "from the hook\n"


def test_an_interrupt_ends_the_wait_and_leaves_a_pass_that_goes_on(front):
    cell = front.start("view = tl.show.stepper(loss, block=True)")
    widget = opened(front)
    front.ask(widget, "next")
    front.manager.interrupt_kernel()
    assert front.error(cell) == "KeyboardInterrupt"
    assert front.ask(widget, "next")["body"]["step"] == 2
    assert front.ask(widget, "finish")["body"]["reason"] == "done"
    assert front.run("print(w.grad.shape)") == "tensorlab.Size([3, 2])\n"


def test_a_closed_view_lets_the_cell_go_on_with_all_gradients(front):
    cell = front.start("tl.show.stepper(loss, block=True); print(w.grad.shape)")
    widget = opened(front)
    front.ask(widget, "next")
    front.send(widget, {"seq": 9999, "command": "disconnect", "arguments": {}})
    assert "tensorlab.Size([3, 2])" in front.finish(cell)


def test_a_front_end_that_cannot_speak_to_a_busy_kernel_gets_a_paused_view_and_a_sentence(front):
    cell = front.start("view = tl.show.stepper(loss, block=True, patience=0.5); print(type(view).__name__)")
    printed = front.finish(cell)
    assert "did not wait: no view of it answered within 0.5 seconds" in printed
    assert "Stepper" in printed
    assert front.ask(made(front), "next", subshell=None)["body"]["step"] == 1


def test_a_program_that_runs_the_notebook_is_not_waited_for(front):
    cell = front.start("print(tl.show.stepper(loss, block=True), w.grad is not None)", person=False)
    assert front.finish(cell) == "Nobody can answer here, so the pass ran to its end.\nNone True\n"


def test_running_a_cell_again_closes_the_stepper_that_it_made_before(front):
    front.run("tl.show.stepper(loss)", cell="the-cell")
    old = opened(front)
    front.run("tl.show.stepper(loss)", cell="the-cell")
    front.wait(lambda: len(front.widgets()) == 2)
    new = front.widgets()[-1]
    assert front.ask(new, "next")["success"]
    answer = front.ask(old, "next")
    assert not answer["success"]
    assert "its cell was run again" in answer["message"]
    assert any(m.get("event") == "closed" for m in front.messages(old))


def test_a_loop_that_makes_steppers_holds_one_graph_and_not_all_of_them(front):
    cell = front.start(
        "import gc, weakref\nseen = []\n"
        "for step in range(3):\n"
        "    value = ((x @ w).tanh() ** 2).sum()\n"
        "    seen.append(weakref.ref(value.grad_fn))\n"
        "    tl.show.stepper(value, block=True)\n"
        "gc.collect(); print([node() is not None for node in seen])"
    )
    for count in (1, 2, 3):
        front.wait(lambda count=count: len(front.widgets()) == count)
        front.ask(opened(front), "finish")
    assert front.finish(cell) == "[False, False, True]\n"


def test_two_steppers_in_two_cells_do_not_know_of_each_other(front):
    front.run("one = tl.show.stepper(loss)", cell="one")
    first = made(front)
    front.run("two = tl.show.stepper(loss)", cell="two")
    front.wait(lambda: len(front.widgets()) == 2)
    second = front.widgets()[-1]
    assert front.ask(first, "next", count=3)["body"]["step"] == 3
    assert front.ask(second, "next")["body"]["step"] == 1


def test_a_graph_keeps_its_picture_when_its_tensors_are_deleted(front):
    front.run("view = tl.show.graph(loss)")
    widget = made(front)
    graph = front.ask(widget, "initialize")["body"]["graph"]
    node = graph["nodes"]["id"][-1]
    assert front.ask(widget, "inspect", node=node)["success"]
    front.run("import gc; del loss, h; gc.collect()")
    answer = front.ask(widget, "inspect", node=node)
    assert "this node is gone" in answer["message"]
    assert front.ask(widget, "initialize")["body"]["graph"] == graph


def test_closing_a_stepper_leaves_nothing_alive(front):
    front.run(
        "import gc, weakref\n"
        "node, leaf = weakref.ref(loss.grad_fn), weakref.ref(w)\n"
        "stepper = tl.show.stepper(loss)\nstepper.next(3)\nstepper.close()\n"
        "del loss, h, w, x, stepper\n_ = __ = ___ = None"
    )
    printed = front.run("gc.collect(); print(node(), leaf())")
    assert printed == "None None\n"


def test_a_big_graph_comes_as_one_buffer_of_numbers(front):
    front.run("y = w\nfor _ in range(3000): y = y * 1.0\nview = tl.show.graph(y.sum())")
    answer = front.ask(made(front), "initialize")
    assert len(answer["buffers"]) == 1
    assert "id" not in answer["body"]["graph"]["nodes"]
    whole = wire.unpack(answer["body"], answer["buffers"])
    assert len(whole["graph"]["nodes"]["id"]) == 3002


def test_python_can_press_the_buttons_too_and_the_view_hears_of_it(front):
    front.run("stepper = tl.show.stepper(loss)")
    widget = opened(front)
    told = front.run(
        "print(stepper.next())\nstepper.break_at(h.grad_fn, nan=True)\nprint(stepper.resume())\n"
        "print(stepper.back())\nprint(stepper.restart())\nprint(stepper)"
    )
    assert "Step 2 of" in told
    assert "at a breakpoint" in told
    assert told.endswith("Stepper(loss: step 0 of 5; .next() runs SumBackward0, .finish() runs all)\n")
    events = [m["event"] for m in front.messages(widget) if m["type"] == "event"]
    assert events == ["stopped", "breakpoints", "stopped", "stopped", "stopped"]


def test_a_misplaced_request_from_python_is_an_exception_with_the_reason(front):
    cell = front.start("tl.show.stepper(loss).back()")
    assert front.error(cell) == "Refused"


def test_steps_are_answered_while_the_cell_waits(front):
    cell = front.start("tl.show.stepper(loss, block=True)")
    widget = opened(front)
    for _ in range(5):
        assert front.ask(widget, "next")["body"]["step"] == 1
        assert front.ask(widget, "stepBack")["body"]["step"] == 0
    front.ask(widget, "finish")
    front.finish(cell)


def test_nothing_is_sent_while_nobody_looks(front):
    front.run("tl.show.stepper(loss)")
    widget = made(front)
    before = len(front.messages(widget))
    front.run("for _ in range(20): ((x @ w).tanh() ** 2).sum().backward()")
    assert len(front.messages(widget)) == before
    quiet = [message for message in front.heard if message["msg_type"] == "comm_msg"]
    assert quiet == []


def test_a_view_carries_a_picture_for_pages_that_run_nothing(front):
    cell = front.start("tl.show.stepper(loss)")
    front.finish(cell)
    (data,) = [m["content"]["data"] for m in front.of(cell) if m["msg_type"] == "execute_result"]
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["image/svg+xml"].startswith("<svg")
    assert data["text/plain"].startswith("Stepper(loss: step 0 of 5; .next() runs ")


def test_running_a_cell_again_ends_the_recording_of_the_memory_view_that_it_made_before(front):
    front.run("with tl.show.memory() as view: pass\nview.attach()", cell="the-memory")
    old = made(front)
    front.run("with tl.show.memory() as view: pass\nview.attach()", cell="the-memory")
    front.wait(lambda: len(front.widgets()) == 2)
    front.run("loss.backward()")
    assert front.ask(front.widgets()[-1], "refresh")["body"]["curve"]["phases"][0]["name"] == "backward"
    state = front.ask(old, "look")["body"]["memory"]
    assert not state["curve"]["attached"]
    assert "its cell was run again" in state["trouble"]
    front.run("view.close()")
    assert front.run("from tensorlab import taps; print(len(taps.ops), len(taps.steps))") == "0 0\n"


def test_running_a_cell_again_ends_the_recording_of_the_hooks_view_that_it_made_before(front):
    front.run("handle = w.register_hook(lambda grad: None)")
    front.run("view = tl.show.hooks(w)", cell="the-hooks")
    old = made(front)
    front.run("view = tl.show.hooks(w)", cell="the-hooks")
    front.wait(lambda: len(front.widgets()) == 2)
    new = front.widgets()[-1]
    front.run("loss.backward()")
    assert front.ask(new, "refresh", since=-1)["body"]["hooks"]["hooks"][0]["fired"] == 1
    state = front.ask(old, "refresh", since=-1)["body"]["hooks"]
    assert not state["attached"]
    assert "its cell was run again" in state["trouble"]
    front.run("view.close()")
    assert front.run("from tensorlab import taps; print(len(taps.hooks))") == "0\n"


def test_views_of_hooks_and_memory_that_were_opened_and_closed_leave_nothing(front):
    code = (
        "import gc, weakref\nfrom tensorlab import taps\nknown = []\n"
        "for _ in range(50):\n"
        "    one, two = tl.show.hooks(w), tl.show.memory()\n"
        "    value = ((x @ w).tanh() ** 2).sum(); value.backward()\n"
        "    known += [weakref.ref(thing) for thing in (one, two, value.grad_fn)]\n"
        "    one.close(); two.close()\n"
        "del one, two, value\ngc.collect()\n"
        "print(sum(ref() is not None for ref in known), taps.hooks, taps.ops, taps.steps, taps.buffers)"
    )
    assert front.run(code) == "0 [] [] [] []\n"
