"""GradScaler: gradients come out as without it, steps with inf are left out, the scale finds its way."""

from __future__ import annotations

import io
import pickle
import warnings
from typing import Any

import pytest

import tensorlab as tl
from tensorlab import nn, optim
from tensorlab.amp import GradScaler


def parts(**options: Any) -> tuple[Any, Any, GradScaler]:
    p = nn.Parameter(tl.tensor([1.0, 2.0]))
    return p, optim.SGD([p], lr=0.1), GradScaler("cpu", init_scale=4.0, growth_interval=2, **options)


def step(p: Any, optimizer: Any, scaler: GradScaler, factor: float = 1.0) -> None:
    optimizer.zero_grad()
    scaler.scale((p * factor).sum()).backward()
    scaler.step(optimizer)
    scaler.update()


def test_a_step_is_what_it_would_be_without_scaling() -> None:
    p, optimizer, scaler = parts()
    step(p, optimizer, scaler, 3.0)
    assert p.tolist() == pytest.approx([0.7, 1.7])
    assert p.grad.tolist() == [3, 3]


def test_the_scale_grows_after_clean_steps_and_shrinks_after_an_inf_whose_step_is_left_out() -> None:
    p, optimizer, scaler = parts()
    scales = []
    for factor in (1, 1, 1, float("inf"), 1, float("nan"), 1, 1):
        before = p.tolist()
        step(p, optimizer, scaler, factor)
        assert (p.tolist() == before) == (factor != 1)
        scales.append(scaler.get_scale())
    assert scales == [4, 8, 8, 4, 4, 2, 2, 4]


def test_the_scale_stays_what_float32_holds() -> None:
    p, optimizer, scaler = parts()
    scaler.scale(p.sum())
    scaler.update(2.0**127)
    scaler.set_growth_interval(1)
    optimizer.zero_grad()
    p.grad = tl.zeros(2)
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 2.0**127


def test_gradients_can_be_clipped_once_they_are_unscaled() -> None:
    p, optimizer, scaler = parts()
    scaler.scale((p * 100).sum()).backward()
    scaler.unscale_(optimizer)
    assert nn.utils.clip_grad_norm_([p], 1.0).item() == pytest.approx(2**0.5 * 100)
    scaler.step(optimizer)
    scaler.update()
    assert p.grad.norm().item() == pytest.approx(1.0, rel=1e-4)


def test_calls_in_a_wrong_order_are_refused() -> None:
    p, optimizer, scaler = parts()
    with pytest.raises(AssertionError, match=r"did not use scaler\.scale"):
        scaler.unscale_(optimizer)
    with pytest.raises(AssertionError, match=r"did not use scaler\.scale"):
        scaler.update()
    scaler.scale(p.sum()).backward()
    with pytest.raises(AssertionError, match="prior to update"):
        scaler.update()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called on this optimizer"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"after step\(\)"):
        scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="pickled between"):
        pickle.dumps(scaler)
    scaler.update()
    with pytest.raises(RuntimeError, match="Closure use"):
        scaler.step(optimizer, closure=lambda: None)
    optimizer.zero_grad()
    with pytest.raises(AssertionError, match="none of its parameters has a gradient"):
        scaler.step(optimizer)


def test_float16_gradients_are_refused_with_the_reason() -> None:
    p = nn.Parameter(tl.ones(2, dtype=tl.float16))
    optimizer, scaler = optim.SGD([p], lr=0.1), GradScaler("cpu")
    scaler.scale(p.sum().float()).backward()
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.step(optimizer)


def test_several_optimizers_share_a_scale_and_each_has_its_own_inf() -> None:
    a, b = nn.Parameter(tl.ones(1)), nn.Parameter(tl.ones(1))
    one, two = optim.SGD([a], lr=1.0), optim.SGD([b], lr=1.0)
    scaler = GradScaler("cpu", init_scale=2.0)
    for loss in scaler.scale([a.sum() * float("inf"), b.sum()]):
        loss.backward()
    scaler.step(one)
    scaler.step(two)
    scaler.update()
    assert (a.item(), b.item(), scaler.get_scale()) == (1, 0, 1)


def test_a_scheduler_does_not_complain_after_a_step_that_was_left_out() -> None:
    p, optimizer, scaler = parts()
    scheduler = optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step(p, optimizer, scaler, float("inf"))
        scheduler.step()
        step(p, optimizer, scaler)
        scheduler.step()
    assert scheduler.get_last_lr() == [pytest.approx(0.025)]


def test_a_disabled_scaler_changes_nothing() -> None:
    p, optimizer, scaler = parts(enabled=False)
    loss = p.sum()
    assert scaler.scale(loss) is loss
    step(p, optimizer, scaler)
    assert p.tolist() == pytest.approx([0.9, 1.9])
    assert scaler.get_scale() == 1.0
    assert scaler.state_dict() == {}
    assert not scaler.is_enabled()
    with pytest.warns(UserWarning, match="CUDA is not available"):
        assert not GradScaler().is_enabled()


def test_state_goes_into_a_file_and_comes_back() -> None:
    p, optimizer, scaler = parts()
    for factor in (1, 1, 1):
        step(p, optimizer, scaler, factor)
    file = io.BytesIO()
    tl.save(scaler.state_dict(), file)
    file.seek(0)
    again = GradScaler("cpu")
    again.load_state_dict(tl.load(file))
    assert again.state_dict() == scaler.state_dict() == {
        "scale": 8.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2, "_growth_tracker": 1,
    }  # fmt: skip
    assert pickle.loads(pickle.dumps(scaler)).state_dict() == scaler.state_dict()
    with pytest.raises(RuntimeError, match="source state dict is empty"):
        again.load_state_dict({})


def test_factors_that_make_no_sense_are_refused() -> None:
    for options, said in (
        ({"growth_factor": 1.0}, "growth factor must be > 1"),
        ({"backoff_factor": 1.0}, "backoff factor"),
        ({"init_scale": 0.0}, "must be positive"),
    ):
        with pytest.raises(ValueError, match=said):
            GradScaler("cpu", **options)


def test_accumulated_and_clipped_gradients_in_half_precision_train() -> None:
    tl.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer, scaler = optim.Adam(model.parameters(), lr=0.02), GradScaler("cpu", init_scale=2.0**10)
    x = tl.randn(32, 4)
    y = x.sum(1, keepdim=True)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        total = 0.0
        for half in (slice(0, 16), slice(16, 32)):
            with tl.autocast("cpu", dtype=tl.float16):
                loss = nn.functional.mse_loss(model(x[half]), y[half]) / 2
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(total)
    assert losses[-1] < losses[0] / 10
