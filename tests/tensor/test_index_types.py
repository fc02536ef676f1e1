"""Which types may stand in a subscript, and as what."""

from __future__ import annotations

import numpy as np
import pytest

import tensorlab as tl


def test_bytes_are_a_mask_with_a_warning() -> None:
    x = tl.arange(3)
    with pytest.warns(UserWarning, match="uint8 is now deprecated") as told:
        assert x[tl.tensor([0, 1, 1], dtype=tl.uint8)].tolist() == [1, 2]
    assert told[0].filename == __file__
    with pytest.warns(UserWarning, match="uint8"), pytest.raises(IndexError, match="shape of the mask"):
        x[tl.tensor([0, 1], dtype=tl.uint8)]


def test_bytes_choose_where_to_write() -> None:
    x = tl.zeros(3)
    with pytest.warns(UserWarning, match="uint8"):
        x[tl.tensor([0, 1, 1], dtype=tl.uint8)] = 5
    assert x.tolist() == [0, 5, 5]


@pytest.mark.parametrize("dtype", [tl.int8, tl.int16, tl.float32])
def test_narrow_integers_and_fractions_are_no_indices(dtype) -> None:
    with pytest.raises(IndexError, match="tensors used as indices must be long, int, byte or bool tensors"):
        tl.arange(3)[tl.tensor([0, 1], dtype=dtype)]


@pytest.mark.parametrize("truth", [True, False])
def test_one_truth_value_adds_a_dimension_however_it_is_written(truth) -> None:
    x = tl.arange(3)
    expected = x[truth].tolist()
    assert x[np.array(truth)].tolist() == x[np.bool_(truth)].tolist() == x[tl.tensor(truth)].tolist() == expected
