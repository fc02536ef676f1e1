"""Spectra on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

import tensorlab as tl


def test_stft_and_istft_of_a_signal_on_a_gpu_stay_there(gpu: Any) -> None:
    signal = tl.tensor(np.random.default_rng(0).standard_normal((2, 64)))
    there, window = signal.to("cuda"), tl.hann_window(16, dtype=tl.float64, device="cuda")
    gpu.copies.clear()
    spectra = tl.stft(there, 16, window=window, return_complex=True)
    back = tl.istft(spectra, 16, window=window, length=64)
    assert not gpu.copied("out")
    assert str(spectra.device) == str(back.device) == "cuda:0"
    np.testing.assert_allclose(back.cpu().numpy(), signal.numpy(), atol=1e-12)


def test_windows_and_frequencies_are_made_on_the_device_asked_for(gpu: Any) -> None:
    for made in (
        tl.kaiser_window(4, device="cuda"),
        tl.signal.windows.hann(4, device="cuda"),
        tl.fft.fftfreq(4, device="cuda"),
    ):
        assert made.device.type == "cuda"
