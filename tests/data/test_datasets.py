"""Data sets: samples by index, parts, splits."""

from __future__ import annotations

import pytest

import tensorlab as tl
from tensorlab.data import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)


class Squares(Dataset):
    """The squares of the first numbers."""

    def __init__(self, size: int = 5) -> None:
        self.size = size

    def __getitem__(self, index: int) -> int:
        return index**2

    def __len__(self) -> int:
        return self.size


def test_tensors_side_by_side_give_tuples() -> None:
    data = TensorDataset(tl.arange(6).view(3, 2), tl.tensor([7, 8, 9]))
    assert len(data) == 3
    x, y = data[1]
    assert x.tolist() == [2, 3]
    assert y.item() == 8
    assert data[1:][1].tolist() == [8, 9]


def test_tensors_of_different_lengths_are_refused_with_their_lengths() -> None:
    with pytest.raises(ValueError, match=r"got \[3, 2\]"):
        TensorDataset(tl.ones(3), tl.ones(2))
    with pytest.raises(ValueError, match="0-dimensional"):
        TensorDataset(tl.tensor(1.0))
    with pytest.raises(TypeError, match="argument 1 is list"):
        TensorDataset(tl.ones(1), [1])
    with pytest.raises(ValueError, match="at least one"):
        TensorDataset()


def test_a_subset_is_indexed_by_its_own_numbers() -> None:
    part = Subset(Squares(), [4, 2])
    assert [part[i] for i in range(len(part))] == [16, 4]
    assert Subset(part, [1])[0] == 4
    assert part.__getitems__([1, 0]) == [4, 16]


def test_data_sets_one_after_another_are_one() -> None:
    both = Squares(2) + Squares(3)
    assert isinstance(both, ConcatDataset)
    assert [both[i] for i in range(len(both))] == [0, 1, 0, 1, 4]
    assert both[-1] == 4
    with pytest.raises(IndexError, match="5 samples"):
        both[5]
    with pytest.raises(ValueError, match="empty"):
        ConcatDataset([])
    with pytest.raises(TypeError, match="IterableDataset"):
        ConcatDataset([IterableDataset()])


def test_a_random_split_gives_every_sample_to_exactly_one_part() -> None:
    parts = random_split(Squares(10), [7, 3], generator=tl.Generator().manual_seed(1))
    assert [len(p) for p in parts] == [7, 3]
    assert sorted(x for p in parts for x in p) == [i**2 for i in range(10)]
    again = random_split(Squares(10), [7, 3], generator=tl.Generator().manual_seed(1))
    assert [p.indices for p in parts] == [p.indices for p in again]


def test_a_split_by_fractions_loses_no_sample() -> None:
    assert [len(p) for p in random_split(Squares(11), [0.5, 0.3, 0.2])] == [6, 3, 2]
    assert [len(p) for p in random_split(Squares(10), [0.1] * 10)] == [1] * 10
    with pytest.raises(ValueError, match="sum to 9, the data set has 10"):
        random_split(Squares(10), [5, 4])


def test_a_data_set_that_says_no_samples_explains_itself() -> None:
    with pytest.raises(NotImplementedError, match="Dataset has no __getitem__"):
        Dataset()[0]
    with pytest.raises(NotImplementedError, match="IterableDataset has no __iter__"):
        iter(IterableDataset())


def test_data_sets_side_by_side_give_tuples_or_dictionaries() -> None:
    both = StackDataset(Squares(3), ["a", "b", "c"])
    assert both[1] == (1, "b")
    assert both.__getitems__([2, 0]) == [(4, "c"), (0, "a")]
    named = StackDataset(square=Squares(3), letter="abc")
    assert named[2] == {"square": 4, "letter": "c"}
    assert named.__getitems__([0]) == [{"square": 0, "letter": "a"}]
    assert len(named) == 3
    with pytest.raises(ValueError, match=r"Size mismatch between datasets: they have \[3, 2\]"):
        StackDataset(Squares(3), "ab")
    with pytest.raises(ValueError, match="not both"):
        StackDataset(Squares(3), letter="abc")


def test_streams_one_after_another_are_one() -> None:
    class Letters(IterableDataset):
        def __init__(self, letters: str) -> None:
            self.letters = letters

        def __iter__(self) -> object:
            return iter(self.letters)

    both = Letters("ab") + Letters("c")
    assert isinstance(both, ChainDataset)
    assert list(both) == ["a", "b", "c"]
    with pytest.raises(TypeError, match="only supports IterableDataset, got Squares"):
        list(ChainDataset([Squares()]))


def test_an_empty_part_of_a_split_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="split at index 1 is 0"):
        random_split(Squares(2), [0.9, 0.1])
