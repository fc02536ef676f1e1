"""Measuring a graph runs its backward pass once and leaves everything as it was."""

from __future__ import annotations

import pytest

import tensorlab as tl
from tensorlab.display.overlay import overlay
from tensorlab.display.svg import svg
from tensorlab.observe.protocol import Refused
from tensorlab.observe.timing import timed
from tensorlab.observe.viewer import GraphViewer


def test_norms_are_those_of_the_gradients_and_grad_stays_as_it_is():
    x = tl.tensor([3.0, 4.0], requires_grad=True)
    h = x * 2
    loss = (h * h).sum()
    viewer = GraphViewer(loss)
    found = viewer.measure()
    norm = dict(zip(found.node, found.norm, strict=True))
    assert norm[h.grad_fn.seq] == pytest.approx(20.0)
    assert norm[loss.grad_fn.seq] == 1.0
    assert x.grad is None
    loss.backward()
    assert x.grad.tolist() == [24.0, 32.0]


def test_forward_times_are_known_of_what_was_timed():
    x = tl.randn(8, requires_grad=True)
    with timed():
        loss = x.exp().sum()
    found = GraphViewer(loss).measure()
    forward = dict(zip(found.node, found.forward, strict=True))
    assert forward[loss.grad_fn.seq] > 0
    assert all(time is None or time > 0 for time in found.backward)
    untimed = x.exp().sum()
    plain = GraphViewer(untimed).measure()
    assert set(plain.forward) == {None}
    assert "tensorlab.show.timed()" in plain.sentence


def test_nodes_with_nan_are_told_apart_by_value_and_gradient():
    x = tl.tensor([-1.0, 4.0], requires_grad=True)
    root = x.sqrt()
    loss = (root * tl.tensor([0.0, 1.0])).sum()
    viewer = GraphViewer(loss)
    found = viewer.measure()
    bad = dict(zip(found.node, found.bad, strict=True))
    assert bad[root.grad_fn.seq] & 1
    assert bad[next(node for node, norm in zip(found.node, found.norm, strict=True) if norm != norm)] & 2
    assert "NaN or Inf at" in found.sentence
    assert "NaN or Inf" in svg(viewer.graph, overlay=overlay("not finite", viewer.graph, found))


def test_a_graph_that_cannot_run_says_why():
    x = tl.randn(3, requires_grad=True)
    loss = x.exp().sum()
    viewer = GraphViewer(loss)
    loss.backward()
    with pytest.raises(Refused, match="second time"):
        viewer.measure()
    plain = tl.ones(3)
    with pytest.raises(Refused, match="requires grad"):
        GraphViewer(plain).measure()
    del loss
    with pytest.raises(Refused, match="gone"):
        viewer.measure()


def test_looking_again_shows_what_backward_freed_and_nothing_where_nothing_changed():
    x = tl.randn(3, requires_grad=True)
    loss = x.exp().sum()
    viewer = GraphViewer(loss)
    ask = {"seq": 1, "command": "refresh"}
    assert viewer.handle(ask)["body"] == {"graph": None}
    loss.backward()
    graph = viewer.handle(ask)["body"]["graph"]
    assert 4 in graph["nodes"]["state"]
    assert viewer.handle(ask)["body"] == {"graph": None}
    del loss
    assert viewer.handle(ask)["body"] == {"graph": None}


def test_a_storage_can_be_opened_while_it_is_kept():
    x = tl.randn(3, requires_grad=True)
    loss = x.exp().sum()
    viewer = GraphViewer(loss)
    found = viewer.inspect(-(2**20))
    assert found.name == "storage"
    assert found.value is not None
    assert "kept 1 time and counted once" in found.note
    loss.backward()
    assert viewer.inspect(-(2**20)).value is None
    with pytest.raises(Refused, match="no storage"):
        viewer.inspect(-(2**20) - 9)


def test_an_overlay_that_does_not_exist_names_those_that_do():
    graph = GraphViewer(tl.ones(2, requires_grad=True).exp()).graph
    with pytest.raises(ValueError, match="gradient norm"):
        overlay("heat", graph)
    with pytest.raises(ValueError, match="measured"):
        overlay("gradient norm", graph)
    assert "KiB" in svg(graph, overlay=overlay("bytes", graph)) or " B" in svg(graph, overlay=overlay("bytes", graph))
