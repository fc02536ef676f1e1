"""How functions read the arguments that many of them have: dimensions, sizes, types, index tensors.

``dim`` may also be spelt ``axis``, and ``keepdim`` ``keepdims``, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorlab import dispatch, dtypes, layout
from tensorlab.layout import whole, wrap_dim, wrap_dims

Tensor = Any


def one_dim(op: str, input: Tensor, dim: Any, axis: Any = None, extra: int = 0) -> int:
    """A dimension of ``input`` (with ``extra`` new ones), under either of its names. Raises ``TypeError`` if it is missing."""
    if dim is None:
        dim = axis
        if dim is None:
            raise TypeError(f"{op}() missing 1 required argument: 'dim'")
    return wrap_dim(dim, input._a.ndim + extra, op)


#: All dimensions of a tensor, by how many it has.
_all = tuple([tuple(range(n)) for n in range(9)])


def some_dims(op: str, input: Tensor, dim: Any, axis: Any = None) -> tuple[int, ...]:
    """The dimensions to reduce over, under either name; all of them where none is named."""
    n = input._a.ndim
    if dim is None:
        dim = axis
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return _all[n] if n < len(_all) else tuple(range(n))
    found = wrap_dims(dim, n, op)
    return found if n else ()


def an_int(op: str, name: str, value: Any) -> int:
    """A Python int. Raises ``TypeError`` naming operation and argument for anything else, booleans too."""
    return value if type(value) is int else whole(value, op, name)


def a_bool(op: str, name: str, value: Any) -> bool:
    """``True`` or ``False``. Raises ``TypeError`` naming operation, argument and position for anything else."""
    if value is True or value is False:
        return value
    raise TypeError(
        f"{op}(): argument '{name}'{layout.where_argument(op, name)} must be bool, not {type(value).__name__}"
    )


def kept(op: str, keepdim: Any, keepdims: Any = False) -> bool:
    """Whether reduced dimensions stay, under either name."""
    return keepdims or keepdim if (keepdim is True or keepdim is False) else a_bool(op, "keepdim", keepdim)


def a_number(op: str, name: str, value: Any) -> Any:
    """A Python number. Raises ``TypeError`` naming operation, argument and position for anything else."""
    if isinstance(value, dispatch.Tensor) and value._a.ndim == 0:
        value = value.item()
    if not isinstance(value, (bool, int, float, complex, np.generic)):
        raise TypeError(
            f"{op}(): argument '{name}'{layout.where_argument(op, name)} must be Number, not {type(value).__name__}"
        )
    return value


def sizes_of(op: str, name: str, given: tuple[Any, ...], named: Any = None) -> tuple[int, ...]:
    """Ints given one by one, as one sequence, or by keyword. Raises ``TypeError`` naming operation, argument and position."""
    if named is not None:
        given = (*given, named)
    if not given:
        raise TypeError(f'{op}() missing 1 required positional arguments: "{name}"')
    if len(given) == 1:
        first = given[0]
        if isinstance(first, (tuple, list)):
            return tuple_of_ints(op, name, first)
        if type(first) is not int:
            try:
                return (whole(first),)
            except (TypeError, RuntimeError):
                raise TypeError(
                    f"{op}(): argument '{name}' (position 1) must be tuple of ints, not {type(first).__name__}"
                ) from None
    return tuple_of_ints(op, name, given)


def tuple_of_ints(op: str, name: str, given: Any) -> tuple[int, ...]:
    """A sequence of ints as a tuple. Raises ``TypeError`` naming operation, argument and position."""
    if not isinstance(given, (tuple, list)):
        raise TypeError(
            f"{op}(): argument '{name}'{layout.where_argument(op, name)} must be tuple of ints, not {type(given).__name__}"
        )
    for i, n in enumerate(given):
        if type(n) is not int:
            return _converted(op, name, given, i)
    return tuple(given)


def _converted(op: str, name: str, given: Any, first: int) -> tuple[int, ...]:
    """Ints from what may stand for them, the first of which is at ``first``."""
    out = list(given[:first])
    for i, n in enumerate(given[first:], first + 1):
        try:
            out.append(whole(n))
        except TypeError:
            raise TypeError(
                f"{op}(): argument '{name}'{layout.where_argument(op, name)} must be tuple of ints, but found element of type "
                f"{type(n).__name__} at pos {i}"
            ) from None
    return tuple(out)


def np_dtype(dtype: Any) -> Any:
    """The NumPy type of a dtype that may be left out."""
    return None if dtype is None else dtypes.as_dtype(dtype).np


def need_index(op: str, index: Any, position: int = 3) -> None:
    """Refuse what cannot index: ``TypeError`` for no tensor, ``RuntimeError`` for no integers."""
    if not isinstance(index, dispatch.Tensor):
        raise TypeError(f"{op}(): argument 'index' (position {position}) must be Tensor, not {type(index).__name__}")
    if index._a.size and index._a.dtype not in (np.dtype(np.int64), np.dtype(np.int32)):
        raise RuntimeError(
            f"{op}(): Expected dtype int32/int64 for index, got {index.dtype.name}; convert it with .long()"
        )


def need_tensor(op: str, name: str, position: int, value: Any) -> None:
    """Raise ``TypeError`` unless ``value`` is a tensor."""
    if not isinstance(value, dispatch.Tensor):
        raise TypeError(f"{op}(): argument '{name}' (position {position}) must be Tensor, not {type(value).__name__}")


def list_of_tensors(op: str, tensors: Any, empty: type[Exception] = RuntimeError) -> list[Tensor]:
    """A sequence of at least one tensor as a list."""
    if isinstance(tensors, dispatch.Tensor) or not isinstance(tensors, (tuple, list)):
        raise TypeError(
            f"{op}(): argument 'tensors' (position 1) must be tuple of Tensors, not {type(tensors).__name__}"
        )
    for i, x in enumerate(tensors):
        if not isinstance(x, dispatch.Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0 of {op}(), but got {type(x).__name__}")
    if not tensors:
        raise empty(f"{op}(): {op} expects a non-empty TensorList, that is, expected a non-empty list of Tensors")
    return list(tensors)


def need_dims(op: str, arguments: Sequence[tuple[str, Tensor, int]]) -> None:
    """Raise ``RuntimeError`` unless each argument is a tensor with that many dimensions."""
    for position, (name, x, n) in enumerate(arguments, 1):
        need_tensor(op, name, position, x)
        if x._a.ndim != n:
            found = " and ".join(f"{y._a.ndim}D" for _, y, _ in arguments if isinstance(y, dispatch.Tensor))
            kind = {1: "a vector", 2: "a matrix", 3: "a batch of matrices"}[n]
            raise RuntimeError(
                f"{op}(): {name} must be {kind}: {n}D tensor{'s' if op == 'dot' else ''} expected, but got {found} "
                f"tensors, {name} with shape {list(x._a.shape)}"
            )
