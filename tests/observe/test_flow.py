"""Gradients followed through training: what is recorded, what is called out, and that it ends when it is told to."""

from __future__ import annotations

import gc
import json
import weakref
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tensorlab import nn
from tensorlab.display import flow as picture
from tensorlab.observe import wire
from tensorlab.observe.closer import measure
from tensorlab.observe.findings import NONE, NOT_FINITE
from tensorlab.observe.flow import FlowRecorder, norm_of
from tensorlab.observe.schema_training import LEVELS, FlowDocument


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 8)
        self.act = nn.ReLU()
        self.last = nn.Linear(8, 1)
        self.unused = nn.Linear(3, 3)

    def forward(self, x: tl.Tensor) -> tl.Tensor:
        return self.last(self.act(self.first(x)))


def trained(steps: int = 12, spoil: Any = None, lr: float = 0.01) -> tuple[Model, FlowRecorder]:
    tl.manual_seed(0)
    model = Model()
    optimizer = tl.optim.SGD(model.parameters(), lr=lr)
    recorder = FlowRecorder(model.named_parameters(), "model", model)
    x, y = tl.randn(16, 2), tl.randn(16, 1)
    for step in range(steps):
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        if spoil is not None:
            spoil(model, step)
        recorder.log(loss)
        optimizer.step()
    return model, recorder


def norms(document: FlowDocument) -> list[list[float | None]]:
    """A row of norms for every parameter."""
    n = len(document.names)
    return [[norm_of(level) for level in document.levels[i::n]] for i in range(n)]


def found(recorder: FlowRecorder) -> dict[str, Any]:
    return {f.name: f for f in recorder.findings()}


def test_every_step_has_the_norm_of_every_gradient() -> None:
    model, recorder = trained(3)
    document = recorder.document()
    assert document.steps == (0, 1, 2)
    expected = float(model.first.weight.grad.norm())
    assert norms(document)[0][-1] == pytest.approx(expected, rel=2e-3)
    assert document.loss[0] > document.loss[2] > 0
    assert recorder.document(since=1).steps == (2,)


def test_no_gradient_is_told_apart_from_a_gradient_of_zeros() -> None:
    def zero(model: Model, step: int) -> None:
        model.first.bias.grad.zero_()

    _, recorder = trained(spoil=zero)
    looks = found(recorder)
    assert recorder.document().looks == (0, 5, 0, 0, 4, 4)
    assert looks["unused.weight"].kind == "none"
    assert "explain_grad" in looks["unused.weight"].attempt
    assert looks["first.bias"].kind == "zero"
    assert looks["first.bias"].since == 0


def test_a_gradient_that_vanishes_or_explodes_is_called_out_with_its_step() -> None:
    def spoil(model: Model, step: int) -> None:
        if step >= 9:
            model.first.weight.grad.mul_(1e-9)
            model.last.weight.grad.mul_(1e6)

    _, recorder = trained(spoil=spoil, lr=1e-9)
    looks = found(recorder)
    assert (looks["first.weight"].kind, looks["first.weight"].since) == ("vanished", 9)
    assert (looks["last.weight"].kind, looks["last.weight"].since) == ("exploded", 9)
    assert "clip" in looks["last.weight"].attempt.lower()


def test_nan_is_called_out_first() -> None:
    def spoil(model: Model, step: int) -> None:
        if step == 11:
            model.last.bias.grad.fill_(float("nan"))

    _, recorder = trained(spoil=spoil)
    assert recorder.findings()[0].kind == "not finite"
    assert recorder.document().levels[3 - 6] == LEVELS["not_finite"]


def test_dead_units_are_counted() -> None:
    tl.manual_seed(0)
    model = Model()
    with tl.no_grad():
        model.first.bias.fill_(-100.0)
    optimizer = tl.optim.SGD(model.parameters(), lr=0.01)
    recorder = FlowRecorder(model.named_parameters(), "model", model)
    for _ in range(3):
        optimizer.zero_grad()
        model(tl.randn(16, 2)).sum().backward()
        optimizer.step()
    assert found(recorder)["act"].kind == "dead"


def test_large_updates_are_called_out() -> None:
    tl.manual_seed(0)
    model = Model()
    optimizer = tl.optim.SGD(model.parameters(), lr=50.0)
    recorder = FlowRecorder(model.named_parameters(), "model", model)
    optimizer.zero_grad()
    model(tl.randn(16, 2)).sum().backward()
    optimizer.step()
    assert "large update" in {f.kind for f in recorder.findings()}


