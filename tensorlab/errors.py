"""Errors with a class of their own, and warnings at the line that called the library."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path

_HERE = str(Path(__file__).parent)


class LinAlgError(RuntimeError):
    """A matrix has no inverse, no factorisation, or an algorithm for it did not converge."""


class OutOfMemoryError(RuntimeError, MemoryError):
    """Something larger than memory was asked for. A ``RuntimeError``, as in PyTorch, and a ``MemoryError``, as in Python."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside of this library that led here, however many calls lie between, which differs from Python to Python."""
    level, frame = 1, sys._getframe()
    while frame.f_code.co_filename.startswith(_HERE) and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


_TOO_LARGE = re.compile("Unable to allocate|array is too big|Maximum allowed (dimension|size) exceeded")
_PYTHONS = re.compile(
    r"'.+' not supported between|unsupported operand type|'.+' object (is not|cannot|does not)|object of type|unhashable type|"
    r"(int|float|complex)\(\) argument|must be real number|cannot unpack|list indices must"
)


def out_of_memory(op: str, error: Exception) -> OutOfMemoryError | None:
    """The error to raise in place of one that says that an array is too large; ``None`` for one that says anything else."""
    if isinstance(error, OutOfMemoryError) or not (isinstance(error, MemoryError) or _TOO_LARGE.search(str(error))):
        return None
    said = str(error) if "Unable to allocate" in str(error) else "an array would be larger than any memory"
    return OutOfMemoryError(f"{op}(): not enough memory: {said}. Ask for smaller sizes.")


def misread(op: str, error: TypeError, given: dict[str, object]) -> TypeError | None:
    """The error to raise in place of Python's own complaint about an argument of a wrong type; ``None`` for any other error."""
    if not _PYTHONS.match(str(error)):
        return None
    kinds = ", ".join(f"{name}: {type(value).__name__}" for name, value in given.items())
    return TypeError(f"{op}(): an argument has a type that is not taken here: {error} (given {kinds})")
