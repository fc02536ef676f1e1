"""The static picture: everything that it must say, in both colours, safely and in few bytes."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree

import pytest

from tensorlab.display.svg import middle_cut, svg
from tests.documents import encoder, graph_of, node, parameter, perceptron, recurrent, tangle

SVG = "{http://www.w3.org/2000/svg}"


def words(picture: str) -> list[str]:
    """Everything that a person reads in a picture, tooltips apart."""
    root = ElementTree.fromstring(picture)
    return ["".join(item.itertext()) for item in root.iter(f"{SVG}text")]


def tooltips(picture: str) -> list[str]:
    return [item.text or "" for item in ElementTree.fromstring(picture).iter(f"{SVG}title")]


def classes(picture: str) -> list[str]:
    return [name for item in ElementTree.fromstring(picture).iter() for name in item.get("class", "").split()]


def test_names_shapes_parameters_and_the_sentence_are_read():
    read = words(svg(perceptron()))
    assert "graphloss11 nodes" in read
    assert {"AddmmBackward0", "TanhBackward0", "NllLossBackward0", "W 16×2", "b 16", "hidden"} <= set(read)
    assert "[64, 16] · hidden.0" in read
    assert "[64] int64 · no grad" in read
    assert "5 operations lead from 4 parameters and 2 inputs to loss." in read


def test_hovering_says_where_a_node_was_made_and_what_it_keeps():
    tips = tooltips(svg(perceptron()))
    assert "AddmmBackward0 [64, 16] · hidden.0\ncell 4, line 1: a = hidden[0](x)\nkeeps 512 B for backward" in tips
    assert any("train.py, line 2: h = torch.tanh(a)" in tip for tip in tips)


def test_states_differ_by_mark_and_border_and_not_by_colour_alone():
    picture = svg(perceptron(states=("waiting", "current", "done", "freed", "done")))
    assert {"tl-waiting", "tl-current", "tl-done", "tl-off", "tl-clock", "tl-go"} <= set(classes(picture))
    assert classes(picture).count("tl-mark") == 3
    assert "stroke:var(--waiting);stroke-width:1.5;stroke-dasharray:5 3}" in picture


def test_a_node_with_nan_carries_a_cross():
    assert "tl-bad" in classes(svg(graph_of([node("LogBackward0", flags=["nan"])])))


def test_both_palettes_are_inside():
    picture = svg(perceptron())
    assert "prefers-color-scheme:dark" in picture
    assert "#0072b2" in picture
    assert "#56b4e9" in picture
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "a & b", '"quoted"', "\x00\x1b[31m", "\ud800", "名前" * 40]
)
def test_whatever_a_person_names_a_thing_is_shown_as_text(name):
    nodes = [parameter(name, "[2]"), node("MulBackward0", 0, label=name, kind="root")]
    picture = svg(graph_of(nodes, title=name, sentence=name))
    root = ElementTree.fromstring(picture)
    assert not list(root.iter(f"{SVG}script"))
    assert "<script" not in picture


def test_very_long_names_are_cut_and_whole_in_the_tooltip():
    long = "block." * 60 + "weight"
    picture = svg(graph_of([node("MulBackward0", label=long, kind="root")], title=long))
    assert any(long in tip for tip in tooltips(picture))
    assert all(len(line) < 120 for line in words(picture))


def test_empty_and_zero_dimensional_things_have_a_picture():
    assert "graphx0 nodes" in words(svg(graph_of([], title="x", sentence="")))
    assert "graphloss1 node" in words(svg(graph_of([node("SumBackward0", shape="[0, 3]", kind="root")])))


def test_a_graph_that_is_too_large_says_what_was_folded():
    read = " ".join(words(svg(encoder(60))))
    assert "×60 EncoderLayer" in read
    assert "Repeats are folded." in read


def test_a_graph_that_does_not_fold_is_cut_near_its_result_and_says_so():
    picture = svg(tangle(1000))
    read = " ".join(words(picture))
    assert "nodes further from loss are not drawn" in read
    assert "1,000 nodes" in read
    assert 'stroke-dasharray="1.5 3"' in picture, "cut lines are dotted"


def test_nodes_left_out_of_the_document_are_counted_too():
    read = " ".join(words(svg(graph_of([node("AddBackward0", kind="root")], hidden=4999))))
    assert "5,000 nodes" in read
    assert "4,999 nodes further from loss are not drawn" in read


@pytest.mark.parametrize("graph", [encoder(60), recurrent(50), tangle(200), tangle(2000)])
def test_no_picture_is_larger_than_a_notebook_can_take(graph):
    picture = svg(graph)
    assert len(picture.encode()) < 30_000
    root = ElementTree.fromstring(picture)
    assert int(root.get("width")) < 1400
    assert int(root.get("height")) < 2000


def test_lines_over_many_layers_become_numbered_stubs():
    nodes = [node("ExpBackward0", *([at - 1] if at else [])) for at in range(12)]
    nodes.append(node("AddBackward0", 11, 0, kind="root"))
    assert words(svg(graph_of(nodes))).count("1") == 2


def test_no_picture_needs_a_program_on_the_path(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert os.environ["PATH"] == ""
    assert svg(perceptron()).startswith("<svg")


def test_pictures_are_equal_each_time():
    assert svg(recurrent(20)) == svg(recurrent(20))


def test_long_words_keep_their_beginning_and_their_end():
    assert middle_cut("[64, 16] · encoder.layers.0", 15) == "[64, 16…ayers.0"
