"""Types and shapes of tensors together, by the array API."""

from __future__ import annotations

from typing import Any

from tensorlab import dtypes
from tensorlab.conversion import to
from tensorlab.dtypes import complex64, complex128, float32, float64, int8, int16, int32, int64, uint8
from tensorlab.functional import plain
from tensorlab.layout import broadcast_shapes as _common_shape
from tensorlab.tensor import Tensor

__all__ = [
    "astype", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "can_cast", "complex128", "complex64", "finfo", "float32",
    "float64", "iinfo", "int16", "int32", "int64", "int8", "isdtype", "result_type", "uint8",
]  # fmt: skip


def astype(x: Tensor, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Tensor:
    """The tensor in another type; a copy in any case unless ``copy`` is false."""
    return to(x, device, dtype, copy=bool(copy))


def can_cast(from_: Any, to: Any, /) -> Any:
    """Whether every value of a type, or of a tensor's type, is one of another type by the promotion rules."""
    source = from_.dtype if isinstance(from_, Tensor) else from_
    return dtypes.promote_types(source, to) is to


def finfo(type: Any, /) -> dtypes.finfo:
    """Limits of a floating-point type, or of a tensor's."""
    return dtypes.finfo(type.dtype if isinstance(type, Tensor) else type)


def iinfo(type: Any, /) -> dtypes.iinfo:
    """Limits of an integer type, or of a tensor's."""
    return dtypes.iinfo(type.dtype if isinstance(type, Tensor) else type)


#: The standard's kinds of type.
KINDS: dict[str, tuple[dtypes.dtype, ...]] = {
    "bool": (dtypes.bool_,),
    "signed integer": (int8, int16, int32, int64),
    "unsigned integer": (uint8,),
    "real floating": (float32, float64),
    "complex floating": (complex64, complex128),
}
KINDS["integral"] = KINDS["signed integer"] + KINDS["unsigned integer"]
KINDS["numeric"] = KINDS["integral"] + KINDS["real floating"] + KINDS["complex floating"]


def isdtype(dtype: Any, kind: Any) -> Any:
    """Whether a type is of a kind, such as ``"integral"``, one of several kinds, or a type itself."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(f"isdtype(): unknown kind {kind!r}; kinds are {', '.join(map(repr, KINDS))}")
        return dtype in KINDS[kind]
    return dtype is kind


def result_type(*arrays_and_dtypes: Any) -> dtypes.dtype:
    """The type that tensors, types and Python numbers have together."""
    typed = [a for a in arrays_and_dtypes if isinstance(a, (Tensor, dtypes.dtype))]
    if not typed:
        raise ValueError("result_type(): needs at least one tensor or type beside Python numbers")
    found = typed[0].dtype if isinstance(typed[0], Tensor) else typed[0]
    for other in typed[1:]:
        found = dtypes.promote_types(found, other.dtype if isinstance(other, Tensor) else other)
    for number in arrays_and_dtypes:
        if not isinstance(number, (Tensor, dtypes.dtype)):
            found = dtypes.meet_scalar(found, number)
    return found


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape that several shapes broadcast to."""
    return tuple(_common_shape(*shapes)) if shapes else ()


def broadcast_arrays(*arrays: Tensor) -> list[Tensor]:
    """Tensors stretched to their common shape; views."""
    return list(plain["broadcast_tensors"](*arrays))


def broadcast_to(x: Tensor, /, shape: Any) -> Tensor:
    """A tensor stretched to a shape; a view."""
    return plain["broadcast_to"](x, tuple(shape))
