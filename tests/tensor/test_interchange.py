"""Memory shared with other libraries: NumPy's protocols, DLPack, buffers; and what refuses to be shared."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import tensorlab as tl

PLAIN = [
    tl.bool,
    tl.uint8,
    tl.int8,
    tl.int16,
    tl.int32,
    tl.int64,
    tl.float16,
    tl.float32,
    tl.float64,
    tl.complex64,
    tl.complex128,
]


class Offered:
    """An array of which nothing is known but DLPack; ``old`` knows nothing of versions."""

    def __init__(self, array: Any, old: bool = False) -> None:
        self.array, self.old = array, old

    def __dlpack__(self, **options: Any) -> Any:
        if self.old and options:
            raise TypeError("no such argument")
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("dtype", [*PLAIN, tl.bfloat16], ids=str)
@pytest.mark.parametrize("old", [False, True], ids=["versioned", "old"])
def test_every_type_goes_through_dlpack_and_comes_back_as_the_same_memory(dtype: Any, old: bool) -> None:
    x = tl.tensor([[0, 1, 2], [3, 4, 5]]).to(dtype).t()
    back = tl.from_dlpack(Offered(x, old))
    assert back.dtype is dtype
    assert (back.shape, back.stride()) == (x.shape, x.stride())
    assert back.data_ptr() == x.data_ptr()
    back[0, 0] = 1
    assert x[0, 0].item() == 1


@pytest.mark.parametrize("dtype", PLAIN, ids=str)
def test_numpy_takes_a_tensor_as_the_same_memory(dtype: Any) -> None:
    x = tl.tensor([[0, 1, 2], [3, 4, 5]]).to(dtype)[:, 1:]
    for found in (np.asarray(x), np.from_dlpack(x), x.numpy(), np.array(x, copy=False)):
        assert found.dtype == dtype.np
        assert found.strides == tuple(n * dtype.itemsize for n in x.stride())
        assert np.shares_memory(found, x.numpy())
    assert not np.shares_memory(np.array(x), x.numpy())
    assert not np.shares_memory(np.asarray(x, dtype=np.complex128), x.numpy()) or dtype is tl.complex128
    assert type(np.asarray(x).base) is not None


def test_what_is_done_to_the_array_of_a_tensor_does_not_reshape_the_tensor() -> None:
    x = tl.arange(6.0)
    array = x.numpy()
    array.setflags(write=False)
    array.shape = (2, 3)
    x += 1
    assert x.shape == (6,)
    assert array.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_a_copy_that_is_ruled_out_is_an_error() -> None:
    x = tl.ones(2)
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        x.__array__(np.float64, copy=False)
    with pytest.raises(ValueError, match="can't alias tensor with dtype 'float32' into dtype 'float64'"):
        tl.asarray(x, dtype=tl.float64, copy=False)
    with pytest.raises(ValueError, match="can't alias arbitrary sequence"):
        tl.asarray([1, 2], copy=False)
    with pytest.raises(TypeError, match="'force' must be bool"):
        x.numpy(force=1)


def test_expanded_and_empty_tensors_keep_their_strides_on_the_way() -> None:
    wide = tl.ones(3).expand(2, 3)
    assert np.from_dlpack(wide).strides == (0, 4)
    assert tl.from_dlpack(wide).stride() == (0, 1)
    assert tl.from_dlpack(np.zeros((0, 3))).shape == (0, 3)
    assert tl.from_dlpack(np.zeros(())).shape == ()


def test_a_capsule_can_be_taken_once() -> None:
    x = tl.arange(3)
    capsule = tl.to_dlpack(x)
    assert tl.utils.dlpack.from_dlpack(capsule).tolist() == [0, 1, 2]
    for wrong, why in ((capsule, "consumed only once"), ([1, 2], "list is neither"), (3, "int is neither")):
        with pytest.raises(RuntimeError, match=f"invalid capsule.*{why}"):
            tl.from_dlpack(wrong)


def test_versions_devices_and_copies_can_be_asked_for() -> None:
    x = tl.ones(2)
    assert '"dltensor_versioned"' in repr(x.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(x.__dlpack__(max_version=(0, 8)))
    for options in ({"stream": None}, {"stream": -1}, {"dl_device": (1, 0)}, {"copy": False}):
        assert tl.from_dlpack(x.__dlpack__(**options)).data_ptr() == x.data_ptr()
    assert tl.from_dlpack(x.__dlpack__(copy=True)).data_ptr() != x.data_ptr()
    assert tl.from_dlpack(x, copy=True).data_ptr() != x.data_ptr()
    assert np.from_dlpack(x, device="cpu", copy=True).tolist() == [1, 1]
    with pytest.raises(AssertionError, match="stream should be None on cpu"):
        x.__dlpack__(stream=1)
    with pytest.raises(BufferError, match="DLPack's device"):
        x.__dlpack__(dl_device=(8, 0))
    with pytest.raises(BufferError, match="ask for a copy"):
        x.__dlpack__(dl_device=(2, 0), copy=False)
    assert x.__dlpack_device__() == (tl.utils.dlpack.DLDeviceType.kDLCPU, 0)


def test_memory_of_a_device_that_is_not_known_is_refused() -> None:
    class Elsewhere(Offered):
        def __dlpack_device__(self) -> Any:
            return (8, 0)

    with pytest.raises(BufferError, match=r"DLPack's device \(8, 0\)"):
        tl.from_dlpack(Elsewhere(np.ones(2)))


def test_memory_that_is_read_backwards_is_refused_and_can_be_copied() -> None:
    backwards = np.arange(3.0)[::-1]
    for take in (tl.from_dlpack, tl.from_numpy, tl.as_tensor, tl.asarray):
        with pytest.raises(ValueError, match="stride in the given numpy array is negative"):
            take(backwards)
    assert tl.from_dlpack(backwards, copy=True).tolist() == tl.tensor(backwards).tolist() == [2, 1, 0]


def test_memory_that_may_not_be_written_is_read_and_says_so_when_written() -> None:
    array = np.arange(3.0)
    array.flags.writeable = False
    for x in (tl.from_dlpack(array), tl.from_numpy(array), tl.asarray(array)):
        assert (x * 2).tolist() == [0, 2, 4]
        with pytest.raises(RuntimeError, match=r"add_\(\): .* may not be written to.*clone\(\)"):
            x.add_(1)
        assert x._version == 0
        assert x.tolist() == [0, 1, 2]


def test_elements_that_no_tensor_has_are_refused() -> None:
    for array in (np.array(["a"]), np.array([1, 2], ">f4"), np.array([1], np.longdouble)):
        with pytest.raises(BufferError):
            tl.from_dlpack(array)


def test_what_requires_grad_leaves_by_no_way_but_detach() -> None:
    x = tl.ones(2, requires_grad=True)
    for way in (x.__dlpack__, lambda: np.from_dlpack(x), lambda: tl.from_dlpack(x), lambda: tl.to_dlpack(x)):
        with pytest.raises(BufferError, match=r"use tensor.detach\(\)"):
            way()
    for way in (
        x.numpy, x.__array__, lambda: np.asarray(x), lambda: np.array([x, x]), lambda: np.concatenate([x, x]), lambda: np.sqrt(x),
        lambda: np.add.reduce(x), lambda: np.stack([x]), lambda: np.add(np.ones(2), np.ones(2), out=x),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="requires grad"):
            way()
    assert not hasattr(x, "__array_interface__")
    assert np.from_dlpack(x.detach()).tolist() == np.asarray(x.detach()).tolist() == [1, 1]


def test_numpy_functions_take_tensors_and_write_into_them() -> None:
    x = tl.tensor([[1.0, 4.0], [9.0, 16.0]])
    assert type(np.sqrt(x)) is np.ndarray
    assert np.concatenate([x, x]).shape == (4, 2)
    assert np.add.reduce(x).tolist() == [10, 20]
    assert np.where(x > 4, x, 0).tolist() == [[0, 0], [9, 16]]
    out = tl.zeros(2, 2)
    assert np.sqrt(x, out=out) is out
    assert out.tolist() == [[1, 2], [3, 4]]
    assert out._version == 1
    array = np.ones((2, 2), np.float32)
    array += x
    assert type(array) is np.ndarray
    assert array.tolist() == [[2, 5], [10, 17]]


def test_an_array_is_a_factor_on_either_side_of_a_product() -> None:
    x, array = tl.ones(3, requires_grad=True), np.arange(3, dtype=np.float32)
    for found in (x @ array, array @ x):
        assert found.item() == 3
        assert found.requires_grad


def test_the_interface_tells_where_the_elements_lie() -> None:
    x = tl.arange(6.0).view(2, 3).t()
    told = x.__array_interface__
    assert told["shape"] == (3, 2)
    assert told["data"] == (x.data_ptr(), False)
    assert told["typestr"] == "<f4"
    assert not hasattr(tl.ones(1, dtype=tl.bfloat16), "__array_interface__")
    with pytest.raises(AttributeError, match="on non-CUDA tensor type"):
        _ = x.__cuda_array_interface__


def test_asarray_shares_what_has_memory_and_copies_numbers() -> None:
    x, array = tl.ones(2), np.arange(2.0)
    assert tl.asarray(x) is x
    assert tl.asarray(x, copy=True).data_ptr() != x.data_ptr()
    for source in (array, Offered(array), memoryview(array)):
        shared = tl.asarray(source, dtype=tl.float64)
        shared[0] += 1
    assert array[0] == 3
    data = bytearray(b"\x01\x02")
    tl.asarray(data, dtype=tl.uint8)[0] = 9
    assert data[0] == 9
    assert tl.asarray(np.float32(3)).dtype is tl.float32
    assert tl.asarray([1.0], dtype=tl.int64).tolist() == [1]
    assert tl.asarray([1.0], requires_grad=True).requires_grad
    assert tl.as_tensor(Offered(array)).data_ptr() == tl.from_numpy(array).data_ptr()
    assert tl.tensor(Offered(array)).data_ptr() != tl.from_numpy(array).data_ptr()


def test_there_is_no_buffer_of_a_tensor_itself() -> None:
    with pytest.raises(TypeError, match="bytes-like object is required"):
        memoryview(tl.ones(2))
    assert bytes(memoryview(tl.ones(2, dtype=tl.uint8).numpy())) == b"\x01\x01"


def test_a_shallow_copy_is_another_tensor_over_the_same_memory() -> None:
    x = tl.ones(2, requires_grad=True)
    y = copy.copy(x)
    assert y is not x
    assert y.requires_grad
    assert y.data_ptr() == x.data_ptr()
