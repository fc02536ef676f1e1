"""Layers, losses, first values, clipping: what a user of them notices."""

from __future__ import annotations

import math

import pytest

import tensorlab as tl
import tensorlab.nn.functional as F
from tensorlab import nn


def test_a_linear_layer_is_one_node_and_explains_shapes_that_do_not_meet() -> None:
    layer = nn.Linear(3, 4)
    assert layer(tl.ones(2, 5, 3)).shape == (2, 5, 4)
    assert layer(tl.ones(3)).grad_fn.name() == "AddmmBackward0"
    assert nn.Linear(3, 4, bias=False)(tl.ones(1, 3)).grad_fn.name() == "MmBackward0"
    with pytest.raises(RuntimeError, match="the layer takes 3 features, the last dimension of the input is 2"):
        layer(tl.ones(5, 2))


def test_a_linear_layer_whose_weight_was_replaced_by_a_computed_one_uses_it() -> None:
    layer = nn.Linear(1, 1, bias=False)
    raw = nn.Parameter(tl.tensor([[3.0]]))
    del layer.weight
    layer.weight = raw * 2
    layer(tl.ones(1, 1)).backward()
    assert raw.grad.item() == 2


def test_first_values_of_a_linear_layer_lie_within_their_bound_and_repeat_with_the_seed() -> None:
    tl.manual_seed(3)
    layer = nn.Linear(100, 50)
    assert float(layer.weight.abs().max()) <= 0.1
    assert float(layer.bias.abs().max()) <= 0.1
    tl.manual_seed(3)
    assert tl.equal(nn.Linear(100, 50).weight, layer.weight)
    with pytest.warns(UserWarning, match="zero-element"):
        assert nn.Linear(0, 2)(tl.ones(3, 0)).shape == (3, 2)


def test_dropout_keeps_the_mean_in_training_and_repeats_with_the_seed() -> None:
    x = tl.ones(10_000, requires_grad=True)
    tl.manual_seed(0)
    out = F.dropout(x, 0.25)
    assert abs(out.mean().item() - 1) < 0.05
    assert sorted(set(out.tolist())) == pytest.approx([0.0, 4 / 3])
    tl.manual_seed(0)
    assert tl.equal(F.dropout(x, 0.25), out)
    out.sum().backward()
    assert tl.equal(x.grad, out.detach())
    assert F.dropout(x, 0.25, training=False) is x
    assert not bool(F.dropout(x, 1.0).any())
    y = tl.ones(4)
    assert F.dropout(y, 1.0, inplace=True) is y
    assert not bool(y.any())


def test_relu_in_place_writes_into_its_input() -> None:
    x = tl.tensor([-1.0, 2.0])
    assert nn.ReLU(inplace=True)(x) is x
    assert x.tolist() == [0, 2]


def test_flatten_and_unflatten_undo_each_other() -> None:
    x = tl.arange(24).view(2, 3, 4)
    flat = nn.Flatten()(x)
    assert flat.shape == (2, 12)
    assert tl.equal(nn.Unflatten(1, (3, 4))(flat), x)


def test_an_ignored_row_gets_gradient_zero_whatever_it_holds() -> None:
    inf = float("inf")
    x = tl.tensor([[1.0, 2.0], [-inf, -inf], [inf, 0.0], [float("nan"), 1.0]], requires_grad=True)
    for smoothing in (0.0, 0.1):
        x.grad = None
        loss = F.cross_entropy(x, tl.tensor([0, -100, -100, -100]), label_smoothing=smoothing)
        loss.backward()
        assert math.isfinite(loss.item())
        assert x.grad[1:].tolist() == [[0, 0], [0, 0], [0, 0]]
        assert bool(x.grad[0].isfinite().all())
        assert bool(x.grad[0].any())


def test_a_class_of_probability_zero_adds_nothing_though_its_score_is_minus_infinity() -> None:
    x = tl.tensor([[0.0, -float("inf"), 0.0]], requires_grad=True)
    loss = F.cross_entropy(x, tl.tensor([[0.5, 0.0, 0.5]]))
    loss.backward()
    assert loss.item() == pytest.approx(math.log(2))
    assert x.grad.tolist() == [[0, 0, 0]]
    assert F.cross_entropy(x, tl.tensor([[0.5, 0.5, 0.0]])).item() == float("inf")


def test_a_target_out_of_range_names_the_classes_there_are() -> None:
    for wrong in (3, -1):
        with pytest.raises(IndexError, match=rf"Target {wrong} is out of bounds.*3 classes"):
            F.cross_entropy(tl.zeros(2, 3), tl.tensor([0, wrong]))
    with pytest.raises(IndexError, match="Target 5 is out of bounds"):
        F.nll_loss(tl.zeros(2, 3), tl.tensor([0, 5]), tl.ones(3))


def test_targets_of_the_wrong_kind_or_shape_are_explained() -> None:
    with pytest.raises(RuntimeError, match="class numbers have one dimension less"):
        F.cross_entropy(tl.zeros(2, 3), tl.zeros(2, 3, dtype=tl.int64))
    with pytest.raises(RuntimeError, match="class numbers are integers"):
        F.cross_entropy(tl.zeros(2, 3), tl.zeros(2))
    with pytest.raises(ValueError, match="one class number for every prediction"):
        F.cross_entropy(tl.zeros(2, 3), tl.zeros(5, dtype=tl.int64))
    with pytest.raises(RuntimeError, match="for all 3 classes"):
        nn.CrossEntropyLoss(weight=tl.ones(2))(tl.zeros(2, 3), tl.tensor([0, 1]))
    with pytest.raises(ValueError, match="not a valid value for reduction"):
        nn.CrossEntropyLoss(reduction="average")(tl.zeros(2, 3), tl.tensor([0, 1]))
    with pytest.raises(RuntimeError, match="label_smoothing must be between"):
        F.cross_entropy(tl.zeros(2, 3), tl.tensor([0, 1]), label_smoothing=2.0)


