"""Named results of operations that return several tensors."""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from typing import Any


@cache
def named(op: str, fields: tuple[str, ...] = ("values", "indices")) -> Any:
    """The named tuple that ``op`` returns, ``(values, indices)`` unless other fields are named."""
    made = namedtuple(op, fields)  # type: ignore[misc]
    made.__module__ = "tensorlab.return_types"

    def show(self: Any) -> str:
        lines = ",\n".join([f"{field}={value!r}" for field, value in zip(fields, self, strict=True)])
        return f"tensorlab.return_types.{op}(\n{lines})"

    made.__repr__ = show  # type: ignore[method-assign]
    return made
