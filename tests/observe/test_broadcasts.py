"""Values that an operation stretched without being told to are marked, and those that look like a mistake are called so."""

from __future__ import annotations

import pytest

import tensorlab as tl
from tensorlab.display.svg import svg
from tensorlab.display.text import text_graph
from tensorlab.observe.snapshot import snapshot


def marks(result) -> list:
    graph = snapshot(result)
    return [graph.broadcasts[mark] for mark in graph.edges.broadcast if mark >= 0]


def test_a_column_against_a_row_is_called_an_outer_broadcast_at_both_its_edges():
    w = tl.randn(64, 1, requires_grad=True)
    found = marks((w * tl.randn(64)).sum())
    assert [(mark.given, mark.dims, mark.outer) for mark in found] == [("[64, 1]", (1,), True), ("[64]", (0,), True)]
    assert "both inputs are stretched ([64, 1] and [64])" in found[0].forward
    assert found[0].backward == "its gradient [64, 64] is summed over dim 1 to [64, 1]"


def test_it_is_suspected_where_the_other_input_left_no_trace():
    prediction = tl.randn(64, 1, requires_grad=True)
    loss = ((prediction - tl.randn(64)) ** 2).mean()
    (mark,) = marks(loss)
    assert mark.outer
    assert "unless the other input is [64, 64] itself" in mark.forward
    assert "check the shapes" in snapshot(loss).sentence


@pytest.mark.parametrize(
    ("left", "right"), [((64, 16), (16,)), ((64, 16), (64, 1)), ((64, 1), (1, 64)), ((64, 1), (16,)), ((64, 16), ())]
)
def test_an_ordinary_broadcast_is_not_called_a_mistake(left, right):
    a, b = tl.randn(left, requires_grad=True), tl.randn(right, requires_grad=True)
    graph = snapshot((a * b).sum())
    assert not any(mark.outer for mark in graph.broadcasts)
    assert "check the shapes" not in graph.sentence


def test_what_backward_sums_is_what_the_mark_says():
    a, b = tl.randn(4, 1, 3, requires_grad=True), tl.randn(5, 3, requires_grad=True)
    found = marks((a + b).sum())
    assert [(mark.given, mark.dims) for mark in found] == [("[4, 1, 3]", (1,)), ("[5, 3]", (0,))]
    assert found[1].backward == "its gradient [4, 5, 3] is summed over dim 0 to [5, 3]"


def test_equal_shapes_expand_and_numbers_are_not_marked():
    x = tl.randn(4, 4, requires_grad=True)
    assert marks((x * x + 2).sum()) == []
    assert marks(x[:, :1].expand(4, 4).sum()) == []


def test_text_and_picture_say_it():
    w = tl.randn(64, 1, requires_grad=True)
    graph = snapshot((w * tl.randn(64)).sum())
    assert "! mul (1): [64, 1] is repeated 64 times along dim 1 to [64, 64]" in text_graph(graph)
    assert "! [64, 1] → [64, 64]" in svg(graph)
    assert "! Σ [64, 64] → [64, 1]" in svg(graph, layer="backward")
