"""Streams, events, memory, chains and shared memory on a real GPU."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tensorlab import backend

cuda, F = tl.cuda, tl.nn.functional


def test_work_on_a_side_stream_is_waited_for() -> None:
    x, side = tl.ones(1 << 20, device="cuda"), cuda.Stream()
    side.wait_stream(cuda.current_stream())
    with cuda.stream(side):
        assert cuda.current_stream() == side
        y = x * 2 + 1
    cuda.current_stream().wait_stream(side)
    y.record_stream(cuda.current_stream())
    assert y.sum().item() == 3 << 20
    assert cuda.current_stream() == cuda.default_stream()


def test_events_measure_milliseconds() -> None:
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    a = tl.rand(1024, 1024, device="cuda")
    start.record()
    for _ in range(10):
        a = a @ a / 512
    end.record()
    end.synchronize()
    assert end.query()
    assert 0 < start.elapsed_time(end) < 10_000


def test_counters_agree_with_the_pool() -> None:
    import cupy

    gc.collect()
    cuda.reset_peak_memory_stats()
    before = cuda.memory_allocated()
    x = tl.zeros(1 << 20, device="cuda")
    y = x + x
    assert cuda.memory_allocated() - before == 8 << 20
    assert cuda.memory_allocated() == cupy.get_default_memory_pool().used_bytes()
    del x, y
    gc.collect()
    assert cuda.memory_allocated() == before
    assert cuda.max_memory_allocated() - before == 8 << 20
    assert cuda.memory_stats()["allocation.all.peak"] >= 2
    cuda.empty_cache()
    free, total = cuda.mem_get_info()
    assert 0 < free <= total == cuda.get_device_properties().total_memory


def test_what_a_graph_holds_is_free_after_backward() -> None:
    x = tl.ones(1 << 20, device="cuda", requires_grad=True)
    loss = x.exp().sum()
    assert cuda.memory_held_by_graph() == 4 << 20
    loss.backward()
    assert cuda.memory_held_by_graph() == 0


def test_page_locked_memory_is_fetched_while_the_program_goes_on() -> None:
    x = tl.rand(1000, 100).t().pin_memory()
    assert x.is_pinned()
    there = x.to("cuda", non_blocking=True)
    cuda.synchronize()
    assert tl.equal(there.cpu(), x)


@pytest.mark.parametrize("dtype", [tl.float32, tl.float64], ids=str)
@pytest.mark.parametrize(
    "call",
    [
        tl.sigmoid, F.silu, F.gelu, lambda x: F.gelu(x, approximate="tanh"), lambda x: F.softmax(x, -1), lambda x: F.softmax(x, 0),
        lambda x: F.layer_norm(x, (7,), x[0].detach(), x[1].detach()),
    ],
)  # fmt: skip
def test_chains_and_their_gradients_are_those_of_the_cpu(call: Any, dtype: Any) -> None:
    host = tl.linspace(-4, 4, 35, dtype=dtype).reshape(5, 7).requires_grad_()
    there = host.detach().cuda().requires_grad_()
    for x in (host, there):
        (call(x) * tl.linspace(0, 1, 7, dtype=dtype, device=x.device)).sum().backward()
    tolerance = 1e-5 if dtype is tl.float32 else 1e-12
    np.testing.assert_allclose(
        call(there).detach().cpu().numpy(), call(host).detach().numpy(), rtol=tolerance, atol=tolerance
    )
    np.testing.assert_allclose(there.grad.cpu().numpy(), host.grad.numpy(), rtol=tolerance, atol=tolerance)


def test_every_chain_runs_on_the_gpu_in_both_types() -> None:
    from tensorlab.backend.chains import CHAINS

    for chain in CHAINS.values():
        for kind in (np.float32, np.float64):
            found = backend.gpu().xp.ones(3, kind)
            inputs = [found * (i + 1) for i in range(len(chain.inputs))]
            backend.gpu().chain(chain.name)(*inputs, *[found.copy() for _ in chain.outputs])


@pytest.mark.parametrize("dtype", [tl.bool, tl.int64, tl.float16, tl.bfloat16, tl.float32, tl.complex64], ids=str)
def test_memory_is_shared_with_cupy(dtype: Any) -> None:
    import cupy

    x = tl.ones(2, 3, device="cuda").to(dtype).t()
    back = tl.from_dlpack(x)
    assert (back.dtype, back.data_ptr(), back.stride()) == (dtype, x.data_ptr(), x.stride())
    if dtype is not tl.bfloat16:
        seen = cupy.asarray(x)
        assert seen.data.ptr == x.data_ptr() == cupy.from_dlpack(x).data.ptr
        assert tl.as_tensor(seen).data_ptr() == x.data_ptr()


def test_the_default_device_can_be_the_gpu() -> None:
    with tl.device("cuda"):
        net = tl.nn.Linear(3, 2)
        assert net(tl.rand(4, 3)).is_cuda
    assert not tl.ones(1).is_cuda
