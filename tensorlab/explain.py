"""What went wrong, in words that help: the op, the argument, shapes, types, devices, and what to do about it.

Nothing here runs until something has failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorlab.ops.table import Row

_OURS = (RuntimeError, IndexError, NotImplementedError, MemoryError)


def inputs_in_words(row: Row, tensors: Sequence[Any]) -> str:
    """``self [2, 3] float32, other [4] int64``."""
    names = row.params if not row.variadic else [f"{row.params[0]}[{i}]" for i in range(len(tensors))]
    return ", ".join(
        f"{name} {list(t._a.shape)} {t._a.dtype.name}" for name, t in zip(names, tensors, strict=False) if t is not None
    )


def explain(row: Row, tensors: Sequence[Any], attrs: dict[str, Any], error: Exception) -> Exception:
    """The exception to raise in place of ``error``, which a kernel raised."""
    try:
        row.infer([None if t is None else t._a.shape for t in tensors], **attrs)
    except (RuntimeError, IndexError, ValueError, TypeError) as better:
        text = str(better)
        return type(better)(text if text.startswith(row.name) else f"{row.name}(): {text}")
    if isinstance(error, _OURS):
        return error
    if isinstance(error, TypeError) and any(t is not None and t._a.dtype.kind == "b" for t in tensors):
        return RuntimeError(_about_bools(row, tensors))
    given = inputs_in_words(row, tensors)
    if isinstance(error, TypeError) and ("not supported for the input types" in str(error) or "loop" in str(error)):
        kinds = ", ".join(sorted({t._a.dtype.name for t in tensors if t is not None}))
        return RuntimeError(f'"{row.name}" not implemented for {kinds}: {given}. Convert first, for example with .float().')
    return type(error)(f"{row.name}(): {error} (given {given})") if isinstance(error, TypeError) else RuntimeError(
        f"{row.name}(): {error} (given {given})"
    )


def _about_bools(row: Row, tensors: Sequence[Any]) -> str:
    if row.name in ("sub", "rsub"):
        if all(t._a.dtype.kind == "b" for t in tensors):
            return "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead."
        return "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
    if row.name == "neg":
        return "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
    return f'"{row.name}" not implemented for bool: {inputs_in_words(row, tensors)}. Convert first, for example with .int() or .float().'
