"""The double is as strict as CuPy: what would fail, or go wrong without a word, on a GPU fails here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.device import facts
from tests.device.double import Silent, module


@pytest.fixture
def xp(gpu: Any) -> Any:
    import cupy

    return cupy


REFUSED: dict[str, tuple[Callable[[Any, Any], Any], type[Exception]]] = {
    "a host array beside it": (lambda xp, a: a + np.ones(3), TypeError),
    "a host array on its left": (lambda xp, a: np.ones(3) * a, TypeError),
    "a 0-dim host array": (lambda xp, a: a * np.array(2.0), TypeError),
    "becoming a host array": (lambda xp, a: np.asarray(a), TypeError),
    "becoming part of a host array": (lambda xp, a: np.array([a, a]), TypeError),
    "a function of NumPy's": (lambda xp, a: np.concatenate([a, a]), TypeError),
    "a reduction of NumPy's": (lambda xp, a: np.add.reduce(a), TypeError),
    "a host array as an index": (lambda xp, a: a[np.array([0])], TypeError),
    "a host array as a value": (lambda xp, a: a.__setitem__(..., np.ones((2, 3))), ValueError),
    "a reduction that CuPy lacks": (lambda xp, a: xp.maximum.reduce(a), NotImplementedError),
    "an argument that CuPy lacks": (lambda xp, a: xp.count_nonzero(a, axis=0, keepdims=True), TypeError),
    "an initial value": (lambda xp, a: xp.add.reduce(a, initial=1), TypeError),
    "adding to int64 by index": (lambda xp, a: xp.add.at(xp.zeros(3, int), xp.array([0]), 1), TypeError),
    "an index out of bounds": (lambda xp, a: a[xp.array([7])], Silent),
    "text": (lambda xp, a: xp.array(["a"]), TypeError),
    "strides without memory": (lambda xp, a: xp.ndarray((2,), strides=(8,)), ValueError),
    "__index__": (lambda xp, a: [1, 2][xp.array(0)], TypeError),
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_refuses(what: str, xp: Any) -> None:
    call, error = REFUSED[what]
    with pytest.raises(error):
        call(xp, xp.arange(6.0).reshape(2, 3))


def test_a_name_that_cupy_lacks_is_not_there(xp: Any) -> None:
    for name in ("insert", "spacing", "vecdot", "nested_iters"):
        assert hasattr(np, name)
        assert not hasattr(xp, name)
    assert not hasattr(xp.ndarray, "resize")


def test_numbers_and_numpy_scalars_may_stand_beside_an_array(xp: Any) -> None:
    a = xp.arange(3.0)
    for number in (2, 2.0, np.float64(2), np.int64(2), True * 2):
        assert (a * number).tolist() == [0, 2, 4]
        assert (number * a).tolist() == [0, 2, 4]
    assert np.multiply(a, a).tolist() == [0, 1, 4]  # NumPy's ufuncs hand over
    assert (a == np.array(1.0)).tolist() == [False, True, False]  # and comparisons read a 0-dim array


def test_reductions_give_arrays_and_results_are_row_major(xp: Any) -> None:
    a = xp.arange(6.0).reshape(2, 3)
    assert isinstance(a.sum(), xp.ndarray)
    assert a.sum().shape == ()
    assert (a.T + 1).strides == (16, 8)
    assert a.T.copy(order="K").strides == a.T.strides == (8, 24)
    assert a.T.astype(np.float32).strides == (4, 12)


def test_views_share_memory_and_pointers_can_be_moved(xp: Any) -> None:
    a = xp.arange(6.0)
    second = xp.ndarray((3,), np.float64, a.data + 8, (16,))
    second[...] = 0
    assert a.tolist() == [0, 0, 2, 0, 4, 0]
    assert second.base is None
    assert second.data.mem is a.data.mem
    assert a.reshape(2, 3).T.base is a
    assert xp.lib.stride_tricks.as_strided(a, (2, 2), (8, 8)).tolist() == [[0, 0], [0, 2]]


def test_what_crosses_between_host_and_device_is_counted(xp: Any, gpu: Any) -> None:
    a = xp.asarray(np.arange(6.0))
    assert gpu.copies == [("in", 6)]
    assert a.get().tolist() == xp.asnumpy(a).tolist() == a.tolist()
    assert a.sum().item() == 15
    assert bool(a.any())
    assert gpu.copied("out") == [6, 6, 6]


def test_an_array_of_another_gpu_is_refused_unless_that_is_the_current_one(xp: Any) -> None:
    with xp.cuda.Device(1):
        a = xp.arange(3.0)
        assert (a + 1).device.id == 1
    assert a.device.id == 1
    assert a.reshape(3, 1).T.shape == (1, 3)  # a view needs no kernel
    with pytest.raises(ValueError, match="different from the current device"):
        a + 1
    with pytest.raises(RuntimeError, match="invalid device"), xp.cuda.Device(7):
        pass


def test_it_is_gone_after_a_test() -> None:
    import sys

    assert getattr(sys.modules.get("cupy"), "__file__", "installed") is not None


def test_the_facts_are_those_of_the_installed_cupy() -> None:
    cupy = pytest.importorskip("cupy")
    ours = module()["cupy"]
    for name in (*facts.UFUNCS, *facts.FUNCTIONS, *facts.CREATION):
        assert hasattr(cupy, name), name
    missing = [name for name in dir(ours) if not name.startswith("_") and not hasattr(cupy, name)]
    assert missing == []
    for name in facts.METHODS:
        assert hasattr(cupy.ndarray, name), name
