"""How the samples of a batch are got and made into one, the same in the main process and in a worker."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

from tensorlab.data.collate import default_collate
from tensorlab.data.dataset import IterableDataset, Subset, TensorDataset


class Ended(Exception):
    """A data set that is gone through has no more samples."""


def fetcher(dataset: Any, collate: Callable[[Any], Any], batched: bool, drop_last: bool) -> Callable[[Any], Any]:
    """The function that gets what a sampler asked for: a batch of a list of indices, or a sample of one index.

    For a data set that is gone through, the indices say only how many samples are wanted; it raises ``Ended`` at the end.
    """
    if isinstance(dataset, IterableDataset):
        return _in_sequence(dataset, collate, batched, drop_last)
    if not batched:
        return lambda index: collate(dataset[index])
    at_once = _at_once(dataset) if collate is default_collate else None
    if at_once is not None:
        return at_once
    many = getattr(dataset, "__getitems__", None)
    if callable(many):
        return lambda indices: collate(many(indices))
    return lambda indices: collate([dataset[index] for index in indices])


def _in_sequence(dataset: Any, collate: Callable[[Any], Any], batched: bool, drop_last: bool) -> Callable[[Any], Any]:
    samples = iter(dataset)

    def batch(indices: list[None]) -> Any:
        found = list(islice(samples, len(indices)))
        if not found or (drop_last and len(found) < len(indices)):
            raise Ended
        return collate(found)

    def sample(index: None) -> Any:
        for found in samples:
            return collate(found)
        raise Ended

    return batch if batched else sample


def _at_once(dataset: Any) -> Callable[[list[Any]], Any] | None:
    """A whole batch of plain tensors in one indexing operation each: the same batch that collating its samples gives."""
    if type(dataset) is TensorDataset:
        return dataset.batch
    if type(dataset) is Subset:
        inner, chosen = _at_once(dataset.dataset), dataset.indices
        if inner is not None:
            return lambda indices: inner([chosen[index] for index in indices])
    return None
