"""What arrays print, held against expected text. tests/parity holds the same against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

from tensorlab import printing
from tensorlab.printing import array_repr, format_values, printoptions, set_printoptions


def show(array, **facts) -> str:
    array = np.asarray(array)
    return array_repr(array, dtype=f"tensorlab.{array.dtype.name}", **facts)


@pytest.fixture(autouse=True)
def default_options():
    yield
    set_printoptions(profile="default")


def test_floats_show_four_digits_in_equal_columns():
    assert show(np.float32([[1.5, -2], [10, 0.25]])) == "tensor([[ 1.5000, -2.0000],\n        [10.0000,  0.2500]])"


def test_whole_floats_show_a_bare_point():
    assert show(np.float32([1, 2, np.nan, np.inf])) == "tensor([1., 2., nan, inf])"


def test_a_wide_range_switches_to_exponents():
    assert show(np.float32([1e-5, 1000])) == "tensor([1.0000e-05, 1.0000e+03])"


def test_integers_and_booleans_need_no_dtype_but_other_types_do():
    assert show(np.array([1, -20])) == "tensor([  1, -20])"
    assert show(np.array([True, False])) == "tensor([ True, False])"
    assert show(np.uint8([1])) == "tensor([1], dtype=tensorlab.uint8)"
    assert show(np.float64(2.5)) == "tensor(2.5000, dtype=tensorlab.float64)"


def test_empty_tensors_show_their_size_unless_it_is_one_zero():
    assert show(np.zeros((0,), np.float32)) == "tensor([])"
    assert show(np.zeros((2, 0), np.float32)) == "tensor([], size=(2, 0))"
    assert show(np.zeros((0,), np.int64)) == "tensor([], dtype=tensorlab.int64)"


def test_history_and_device_come_after_the_values():
    one = np.float32(1)
    assert show(one, grad_fn="MulBackward0", requires_grad=True) == "tensor(1., grad_fn=<MulBackward0>)"
    assert show(one, requires_grad=True) == "tensor(1., requires_grad=True)"
    assert show(one, device="cuda:0") == "tensor(1., device='cuda:0')"


def test_past_a_thousand_elements_only_the_corners_are_shown():
    assert show(np.arange(1001)) == "tensor([   0,    1,    2,  ...,  998,  999, 1000])"
    assert "..." not in show(np.arange(1000))


def test_expanded_elements_print_where_no_memory_could_hold_them_all():
    text = show(np.broadcast_to(np.float32(1.5), (10_000, 10_000, 10_000)))
    assert text.count("...") == 36 + 6 + 1
    assert "1.5000" in text


def test_an_unknown_profile_is_refused_by_name():
    with pytest.raises(ValueError, match="'tiny'.*'default', 'short', 'full'"):
        set_printoptions(profile="tiny")


def test_options_come_back_after_a_with_block():
    before = printing.get_printoptions()
    with printoptions(precision=2, sci_mode=True):
        assert format_values(np.float32([1.25])) == "[1.25e+00]"
    assert printing.get_printoptions() == before
