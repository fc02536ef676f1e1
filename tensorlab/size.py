"""The shape of a tensor, as a type of its own."""

from __future__ import annotations

from typing import Any


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple that also knows its number of elements."""

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        n = 1
        for size in self:
            n *= size
        return n

    def __repr__(self) -> str:
        return f"tensorlab.Size({list(self)})"

    def __getitem__(self, key: Any) -> Any:
        found = tuple.__getitem__(self, key)
        return Size(found) if isinstance(key, slice) else found

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, tuple(other)))
