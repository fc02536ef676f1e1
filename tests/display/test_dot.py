"""DOT text always; a rendering where there is a program for it; a sentence where there is none."""

from __future__ import annotations

import stat
import sys

import pytest

import tensorlab as tl
from tensorlab.display import dot as module
from tensorlab.display.dot import find_program, make_dot

graphviz = pytest.importorskip("graphviz")


@pytest.fixture
def no_program(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(module.sysconfig, "get_path", lambda name: "")
    monkeypatch.setattr(module.sys, "executable", "/nowhere/python")


def network():
    x = tl.ones(4, 2)
    w = tl.ones(2, 3, requires_grad=True)
    return w, (x @ w).tanh().sum()


def test_the_text_names_leaves_operations_and_the_result(no_program):
    weight, loss = network()
    drawn = make_dot(loss)
    assert isinstance(drawn, graphviz.Digraph)
    for words in ("MmBackward0", "TanhBackward0", "SumBackward0", "AccumulateGrad", "weight", "(2, 3)", "loss"):
        assert words in drawn.source
    assert "lightblue" in drawn.source
    assert "darkolivegreen1" in drawn.source


def test_parameters_are_called_as_they_are_given(no_program):
    weight, loss = network()
    assert "layer.weight" in make_dot(loss, params={"layer.weight": weight}).source
    with pytest.raises(TypeError, match="mapping from names to tensors"):
        make_dot(loss, params={"w": 3})


def test_saved_values_and_attributes_are_listed_when_asked_for(no_program):
    _, loss = network()
    assert "orange" not in make_dot(loss).source
    assert "orange" in make_dot(loss, show_saved=True).source
    assert "[saved tensor] (4, 3)" in make_dot(loss, show_attrs=True).source


def test_several_results_make_one_graph(no_program):
    w, loss = network()
    assert make_dot((loss, (w * 2).sum())).source.count("darkolivegreen1") == 2


def test_a_result_without_a_graph_and_a_leaf_are_drawn_too(no_program):
    assert "(3)" in make_dot(tl.ones(3)).source.replace(",", "")
    assert "AccumulateGrad" in make_dot(tl.ones(3, requires_grad=True)).source


def test_names_never_become_markup_or_escapes(no_program):
    weight, loss = network()
    source = make_dot(loss, params={"<b>\\N": weight}).source
    assert "<b>" not in source
    assert "\\\\N" in source


def test_without_a_program_rendering_says_what_to_install(no_program):
    _, loss = network()
    with pytest.raises(RuntimeError, match="neither a 'dot'.*nor graphviz-pure.*pip install"):
        make_dot(loss).pipe("svg")
    with pytest.raises(RuntimeError, match="pip install"):
        make_dot(loss).render("/nowhere/graph")


def test_without_a_program_a_notebook_shows_our_own_picture(no_program):
    _, loss = network()
    shown = make_dot(loss)._repr_mimebundle_()
    assert shown["image/svg+xml"].startswith("<svg")
    assert "MmBackward0" in shown["text/plain"]


def test_graphviz_pure_is_used_when_there_is_no_dot(tmp_path, monkeypatch):
    program = tmp_path / "graphviz-pure"
    program.write_text(f"#!{sys.executable}\nimport sys; print(' '.join(sys.argv[1:]), len(sys.stdin.read()))\n")
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program() == (str(program),)
    _, loss = network()
    drawn = make_dot(loss)
    assert drawn.pipe("svg", encoding="utf-8").startswith("-Kdot -Tsvg")
    rendered = drawn.render(tmp_path / "graph", format="svg", cleanup=True)
    assert rendered.endswith("graph.svg")
    assert not (tmp_path / "graph").exists()


@pytest.mark.skipif(find_program() is None, reason="neither dot nor graphviz-pure is installed")
def test_a_real_program_renders_the_text():
    _, loss = network()
    assert "<svg" in make_dot(loss, show_attrs=True, show_saved=True).pipe("svg", encoding="utf-8")


def test_a_graph_deeper_than_the_recursion_limit_is_written(no_program):
    y = tl.ones(2, requires_grad=True)
    for _ in range(5000):
        y = y * 1.0
    assert make_dot(y.sum()).source.count("MulBackward0") == 5000
