"""``tensorlab.cuda`` with GPUs, without a GPU, and without CuPy."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import tensorlab as tl


def test_two_gpus_are_found_and_waited_for(gpu: Any) -> None:
    assert tl.cuda.is_available()
    assert tl.cuda.device_count() == 2
    assert tl.cuda.current_device() == 0
    tl.cuda.synchronize()
    tl.cuda.synchronize(1)
    tl.cuda.synchronize("cuda:0")
    assert gpu.synchronized == [0, 1, 0]
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        tl.cuda.synchronize("cpu")


def test_a_gpu_says_its_name_and_how_much_of_its_memory_is_used(gpu: Any) -> None:
    assert [tl.cuda.get_device_name(), tl.cuda.get_device_name(1)] == ["GPU 0", "GPU 1"]
    assert tl.cuda.memory_allocated(1) <= tl.cuda.memory_reserved(1)
    tl.cuda.empty_cache()
    gpu.devices = 0
    assert tl.cuda.memory_allocated() == tl.cuda.memory_reserved() == 0
    tl.cuda.empty_cache()


def test_a_gpu_that_is_not_there_is_an_error_that_says_which_are(gpu: Any) -> None:
    for call in (lambda: tl.zeros(2, device="cuda:5"), lambda: tl.zeros(2).cuda(5), lambda: tl.cuda.synchronize(5)):
        with pytest.raises(RuntimeError, match="'cuda:5' was asked for .*the GPUs here are cuda:0 to cuda:1"):
            call()


def test_cupy_without_a_gpu_is_no_gpu(gpu: Any) -> None:
    gpu.devices = 0
    assert not tl.cuda.is_available()
    assert tl.cuda.device_count() == 0
    for call in (
        tl.cuda.synchronize,
        tl.cuda.current_device,
        lambda: tl.zeros(2, device="cuda"),
        lambda: tl.zeros(2).cuda(),
    ):
        with pytest.raises(RuntimeError, match="CuPy is installed, but finds no CUDA GPU"):
            call()


def test_without_cupy_nothing_fails_until_a_gpu_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from tensorlab import backend

    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.delitem(sys.modules, "tensorlab.backend.cuda", raising=False)
    monkeypatch.delattr(backend, "cuda", raising=False)
    assert tl.cuda.is_available() is False
    assert tl.cuda.device_count() == 0
    assert tl.ones(2).cpu().tolist() == [1, 1]
    for call in (
        lambda: tl.ones(2).cuda(),
        lambda: tl.ones(2).to("cuda:0"),
        lambda: tl.ones(2, device="cuda"),
        lambda: tl.tensor([1.0], device="cuda"),
        tl.cuda.synchronize,
        tl.cuda.current_device,
    ):
        with pytest.raises(RuntimeError, match=r"CuPy cannot be imported .*jupyter-tensorlab\[cuda12\].*device='cpu'"):
            call()


def test_importing_tensorlab_and_its_cuda_loads_no_cupy() -> None:
    code = "import sys, tensorlab; tensorlab.cuda; assert 'cupy' not in sys.modules; print(tensorlab.ones(2).device)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "cpu"
