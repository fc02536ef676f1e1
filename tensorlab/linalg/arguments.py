"""What functions of linear algebra ask of their arguments, and what they say of matrices that fail."""

from __future__ import annotations

import functools
from typing import Any

from tensorlab import backend
from tensorlab.backend import matrices
from tensorlab.errors import LinAlgError
from tensorlab.functional.arguments import need_tensor
from tensorlab.functional.checked import checked
from tensorlab.ops.linalg import matrix, need_wide, square

Tensor = Any

#: A function under its public name: it explains arguments that are no tensors and takes ``out=``.
public = functools.partial(checked, takes_out=True)


def need_square(op: str, x: Tensor, name: str = "A") -> None:
    """Raise ``RuntimeError`` unless ``x`` holds square matrices of a type that can be factorised."""
    square(op, x._a.shape, name)
    need_wide(op, x._a)


def need_matrix(op: str, x: Tensor, name: str = "A") -> None:
    """Raise ``RuntimeError`` unless ``x`` holds matrices of a type that can be factorised."""
    matrix(op, x._a.shape, name)
    need_wide(op, x._a)


def need_same_type(op: str, a: Tensor, b: Tensor, names: str = "A B") -> None:
    """Raise ``RuntimeError`` unless both tensors are of one type."""
    first, second = names.split()
    need_tensor(op, second, 2, b)
    if a._a.dtype != b._a.dtype:
        raise RuntimeError(
            f"{op}: Expected {first} and {second} to have the same dtype, but found {first} of type {a.dtype.name} and {second} of type "
            f"{b.dtype.name} instead"
        )


def refuse(op: str, info: Tensor, words: str) -> None:
    """Raise ``LinAlgError`` for the first matrix of a batch that failed; ``words`` may show its ``{info}``."""
    if not matrices.failed(info._a):
        return
    flags = backend.to_host(info._a).reshape(-1)
    at = int((flags != 0).argmax())
    where = f"(Batch element {at}): " if info._a.ndim else ""
    raise LinAlgError(f"{op}: {where}{words.format(info=int(flags[at]))}")


def vector_side(a: Tensor, b: Tensor) -> bool:
    """Whether ``B`` of ``A X = B`` is a vector (or a batch of them that fits the batch of ``A``) and no matrix."""
    return b._a.ndim == 1 or (a._a.ndim - 1 == b._a.ndim and b._a.shape == a._a.shape[:-1])


def by_columns(x: Tensor) -> Tensor:
    """The same matrices laid out column by column, as LAPACK leaves results."""
    return x.mT.contiguous().mT


def conjugate_transpose(x: Tensor) -> Tensor:
    """``x`` with rows and columns exchanged, and conjugated if it is complex."""
    return x.mT.conj()
