"""Convolutions, plain and transposed, of one, two and three dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorlab import dispatch
from tensorlab.dispatch import call
from tensorlab.functional.arguments import need_tensor
from tensorlab.functional.shapes import squeeze, transpose, unsqueeze
from tensorlab.ops import ROWS
from tensorlab.ops.windows import reach

Tensor = Any
Sizes = tuple[int, ...]

_CONVOLUTION = ROWS["convolution"]


def conv1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:  # fmt: skip
    """Slide kernels along one dimension: input ``[N, C, L]`` or ``[C, L]``, weight ``[O, C / groups, K]``, bias ``[O]``.

    The result is ``[N, O, (L + 2 * padding - dilation * (K - 1) - 1) // stride + 1]``. ``padding`` may be ``"valid"`` (none) or
    ``"same"`` (as much as keeps ``L``, for stride 1). Raises ``RuntimeError`` where sizes or types do not meet.
    """
    return _plain("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:  # fmt: skip
    """Slide kernels over images: input ``[N, C, H, W]`` or ``[C, H, W]``, weight ``[O, C / groups, KH, KW]``, bias ``[O]``.

    Stride, padding and dilation are a number or one for each dimension; see :func:`conv1d` for the size of the result.

    >>> import tensorlab as tl
    >>> tl.conv2d(tl.ones(1, 3, 8, 8), tl.ones(4, 3, 3, 3), stride=2, padding=1).shape
    tensorlab.Size([1, 4, 4, 4])
    """
    return _plain("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:  # fmt: skip
    """Slide kernels through volumes: input ``[N, C, D, H, W]`` or ``[C, D, H, W]``, weight ``[O, C / groups, KD, KH, KW]``.

    Stride, padding and dilation are a number or one for each dimension; see :func:`conv1d` for the size of the result.
    """
    return _plain("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def conv_transpose1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    """The gradient of :func:`conv1d` as an operation: input ``[N, C, L]`` or ``[C, L]``, weight ``[C, O / groups, K]``.

    The result is ``[N, O, (L - 1) * stride - 2 * padding + dilation * (K - 1) + output_padding + 1]``.
    """
    return _turned("conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    """The gradient of :func:`conv2d` as an operation: weight ``[C, O / groups, KH, KW]``; see :func:`conv_transpose1d`."""
    return _turned("conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    """The gradient of :func:`conv3d` as an operation: weight ``[C, O / groups, KD, KH, KW]``; see :func:`conv_transpose1d`."""
    return _turned("conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation)


def convolution(
    input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any,
    groups: int,
) -> Tensor:  # fmt: skip
    """A plain or transposed convolution of as many dimensions as ``weight`` has beside its channels; ``input`` is a batch."""
    need_tensor("convolution", "input", 1, input)
    need_tensor("convolution", "weight", 2, weight)
    n = weight._a.ndim - 2
    steps, margin = _sizes("stride", stride, n), _sizes("padding", padding, n)
    gaps, more = _sizes("dilation", dilation, n), _sizes("output_padding", output_padding, n)
    return _run(input, weight, bias, steps, margin, gaps, transposed, more, groups)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """:func:`conv1d` of an input ``[L, N, C]`` with a weight ``[K, C, O]``."""
    need_tensor("conv_tbc", "input", 1, input)
    moved = transpose(transpose(input, 0, 1), 1, 2)
    found = conv1d(moved, transpose(weight, 0, 2), bias, padding=pad)
    return transpose(transpose(found, 1, 2), 0, 1)


# ------------------------------------------------------------------------------------------------------------- reading


def _sizes(name: str, value: Any, n: int) -> Sizes:
    """One number for each dimension, from a number or a sequence."""
    given = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if len(given) not in (1, n):
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {n} values to match the convolution "
            f"dimensions, but got {name}={list(given)}"
        )
    for x in given:
        if not hasattr(x, "__index__"):
            raise TypeError(f"convolution: argument '{name}' must be int or tuple of ints, not {type(x).__name__}")
    given = tuple([x.__index__() for x in given])
    return given * n if len(given) == 1 else given


def _batched(op: str, n: int, input: Tensor, weight: Tensor) -> tuple[Tensor, bool]:
    """The input with a batch dimension, and whether it had one."""
    need_tensor(op, "input", 1, input)
    need_tensor(op, "weight", 2, weight)
    if weight._a.ndim != n + 2:
        raise RuntimeError(
            f"{op}(): Expected {weight._a.ndim}-dimensional input for {weight._a.ndim}-dimensional weight "
            f"{list(weight._a.shape)}, but {op} takes a weight of {n + 2} dimensions"
        )
    if input._a.ndim not in (n + 1, n + 2):
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {op}, but got input of size: {list(input._a.shape)}"
        )
    return (input, True) if input._a.ndim == n + 2 else (unsqueeze(input, 0), False)


def _plain(
    op: str, n: int, input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, padding: Any, dilation: Any, groups: int
) -> Tensor:  # fmt: skip
    x, batched = _batched(op, n, input, weight)
    stride, dilation = _sizes("stride", stride, n), _sizes("dilation", dilation, n)
    if isinstance(padding, str):
        x, padding = _named_padding(x, padding, weight._a.shape[2:], stride, dilation)
    out = _run(x, weight, bias, stride, _sizes("padding", padding, n), dilation, False, (0,) * n, groups)
    return out if batched else squeeze(out, 0)


def _named_padding(x: Tensor, padding: str, kernel: Sizes, stride: Sizes, dilation: Sizes) -> tuple[Tensor, Sizes]:
    """``"valid"`` or ``"same"`` as numbers; what both sides do not share is padded at the end first."""
    if padding == "valid":
        return x, (0,) * len(kernel)
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'; it is 'valid', 'same' or numbers")
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    total = [r - 1 for r in reach(kernel, dilation)]
    odd = [t % 2 for t in total]
    if any(odd):
        after = [p for t in reversed(odd) for p in (0, t)]
        x = call(ROWS["constant_pad_nd"], (x,), pad=tuple(after), value=0)
    return x, tuple([t // 2 for t in total])


def _turned(
    op: str, n: int, input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, padding: Any, output_padding: Any, groups: int,
    dilation: Any,
) -> Tensor:  # fmt: skip
    x, batched = _batched(op, n, input, weight)
    stride, dilation = _sizes("stride", stride, n), _sizes("dilation", dilation, n)
    padding, more = _sizes("padding", padding, n), _sizes("output_padding", output_padding, n)
    out = _run(x, weight, bias, stride, padding, dilation, True, more, groups)
    return out if batched else squeeze(out, 0)


def _run(
    x: Tensor, weight: Tensor, bias: Tensor | None, stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool, more: Sizes,
    groups: int,
) -> Tensor:  # fmt: skip
    _check_numbers(stride, padding, dilation, more, transposed, groups)
    _check_shapes(x._a.shape, weight._a.shape, bias, stride, padding, dilation, transposed, more, groups)
    return call(
        _CONVOLUTION, (x, weight, bias), stride=stride, padding=padding, dilation=dilation, transposed=bool(transposed),
        output_padding=more, groups=groups,
    )  # fmt: skip


def _check_numbers(stride: Sizes, padding: Sizes, dilation: Sizes, more: Sizes, transposed: bool, groups: int) -> None:
    if min(padding, default=0) < 0:
        raise RuntimeError(f"negative padding is not supported, got {list(padding)}")
    if min(stride, default=1) <= 0:
        raise RuntimeError(f"non-positive stride is not supported, got {list(stride)}")
    if min(dilation, default=1) <= 0:
        raise RuntimeError(f"dilation should be greater than zero, got {list(dilation)}")
    if groups <= 0:
        raise RuntimeError(f"non-positive groups is not supported, got {groups}")
    if min(more, default=0) < 0:
        raise RuntimeError(f"negative output_padding is not supported, got {list(more)}")
    if transposed and any(m >= s and m >= d for m, s, d in zip(more, stride, dilation, strict=True)):
        raise RuntimeError(
            f"output padding must be smaller than either stride or dilation, but got output_padding {list(more)}, "
            f"stride {list(stride)}, dilation {list(dilation)}"
        )


def _check_shapes(
    x: Sequence[int], w: Sequence[int], bias: Tensor | None, stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool,
    more: Sizes, groups: int,
) -> None:  # fmt: skip
    if len(x) != len(w):
        raise RuntimeError(
            f"Expected {len(w)}-dimensional input for {len(w)}-dimensional weight {list(w)}, but got {len(x)}-dimensional "
            f"input of size {list(x)} instead"
        )
    needed = w[0] if transposed else w[1] * groups
    if x[1] != needed or w[0] % groups:
        if w[0] < groups or w[0] % groups:
            raise RuntimeError(
                f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size "
                f"{list(w)} instead"
            )
        raise RuntimeError(
            f"Given {'transposed=1, ' if transposed else f'groups={groups}, '}weight of size {list(w)}, expected input{list(x)} to "
            f"have {needed} channels, but got {x[1]} channels instead"
        )
    outs = w[1] * groups if transposed else w[0]
    if bias is not None:
        if not isinstance(bias, dispatch.Tensor):
            raise TypeError(f"convolution: argument 'bias' must be Tensor, not {type(bias).__name__}")
        if bias._a.shape != (outs,):
            raise RuntimeError(
                f"Given weight of size {list(w)}, expected bias to be 1-dimensional with {outs} elements, but got bias of size "
                f"{list(bias._a.shape)} instead"
            )
    if not transposed:
        size = [n + 2 * p for n, p in zip(x[2:], padding, strict=True)]
        if any(n < r for n, r in zip(size, reach(w[2:], dilation), strict=True)):
            raise RuntimeError(
                f"Calculated padded input size per channel: ({' x '.join(map(str, size))}). Kernel size: "
                f"({' x '.join(map(str, reach(w[2:], dilation)))}). Kernel size can't be greater than actual input size"
            )
    elif min(_turned_size(x, w, stride, padding, dilation, more)) <= 0:
        raise RuntimeError(
            f"Given input size per channel: {list(x[2:])}. Calculated output size per channel: "
            f"{_turned_size(x, w, stride, padding, dilation, more)}. Output size is too small"
        )


def _turned_size(
    x: Sequence[int], w: Sequence[int], stride: Sizes, padding: Sizes, dilation: Sizes, more: Sizes
) -> list[int]:
    across = reach(w[2:], dilation)
    return [(n - 1) * s - 2 * p + r + m for n, s, p, r, m in zip(x[2:], stride, padding, across, more, strict=True)]
