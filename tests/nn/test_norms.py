"""Normalisation: running statistics, older files, conversions, sizes that make no sense."""

from __future__ import annotations

import copy
import math

import pytest

import tensorlab as tl
import tensorlab.nn.functional as F
from tensorlab import nn


def test_batch_norm_moves_its_running_statistics_towards_the_unbiased_ones() -> None:
    layer = nn.BatchNorm1d(1)
    layer(tl.tensor([[1.0], [3.0]]))
    assert layer.running_mean.item() == pytest.approx(0.2)
    assert layer.running_var.item() == pytest.approx(0.9 + 0.1 * 2)
    assert layer.num_batches_tracked.item() == 1


def test_without_a_momentum_the_running_statistics_are_the_average_of_all_batches() -> None:
    layer = nn.BatchNorm1d(1, momentum=None)
    for value in (1.0, 2.0, 6.0):
        layer(tl.tensor([[value - 1], [value + 1]]))
    assert layer.running_mean.item() == pytest.approx(3.0)
    assert layer.running_var.item() == pytest.approx(2.0)


def test_in_evaluation_nothing_moves_and_the_batch_does_not_matter() -> None:
    layer = nn.BatchNorm2d(2).eval()
    layer.running_mean.copy_(tl.tensor([1.0, 2.0]))
    before = copy.deepcopy(layer.state_dict())
    out = layer(tl.ones(3, 2, 2, 2))
    assert tl.allclose(out[0, 1], tl.full((2, 2), -1 / math.sqrt(1 + 1e-5)))
    assert all(tl.equal(layer.state_dict()[name], value) for name, value in before.items())
    untracked = nn.BatchNorm1d(1, track_running_stats=False).eval()
    assert untracked(tl.tensor([[1.0], [3.0]])).abs().sum() > 1


def test_running_statistics_may_move_between_forward_and_backward() -> None:
    layer = nn.BatchNorm1d(2)
    x = tl.randn(4, 2, requires_grad=True)
    first = layer(x)
    layer(tl.randn(4, 2))
    first.sum().backward()
    assert x.grad.abs().max() < 1e-5


def test_a_file_from_before_batches_were_counted_still_loads() -> None:
    layer = nn.BatchNorm1d(2)
    old = {name: x for name, x in layer.state_dict().items() if name != "num_batches_tracked"}
    layer.load_state_dict(old)


def test_converting_to_sync_batch_norm_keeps_every_tensor() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.BatchNorm1d(3), nn.ReLU())).eval()
    weight = model[1][0].weight
    made = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    assert type(made[1][0]) is nn.SyncBatchNorm
    assert made[1][0].weight is weight
    assert not made[1][0].training
    assert made(tl.ones(4, 2)).shape == (4, 3)


def test_low_precision_is_normalised_in_float32_beside_float32_weights() -> None:
    x = (tl.randn(8, 64) * 100).bfloat16()
    out = F.layer_norm(x, (64,))
    assert out.dtype is tl.bfloat16
    exact = F.layer_norm(x.float(), (64,))
    assert (out.float() - exact).abs().max() < 0.02


def test_an_even_cross_map_norm_is_the_odd_one_below_it_divided_by_its_size() -> None:
    x = tl.randn(2, 6, 2, 2)
    odd = nn.CrossMapLRN2d(3, alpha=0.3)(x)
    assert tl.allclose(nn.CrossMapLRN2d(4, alpha=0.4)(x), odd)
    assert tl.allclose(nn.LocalResponseNorm(3, alpha=0.3)(x), odd)


def test_second_derivatives_pass_through_every_normalisation() -> None:
    x = tl.randn(3, 4, 2, dtype=tl.float64, requires_grad=True)
    w, b = tl.randn(4, dtype=tl.float64, requires_grad=True), tl.randn(4, dtype=tl.float64, requires_grad=True)
    assert tl.autograd.gradgradcheck(lambda x, w, b: F.instance_norm(x, None, None, w, b), (x, w, b))
    assert tl.autograd.gradgradcheck(lambda x: F.rms_norm(x, (2,)), (x,))
    assert tl.autograd.gradgradcheck(lambda x: F.local_response_norm(x, 3, 0.5), (x,))


def test_normalisation_explains_sizes_that_make_no_sense() -> None:
    with pytest.raises(ValueError, match=r"more than 1 value per channel when training, got input size \[1, 3\]"):
        nn.BatchNorm1d(3)(tl.ones(1, 3))
    with pytest.raises(ValueError, match=r"expected 4D input \(got 2D input\)"):
        nn.BatchNorm2d(3)(tl.ones(2, 3))
    with pytest.raises(RuntimeError, match="running_mean should contain 4 elements not 3"):
        nn.BatchNorm1d(3)(tl.ones(2, 4))
    with pytest.raises(RuntimeError, match=r"normalized_shape=\[3\], expected input with shape \[\*, 3\]"):
        nn.LayerNorm(3)(tl.ones(2, 4))
    with pytest.raises(ValueError, match="must be divisible"):
        nn.GroupNorm(3, 4)
    with pytest.raises(ValueError, match="dim=1 to match num_features"):
        nn.InstanceNorm1d(3, affine=True)(tl.ones(2, 4, 5))
    with pytest.raises(ValueError, match="more than 1 spatial element"):
        nn.InstanceNorm1d(3)(tl.ones(2, 3, 1))
