"""Gradients followed through training: what is recorded, what is called out, and that it ends when it is told to."""

from __future__ import annotations

import gc
import weakref
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tensorlab import nn
from tensorlab.display import flow as picture
from tensorlab.observe.flow import FINITE, NONE, NOT_FINITE, ZERO, FlowRecorder, measure


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


def found(recorder: FlowRecorder) -> dict[str, Any]:
    return {f.name: f for f in recorder.findings()}


def test_every_step_has_the_norm_of_every_gradient() -> None:
    model, recorder = trained(3)
    document = recorder.document()
    assert document.steps == (0, 1, 2)
    expected = float(model.first.weight.grad.norm())
    assert document.norm[0][-1] == pytest.approx(expected, rel=1e-6)
    assert document.loss[0] > document.loss[2] > 0
    assert recorder.document(since=1).steps == (2,)


def test_no_gradient_is_told_apart_from_a_gradient_of_zeros() -> None:
    def zero(model: Model, step: int) -> None:
        model.first.bias.grad.zero_()

    _, recorder = trained(spoil=zero)
    looks = found(recorder)
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
    assert recorder.document().norm[3][-1] is None


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
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    norms = [row[0] for row in recorder.document().norm if row[0] is not None]
    assert np.sqrt(sum(n * n for n in norms)) == pytest.approx(0.5, rel=1e-4)


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
    assert recorder.document().norm == ((pytest.approx(12**0.5),),)
    recorder.detach()


@pytest.mark.parametrize(
    ("gradient", "size", "state"),
    [
        (None, None, NONE),
        ([0.0, 0.0], 0.0, ZERO),
        ([3e-30, 4e-30], 5e-30, FINITE),
        ([3e30, 4e30], 5e30, FINITE),
        ([1.0, float("nan")], None, NOT_FINITE),
        ([1.0, float("inf")], None, NOT_FINITE),
    ],
)
def test_norms_neither_vanish_nor_overflow_by_being_squared(gradient: Any, size: Any, state: int) -> None:
    with np.errstate(all="ignore"):
        found, kind = measure(None if gradient is None else tl.tensor(gradient))
    assert kind == state
    if size is not None:
        assert found == pytest.approx(size, rel=1e-5)


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
