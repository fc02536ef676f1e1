"""Devices as objects, the default device, and moving tensors by name."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import pytest

import tensorlab as tl


def test_a_device_is_a_value() -> None:
    one = tl.device("cuda:1")
    assert one == tl.device("cuda", 1) == tl.device(one) == tl.device(type="cuda", index=1) == tl.device(1)
    assert len({one, tl.device("cuda", 1), tl.device("cuda"), tl.device("cpu"), tl.device("cpu:0")}) == 4
    assert (repr(one), str(one)) == ("device(type='cuda', index=1)", "cuda:1")
    assert (repr(tl.device("cpu")), tl.device("cpu").index) == ("device(type='cpu')", None)
    assert copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
    assert one != "cuda:1"
    with pytest.raises(AttributeError, match="not writable"):
        one.index = 3


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (("",), RuntimeError, "must not be empty"),
        (("gpu",), RuntimeError, "Expected one of cpu, cuda device type at start of device string: gpu"),
        (("cuda:",), RuntimeError, "Invalid device string: 'cuda:'"),
        (("cuda:a",), RuntimeError, "Invalid device string"),
        (("cuda:01",), RuntimeError, "Invalid device string"),
        (("cuda:-1",), RuntimeError, "Invalid device string"),
        (("cuda:0:1",), RuntimeError, "Invalid device string"),
        (("cuda:0", 1), RuntimeError, "must not include an index"),
        (("cuda", -1), RuntimeError, "must not be negative"),
        ((-1,), RuntimeError, "must not be negative"),
        (("cuda", "1"), TypeError, "'index' .* must be int, not str"),
        ((None,), TypeError, "named by text"),
        ((1.5,), TypeError, "named by text"),
        ((True,), TypeError, "named by text"),
    ],
)
def test_a_wrong_name_of_a_device_says_what_is_wrong(arguments: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        tl.device(*arguments)


def test_the_default_device_is_that_of_the_thread() -> None:
    assert tl.get_default_device() == tl.device("cpu")
    with tl.device("cpu:0"):
        assert tl.get_default_device() == tl.device("cpu:0")
        found: list[Any] = []
        other = threading.Thread(target=lambda: found.append(tl.get_default_device()))
        other.start()
        other.join()
        assert found == [tl.device("cpu")]
        with tl.device("cpu"):
            assert tl.get_default_device().index is None
        assert tl.get_default_device().index == 0
    tl.set_default_device("cpu:0")
    assert tl.get_default_device().index == 0
    tl.set_default_device(None)
    assert tl.get_default_device().index is None
    assert tl.get_device_module() is tl.cpu
    assert tl.get_device_module("cuda") is tl.cuda


def test_a_default_device_that_is_not_there_is_told_when_something_is_made() -> None:
    if tl.cuda.is_available():
        pytest.skip("there is a GPU")
    with tl.device("cuda"):
        for make in (lambda: tl.ones(2), lambda: tl.tensor([1.0]), lambda: tl.nn.Linear(2, 2)):
            with pytest.raises(RuntimeError, match="device 'cuda' was asked for"):
                make()
        assert tl.ones(2, device="cpu").tolist() == [1, 1]
    assert tl.ones(2).tolist() == [1, 1]


def test_to_takes_what_pytorch_takes() -> None:
    x = tl.ones(2)
    other = tl.ones(1, dtype=tl.int64)
    for same in (x.to(), x.to(None), x.to("cpu"), x.to("cpu", tl.float32), x.to(tl.float32, True), x.to(x), x.cpu()):
        assert same is x
    for copied in (
        x.to("cpu", tl.float32, False, True), x.to(tl.float32, False, True), x.to(x, False, True), x.to(copy=True),
    ):  # fmt: skip
        assert copied is not x
        assert copied.tolist() == [1, 1]
    for converted in (x.to(other), x.to(tl.int64), x.to(int), x.to(dtype=tl.int64), x.to(device="cpu", dtype=int)):
        assert converted.dtype is tl.int64


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((tl.float64, tl.float32), {}),
        ((tl.float64, "cpu"), {}),
        (("cpu",), {"device": "cpu"}),
        ((tl.float64,), {"dtype": tl.float64}),
        ((), {"copy": 1}),
        ((), {"non_blocking": 1}),
        ((), {"memory_format": 3}),
        ((), {"dtype": "float"}),
        ((), {"foo": 1}),
        (([1],), {}),
        (("cpu", tl.float32, True, True, True), {}),
    ],
)
def test_to_refuses_what_fits_no_form(args: Any, kwargs: Any) -> None:
    with pytest.raises(TypeError, match="to\\(\\) received an invalid combination of arguments - got"):
        tl.ones(2).to(*args, **kwargs)


def test_a_memory_format_that_is_there_changes_nothing() -> None:
    x = tl.ones(2, 3, 4, 5)
    last = x.to(memory_format=tl.channels_last)
    assert last.stride() == x.cpu(memory_format=tl.channels_last).stride() == (60, 1, 15, 3)
    assert last.to(memory_format=tl.channels_last) is last
    assert last.to(memory_format=tl.contiguous_format).stride() == x.stride()
    turned = tl.ones(3, 2).t()
    assert turned.to(memory_format=tl.contiguous_format) is turned
    with pytest.raises(RuntimeError, match="required rank 4"):
        turned.to("cpu", memory_format=tl.channels_last)


def test_without_a_gpu_what_needs_one_says_so_and_what_does_not_is_quiet() -> None:
    if tl.cuda.is_available():
        pytest.skip("there is a GPU")
    cuda, x = tl.cuda, tl.ones(2)
    for call in (
        cuda.Stream, cuda.Event, cuda.current_stream, cuda.default_stream, cuda.mem_get_info, cuda.get_device_properties, cuda.init,
        cuda.ipc_collect, cuda.get_device_capability, lambda: cuda.set_device(0), cuda.device(0).__enter__, x.pin_memory, x.cuda,
        lambda: tl.zeros(2, pin_memory=True), lambda: tl.tensor([1], pin_memory=True), lambda: cuda.FloatTensor(2),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="device 'cuda(:0)?' was asked for, but"):
            call()
    assert cuda.memory_stats() == {}
    assert "no GPU memory" in cuda.memory_summary()
    assert cuda.max_memory_allocated() == cuda.memory_held_by_graph() == 0
    cuda.reset_peak_memory_stats()
    cuda.manual_seed_all(0)
    assert not cuda.is_bf16_supported()
    assert not cuda.is_initialized()
    assert not x.is_pinned()
    assert x.get_device() == -1
    with cuda.stream(None), cuda.device(-1), cuda.nvtx.range("quiet"):
        pass
    with pytest.raises(RuntimeError, match="must be cuda device, but got cpu"):
        x.cuda("cpu")


def test_the_cpu_answers_as_a_device_does() -> None:
    cpu = tl.cpu
    assert cpu.is_available()
    assert cpu.is_initialized()
    assert (cpu.device_count(), cpu.current_device()) == (1, "cpu")
    stream = cpu.current_stream()
    with cpu.stream(stream):
        event = stream.record_event()
    stream.wait_event(event)
    stream.wait_stream(cpu.Stream())
    event.record()
    event.wait()
    event.synchronize()
    assert event.query()
    cpu.synchronize()
    cpu.set_device("cpu")
