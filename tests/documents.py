"""Graph documents made by hand, for tests of everything that draws them."""

from __future__ import annotations

from dataclasses import fields

from tensorlab.observe.schema import FLAGS, KINDS, STATES, EdgeColumns, Graph, Group, NodeColumns, Site
from tensorlab.observe.schema_kept import KeepColumns, StorageColumns, Stretched


def node(name, *inputs, label=None, kind="operation", shape="[64, 16]", dtype="float32", group=-1, **facts) -> dict:
    """One node for :func:`graph_of`; ``inputs`` are positions of earlier nodes."""
    return dict(name=name, inputs=inputs, label=label, kind=kind, shape=shape, dtype=dtype, group=group, **facts)


def graph_of(nodes, groups=(), sites=(), title="loss", sentence="", hidden=0, broadcasts=(), storages=()) -> Graph:
    """A document of these nodes, in forward order. ``storages`` are (label, bytes, positions of the nodes that keep it)."""
    strings: list[str] = []

    def text(words: str | None) -> int:
        if words is None:
            return -1
        if words not in strings:
            strings.append(words)
        return strings.index(words)

    rows = [
        {
            "id": at + 100,
            "kind": KINDS.index(item["kind"]),
            "name": text(item["name"]),
            "op": text(item.get("op")),
            "label": text(item["label"]),
            "shape": text(item["shape"]),
            "dtype": text(item["dtype"]),
            "group": item["group"],
            "site": item.get("site", -1),
            "flags": sum(FLAGS[flag] for flag in item.get("flags", ())),
            "saved_bytes": item.get("saved", 0),
            "state": STATES.index(item.get("state", "idle")),
            "freed": item.get("freed", -1),
        }
        for at, item in enumerate(nodes)
    ]
    columns = {field.name: tuple(row[field.name] for row in rows) for field in fields(NodeColumns)}
    ends = [(source, at, slot) for at, item in enumerate(nodes) for slot, source in enumerate(item["inputs"])]
    sources, targets, slots = zip(*ends, strict=True) if ends else ((), (), ())
    marks = {tuple(ends): number for number, (*ends, _) in enumerate(broadcasts)}
    keeps = [(number, at, text("result")) for number, (_, _, keepers) in enumerate(storages) for at in keepers]
    columns_of_storages = StorageColumns(
        bytes=tuple(size for _, size, _ in storages),
        label=tuple(text(label) for label, _, _ in storages),
        text=tuple(text(f"{size} B · [4]") for _, size, _ in storages),
        dtype=tuple(text("float32") for _ in storages),
        source=(-1,) * len(storages),
        holder=(0,) * len(storages),
    )
    return Graph(
        schema="tensorlab.graph/1",
        title=title,
        sentence=sentence,
        strings=tuple(strings),
        nodes=NodeColumns(**columns),
        edges=EdgeColumns(
            sources, targets, slots, tuple(marks.get((a, b), -1) for a, b in zip(sources, targets, strict=True))
        ),
        groups=tuple(groups),
        sites=tuple(sites),
        broadcasts=tuple(mark for *_, mark in broadcasts),
        storages=columns_of_storages,
        keeps=KeepColumns(*(zip(*keeps, strict=True) if keeps else ((), (), ()))),
        hidden=hidden,
    )


def parameter(label, shape, **facts) -> dict:
    return node("AccumulateGrad", label=label, shape=shape, kind="parameter", **facts)


def perceptron(states=(), sentence="5 operations lead from 4 parameters and 2 inputs to loss.") -> Graph:
    """Two layers in a module, an output layer and a loss with a target; ``states`` of the five operations."""
    groups = (
        Group("hidden", "Sequential", -1),
        Group("hidden.0", "Linear", 0),
        Group("hidden.1", "Tanh", 0),
        Group("out", "Linear", -1),
    )
    sites = (Site("", 1, "<module>", "a = hidden[0](x)", 4), Site("train.py", 2, "forward", "h = torch.tanh(a)", -1))
    state = dict(enumerate(states))
    return graph_of(
        [
            node("input", label="x", kind="input", shape="[64, 2]"),
            parameter("hidden.0.weight", "[16, 2]"),
            parameter("hidden.0.bias", "[16]"),
            node("AddmmBackward0", 0, 1, 2, group=1, site=0, saved=512, state=state.get(0, "idle")),
            node("TanhBackward0", 3, group=2, site=1, saved=4096, state=state.get(1, "idle")),
            parameter("out.weight", "[10, 16]"),
            parameter("out.bias", "[10]"),
            node("AddmmBackward0", 4, 5, 6, group=3, shape="[64, 10]", state=state.get(2, "idle")),
            node("LogSoftmaxBackward0", 7, shape="[64, 10]", state=state.get(3, "idle")),
            node("input", label="target", kind="input", shape="[64]", dtype="int64", flags=["no_grad"]),
            node("NllLossBackward0", 8, 9, label="loss", kind="root", shape="[]", state=state.get(4, "idle")),
        ],
        groups,
        sites,
        sentence=sentence,
    )


