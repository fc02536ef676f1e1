"""Samples made into a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tensorlab import creation, dtypes, functional
from tensorlab.data import transport
from tensorlab.tensor import Tensor


def default_convert(data: Any) -> Any:
    """Arrays inside a sample as tensors; everything else as it is. For loaders without batches."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        return data if data.dtype.kind in "USO" else creation.as_tensor(np.asarray(data))
    if isinstance(data, Mapping):
        return _like(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*[default_convert(value) for value in data])
    if isinstance(data, (list, tuple)):
        return [default_convert(value) for value in data]
    return data


def default_collate(batch: Sequence[Any]) -> Any:
    """Samples of one kind as a batch: tensors and arrays stacked, numbers as a tensor, texts as a list.

    Tuples, lists and dictionaries of those are collated part by part. Raises ``TypeError`` for anything else, and
    ``RuntimeError`` where samples have different sizes, naming them.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return _stacked(batch)
    if isinstance(first, np.ndarray) and first.ndim:
        _known(first)
        return _stacked_arrays(batch)
    if isinstance(first, (np.ndarray, np.generic)):
        _known(first)
        return creation.tensor(np.stack(batch))
    if isinstance(first, float):
        return creation.tensor(batch, dtype=dtypes.float64)
    if isinstance(first, int):
        return creation.tensor(batch)
    if isinstance(first, (str, bytes)):
        return list(batch)
    if isinstance(first, Mapping):
        return _like(first, {key: default_collate([sample[key] for sample in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*[default_collate(part) for part in zip(*batch, strict=True)])
    if isinstance(first, Sequence):
        sizes = [len(sample) for sample in batch]
        if len(set(sizes)) > 1:
            raise RuntimeError(
                f"each element in list of batch should be of equal size: samples have {sorted(set(sizes))} parts"
            )
        return [default_collate(part) for part in zip(*batch, strict=True)]
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
        f"{type(first).__module__}.{type(first).__qualname__}. Pass collate_fn=, a function that makes a batch of "
        "a list of samples."
    )


def _stacked(batch: Sequence[Any]) -> Tensor:
    """Tensors as one; in a worker, straight in memory that it shares with the main process."""
    _same_shape(batch)
    plain = transport.outgoing is not None and not any(x.requires_grad or type(x._a) is not np.ndarray for x in batch)
    return _stacked_arrays([x._a for x in batch]) if plain else functional.stack(list(batch))


def _stacked_arrays(batch: Sequence[np.ndarray]) -> Tensor:
    """The same for arrays."""
    _same_shape(batch)
    kind = batch[0].dtype
    if any(x.dtype != kind for x in batch):
        return functional.stack([creation.tensor(x) for x in batch])
    out = transport.take((len(batch), *batch[0].shape), kind)
    return creation.as_tensor(np.stack(batch, out=out))


def _same_shape(batch: Sequence[Any]) -> None:
    shape = batch[0].shape
    for at, x in enumerate(batch):
        if x.shape != shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and "
                f"{list(x.shape)} at entry {at}"
            )


def _known(array: Any) -> None:
    if array.dtype.kind in "USO":
        raise TypeError(f"default_collate: arrays of {array.dtype} cannot become a tensor; pass collate_fn=")


def _like(mapping: Any, values: dict[Any, Any]) -> Any:
    """Values in a mapping of the same type, where it can be made from them."""
    try:
        return type(mapping)(values)
    except TypeError:
        return values
