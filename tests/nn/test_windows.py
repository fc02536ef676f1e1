"""Convolution, pooling, padding, resampling and dropout of channels: what the tables of PyTorch do not ask."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest

import tensorlab as tl
import tensorlab.nn.functional as F
from tensorlab import nn


def numbers(*shape: int, seed: int = 0, grad: bool = True) -> tl.Tensor:
    return tl.tensor(np.random.default_rng(seed).standard_normal(shape), requires_grad=grad)


def by_hand(x: np.ndarray, w: np.ndarray, stride: int, padding: int, dilation: int, groups: int) -> np.ndarray:
    """A convolution of images written as its definition."""
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    count, channels, height, width = x.shape
    outs, each, kh, kw = w.shape
    oh, ow = ((n - dilation * (k - 1) - 1) // stride + 1 for n, k in ((height, kh), (width, kw)))
    found = np.zeros((count, outs, oh, ow))
    for n, o, i, j in itertools.product(range(count), range(outs), range(oh), range(ow)):
        first = o // (outs // groups) * (channels // groups)
        rows, columns = i * stride + dilation * np.arange(kh), j * stride + dilation * np.arange(kw)
        found[n, o, i, j] = (x[n, first : first + each][:, rows][:, :, columns] * w[o]).sum()
    return found


@pytest.mark.parametrize(
    ("stride", "padding", "dilation", "groups"),
    [(1, 0, 1, 1), (1, 2, 1, 1), (2, 1, 1, 2), (1, 1, 2, 4), (3, 2, 2, 1), (1, 1, 1, 4)],
)
def test_a_convolution_is_the_sum_of_its_definition(stride: int, padding: int, dilation: int, groups: int) -> None:
    x, w = numbers(2, 4, 9, 8, grad=False), numbers(4, 4 // groups, 3, 2, seed=1, grad=False)
    found = F.conv2d(x, w, None, stride, padding, dilation, groups)
    np.testing.assert_allclose(
        found.numpy(), by_hand(x.numpy(), w.numpy(), stride, padding, dilation, groups), atol=1e-12
    )


@pytest.mark.parametrize("size", [(3, 3), (8, 8), (24, 5), (5, 40)])
@pytest.mark.parametrize("batch", [1, 7])
def test_images_of_any_size_in_any_number_give_the_same_as_one_by_one(size: tuple[int, int], batch: int) -> None:
    x, w = numbers(batch, 3, *size), numbers(5, 3, 3, 3, seed=1)
    whole = F.conv2d(x, w, padding=1)
    apart = tl.stack([F.conv2d(x[i], w, padding=1) for i in range(batch)])
    np.testing.assert_allclose(whole.detach().numpy(), apart.detach().numpy(), atol=1e-12)
    weight = numbers(*whole.shape, seed=2, grad=False)
    for g, h in zip(tl.autograd.grad(whole, (x, w), weight), tl.autograd.grad(apart, (x, w), weight), strict=True):
        np.testing.assert_allclose(g.numpy(), h.numpy(), atol=1e-11)


def test_a_transposed_convolution_is_the_gradient_of_a_convolution() -> None:
    x, w = numbers(2, 3, 7, 7), numbers(4, 3, 3, 3, seed=1, grad=False)
    y = F.conv2d(x, w, stride=2, padding=1)
    g = numbers(*y.shape, seed=2, grad=False)
    (expected,) = tl.autograd.grad(y, x, g)
    np.testing.assert_allclose(F.conv_transpose2d(g, w, stride=2, padding=1).numpy(), expected.numpy(), atol=1e-12)


def test_a_convolution_is_one_node_and_works_on_a_single_image() -> None:
    layer = nn.Conv2d(3, 4, 3, padding="same")
    assert layer(tl.ones(2, 3, 5, 5)).grad_fn.name() == "ConvolutionBackward0"
    assert layer(tl.ones(3, 5, 5)).shape == (4, 5, 5)
    assert nn.Conv2d(3, 4, (2, 3), padding="same")(tl.ones(3, 5, 5)).shape == (4, 5, 5)


def test_a_frozen_weight_makes_a_convolution_keep_no_input() -> None:
    x, w = numbers(1, 2, 4, 4), numbers(3, 2, 2, 2, grad=False)
    kept = {fact[0] for fact in F.conv2d(x, w).grad_fn.saved_facts()}
    assert kept == {"weight"}


def test_channels_that_lie_innermost_stay_there() -> None:
    x = tl.ones(2, 3, 6, 6).contiguous(memory_format=tl.channels_last)
    for layer in (
        nn.Conv2d(3, 4, 3),
        nn.MaxPool2d(2),
        nn.AvgPool2d(2),
        nn.AdaptiveAvgPool2d(2),
        nn.Upsample(scale_factor=2),
    ):
        assert layer(x).is_contiguous(memory_format=tl.channels_last), layer


def test_a_convolution_never_holds_all_its_columns_at_once() -> None:
    x, w = tl.rand(64, 16, 32, 32), tl.rand(16, 16, 3, 3)
    F.conv2d(x, w, padding=1)
    tracemalloc.start()
    F.conv2d(x, w, padding=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * x.numel() * 4  # the columns would be nine times as much


def test_errors_of_a_convolution_name_sizes() -> None:
    with pytest.raises(
        RuntimeError, match=r"weight of size \[4, 3, 3, 3\], expected input\[1, 2, 5, 5\] to have 3 channels, but got 2"
    ):
        F.conv2d(tl.ones(1, 2, 5, 5), tl.ones(4, 3, 3, 3))
    with pytest.raises(
        RuntimeError, match=r"Kernel size: \(3 x 3\). Kernel size can't be greater than actual input size"
    ):
        F.conv2d(tl.ones(1, 3, 2, 2), tl.ones(4, 3, 3, 3))
    with pytest.raises(RuntimeError, match=r"Input type \(float64\) and bias type \(float32\) should be the same"):
        F.conv2d(tl.ones(1, 3, 5, 5, dtype=tl.float64), tl.ones(4, 3, 3, 3, dtype=tl.float64), tl.ones(4))
    with pytest.raises(RuntimeError, match="Invalid padding string: 'full'"):
        F.conv1d(tl.ones(1, 3, 5), tl.ones(4, 3, 3), padding="full")


def test_first_values_of_a_convolution_lie_within_their_bound() -> None:
    layer = nn.Conv2d(8, 16, 5, groups=2)
    bound = 1 / np.sqrt(4 * 25)
    assert float(layer.weight.abs().max()) <= bound
    assert float(layer.bias.abs().max()) <= bound


def test_the_largest_of_a_window_with_a_nan_is_the_nan_and_its_gradient_goes_there() -> None:
    x = tl.tensor([[[1.0, float("nan")], [3.0, 2.0]]], requires_grad=True)
    y, at = F.max_pool2d(x, 2, return_indices=True)
    y.sum().backward()
    assert y.isnan().all()
    assert at.item() == 1
    assert x.grad.tolist() == [[[0, 1], [0, 0]]]


@pytest.mark.parametrize("bad", [float("inf"), float("nan")])
def test_only_the_largest_of_a_window_gets_a_bad_gradient(bad: float) -> None:
    x = tl.arange(16.0).reshape(1, 1, 4, 4).requires_grad_()
    F.max_pool2d(x, 2).backward(tl.full((1, 1, 2, 2), bad))
    expected = np.zeros((4, 4))
    expected[1::2, 1::2] = bad
    np.testing.assert_array_equal(x.grad.numpy()[0, 0], expected)


def test_a_window_of_minus_infinity_points_into_the_tensor() -> None:
    _, at = F.max_pool2d(tl.full((1, 1, 3, 3), -float("inf")), 2, stride=2, padding=1, return_indices=True)
    assert at.tolist() == [[[[0, 1], [3, 4]]]]


COMPOSED = {
    "grid_sample": lambda x, g: F.grid_sample(x, g, align_corners=False),
    "grid_sample border": lambda x, g: F.grid_sample(x, g, padding_mode="border", align_corners=True),
    "grid_sample reflection": lambda x, g: F.grid_sample(x, g, padding_mode="reflection", align_corners=True),
    "grid_sample bicubic": lambda x, g: F.grid_sample(x, g, mode="bicubic", align_corners=False),
    "lp_pool2d": lambda x, g: F.lp_pool2d(x, 3, 2),
    "max_pool1d": lambda x, g: F.max_pool1d(x[0], 2),
    "adaptive_avg_pool1d": lambda x, g: F.adaptive_avg_pool1d(x[0], 3),
    "max_unpool2d": lambda x, g: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2),
    "pixel_shuffle": lambda x, g: F.pixel_shuffle(x, 2),
    "pixel_unshuffle": lambda x, g: F.pixel_unshuffle(x, 2),
    "fold": lambda x, g: F.fold(F.unfold(x, 2), (4, 4), 2),
    "conv1d circular": lambda x, g: F.conv1d(F.pad(x[0], (1, 1), mode="circular"), x[0, :3, :4, :3]),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_functions_of_several_rows_differentiate_twice(name: str) -> None:
    x = numbers(1, 4, 4, 4).detach().abs().add(0.5).requires_grad_()
    g = tl.tensor(np.random.default_rng(3).uniform(-0.8, 0.8, (1, 2, 2, 2)), requires_grad=True)
    assert tl.autograd.gradcheck(COMPOSED[name], (x, g), atol=1e-6, rtol=1e-5)
    assert tl.autograd.gradgradcheck(COMPOSED[name], (x, g), atol=1e-5, rtol=1e-4)


def test_the_identity_map_gives_the_image_back() -> None:
    image = numbers(2, 3, 5, 4, grad=False)
    theta = tl.tensor([[[1.0, 0, 0], [0, 1, 0]]] * 2, dtype=tl.float64)
    for aligned in (True, False):
        grid = F.affine_grid(theta, image.shape, align_corners=aligned)
        np.testing.assert_allclose(F.grid_sample(image, grid, align_corners=aligned).numpy(), image.numpy(), atol=1e-12)


def test_an_image_made_larger_and_smaller_by_nearest_neighbours_is_itself() -> None:
    image = numbers(1, 2, 3, 5, grad=False)
    larger = F.interpolate(image, scale_factor=3)
    assert tl.equal(F.interpolate(larger, size=(3, 5)), image)


@pytest.mark.parametrize(
    ("layer", "shape"),
    [(nn.Dropout1d, (200, 50, 3)), (nn.Dropout2d, (200, 50, 2, 2)), (nn.Dropout3d, (200, 50, 2, 1, 2))],
)
def test_dropout_of_channels_drops_whole_channels_at_its_rate_and_scales_the_rest(
    layer: type, shape: tuple[int, ...]
) -> None:
    tl.manual_seed(0)
    y = layer(0.3)(tl.ones(shape)).numpy().reshape(200 * 50, -1)
    assert ((y == y[:, :1]).all(1)).all()
    assert np.unique(y[:, 0]).tolist() == pytest.approx([0.0, 1 / 0.7])
    assert abs((y[:, 0] == 0).mean() - 0.3) < 0.02
    assert layer(0.3).eval()(tl.ones(shape)).sum() == np.prod(shape)


@pytest.mark.parametrize("layer", [nn.AlphaDropout, nn.FeatureAlphaDropout])
def test_alpha_dropout_keeps_mean_and_deviation(layer: type) -> None:
    tl.manual_seed(0)
    x = tl.randn(2000, 200)
    y = layer(0.2)(x)
    assert abs(float(y.mean())) < 0.02
    assert abs(float(y.std()) - 1) < 0.02
    assert len(np.unique(y.numpy()[x.numpy() != y.numpy()])) > 1


def test_dropout_of_one_element_has_gradients_where_it_keeps() -> None:
    tl.manual_seed(0)
    x = tl.ones(1000, requires_grad=True)
    y = tl.alpha_dropout(x, 0.5, True)
    y.sum().backward()
    assert set(np.unique(x.grad.numpy() > 0).tolist()) == {True, False}
