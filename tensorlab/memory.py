"""The memory behind tensors: storages as objects, and tensors that are set to lie in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tensorlab import backend, creation, dispatch, dtypes, layout
from tensorlab.device import device
from tensorlab.dispatch import storage_of, wrap
from tensorlab.engine import sites
from tensorlab.functional.shapes import checked_layout
from tensorlab.inplace import resized
from tensorlab.modes import state
from tensorlab.viewing import alias, layout_of


class UntypedStorage:
    """The bytes that a tensor and all its views share.

    Compares equal to the storage of every tensor that lies in the same memory. Its size is fixed: tensors hold windows on it. Made
    from a number, it has so many bytes of 0.
    """

    def __init__(self, tensor: Any) -> None:
        if isinstance(tensor, int):
            tensor = creation.zeros(tensor, dtype=dtypes.uint8, device="cpu")
        if not isinstance(tensor, dispatch.Tensor):
            raise TypeError(f"a storage is that of a Tensor, or has a number of bytes; not {type(tensor).__name__}")
        self._storage = storage_of(tensor)
        if self._storage.root is None:
            self._storage.root = backend.of(tensor._a).root(tensor._a)

    @property
    def _root(self) -> Any:
        return self._storage.root

    def nbytes(self) -> int:
        """How many bytes there are."""
        return int(self._root.nbytes)

    size = __len__ = nbytes

    def element_size(self) -> int:
        """Bytes of one element, which is a byte."""
        return 1

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return backend.of(self._root).address(self._root) if self._root.size else 0

    @property
    def device(self) -> device:
        """Where the bytes are."""
        return dispatch.device_of(self._root)

    @property
    def is_cuda(self) -> bool:
        """Whether the bytes are on a GPU."""
        return self.device.type == "cuda"

    def tolist(self) -> list[int]:
        """The bytes as numbers from 0 to 255."""
        return list(backend.to_host(self._root).tobytes())

    def __getitem__(self, index: Any) -> Any:
        return self.tolist()[index]

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def resize_(self, size: int) -> UntypedStorage:
        """Raises ``RuntimeError`` for any size but the one it has: tensors that lie in it could not follow."""
        if size != self.nbytes():
            raise RuntimeError(
                f"resize_(): the storage of a tensor has {self.nbytes()} bytes and cannot be given {size}: tensors hold windows on its "
                "memory. Use tensor.resize_(), which takes new memory where the old is too small."
            )
        return self

    def untyped(self) -> UntypedStorage:
        """The storage without an element type: itself."""
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self._storage is other._storage

    def __hash__(self) -> int:
        return id(self._storage)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.nbytes()} bytes on {self.device}>"


class TypedStorage(UntypedStorage):
    """The elements that a tensor and all its views share, as one row."""

    def __init__(self, tensor: Any) -> None:
        super().__init__(tensor)
        self.dtype = dtypes.uint8 if isinstance(tensor, int) else dtypes.of(tensor._a.dtype)

    def size(self) -> int:
        """How many elements there are."""
        return self.nbytes() // self.dtype.itemsize

    __len__ = size

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        return _row(self._storage, self.dtype.np).tolist()

    def resize_(self, size: int) -> UntypedStorage:
        """Raises ``RuntimeError`` for any number of elements but the one it has."""
        return super().resize_(size * self.dtype.itemsize)

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return UntypedStorage(_row(self._storage, self.dtype.np))

    __hash__ = UntypedStorage.__hash__


def _row(st: Any, np_dtype: Any) -> Any:
    """A tensor over all of a storage, as one row."""
    size, where = st.root.nbytes // np_dtype.itemsize, backend.of(st.root)
    out = wrap(where.strided(st.root, (size,), (np_dtype.itemsize,), 0, np_dtype))
    out._st = st
    return out


def is_storage(obj: Any) -> bool:
    """Whether ``obj`` is a storage."""
    return isinstance(obj, (UntypedStorage, TypedStorage))


def untyped_storage(self: Any) -> UntypedStorage:
    """The bytes that this tensor and its views share."""
    return UntypedStorage(self)


def storage(self: Any) -> TypedStorage:
    """The elements that this tensor and its views share, as one row."""
    return TypedStorage(self)


def storage_type(self: Any) -> type:
    """The class of ``storage()``."""
    return TypedStorage


# ------------------------------------------------------------------------------------------------- lying elsewhere


def set_(
    self: Any, source: Any = None, storage_offset: int = 0, size: Sequence[int] | None = None, stride: Any = None
) -> Any:
    """Lie where another tensor lies, or in a storage under a layout; without a source, nowhere. Returns the tensor.

    Raises ``RuntimeError`` for a leaf that requires grad, for another element type, and for a layout that reaches outside.
    """
    if state.grad and self.requires_grad:
        raise RuntimeError(
            "set_(): a leaf Variable that requires grad is being used in an in-place operation. Wrap the call in `with no_grad():`."
        )
    if source is None:
        found = wrap(backend.namespace(self._a).zeros(0, self._a.dtype))
    elif isinstance(source, dispatch.Tensor):
        if source._a.dtype != self._a.dtype:
            raise RuntimeError(
                f"set_(): Could not set tensor of type {source.dtype.name} to a tensor of type {self.dtype.name}"
            )
        found = source
        if size is not None:
            found = _laid(source, storage_offset, size, stride)
    elif isinstance(source, UntypedStorage):
        whole = _row(source._storage, self._a.dtype)
        found = whole if size is None else _laid(whole, storage_offset, size, stride)
    else:
        raise TypeError(
            f"set_(): argument 'source' (position 1) must be Tensor or Storage, not {type(source).__name__}"
        )
    found._st = storage_of(found)
    self._a, self._st, self._off = found._a, found._st, layout_of(found).offset
    self._view = self._edge = self._acc = None
    self._live = self._rg
    self._st.bump("set_", sites.here(2))
    return self


def _laid(x: Any, offset: int, size: Sequence[int], stride: Any) -> Any:
    sizes = (size,) if isinstance(size, int) else tuple(size)
    strides = layout.contiguous_strides(sizes) if stride is None else stride
    strides = (strides,) if isinstance(strides, int) else tuple(strides)
    return alias(x, checked_layout(x, sizes, strides, offset), x._a.dtype)


def is_set_to(self: Any, tensor: Any) -> bool:
    """Whether both lie in the same storage under the same layout."""
    if not isinstance(tensor, dispatch.Tensor):
        raise TypeError(f"is_set_to(): argument 'tensor' (position 1) must be Tensor, not {type(tensor).__name__}")
    return storage_of(self) is storage_of(tensor) and layout_of(self) == layout_of(tensor)


def resize_as_(self: Any, other: Any, *, memory_format: Any = None) -> Any:
    """``resize_`` to the shape of another tensor. Returns the tensor."""
    if not isinstance(other, dispatch.Tensor):
        raise TypeError(
            f"resize_as_(): argument 'the_template' (position 1) must be Tensor, not {type(other).__name__}"
        )
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad; use reshape() or a new tensor")
    resized(self, other._a.shape)
    return self


# ---------------------------------------------------------------------------------------- functions of Python numbers


def apply_(self: Any, callable: Any) -> Any:
    """Put every element through a Python function, in place. Slow; for tensors in host memory. Returns the tensor."""
    return _mapped("apply_", callable, self)


def map_(self: Any, tensor: Any, callable: Any) -> Any:
    """Put every element, with the one at the same place of another tensor, through a Python function. Returns the tensor."""
    return _mapped("map_", callable, self, tensor)


def map2_(self: Any, x: Any, y: Any, callable: Any) -> Any:
    """Put every element, with those of two other tensors, through a Python function. Returns the tensor."""
    return _mapped("map2_", callable, self, x, y)


def _mapped(op: str, function: Any, x: Any, *others: Any) -> Any:
    for other in others:
        if not isinstance(other, dispatch.Tensor):
            raise TypeError(f"{op}(): argument 'tensor' (position 1) must be Tensor, not {type(other).__name__}")
    if x.requires_grad or any(other.requires_grad for other in others):
        raise RuntimeError(f"Can't call {op}() on Variable that requires grad. Use var.detach().{op}() instead.")
    if x.is_cuda:
        raise TypeError(f"{op} is only implemented on CPU tensors")
    arrays = np.broadcast_arrays(x._a, *[other._a for other in others])
    if arrays[0].shape != x._a.shape:
        raise RuntimeError(f"{op}(): the others must broadcast to the shape of the tensor, {list(x._a.shape)}")
    found = [function(*values) for values in zip(*[wrap(a.reshape(-1)).tolist() for a in arrays], strict=True)]
    return x.copy_(creation.tensor(found, dtype=x.dtype).reshape(x._a.shape))


FORMS: dict[str, Any] = {
    form.__name__: form
    for form in (
        untyped_storage, storage, storage_type, set_, is_set_to, resize_as_, apply_, map_, map2_,
    )
}  # fmt: skip
