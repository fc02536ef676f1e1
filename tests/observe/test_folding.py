"""A person's function decides what opens folded."""

from __future__ import annotations

import pytest

import tensorlab as tl
from tensorlab.display.outline import Outline
from tensorlab.observe.names import Names
from tensorlab.observe.snapshot import snapshot


def titles(graph) -> list[str]:
    """The boxes that a picture opens with."""
    outline = Outline(graph)
    folded = outline.default_folds()
    boxes = {
        outline.box_of(at, folded)
        for at in range(outline.count)
        if not outline.is_badge[at] and not outline.is_source[at]
    }
    return [
        outline.titles(box)[0]
        for box in sorted(boxes, key=lambda box: box if box >= 0 else outline.folds[~box].items[0])
    ]


def test_neighbours_that_are_wanted_become_one_part_and_the_rest_stays_open():
    x = tl.ones(4, 4, requires_grad=True)
    y = (x @ x).t().reshape(2, 8).exp().sum()
    seen = []
    graph = snapshot(y, fold=lambda node: seen.append(node.op) or node.op in ("t", "clone", "view"))
    assert seen == ["mm", "t", "clone", "view", "exp", "sum"]
    assert sorted(titles(graph)) == ["exp", "folded", "mm", "sum"]


def test_a_string_names_the_part():
    x = tl.ones(4, requires_grad=True)
    graph = snapshot(x.exp().tanh().sum(), fold=lambda node: "squash" if node.op != "sum" else None)
    assert sorted(titles(graph)) == ["squash", "sum"]
    assert [(group.name, group.type) for group in graph.groups] == [("squash", "part")]


def test_a_module_of_which_everything_is_wanted_is_folded_as_a_whole():
    model = tl.nn.Sequential(tl.nn.Linear(4, 4), tl.nn.Tanh(), tl.nn.Linear(4, 1))
    tl.modes.watch_sites(True)
    try:
        loss = model(tl.ones(2, 4)).sum()
    finally:
        tl.modes.watch_sites(False)
    graph = snapshot(loss, Names({"model": model}), fold=lambda node: node.module.startswith("model.0"))
    assert "model.0" in titles(graph)
    assert not any(group.type == "part" for group in graph.groups)


def test_what_the_function_raises_is_raised_and_what_is_no_function_is_named():
    x = tl.ones(4, requires_grad=True).exp()
    with pytest.raises(ZeroDivisionError):
        snapshot(x, fold=lambda node: 1 / 0)
    with pytest.raises(TypeError, match="fold is a function of a node, not str"):
        snapshot(x, fold="exp")