def test_accumulated_and_clipped_gradients_are_recorded_as_the_optimizer_sees_them() -> None:
    tl.manual_seed(0)
    model = Model()
    optimizer = tl.optim.SGD(model.parameters(), lr=0.01)
    recorder = FlowRecorder(model.named_parameters(), "model", model)
    for _ in range(2):
        model(tl.randn(16, 2)).sum().backward()
    before = float(nn.utils.clip_grad_norm_(model.parameters(), 0.5))
    optimizer.step()
    sizes = [row[0] for row in norms(recorder.document()) if row[0] is not None]
    assert np.sqrt(sum(n * n for n in sizes)) == pytest.approx(0.5, rel=3e-3)
    assert recorder.document().clipped[0] == pytest.approx(before, rel=1e-6)
    assert "clipped from" in recorder.document().sentence


def test_other_optimizers_are_not_listened_to_and_nothing_is_after_detaching() -> None:
    model, recorder = trained(2)
    other = nn.Linear(2, 2)
    stranger = tl.optim.SGD(other.parameters(), lr=0.1)
    other(tl.ones(1, 2)).sum().backward()
    stranger.step()
    assert recorder.step == 2
    recorder.detach()
    assert not recorder.attached
    tl.optim.SGD(model.parameters(), lr=0.1).step()
    assert recorder.step == 2
    assert not model.act._forward_hooks


def test_a_loop_without_an_optimizer_records_by_hand() -> None:
    w = tl.ones(3, requires_grad=True)
    recorder = FlowRecorder([("w", w)], "")
    (w * 2).sum().backward()
    recorder.note()
    assert norms(recorder.document()) == [[pytest.approx(12**0.5, rel=2e-3)]]
    recorder.detach()


@pytest.mark.parametrize(
    ("gradient", "size"),
    [(None, NONE), ([0.0, 0.0], 0.0), ([3e-30, 4e-30], 5e-30), ([3e30, 4e30], 5e30), ([1.0, float("nan")], NOT_FINITE),
     ([1.0, float("inf")], NOT_FINITE)],
)  # fmt: skip
def test_norms_neither_vanish_nor_overflow_by_being_squared(gradient: Any, size: float) -> None:
    with np.errstate(all="ignore"):
        assert measure(None if gradient is None else tl.tensor(gradient)) == pytest.approx(size, rel=1e-5)


def test_a_recorder_keeps_no_model_alive() -> None:
    model, recorder = trained(2)
    known = weakref.ref(model.first.weight)
    del model
    gc.collect()
    assert known() is None
    assert recorder.document().steps == (0, 1)
    recorder.detach()


def test_the_picture_and_the_text_say_the_same_and_names_are_text() -> None:
    w = tl.ones(3, requires_grad=True)
    recorder = FlowRecorder([("<b>w</b>", w)], "<script>")
    assert "No optimizer step" in picture.text(recorder.document())
    ElementTree.fromstring(picture.svg(recorder.document()))
    for scale in (1.0, 0.0, float("nan")):
        w.grad = tl.full((3,), scale)
        recorder.note()
    drawn = picture.svg(recorder.document())
    assert "<script>" not in drawn
    assert "NaN/Inf" in picture.text(recorder.document())
    ElementTree.fromstring(drawn)
    recorder.detach()


def test_there_must_be_something_to_follow() -> None:
    with pytest.raises(ValueError, match="no parameters"):
        FlowRecorder([], "")


def test_a_step_that_a_gradient_scaler_leaves_out_is_recorded_with_unscaled_figures() -> None:
    tl.manual_seed(0)
    model = Model()
    optimizer = tl.optim.SGD(model.parameters(), lr=0.01)
    scaler = tl.amp.GradScaler("cpu", init_scale=1024.0)
    recorder = FlowRecorder(model.named_parameters(), "model", model)
    x = tl.randn(16, 2)
    for step in range(3):
        optimizer.zero_grad()
        scaler.scale(model(x).sum()).backward()
        if step == 1:
            model.last.weight.grad[0, 0] = float("inf")
        scaler.step(optimizer)
        scaler.update()
    document = recorder.document()
    assert document.steps == (0, 1, 2)
    assert document.left_out == (1,)
    assert document.levels[6 + 2] == LEVELS["not_finite"]
    optimizer.zero_grad()
    model(x).sum().backward()
    assert norms(document)[3][0] == pytest.approx(float(model.last.bias.grad.norm()), rel=3e-3)
    looks = found(recorder)
    assert looks["GradScaler"].kind == "left out"
    assert "1 step of the last 3" in looks["GradScaler"].what
    assert "not finite" not in {f.kind for f in recorder.findings()}


