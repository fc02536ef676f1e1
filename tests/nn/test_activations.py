"""Activations: what the op table does not tell, such as chance, in-place forms, and errors."""

from __future__ import annotations

import pytest

import tensorlab as tl
import tensorlab.nn.functional as F
from tensorlab import nn


def test_rrelu_draws_slopes_in_training_only_and_gives_each_its_own_gradient() -> None:
    x = tl.full((2000,), -1.0, requires_grad=True)
    tl.manual_seed(0)
    out = F.rrelu(x, 0.1, 0.3, training=True)
    slopes = -out.detach()
    assert 0.1 <= slopes.min().item() < 0.11
    assert 0.29 < slopes.max().item() <= 0.3
    assert abs(slopes.mean().item() - 0.2) < 0.005
    out.sum().backward()
    assert tl.allclose(x.grad, slopes)
    assert tl.equal(F.rrelu(tl.tensor([-1.0, 2.0]), 0.1, 0.3), tl.tensor([-0.2, 2.0]))
    layer = nn.RReLU(0.1, 0.3)
    assert layer(x).std() > 0
    assert layer.eval()(x).std() < 1e-7
    y = tl.tensor([-1.0, 2.0])
    assert F.rrelu_(y, 0.5, 0.5, training=True) is y
    assert y.tolist() == [-0.5, 2.0]


def test_gumbel_softmax_draws_each_class_as_often_as_its_probability_says() -> None:
    tl.manual_seed(1)
    odds = tl.tensor([0.1, 0.2, 0.7])
    draws = F.gumbel_softmax(odds.log().expand(20_000, 3), hard=True)
    assert set(draws.unique().tolist()) == {0.0, 1.0}
    assert tl.allclose(draws.mean(0), odds, atol=0.02)
    soft = F.gumbel_softmax(tl.zeros(50, 4), tau=0.5)
    assert tl.allclose(soft.sum(-1), tl.ones(50))


def test_gumbel_softmax_made_hard_has_the_gradient_of_the_soft_one() -> None:
    found = []
    for hard in (False, True):
        x = tl.tensor([[0.3, -1.0, 2.0]], requires_grad=True)
        tl.manual_seed(2)
        (F.gumbel_softmax(x, hard=hard) * tl.tensor([1.0, 2.0, 3.0])).sum().backward()
        found.append(x.grad)
    assert tl.allclose(*found)


IN_PLACE = [
    "relu",
    "relu6",
    "elu",
    "selu",
    "celu",
    "leaky_relu",
    "hardtanh",
    "hardsigmoid",
    "hardswish",
    "silu",
    "mish",
]


@pytest.mark.parametrize("name", IN_PLACE)
def test_an_activation_in_place_writes_what_it_would_give_with_the_same_gradient(name: str) -> None:
    values = tl.linspace(-4, 4, 17)
    function = getattr(F, name)
    x, y = values.clone().requires_grad_(), values.clone().requires_grad_()
    written = x * 1
    assert function(written, inplace=True) is written
    expected = function(y * 1)
    assert tl.equal(written, expected)
    written.sum().backward()
    expected.sum().backward()
    assert tl.equal(x.grad, y.grad)


@pytest.mark.parametrize("name", ["relu_", "elu_", "selu_", "celu_", "leaky_relu_", "hardtanh_", "rrelu_"])
def test_an_activation_with_an_underscore_returns_its_argument(name: str) -> None:
    x = tl.tensor([-2.0, 3.0])
    assert getattr(F, name)(x) is x
    assert x.tolist()[0] > -2


def test_the_spellings_at_the_top_are_there() -> None:
    x = tl.tensor([-1.0, 0.2, 2.0])
    assert tl.equal(tl.threshold(x, 0.5, 9.0), tl.tensor([9.0, 9.0, 2.0]))
    assert tl.equal(tl.hardshrink(x), x.hardshrink())
    assert tl.equal(tl.prelu(x, tl.tensor([0.5])), x.prelu(tl.tensor([0.5])))
    for name in ("celu_", "selu_", "threshold_", "rrelu_", "relu_"):
        assert hasattr(tl, name)


def test_a_hidden_unit_that_is_not_a_number_stays_one() -> None:
    x = tl.tensor([float("nan")])
    for name in (
        "hardtanh",
        "relu6",
        "hardshrink",
        "softshrink",
        "hardswish",
        "hardsigmoid",
        "celu",
        "mish",
        "logsigmoid",
    ):
        assert getattr(F, name)(x).isnan().item(), name


def test_activations_refuse_what_makes_no_sense_and_say_why() -> None:
    with pytest.raises(RuntimeError, match="Halving dimension must be even, but dimension 1 is size 3"):
        F.glu(tl.ones(2, 3))
    with pytest.raises(RuntimeError, match="lambda must be greater or equal to 0, but found to be -1"):
        F.softshrink(tl.ones(2), -1)
    with pytest.raises(RuntimeError, match="Found parameter numbers = 2 and channel size = 3"):
        nn.PReLU(2)(tl.ones(4, 3))
    with pytest.raises(AssertionError, match="must be larger"):
        nn.Hardtanh(1.0, -1.0)
    with pytest.raises(ValueError, match="expected input to be 3D or 4D, got 2D"):
        nn.Softmax2d()(tl.ones(2, 2))
    with pytest.raises(RuntimeError, match="unsigned type with negative limits"):
        F.hardtanh(tl.ones(2, dtype=tl.uint8))


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_in_float32_is_the_one_in_float64_rounded_also_far_out(approximate: str) -> None:
    x = tl.linspace(-12, 12, 300_001, requires_grad=True)
    y = x.detach().double().requires_grad_()
    ours, exact = F.gelu(x, approximate), F.gelu(y, approximate)
    assert (ours.double() - exact).abs().max() < 1e-6
    ours.sum().backward()
    exact.sum().backward()
    assert (x.grad.double() - y.grad).abs().max() < 2e-6
    assert F.gelu(tl.tensor([float("nan"), float("inf"), -float("inf")])).tolist()[1] == float("inf")


def test_large_rows_give_the_same_as_small_ones() -> None:
    x = tl.randn(3000, 200)
    for function in (lambda x: F.softmax(x, -1), lambda x: F.layer_norm(x, (200,)), F.gelu):
        whole = function(x)
        parts = tl.cat([function(part) for part in x.split(7)])
        assert tl.allclose(whole, parts, atol=1e-6)
