"""What a record of lines holds: every line in the order it ran, what it made, and nothing that keeps the run alive."""

from __future__ import annotations

import gc
import sys
import threading
import weakref

import pytest

import tensorlab as tl
from tensorlab import taps
from tensorlab.observe import lines, wire
from tensorlab.observe.lines_document import LineRecord, heat, part_of, record, value_text
from tensorlab.observe.names import Names
from tensorlab.observe.preview import preview
from tensorlab.observe.protocol import Refused
from tensorlab.observe.schema import LinesDocument


def told(made: LineRecord) -> list[str]:
    """The steps of a record: depth, code, turn and note, in few words."""
    d = made.document
    s = d.steps
    rows = []
    for at in range(len(s.line)):
        source = d.sources[s.source[at]]
        code = source.text[s.line[at] - source.first].strip()
        note = d.strings[s.note[at]] if s.note[at] >= 0 else ""
        turn = f" x{s.turn[at]}" if s.turn[at] > 1 else ""
        rows.append(f"{'  ' * s.depth[at]}{'<' * s.back[at]}{code}{turn}{f' | {note}' if note else ''}")
    return rows


def values(made: LineRecord) -> list[str]:
    """What was made, step by step."""
    d = made.document
    return [f"{step}: {value_text(d, node)}" for node, step in enumerate(d.values.step)]


def seen(function, *arguments, **options) -> LineRecord:
    return record(function, arguments, options, Names(globals()))


def doubled(x):
    return x * 2


def looped(x, times):
    for i in range(times):
        x = doubled(x)
        if i:
            y = x + 1
    return y.sum()


def test_each_round_of_a_loop_is_a_step_and_calls_stand_below_their_line():
    made = seen(looped, tl.ones(2), 2)
    assert told(made) == [
        "looped(…, …)",
        "  for i in range(times): | i = 0",
        "  x = doubled(x)",
        "    return x * 2 | returns [2]",
        "  <x = doubled(x) | x [2]",
        "  if i:",
        "  for i in range(times): x2 | i = 1",
        "  x = doubled(x) x2",
        "    return x * 2 | returns [2]",
        "  <x = doubled(x) x2 | x [2]",
        "  if i: x2",
        "  y = x + 1 | y [2]",
        "  for i in range(times): x3 | the loop ends",
        "  return y.sum() | returns []",
    ]
    assert values(made) == [
        "3: input [2] mean 1",
        "3: x [2] mean 2",
        "8: x [2] mean 4",
        "11: y [2] mean 5",
        "13: sum 10",
    ]
    assert made.document.sentence == "looped ran 11 lines and made 4 values."
    assert made.result.item() == 10


def spread(x):
    y = x.exp().add(
        1,  # a line of its own
    )
    parts = [row.sum() for row in y]
    a, b = parts[0], tl.zeros(3)
    return a, b


def test_a_statement_of_many_lines_is_one_step_and_a_comprehension_belongs_to_its_line():
    made = seen(spread, tl.zeros(2, 2))
    rows = told(made)
    assert rows[1:] == [
        "  y = x.exp().add( | y [2, 2]",
        "  parts = [row.sum() for row in y] | parts = list of 2",
        "  a, b = parts[0], tl.zeros(3) | a [], b [3]",
        "  return a, b",
    ]
    assert "3: b [3] mean 0" in values(made)  # made by what is no operation, and still there


def caught(x):
    try:
        x.view(7)
    except RuntimeError:
        print("no such view")
    return x


def test_an_error_is_told_at_its_line_and_one_that_ends_the_run_is_kept():
    made = seen(caught, tl.ones(3))
    assert "  x.view(7) | RuntimeError: shape '[7]' is invalid for input of size 3" in told(made)
    assert made.error is None
    printed = [d for d in made.document.steps.printed if d >= 0]
    assert [made.document.strings[at] for at in printed] == ["no such view\n"]
    failed = seen(lambda x: x.view(7), tl.ones(3))
    assert isinstance(failed.error, RuntimeError)
    assert failed.document.error.startswith("RuntimeError: shape '[7]'")
    assert "It ended" in failed.document.sentence
    assert sys.gettrace() is None or "coverage" in repr(sys.gettrace())


class Unprintable(Exception):
    def __str__(self):
        raise ValueError("no words")


def test_what_cannot_be_said_of_an_error_or_a_value_breaks_nothing():
    class Odd:
        def __repr__(self):
            raise ValueError("no words")

    def run():
        odd = Odd()
        number = tl.ones(1)
        raise Unprintable(odd, number)

    made = seen(run)
    assert "  odd = Odd() | odd = Odd" in told(made)
    assert made.document.error == "Unprintable"
    assert made.document.cut == ""


def test_the_pass_back_is_one_line():
    def train():
        w = tl.ones(3, requires_grad=True)
        loss = (w * 2).sum()
        loss.backward()
        return w

    made = seen(train)
    line = next(row for row in told(made) if "loss.backward()" in row)
    assert not [v for v in values(made) if "backward" in v]
    assert line.startswith("  loss.backward()")
    assert made.result.grad is not None


