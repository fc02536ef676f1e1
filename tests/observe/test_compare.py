"""Two models, steps or graphs compared: everything that differs is told once, with how much, and nothing else is."""

from __future__ import annotations

import copy
import random
import xml.etree.ElementTree as ElementTree

import pytest

import tensorlab as tl
from tensorlab import nn
from tensorlab.display.compare import compare_text, svg
from tensorlab.observe import wire
from tensorlab.observe.aligning import aligned, longest_common
from tensorlab.observe.compare import compared
from tensorlab.observe.names import Names
from tensorlab.observe.schema_compare import CHANGES, Comparison
from tensorlab.observe.steps import step_of


def told(found: Comparison) -> dict[str, tuple[str, str]]:
    """What differs, by its dotted name below the root: status and note."""
    rows, strings = found.rows, found.strings
    names: list[str] = []
    answer: dict[str, tuple[str, str]] = {}
    for at, parent in enumerate(rows.parent):
        own = strings[rows.name[at]]
        names.append(own if parent < 0 or rows.parent[parent] < 0 and not names[parent] else f"{names[parent]}.{own}")
        note = strings[rows.note[at]] if rows.note[at] >= 0 else ""
        through_others = strings[rows.kind[at]] == "part" and CHANGES[rows.status[at]] == "changed" and not note
        if CHANGES[rows.status[at]] != "same" and not through_others:
            answer[names[at].partition(".")[2] or names[at]] = (CHANGES[rows.status[at]], note)
    return answer


def network():
    tl.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))


def test_a_model_and_its_copy_are_the_same():
    model = network()
    found = compared(model, copy.deepcopy(model))
    assert "are the same: 8 things compared" in found.sentence
    assert told(found) == {}
    assert "Nothing differs." in svg(found)


def test_what_was_edited_is_named_with_how_much_and_the_rest_is_not():
    model = network()
    before = step_of(model, Names({"model": model}))
    with tl.no_grad():
        model[2].weight.mul_(1.1)
    found = compared(before, model)
    (name,) = [name for name in told(found) if name.endswith("weight")]
    assert told(found)[name][0] == "changed"
    assert "value changed by 10 %" in told(found)[name][1]
    assert len(told(found)) == 1
    assert "Most changed 2.weight, by 10 %" in found.sentence
    assert compared(before, model, tolerance=0.2).sentence.count("are the same") == 1


def test_layers_that_were_added_removed_resized_or_exchanged_are_told_apart():
    one = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2), nn.Dropout(0.1))
    other = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
    found = told(compared(one, other))
    assert found["0.weight"] == ("changed", "[8, 4] float32 became [16, 4] float32")
    assert found["1"] == ("changed", "Tanh() became ReLU()")
    assert found["3"][0] == "removed"
    assert {name for name, (status, _) in found.items() if status == "added"} == set()


def test_a_parameter_that_moved_is_known_by_its_look_where_that_is_the_only_one():
    weight = tl.ones(3, 5)
    found = told(compared({"old.scale": weight, "b": tl.ones(2)}, {"new.scale": weight, "b": tl.ones(2)}))
    assert list(found.values()) == [("changed", "was old.scale")]


def test_nan_infinity_and_gradients_are_differences():
    model = network()
    before = step_of(model)
    model(tl.ones(1, 4)).sum().backward()
    with tl.no_grad():
        model[0].bias[0] = float("nan")
    found = told(compared(before, model))
    assert found["0.bias"][1] == "value has 1 more NaN or Inf; has a gradient now"
    assert found["2.weight"][1] == "has a gradient now"


def test_a_value_that_differs_outside_its_sample_is_found():
    a = tl.zeros(100_000)
    b = a.clone()
    b[99_999] = 1e-3
    assert told(compared({"w": a}, {"w": b}))["w"][0] == "changed"


