"""What several tensors need of memory, each byte once; and tensors over such memory again.

A slice of a large tensor needs its own elements, not the storage that it lies in. Tensors that have elements in common share one
piece, so that after loading a write to one is seen by the others, as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tensorlab import backend, dispatch, dtypes
from tensorlab.backend import host
from tensorlab.backend.storage import Storage
from tensorlab.viewing import layout_of, strides_of

#: With more neighbours than this, ranges of addresses decide whether arrays overlap.
_PAIRS = 64


class Place(NamedTuple):
    """Where a tensor lies in a piece; strides and offset in elements of its own type."""

    piece: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


def on_host(tensors: Sequence[Any]) -> list[np.ndarray]:
    """The arrays of tensors in host memory. What shares memory on a GPU shares it there as well."""
    roots: dict[int, np.ndarray] = {}
    found = []
    for x in tensors:
        a = x._a
        if type(a) is np.ndarray:
            found.append(a)
        elif x._st is None or x._st.root is None:
            found.append(backend.to_host(a))
        else:
            root = roots.get(id(x._st))
            if root is None:
                root = roots[id(x._st)] = backend.to_host(x._st.root)
            found.append(host.strided(root, a.shape, a.strides, layout_of(x).offset * a.itemsize, a.dtype))
    return found


def gather(arrays: Sequence[np.ndarray], mixed: bool = True) -> tuple[list[np.ndarray], list[Place]]:
    """One-dimensional pieces that hold all elements of the arrays, and where each array lies.

    ``mixed`` allows arrays of several types in one piece, which then has bytes as elements.
    """
    pieces: list[np.ndarray] = []
    places: list[Any] = [None] * len(arrays)
    for group in _groups(arrays):
        members = [arrays[i] for i in group]
        if len(members) > 1 and (mixed or len({a.dtype for a in members}) == 1):
            low = min(host.address(a) for a in members)
            if not any((host.address(a) - low) % a.itemsize for a in members):
                kind = members[0].dtype if len({a.dtype for a in members}) == 1 else np.dtype(np.uint8)
                high = max(_end(a) for a in members)
                pieces.append(_memory(low, high - low, members).view(kind))
                for i, a in zip(group, members, strict=True):
                    offset = (host.address(a) - low) // a.itemsize
                    places[i] = Place(len(pieces) - 1, a.shape, strides_of(a), offset)
                continue
        for i, a in zip(group, members, strict=True):
            piece, strides = _alone(a)
            pieces.append(piece)
            places[i] = Place(len(pieces) - 1, a.shape, strides, 0)
    return pieces, places


def _alone(a: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]]:
    """The piece for an array that shares nothing, and its strides in that. Gaps between elements are left out."""
    if a.size == 0:
        return np.empty(0, a.dtype), strides_of(a)
    if a.dtype.itemsize * a.size < _end(a) - host.address(a) or not a.flags.aligned:
        a = a.copy(order="K")
    return _memory(host.address(a), _end(a) - host.address(a), a).view(a.dtype), strides_of(a)


def _groups(arrays: Sequence[np.ndarray]) -> list[list[int]]:
    """Which arrays have elements in common, directly or through others; in the order of the first of each group."""
    order = sorted(range(len(arrays)), key=lambda i: host.address(arrays[i]))
    leader = list(range(len(arrays)))

    def find(i: int) -> int:
        while leader[i] != i:
            leader[i] = leader[leader[i]]
            i = leader[i]
        return i

    near: list[int] = []
    for i in order:
        a = arrays[i]
        if a.size == 0:
            continue
        start = host.address(a)
        near = [j for j in near if _end(arrays[j]) > start]
        for j in near:
            if find(i) != find(j) and (len(near) > _PAIRS or host.overlap(a, arrays[j])):
                leader[find(i)] = find(j)
        near.append(i)
    groups: dict[int, list[int]] = {}
    for i in range(len(arrays)):
        groups.setdefault(find(i), []).append(i)
    return list(groups.values())


def _end(a: np.ndarray) -> int:
    """The address behind the last element."""
    if a.size == 0:
        return host.address(a)
    return host.address(a) + sum((n - 1) * s for n, s in zip(a.shape, a.strides, strict=True)) + a.itemsize


class _Window:
    """Memory that belongs to ``owner``, in the form in which NumPy takes it."""

    def __init__(self, address: int, size: int, owner: Any) -> None:
        self.owner = owner
        self.__array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (address, True), "version": 3}


def _memory(address: int, size: int, owner: Any) -> np.ndarray:
    """The bytes from an address on, as a read-only array."""
    return np.asarray(_Window(address, size, owner))


# ----------------------------------------------------------------------------------------------------------- and back


class Loaded:
    """A piece that was read: its memory, where tensors over it are to be, and what they share."""

    __slots__ = ("root", "storage")

    def __init__(self, root: Any) -> None:
        self.root = root
        self.storage = Storage()
        self.storage.root = root

    def tensor(self, kind: dtypes.dtype, shape: Sequence[int], strides: Sequence[int], offset: int) -> Any:
        """A tensor over the piece. Raises ``RuntimeError`` where it would reach beyond it."""
        size = kind.np.itemsize
        for what in (shape, strides, (offset,)):
            if any(type(n) is not int or not 0 <= n < 2**62 for n in what):
                raise RuntimeError(f"damaged: {list(what)} are no sizes of a tensor")
        if len(shape) != len(strides):
            raise RuntimeError(f"damaged: a tensor of shape {list(shape)} with strides {list(strides)}")
        last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        if 0 not in shape and (last + 1) * size > self.root.nbytes:
            raise RuntimeError(
                f"damaged: a tensor of shape {list(shape)}, strides {list(strides)} and offset {offset} reaches beyond "
                f"the {self.root.nbytes} bytes that are there"
            )
        start = min(offset * size, self.root.nbytes) if 0 in shape else offset * size
        where = backend.of(self.root)
        out = dispatch.wrap(where.strided(self.root, tuple(shape), [s * size for s in strides], start, kind.np))
        out._st, out._off = self.storage, offset
        return out
