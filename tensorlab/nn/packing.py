"""Sequences of different lengths in one tensor: padded to the longest, or packed step by step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tensorlab import backend, dispatch, functional

Tensor = Any


class _Packed(NamedTuple):
    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


class PackedSequence(_Packed):
    """Sequences packed step by step: first the first entries of all, longest sequence first, then the second ones, and so on.

    ``batch_sizes`` says how many sequences reach each step; the two index tensors lead to the order by length and back. Made by
    ``pack_padded_sequence`` and ``pack_sequence``.
    """

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None, unsorted_indices: Any = None
    ) -> PackedSequence:
        if batch_sizes is None:
            if not isinstance(data, (tuple, list)) or len(data) != 2:
                raise AssertionError("PackedSequence takes data and batch_sizes, or one pair of them")
            data, batch_sizes = data
        if batch_sizes.is_cuda:
            raise ValueError(f"batch_sizes should always be on CPU. Instead got {batch_sizes.device}.")
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same with ``data`` in another type or on another device; itself if nothing changes."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        at = [None if x is None else x.to(data.device) for x in (self.sorted_indices, self.unsorted_indices)]
        return type(self)(data, self.batch_sizes, *at)

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same on a GPU."""
        return self.to(self.data.cuda(*args, **kwargs).device)

    def cpu(self) -> PackedSequence:
        """The same in host memory."""
        return self.to("cpu")

    def double(self) -> PackedSequence:
        """The same in float64."""
        return self.to(self.data.double().dtype)

    def float(self) -> PackedSequence:
        """The same in float32."""
        return self.to(self.data.float().dtype)

    def half(self) -> PackedSequence:
        """The same in float16."""
        return self.to(self.data.half().dtype)

    def long(self) -> PackedSequence:
        """The same in int64."""
        return self.to(self.data.long().dtype)

    def int(self) -> PackedSequence:
        """The same in int32."""
        return self.to(self.data.int().dtype)

    @property
    def is_cuda(self) -> bool:
        """Whether ``data`` is on a GPU."""
        return bool(self.data.is_cuda)


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes another."""
    return None if permutation is None else permutation.argsort()


def _host(lengths: Any) -> np.ndarray:
    found = np.asarray(backend.to_host(lengths._a) if isinstance(lengths, dispatch.Tensor) else lengths)
    return found.astype(np.int64).reshape(-1)


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack sequences padded to ``[T, N, *]`` (``[N, T, *]`` with ``batch_first``), of which ``lengths`` entries each count.

    Raises ``RuntimeError`` for lengths that are not positive, or with ``enforce_sorted`` not sorted, longest first.
    """
    sizes = _host(lengths)
    order = unsorted = None
    if not enforce_sorted:
        by_length = np.argsort(-sizes, kind="stable")
        sizes = sizes[by_length]
        order = dispatch.move(dispatch.wrap(by_length), input.device)
        unsorted = invert_permutation(order)
        input = input.index_select(0 if batch_first else 1, order)
    if batch_first:
        input = input.transpose(0, 1)
    steps, count = input.shape[:2]
    if sizes.size != count:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {sizes.size} (batch_size={count})"
        )
    if sizes.size == 0 or sizes.min() <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if np.any(np.diff(sizes) > 0):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not "
            "need ONNX exportability."
        )
    if sizes[0] > steps:
        raise RuntimeError(f"Expected lengths of at most {steps}, the padded length, but got {sizes[0]}")
    alive = np.arange(sizes[0])[:, None] < sizes
    if alive.all():
        data = input[: int(sizes[0])].reshape((-1, *input.shape[2:]))
    else:
        at = dispatch.move(dispatch.wrap(np.flatnonzero(alive)), input.device)
        data = input[: int(sizes[0])].reshape((-1, *input.shape[2:])).index_select(0, at)
    return PackedSequence(data, dispatch.wrap(alive.sum(1)), order, unsorted)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """The padded sequences ``[T, N, *]`` that were packed, and their lengths. ``total_length`` pads to that many steps."""
    sizes = _host(sequence.batch_sizes)
    steps, count = len(sizes), int(sizes[0])
    if total_length is not None and total_length < steps:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got total_length="
            f"{total_length} and max sequence length being {steps}"
        )
    steps = steps if total_length is None else total_length
    full = np.zeros(steps, np.int64)
    full[: len(sizes)] = sizes
    alive = np.arange(count) < full[:, None]
    data = sequence.data
    shape = (steps, count, *data.shape[1:])
    if alive.all():
        padded = data.reshape(shape)
    else:
        at = dispatch.move(dispatch.wrap(np.flatnonzero(alive)), data.device)
        padded = data.new_full((steps * count, *data.shape[1:]), padding_value)
        padded = padded.index_put((at,), data).reshape(shape)
    lengths = dispatch.wrap(alive.sum(0))
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices.cpu()]
    return padded.transpose(0, 1) if batch_first else padded, lengths


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Sequences ``[L, *]`` of different lengths in one tensor ``[T, N, *]``, padded to the longest on one side."""
    if padding_side not in ("right", "left"):
        raise ValueError(f"padding_side should be either 'right' or 'left', but got {padding_side!r}")
    given = list(sequences)
    if not given:
        raise RuntimeError("pad_sequence: received an empty list of sequences")
    longest, rest = max(len(x) for x in given), tuple(given[0].shape[1:])
    parts = []
    for x in given:
        if tuple(x.shape[1:]) != rest:
            raise RuntimeError(
                f"pad_sequence: all sequences need the same sizes after the first dimension, got {list(x.shape)} beside "
                f"{list(given[0].shape)}"
            )
        missing = longest - len(x)
        if missing:
            padding = x.new_full((missing, *rest), padding_value)
            x = functional.cat([x, padding] if padding_side == "right" else [padding, x])
        parts.append(x)
    return functional.stack(parts, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Any, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded tensor, each as long as its entry of ``lengths`` says."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[:n] for row, n in zip(rows, _host(lengths).tolist(), strict=True)]


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences ``[L, *]`` of different lengths, longest first unless ``enforce_sorted=False``."""
    given = list(sequences)
    return pack_padded_sequence(pad_sequence(given), [len(x) for x in given], enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences that were packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
