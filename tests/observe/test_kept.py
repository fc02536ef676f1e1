"""What a graph says it keeps for backward is what memory holds: each storage once, however many nodes keep it."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.nn import functional as F
from tensorlab.observe.names import Names
from tensorlab.observe.schema_kept import HOLDERS
from tensorlab.observe.snapshot import snapshot

ARRAYS = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)


def held() -> int:
    """The bytes that arrays occupy now, as the allocator counts them."""
    gc.collect()
    return sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces([ARRAYS]).traces)


def perceptron():
    model = tl.nn.Sequential(
        tl.nn.Linear(256, 512), tl.nn.ReLU(), tl.nn.Dropout(0.5), tl.nn.Linear(512, 128), tl.nn.GELU()
    )
    x, target = tl.randn(300, 256), tl.randint(0, 128, (300,))
    return (model, x, target), lambda: F.cross_entropy(model(x), target)


def convolution():
    model = tl.nn.Sequential(
        tl.nn.Conv2d(3, 16, 3), tl.nn.BatchNorm2d(16), tl.nn.ReLU(), tl.nn.MaxPool2d(2), tl.nn.Flatten()
    )
    x = tl.randn(8, 3, 32, 32)
    return (model, x), lambda: (model(x)[:, ::3] ** 2).mean()


def attention():
    layer = tl.nn.TransformerEncoderLayer(64, 4, 128)
    x = tl.randn(50, 8, 64)
    return (layer, x), lambda: layer(x).square().mean()


def recurrent():
    cell, x = tl.nn.GRUCell(64, 128), tl.randn(20, 32, 64)

    def loss():
        h = tl.zeros(32, 128)
        for step in x:
            h = cell(step, h)
        return h.logsumexp(1).sum()

    return (cell, x), loss


@pytest.mark.parametrize("build", [perceptron, convolution, attention, recurrent])
def test_the_bytes_kept_by_the_graph_alone_are_those_that_the_allocator_gets_back(build):
    tl.manual_seed(0)
    standing, forward = build()
    forward()
    tracemalloc.start()
    try:
        before = held()
        loss = forward()
        grown = held() - before - loss.nbytes
        graph = snapshot(loss, Names({"standing": standing}))
    finally:
        tracemalloc.stop()
    storages = graph.storages
    alone = sum(
        size for size, holder in zip(storages.bytes, storages.holder, strict=True) if HOLDERS[holder] == "nobody else"
    )
    others = {HOLDERS[holder] for holder in storages.holder}
    assert "a parameter or leaf" in others
    given = sum(tensor.nbytes for tensor in standing if isinstance(tensor, tl.Tensor))
    known = sum(size for size, source in zip(storages.bytes, storages.source, strict=True) if source < 0)
    # An input that nobody gave a name counts as the graph's: it is known to be one because nothing in the graph made it.
    assert min(abs(alone - grown), abs(alone - given - grown), abs(alone - known - grown)) <= 0.01 * grown


def test_a_storage_that_several_nodes_keep_is_one_storage_with_several_references():
    x = tl.randn(8, requires_grad=True)
    h = x.exp()
    loss = (h * h).sum() + (h.view(2, 4) * 2).tanh().sum()
    graph = snapshot(loss, Names({"x": x, "h": h}))
    labels = [graph.strings[at] if at >= 0 else "" for at in graph.storages.label]
    (number,) = [at for at, label in enumerate(labels) if label == "h"]
    keepers = [
        graph.strings[graph.nodes.op[node]]
        for s, node in zip(graph.keeps.storage, graph.keeps.node, strict=True)
        if s == number
    ]
    assert keepers == ["exp", "mul", "mul"]
    assert graph.storages.bytes[number] == 32
    assert HOLDERS[graph.storages.holder[number]] == "a name in your code"


def test_a_view_keeps_the_whole_memory_that_it_lies_in():
    x = tl.randn(100, requires_grad=True)
    big = tl.randn(1000)
    graph = snapshot((x * big[:100]).sum())
    assert 4000 in graph.storages.bytes


def test_nothing_is_kept_once_backward_has_freed_it_and_the_text_says_which_call_did():
    x = tl.randn(8, requires_grad=True)
    loss = x.exp().sum()
    loss.backward()
    graph = snapshot(loss, Names({"loss": loss}))
    assert graph.storages.bytes == ()
    freed = [graph.sites[at] for at in graph.nodes.freed if at >= 0]
    assert {site.code for site in freed} == {"loss.backward()"}
    assert "loss.backward() in " in graph.sentence
