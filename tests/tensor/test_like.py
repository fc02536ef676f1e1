"""New tensors after the pattern of one."""

from __future__ import annotations

from typing import Any

import pytest

import tensorlab as tl

MAKERS = {
    "empty_like": tl.empty_like,
    "zeros_like": tl.zeros_like,
    "ones_like": tl.ones_like,
    "full_like": lambda x, **options: tl.full_like(x, 7, **options),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_the_order_of_dimensions_is_kept(make: Any) -> None:
    x = tl.zeros(2, 3, 4).permute(2, 0, 1)
    assert make(x).shape == x.shape
    assert make(x).stride() == make(x, memory_format=tl.preserve_format).stride() == x.stride()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_another_order_of_dimensions_can_be_asked_for(make: Any) -> None:
    x = tl.zeros(3, 2, 4, 5).transpose(0, 1)
    assert make(x, memory_format=tl.contiguous_format).is_contiguous()
    assert make(x, memory_format=tl.channels_last).stride() == (60, 1, 15, 3)
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        make(x[0], memory_format=tl.channels_last)


def test_every_element_is_what_was_asked_for() -> None:
    x = tl.zeros(2, 3, dtype=tl.int32).T
    assert tl.ones_like(x).tolist() == [[1, 1]] * 3
    assert tl.full_like(x, 7).tolist() == [[7, 7]] * 3
    assert tl.zeros_like(tl.ones(2)).tolist() == [0, 0]
    assert tl.full_like(x, 0.5, dtype=tl.float64).dtype is tl.float64
