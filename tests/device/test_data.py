"""Batches for a GPU."""

from __future__ import annotations

from collections import namedtuple

import pytest

import tensorlab as tl
from tensorlab.data import DataLoader, TensorDataset

Pair = namedtuple("Pair", "x y")


@pytest.mark.usefixtures("gpu")
def test_a_pinned_batch_has_the_same_values_and_goes_to_the_gpu() -> None:
    data = TensorDataset(tl.arange(6).float().view(3, 2), tl.arange(3).bfloat16())
    batches = list(DataLoader(data, 2, pin_memory=True))
    assert [y.tolist() for _, y in batches] == [[0, 1], [2]]
    assert batches[0][1].dtype is tl.bfloat16
    assert batches[0][0].to("cuda").tolist() == [[0, 1], [2, 3]]
    named = next(iter(DataLoader([{"p": Pair(1, "a")}], pin_memory=True)))
    assert named["p"].x.tolist() == [1]
    assert named["p"].y == ["a"]


def test_pinning_without_a_gpu_is_warned_of_and_changes_nothing() -> None:
    with pytest.warns(UserWarning, match="'pin_memory' argument is set as true but no accelerator is found"):
        batches = list(DataLoader([1, 2], 2, pin_memory=True))
    assert batches[0].tolist() == [1, 2]
