"""Tensors at places that a grid names, put together from operations that differentiate."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from tensorlab import creation, dtypes
from tensorlab.functional.arguments import need_tensor
from tensorlab.functional.joining import stack
from tensorlab.functional.pointwise import where
from tensorlab.functional.products import matmul
from tensorlab.functional.shapes import expand, reshape, select, transpose

Tensor = Any

_BILINEAR, _NEAREST, _BICUBIC = 0, 1, 2
_ZEROS, _BORDER, _REFLECTION = 0, 1, 2


def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """``input`` ``[N, C, *size]`` at the places that ``grid`` ``[N, *out, dims]`` names: ``[N, C, *out]``.

    Modes: 0 linear, 1 nearest, 2 cubic; outside: 0 zeros, 1 the border, 2 a reflection. See
    :func:`tensorlab.nn.functional.grid_sample`.
    """
    need_tensor("grid_sampler", "input", 1, input)
    need_tensor("grid_sampler", "grid", 2, grid)
    shape, places = tuple(input._a.shape), tuple(grid._a.shape)
    if input._a.dtype != grid._a.dtype:
        raise RuntimeError(
            f"grid_sampler(): expected input and grid to have same dtype, but input has {input.dtype.name} and grid has {grid.dtype.name}"
        )
    if len(shape) not in (4, 5) or len(places) != len(shape):
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes "
            f"{list(shape)} and grid with sizes {list(places)}"
        )
    if shape[0] != places[0] or places[-1] != len(shape) - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size and grid to have size {len(shape) - 2} in last dimension, "
            f"but got input with sizes {list(shape)} and grid with sizes {list(places)}"
        )
    if 0 in shape[2:]:
        raise RuntimeError(
            f"grid_sampler(): expected input to have non-empty spatial dimensions, but got {list(shape)}"
        )
    if interpolation_mode == _BICUBIC and len(shape) == 5:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    return _sampled(input, grid, interpolation_mode, padding_mode, align_corners)


def grid_sampler_2d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """:func:`grid_sampler` for images ``[N, C, H, W]``."""
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


def grid_sampler_3d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """:func:`grid_sampler` for volumes ``[N, C, D, H, W]``."""
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


def _sampled(input: Tensor, grid: Tensor, mode: int, outside: int, aligned: bool) -> Tensor:
    size = tuple(input._a.shape[2:])
    n = len(size)
    places = [_unscaled(select(grid, -1, n - 1 - d), size[d], aligned) for d in range(n)]
    if mode != _BICUBIC:
        places = [_brought_in(x, k, outside, aligned) for x, k in zip(places, size, strict=True)]
    if mode == _NEAREST:
        return _gathered(input, [x.detach().round() for x in places], outside)
    whole = [x.detach().floor() for x in places]
    parts = [x - w for x, w in zip(places, whole, strict=True)]
    weights = [_cubic(t) if mode == _BICUBIC else (1 - t, t) for t in parts]
    steps = (-1, 0, 1, 2) if mode == _BICUBIC else (0, 1)
    total: Any = None
    for corner in product(range(len(steps)), repeat=n):
        at = [w + steps[i] for w, i in zip(whole, corner, strict=True)]
        if mode == _BICUBIC:
            at = [_brought_in(x, k, outside, aligned) for x, k in zip(at, size, strict=True)]
            at = at if outside == _ZEROS else [x.floor() for x in at]
        factor = weights[0][corner[0]]
        for d in range(1, n):
            factor = factor * weights[d][corner[d]]
        part = _gathered(input, at, outside) * factor.unsqueeze(1)
        total = part if total is None else total + part
    return total


def _unscaled(x: Tensor, size: int, aligned: bool) -> Tensor:
    """From -1 ... 1 to a place among ``size`` elements."""
    return (x + 1) * ((size - 1) / 2) if aligned else ((x + 1) * size - 1) / 2


def _brought_in(x: Tensor, size: int, outside: int, aligned: bool) -> Tensor:
    """Places outside brought to the border, or reflected; as they are where zeros lie outside."""
    if outside == _ZEROS:
        return x
    if outside == _REFLECTION:
        low, high = (0.0, float(size - 1)) if aligned else (-0.5, size - 0.5)
        x = _reflected(x, low, high)
    inside = (x > 0) & (x < size - 1)
    return where(inside, x, x.detach().clamp(0, size - 1))


def _reflected(x: Tensor, low: float, high: float) -> Tensor:
    span = high - low
    if span == 0:
        return creation.zeros_like(x)
    away = (x - low).abs()
    turns = (away.detach() / span).floor()
    rest = away - turns * span
    return where(turns % 2 == 0, rest + low, high - rest)


def _cubic(t: Tensor) -> tuple[Tensor, ...]:
    """Keys' weights of the four neighbours of a place, a = -0.75."""
    a = -0.75

    def near(x: Tensor) -> Tensor:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Tensor) -> Tensor:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return far(t + 1), near(t), near(1 - t), far(2 - t)


def _gathered(input: Tensor, at: Sequence[Tensor], outside: int) -> Tensor:
    """The elements of ``input`` at whole places, 0 where they lie outside."""
    shape = tuple(input._a.shape)
    out = tuple(at[0]._a.shape[1:])
    index: Any = 0
    valid: Any = None
    for x, size in zip(at, shape[2:], strict=True):
        inside = (x >= 0) & (x <= size - 1)
        valid = inside if valid is None else valid & inside
        index = index * size + where(inside, x, 0).to(dtypes.int64)
    total = 1
    for k in shape[2:]:
        total *= k
    places = index.numel() // max(1, shape[0])
    flat = reshape(input, (*shape[:2], total))
    found = flat.gather(2, expand(reshape(index, (shape[0], 1, places)), (shape[0], shape[1], places)))
    found = reshape(found, (*shape[:2], *out))
    return where(valid.unsqueeze(1), found, 0) if outside == _ZEROS else found


def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """The grid of places that affine maps ``theta`` ``[N, dims, dims + 1]`` lead to from every element of an image of ``size``."""
    need_tensor("affine_grid_generator", "theta", 1, theta)
    spatial = tuple(size[2:])
    n = len(spatial)
    axes = []
    for d, k in enumerate(spatial):
        axis = creation.linspace(-1, 1, k, dtype=theta.dtype, device=theta.device) if k > 1 else theta._zeros((k,))
        axis = axis if align_corners else axis * ((k - 1) / k)
        axes.append(expand(reshape(axis, (1,) * d + (k,) + (1,) * (n - 1 - d)), spatial))
    ones = theta._zeros(spatial) + 1
    base = reshape(stack([*axes[::-1], ones], -1), (1, -1, n + 1))
    return reshape(matmul(base, transpose(theta, 1, 2)), (size[0], *spatial, n))
