"""``DataLoader``: goes through a data set in batches."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import islice, repeat
from typing import Any

from tensorlab.data.collate import default_collate, default_convert
from tensorlab.data.dataset import IterableDataset, Subset, TensorDataset
from tensorlab.data.sampler import BatchSampler, RandomSampler, SequentialSampler


class DataLoader:
    """Batches of a data set, in order or shuffled, anew for every ``for`` loop.

    ``batch_size=None`` gives single samples. ``shuffle`` draws a new order each time, from ``generator`` or the
    default one, so ``manual_seed`` repeats it. ``sampler`` or ``batch_sampler`` say the order themselves.
    ``collate_fn`` makes a batch of a list of samples (``default_collate`` if left out). Samples are loaded in the
    calling process, so ``num_workers`` must be 0.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers, multiprocessing_context)
        if pin_memory:
            warnings.warn("pin_memory=True has no effect here: batches are made in ordinary memory", stacklevel=2)
        self.dataset = dataset
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.generator = generator
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable:
            _check_iterable(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None and not self._iterable:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(repeat(None) if self._iterable else sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)

    def __iter__(self) -> Iterator[Any]:
        if self._iterable:
            return self._stream()
        if self.batch_sampler is None:
            return (self.collate_fn(self.dataset[index]) for index in self.sampler)
        return map(self._fetcher(), self.batch_sampler)

    def _fetcher(self) -> Callable[[list[Any]], Any]:
        """How a batch is got from its indices."""
        dataset, collate = self.dataset, self.collate_fn
        if collate is default_collate:
            at_once = _at_once(dataset)
            if at_once is not None:
                return at_once
        many = getattr(dataset, "__getitems__", None)
        if callable(many):
            return lambda indices: collate(many(indices))
        return lambda indices: collate([dataset[index] for index in indices])

    def _stream(self) -> Iterator[Any]:
        samples = iter(self.dataset)
        if self.batch_size is None:
            yield from map(self.collate_fn, samples)
            return
        while batch := list(islice(samples, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield self.collate_fn(batch)

    def __len__(self) -> int:
        if self._iterable:
            size = len(self.dataset)
            if self.batch_size is None:
                return size
            return size // self.batch_size if self.drop_last else -(-size // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)


def get_worker_info() -> None:
    """Which worker process this is: ``None``, since samples are loaded in the main process."""
    return None


def _at_once(dataset: Any) -> Callable[[list[Any]], Any] | None:
    """A whole batch of plain tensors in one indexing operation each: the same batch that collating its samples
    gives.
    """
    if type(dataset) is TensorDataset:
        return dataset.batch
    if type(dataset) is Subset:
        inner, chosen = _at_once(dataset.dataset), dataset.indices
        if inner is not None:
            return lambda indices: inner([chosen[index] for index in indices])
    return None


def _check_workers(workers: int, timeout: float, prefetch: Any, persistent: bool, context: Any) -> None:
    if workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if workers > 0:
        raise ValueError(
            f"num_workers={workers}: loading samples in worker processes is not part of this version; use "
            "num_workers=0, which loads them in this process"
        )
    if prefetch is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing. let num_workers > 0 to enable it"
        )
    if persistent:
        raise ValueError("persistent_workers option needs num_workers > 0")
    if context is not None:
        raise ValueError("multiprocessing_context can only be used with multi-process loading (num_workers > 0)")


def _check_iterable(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    if shuffle:
        raise ValueError(
            f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}"
        )
    for name, value in (("sampler", sampler), ("batch_sampler", batch_sampler)):
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
            )
