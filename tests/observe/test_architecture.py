"""What a model is made of, drawn before it computes anything."""

from __future__ import annotations

import tensorlab as tl
from tensorlab.observe.architecture import module_graph


def named(graph) -> list[tuple[str, str]]:
    return [
        (graph.strings[name], graph.strings[label] if label >= 0 else "")
        for name, label, kind in zip(graph.nodes.name, graph.nodes.label, graph.nodes.kind, strict=True)
        if kind == 0
    ]


def lines(graph) -> list[tuple[str, str]]:
    """Edges between parts, by their paths."""
    labels = [graph.strings[label] for label in graph.nodes.label]
    kinds = graph.nodes.kind
    ends = zip(graph.edges.source, graph.edges.target, strict=True)
    return [(labels[source], labels[target]) for source, target in ends if kinds[source] == 0]


def test_parts_parameters_and_enclosures_are_named():
    model = tl.nn.Sequential(tl.nn.Linear(4, 3), tl.nn.Sequential(tl.nn.Linear(3, 2), tl.nn.Tanh()))
    graph = module_graph(model, "model")
    assert named(graph) == [("Linear", "0"), ("Linear", "1.0"), ("Tanh", "1.1")]
    assert [(group.name, group.type, group.parent) for group in graph.groups] == [
        ("", "Sequential", -1),
        ("1", "Sequential", 0),
    ]
    assert graph.sentence == "model is a Sequential of 3 parts with 23 parameters (92 B)."
    assert "15 parameters" in graph.strings


def test_lines_follow_a_sequential_into_the_ones_inside_it():
    inner = tl.nn.Sequential(tl.nn.Tanh(), tl.nn.Tanh())
    model = tl.nn.Sequential(tl.nn.Linear(4, 3), inner, tl.nn.Linear(3, 2))
    assert lines(module_graph(model)) == [("0", "1.0"), ("1.0", "1.1"), ("1.1", "2")]


def test_no_line_is_guessed_where_a_forward_decides_the_order():
    class Net(tl.nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.other = tl.nn.Linear(2, 2), tl.nn.Linear(2, 2)

    assert lines(module_graph(Net())) == []
    assert lines(module_graph(tl.nn.Sequential(tl.nn.Tanh(), Net(), tl.nn.Tanh()))) == []


def test_a_model_without_parts_has_a_picture():
    graph = module_graph(tl.nn.Tanh())
    assert named(graph) == [("Tanh", "")]
    assert graph.sentence == "Tanh is a Tanh of 1 part with 0 parameters (0 B)."


def test_a_model_that_waits_for_its_first_input_says_so() -> None:
    graph = module_graph(tl.nn.Sequential(tl.nn.LazyLinear(3), tl.nn.ReLU(), tl.nn.Linear(3, 1)))
    assert "with 4 parameters" in graph.sentence
    assert graph.sentence.endswith("and 2 tensors to be shaped by the first input.")
    assert "shape not known yet" in graph.strings
