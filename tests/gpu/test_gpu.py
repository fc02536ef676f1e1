"""Whether there is a GPU to test on."""

from __future__ import annotations

import pytest

import tensorlab as tl
from tensorlab import backend


def test_the_gpu_is_found_and_can_be_waited_for() -> None:
    missing = backend.why_no_gpu()
    if missing is not None:
        pytest.skip(f"tests/gpu needs a CUDA GPU, and is left out: {missing}")
    assert tl.cuda.is_available()
    assert tl.cuda.device_count() > tl.cuda.current_device() >= 0
    tl.cuda.synchronize()