def test_a_gradient_that_explodes_is_called_out_although_it_was_clipped() -> None:
    def spoil(model: Model, step: int) -> None:
        if step >= 9:
            model.last.weight.grad.mul_(1e6)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)

    _, recorder = trained(spoil=spoil, lr=1e-9)
    assert (found(recorder)["last.weight"].kind, found(recorder)["last.weight"].since) == ("exploded", 9)
    assert recorder.document().clipped[-1] > 1000


def test_a_model_may_change_while_it_trains() -> None:
    tl.manual_seed(0)
    model = Model()
    recorder = FlowRecorder(model.named_parameters(), "model", model)

    def train() -> None:
        optimizer = tl.optim.SGD(model.parameters(), lr=0.01)
        recorder._learn_due = 0.0
        for _ in range(2):
            optimizer.zero_grad()
            model(tl.randn(16, 2)).sum().backward()
            optimizer.step()

    train()
    before = recorder.generation
    model.last, model.more = nn.Linear(8, 2), nn.Linear(4, 4)
    del model.unused
    train()
    document = recorder.document(since=1, generation=before)
    assert document.generation == before + 1
    assert document.steps == (0, 1, 2, 3)  # all of it, since what was known is not true any more
    assert document.names[-2:] == ("more.weight", "more.bias")
    assert document.shapes[2] == "[2, 8]"
    assert norms(document)[6] == [None] * 4
    assert norms(document)[2][-1] > 0
    looks = found(recorder)
    assert "took its place" in looks["last.weight"].what
    assert "no part" in looks["unused.weight"].what
    assert "came into" in looks["more.weight"].what
    assert recorder.document(since=3, generation=document.generation).names == ()
    recorder.detach()


def test_how_gradients_are_spread_is_kept_look_by_look() -> None:
    w = tl.zeros(1000, requires_grad=True)
    recorder = FlowRecorder([("w", w)], "")
    optimizer = tl.optim.SGD([w], lr=1.0)
    for scale in (1.0, 2.0**-10):
        w.grad = tl.full((1000,), scale)
        w.grad[:10] = 0.0
        recorder._look_due = 0.0
        optimizer.step()
    ridge = recorder.ridge(0)
    assert ridge.steps == (0, 1)
    assert ridge.zeros == (10, 10)
    rows = np.reshape(ridge.counts, (2, ridge.bins))
    assert rows.sum(axis=1).tolist() == [990, 990]
    powers = [ridge.first + 2 * int(row.argmax()) for row in rows]
    assert powers == [0, -10]
    assert ridge.flips == (LEVELS["none"], LEVELS["zero"])
    with pytest.raises(IndexError):
        recorder.ridge(1)
    recorder.detach()


def test_saturated_units_are_called_out_with_their_module() -> None:
    tl.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    with tl.no_grad():
        model[0].bias.fill_(50.0)
    optimizer = tl.optim.SGD(model.parameters(), lr=0.01)
    recorder = FlowRecorder(model.named_parameters(), "model", model)
    for _ in range(2):
        optimizer.zero_grad()
        model(tl.randn(16, 2)).sum().backward()
        optimizer.step()
    assert (found(recorder)["1"].kind, found(recorder)["1"].what[:4]) == ("saturated", "100%")
    recorder.detach()


def test_nan_in_a_thousand_parameters_is_one_finding_and_told_at_once() -> None:
    pairs = [(f"layer.{i}.weight", tl.zeros(4, requires_grad=True)) for i in range(1000)]
    recorder = FlowRecorder(pairs, "")
    for step in range(20):
        for _, p in pairs:
            p.grad = tl.full((4,), float("nan") if step >= 12 else 1.0)
        recorder.note()
    document = recorder.document()
    assert [(f.name, f.others, f.kind, f.since) for f in document.findings] == [
        ("layer.0.weight", 999, "not finite", 12)
    ]
    assert "1,000 things to look at" in document.sentence
    ElementTree.fromstring(picture.svg(document))
    body, buffers = wire.pack(wire.to_json(recorder.document(18, recorder.generation)))
    assert len(buffers) == 1
    assert len(json.dumps(body)) < 2000
    recorder.detach()


def test_the_latest_norms_are_handed_over_by_name() -> None:
    model, recorder = trained(2)
    now = recorder.now()
    assert now.names == tuple(name for name, _ in model.named_parameters())
    assert norm_of(now.levels[0]) == pytest.approx(float(model.first.weight.grad.norm()), rel=2e-3)
    recorder.detach()
