"""A document tells the graph as it is, in the user's own names, and keeps nothing alive."""

from __future__ import annotations

import gc
import json
import weakref

import pytest

import tensorlab as tl
from tensorlab import modes
from tensorlab.engine.marks import scope
from tensorlab.observe import wire
from tensorlab.observe.names import Names, caller_namespace
from tensorlab.observe.protocol import Refused
from tensorlab.observe.schema import FLAGS, KINDS, STATES, Graph
from tensorlab.observe.snapshot import Walk, snapshot
from tensorlab.observe.viewer import GraphViewer


@pytest.fixture
def sites():
    modes.watch_sites(True)
    yield
    modes.watch_sites(False)


def rows(graph: Graph) -> list[dict]:
    """The nodes as dictionaries, their texts looked up."""
    nodes = graph.nodes
    return [
        {
            "name": graph.strings[nodes.name[at]],
            "label": graph.strings[nodes.label[at]] if nodes.label[at] >= 0 else "",
            "kind": KINDS[nodes.kind[at]],
            "shape": graph.strings[nodes.shape[at]],
            "dtype": graph.strings[nodes.dtype[at]],
            "group": nodes.group[at],
            "site": graph.sites[nodes.site[at]] if nodes.site[at] >= 0 else None,
            "flags": {name for name, bit in FLAGS.items() if nodes.flags[at] & bit},
            "saved_bytes": nodes.saved_bytes[at],
            "state": STATES[nodes.state[at]],
        }
        for at in range(len(nodes.id))
    ]


def named(graph: Graph) -> list[str]:
    return [row["label"] or row["name"] for row in rows(graph)]


def chain(length: int):
    x = tl.ones(2, requires_grad=True)
    y = x
    for _ in range(length):
        y = y * 1.0
    return y.sum()


class Model:
    """Looks like a module to whoever asks for parameters."""

    def __init__(self, **parameters):
        self.parameters = parameters

    def named_parameters(self):
        return iter(self.parameters.items())

    def forward(self):
        raise AssertionError("a snapshot never calls a module")


def test_a_graph_is_told_in_forward_order_with_the_names_of_the_caller():
    x = tl.ones(64, 2)
    w = tl.ones(2, 16, requires_grad=True)
    b = tl.zeros(16, requires_grad=True)
    h = (x @ w + b).tanh()
    loss = h.sum()
    graph = snapshot(loss, Names(locals()))
    assert graph.title == "loss"
    assert named(graph) == ["x", "w", "MmBackward0", "b", "AddBackward0", "h", "loss"]
    told = rows(graph)
    assert [row["kind"] for row in told] == ["input", "leaf", "operation", "leaf", "operation", "operation", "root"]
    assert told[0]["flags"] == {"no_grad"}
    assert (told[5]["name"], told[5]["shape"], told[5]["dtype"]) == ("TanhBackward0", "[64, 16]", "float32")
    ends = set(zip(graph.edges.source, graph.edges.target, graph.edges.slot, strict=True))
    assert ends == {(0, 2, 0), (1, 2, 1), (2, 4, 0), (3, 4, 1), (4, 5, 0), (5, 6, 0)}
    assert told[5]["saved_bytes"] == 64 * 16 * 4
    assert graph.sentence.startswith(
        "loss is 987.2. 4 operations lead from 2 parameters and 1 input to loss; they keep"
    )


def test_ids_are_the_creation_numbers_of_nodes():
    x = tl.ones(2, requires_grad=True)
    y = x * 2
    loss = y.sum()
    ids = snapshot(loss).nodes.id
    assert y.grad_fn.seq in ids
    assert loss.grad_fn.seq in ids


def test_parameters_are_called_as_their_module_calls_them():
    weight = tl.ones(2, 2, requires_grad=True)
    model = Model(**{"0.weight": weight})
    graph = snapshot((tl.ones(1, 2) @ weight).sum(), Names({"p": weight, "model": model}))
    assert "model.0.weight" in named(graph)


def test_tensors_in_lists_and_dictionaries_have_names_too():
    parts = [tl.ones(2, requires_grad=True), tl.ones(2, requires_grad=True)]
    batch = {"image": tl.ones(2, requires_grad=True)}
    loss = (parts[0] * parts[1] * batch["image"]).sum()
    assert {"parts[0]", "parts[1]", "batch['image']"} <= set(named(snapshot(loss, Names(locals()))))


def test_names_that_begin_with_an_underscore_belong_to_the_notebook_and_are_passed_over():
    x = tl.ones(2, requires_grad=True)
    graph = snapshot(x.sum(), Names({"_": x, "__1": x, "_12": x, "weights": x}))
    assert "weights" in named(graph)


