"""Streams, events and the current GPU, as far as a stand-in can tell: what is asked of CuPy, and in which order."""

from __future__ import annotations

import gc
from typing import Any

import pytest

import tensorlab as tl
from tensorlab import pinned

cuda = tl.cuda


def test_a_device_is_the_current_one_inside_a_with_block(gpu: Any) -> None:
    with cuda.device(1):
        assert cuda.current_device() == 1
        assert str(tl.ones(2, device="cuda").device) == "cuda:1"
        with cuda.device("cuda:0"):
            assert cuda.current_device() == 0
        assert cuda.current_device() == 1
    assert cuda.current_device() == 0
    for nothing in (cuda.device(None), cuda.device(-1), cuda.device_of(tl.ones(1))):
        with nothing:
            assert cuda.current_device() == 0
    with cuda.device_of(tl.ones(1, device="cuda:1")):
        assert cuda.current_device() == 1
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        cuda.device("cpu")


def test_set_device_chooses_what_cuda_means(gpu: Any) -> None:
    cuda.set_device(1)
    assert str(tl.ones(2).cuda().device) == "cuda:1"
    cuda.set_device(-1)
    assert cuda.current_device() == 1
    cuda.set_device("cuda:0")
    assert cuda.current_device() == 0
    with pytest.raises(RuntimeError, match="the GPUs here are cuda:0 to cuda:1"):
        cuda.set_device(7)


def test_work_inside_a_stream_goes_to_it_and_the_stream_before_comes_back(gpu: Any) -> None:
    side = cuda.Stream()
    before = cuda.current_stream()
    assert before == cuda.default_stream()
    assert before.cuda_stream == 0
    with cuda.stream(side) as nothing:
        assert nothing is None
        assert cuda.current_stream() == side != before
    assert cuda.current_stream() == before
    with side as inside:
        assert inside is side
        assert cuda.current_stream() == side
    with cuda.stream(None):
        assert cuda.current_stream() == before
    assert len({side, cuda.Stream(), before}) == 3
    assert repr(side).startswith("<tensorlab.cuda.Stream device=cuda:0 cuda_stream=0x")


def test_a_stream_of_another_gpu_makes_that_the_current_one(gpu: Any) -> None:
    other = cuda.Stream(device=1, priority=-1)
    assert (str(other.device), other.device_index, other.priority) == ("cuda:1", 1, -1)
    with cuda.stream(other):
        assert cuda.current_device() == 1
        assert cuda.current_stream() == other
        assert cuda.current_stream(0) == cuda.default_stream(0)
    assert cuda.current_device() == 0
    assert cuda.current_stream(1) == cuda.default_stream(1)


def test_streams_wait_for_each_other_by_events(gpu: Any) -> None:
    first, second = cuda.Stream(), cuda.Stream()
    second.wait_stream(first)
    (_, recorded_on, mark), (_, waiting, waited_for) = gpu.log
    assert (recorded_on, waiting, waited_for) == (first.cuda_stream, second.cuda_stream, mark)
    gpu.log.clear()
    event = first.record_event()
    second.wait_event(event)
    event.synchronize()
    first.synchronize()
    assert [entry[0] for entry in gpu.log] == ["record", "wait", "synchronize", "synchronize"]
    gpu.busy = True
    assert not first.query()
    assert not event.query()
    first.synchronize()
    assert first.query()


def test_events_measure_the_time_between_them(gpu: Any) -> None:
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    assert start.query()
    assert start.device is None
    assert repr(start) == "<tensorlab.cuda.Event uninitialized>"
    with pytest.raises(ValueError, match="must be recorded"):
        start.elapsed_time(end)
    start.record()
    end.record(cuda.Stream())
    assert start.elapsed_time(end) == 1.5
    gpu.busy = True
    with pytest.raises(RuntimeError, match="completed before calculating"):
        start.elapsed_time(end)
    with pytest.raises(ValueError, match="enable_timing=True"):
        cuda.Event().elapsed_time(end)
    with pytest.raises(RuntimeError, match="Event device cuda:0 does not match recording stream's device cuda:1"):
        start.record(cuda.Stream(1))


def test_a_stream_of_another_library_can_be_used(gpu: Any) -> None:
    foreign = cuda.ExternalStream(0x77, 1)
    assert (foreign.cuda_stream, str(foreign.device)) == (0x77, "cuda:1")
    with cuda.stream(foreign):
        assert cuda.current_stream().cuda_stream == 0x77
    assert cuda.get_stream_from_external(0x77, 1) == foreign


def test_recorded_memory_outlives_its_tensor_until_the_stream_is_through(gpu: Any) -> None:
    side = cuda.Stream()
    x = tl.ones(1000, device="cuda")
    view = x[10:]
    x.record_stream(side)
    gpu.busy = True
    del x, view
    gc.collect()
    assert cuda.memory_allocated() == 4096
    pinned.release()
    assert cuda.memory_allocated() == 4096
    gpu.busy = False
    cuda.empty_cache()
    assert cuda.memory_allocated() == cuda.memory_reserved() == 0
    with pytest.raises(RuntimeError, match="only memory of a GPU"):
        tl.ones(2).record_stream(side)
    with pytest.raises(TypeError, match="must be Stream, not NoneType"):
        tl.ones(2, device="cuda").record_stream(None)


def test_stretches_for_a_profiler_nest(gpu: Any) -> None:
    assert cuda.nvtx.range_push("outer") == 0
    with cuda.nvtx.range("step {}", 3):
        cuda.nvtx.mark("here")
    assert cuda.nvtx.range_pop() == 0
    assert gpu.log == [("push", "outer"), ("push", "step 3"), ("mark", "here"), ("pop",), ("pop",)]
