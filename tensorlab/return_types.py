"""Named results of operations that return several tensors."""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from typing import Any


@cache
def named(op: str) -> Any:
    """The named tuple ``(values, indices)`` that ``op`` returns."""
    made = namedtuple(op, ("values", "indices"))  # type: ignore[misc]
    made.__module__ = "tensorlab.return_types"

    def show(self: Any) -> str:
        return f"tensorlab.return_types.{op}(\nvalues={self.values!r},\nindices={self.indices!r})"

    made.__repr__ = show  # type: ignore[method-assign]
    return made
