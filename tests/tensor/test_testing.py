"""``testing.assert_close``: what it lets pass, and what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.testing import assert_close

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("actual", "expected", "more"),
    [
        (tl.ones(2), tl.ones(2) + 1e-6, {}),
        (tl.tensor([INF, -INF]), tl.tensor([INF, -INF]), {}),
        (tl.tensor([NAN]), tl.tensor([NAN]), {"equal_nan": True}),
        (tl.tensor([]), tl.tensor([]), {}),
        (tl.ones(2, dtype=tl.bfloat16), tl.ones(2, dtype=tl.bfloat16) * 1.01, {}),
        (tl.ones(2), tl.ones(2, dtype=tl.float64), {"check_dtype": False}),
        (tl.tensor([1, 2]), tl.tensor([1, 3]), {"rtol": 0, "atol": 1}),
        (tl.tensor([1 + 2j]), tl.tensor([1 + 2j]), {}),
        (tl.tensor([True]), tl.tensor([True]), {}),
        (tl.ones(2, requires_grad=True), tl.ones(2), {}),
        (np.ones(2), np.ones(2), {}),
        (1.0, 1.0 + 1e-9, {}),
        ({"a": [tl.ones(1), None]}, {"a": (tl.ones(1), None)}, {}),
    ],
)  # fmt: skip
def test_what_is_close_passes(actual: Any, expected: Any, more: dict[str, Any]) -> None:
    assert_close(actual, expected, **more)


@pytest.mark.parametrize(
    ("actual", "expected", "more", "words"),
    [
        (tl.ones(2), tl.tensor([1.0, 2.0]), {}, r"not close: 1 of 2 elements \(50.0%\) differ.\n.*absolute difference: 1 at index \(1,\)"),
        (tl.tensor([NAN]), tl.tensor([NAN]), {}, "not close"),
        (tl.tensor([INF]), tl.tensor([1.0]), {}, "not close"),
        (tl.tensor([1.0]), tl.tensor([INF]), {}, "not close"),
        (tl.ones(2), tl.ones(3), {}, "'shape' do not match"),
        (tl.ones(2), tl.ones(1, 2), {}, "'shape' do not match"),
        (tl.ones(2), tl.ones(2, dtype=tl.float64), {}, "'dtype' do not match"),
        (tl.ones(2, 2), tl.ones(2, 2).t(), {"check_stride": True}, "'stride' do not match"),
        (tl.tensor([1, 2]), tl.tensor([1, 3]), {}, "not equal"),
        (tl.tensor([2**62]), tl.tensor([-(2**62)]), {}, "not equal"),
        (tl.tensor([0], dtype=tl.uint8), tl.tensor([255], dtype=tl.uint8), {"rtol": 0, "atol": 1}, "absolute difference: 255"),
        (tl.tensor([True]), tl.tensor([False]), {}, "not equal"),
        (1, 2, {}, "Scalars are not equal"),
        (1, 1.0, {}, "'dtype' do not match"),
        ([1, 2], [1, 3], {}, r"item \[1\]"),
        ({"a": (1, 2)}, {"a": (1, 3)}, {}, r"item \['a'\]\[1\]"),
        ([1], [1, 2], {}, "length of the sequences mismatch: 1 != 2"),
        ({"a": 1}, {"b": 1}, {}, r"missing are \[\"'b'\"\], additional are \[\"'a'\"\]"),
    ],
)  # fmt: skip
def test_what_is_not_close_is_explained(actual: Any, expected: Any, more: dict[str, Any], words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        assert_close(actual, expected, **more)


def test_a_message_may_be_given_or_made_of_the_message() -> None:
    with pytest.raises(AssertionError, match="^mine$"):
        assert_close(1, 2, msg="mine")
    with pytest.raises(AssertionError, match="^after 3 steps: Scalars"):
        assert_close(1, 2, msg=lambda text: f"after 3 steps: {text}")


def test_what_cannot_be_compared_is_refused() -> None:
    for actual, expected in (("a", "a"), (tl.ones(1), [1.0]), (tl.ones(()), 1.0), (object(), 1)):
        with pytest.raises(TypeError, match=r"assert_close\(\) compares"):
            assert_close(actual, expected)
    with pytest.raises(TypeError):
        assert_close(tl.nn.Parameter(tl.ones(1)), tl.ones(1), allow_subclasses=False)
    with pytest.raises(ValueError, match="got no atol"):
        assert_close(1, 1, rtol=0.1)
