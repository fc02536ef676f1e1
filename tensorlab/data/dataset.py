"""Collections of samples that can be asked for one, or gone through."""

from __future__ import annotations

import math
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from tensorlab import creation, random
from tensorlab.tensor import Tensor


class Dataset:
    """The base of data sets: a subclass says ``__getitem__(index)``, and ``__len__`` where there is an end."""

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__: define what a sample is")

    def __add__(self, other: Dataset) -> ConcatDataset:
        return ConcatDataset([self, other])

    def __class_getitem__(cls, item: Any) -> Any:
        return cls


class IterableDataset(Dataset):
    """A data set that can only be gone through: a subclass says ``__iter__``."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} has no __iter__: define how to go through it")

    def __add__(self, other: Dataset) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset):
    """Tensors side by side: sample ``i`` is the tuple of their ``[i]``. Raises ``ValueError`` where their lengths
    differ.

    >>> import tensorlab as tl
    >>> from tensorlab.data import TensorDataset
    >>> TensorDataset(tl.tensor([1., 2.]), tl.tensor([3, 4]))[1]
    (tensor(2.), tensor(4))
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if not tensors:
            raise ValueError("TensorDataset needs at least one tensor")
        for at, x in enumerate(tensors):
            if not isinstance(x, Tensor):
                raise TypeError(f"TensorDataset takes tensors, argument {at} is {type(x).__name__}")
            if x.dim() == 0:
                raise ValueError(f"tensor {at} of the TensorDataset is 0-dimensional and has no samples")
        lengths = [x.size(0) for x in tensors]
        if len(set(lengths)) > 1:
            raise ValueError(f"Size mismatch between tensors: their first dimensions must be equal, got {lengths}")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple([x[index] for x in self.tensors])

    def __len__(self) -> int:
        return self.tensors[0].size(0)

    def batch(self, indices: Sequence[int]) -> list[Tensor]:
        """Many samples at once: what ``default_collate`` makes of them, taken in one go a tensor."""
        at = creation.tensor(indices)
        return [x[at] for x in self.tensors]


class Subset(Dataset):
    """The samples of a data set at some indices."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[Any]:
        """Several samples; by the data set's own way where it has one."""
        return _several(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset):
    """Data sets one after another."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("datasets should not be an empty iterable")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise TypeError("ConcatDataset does not support IterableDataset, which has no indices")
        self.cumulative_sizes = list(accumulate(len(d) for d in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        size = len(self)
        if not -size <= index < size:
            raise IndexError(f"index {index} is out of range for a data set of {size} samples")
        index %= size
        which = bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]


class ChainDataset(IterableDataset):
    """Data sets that can only be gone through, one after another."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise TypeError(f"ChainDataset only supports IterableDataset, got {type(dataset).__name__}")
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)


class StackDataset(Dataset):
    """Data sets side by side: sample ``i`` holds sample ``i`` of each, as a tuple, or under their names as a dictionary.

    >>> from tensorlab.data import StackDataset
    >>> StackDataset(image="ab", label=[0, 1])[1]
    {'image': 'b', 'label': 1}
    """

    datasets: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError("StackDataset takes data sets as positional arguments, for tuples, or by name, not both")
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = kwargs or args
        sizes = [len(dataset) for dataset in (kwargs.values() if kwargs else args)]
        if len(set(sizes)) > 1:
            raise ValueError(f"Size mismatch between datasets: they have {sizes} samples")
        self._length = sizes[0]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple([dataset[index] for dataset in self.datasets])

    def __getitems__(self, indices: list[int]) -> list[Any]:
        """Several samples; by a data set's own way where it has one."""
        parts = self.datasets.values() if isinstance(self.datasets, dict) else self.datasets
        columns = [_several(dataset, indices) for dataset in parts]
        if isinstance(self.datasets, dict):
            return [dict(zip(self.datasets, sample, strict=True)) for sample in zip(*columns, strict=True)]
        return list(zip(*columns, strict=True))

    def __len__(self) -> int:
        return self._length


def _several(dataset: Any, indices: list[int]) -> list[Any]:
    """Samples of a data set, by its ``__getitems__`` if it has one."""
    many = getattr(dataset, "__getitems__", None)
    if not callable(many):
        return [dataset[i] for i in indices]
    found = many(indices)
    if len(found) != len(indices):
        raise ValueError(
            f"__getitems__ of {type(dataset).__name__} gave {len(found)} samples for {len(indices)} indices"
        )
    return found


def random_split(dataset: Any, lengths: Sequence[int | float], generator: Any = None) -> list[Subset]:
    """Split at random into parts of the given lengths, or of the given fractions if they sum to 1.

    What fractions leave over goes to the first parts, one sample each. Raises ``ValueError`` unless lengths sum to the
    whole.
    """
    size = len(dataset)
    if lengths and math.isclose(sum(lengths), 1) and sum(lengths) <= 1 + 1e-9 and any(0 < n < 1 for n in lengths):
        for at, part in enumerate(lengths):
            if not 0 <= part <= 1:
                raise ValueError(f"Fraction at index {at} is not between 0 and 1")
        counts = [math.floor(size * part) for part in lengths]
        for at in range(size - sum(counts)):
            counts[at % len(counts)] += 1
        for at, count in enumerate(counts):
            if count == 0:
                warnings.warn(f"Length of split at index {at} is 0: that part is empty", stacklevel=2)
    else:
        counts = [int(n) for n in lengths]
    if sum(counts) != size:
        raise ValueError(
            f"Sum of input lengths does not equal the length of the input dataset! {list(lengths)} sum to "
            f"{sum(counts)}, "
            f"the data set has {size}"
        )
    order = random.randperm(size, generator=generator).tolist()
    return [Subset(dataset, order[end - n : end]) for n, end in zip(counts, accumulate(counts), strict=True)]