class Net(tl.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = tl.nn.Linear(2, 3)

    def forward(self, x):
        h = self.inner(x)
        return h.relu()


net = Net()


def test_modules_and_parameters_have_the_names_that_the_user_gave_them():
    made = seen(net, tl.ones(4, 2))
    graph = made.document.graph
    assert [group.name for group in graph.groups] == ["net", "net.inner"]
    assert {"net.inner.weight", "net.inner.bias", "h"} <= set(graph.strings)
    assert made.document.sources[1].function == "forward"


def test_writing_in_place_is_seen_by_what_reads_afterwards():
    def run(x):
        x[0] = 5
        return x.sum()

    made = seen(run, tl.zeros(3))
    nodes, edges = made.document.graph.nodes, made.document.graph.edges
    last = len(nodes.id) - 1
    written = edges.source[edges.target.index(last)]
    assert made.document.graph.strings[nodes.name[written]] == "copy_"


def test_a_long_run_is_cut_with_a_word_and_runs_on(monkeypatch):
    monkeypatch.setattr(lines, "MOST_OPERATIONS", 50)
    done = []

    def run():
        y = tl.zeros(2)
        for _ in range(200):
            y = y + 1
        done.append(y)

    made = seen(run)
    assert done[0].tolist() == [200, 200]
    assert made.document.cut == "after 50 operations"
    assert "The record ends after 50 operations" in made.document.sentence
    monkeypatch.setattr(lines, "MOST_OPERATIONS", 10_000)
    monkeypatch.setattr(lines, "MOST_STEPS", 30)
    made = seen(run)
    assert len(made.document.steps.line) == 30
    assert made.document.cut == "after 30 lines"


def test_ten_thousand_operations_are_recorded_and_the_rest_is_counted():
    def run():
        y = tl.zeros(2)
        for _ in range(9_000):
            y = (y + 1) * 1
        return y

    made = seen(run)
    assert made.result.tolist() == [9_000, 9_000]
    assert 9_000 < len(made.document.graph.nodes.id) <= 10_001
    assert "made 18,001 values" in made.document.sentence
    assert made.document.cut


def test_an_interrupt_leaves_what_was_recorded():
    def run():
        k = 0
        while True:
            k += 1
            if k == 3:
                raise KeyboardInterrupt

    made = seen(run)
    assert isinstance(made.error, KeyboardInterrupt)
    assert [row for row in told(made) if row.startswith("  k += 1")][-1] == "  k += 1 x3 | k = 3"


def test_nothing_of_the_run_stays_alive_and_nothing_listens_afterwards():
    kept = []

    def run():
        x = tl.ones(100)
        kept.append(weakref.ref(x))
        y = x * 2
        return float(y.sum())

    before = (len(taps.ops), sys.gettrace(), sys.stdout, sys.stderr)
    made = seen(run)
    gc.collect()
    assert kept[0]() is None
    assert made.result == 200
    assert (len(taps.ops), sys.gettrace(), sys.stdout, sys.stderr) == before


def test_what_other_threads_do_is_no_part_of_it():
    def run():
        worker = threading.Thread(target=lambda: tl.ones(3) * 2)
        worker.start()
        worker.join()
        return tl.ones(2) + 1

    made = seen(run)
    assert [name for name in values(made) if "mul" in name] == []


def test_a_mistake_of_the_recorder_ends_the_record_and_not_the_run(monkeypatch):
    def broken(*_, **__):
        raise ValueError("broken")

    monkeypatch.setattr(lines, "preview", broken)
    made = seen(doubled, tl.ones(2))
    assert made.result.tolist() == [2, 2]
    assert made.document.cut == "the record broke off: ValueError: broken"


def test_another_tracer_has_its_place_back():
    def tracer(frame, event, argument):
        return None

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        seen(doubled, tl.ones(2))
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)


def test_the_document_travels_and_its_first_part_is_a_document():
    made = seen(looped, tl.ones(2), 3)
    d = made.document
    assert wire.from_json(LinesDocument, wire.to_json(d)) == d
    part = part_of(d, 4)
    assert len(part.steps.line) == 4
    assert max(part.values.step) < 4
    assert all(target < len(part.graph.nodes.id) for target in part.graph.edges.target)
    assert "keeps no more" in part.cut
    assert part_of(d, 1000) is d


def test_a_small_heat_map_tells_size_sign_and_what_is_not_finite():
    assert heat(preview(tl.tensor([[-2.0, 0.0, 2.0]])._a)) == "0V+"
    assert heat(preview(tl.tensor([float("nan"), 1.0])._a)) == "!+"


def test_a_view_asks_for_values_and_hears_why_there_is_none():
    made = seen(doubled, tl.ones(2))
    answer = made.handle({"seq": 1, "command": "value", "arguments": {"node": 1}})
    assert answer["body"]["mean"] == 2
    for node in (7, -1):
        with pytest.raises(Refused, match="there are 2"):
            made.look(node)
    assert "cannot 'next'" in made.handle({"seq": 1, "command": "next", "arguments": {}})["message"]
    made.let_go()
    with pytest.raises(Refused):
        made.look(0)


def test_recording_in_a_recording_tells_both():
    def outer():
        return seen(doubled, tl.ones(2)).document.sentence

    made = seen(outer)
    assert made.result == "doubled ran 1 line and made 1 value."


def test_a_lambda_within_a_statement_is_shown_with_the_statement():
    made = [
        1,
        seen(lambda x: x * 2, tl.ones(2)),
    ][1]
    assert told(made)[1] == "  made = [ | returns [2]"
    assert len(made.document.sources[1].text) == 4
