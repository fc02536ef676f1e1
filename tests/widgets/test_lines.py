"""``%%lines`` in a real kernel: the cell runs as always, its view answers, and nothing stays behind when it closes."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

CELL = """%%lines
y = w
for i in range(3):
    y = y * 2
    print("round", i)
total = y.sum()
"""


def test_a_cell_with_the_word_prints_as_always_and_its_view_answers(front):
    printed = front.run(CELL)
    assert printed == "round 0\nround 1\nround 2\n"
    front.wait(lambda: bool(front.widgets()))
    widget = front.widgets()[-1]
    lines = front.ask(widget, "initialize")["body"]["lines"]
    assert lines["title"].startswith("cell ")
    assert lines["steps"]["line"][:4] == [2, 3, 4, 5]
    assert lines["steps"]["turn"][4:7] == [2, 2, 2]
    value = front.ask(widget, "value", node=1)["body"]
    assert value["shape"] == [3, 2]
    assert "True" in front.run("import sys; print(sys.gettrace() is None and total.requires_grad)")


def test_two_hundred_views_of_four_kinds_leave_no_tensor_no_comm_and_no_tap(front):
    code = """
import gc, weakref
import comm
tensors = []
makers = [lambda x: tl.show.lines(lambda: (x * 2).sum()), tl.show.layout, tl.show.graph, tl.show.stepper]
def once():
    for make in makers:
        x = tl.ones(50, requires_grad=True).sum()
        tensors.append(weakref.ref(x))
        view = make(x)
        view._repr_mimebundle_()
        view.close()
before = len(comm.get_comm_manager().comms)
for _ in range(50):
    once()
gc.collect()
from tensorlab import taps
print(sum(ref() is not None for ref in tensors), len(comm.get_comm_manager().comms) - before, len(taps.ops))
"""
    assert front.run(code).strip() == "0 0 0"