def test_a_loss_of_shapes_that_broadcast_warns_and_still_computes() -> None:
    with pytest.warns(UserWarning, match=r"different to the input size.*broadcasting to \[3, 3\]") as told:
        assert F.mse_loss(tl.ones(3, 1), tl.zeros(3)).item() == 1
    assert told[0].filename == __file__
    with pytest.warns(UserWarning, match="different to the input size"):
        assert F.l1_loss(tl.ones(3, 1), tl.zeros(3)).item() == 1
    with pytest.raises(TypeError, match="target must be a Tensor, not float"):
        F.mse_loss(tl.ones(1), 1.0)


def test_older_arguments_of_losses_still_say_the_reduction() -> None:
    with pytest.warns(UserWarning, match="reduction='sum'"):
        assert F.mse_loss(tl.ones(3), tl.zeros(3), size_average=False).item() == 3
    with pytest.warns(UserWarning, match="reduction='none'"):
        assert nn.L1Loss(reduce=False)(tl.ones(3), tl.zeros(3)).shape == (3,)


def test_a_loss_of_half_precision_stays_half_precision() -> None:
    for dtype in (tl.float16, tl.bfloat16):
        x = tl.zeros(4, 3, dtype=dtype, requires_grad=True)
        loss = F.cross_entropy(x, tl.tensor([0, 1, 2, 0]))
        loss.backward()
        assert loss.dtype == x.grad.dtype == dtype
        assert float(loss) == pytest.approx(math.log(3), rel=1e-2)


def test_a_loss_differentiates_twice() -> None:
    x = tl.tensor([[0.3, -0.2, 0.7]], dtype=tl.float64, requires_grad=True)
    (first,) = tl.autograd.grad(F.cross_entropy(x, tl.tensor([1])), x, create_graph=True)
    (second,) = tl.autograd.grad(first[0, 1], x)
    p = x.detach().softmax(1)[0]
    assert second[0].tolist() == pytest.approx(
        [-(p[1] * p[0]).item(), (p[1] * (1 - p[1])).item(), -(p[1] * p[2]).item()]
    )


def test_first_values_are_written_in_place_and_unrecorded() -> None:
    w = nn.Parameter(tl.empty(4, 4))
    for fill in (nn.init.zeros_, nn.init.ones_, nn.init.xavier_uniform_, nn.init.kaiming_normal_, nn.init.eye_):
        assert fill(w) is w
        assert w.is_leaf
    assert tl.equal(w.detach(), tl.eye(4))
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        nn.init.xavier_normal_(tl.empty(3))
    with pytest.raises(ValueError, match="Mode fan not supported"):
        nn.init.kaiming_uniform_(tl.empty(3, 3), mode="fan")


def test_first_values_can_be_drawn_from_a_generator_of_ones_own() -> None:
    one, two = (nn.init.normal_(tl.empty(5), generator=tl.Generator().manual_seed(1)) for _ in range(2))
    assert tl.equal(one, two)


def test_truncated_normal_values_lie_between_their_ends() -> None:
    x = nn.init.trunc_normal_(tl.empty(2000), mean=1.0, std=2.0, a=0.0, b=1.5)
    assert 0 <= float(x.min()) < 0.1
    assert 1.4 < float(x.max()) <= 1.5


def test_clipping_scales_all_gradients_together_and_returns_the_norm_before() -> None:
    a, b = tl.zeros(1, requires_grad=True), tl.zeros(1, requires_grad=True)
    a.grad, b.grad = tl.tensor([3.0]), tl.tensor([4.0])
    assert nn.utils.clip_grad_norm_([a, b], 1.0).item() == pytest.approx(5)
    assert a.grad.item() == pytest.approx(0.6)
    assert nn.utils.clip_grad_norm_([a, b], 10.0).item() == pytest.approx(1)
    assert b.grad.item() == pytest.approx(0.8)
    assert nn.utils.clip_grad_norm_([tl.zeros(1)], 1.0).item() == 0


def test_clipping_to_a_negative_norm_is_refused() -> None:
    a = tl.zeros(1, requires_grad=True)
    a.grad = tl.ones(1)
    for bad in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="must not be negative"):
            nn.utils.clip_grad_norm_([a], bad)
        with pytest.raises(ValueError, match="must not be negative"):
            nn.utils.clip_grad_value_([a], bad)
    assert a.grad.item() == 1
    a.grad.fill_(float("inf"))
    with pytest.raises(RuntimeError, match="non-finite"):
        nn.utils.clip_grad_norm_([a], 1.0, error_if_nonfinite=True)


def test_all_parameters_are_seen_as_one_vector_and_set_from_one() -> None:
    net = nn.Linear(2, 2)
    vector = nn.utils.parameters_to_vector(net.parameters())
    assert vector.shape == (6,)
    nn.utils.vector_to_parameters(tl.arange(6).float(), net.parameters())
    assert net.weight.tolist() == [[0, 1], [2, 3]]
    assert net.bias.tolist() == [4, 5]
    with pytest.raises(ValueError, match="must hold 6 elements"):
        nn.utils.vector_to_parameters(tl.ones(5), net.parameters())
