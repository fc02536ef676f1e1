"""Fourier transforms, spectra of short stretches and windows against PyTorch, where its table of operations does not reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tests.parity import oracle

torch = oracle.torch


def x(lib: Any, *shape: int, **kwargs: Any) -> Any:
    return lib.ones(shape, **kwargs)


def spectrum(lib: Any) -> Any:
    return stft(lib, 2, 64, window=lib.hann_window(16))


def stft(lib: Any, *shape: int, n: int = 16, **options: Any) -> Any:
    return lib.stft(x(lib, *shape), n, **{"return_complex": True, **options})


def istft(lib: Any, **options: Any) -> Any:
    return lib.istft(spectrum(lib), 16, **options)


#: (a call of either library, words that both errors must have)
WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "float16": (lambda lib: lib.fft.fft(x(lib, 3, dtype=lib.float16)), "Unsupported dtype"),
    "no points": (lambda lib: lib.fft.fft(x(lib, 3), n=0), "Invalid number of data points .0. specified"),
    "a dimension twice": (lambda lib: lib.fft.fftn(x(lib, 3, 4), dim=(0, 0)), "FFT dims must be unique"),
    "sizes and dimensions of unequal number": (lambda lib: lib.fft.fftn(x(lib, 3, 4), s=(2,), dim=(0, 1)), "must have the same length"),
    "too many sizes": (lambda lib: lib.fft.fftn(x(lib, 3, 4), s=(2, 2, 2)), "Got shape with 3 values but input"),
    "an unknown norm": (lambda lib: lib.fft.fft(x(lib, 3), norm="a"), 'Invalid normalization mode: "a"'),
    "rfft of complex numbers": (lambda lib: lib.fft.rfft(x(lib, 3) + 0j), "rfft expects a real input tensor"),
    "rfftn over nothing": (lambda lib: lib.fft.rfftn(x(lib, 3), dim=()), "must transform at least one axis"),
    "irfftn over nothing": (lambda lib: lib.fft.irfftn(x(lib, 3), dim=()), "must transform at least one axis"),
    "a number transformed": (lambda lib: lib.fft.fft(lib.tensor(1.0)), "tensor has no dimensions|Dimension"),
    "irfft of one point": (lambda lib: lib.fft.irfft(x(lib, 1)), "Invalid number of data points .0. specified"),
    "a dimension out of range": (lambda lib: lib.fft.fft(x(lib, 3), dim=3), "Dimension out of range"),
    "fft2 of a vector": (lambda lib: lib.fft.fft2(x(lib, 3)), "Dimension out of range"),
    "stft without return_complex": (lambda lib: lib.stft(x(lib, 64), 16), "requires the return_complex parameter"),
    "stft of three dimensions": (lambda lib: stft(lib, 1, 2, 64), "expected a 1D or 2D tensor"),
    "stft that stands still": (lambda lib: stft(lib, 64, hop_length=0), "expected hop_length > 0"),
    "stft with a long window": (lambda lib: stft(lib, 64, win_length=20), "expected 0 < win_length <= n_fft"),
    "stft with another window": (lambda lib: stft(lib, 64, window=x(lib, 3)), "1D window tensor of size equal to win_length=16"),
    "stft padded too far": (lambda lib: stft(lib, 64, n=200), "Padding size should be less"),
    "stft of a short signal": (lambda lib: stft(lib, 64, n=200, center=False), "expected 0 < n_fft < 64"),
    "stft of integers": (lambda lib: lib.stft(x(lib, 64, dtype=lib.int64), 16, return_complex=True), "floating point or complex values"),
    "half the spectrum of complex numbers": (lambda lib: lib.stft(x(lib, 64) + 0j, 16, onesided=True), "Cannot have onesided output"),
    "stft padded in an unknown way": (lambda lib: stft(lib, 64, pad_mode="foo"), "Unrecognised padding mode"),
    "stft aligned though centered": (lambda lib: stft(lib, 64, align_to_window=True), "align_to_window should only be set"),
    "istft of another size": (lambda lib: lib.istft(spectrum(lib), 18), "to match n_fft / 2 . 1"),
    "istft of real numbers": (lambda lib: lib.istft(x(lib, 9, 17), 16), "requires a complex-valued input tensor"),
    "istft through a window of zeros": (lambda lib: istft(lib, window=lib.zeros(16)), "window overlap add min"),
    "istft through a window that starts at 0": (lambda lib: istft(lib, window=lib.hann_window(16), center=False), "window overlap add min"),
    "istft that jumps": (lambda lib: istft(lib, hop_length=17), "0 < hop_length <= win_length"),
    "istft of complex numbers from one half": (lambda lib: istft(lib, onesided=True, return_complex=True), "Cannot have onesided output"),
    "istft with another window": (lambda lib: istft(lib, window=x(lib, 3)), "Invalid window shape"),
    "istft of nothing": (lambda lib: lib.istft(spectrum(lib)[..., :0], 16), "cannot be empty"),
    "istft of the whole spectrum": (lambda lib: istft(lib, onesided=False), "n_fft when onesided=False"),
    "istft through a complex window": (lambda lib: istft(lib, window=lib.hann_window(16) + 0j), "Complex windows are incompatible"),
    "a window of negative size": (lambda lib: lib.signal.windows.hann(-1), "requires non-negative window length, got M=-1"),
    "a window of integers": (lambda lib: lib.signal.windows.kaiser(4, dtype=lib.int64), "expects float32 or float64 dtypes"),
    "a gaussian without width": (lambda lib: lib.signal.windows.gaussian(4, std=0), "Standard deviation must be positive"),
    "a periodic hann window of integers": (lambda lib: lib.hann_window(4, dtype=lib.int64), "expects floating point dtypes"),
    "a hann window of negative size": (lambda lib: lib.hann_window(-1), "requires non-negative window_length"),
    "a complex hann window": (lambda lib: lib.hann_window(4, dtype=lib.complex64), "not implemented for"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_call_says_what_pytorch_says(what: str) -> None:
    call, words = WRONG[what]
    with pytest.raises(Exception, match=words) as theirs:
        call(torch)
    with pytest.raises(type(theirs.value), match=words):
        call(tl)


@pytest.mark.parametrize("size", [0, 1, 2, 5, 8])
@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize(
    "name", ["hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window"]
)
def test_windows_are_those_of_pytorch(name: str, periodic: bool, size: int) -> None:
    for dtype in (torch.float32, torch.float64, torch.float16):
        expected = getattr(torch, name)(size, periodic, dtype=dtype)
        found = getattr(tl, name)(size, periodic, dtype=oracle.DTYPES[dtype])
        assert oracle.differences(found, expected) == []


def test_windows_take_numbers_of_their_own() -> None:
    assert oracle.differences(tl.hamming_window(7, False, 0.6, 0.3), torch.hamming_window(7, False, 0.6, 0.3)) == []
    assert oracle.differences(tl.kaiser_window(7, True, 4.0), torch.kaiser_window(7, True, 4.0)) == []
    assert tl.hann_window(4, requires_grad=True).requires_grad


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_frequencies_are_those_of_pytorch(n: int) -> None:
    for name in ("fftfreq", "rfftfreq"):
        for options in ({}, {"dtype": "float64"}):
            theirs = {key: getattr(torch, value) for key, value in options.items()}
            mine = {key: getattr(tl, value) for key, value in options.items()}
            expected = getattr(torch.fft, name)(n, 0.5, **theirs)
            assert oracle.differences(getattr(tl.fft, name)(n, 0.5, **mine), expected) == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("pad_mode", ["reflect", "constant", "replicate", "circular"])
@pytest.mark.parametrize("options", [
    {"return_complex": True}, {"return_complex": False}, {"return_complex": True, "normalized": True, "onesided": False},
    {"return_complex": True, "win_length": 10, "hop_length": 3},
], ids=str)  # fmt: skip
def test_stft_pads_scales_and_splits_as_pytorch_does(pad_mode: str, options: dict[str, Any]) -> None:
    torch.manual_seed(0)
    signal = torch.randn(3, 50, dtype=torch.float64)
    window = torch.rand(options.get("win_length", 16), dtype=torch.float64)
    for w in (None, window, window + 0.5j * window):
        if w is not None and w.is_complex() and options["return_complex"] is False:
            continue
        expected = torch.stft(signal, 16, window=w, pad_mode=pad_mode, **options)
        found = tl.stft(oracle.ours(signal), 16, window=oracle.ours(w), pad_mode=pad_mode, **options)
        assert oracle.differences(found, expected, strides=True) == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("length", [None, 40, 50, 70])
def test_istft_gives_the_signal_back_cut_or_filled_up_to_a_length(length: int | None) -> None:
    signal = torch.randn(3, 50, dtype=torch.float64)
    window = torch.hann_window(16, dtype=torch.float64)
    spectra = torch.stft(signal, 16, window=window, return_complex=True)
    found = tl.istft(oracle.ours(spectra), 16, window=oracle.ours(window), length=length)
    assert oracle.differences(found, torch.istft(spectra, 16, window=window, length=length)) == []
    n = min(found.shape[1], 48 if length is None else length)
    np.testing.assert_allclose(found.numpy()[:, : min(n, 50)], signal.numpy()[:, : min(n, 50)], atol=1e-9)


def test_a_signal_and_its_window_have_gradients_of_both_orders_through_stft_and_back() -> None:
    rng = np.random.default_rng(1)
    signal = tl.tensor(rng.standard_normal((2, 12)), requires_grad=True)
    window = tl.tensor(rng.uniform(0.5, 1, 6), requires_grad=True)

    def there_and_back(x: Any, w: Any) -> Any:
        return tl.istft(tl.stft(x, 6, window=w, return_complex=True) ** 2, 6, window=w)

    assert tl.autograd.gradcheck(there_and_back, (signal, window))
    assert tl.autograd.gradgradcheck(there_and_back, (signal, window))


@pytest.mark.parametrize(
    "name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fftn", "rfftn", "irfftn", "hfftn", "ihfftn"]
)
@pytest.mark.parametrize("norm", ["backward", "forward", "ortho"])
def test_transforms_have_gradients_of_both_orders_for_odd_and_even_sizes(name: str, norm: str) -> None:
    rng = np.random.default_rng(2)
    values = rng.standard_normal((3, 4))
    if name in ("irfft", "hfft", "irfftn", "hfftn"):
        values = values + 1j * rng.standard_normal((3, 4))
    leaf = tl.tensor(values, requires_grad=True)
    for size in (3, 4, 5, 6):
        sizes = {"s": (2, size)} if name.endswith("n") else {"n": size}
        assert tl.autograd.gradcheck(lambda x, sizes=sizes: getattr(tl.fft, name)(x, norm=norm, **sizes), (leaf,))
        assert tl.autograd.gradgradcheck(lambda x, sizes=sizes: getattr(tl.fft, name)(x, norm=norm, **sizes), (leaf,))


def test_a_transform_writes_into_a_tensor_that_exists() -> None:
    out = tl.empty(3, dtype=tl.complex64)
    assert tl.fft.rfft(tl.arange(4.0), out=out) is out
    assert oracle.differences(out, torch.fft.rfft(torch.arange(4.0))) == []


def test_what_is_no_tensor_is_a_type_error_that_names_the_argument() -> None:
    with pytest.raises(TypeError, match=r"fft\(\): argument 'input' \(position 1\) must be Tensor, not list"):
        tl.fft.fft([1.0, 2.0])