def test_nothing_in_a_namespace_is_called_or_changed():
    class Trap:
        def __getattr__(self, name):
            raise AssertionError(f"asked for {name}")

    assert named(snapshot(tl.ones(2, requires_grad=True).sum(), Names({"trap": Trap()})))


def test_the_callers_local_names_are_found():
    inner = tl.ones(2, requires_grad=True)
    found = caller_namespace()
    assert found["inner"] is inner
    assert found["snapshot"] is snapshot
    del found
    seen = weakref.ref(inner)
    del inner
    gc.collect()
    assert seen() is None, "looking at the variables of a function must not keep them"


def test_modules_become_groups_with_parents(sites):
    x = tl.ones(2, requires_grad=True)
    with scope("", "Net"):
        with scope("hidden", "Sequential"), scope("0", "Linear"):
            x = x * 2
        with scope("out", "Linear"):
            x = x * 3
    net = type("Net", (Model,), {})()
    graph = snapshot(x.sum(), Names({"model": net}))
    assert [(group.name, group.type, group.parent) for group in graph.groups] == [
        ("model", "Net", -1),
        ("model.hidden", "Sequential", 0),
        ("model.hidden.0", "Linear", 1),
        ("model.out", "Linear", 0),
    ]
    assert [row["group"] for row in rows(graph)] == [-1, 2, 3, -1]


def test_two_modules_of_one_type_keep_their_names_and_so_does_a_part_called_alone(sites):
    model = tl.nn.Sequential(tl.nn.Linear(3, 2), tl.nn.Tanh())
    twin = tl.nn.Sequential(tl.nn.Tanh(), tl.nn.Linear(3, 2))
    x = tl.ones(1, 3)
    whole = model(x).sum() + twin(x).sum() + model[0](x).sum()
    names = Names({"model": model, "twin": twin})
    graph = snapshot(whole, names)
    where = [graph.groups[row["group"]].name for row in rows(graph) if row["group"] >= 0]
    assert where == ["model.0", "model.1", "twin.1", "model.0"]
    assert {(group.name, group.type) for group in graph.groups if group.parent < 0} == {
        ("model", "Sequential"),
        ("twin", "Sequential"),
        ("model.0", "Linear"),
    }
    made = {node.name(): names.path_of(node) for node in reversed(Walk([whole]).nodes)}
    assert made["TanhBackward0"] == "model.1"


def test_every_node_knows_the_line_that_made_it(sites):
    x = tl.ones(2, requires_grad=True)
    y = x * 2  # this very line
    (row,) = (row for row in rows(snapshot(y)) if row["kind"] == "root")
    assert row["site"].code == "y = x * 2  # this very line"
    assert row["site"].cell == -1
    assert row["site"].file.endswith("test_snapshot.py")
    assert row["site"].function == "test_every_node_knows_the_line_that_made_it"


def test_hooks_retained_gradients_views_and_freed_values_are_flagged():
    x = tl.ones(2, 3, requires_grad=True)
    y = x.t()
    z = y.exp()
    z.register_hook(lambda grad: None)
    z.retain_grad()
    loss = z.sum()
    told = {row["name"]: row for row in rows(snapshot(loss))}
    assert told["TBackward0"]["flags"] == {"view"}
    assert told["ExpBackward0"]["flags"] == {"hooks", "retains_grad"}
    loss.backward()
    after = snapshot(loss, Names({"loss": loss}))
    assert {row["name"]: row["state"] for row in rows(after)}["ExpBackward0"] == "freed"
    assert "has freed what 3 of them had kept" in after.sentence


def test_a_leaf_and_a_tensor_without_a_graph_have_a_picture_and_a_sentence():
    x = tl.ones(3, requires_grad=True)
    leaf = snapshot(x, Names({"x": x}))
    assert named(leaf) == ["x"]
    assert (
        leaf.sentence == "x is [3] float32, mean 1. x is a leaf: nothing made it, and its gradient arrives in x.grad."
    )
    y = tl.ones(3)
    plain = snapshot(y, Names({"y": y}))
    assert named(plain) == ["y"]
    assert plain.sentence == "y does not require grad, so no graph was recorded."


def test_several_results_share_one_picture():
    x = tl.ones(3, requires_grad=True)
    y, z = x * 2, x * 3
    graph = snapshot([y, z], Names(locals()))
    assert graph.title == "y, z"
    assert [row["kind"] for row in rows(graph)].count("root") == 2


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1,), (2, 0, 2)])
def test_empty_and_zero_dimensional_tensors_are_told(shape):
    x = tl.ones(*shape, requires_grad=True) if shape else tl.tensor(1.0, requires_grad=True)
    graph = snapshot((x * 2).sum())
    assert json.dumps(wire.to_json(graph), allow_nan=False)


