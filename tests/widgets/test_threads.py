"""On which thread a view's moves run in a real kernel, and how one ends that does not come back."""

from __future__ import annotations

import time

import pytest

from tests.widgets.test_kernel import made, opened

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

HOOK = """
import threading, time
seen = []
def hook(grad):
    seen.append(threading.current_thread() is threading.main_thread())
    {body}
handle = h.register_hook(hook)
"""


def sent(front, widget: str, command: str, **arguments) -> int:
    """Send a request without waiting for its answer."""
    front.seq += 1
    front.send(widget, {"seq": front.seq, "command": command, "arguments": arguments})
    return front.seq


def answer(front, widget: str, seq: int):
    def found():
        return [m for m in front.messages(widget) if m["type"] == "response" and m["seq"] == seq]

    front.wait(lambda: bool(found()))
    return found()[0]


def test_hooks_of_a_view_run_on_the_main_thread_between_cells_and_in_a_waiting_cell(front):
    front.run(HOOK.format(body="pass"))
    front.run("stepper = tl.show.stepper(loss)")
    front.ask(opened(front), "finish")
    front.run("stepper.close()")
    cell = front.start("tl.show.stepper(loss, block=True)")
    front.wait(lambda: len(front.widgets()) == 2)
    front.ask(opened(front), "finish")
    front.finish(cell)
    assert front.run("print(seen)") == "[True, True]\n"


@pytest.mark.parametrize("body", ["time.sleep(1000)", "while True: pass"])
def test_an_interrupt_of_the_kernel_ends_a_hook_that_does_not_come_back(front, body):
    front.run(HOOK.format(body=body))
    front.run("stepper = tl.show.stepper(loss)")
    widget = opened(front)
    seq = sent(front, widget, "continue")
    time.sleep(0.7)
    front.manager.interrupt_kernel()
    told = answer(front, widget, seq)
    assert not told["success"]
    assert "interrupted" in told["message"]
    front.run("handle.remove()")
    assert front.ask(widget, "continue")["body"]["reason"] == "done"
    assert front.run("print(w.grad.shape)") == "tensorlab.Size([3, 2])\n"


def test_an_interrupt_ends_a_hook_and_its_waiting_cell_and_the_pass_can_go_on(front):
    front.run(HOOK.format(body="time.sleep(1000)"))
    cell = front.start("tl.show.stepper(loss, block=True)")
    widget = opened(front)
    seq = sent(front, widget, "continue")
    time.sleep(0.7)
    front.manager.interrupt_kernel()
    assert front.error(cell) == "KeyboardInterrupt"
    assert not answer(front, widget, seq)["success"]
    front.run("handle.remove()")
    assert front.ask(widget, "finish")["body"]["reason"] == "done"


def test_stop_ends_a_hook_in_a_waiting_cell_which_goes_on_waiting(front):
    front.run(HOOK.format(body="time.sleep(1000)"))
    cell = front.start("tl.show.stepper(loss, block=True); print('after')")
    widget = opened(front)
    seq = sent(front, widget, "continue")
    time.sleep(0.5)
    busy = front.ask(widget, "inspect", node=1)
    assert "has not returned for" in busy["message"]
    assert front.ask(widget, "pause")["success"]
    assert "interrupted" in answer(front, widget, seq)["message"]
    assert front.ask(widget, "initialize")["body"]["blocking"]  # the cell still waits
    front.manager.interrupt_kernel()
    assert front.error(cell) == "KeyboardInterrupt"


def test_stop_ends_an_endless_hook_while_the_main_thread_runs_another_cell(front):
    front.run(HOOK.format(body="while True: time.sleep(0.01)"))
    front.run("stepper = tl.show.stepper(loss)")
    widget = opened(front)
    cell = front.start("time.sleep(6); print('slept')")
    time.sleep(0.5)
    seq = sent(front, widget, "continue")
    time.sleep(0.8)
    assert front.ask(widget, "pause")["success"]
    assert "interrupted" in answer(front, widget, seq)["message"]
    assert front.finish(cell) == "slept\n"
    assert front.run("handle.remove(); print(seen)") == "[False]\n"
    assert front.ask(widget, "continue")["body"]["reason"] == "done"


def test_a_pause_stops_between_nodes(front):
    front.run("y = w\nfor _ in range(200): y = y * 1.0; y.register_hook(lambda grad: __import__('time').sleep(0.02))")
    front.run("stepper = tl.show.stepper(y.sum())")
    widget = opened(front)
    seq = sent(front, widget, "continue")
    time.sleep(0.6)
    assert front.ask(widget, "pause")["success"]
    stopped = answer(front, widget, seq)["body"]
    assert stopped["reason"] == "paused"
    assert 0 < stopped["step"] < 202


def test_a_debugger_in_a_hook_asks_in_the_cell_that_waits(front):
    front.run("def hook(grad):\n    marker = 42\n    breakpoint()\n    return grad * 2\nhandle = h.register_hook(hook)")
    cell = front.start("tl.show.stepper(loss, block=True); print('after')")
    widget = opened(front)
    seq = sent(front, widget, "continue")
    prompt = front.client.get_stdin_msg(timeout=60)
    assert prompt["msg_type"] == "input_request"
    front.client.input("print('marker is', marker)")
    front.client.get_stdin_msg(timeout=60)
    front.client.input("c")
    assert answer(front, widget, seq)["body"]["reason"] == "done"
    printed = front.finish(cell)
    assert "marker is 42" in printed
    assert "hook" in printed
    assert "after" in printed


@pytest.mark.parametrize("call", ["breakpoint()", "input('? ')", "__import__('pdb').set_trace()"])
def test_where_nobody_can_be_asked_a_breakpoint_says_so_and_the_pass_stops_there(front, call):
    front.run(f"handle = h.register_hook(lambda grad: {call})")
    front.run("stepper = tl.show.stepper(loss)")
    stopped = front.ask(opened(front), "continue")["body"]
    assert stopped["reason"] == "exception"
    assert "there is nobody to ask here" in stopped["sentence"]
    assert "stepper(loss, block=True)" in stopped["sentence"]
    front.run("handle.remove()")
    assert front.ask(made(front), "continue")["body"]["reason"] == "done"
