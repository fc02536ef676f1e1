"""Loaders, samplers, collating: which samples come, in which order, as what."""

from __future__ import annotations

import importlib
from collections import namedtuple

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    default_convert,
    get_worker_info,
)


@pytest.fixture
def data() -> TensorDataset:
    return TensorDataset(tl.arange(10).float(), tl.arange(10))


class Counting(IterableDataset):
    """The first numbers, one after another."""

    def __iter__(self) -> object:
        return iter(range(5))

    def __len__(self) -> int:
        return 5


def test_batches_come_in_order_and_the_last_is_shorter(data: TensorDataset) -> None:
    loader = DataLoader(data, batch_size=4)
    assert [y.tolist() for _, y in loader] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert len(loader) == 3
    short = DataLoader(data, batch_size=4, drop_last=True)
    assert [y.tolist() for _, y in short] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert len(short) == 2


def test_a_shuffled_loader_gives_every_sample_once_and_another_order_each_time(data: TensorDataset) -> None:
    tl.manual_seed(0)
    loader = DataLoader(data, batch_size=3, shuffle=True)
    first, second = (tl.cat([y for _, y in loader]).tolist() for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(10))
    assert first != second
    tl.manual_seed(0)
    assert tl.cat([y for _, y in loader]).tolist() == first


def test_a_generator_repeats_the_order_whatever_else_is_drawn(data: TensorDataset) -> None:
    def order(seed: int) -> list[int]:
        tl.rand(3)
        loader = DataLoader(data, shuffle=True, generator=tl.Generator().manual_seed(seed))
        return [y.item() for _, y in loader]

    assert order(5) == order(5) != order(6)


def test_a_loader_over_tensors_gives_what_collating_sample_by_sample_gives(data: TensorDataset) -> None:
    class Slow(Dataset):
        def __getitem__(self, index: int) -> object:
            return data[index]

        def __len__(self) -> int:
            return len(data)

    for fast, slow in ((data, Slow()), (Subset(data, [7, 1, 2]), Subset(Slow(), [7, 1, 2]))):
        for a, b in zip(DataLoader(fast, 2), DataLoader(slow, 2), strict=True):
            assert type(a) is type(b) is list
            assert [x.tolist() for x in a] == [x.tolist() for x in b]
            assert [x.dtype for x in a] == [x.dtype for x in b]


def test_batches_of_a_data_set_that_fetches_many_at_once_are_fetched_at_once() -> None:
    asked = []

    class Many(Dataset):
        def __getitems__(self, indices: list[int]) -> list[int]:
            asked.append(indices)
            return indices

        def __len__(self) -> int:
            return 4

    assert [b.tolist() for b in DataLoader(Many(), 2)] == [[0, 1], [2, 3]]
    assert asked == [[0, 1], [2, 3]]


def test_without_batches_samples_come_one_by_one() -> None:
    loader = DataLoader([np.ones(2), np.zeros(2)], batch_size=None)
    assert [x.tolist() for x in loader] == [[1, 1], [0, 0]]
    assert len(loader) == 2


def test_a_data_set_without_indices_is_gone_through() -> None:
    assert [b.tolist() for b in DataLoader(Counting(), 2)] == [[0, 1], [2, 3], [4]]
    assert [b.tolist() for b in DataLoader(Counting(), 2, drop_last=True)] == [[0, 1], [2, 3]]
    assert list(DataLoader(Counting(), None)) == [0, 1, 2, 3, 4]
    assert len(DataLoader(Counting(), 2)) == 3
    with pytest.raises(ValueError, match="expected unspecified shuffle"):
        DataLoader(Counting(), shuffle=True)
    with pytest.raises(ValueError, match="expected unspecified sampler"):
        DataLoader(Counting(), sampler=[0])


def test_samplers_say_the_order(data: TensorDataset) -> None:
    assert [y.tolist() for _, y in DataLoader(data, 2, sampler=[3, 1, 4])] == [[3, 1], [4]]
    assert [y.tolist() for _, y in DataLoader(data, batch_sampler=[[1, 2], [0]])] == [[1, 2], [0]]
    assert list(BatchSampler(SequentialSampler(range(5)), 2, False)) == [[0, 1], [2, 3], [4]]
    assert sorted(SubsetRandomSampler([4, 6, 9])) == [4, 6, 9]
    assert len(list(RandomSampler(range(3), num_samples=7))) == 7
    assert set(RandomSampler(range(3), replacement=True, num_samples=50)) == {0, 1, 2}
    drawn = list(WeightedRandomSampler([0.0, 1.0, 3.0], 400, generator=tl.Generator().manual_seed(0)))
    assert 0 not in drawn
    assert 0.65 < drawn.count(2) / 400 < 0.85
    assert sorted(WeightedRandomSampler([1, 1, 0, 1], 3, replacement=False)) == [0, 1, 3]


def test_collate_fn_makes_the_batch(data: TensorDataset) -> None:
    loader = DataLoader(data, 5, collate_fn=lambda samples: len(samples))
    assert list(loader) == [5, 5]


