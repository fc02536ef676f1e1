"""What went wrong, in words that help: the op, the argument, shapes, types, devices, and what to do about it.

Nothing here runs until something has failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tensorlab.engine import sites
from tensorlab.errors import out_of_memory
from tensorlab.ops.table import Row

_OURS = (RuntimeError, IndexError, NotImplementedError, MemoryError)


def inputs_in_words(row: Row, tensors: Sequence[Any]) -> str:
    """``self [2, 3] float32, other [4] int64``."""
    names = row.params if not row.variadic else [f"{row.params[0]}[{i}]" for i in range(len(tensors))]
    return ", ".join(
        f"{name} {list(t._a.shape)} {t._a.dtype.name}" for name, t in zip(names, tensors, strict=False) if t is not None
    )


class Refused(NamedTuple):
    """What was asked of an operation that refused: its name, its inputs as (name, shape, type), its other arguments, and the line."""

    op: str
    inputs: tuple[tuple[str, tuple[int, ...], str], ...]
    attrs: dict[str, Any]
    site: Any


def refused(
    op: str, names: Sequence[str], tensors: Sequence[Any], attrs: dict[str, Any], error: Exception
) -> Exception:
    """``error`` with what is known of the call, for whoever explains it further."""
    given = tuple([(n, t._a.shape, t._a.dtype.name) for n, t in zip(names, tensors, strict=False) if t is not None])
    error.facts = Refused(op, given, attrs, sites.here(2))  # type: ignore[attr-defined]
    return error


def explain(row: Row, tensors: Sequence[Any], attrs: dict[str, Any], error: Exception) -> Exception:
    """The exception to raise in place of ``error``, which a kernel raised."""
    names = row.params if not row.variadic else [f"{row.params[0]}[{i}]" for i in range(len(tensors))]
    return refused(row.name, names, tensors, attrs, _explained(row, tensors, attrs, error))


def _explained(row: Row, tensors: Sequence[Any], attrs: dict[str, Any], error: Exception) -> Exception:
    try:
        row.infer([None if t is None else t._a.shape for t in tensors], **attrs)
    except (RuntimeError, IndexError, ValueError, TypeError) as better:
        text = str(better)
        return type(better)(text if text.startswith(row.name) else f"{row.name}(): {text}")
    if (too_large := out_of_memory(row.name, error)) is not None:
        return too_large
    if "inhomogeneous" in str(error) or "setting an array element with a sequence" in str(error):
        kinds = ", ".join(f"{name}: {type(value).__name__}" for name, value in attrs.items())
        return TypeError(f"{row.name}(): a number was expected where a sequence is given ({kinds})")
    if isinstance(error, _OURS):
        return error
    if row.promotes and any(t is None for t in tensors) and isinstance(error, (TypeError, AttributeError)):
        at = [t is None for t in tensors].index(True)
        return TypeError(
            f"{row.name}(): argument '{row.params[at]}' (position {at + 1}) must be Tensor or a number, not NoneType"
        )
    booleans = any(t is not None and t._a.dtype.kind == "b" for t in tensors)
    if isinstance(error, TypeError) and (
        booleans or "not supported for the input types" in str(error) or "loop" in str(error)
    ):
        return not_implemented(row, tensors)
    kind = TypeError if isinstance(error, TypeError) else RuntimeError
    return kind(f"{row.name}(): {error} (given {inputs_in_words(row, tensors)})")


def not_implemented(row: Row, tensors: Sequence[Any]) -> Exception:
    """The exception for types that an operation has no meaning for, in the row's own words if it has any."""
    real = [t for t in tensors if t is not None]
    if row.refuses is not None:
        try:
            row.refuses([t._a.dtype for t in real])
        except RuntimeError as better:
            return better
    kinds = ", ".join(sorted({t._a.dtype.name for t in real}))
    other = ".int() or .float()" if any(t._a.dtype.kind == "b" for t in real) else ".float()"
    return NotImplementedError(
        f'"{row.name}" not implemented for {kinds}: {inputs_in_words(row, tensors)}. Convert first, for example with {other}.'
    )
