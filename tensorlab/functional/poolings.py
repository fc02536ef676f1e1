"""Pooling: the largest value or the average of what sliding windows see, and pooling to a size.

In all of them ``input`` is ``[N, C, *size]`` or ``[C, *size]``, and sizes are one number or one for each dimension.
"""

from __future__ import annotations

from typing import Any

from tensorlab.dispatch import call
from tensorlab.functional.arguments import need_tensor
from tensorlab.functional.shapes import squeeze, unsqueeze
from tensorlab.ops import ROWS
from tensorlab.ops.pooling import pooled_size

Tensor = Any
Sizes = tuple[int, ...]

#: Functions that are not found at ``tensorlab.<name>``.
ELSEWHERE = """
    avg_pool2d avg_pool3d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d sizes
"""


def sizes(op: str, name: str, value: Any, n: int) -> Sizes:
    """One number for each of ``n`` dimensions, from a number or a sequence. Raises ``RuntimeError`` for any other count."""
    given = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if len(given) not in (1, n):
        raise RuntimeError(f"{op}: {name} must either be a single int, or a tuple of {n} ints, got {list(given)}")
    for x in given:
        if isinstance(x, bool) or not hasattr(x, "__index__"):
            raise TypeError(f"{op}(): argument '{name}' must be tuple of ints, not {type(x).__name__}")
    given = tuple([x.__index__() for x in given])
    return given * n if len(given) == 1 else given


