"""A preview shows the right numbers, and never touches more of an array than it has to."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from tensorlab.observe import wire
from tensorlab.observe.preview import EXACT, bins, norm, preview, window


def test_a_small_matrix_is_described_exactly():
    array = np.float32([[1, 2], [3, 4]])
    seen = preview(array)
    assert (seen.shape, seen.dtype, seen.stride, seen.elements, seen.bytes) == ((2, 2), "float32", (2, 1), 4, 16)
    assert seen.grid == ((1.0, 2.0), (3.0, 4.0))
    assert seen.marks == (("", ""), ("", ""))
    assert (seen.low, seen.high, seen.mean, seen.nan, seen.inf, seen.sampled) == (1, 4, 2.5, 0, 0, False)
    assert seen.std == pytest.approx(array.std(ddof=1))
    assert seen.norm == pytest.approx(math.sqrt(30))
    assert sum(seen.histogram) == 4
    assert len(seen.histogram) == 64
    assert seen.text == "[[1., 2.],\n [3., 4.]]"
    assert seen.grid_caption == "all values"


def test_nan_and_inf_are_marked_counted_and_kept_out_of_the_statistics():
    seen = preview(np.float32([np.nan, np.inf, -np.inf, 3, 4]))
    assert seen.grid == ((None, None, None, 3.0, 4.0),)
    assert seen.marks == (("nan", "inf", "-inf", "", ""),)
    assert (seen.nan, seen.inf, seen.mean, seen.norm) == (1, 2, 3.5, 5)


def test_only_nan_leaves_no_statistics():
    seen = preview(np.float32([np.nan]))
    assert (seen.low, seen.high, seen.mean, seen.std, seen.norm, seen.histogram) == (None, None, None, None, None, ())


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 2)])
def test_empty_arrays_have_a_sentence_instead_of_a_grid(shape):
    seen = preview(np.zeros(shape, "f4"))
    assert seen.grid == ()
    assert seen.grid_caption == "no elements"
    assert seen.elements == 0
    assert seen.text == "[]"


@pytest.mark.parametrize("value", [np.float32(2), np.array(2), np.array(True), np.complex64(0 + 2j)])
def test_zero_dimensional_arrays_are_one_cell(value):
    array = np.asarray(value)
    assert preview(array).grid == ((float(np.abs(array)),),)


def test_captions_say_which_part_is_shown():
    assert preview(np.zeros((64, 16))).grid_caption == "first 8 of 64 rows"
    assert preview(np.zeros((64, 100))).grid_caption == "first 8 of 64 rows and first 16 of 100 columns"
    assert preview(np.zeros(100)).grid_caption == "first 16 of 100 values"
    assert preview(np.zeros((3, 4, 5))).grid_caption == "all of [0]"
    assert preview(np.zeros((3, 4, 64, 5))).grid_caption == "first 8 of 64 rows of [0, 0]"
    assert preview(np.zeros(2, "c8")).grid_caption == "magnitudes, all values"
    assert preview(np.zeros(100), start=(40,)).grid_caption == "values 40 to 55 of 100"
    assert preview(np.zeros((3, 4, 64, 5)), start=(2, 1, 9, 0)).grid_caption == "rows 9 to 16 of 64 of [2, 1]"


@pytest.mark.parametrize("shape", [(), (1,), (5,), (40,), (3, 4), (20, 40), (3, 20, 40), (2, 2, 9, 5)])
def test_a_window_begins_where_it_is_asked_to_or_as_near_as_it_can(shape):
    array = np.arange(math.prod(shape), dtype="f8").reshape(shape)
    for wanted in np.ndindex(*shape):
        seen = window(array, wanted)
        begin = dict(zip(("row", "column"), (0, 0, *seen.start)[-2:], strict=True))
        place = (0, 0, *wanted)[-2:]
        row, column = place[0] - begin["row"], place[1] - begin["column"]
        assert seen.grid[row][column] == array[wanted]
        assert seen.start[:-2] == wanted[:-2]


def test_expanded_elements_are_looked_at_once_where_no_memory_could_hold_them_all():
    huge = np.broadcast_to(np.float32([[1], [3]]), (2, 500_000_000_000))
    seen = preview(huge)
    assert (seen.elements, seen.mean, seen.low, seen.high, seen.sampled) == (10**12, 2, 1, 3, False)
    assert seen.norm == pytest.approx(math.sqrt(5 * 10**12))
    assert seen.bytes == 4 * 10**12
    assert seen.stride == (1, 0)


def test_a_billion_counted_nans_are_not_visited_one_by_one():
    assert preview(np.broadcast_to(np.float32(np.nan), (10**5, 10**4))).nan == 10**9


def test_a_large_array_is_sampled_evenly_and_says_so():
    rows = np.repeat(np.arange(1000, dtype="f4"), 1000).reshape(1000, 1000)
    for array in (rows, rows.T):
        seen = preview(array)
        assert seen.sampled
        assert seen.mean == pytest.approx(499.5, rel=0.01)
        assert seen.std == pytest.approx(288.7, rel=0.01)
        assert seen.norm == pytest.approx(np.linalg.norm(rows), rel=0.01)


def test_arrays_up_to_the_limit_are_counted_exactly():
    array = np.zeros(EXACT, "f4")
    array[-1] = np.nan
    assert preview(array).nan == 1
    assert not preview(array).sampled


def test_overlapping_and_negative_strides_are_read_as_they_are():
    base = np.arange(6, dtype="f4")
    windows = np.lib.stride_tricks.as_strided(base, (4, 3), (4, 4))
    assert preview(windows).grid[1] == (1, 2, 3)
    assert preview(windows).stride == (1, 1)
    assert preview(base[::-1]).grid == ((5, 4, 3, 2, 1, 0),)
    assert preview(base[::-1]).stride == (-1,)


def test_the_norm_neither_overflows_nor_vanishes():
    assert norm(np.float32([3e30, 4e30])) == pytest.approx(5e30)
    assert norm(np.float32([3e-30, 4e-30])) == pytest.approx(5e-30)
    assert norm(np.float64([1e300, 1e300])) == pytest.approx(math.sqrt(2) * 1e300)
    assert math.isnan(norm(np.float32([1, np.nan])))
    assert norm(np.zeros((0, 2))) == 0
    assert norm(np.float32([1, np.inf])) == math.inf


def test_equal_values_fall_in_the_middle_of_the_histogram():
    assert bins(np.float32([2, 2, 2]))[32] == 3
    assert sum(bins(np.float64([-1e308, 1e308]))) == 2
    assert sum(bins(np.float64([0, 5e-324]))) == 2


def test_half_precision_types_are_read():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    seen = preview(np.float32([1.5, 2.5]).astype(ml_dtypes.bfloat16))
    assert seen.dtype == "bfloat16"
    assert seen.mean == 2
    assert seen.bytes == 4
    assert preview(np.float16([60000, 60000])).norm == pytest.approx(84852.8)


@pytest.mark.parametrize("array", [np.float32([np.nan, 1]), np.zeros((0,)), np.array(1.0), np.ones((9, 17))])
def test_every_preview_is_strict_json_and_comes_back_equal(array):
    seen = preview(array)
    text = json.dumps(wire.to_json(seen), allow_nan=False)
    assert wire.from_json(type(seen), json.loads(text)) == seen


def test_the_text_is_cut_short():
    assert len(preview(np.random.default_rng(0).standard_normal((9,) * 6)).text) <= 1004
