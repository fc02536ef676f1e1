"""What sliding windows see as columns, columns put back, and elements moved between channels and places."""

from __future__ import annotations

from typing import Any

from tensorlab.dispatch import call
from tensorlab.functional import channel_shuffle as channel_shuffle
from tensorlab.functional import native_channel_shuffle as native_channel_shuffle
from tensorlab.functional import pixel_shuffle as pixel_shuffle
from tensorlab.functional import pixel_unshuffle as pixel_unshuffle
from tensorlab.functional import sizes
from tensorlab.functional.arguments import need_tensor
from tensorlab.ops import ROWS
from tensorlab.ops.windows import places

__all__ = ["channel_shuffle", "fold", "native_channel_shuffle", "pixel_shuffle", "pixel_unshuffle", "unfold"]

Tensor = Any
Sizes = tuple[int, ...]


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """What each window of an image sees, as a column: ``[N, C, H, W]`` to ``[N, C * KH * KW, places]``; the batch may be missing.

    >>> import tensorlab as tl
    >>> tl.nn.functional.unfold(tl.ones(1, 3, 4, 4), 3).shape
    tensorlab.Size([1, 27, 4])
    """
    need_tensor("unfold", "input", 1, input)
    shape = tuple(input._a.shape)
    if len(shape) not in (3, 4) or 0 in shape[len(shape) - 3 :]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: "
            f"{list(shape)}"
        )
    kernel, gaps, margin, step = _arguments("unfold", kernel_size, dilation, padding, stride)
    if min(places(shape[-2:], kernel, step, margin, gaps)) < 1:
        raise RuntimeError(
            f"unfold(): Given input with spatial size {list(shape[-2:])}, kernel_size={list(kernel)}, dilation={list(gaps)}, "
            f"padding={list(margin)}, the array of sliding blocks is empty: the window does not fit in"
        )
    return call(ROWS["im2col"], (input,), kernel=kernel, dilation=gaps, padding=margin, stride=step)


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Columns put back where :func:`unfold` took them from, and added up where windows overlap.

    ``[N, C * KH * KW, places]`` to ``[N, C, *output_size]``; the batch may be missing.
    """
    need_tensor("fold", "input", 1, input)
    shape = tuple(input._a.shape)
    if len(shape) not in (2, 3) or 0 in shape[len(shape) - 2 :]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but got: "
            f"{list(shape)}"
        )
    kernel, gaps, margin, step = _arguments("fold", kernel_size, dilation, padding, stride)
    size = sizes("fold", "output_size", output_size, 2)
    if shape[-2] % (kernel[0] * kernel[1]):
        raise RuntimeError(
            f"Expected size of input's dimension {len(shape) - 2} to be divisible by the product of kernel_size, but got "
            f"input.size({len(shape) - 2})={shape[-2]} and kernel_size={list(kernel)}."
        )
    out = places(size, kernel, step, margin, gaps)
    if min(out) < 1 or out[0] * out[1] != shape[-1]:
        raise RuntimeError(
            f"Given output_size={list(size)}, kernel_size={list(kernel)}, dilation={list(gaps)}, padding={list(margin)}, "
            f"stride={list(step)}, expected size of input's dimension {len(shape) - 1} to match the calculated number of sliding blocks "
            f"{out[0]} * {out[1]}, but got {shape[-1]}"
        )
    return call(ROWS["col2im"], (input,), size=size, kernel=kernel, dilation=gaps, padding=margin, stride=step)


def _arguments(
    op: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> tuple[Sizes, Sizes, Sizes, Sizes]:
    kernel, gaps = sizes(op, "kernel_size", kernel_size, 2), sizes(op, "dilation", dilation, 2)
    margin, step = sizes(op, "padding", padding, 2), sizes(op, "stride", stride, 2)
    for name, values in (("kernel_size", kernel), ("dilation", gaps), ("stride", step)):
        if min(values) <= 0:
            raise RuntimeError(f"{op}(): {name} should be greater than zero, but got {list(values)}")
    if min(margin) < 0:
        raise RuntimeError(f"{op}(): padding should be non-negative, but got {list(margin)}")
    return kernel, gaps, margin, step