def test_options_that_exclude_each_other_are_refused(data: TensorDataset) -> None:
    with pytest.raises(ValueError, match="sampler option is mutually exclusive with shuffle"):
        DataLoader(data, sampler=[0], shuffle=True)
    with pytest.raises(ValueError, match="batch_sampler option is mutually exclusive"):
        DataLoader(data, batch_size=3, batch_sampler=[[0]])
    with pytest.raises(ValueError, match="batch_size=None option disables"):
        DataLoader(data, batch_size=None, drop_last=True)
    with pytest.raises(ValueError, match="positive integer"):
        DataLoader(data, batch_size=0)
    with pytest.raises(ValueError, match="num_samples should be a positive"):
        RandomSampler(data, num_samples=0)


def test_options_of_workers_are_refused_without_workers(data: TensorDataset) -> None:
    for option in ({"prefetch_factor": 2}, {"persistent_workers": True}, {"multiprocessing_context": "spawn"}):
        with pytest.raises(ValueError, match="num_workers > 0"):
            DataLoader(data, **option)
    with pytest.raises(ValueError, match="non-negative"):
        DataLoader(data, num_workers=-1)
    with pytest.raises(ValueError, match="valid start method"):
        DataLoader(data, num_workers=1, multiprocessing_context="teleport")
    with pytest.raises(TypeError, match="valid context object"):
        DataLoader(data, num_workers=1, multiprocessing_context=3)
    assert get_worker_info() is None


def test_what_a_loader_was_made_of_cannot_be_exchanged(data: TensorDataset) -> None:
    loader = DataLoader(data)
    with pytest.raises(ValueError, match="batch_size attribute should not be set after DataLoader is initialized"):
        loader.batch_size = 2


def test_reading_more_than_a_stream_said_is_warned_of() -> None:
    class Liar(Counting):
        def __len__(self) -> int:
            return 2

    with pytest.warns(UserWarning, match="was reported to be 2"):
        assert len(list(DataLoader(Liar(), 2))) == 3


def test_each_process_of_several_gets_its_own_equal_part() -> None:
    parts = [list(DistributedSampler(range(10), 3, rank, shuffle=False)) for rank in range(3)]
    assert parts == [[0, 3, 6, 9], [1, 4, 7, 0], [2, 5, 8, 1]]
    short = [list(DistributedSampler(range(10), 3, rank, shuffle=False, drop_last=True)) for rank in range(3)]
    assert short == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]
    shuffled = [DistributedSampler(range(9), 3, rank, seed=4) for rank in range(3)]
    first = [list(s) for s in shuffled]
    assert sorted(sum(first, [])) == list(range(9))
    for s in shuffled:
        s.set_epoch(1)
    assert [list(s) for s in shuffled] != first
    with pytest.raises(ValueError, match="Invalid rank 3"):
        DistributedSampler(range(9), 3, 3)


def test_arrays_that_are_read_backwards_are_collated() -> None:
    batch = default_collate([np.arange(3)[::-1], np.arange(3)])
    assert batch.tolist() == [[2, 1, 0], [0, 1, 2]]


def test_samples_are_collated_part_by_part() -> None:
    Point = namedtuple("Point", "x y")
    batch = default_collate(
        [
            {"a": tl.ones(2), "b": (1, 2.0), "c": "one", "d": Point(np.float32(1), [True])},
            {"a": tl.zeros(2), "b": (3, 4.0), "c": "two", "d": Point(np.float32(2), [False])},
        ]
    )
    assert batch["a"].tolist() == [[1, 1], [0, 0]]
    assert [x.tolist() for x in batch["b"]] == [[1, 3], [2.0, 4.0]]
    assert [x.dtype for x in batch["b"]] == [tl.int64, tl.float64]
    assert batch["c"] == ["one", "two"]
    assert batch["d"].x.tolist() == [1, 2]
    assert batch["d"].y[0].tolist() == [True, False]
    assert default_collate([np.arange(2), np.arange(2)]).tolist() == [[0, 1], [0, 1]]


def test_samples_that_do_not_fit_together_are_explained() -> None:
    with pytest.raises(RuntimeError, match=r"got \[2\] at entry 0 and \[3\] at entry 1"):
        default_collate([tl.ones(2), tl.ones(3)])
    with pytest.raises(RuntimeError, match="samples have"):
        default_collate([(1, 2), (1,)])
    with pytest.raises(TypeError, match="found builtins.object.*collate_fn"):
        default_collate([object()])
    with pytest.raises(TypeError, match="cannot become a tensor"):
        default_collate([np.array(["a"])])


def test_a_single_sample_is_converted_part_by_part() -> None:
    out = default_convert({"a": np.ones(2), "b": [np.float64(3), "text"], "c": (1, tl.ones(1))})
    assert isinstance(out["a"], tl.Tensor)
    assert out["b"][0].item() == 3
    assert out["b"][1] == "text"
    assert out["c"][0] == 1


def test_the_names_of_pytorch_lead_to_the_same_classes() -> None:
    from tensorlab.utils import data as torch_style

    assert torch_style.DataLoader is DataLoader
    assert tl.utils.data.TensorDataset is TensorDataset
    for module, name in (("sampler", "RandomSampler"), ("dataset", "Subset"), ("distributed", "DistributedSampler")):
        there = importlib.import_module(f"tensorlab.utils.data.{module}")
        assert getattr(there, name) is getattr(tl.data, name)
