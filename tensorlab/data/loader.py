"""``DataLoader``: goes through a data set in batches."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import count, repeat
from typing import Any

from tensorlab import random
from tensorlab.data import pool
from tensorlab.data.collate import default_collate, default_convert
from tensorlab.data.dataset import IterableDataset
from tensorlab.data.fetch import Ended, fetcher
from tensorlab.data.parallel import Parallel
from tensorlab.data.pinning import pinned, why_not_pinned
from tensorlab.data.sampler import BatchSampler, RandomSampler, SequentialSampler


class DataLoader:
    """Batches of a data set, in order or shuffled, anew for every ``for`` loop.

    ``batch_size=None`` gives single samples. ``shuffle`` draws a new order each time, from ``generator`` or the default one, so
    ``manual_seed`` repeats it. ``sampler`` or ``batch_sampler`` say the order themselves. ``collate_fn`` makes a batch of a list of
    samples (``default_collate`` if left out).

    ``num_workers`` processes load batches ahead, ``prefetch_factor`` (2) each; ``persistent_workers`` keeps them for the next
    loop. Order, and what is random in samples, depend on the seed alone, never on which worker is faster; ``in_order=False`` gives
    batches as they come. ``worker_init_fn(number)`` runs first in every worker. An error of a worker is raised here with the
    worker's traceback; a worker that dies, and one that needs more than ``timeout`` seconds for a batch, is a ``RuntimeError``.
    """

    _fixed = False

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
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.persistent_workers = persistent_workers
        self.multiprocessing_context = multiprocessing_context
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.generator = generator
        self.in_order = in_order
        self._iterable = isinstance(dataset, IterableDataset)
        self._going: Parallel | None = None  # workers that stay from loop to loop
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
        if sampler is None and self._iterable:
            sampler = repeat(None)
        elif sampler is None:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self._fixed = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._fixed and name in _FIXED:
            raise ValueError(f"{name} attribute should not be set after DataLoader is initialized; make a new loader")
        if name == "multiprocessing_context" and value is not None:
            if not self.num_workers:
                raise ValueError(
                    "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
                    f"num_workers={self.num_workers}"
                )
            value = pool.context(value)
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator[Any]:
        seed = random.randint(0, 2**62, (1,), generator=self.generator).item()
        orders = iter(self.sampler if self.batch_sampler is None else self.batch_sampler)
        if self.num_workers == 0:
            batches: Iterator[Any] = self._here(orders)
        elif self.persistent_workers and self._going is not None and self._going.again(orders, seed):
            batches = self._going
        else:
            batches = Parallel(self, orders, seed)
            self._going = batches if self.persistent_workers else None
        if self._iterable and self.batch_size is not None:
            batches = map(self._counting(), batches)
        if self.pin_memory:
            reason = why_not_pinned()
            if reason is None:
                return map(pinned, batches)
            warnings.warn(f"'pin_memory' argument is set as true but {reason}; it has no effect", stacklevel=2)
        return batches

    def _here(self, orders: Iterator[Any]) -> Iterator[Any]:
        """The batches, loaded in this process."""
        fetch = fetcher(self.dataset, self.collate_fn, self.batch_sampler is not None, self.drop_last)
        for indices in orders:
            try:
                batch = fetch(indices)
            except Ended:
                return
            yield batch

    def _counting(self) -> Callable[[Any], Any]:
        """A function that passes batches on, and warns where there are more of them than the data set said."""
        said = len(self) if hasattr(self.dataset, "__len__") else None
        numbers = count(1)

        def passed(batch: Any) -> Any:
            if next(numbers) - 1 == said:
                warnings.warn(
                    f"Length of IterableDataset {self.dataset} was reported to be {len(self.dataset)}, which makes "
                    f"{said} batches, but there are more. With several workers, each goes through all of it unless it "
                    "asks get_worker_info() for its part.",
                    stacklevel=2,
                )
            return batch

        return passed

    def __len__(self) -> int:
        if self._iterable:
            size = len(self.dataset)
            if self.batch_size is None:
                return size
            return size // self.batch_size if self.drop_last else -(-size // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)

    def __class_getitem__(cls, item: Any) -> Any:
        return cls


#: What a loader derives other things from when it is made.
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


def _check_workers(workers: int, timeout: float, prefetch: Any, persistent: bool) -> None:
    if isinstance(workers, bool) or not isinstance(workers, int):
        raise TypeError(f"num_workers must be a number of processes, not {workers!r}")
    if workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if prefetch is not None and workers == 0:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing. let num_workers > 0 to enable it"
        )
    if prefetch is not None and (not isinstance(prefetch, int) or prefetch < 1):
        raise ValueError(f"prefetch_factor option should be a positive number of batches, but got {prefetch}")
    if persistent and workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


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