def test_nan_and_infinity_in_the_result_are_words():
    x = tl.tensor(float("nan"), requires_grad=True)
    assert "result is nan" in snapshot(x * 1).sentence


def test_many_values_are_told_in_a_few_words():
    x = tl.tensor([[1.0, float("nan"), float("inf")]], requires_grad=True)
    assert snapshot(x * 1).sentence.startswith("result is [1, 3] float32, mean 1, 1 NaN, 1 infinite. 1 operation leads")
    empty = tl.ones(0, 3, requires_grad=True)
    assert snapshot(empty * 1).sentence.startswith("result is [0, 3] float32. ")


def test_a_limit_keeps_the_newest_and_counts_the_rest():
    graph = snapshot(chain(100), limit=10)
    assert len(graph.nodes.id) == 10
    assert graph.hidden == 92
    assert rows(graph)[-1]["kind"] == "root"
    with pytest.raises(ValueError, match="at least one node"):
        snapshot(chain(1), limit=0)


def test_twenty_thousand_nodes_in_a_row_need_no_recursion():
    assert len(snapshot(chain(20_000), limit=50_000).nodes.id) == 20_002


def test_ten_thousand_nodes_travel_in_less_than_a_megabyte(sites):
    graph = snapshot(chain(10_000), limit=20_000)
    body, buffers = wire.pack({"graph": wire.to_json(graph)})
    assert len(graph.nodes.id) == 10_002
    assert len(json.dumps(body)) + len(buffers[0]) < 1_000_000


def test_a_document_keeps_nothing_alive():
    x = tl.ones(2, requires_grad=True)
    loss = (x.exp() * 2).sum()
    seen = [weakref.ref(loss.grad_fn), weakref.ref(x)]
    graph = snapshot(loss, Names({"x": x, "loss": loss}))
    del x, loss
    gc.collect()
    assert [reference() for reference in seen] == [None, None]
    assert wire.from_json(Graph, json.loads(json.dumps(wire.to_json(graph)))) == graph


# ---- looking without running ---------------------------------------------------------------------------------------


def test_a_viewer_answers_while_the_graph_lives_and_says_when_it_is_gone():
    x = tl.ones(4, 2)
    w = tl.ones(2, 3, requires_grad=True)
    loss = (x @ w).tanh().sum()
    viewer = GraphViewer(loss, names=Names({"loss": loss, "x": x}))
    told = viewer.handle({"seq": 1, "command": "initialize"})["body"]["graph"]
    assert told["title"] == "loss"
    tanh = loss.grad_fn.next_functions[0][0].seq
    detail = viewer.handle({"seq": 2, "command": "inspect", "arguments": {"node": tanh}})
    assert detail["body"]["formula"] == "result = tanh(self)"
    assert viewer.inspect(-2).value.elements == 8
    gone = weakref.ref(loss.grad_fn)
    del loss
    gc.collect()
    assert gone() is None
    answer = viewer.handle({"seq": 3, "command": "inspect", "arguments": {"node": tanh}})
    assert not answer["success"]
    assert "this node is gone" in answer["message"]
    assert viewer.inspect(-2).value is None


def test_a_viewer_refuses_what_only_a_stepper_can_do():
    viewer = GraphViewer(chain(2))
    assert "open a stepper" in viewer.handle({"seq": 1, "command": "next"})["message"]
    with pytest.raises(Refused, match="there is no node 5000000"):
        viewer.inspect(5_000_000)
    assert not viewer.handle("nonsense")["success"]


def test_a_module_is_shown_by_its_parts():
    model = tl.nn.Sequential(tl.nn.Linear(2, 3), tl.nn.Tanh())
    viewer = GraphViewer(model, names=Names({"model": model}))
    assert viewer.graph.title == "model"
    with pytest.raises(Refused, match="a part of a module"):
        viewer.inspect(viewer.graph.nodes.id[0])


@pytest.mark.parametrize("thing", [3, "loss", None, [tl.ones(1), 2.0]])
def test_what_is_no_tensor_is_refused_by_its_type(thing):
    with pytest.raises(TypeError, match="a graph shows how a Tensor was made; this is"):
        GraphViewer(thing)


def test_a_retained_graph_can_be_inspected_after_backward():
    loss = chain(2)
    viewer = GraphViewer(loss)
    loss.backward()
    detail = viewer.inspect(loss.grad_fn.next_functions[0][0].seq)
    assert detail.state in ("freed", "idle")