def test_the_dynamic_graph_of_two_runs_is_aligned_step_by_step():
    def run(steps):
        h = x
        for _ in range(steps):
            h = (h @ w).tanh()
        return h.sum()

    x, w = tl.ones(2, 3), tl.eye(3).requires_grad_()
    found = compared(run(3), run(5))
    kinds = [status for status, _ in told(found).values()]
    assert "added" in kinds
    assert "4 added" in found.sentence
    assert "removed" not in found.sentence
    assert found.merged is not None
    assert "+ tanh" in found.merged.strings
    ids = found.merged.nodes.id
    assert len(set(ids)) == len(ids)
    assert all(a < b for a, b in zip(found.merged.edges.source, found.merged.edges.target, strict=True))


def test_graphs_of_two_models_are_matched_module_by_module_whatever_the_models_are_called():
    tl.modes.watch_sites(True)
    try:
        first, second = network(), network()
        second[1] = nn.ReLU()
        x = tl.ones(2, 4)
        a, b = first(x).sum(), second(x).sum()
    finally:
        tl.modes.watch_sites(False)
    found = compared(a, b, names=Names({"first": first, "second": second, "a": a, "b": b, "x": x}))
    assert "1 added, 1 removed" in found.sentence
    assert (found.names, found.title) == (("a", "b"), "a → b")
    assert "first" not in " ".join(group.name for group in found.merged.groups)


def test_gradients_of_steps_are_compared_and_grad_stays_as_it_is():
    w = tl.ones(3, requires_grad=True)
    a = (w * 2).sum()
    before = step_of(a, Names({"w": w, "a": a}))
    b = (w * 3).sum()
    found = told(compared(before, b, names=Names({"w": w, "b": b})))
    assert "gradient changed by 50 %" in found["w"][1]
    assert w.grad is None


def test_text_and_picture_say_the_same_and_names_are_text():
    evil = "<script>alert(1)</script>"
    found = compared({evil: tl.ones(2)}, {evil: tl.zeros(2), "b": tl.ones(1)})
    picture = svg(found)
    assert "<script" not in picture
    ElementTree.fromstring(picture)
    text = compare_text(found)
    assert f"~ {evil}" in text
    assert "+ b" in text
    assert wire.from_json(Comparison, wire.to_json(found)) == found


def test_kinds_that_cannot_be_compared_are_named():
    with pytest.raises(TypeError, match="one side is a graph and the other a model"):
        compared(network(), tl.ones(2))
    with pytest.raises(TypeError, match="this is int"):
        compared(3, 4)
    with pytest.raises(ValueError, match="tolerance"):
        compared({}, {}, tolerance=-1)
    assert "are the same" in compared({}, {}).sentence


def test_longest_common_subsequences_are_longest():
    def slow(one, other):
        best = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
        for i, x in enumerate(one):
            for j, y in enumerate(other):
                best[i + 1][j + 1] = best[i][j] + 1 if x == y else max(best[i][j + 1], best[i + 1][j])
        return best[-1][-1]

    dice = random.Random(0)
    for _ in range(300):
        one, other = ([dice.choice("abc") for _ in range(dice.randrange(14))] for _ in "xy")
        pairs = longest_common(one, other)
        assert all(one[i] == other[j] for i, j in pairs)
        assert pairs == sorted(pairs)
        assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs) == slow(one, other)
    assert aligned([["a1", "b1"], ["a", "b"]], [["a2", "b1"], ["a", "b"]]) == [(0, 0), (1, 1)]


def test_four_thousand_nodes_are_told_apart_one_by_one():
    w = tl.randn(8, requires_grad=True)

    def chain(seed):
        dice, y = random.Random(seed), w
        for _ in range(4000):
            y = dice.choice([tl.sin, tl.cos, tl.tanh, lambda x: x * 0.5])(y)
        return y.sum()

    assert told(compared(chain(0), chain(0))) == {}
    assert len(compared(chain(0), chain(1)).rows.name) > 1000