def recurrent(steps: int) -> Graph:
    """A recurrent cell written out ``steps`` times, with shared weights."""
    nodes = [
        parameter("cell.weight", "[16, 16]"),
        parameter("cell.bias", "[16]"),
        node("input", label="h0", kind="input", shape="[32, 16]", flags=["no_grad"]),
    ]
    hidden = 2
    for step in range(steps):
        nodes.append(node("input", label=f"x[{step}]", kind="input", shape="[32, 16]"))
        nodes.append(node("MmBackward0", hidden, 0, shape="[32, 16]"))
        at = len(nodes)
        nodes.append(node("AddBackward0", at - 1, at - 2, 1, shape="[32, 16]"))
        nodes.append(node("TanhBackward0", at, shape="[32, 16]"))
        hidden = at + 1
    nodes.append(node("SumBackward0", hidden, label="loss", kind="root", shape="[]"))
    return graph_of(nodes)


def encoder(layers: int) -> Graph:
    """A chain of equal modules, each with two linear layers: what folds to one box with a count."""
    groups, nodes = [], [node("input", label="x", kind="input")]
    last = 0
    for layer in range(layers):
        outer = len(groups)
        groups.append(Group(f"layers.{layer}", "EncoderLayer", -1))
        for part in ("up", "down"):
            inner = len(groups)
            groups.append(Group(f"layers.{layer}.{part}", "Linear", outer))
            at = len(nodes)
            nodes.append(parameter(f"layers.{layer}.{part}.weight", "[16, 16]"))
            nodes.append(node("MmBackward0", last, at, group=inner))
            nodes.append(node("ReluBackward0", at + 1, group=outer))
            last = at + 2
        nodes.append(node("AddBackward0", last, last - 3, group=outer))
        last = len(nodes) - 1
    nodes.append(node("SumBackward0", last, label="loss", kind="root", shape="[]"))
    return graph_of(nodes, groups)


def attention(layers: int) -> Graph:
    """Calls with labels, a part that a person asked for, storages that several nodes keep, and a value that is stretched."""
    groups = [Group("net", "Net", -1), Group("scores", "part", 0)]
    nodes = [node("input", label="x", kind="input", shape="[8, 1]"), parameter("net.w", "[8]")]
    storages, last = [], 0
    for layer in range(layers):
        at = len(nodes)
        nodes.append(node("MulBackward0", last, 1, op="mul", group=1, flags=["folded"], shape="[8, 8]"))
        nodes.append(node("TanhBackward0", at, op="tanh", group=0, label=f"h{layer}", shape="[8, 8]"))
        nodes.append(node("SubBackward0", at + 1, at, op="sub", shape="[8, 8]"))
        storages.append((f"h{layer}", 256, (at + 1, at + 2)))
        last = at + 2
    nodes.append(node("SumBackward0", last, label="loss", kind="root", op="sum", shape="[]"))
    storages.append((None, 32, tuple(range(2, len(nodes), 3))))
    mark = Stretched(
        "[8, 1]", "[8, 8]", (1,), True, "[8, 1] is repeated 8 times along dim 1 to [8, 8]", "summed over dim 1"
    )
    return graph_of(nodes, groups, broadcasts=[(0, 2, mark)], storages=storages)


def tangle(count: int, reach: int = 40) -> Graph:
    """Nodes without any repeat: every one has a shape of its own and takes one or two earlier ones."""
    seed = 1

    def random(limit: int) -> int:
        nonlocal seed
        seed = seed * 48271 % 2147483647
        return seed % limit

    names = ("MulBackward0", "AddBackward0", "TanhBackward0", "MmBackward0", "SigmoidBackward0")
    nodes = []
    for at in range(count):
        near = [at - 1 - random(min(at, reach)) for _ in range(1 + random(2))] if at else []
        shape = f"[{1 + random(50)}, {1 + random(50)}]"
        nodes.append(node(names[random(5)], *near, shape=shape, group=-1))
    return graph_of(nodes)
