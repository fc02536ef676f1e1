"""Element types and the rules by which two of them meet.

A ``dtype`` is a name for people plus the NumPy type that holds its elements. Promotion is our own table, built from the rule
PyTorch documents (category bool < integer < float < complex; within a category the wider one), because NumPy's differs: int32
with float16 is float16 here and float64 there. Source: PyTorch documentation, "Type promotion".
"""

from __future__ import annotations

from typing import Any

import numpy as np

BOOL, INTEGER, FLOAT, COMPLEX = range(4)


class dtype:
    """An element type, such as ``tensorlab.float32``. Compare with ``is`` or ``==``; there is one object for each type."""

    __slots__ = ("name", "category", "itemsize", "_np", "_low")

    def __init__(self, name: str, category: int, itemsize: int) -> None:
        self.name = name
        self.category = category
        self.itemsize = itemsize
        self._np: np.dtype[Any] | None = None if name == "bfloat16" else np.dtype(name)
        self._low = name in ("float16", "bfloat16")

    @property
    def np(self) -> np.dtype[Any]:
        """The NumPy type of the elements; ``bfloat16`` loads ml_dtypes the first time it is asked for."""
        if self._np is None:
            import ml_dtypes

            self._np = np.dtype(ml_dtypes.bfloat16)
            BY_NUMPY[self._np] = self
        return self._np

    @property
    def is_floating_point(self) -> bool:
        return self.category == FLOAT

    @property
    def is_complex(self) -> bool:
        return self.category == COMPLEX

    @property
    def is_signed(self) -> bool:
        return self.name not in ("bool", "uint8")

    def to_real(self) -> dtype:
        """The real type of the same width: ``complex64`` gives ``float32``; a real type gives itself."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    def to_complex(self) -> dtype:
        return {"float32": complex64, "float64": complex128}.get(self.name, self if self.is_complex else complex64)

    def __repr__(self) -> str:
        return f"tensorlab.{self.name}"

    def __reduce__(self) -> str:
        return self.name if self.name != "bool" else "bool_"


bool_ = dtype("bool", BOOL, 1)
uint8 = dtype("uint8", INTEGER, 1)
int8 = dtype("int8", INTEGER, 1)
int16 = dtype("int16", INTEGER, 2)
int32 = dtype("int32", INTEGER, 4)
int64 = dtype("int64", INTEGER, 8)
float16 = dtype("float16", FLOAT, 2)
bfloat16 = dtype("bfloat16", FLOAT, 2)
float32 = dtype("float32", FLOAT, 4)
float64 = dtype("float64", FLOAT, 8)
complex64 = dtype("complex64", COMPLEX, 8)
complex128 = dtype("complex128", COMPLEX, 16)

ALL = (bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64, complex128)
BY_NUMPY: dict[np.dtype[Any], dtype] = {d._np: d for d in ALL if d._np is not None}


class _Default:
    float: dtype = float32


default = _Default()


def get_default_dtype() -> dtype:
    """The type that new floating-point tensors get, ``float32`` unless changed."""
    return default.float


def set_default_dtype(d: dtype) -> None:
    """Make ``d`` the type of new floating-point tensors. Raises ``TypeError`` for a type that is not floating point."""
    if not (isinstance(d, dtype) and d.is_floating_point):
        raise TypeError(f"set_default_dtype(): only floating-point types are supported as the default type, got {d!r}")
    default.float = d
    for table in CACHES:
        table.clear()


def of(np_dtype: np.dtype[Any]) -> dtype:
    """The dtype that holds NumPy elements of this type. Raises ``TypeError`` naming the type where there is none."""
    found = BY_NUMPY.get(np_dtype)
    if found is not None:
        return found
    if np_dtype.name == "bfloat16":
        bfloat16.np  # noqa: B018  (fills BY_NUMPY)
        return bfloat16
    native = np_dtype.newbyteorder("=")
    if native in BY_NUMPY and np_dtype.kind in "biufc":
        return BY_NUMPY[native]
    names = ", ".join(d.name for d in ALL)
    raise TypeError(
        f"can't convert a numpy.ndarray of type {np_dtype} to a tensor. The supported types are: {names}"
        + (
            ". An object array often comes from a ragged list: make every row equally long."
            if np_dtype.kind == "O"
            else ""
        )
    )


_PYTHON = {float: float64, int: int64, bool: bool_, complex: complex128}


def as_dtype(value: Any, where: str = "dtype") -> dtype:
    """Read what a person may pass for a dtype: one of ours, or Python's ``float``, ``int``, ``bool``, ``complex``."""
    if isinstance(value, dtype):
        return value
    python = _PYTHON.get(value) if isinstance(value, type) else None
    if python is None:
        raise TypeError(f"{where} must be a tensorlab dtype such as tensorlab.float32, got {value!r}")
    return python


