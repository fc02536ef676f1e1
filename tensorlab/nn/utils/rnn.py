"""Sequences of different lengths in one tensor: padded to the longest, or packed step by step."""

from tensorlab.nn.packing import PackedSequence as PackedSequence
from tensorlab.nn.packing import invert_permutation as invert_permutation
from tensorlab.nn.packing import pack_padded_sequence as pack_padded_sequence
from tensorlab.nn.packing import pack_sequence as pack_sequence
from tensorlab.nn.packing import pad_packed_sequence as pad_packed_sequence
from tensorlab.nn.packing import pad_sequence as pad_sequence
from tensorlab.nn.packing import unpack_sequence as unpack_sequence
from tensorlab.nn.packing import unpad_sequence as unpad_sequence

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence", "pad_sequence",
    "unpack_sequence", "unpad_sequence",
]  # fmt: skip
