"""The memory behind tensors: storages, tensors set to lie elsewhere, views in place, deep copies and pickles."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorlab as tl


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


COPIES = pytest.mark.parametrize("copied", [copy.deepcopy, pickled], ids=["deepcopy", "pickle"])

# ------------------------------------------------------------------------------------------------------------- copies


@COPIES
def test_tensors_that_share_memory_share_it_in_a_copy_of_their_container(copied: Callable[[Any], Any]) -> None:
    x = tl.arange(6.0).reshape(2, 3)
    a, b, c = copied([x, x.t(), x[1:]])
    a.mul_(10)
    assert b.tolist() == [[0, 30], [10, 40], [20, 50]]
    assert c.tolist() == [[30, 40, 50]]
    assert (b.stride(), c.storage_offset()) == ((1, 3), 3)
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]


@COPIES
def test_an_expanded_tensor_stays_expanded_in_a_copy(copied: Callable[[Any], Any]) -> None:
    wide = copied(tl.ones(1, 3).expand(1000, 3))
    assert (wide.shape, wide.stride()) == ((1000, 3), (0, 1))
    assert wide.untyped_storage().nbytes() == 12


@COPIES
def test_a_copy_keeps_the_class_the_flag_the_attributes_and_the_same_object_once(copied: Callable[[Any], Any]) -> None:
    weight = tl.nn.Parameter(tl.ones(2))
    weight.note = ["kept"]
    first, second = copied([weight, weight])
    assert first is second
    assert type(first) is tl.nn.Parameter
    assert first.requires_grad
    assert first.note == ["kept"]
    assert first.note is not weight.note


def test_a_deep_copy_has_a_gradient_of_its_own() -> None:
    x = tl.ones(2, requires_grad=True)
    x.sum().backward()
    y = copy.deepcopy(x)
    y.grad.zero_()
    assert x.grad.tolist() == [1, 1]


def test_a_small_part_of_a_large_tensor_is_pickled_without_the_rest() -> None:
    part = tl.zeros(100_000)[10:20]
    assert len(pickle.dumps(part)) < 1000
    assert pickled(part).shape == (10,)


@COPIES
@pytest.mark.parametrize(
    "make",
    [lambda: tl.zeros(0, 3), lambda: tl.tensor(3.0), lambda: tl.ones(3, dtype=tl.bfloat16), lambda: tl.arange(8)[::2]],
)
def test_odd_tensors_are_copied_as_they_are(copied: Callable[[Any], Any], make: Any) -> None:
    x = make()
    y = copied(x)
    assert (y.shape, y.stride(), y.dtype, y.tolist()) == (x.shape, x.stride(), x.dtype, x.tolist())


# ----------------------------------------------------------------------------------------------------------- storages


def test_views_have_one_storage_and_copies_another() -> None:
    x = tl.arange(6.0)
    assert x[2:].untyped_storage() == x.untyped_storage()
    assert x[2:].untyped_storage().data_ptr() == x.data_ptr()
    assert x.clone().untyped_storage() != x.untyped_storage()
    assert x[2:].untyped_storage().nbytes() == len(x.untyped_storage()) == 24


def test_a_typed_storage_counts_and_shows_elements() -> None:
    x = tl.arange(4.0).reshape(2, 2)[1]
    held = x.storage()
    assert (held.size(), len(held), held.element_size(), held.dtype) == (4, 4, 4, tl.float32)
    assert held.tolist() == [0, 1, 2, 3]
    assert held[2] == 2
    assert held.untyped().nbytes() == 16
    assert x.storage_offset() == 2


def test_a_storage_cannot_be_given_another_size_under_its_tensors() -> None:
    held = tl.ones(3).untyped_storage()
    assert held.resize_(12) is held
    with pytest.raises(RuntimeError, match="tensors hold windows on its memory"):
        held.resize_(0)


def test_set_makes_a_tensor_lie_where_another_one_lies() -> None:
    x, y = tl.zeros(2), tl.arange(6.0)
    assert x.set_(y) is x
    assert x.is_set_to(y)
    x[0] = 9
    assert y[0].item() == 9
    x.set_(y.untyped_storage(), 1, (2, 2), (2, 1))
    assert x.tolist() == [[1, 2], [3, 4]]
    assert x.set_().shape == (0,)


def test_set_refuses_other_types_layouts_outside_and_leaves_that_require_grad() -> None:
    x, y = tl.zeros(2), tl.arange(6.0)
    with pytest.raises(RuntimeError, match="Could not set tensor of type float64 to a tensor of type float32"):
        x.set_(y.double())
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 24"):
        x.set_(y.untyped_storage(), 4, (3,))
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        tl.zeros(2, requires_grad=True).set_(y)
    assert x.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("shape", "dtype"), [((2, 6), tl.float64), ((2, 6), tl.int16), ((4,), tl.uint8), ((2, 6), tl.int32)]
)
def test_bits_are_seen_as_another_type_as_numpy_sees_them(shape: tuple[int, ...], dtype: Any) -> None:
    x = tl.arange(1.0, 1.0 + int(np.prod(shape))).reshape(shape)
    seen = x.view(dtype)
    np.testing.assert_array_equal(seen.numpy(), x.numpy().view(dtype.np))
    assert seen.untyped_storage() == x.untyped_storage()


def test_bits_that_do_not_make_whole_elements_are_refused() -> None:
    with pytest.raises(RuntimeError, match=r"size\(-1\) must be divisible by 2"):
        tl.zeros(3).view(tl.float64)
    with pytest.raises(RuntimeError, match=r"stride\(-1\) must be 1"):
        tl.zeros(4, 4).t().view(tl.float64)
    with pytest.raises(RuntimeError, match=r"dim\(\) cannot be 0"):
        tl.tensor(1.0).view(tl.float64)


# ------------------------------------------------------------------------------------------------------ views in place


def test_a_matrix_transposed_in_place_keeps_its_memory_and_counts_a_version() -> None:
    x = tl.arange(6.0).reshape(2, 3)
    address = x.data_ptr()
    assert x.t_() is x
    assert (x.shape, x.stride(), x.data_ptr(), x._version) == ((3, 2), (1, 3), address, 1)
    assert x.squeeze_().unsqueeze_(0).shape == (1, 3, 2)


def test_gradients_pass_through_views_in_place() -> None:
    x = tl.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 2
    y.t_().unsqueeze_(0).swapaxes_(0, 1)
    (y * tl.arange(6.0).reshape(3, 1, 2)).sum().backward()
    assert x.grad.tolist() == [[0, 4, 8], [2, 6, 10]]


def test_a_leaf_that_requires_grad_is_not_turned_in_place() -> None:
    x = tl.ones(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.t_()
    assert x.shape == (2, 3)


def test_a_leaf_turned_in_no_grad_refuses_a_gradient_of_its_old_shape() -> None:
    x = tl.ones(2, 3, requires_grad=True)
    loss = (x * 2).sum()
    with tl.no_grad():
        x.t_()
    with pytest.raises(RuntimeError, match=r"got \[2, 3\] but expected a shape compatible with \[3, 2\]"):
        loss.backward()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [[3, 3]] * 3


# ------------------------------------------------------------------------------------------ functions of Python numbers


def test_python_functions_are_applied_element_by_element() -> None:
    x, y = tl.tensor([1.0, 2.0]), tl.tensor([3.0, 4.0])
    assert x.apply_(lambda a: a + 1).tolist() == [2, 3]
    assert x.map_(y, lambda a, b: a * b).tolist() == [6, 12]
    assert x.map2_(y, y, lambda a, b, c: a + b + c).tolist() == [12, 20]
    with pytest.raises(RuntimeError, match="requires grad"):
        x.requires_grad_().apply_(abs)


def test_a_diagonal_is_filled_in_place() -> None:
    assert tl.zeros(3, 2).fill_diagonal_(1).tolist() == [[1, 0], [0, 1], [0, 0]]
    assert tl.zeros(4, 2).fill_diagonal_(1, wrap=True).tolist() == [[1, 0], [0, 1], [0, 0], [1, 0]]
    assert tl.zeros(2, 2, 2).fill_diagonal_(5).sum().item() == 10


def test_a_tensor_answers_what_it_is() -> None:
    x = tl.ones(2, 3)
    assert (x.is_cpu, x.is_sparse, x.is_quantized, x.layout, x.get_device(), x.dim_order()) == (
        True,
        False,
        False,
        tl.strided,
        -1,
        (0, 1),
    )
    assert x.t().dim_order() == (1, 0)
    assert x.is_same_size(tl.zeros(2, 3))
    assert not x.is_conj()
    assert x.new(2, 2).shape == (2, 2)
    assert x.new([1, 2]).dtype is tl.float32
    assert x.new_empty_strided((2, 2), (1, 2)).stride() == (1, 2)
    assert x.nonzero_static(size=8).tolist()[-2:] == [[-1, -1], [-1, -1]]