# ---------------------------------------------------------------------------------------------------------- promotion

CACHES: list[dict[Any, Any]] = []
_pairs: dict[tuple[dtype, dtype], dtype] = {}


def promote_types(a: dtype, b: dtype) -> dtype:
    """The smallest type that both can be cast to, by PyTorch's table.

    >>> promote_types(int32, float16)
    tensorlab.float16
    >>> promote_types(uint8, int8)
    tensorlab.int16
    """
    if a is b:
        return a
    found = _pairs.get((a, b))
    if found is None:
        found = _pairs[a, b] = _promote(a, b)
    return found


def _need(op: str, *given: Any) -> None:
    for value in given:
        if not isinstance(value, dtype):
            raise TypeError(f"{op}(): a dtype such as tensorlab.float32 was expected, not {type(value).__name__}")


def _promote(a: dtype, b: dtype) -> dtype:
    _need("promote_types", a, b)
    if a.category != b.category:
        low, high = (a, b) if a.category < b.category else (b, a)
        if high is complex64 and low is float64:
            return complex128
        return high
    if a.category == INTEGER:
        if uint8 in (a, b):
            other = b if a is uint8 else a
            return int16 if other is int8 else other
        return a if a.itemsize > b.itemsize else b
    if {a, b} == {float16, bfloat16}:
        return float32
    return a if a.itemsize > b.itemsize else b


def scalar_dtype(value: bool | int | float | complex) -> dtype:
    """The type a Python number has on its own."""
    kind = type(value)
    if kind is bool:
        return bool_
    if isinstance(value, int):
        return int64
    if isinstance(value, float):
        return default.float
    return default.float.to_complex()


def meet_scalar(tensor: dtype, value: bool | int | float | complex) -> dtype:
    """The result type of a tensor with a Python number: the number matters only when its category is higher."""
    other = scalar_dtype(value)
    if other.category <= tensor.category:
        return tensor
    if other.category == COMPLEX and tensor.category == FLOAT:
        return tensor.to_complex()
    return other


def meet(a: dtype, a_dim: int, b: dtype, b_dim: int) -> dtype:
    """The result type of two tensors: a 0-dim one matters only when its category is higher than the other's."""
    if a is b:
        return a
    if (a_dim == 0) == (b_dim == 0):
        return promote_types(a, b)
    strong, weak = (b, a) if a_dim == 0 else (a, b)
    if weak.category <= strong.category:
        return strong
    if weak.category == COMPLEX and strong.category == FLOAT:
        return strong.to_complex()
    return weak


def can_cast(source: dtype, target: dtype) -> bool:
    """Whether a result of type ``source`` may be written into ``target`` (never to a lower category).

    >>> can_cast(float64, float32), can_cast(float32, int64)
    (True, False)
    """
    _need("can_cast", source, target)
    if target is bool_:
        return source is bool_
    return source.category <= target.category


class finfo:
    """Limits of a floating-point type: ``bits``, ``eps``, ``max``, ``min``, ``tiny``, ``smallest_normal``, ``resolution``."""

    resolution: float
    min: float
    max: float
    eps: float
    tiny: float
    smallest_normal: float

    def __init__(self, type: dtype | None = None) -> None:
        d = default.float if type is None else type
        if not (d.is_floating_point or d.is_complex):
            raise TypeError(f"finfo() needs a floating-point type, got {d!r}; use iinfo() for integers")
        self.dtype = d.name
        if d is bfloat16:
            import ml_dtypes

            info: Any = ml_dtypes.finfo(d.np)
        else:
            info = np.finfo(d.np)
        self.bits = info.bits
        for field in ("eps", "max", "min", "tiny", "smallest_normal", "resolution"):
            setattr(self, field, float(getattr(info, field)))

    def __repr__(self) -> str:
        fields = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{field}={getattr(self, field):g}' for field in fields)}, dtype={self.dtype})"


class iinfo:
    """Limits of an integer type: ``bits``, ``max``, ``min``."""

    def __init__(self, type: dtype) -> None:
        if type.category != INTEGER:
            raise TypeError(f"iinfo() needs an integer type, got {type!r}; use finfo() for floating point")
        info = np.iinfo(type.np)
        self.dtype, self.bits, self.max, self.min = type.name, info.bits, int(info.max), int(info.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
