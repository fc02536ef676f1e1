"""What a display adds to a notebook file: little, and bounded whatever it shows."""

from __future__ import annotations

import json

import pytest

import tensorlab as tl
from tensorlab.display.bundle import bundle, kept
from tensorlab.display.lines import bundle as lines_bundle
from tensorlab.observe.lines_document import record
from tensorlab.observe.names import Names
from tensorlab.observe.snapshot import snapshot

MOST = 60_000


def deep() -> tl.Tensor:
    """A model of forty blocks in a row: a graph of more than 200 nodes, with parameters."""
    layers: list[tl.nn.Module] = []
    for _ in range(40):
        layers += [tl.nn.Linear(8, 8), tl.nn.LayerNorm(8), tl.nn.GELU()]
    return tl.nn.Sequential(*layers)(tl.ones(2, 8)).sum()


def tangled() -> tl.Tensor:
    """Branches that cross one another, with nothing to fold."""
    weights = [tl.ones(4, 4, requires_grad=True) for _ in range(30)]
    made = [weights[i] * i for i in range(30)]
    total = tl.zeros(())
    for i in range(30):
        mixed = (made[i] @ made[(7 * i) % 30]).tanh() + made[(11 * i) % 30]
        total = total + mixed.sum()
    return total


def letters(data: object) -> int:
    """What it takes in a file."""
    return len(json.dumps(data, ensure_ascii=False).encode())


@pytest.mark.parametrize("make", [deep, tangled])
def test_a_graph_of_two_hundred_nodes_adds_at_most_sixty_kilobytes(make):
    graph = snapshot(make(), Names(globals()))
    assert len(graph.nodes.id) >= 200
    assert letters(bundle(graph, "tensor")) <= MOST
    assert letters(kept(graph)) <= MOST


@pytest.mark.parametrize("make", [deep, tangled])
def test_lines_that_make_two_hundred_values_add_at_most_sixty_kilobytes(make):
    document = record(make, (), {}).document
    assert len(document.graph.nodes.id) >= 200
    assert letters(lines_bundle(document)) <= MOST


@pytest.mark.parametrize("word", ["graph", "stepper", "layout", "flow", "lines"])
def test_a_live_view_adds_no_more_than_that_to_the_file(word):
    pytest.importorskip("tensorlab_widgets")
    loss = deep()
    subjects = {"layout": (tl.ones(64, 64, 64),), "flow": ([tl.ones(2, requires_grad=True)],), "lines": (deep,)}
    view = getattr(tl.show, word)(*subjects.get(word, (loss,)))
    shown = view._repr_mimebundle_()
    data = shown[0] if isinstance(shown, tuple) else shown
    assert letters(data) <= MOST
    view.close()


def test_every_view_is_recorded_into_one_page(tmp_path, monkeypatch):
    widgets = pytest.importorskip("tensorlab_widgets.instrument")
    if not (widgets.STATIC / "page.js").exists():
        pytest.skip("the bundles are not built")
    monkeypatch.chdir(tmp_path)
    w = tl.ones(2, requires_grad=True)
    loss = (w * 2).sum()
    views = [
        tl.show.stepper(loss, title="loss"),
        tl.show.lines(lambda: w * 2),
        tl.show.graph(loss, title="loss"),
        tl.show.layout(w, title="w"),
        tl.show.flow([("w", w)], title="model"),
    ]
    names = [tl.show.record(view).name for view in views]
    assert names == ["backward-loss.html", "lines-lambda.html", "graph-loss.html", "layout-w.html", "flow-model.html"]
    assert tl.show.record(loss).name == "backward.html"
    assert w.grad is None
    for file in tmp_path.iterdir():
        text = file.read_text("utf-8")
        assert "http" not in text.replace("http://www.w3.org", "").replace("http-equiv", "")
    for view in views:
        view.close()