def _windows(
    op: str, n: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Sizes, Sizes, Sizes, Sizes]:
    """The arguments of a pooling as tuples, once they are known to fit each other and the input."""
    need_tensor(op, "input", 1, input)
    kernel = sizes(op, "kernel_size", kernel_size, n)
    step = kernel if stride is None or stride == () or stride == [] else sizes(op, "stride", stride, n)
    margin, gaps = sizes(op, "padding", padding, n), sizes(op, "dilation", dilation, n)
    shape = tuple(input._a.shape)
    if len(shape) not in (n + 1, n + 2) or 0 in shape[len(shape) - n - 1 :]:
        raise RuntimeError(
            f"{op}(): Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch size for input, but got: {list(shape)}"
        )
    for name, values in (("kernel_size", kernel), ("stride", step), ("dilation", gaps)):
        if min(values) <= 0:
            raise RuntimeError(f"{op}(): {name} must be greater than zero, but got {list(values)}")
    if min(margin) < 0:
        raise RuntimeError(f"{op}(): pad must be non-negative, but got pad: {list(margin)}")
    if any(p > (d * (k - 1) + 1) // 2 for p, k, d in zip(margin, kernel, gaps, strict=True)):
        raise RuntimeError(
            f"{op}(): pad should be at most half of effective kernel size, but got pad={list(margin)}, kernel_size={list(kernel)} and "
            f"dilation={list(gaps)}"
        )
    out = pooled_size(shape[len(shape) - n :], kernel, step, margin, gaps, ceil_mode)
    if min(out) < 1:
        raise RuntimeError(
            f"{op}(): Given input size {list(shape)}, the Invalid computed output size: {list(out)}. Output size is too small: the "
            f"window {list(kernel)} does not fit in"
        )
    return kernel, step, margin, gaps


def _max_pool(
    op: str, n: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, indices: bool
) -> Any:  # fmt: skip
    kernel, step, margin, gaps = _windows(op, n, input, kernel_size, stride, padding, dilation, ceil_mode)
    if n == 1:
        input = unsqueeze(input, -2)
        kernel, step, margin, gaps = (1, *kernel), (1, *step), (0, *margin), (1, *gaps)
    window = {"kernel": kernel, "stride": step, "padding": margin, "dilation": gaps}
    values, number = call(ROWS[f"max_pool{max(n, 2)}d_numbered"], (input,), ceil_mode=bool(ceil_mode), **window)
    found = [values]
    if indices:
        found.append(call(ROWS["max_pool_indices"], (number,), size=tuple(input._a.shape[-len(kernel) :]), **window))
    found = [squeeze(x, -2) for x in found] if n == 1 else found
    return tuple(found) if indices else found[0]


def max_pool1d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest value of each window along the last dimension, and with ``return_indices`` where it lies.

    ``stride`` is the window's size if left out. Padding never wins. ``ceil_mode`` lets a window reach beyond the end.
    """
    return _max_pool("max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool1d_with_indices(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Any:
    """:func:`max_pool1d` with the indices of the largest values."""
    return max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest value of each window of an image, and with ``return_indices`` where it lies, counted row by row.

    >>> import tensorlab as tl
    >>> tl.max_pool2d(tl.arange(16.).reshape(1, 4, 4), 2)
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """
    return _max_pool("max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest value of each window of a volume, and with ``return_indices`` where it lies; see :func:`max_pool1d`."""
    return _max_pool("max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def _avg_pool(
    op: str, n: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:  # fmt: skip
    if divisor_override == 0:
        raise RuntimeError(f"{op}(): divisor must be not zero")
    kernel, step, margin, _ = _windows(op, n, input, kernel_size, stride, padding, 1, ceil_mode)
    options = {
        "ceil_mode": bool(ceil_mode),
        "count_include_pad": bool(count_include_pad),
        "divisor": divisor_override,
    }
    if n > 1:
        return call(ROWS[f"avg_pool{n}d"], (input,), kernel=kernel, stride=step, padding=margin, **options)
    row, wide = ROWS["avg_pool2d"], unsqueeze(input, -2)
    return squeeze(call(row, (wide,), kernel=(1, *kernel), stride=(1, *step), padding=(0, *margin), **options), -2)


def avg_pool1d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True
) -> Tensor:  # fmt: skip
    """The mean of each window along the last dimension; padding counts as zeros unless ``count_include_pad`` is off."""
    return _avg_pool("avg_pool1d", 1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """The mean of each window of an image; ``divisor_override`` divides the sums by another number than that of the elements."""
    return _avg_pool("avg_pool2d", 2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)  # fmt: skip


def avg_pool3d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """The mean of each window of a volume; see :func:`avg_pool2d`."""
    return _avg_pool("avg_pool3d", 3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ to a size


def _wanted(op: str, n: int, input: Tensor, output_size: Any) -> Sizes:
    """The size to pool to; ``None`` for a dimension keeps it."""
    need_tensor(op, "input", 1, input)
    shape = tuple(input._a.shape)
    if isinstance(output_size, (tuple, list)):
        if n > 1 and len(shape) <= len(output_size):
            raise ValueError(
                f"Input dimension should be at least {len(output_size) + 1}, got {len(shape)} for an output of {list(output_size)}"
            )
        if len(output_size) != n:
            count = {1: "one int", 2: "two ints", 3: "three ints"}[n]
            raise RuntimeError(f"{op}(): 'output_size' should contain {count}, got {list(output_size)}")
        output_size = [k if v is None else v for v, k in zip(output_size, (*[0] * n, *shape)[-n:], strict=True)]
    wanted = sizes(op, "output_size", output_size, n)
    if min(wanted) < 0:
        raise RuntimeError(
            f"{op}(): elements of output_size must be greater than or equal to 0, but received {list(wanted)}"
        )
    if max(wanted) > 2**24:
        raise RuntimeError(f"{op}(): elements of output_size go up to {2**24:,}, but received {list(wanted)}")
    if len(shape) not in (n + 1, n + 2) or 0 in shape[len(shape) - n - 1 :]:
        raise RuntimeError(
            f"{op}(): Expected {n + 1}D or {n + 2}D tensor with optional 0 dim batch size and other sizes above 0, but got {list(shape)}"
        )
    return wanted


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of windows along the last dimension, as many as ``output_size`` says; each covers its share, rounded outwards."""
    (wanted,) = _wanted("adaptive_avg_pool1d", 1, input, output_size)
    return squeeze(_average(2, unsqueeze(input, -2), (1, wanted)), -2)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of windows of an image, as many as ``output_size`` says; ``None`` for a dimension keeps it.

    >>> import tensorlab as tl
    >>> tl.nn.functional.adaptive_avg_pool2d(tl.ones(2, 3, 7, 5), (2, 2)).shape
    tensorlab.Size([2, 3, 2, 2])
    """
    return _average(2, input, _wanted("adaptive_avg_pool2d", 2, input, output_size))


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of windows of a volume, as many as ``output_size`` says; ``None`` for a dimension keeps it."""
    return _average(3, input, _wanted("adaptive_avg_pool3d", 3, input, output_size))


def _average(n: int, input: Tensor, wanted: Sizes) -> Tensor:
    if wanted == (1,) * n and input._a.dtype.kind == "f":
        ndim = input._a.ndim
        return call(ROWS["mean"], (input,), dim=tuple(range(ndim - n, ndim)), keepdim=True, dtype=None)
    return call(ROWS[f"adaptive_avg_pool{n}d"], (input,), size=wanted)


def adaptive_max_pool1d(input: Tensor, output_size: Any) -> tuple[Tensor, Tensor]:
    """The largest values of windows along the last dimension, as many as ``output_size`` says, and where they lie."""
    (wanted,) = _wanted("adaptive_max_pool1d", 1, input, output_size)
    values, indices = call(ROWS["adaptive_max_pool2d"], (unsqueeze(input, -2),), size=(1, wanted))
    return squeeze(values, -2), squeeze(indices, -2)


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest values of windows of an image, as many as ``output_size`` says; with ``return_indices`` where they lie too."""
    wanted = _wanted("adaptive_max_pool2d", 2, input, output_size)
    found = call(ROWS["adaptive_max_pool2d"], (input,), size=wanted)
    return found if return_indices else found[0]


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest values of windows of a volume, as many as ``output_size`` says; with ``return_indices`` where they lie too."""
    wanted = _wanted("adaptive_max_pool3d", 3, input, output_size)
    found = call(ROWS["adaptive_max_pool3d"], (input,), size=wanted)
    return found if return_indices else found[0]
