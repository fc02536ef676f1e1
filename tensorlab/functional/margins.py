"""Padding around the last dimensions, by a constant or by values of the tensor itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorlab.dispatch import call
from tensorlab.functional.arguments import need_tensor
from tensorlab.ops import ROWS
from tensorlab.ops.padding import padded_shape

Tensor = Any

#: Functions that are not found at ``tensorlab.<name>``.
ELSEWHERE = "pad"

_ROWS = {"reflect": "reflection_pad", "replicate": "replication_pad", "circular": "circular_pad"}


def constant_pad_nd(input: Tensor, pad: Sequence[int], value: Any = 0) -> Tensor:
    """``value`` around the last dimensions: ``pad`` holds pairs (before, after), the last dimension first.

    Negative amounts cut away. Raises ``RuntimeError`` for an odd number of amounts, too many, or a negative size.
    """
    need_tensor("constant_pad_nd", "input", 1, input)
    shape = input._a.shape
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) // 2 > len(shape):
        raise RuntimeError(
            f"Length of pad should be no more than twice the number of dimensions of the input. Pad length is {len(pad)} while the "
            f"input has {len(shape)} dimensions."
        )
    amount = tuple([int(p) for p in pad])
    out = padded_shape(shape, amount)
    if min(out, default=0) < 0:
        raise RuntimeError(
            f"The input size {list(shape)}, plus negative padding {list(amount)}, resulted in a negative output size {list(out)}, "
            "which is invalid."
        )
    return call(ROWS["constant_pad_nd"], (input,), pad=amount, value=value)


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """The tensor with a margin: ``pad`` holds pairs (before, after), the last dimension first.

    ``mode`` is ``"constant"`` (``value``, 0 if left out), ``"reflect"`` (mirrored at the edge, which is not repeated),
    ``"replicate"`` (the edge repeated) or ``"circular"`` (the other end). All but the first pad the last one, two or three of
    2 to 5 dimensions. Raises ``RuntimeError``, or ``NotImplementedError`` for a mode and a number of dimensions that do not fit.

    >>> import tensorlab as tl
    >>> tl.nn.functional.pad(tl.tensor([[1., 2., 3.]]), (2, 1), mode="reflect")
    tensor([[3., 2., 1., 2., 3., 2.]])
    """
    need_tensor("pad", "input", 1, input)
    if not isinstance(pad, (tuple, list)):
        raise TypeError(f"pad(): argument 'pad' (position 2) must be tuple of ints, not {type(pad).__name__}")
    if len(pad) % 2:
        raise RuntimeError(f"Padding length must be divisible by 2, got {len(pad)}")
    if len(pad) // 2 > input._a.ndim:
        raise RuntimeError(
            f"Padding length should be less than or equal to two times the input dimension but got padding length {len(pad)} and "
            f"input of dimension {input._a.ndim}"
        )
    if mode == "constant":
        return constant_pad_nd(input, pad, 0 if value is None else value)
    if value is not None and value != 0:
        raise ValueError(f"Padding mode '{mode}' doesn't take in value argument")
    if mode not in _ROWS:
        raise NotImplementedError(f"Unrecognised padding mode {mode}; it is constant, reflect, replicate or circular")
    n = len(pad) // 2
    if n not in (1, 2, 3) or input._a.ndim not in (n + 1, n + 2):
        raise NotImplementedError(
            "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now: pad the last dimension of 2D or 3D, the last "
            f"two of 3D or 4D, the last three of 4D or 5D input; got {len(pad)} amounts for {input._a.ndim}D"
        )
    return _from_itself(input, tuple([int(p) for p in pad]), mode, n)


def _from_itself(input: Tensor, amount: tuple[int, ...], mode: str, n: int) -> Tensor:
    shape = input._a.shape
    sizes = shape[len(shape) - n :][::-1]
    if 0 in shape[len(shape) - n - 1 :]:
        raise RuntimeError(
            f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {list(shape)}"
        )
    limit = {"reflect": -1, "circular": 0}
    for i, size in enumerate(sizes):
        before, after = amount[2 * i], amount[2 * i + 1]
        if mode in limit and max(before, after) > size + limit[mode]:
            said = (
                f"Padding size should be less than the corresponding input dimension, but got: padding ({before}, {after}) at "
                f"dimension {len(shape) - 1 - i} of input {list(shape)}"
                if mode == "reflect"
                else f"Padding value causes wrapping around more than once: ({before}, {after}) for size {size}"
            )
            raise RuntimeError(said)
        if size + before + after < (0 if mode == "circular" else 1):
            raise RuntimeError(
                f"input ({list(shape)}) is too small: padding ({before}, {after}) leaves a size of {size + before + after} at "
                f"dimension {len(shape) - 1 - i}"
            )
    return call(ROWS[f"{_ROWS[mode]}{n}d"], (input,), pad=amount)
