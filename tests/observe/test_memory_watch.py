"""Memory that is looked at: every figure adds up to the accounting, every block has a holder and an end, and nothing is kept alive."""

from __future__ import annotations

import gc
import json
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

import tensorlab as tl
from tensorlab import census, nn, taps
from tensorlab.modes import sites_are_watched
from tensorlab.observe import memory_recorder, wire
from tensorlab.observe.memory_holdings import grown, growth_words
from tensorlab.observe.memory_recorder import MemoryRecorder
from tensorlab.observe.memory_watch import MemoryWatch
from tensorlab.observe.schema_watching import USES, MemoryBlock, MemoryDocument


class Space(dict[str, Any]):
    """Variables with names, as a notebook has them."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


@pytest.fixture
def space() -> Space:
    tl.manual_seed(0)
    net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
    return Space(net=net, optimizer=tl.optim.Adam(net.parameters()), x=tl.randn(128, 20), history=[])


@pytest.fixture
def watch() -> Iterator[Any]:
    made: list[MemoryWatch] = []
    gc.collect()

    def make(space: Space, result: Any = None, title: str = "", **options: Any) -> MemoryWatch:
        made.append(MemoryWatch(result, title, lambda: space, **options))
        return made[-1]

    yield make
    for one in made:
        one.recorder.detach()


def step(space: Space) -> None:
    space.optimizer.zero_grad()
    out = space.net(space.x)
    out.pow(2).mean().backward()
    space.optimizer.step()


def block(document: MemoryDocument, name: str) -> MemoryBlock:
    return next(b for b in document.blocks if b.name == name)


# ---------------------------------------------------------------------------------------------------------- adding up


def test_what_is_held_equals_the_accounting_and_the_shares_equal_the_peak(space: Space, watch: Any) -> None:
    one = watch(space)
    for _ in range(3):
        step(space)
    document = one.document()
    assert document.curve.now == tl.cpu.memory_allocated()
    assert document.curve.now == sum(b.bytes for b in document.blocks if b.died < 0) + document.unlisted_bytes
    at_peak = sum(b.bytes for b in document.blocks if b.at_peak)
    assert (
        at_peak == document.curve.peak == sum(s.bytes for s in document.modules) == sum(s.bytes for s in document.ops)
    )
    assert max(map(sum, zip(*document.curve.stack, strict=True))) == document.curve.peak
    assert document.trouble == ""
    assert [p.name for p in document.curve.phases][:3] == ["forward", "backward", "step"]


def test_the_peak_is_the_one_that_the_accounting_saw(space: Space, watch: Any) -> None:
    tl.cpu.reset_peak_memory_stats()
    try:
        one = watch(space)
        for _ in range(2):
            step(space)
        assert one.document().curve.peak == tl.cpu.max_memory_allocated()
    finally:
        tl.cpu.stop_counting()


def test_every_use_of_memory_is_told_apart(space: Space, watch: Any) -> None:
    one = watch(space)
    step(space)
    kept = space.net(space.x)
    document = one.document()
    seen = [name for name, row in zip(USES, document.curve.stack, strict=True) if any(row)]
    assert seen == list(USES)
    assert USES[block(document, "net.0.weight").use] == "there before"
    assert USES[block(document, "net.0.weight.grad").use] == "gradients"
    del kept


def test_memory_that_several_nodes_keep_is_one_block_with_all_of_them(space: Space, watch: Any) -> None:
    x = space["w"] = tl.ones(64, 64, requires_grad=True)
    h = x.tanh()
    loss = (h * h).sum() + h.exp().sum()
    document = watch(space, loss, "loss").document()
    (one,) = [b for b in document.blocks if b.op == "TanhBackward0"]
    assert one.bytes == 64 * 64 * 4
    assert [words.partition(" keeps")[0] for words in one.holders].count("MulBackward0") == 2
    assert any(words.startswith("TanhBackward0 keeps it as result") for words in one.holders)


def test_what_a_graph_keeps_equals_the_accounting_and_is_foreseen_node_by_node(space: Space, watch: Any) -> None:
    gc.collect()
    before = tl.cpu.memory_held_by_graph()
    loss = space["loss"] = space.net(space.x).pow(2).mean()
    document = watch(space, loss, "loss").document()
    foreseen = document.curve.stack[USES.index("kept for backward")]
    assert foreseen[0] == tl.cpu.memory_held_by_graph() - before
    assert foreseen[-1] == 0
    assert list(foreseen) == sorted(foreseen, reverse=True)
    tanh = next(b for b in document.blocks if b.op == "TanhBackward0")
    assert tanh.frees == "TanhBackward0 frees it in backward, unless retain_graph=True"
    assert "will free 64.5 KiB" in document.sentence
    loss.backward()
    assert tl.cpu.memory_held_by_graph() == before


# ---------------------------------------------------------------------------------------------------------- who, and until when


def test_holders_are_named_variables_gradients_states_graphs_attributes_and_closures(space: Space, watch: Any) -> None:
    class Keeper:
        cache: Any

    def with_closure() -> Any:
        big = tl.ones(5000)

        def hook(g: tl.Tensor) -> tl.Tensor:
            return g * big.sum()

        return hook

    space["keeper"] = keeper = Keeper()
    keeper.cache = tl.ones(3000)
    space.net[0].weight.register_hook(with_closure())
    space["named"] = {"a": tl.ones(2000)}
    step(space)
    space["out"] = space.net(space.x)
    document = watch(space).document()
    by_size = {b.bytes: b for b in document.blocks}
    assert any("the closure of hook (" in words for words in by_size[20000].holders)
    assert "the attribute cache of a test_holders" in by_size[12000].holders[0]
    assert block(document, "named['a']").frees == "goes once named is deleted or given another value"
    assert block(document, "net.2.weight").holders[0] == "net.2.weight"
    assert block(document, "net.2.weight.grad").frees == "zero_grad() frees it"
    state = next(b for b in document.blocks if b.name.startswith("optimizer.state["))
    assert state.frees == "stays with the optimizer"
    kept = next(b for b in document.blocks if b.holders and b.holders[0].startswith("ReluBackward0 keeps it as result"))
    assert kept.frees.startswith("backward() frees it")


def test_it_is_said_what_freed_a_block_a_node_a_line_or_zero_grad(space: Space, watch: Any) -> None:
    one = watch(space)
    h = tl.ones(4000)
    h = h + 1
    step(space)
    space.optimizer.zero_grad()
    gone = one.recorder.gone
    freed = {(b.op, b.freed) for b in gone}
    assert ("ReluBackward0", "freed by ReluBackward0 in backward") in freed
    assert any(b.freed.startswith("freed once") for b in gone)
    blocks = one.handle(
        {"seq": 1, "command": "at", "arguments": {"tick": next(b.born for b in gone if b.size == 16000)}}
    )
    line = next(b for b in blocks["body"]["blocks"] if b["bytes"] == 16000)
    assert "let go of in " in line["frees"]
    assert "test_memory_watch.py, line" in line["frees"]
    assert h is not None


def test_modules_and_lines_that_made_a_block_are_known(space: Space, watch: Any) -> None:
    one = watch(space)
    space["out"] = space.net(space.x)
    found = next(b for b in one.document().blocks if b.op == "TanhBackward0")
    assert found.module == "net.3"
    assert found.made is not None
    assert "space.net(space.x)" in found.made.code


def test_any_moment_can_be_looked_at_and_adds_up(space: Space, watch: Any) -> None:
    one = watch(space)
    step(space)
    document = one.document()
    for tick, *totals in list(zip(document.curve.ticks, *document.curve.stack, strict=True))[5::7]:
        answer = one.handle({"seq": 1, "command": "at", "arguments": {"tick": tick}})["body"]
        assert answer["bytes"] == sum(b["bytes"] for b in answer["blocks"])
        assert answer["bytes"] == sum(totals)


# ---------------------------------------------------------------------------------------------------------- what grew


def test_two_snapshots_tell_what_grew_by_name_and_line(space: Space, watch: Any) -> None:
    one = watch(space)
    step(space)
    before = one.snapshot("before")
    for _ in range(3):
        step(space)
        space.history.append(space.net(space.x).pow(2).mean())
    after = one.snapshot("after")
    found = grown(before, after)
    total = sum(g.bytes_after - g.bytes_before for g in found)
    assert total == after.bytes - before.bytes
    words = [growth_words(g) for g in found]
    assert any("held by history[...], made by MeanBackward0 in " in line for line in words)
    kept = next(line for line in words if "only a graph" in line and "ReluBackward0" in line)
    assert kept.startswith("96.0 KiB more (+3 buffers)")
    assert grown(after, after) == ()


def test_a_steady_loop_grows_by_nothing(space: Space, watch: Any) -> None:
    one = watch(space)
    for _ in range(2):
        step(space)
    before = one.snapshot()
    for _ in range(3):
        step(space)
    gc.collect()
    assert grown(before, one.snapshot()) == ()


def test_a_mark_lists_growth_in_the_view(space: Space, watch: Any) -> None:
    one = watch(space)
    assert one.handle({"seq": 1, "command": "mark"})["body"]["memory"]["growth"] == []
    space.history.append(tl.ones(1000))
    memory = one.handle({"seq": 2, "command": "look"})["body"]["memory"]
    assert memory["marked"]
    assert memory["growth"][0]["holder"] == "history[...]"


def test_snapshots_of_two_devices_are_not_compared(space: Space, watch: Any) -> None:
    from dataclasses import replace

    one = watch(space).snapshot()
    with pytest.raises(ValueError, match="two devices"):
        grown(one, replace(one, device="cuda:0"))


# ---------------------------------------------------------------------------------------------------------- bad input, letting go


def test_a_long_recording_is_bounded_and_still_adds_up(
    space: Space, watch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_recorder, "MOST_POINTS", 100)
    monkeypatch.setattr(memory_recorder, "MOST_GONE", 50)
    one = watch(space)
    for _ in range(6):
        step(space)
    recorder = one.recorder
    assert len(recorder.points) <= 101
    assert len(recorder.gone) < 120
    assert recorder.forgotten > 0
    document = one.document()
    assert sum(b.bytes for b in document.blocks if b.at_peak) == document.curve.peak
    assert document.curve.now == tl.cpu.memory_allocated()


def test_a_thousand_parameters_are_listed_in_time_and_in_bounds(watch: Any) -> None:
    space = Space(many=nn.ParameterList([nn.Parameter(tl.ones(8)) for _ in range(1000)]))
    one = watch(space)
    sum(p.sum() for p in space.many).backward()
    document = one.document()
    assert len(document.blocks) <= 150
    assert document.unlisted > 0
    assert len(json.dumps(wire.to_json(document))) < 150_000


def test_an_error_in_the_middle_of_a_pass_leaves_the_recording_right(space: Space, watch: Any) -> None:
    def bad(g: Any) -> None:
        raise ValueError("mine")

    handle = space.net[2].weight.register_hook(bad)
    one = watch(space)
    with pytest.raises(ValueError, match="mine"):
        step(space)
    handle.remove()
    gc.collect()
    assert one.document().curve.now == tl.cpu.memory_allocated()


def test_recording_changes_no_number(space: Space, watch: Any) -> None:
    step(space)
    plain = [p.grad.tolist() for p in space.net.parameters()]
    tl.manual_seed(0)
    again = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
    watch(space)
    again(space.x).pow(2).mean().backward()
    assert [p.grad.tolist() for p in again.parameters()] == plain


def test_nothing_is_left_after_detaching_and_nothing_is_kept_alive(watch: Any) -> None:
    space = Space(net=nn.Linear(4, 4), x=tl.ones(2, 4))
    watched = sites_are_watched()
    one = watch(space)
    loss = space["loss"] = space.net(space.x).sum()
    loss.backward()
    one.document()
    known = [weakref.ref(space.net), weakref.ref(space.x), weakref.ref(loss.grad_fn)]
    one.recorder.detach()
    assert not taps.ops
    assert not taps.steps
    assert not taps.buffers
    assert sites_are_watched() is watched
    space.clear()
    del loss
    gc.collect()
    assert [ref() for ref in known] == [None, None, None]


def test_a_recorder_that_is_dropped_without_a_word_ends_by_itself() -> None:
    recorder = MemoryRecorder()
    recorder.attach()
    assert taps.ops
    del recorder
    gc.collect()
    assert not taps.ops
    assert not taps.steps


def test_a_graph_that_is_gone_leaves_its_last_picture(space: Space, watch: Any) -> None:
    loss = space.net(space.x).sum()
    one = watch(space, loss, "loss")
    before = one.document()
    del loss
    gc.collect()
    assert one.document() == before
    assert "is gone" in one.handle({"seq": 1, "command": "look"})["body"]["memory"]["trouble"]


def test_requests_that_cannot_be_done_say_why(space: Space, watch: Any) -> None:
    one = watch(space)
    assert "cannot 'dance'" in one.handle({"seq": 1, "command": "dance"})["message"]
    assert "'tick' is missing" in one.handle({"seq": 1, "command": "at"})["message"]
    out = space.net(space.x)
    forecast = watch(space, out, "out")
    assert "forecast" in forecast.handle({"seq": 1, "command": "at", "arguments": {"tick": 1}})["message"]
    with pytest.raises(TypeError, match="not of str"):
        MemoryWatch("loss", "", dict)


@pytest.mark.parametrize("dtype", [tl.bfloat16, tl.float16, tl.complex64, tl.bool], ids=str)
def test_tensors_of_every_type_are_followed(space: Space, watch: Any, dtype: Any) -> None:
    space["small"] = tl.ones(1000, dtype=dtype)
    (block,) = [b for b in watch(space).document().blocks if b.name == "small"]
    assert block.bytes == space["small"].nbytes


def test_the_library_s_own_constants_are_counted_by_nobody(watch: Any) -> None:
    one = watch(Space())
    x = tl.ones(3)
    assert (x * 0.123456789 + 987654321).sum() is not None
    document = one.document()
    assert document.curve.now == census.allocated("cpu", 0)
    assert sum(b.bytes for b in document.blocks if b.at_peak) == document.curve.peak
