"""What ``tensorlab.cuda`` says about memory and about the GPUs themselves."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import tensorlab as tl

cuda = tl.cuda


def test_memory_goes_up_with_tensors_and_down_when_they_are_gone(gpu: Any) -> None:
    x = tl.zeros(1000, device="cuda")
    views = [x[1:], x.view(10, 100).t(), x.detach()]
    assert cuda.memory_allocated() == 4096  # in steps of 512
    y = tl.zeros(1000, device="cuda")
    assert cuda.memory_allocated() == cuda.max_memory_allocated() == 8192
    del x, views
    gc.collect()
    assert (cuda.memory_allocated(), cuda.max_memory_allocated()) == (4096, 8192)
    assert cuda.memory_reserved() == cuda.max_memory_reserved() == 8192
    cuda.empty_cache()
    assert (cuda.memory_reserved(), cuda.max_memory_reserved()) == (4096, 8192)
    cuda.reset_peak_memory_stats()
    assert cuda.max_memory_allocated() == cuda.max_memory_reserved() == 4096
    assert y.is_cuda


def test_each_gpu_has_an_account_of_its_own(gpu: Any) -> None:
    x = tl.zeros(100, device="cuda:1")
    assert (cuda.memory_allocated(), cuda.memory_allocated(1)) == (0, 512)
    with cuda.device(1):
        assert cuda.memory_allocated() == cuda.memory_allocated("cuda") == 512
    assert cuda.memory_stats(1)["allocation.all.current"] == 1
    assert x.device.index == 1


def test_counters_can_be_read_by_name_and_as_a_table(gpu: Any) -> None:
    x = tl.zeros(100, device="cuda")
    tl.zeros(100, device="cuda")
    gc.collect()
    stats = cuda.memory_stats()
    assert stats["allocated_bytes.all.allocated"] == 1024
    assert stats["allocated_bytes.all.freed"] == 512
    assert stats["allocated_bytes.all.current"] == 512
    nested = cuda.memory_stats_as_nested_dict()
    assert nested["allocated_bytes"]["all"]["peak"] == stats["allocated_bytes.all.peak"] == 1024
    table = cuda.memory_summary()
    assert "allocated by tensors" in table
    assert "1.0 KiB" in table
    assert len(cuda.memory_summary(abbreviated=True)) < len(table)
    cuda.reset_accumulated_memory_stats()
    assert cuda.memory_stats()["allocated_bytes.all.allocated"] == 0
    assert x.is_cuda


def test_what_only_the_graph_keeps_is_told_and_is_free_after_backward(gpu: Any) -> None:
    x = tl.ones(1000, device="cuda", requires_grad=True)
    loss = (x * 2).exp().sum()
    assert cuda.memory_held_by_graph() == 4096  # the result of exp, which its gradient needs
    loss.backward()
    assert cuda.memory_held_by_graph() == 0


def test_a_part_of_the_memory_can_be_set_as_the_limit(gpu: Any) -> None:
    free, total = cuda.mem_get_info()
    assert free <= total == cuda.get_device_properties().total_memory
    assert cuda.get_per_process_memory_fraction() == 1.0
    cuda.set_per_process_memory_fraction(1e-6)
    with pytest.raises(cuda.OutOfMemoryError, match="not enough memory: you tried to allocate 4,194,304 bytes"):
        tl.zeros(1 << 20, device="cuda")
    assert cuda.memory_allocated() == 0
    for wrong, error in ((2.0, ValueError), ("half", TypeError)):
        with pytest.raises(error):
            cuda.set_per_process_memory_fraction(wrong)


def test_old_names_warn_and_work(gpu: Any) -> None:
    for old, new in (("memory_cached", "memory_reserved"), ("max_memory_cached", "max_memory_reserved")):
        with pytest.warns(FutureWarning, match=new):
            assert getattr(cuda, old)() == getattr(cuda, new)()
    for old in ("reset_max_memory_allocated", "reset_max_memory_cached"):
        with pytest.warns(FutureWarning, match="resets all peaks"):
            getattr(cuda, old)()


def test_a_gpu_says_what_it_is(gpu: Any) -> None:
    found = cuda.get_device_properties(1)
    assert (found.name, found.major, found.minor, found.multi_processor_count) == ("GPU 1", 9, 0, 132)
    assert repr(found).startswith("_CudaDeviceProperties(name='GPU 1', major=9, minor=0, total_memory=16384MB")
    assert cuda.get_device_name("cuda:0") == "GPU 0"
    assert cuda.get_device_capability() == (9, 0)
    assert cuda.is_bf16_supported()
    assert cuda.is_bf16_supported(including_emulation=False)
    assert cuda.is_tf32_supported()
    assert cuda.can_device_access_peer(0, 1)
    assert not cuda.can_device_access_peer(1, 1)
    with pytest.raises(AssertionError, match="Invalid peer device id: 5"):
        cuda.can_device_access_peer(0, 5)
    assert cuda.is_initialized()
    cuda.init()
    cuda.ipc_collect()


def test_the_version_of_cuda_is_that_of_cupy(gpu: Any) -> None:
    assert tl.version.cuda == "12.9"
    assert tl.version.__version__ == tl.__version__


def test_typed_names_make_tensors_on_a_gpu(gpu: Any) -> None:
    x = cuda.FloatTensor([1, 2])
    assert x.is_cuda
    assert isinstance(x, cuda.FloatTensor)
    assert not isinstance(x, tl.FloatTensor)
    assert isinstance(x.cpu(), tl.FloatTensor)
    assert cuda.LongTensor(2, 3).shape == (2, 3)


def test_page_locked_memory_keeps_values_and_order(gpu: Any) -> None:
    x = tl.arange(6.0).view(2, 3).t()
    there = x.pin_memory()
    assert there.is_pinned()
    assert there[1:].is_pinned()
    assert not x.is_pinned()
    assert there.stride() == (1, 3)
    assert there.tolist() == x.tolist()
    assert there.pin_memory() is there
    assert there.cuda(non_blocking=True).tolist() == x.tolist()
    for made in (
        tl.zeros(3, pin_memory=True), tl.tensor([1.0], pin_memory=True), tl.ones(2, pin_memory=True, requires_grad=True),
    ):  # fmt: skip
        assert made.is_pinned()
    assert made.requires_grad
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        x.cuda().pin_memory()
    with pytest.raises(RuntimeError, match=r"Use x.detach\(\).pin_memory\(\)"):
        tl.ones(2, requires_grad=True).pin_memory()
    with pytest.raises(RuntimeError, match="CPU device type not an accelerator"):
        x.pin_memory("cpu")


def test_gpu_memory_is_shared_by_protocol_both_ways(gpu: Any) -> None:
    import cupy

    x = tl.arange(6.0, device="cuda").view(2, 3)
    assert tuple(x.__dlpack_device__()) == (2, 0)
    assert x.__cuda_array_interface__["shape"] == (2, 3)
    assert x.__cuda_array_interface__["data"] == (x.data_ptr(), False)
    assert x.t().__cuda_array_interface__["strides"] == (4, 12)
    assert not hasattr(x, "__array_interface__")
    gpu.copies.clear()
    for back in (tl.as_tensor(cupy.asarray(x._a)), tl.from_dlpack(x), tl.asarray(x._a), tl.from_dlpack(Offered(x._a))):
        assert str(back.device) == "cuda:0"
        back[0, 0] += 1
    assert not gpu.copied("out")
    assert not gpu.copied("in")
    assert x[0, 0].item() == 4
    assert not tl.from_dlpack(x, copy=True)._a.data.ptr == x.data_ptr()
    with pytest.raises(BufferError, match="not shared"):
        tl.from_dlpack(x, device="cpu", copy=False)
    assert tl.from_dlpack(x, device="cpu").device == tl.device("cpu")
    assert tuple(tl.ones(2).__dlpack_device__()) == (1, 0)
    x.requires_grad_()
    with pytest.raises(RuntimeError, match="requires grad"):
        _ = x.__cuda_array_interface__
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        np.asarray(x.detach())


class Offered:
    """An array of which nothing is known but DLPack."""

    def __init__(self, array: Any) -> None:
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__
