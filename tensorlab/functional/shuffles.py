"""Elements moved between channels and places."""

from __future__ import annotations

from typing import Any

from tensorlab.functional.arguments import need_tensor
from tensorlab.functional.shapes import permute, reshape

Tensor = Any


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Channels spread over finer pixels: ``[*, C * r * r, H, W]`` to ``[*, C, H * r, W * r]``, where ``r`` is the factor.

    Source: Shi et al., "Real-Time Single Image and Video Super-Resolution", 2016.
    """
    r = upscale_factor
    lead, (channels, height, width) = _image("pixel_shuffle", input, r, "upscale_factor")
    if channels % (r * r):
        raise RuntimeError(
            f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={channels} is not divisible by {r * r}"
        )
    n = len(lead)
    apart = reshape(input, (*lead, channels // (r * r), r, r, height, width))
    mixed = permute(apart, (*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return reshape(mixed, (*lead, channels // (r * r), height * r, width * r))


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Pixels gathered into channels: ``[*, C, H * r, W * r]`` to ``[*, C * r * r, H, W]``; undoes :func:`pixel_shuffle`."""
    r = downscale_factor
    lead, (channels, height, width) = _image("pixel_unshuffle", input, r, "downscale_factor")
    for name, size in (("height", height), ("width", width)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but {size} is not divisible by {r}"
            )
    n = len(lead)
    apart = reshape(input, (*lead, channels, height // r, r, width // r, r))
    mixed = permute(apart, (*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return reshape(mixed, (*lead, channels * r * r, height // r, width // r))


def _image(op: str, input: Tensor, factor: int, name: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The dimensions before an image, and its own three."""
    need_tensor(op, "input", 1, input)
    shape = tuple(input._a.shape)
    if len(shape) < 3:
        raise RuntimeError(
            f"{op} expects input to have at least 3 dimensions, but got input with {len(shape)} dimension(s)"
        )
    if isinstance(factor, bool) or not hasattr(factor, "__index__"):
        raise TypeError(f"{op}(): argument '{name}' (position 2) must be int, not {type(factor).__name__}")
    if factor <= 0:
        raise RuntimeError(f"{op} expects a positive {name}, but got {factor}")
    return shape[:-3], shape[-3:]


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Channels ``[N, C, *]`` in another order: the first of each group, then the second of each, and so on.

    Source: Zhang et al., "ShuffleNet", 2017.
    """
    need_tensor("channel_shuffle", "input", 1, input)
    shape = tuple(input._a.shape)
    if len(shape) < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {shape[1]} channels and {groups} groups."
        )
    apart = reshape(input, (shape[0], groups, shape[1] // groups, *shape[2:]))
    return reshape(permute(apart, (0, 2, 1, *range(3, len(shape) + 1))), shape)


native_channel_shuffle = channel_shuffle
