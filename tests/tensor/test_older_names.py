"""Names that programs written for PyTorch begin with: types that are classes, buffers, switches, backends."""

from __future__ import annotations

from typing import Any

import pytest

import tensorlab as tl


def test_a_typed_name_makes_tensors_of_its_type() -> None:
    assert tl.FloatTensor([1, 2]).dtype is tl.float32
    assert tl.LongTensor([[1], [2]]).tolist() == [[1], [2]]
    assert tl.ByteTensor().shape == (0,)
    assert tl.DoubleTensor(2, 3).shape == (2, 3)
    assert tl.FloatTensor(tl.Size([2, 1])).shape == (2, 1)
    assert tl.FloatTensor((2, 1)).tolist() == [2, 1]
    assert tl.BoolTensor([0, 2]).tolist() == [False, True]


def test_a_typed_name_takes_a_tensor_of_its_type_only_and_shares_it() -> None:
    x = tl.zeros(2)
    tl.FloatTensor(x)[0] = 1
    assert x.tolist() == [1, 0]
    with pytest.raises(
        TypeError, match=r"expected a tensor of int64, got one of float32; convert it with .to\(tensorlab.int64\)"
    ):
        tl.LongTensor(x)
    with pytest.raises(TypeError, match="data must be a sequence"):
        tl.FloatTensor(2.5)


def test_a_typed_name_answers_isinstance_and_names_a_type() -> None:
    x = tl.ones(2)
    assert isinstance(x, tl.FloatTensor)
    assert not isinstance(x, tl.LongTensor)
    assert not isinstance(3, tl.FloatTensor)
    assert x.type(tl.LongTensor).dtype is tl.int64
    assert x.type("torch.DoubleTensor").dtype is tl.float64
    assert x.type(x.type()) is x
    for wrong in ("foo", "numpy.FloatTensor", "FloatTensor"):
        with pytest.raises(ValueError, match="invalid type"):
            x.type(wrong)


def test_a_buffer_is_shared_where_it_can_be_written_to() -> None:
    memory = bytearray(b"abcd")
    x = tl.frombuffer(memory, dtype=tl.uint8, offset=1, count=2)
    x[0] = 0
    assert memory == b"a\0cd"
    still = b"ab"
    tl.frombuffer(still, dtype=tl.uint8).fill_(0)
    assert still == b"ab"
    assert tl.frombuffer(bytearray(8), dtype=tl.float32, requires_grad=True).requires_grad


@pytest.mark.parametrize(
    ("buffer", "more", "words"),
    [
        ([1], {}, "list does not implement"),
        (b"", {}, "must not be 0"),
        (b"ab", {"count": 0}, "must not be 0"),
        (b"abc", {}, "multiple of the size of an element"),
        (b"ab", {"count": 2}, "more than the buffer of 2 bytes holds"),
        (b"ab", {"offset": 2}, "offset"),
        (b"ab", {"offset": -1}, "offset"),
    ],
)
def test_a_buffer_that_does_not_fit_is_refused(buffer: Any, more: dict[str, int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        tl.frombuffer(buffer, dtype=tl.int16, **more)


def test_vander_differentiates_and_counts_in_int64() -> None:
    x = tl.tensor([1.0, 2.0, 3.0], dtype=tl.float64, requires_grad=True)
    assert tl.vander(x).tolist() == [[1, 1, 1], [4, 2, 1], [9, 3, 1]]
    assert tl.vander(x, 2, increasing=True).tolist() == [[1, 1], [1, 2], [1, 3]]
    assert tl.autograd.gradcheck(lambda t: tl.vander(t, 4), (x,))
    assert tl.vander(tl.tensor([True, False])).dtype is tl.int64
    assert tl.vander(x, 0).shape == (3, 0)
    assert tl.vander(x, 1).tolist() == [[1]] * 3
    for wrong in (lambda: tl.vander(tl.ones(2, 2)), lambda: tl.vander(tl.ones(2), -1)):
        with pytest.raises(RuntimeError, match="vander"):
            wrong()


def test_switches_of_the_process_are_remembered() -> None:
    threads = tl.get_num_threads()
    tl.set_num_threads(1)
    assert tl.get_num_threads() == 1
    tl.set_num_threads(threads)
    for wrong in (0, 1.5, True):
        with pytest.raises(RuntimeError, match="set_num_threads expects"):
            tl.set_num_threads(wrong)  # type: ignore[arg-type]
    tl.use_deterministic_algorithms(True, warn_only=True)
    assert tl.are_deterministic_algorithms_enabled()
    assert tl.is_deterministic_algorithms_warn_only_enabled()
    tl.use_deterministic_algorithms(False)
    assert not tl.are_deterministic_algorithms_enabled()
    with pytest.raises(TypeError, match="must be bool"):
        tl.use_deterministic_algorithms(1)  # type: ignore[arg-type]
    tl.set_float32_matmul_precision("high")
    with pytest.warns(UserWarning, match="the precision stays 'high'"):
        tl.set_float32_matmul_precision("low")
    assert tl.get_float32_matmul_precision() == "high"
    tl.set_float32_matmul_precision("highest")


def test_backends_are_asked_by_name() -> None:
    import tensorlab.backends.cudnn as cudnn

    before = cudnn.benchmark
    with tl.backends.cudnn.flags(benchmark=not before):
        assert cudnn.benchmark is not before
    assert cudnn.benchmark is before
    assert not tl.backends.mps.is_available()
    assert not cudnn.is_available()
    tl.backends.cuda.matmul.allow_tf32 = False


def test_questions_at_the_top() -> None:
    assert tl.newaxis is None
    assert tl.typename(tl.ones(1)) == "tensorlab.FloatTensor"
    assert tl.typename(3) == "int"
    assert tl.typename(tl.nn.Linear(1, 1)).endswith("Linear")
    assert tl.is_storage(tl.ones(1).untyped_storage())
    assert not tl.is_storage(tl.ones(1))
    assert not tl.is_anomaly_enabled()
    with tl.inference_mode():
        assert tl.is_inference_mode_enabled()
    assert tl.vmap(tl.sum)(tl.ones(2, 3)).tolist() == [3, 3]
    assert repr(tl.finfo(tl.float32)).endswith("smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=float32)")


def test_a_position_that_is_too_large_is_a_plain_index_error() -> None:
    with pytest.raises(IndexError, match="index 7 is out of bounds") as caught:
        tl.ones(2)[tl.tensor([7])]
    assert type(caught.value) is IndexError
