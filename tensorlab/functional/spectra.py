"""Spectra of short stretches of a signal, and the signal back from them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tensorlab import dispatch
from tensorlab.dispatch import call
from tensorlab.functional.arguments import need_tensor
from tensorlab.functional.complexes import real, view_as_real
from tensorlab.functional.indexing import index_select
from tensorlab.functional.joining import cat
from tensorlab.functional.pointwise import add, div, mul
from tensorlab.functional.shapes import narrow, reshape, transpose, unfold, unsqueeze
from tensorlab.ops import ROWS

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    stft istft
"""


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """Fourier transforms of short, overlapping stretches of a signal ``[T]`` or ``[B, T]``: ``[B, frequencies, frames]``.

    Each stretch has ``n_fft`` points, begins ``hop_length`` (a quarter of that) after the one before, and is multiplied by
    ``window``. ``center`` puts the middle of the first stretch on the first point; ``pad_mode`` says what lies outside. Real signals
    give one half of each spectrum unless ``onesided`` is false. ``return_complex=False`` gives real and imaginary parts in a last
    dimension. Raises ``RuntimeError`` for sizes that do not fit.

    >>> import tensorlab as tl
    >>> tl.stft(tl.ones(32), 8, window=tl.hann_window(8), return_complex=True).shape
    tensorlab.Size([5, 17])
    """
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    hop, length = n_fft // 4 if hop_length is None else hop_length, n_fft if win_length is None else win_length
    needed = input._a.dtype.kind == "c" or (window is not None and window._a.dtype.kind == "c")
    if return_complex is None:
        if not needed:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs: return_complex=True"
            )
        return_complex = True
    x = _need_signal(input)
    if center:
        x = _padded(x, n_fft // 2, pad_mode)
    _need_sizes("stft", x._a.shape[-1], n_fft, hop, length, window)
    shaped = None if window is None else _centered(window, length, n_fft)
    if shaped is None and length < n_fft:
        shaped = _centered(add(x._zeros((length,)), 1), length, n_fft)
    frames = unfold(x, -1, n_fft, hop)
    frames = frames if shaped is None else mul(frames, shaped)
    complex_input = frames._a.dtype.kind == "c"
    if onesided and complex_input:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    scale = "sqrt" if normalized else "1"
    if complex_input:
        y = call(ROWS["fft_c2c"], (frames,), dim=(frames._a.ndim - 1,), scale=scale, forward=True)
    else:
        half = onesided is None or bool(onesided)
        y = call(ROWS["fft_r2c"], (frames,), dim=(frames._a.ndim - 1,), scale=scale, onesided=half)
    y = transpose(y, -2, -1)
    y = y if input._a.ndim == 2 else reshape(y, y._a.shape[1:])
    return y if return_complex else view_as_real(y)


def _need_signal(input: Tensor) -> Tensor:
    """The signal as a batch of them."""
    if input._a.dtype.kind in "biu":
        raise RuntimeError(f"stft(): expected a tensor of floating point or complex values, got {input.dtype.name}")
    if input._a.ndim not in (1, 2):
        raise RuntimeError(f"stft(): expected a 1D or 2D tensor, got {input._a.ndim}D")
    return input if input._a.ndim == 2 else unsqueeze(input, 0)


def _need_sizes(op: str, points: int, n_fft: int, hop: int, length: int, window: Tensor | None) -> None:
    if not 0 < n_fft <= points:
        raise RuntimeError(f"{op}(): expected 0 < n_fft < {points}, but got n_fft={n_fft}")
    if hop <= 0:
        raise RuntimeError(f"{op}(): expected hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise RuntimeError(f"{op}(): expected 0 < win_length <= n_fft, but got win_length={length}")
    if window is not None:
        need_tensor(op, "window", 5, window)
        if window._a.shape != (length,):
            raise RuntimeError(
                f"{op}(): expected a 1D window tensor of size equal to win_length={length}, but got window with size "
                f"{list(window._a.shape)}"
            )


def _centered(window: Tensor, length: int, n_fft: int) -> Tensor:
    """A window in the middle of ``n_fft`` points, zeros around it."""
    if length == n_fft:
        return window
    left = (n_fft - length) // 2
    return cat([window._zeros((left,)), window, window._zeros((n_fft - length - left,))], 0)


def _padded(x: Tensor, pad: int, mode: str) -> Tensor:
    """A signal with ``pad`` more points on both sides."""
    n = x._a.shape[-1]
    if mode == "constant":
        zeros = x._zeros((*x._a.shape[:-1], pad))
        return cat([zeros, x, zeros], -1)
    at = np.arange(-pad, n + pad)
    if mode == "reflect":
        if pad >= n:
            raise RuntimeError(
                f"stft(): Padding size should be less than the corresponding input dimension, but got: padding ({pad}, {pad}) for a "
                f"signal of {n} points"
            )
        at = np.where(at < 0, -at, np.where(at >= n, 2 * (n - 1) - at, at))
    elif mode == "replicate":
        at = at.clip(0, n - 1)
    elif mode == "circular":
        if pad > n:
            raise RuntimeError(f"stft(): Padding value causes wrapping around more than once: {pad} for {n} points")
        at = at % n
    else:
        raise NotImplementedError(f"Unrecognised padding mode {mode}; it is constant, reflect, replicate or circular")
    return index_select(x, -1, _beside(x, at))


def _beside(x: Tensor, array: Any) -> Tensor:
    """An array of numbers on the device of a tensor."""
    return dispatch.move(dispatch.wrap(array), dispatch.device_of(x._a))


def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal of which ``stft`` with the same arguments gives ``input`` (``[B, frequencies, frames]``), by least squares.

    Stretches are added where they overlap and divided by the sum of squared windows. Raises ``RuntimeError`` where that is 0 or
    sizes do not fit. ``length`` cuts the signal, or fills it up with zeros.
    """
    hop, size = n_fft // 4 if hop_length is None else hop_length, n_fft if win_length is None else win_length
    one = _need_spectrum(input, window, n_fft, hop, size, onesided, return_complex)
    x = input if input._a.ndim == 3 else unsqueeze(input, 0)
    if window is None:
        window = add(real(x)._zeros((size,)), 1)
    shaped = _centered(window, size, n_fft)
    scale, last = "sqrt" if normalized else "n", x._a.ndim - 1
    x = transpose(x, -2, -1)
    if return_complex:
        frames = call(ROWS["fft_c2c"], (x,), dim=(last,), scale=scale, forward=False)
    else:
        half = x if one else narrow(x, last, 0, n_fft // 2 + 1)
        frames = call(ROWS["fft_c2r"], (half,), dim=last, scale=scale, n=n_fft)
    y = _overlapped(mul(frames, reshape(shaped, (1, 1, n_fft))), hop)
    envelope = _overlapped(mul(shaped, shaped).expand(1, frames._a.shape[1], n_fft), hop)
    start, points = n_fft // 2 if center else 0, y._a.shape[-1]
    stop = start + length if length is not None else points - n_fft // 2 if center else points
    end = min(stop, points)
    y, envelope = narrow(y, -1, start, end - start), narrow(envelope, -1, start, end - start)
    if envelope._a.size and float(abs(envelope.detach()).min()) < 1e-11:
        raise RuntimeError(
            f"istft(): window overlap add min: the squared windows, {hop} points apart, sum to 0 somewhere, so the signal cannot be told "
            "there. Use a smaller hop_length, a window without zeros at its ends, or center=True."
        )
    y = div(y, envelope)
    if stop > end:
        warnings.warn(
            "The length of signal is shorter than the length parameter: zeros follow it. Check length, center and hop_length.",
            stacklevel=3,
        )
        y = cat([y, y._zeros((y._a.shape[0], stop - end))], -1)
    return y if input._a.ndim == 3 else reshape(y, y._a.shape[1:])


def _need_spectrum(
    x: Tensor, window: Any, n_fft: int, hop: int, size: int, onesided: bool | None, return_complex: bool
) -> bool:
    """Whether the spectrum holds one half. Raises ``RuntimeError`` for arguments that do not fit each other."""
    if x._a.dtype.kind != "c":
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    if x._a.ndim not in (2, 3):
        raise RuntimeError(f"istft(): expected a tensor with 2 or 3 dimensions, got {x._a.ndim}")
    if not x._a.size:
        raise RuntimeError("istft(): input tensor cannot be empty.")
    complex_window = window is not None and window._a.dtype.kind == "c"
    if complex_window and not return_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    bins = x._a.shape[-2]
    one = not (complex_window or return_complex) and bins != n_fft if onesided is None else bool(onesided)
    if one and (complex_window or return_complex):
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    wanted = n_fft // 2 + 1 if one else n_fft
    if bins != wanted:
        said = "n_fft / 2 + 1 when onesided=True" if one else "n_fft when onesided=False"
        raise RuntimeError(
            f"istft(): expected the frequency dimension (2nd to the last) of the input tensor to match {said}, which is {wanted}, but "
            f"got {bins}"
        )
    if not 0 < hop <= size:
        raise RuntimeError(f"istft(): expected 0 < hop_length <= win_length, but got {hop} and {size}")
    if not 0 < size <= n_fft:
        raise RuntimeError(f"istft(): expected 0 < win_length <= n_fft, but got {size} and {n_fft}")
    if window is not None and window._a.shape != (size,):
        raise RuntimeError(f"istft(): Invalid window shape. window has to be 1D and length of `win_length`, {size}")
    return one


def _overlapped(frames: Tensor, hop: int) -> Tensor:
    """Stretches ``[B, frames, n]`` added up, each ``hop`` after the one before: ``[B, hop * (frames - 1) + n]``."""
    batch, count, n = frames._a.shape
    shape = (batch, hop * (count - 1) + n)
    return call(ROWS["unfold_backward"], (frames,), shape=shape, dim=1, size=n, step=hop)
