"""What adds up to a gradient: a row for every pass and for every node that sends to the leaf."""

from __future__ import annotations

import pytest

import tensorlab as tl
from tensorlab.observe.accumulation import badge
from tensorlab.observe.names import Names
from tensorlab.observe.session import StepSession


@pytest.fixture(autouse=True)
def _watched():
    tl.modes.watch_sites()
    yield
    tl.modes.watch_sites(False)


def test_a_leaf_tells_the_passes_that_added_to_it_and_the_badge_counts_them_by_place():
    w = tl.ones(2, requires_grad=True)
    assert badge(w) == ""
    for _ in range(2):
        (w * 2).sum().backward()
    (w * 3).sum().backward()
    said = badge(w)
    assert said.startswith("3 contributions: ")
    assert said.count("test_ledger.py, line") == 2
    assert " twice, " in said
    w.grad.zero_()
    assert badge(w) == ""


def test_a_stepper_tells_every_node_that_sends_to_a_leaf_with_its_norm_line_and_whether_it_came():
    w = tl.ones(2, requires_grad=True)
    (w * 2).sum().backward()
    a, b = w * 3, w.exp()
    loss = (a + b).sum()
    session = StepSession(loss, names=Names({"w": w, "a": a, "b": b}))
    leaf = w._acc.seq

    def rows():
        return [(row.source, row.state, row.norm) for row in session.inspect(leaf).contributions]

    first = rows()
    assert first[0][0].startswith("pass ")
    assert first[0][0].endswith(" from SumBackward0")
    assert [row[:2] for row in first[1:]] == [("MulBackward0 (a)", "to come"), ("ExpBackward0 (b)", "to come")]
    session.ask("runTo", node=leaf)
    assert [row[1] for row in rows()] == ["added", "arriving", "arriving"]
    assert rows()[1][2] == pytest.approx(3 * 2**0.5)
    session.ask("finish")
    assert [row[1] for row in rows()] == ["added", "added", "added", "added"]
    detail = session.inspect(leaf)
    assert detail.badge.startswith("2 contributions: ")
    assert all("test_ledger.py, line" in row.place for row in detail.contributions)
    session.ask("restart")
    assert [row[1] for row in rows()] == ["added", "to come", "to come"]
    assert session.inspect(leaf).badge == ""


def test_a_value_used_twice_by_one_node_sends_twice():
    w = tl.full((2,), 3.0, requires_grad=True)
    session = StepSession((w * w).sum())
    session.ask("finish")
    assert len(session.inspect(w._acc.seq).contributions) == 3


def test_nothing_but_leaves_has_a_ledger():
    w = tl.ones(2, requires_grad=True)
    h = w * 2
    session = StepSession(h.sum())
    assert session.inspect(h.grad_fn.seq).contributions == ()
