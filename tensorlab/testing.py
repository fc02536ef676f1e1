"""``assert_close``: whether two results agree, with a message that says where they do not."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tensorlab import creation, dtypes
from tensorlab.tensor import Tensor

__all__ = ["assert_close"]

#: ``(rtol, atol)`` by type; every other type is compared exactly.
_TOLERANCES = {
    dtypes.float16: (1e-3, 1e-5),
    dtypes.bfloat16: (1.6e-2, 1e-5),
    dtypes.float32: (1.3e-6, 1e-5),
    dtypes.float64: (1e-7, 1e-7),
    dtypes.complex64: (1.3e-6, 1e-5),
    dtypes.complex128: (1e-7, 1e-7),
}
_NUMBERS = (bool, int, float, complex)


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, check_layout: bool = True,
    check_stride: bool = False, msg: str | Callable[[str], str] | None = None,
) -> None:  # fmt: skip
    """Raise ``AssertionError`` unless ``|actual - expected| <= atol + rtol * |expected|`` for every element.

    Takes tensors, arrays and numbers, and sequences and mappings of them, which must have the same length or keys. Tensors must have
    the same shape, and unless told otherwise the same type and device; ``check_stride`` compares strides too. Tolerances come in
    pairs; without them they follow from the types, the looser one where these differ, and integers are compared exactly. NaN equals
    NaN with ``equal_nan`` only. ``msg`` is said instead of the message, or is a function of it. ``check_layout`` changes nothing:
    every tensor is strided.

    Raises ``ValueError`` for one tolerance without the other, and ``TypeError`` for what cannot be compared.

    >>> import tensorlab as tl
    >>> tl.testing.assert_close(tl.tensor([1.0, 2.0]), tl.tensor([1.0, 2.5]))
    Traceback (most recent call last):
      ...
    AssertionError: Tensor-likes are not close: 1 of 2 elements (50.0%) differ.
    Greatest absolute difference: 0.5 at index (1,), of 1e-05 allowed
    Greatest relative difference: 0.2 at index (1,), of 1.3e-06 allowed
    """
    if (rtol is None) != (atol is None):
        name = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {name}.")
    checks = {"device": check_device, "dtype": check_dtype, "stride": check_stride}
    tolerances = None if rtol is None or atol is None else (rtol, atol)
    found = _difference(actual, expected, "", tolerances, equal_nan, checks, allow_subclasses)
    if found is not None:
        raise AssertionError(found if msg is None else msg(found) if callable(msg) else msg)


def _difference(
    actual: Any, expected: Any, at: str, tolerances: Any, equal_nan: bool, checks: dict[str, bool], subclasses: bool
) -> str | None:
    """What is wrong first, in words; ``None`` where all is well. ``at`` is where in the containers."""
    rest = (tolerances, equal_nan, checks, subclasses)
    where = f"\nThe failure occurred for item {at}" if at else ""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if actual.keys() != expected.keys():
            missing, more = (
                sorted(map(repr, expected.keys() - actual.keys())),
                sorted(map(repr, actual.keys() - expected.keys())),
            )
            return f"The keys of the mappings do not match: missing are {missing}, additional are {more}.{where}"
        pairs: Any = ((actual[key], expected[key], f"{at}[{key!r}]") for key in actual)
        return _first(_difference(a, b, place, *rest) for a, b, place in pairs)
    if _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{where}"
        pairs = ((a, b, f"{at}[{i}]") for i, (a, b) in enumerate(zip(actual, expected, strict=True)))
        return _first(_difference(a, b, place, *rest) for a, b, place in pairs)
    if actual is None and expected is None:
        return None
    related = not (isinstance(actual, Tensor) and isinstance(expected, Tensor)) or type(actual) is type(expected)
    a, b = (_as_tensor(value) for value in (actual, expected))
    comparable = isinstance(actual, _NUMBERS) is isinstance(expected, _NUMBERS)
    if a is None or b is None or not comparable or not (subclasses or related):
        raise TypeError(
            "assert_close() compares tensors, arrays, numbers, and sequences and mappings of them, with their like, but got "
            f"{type(actual).__name__} and {type(expected).__name__}{' at item ' + at if at else ''}"
        )
    found = _attributes(a, b, checks) or _values(
        a, b, "Scalars" if isinstance(actual, _NUMBERS) else "Tensor-likes", tolerances, equal_nan
    )
    return None if found is None else found + where


def _first(found: Any) -> str | None:
    return next((text for text in found if text is not None), None)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _as_tensor(value: Any) -> Tensor | None:
    """A tensor of what is compared; ``None`` for what is no tensor, array or number."""
    if isinstance(value, Tensor):
        return value.detach()
    if isinstance(value, (np.ndarray, np.generic)):
        return creation.tensor(np.asarray(value))
    if isinstance(value, _NUMBERS):
        wide = {float: dtypes.float64, complex: dtypes.complex128}.get(type(value))
        return creation.tensor(value, dtype=wide)
    return None


def _attributes(a: Tensor, b: Tensor, checks: dict[str, bool]) -> str | None:
    """How two tensors differ apart from their values."""
    asked = {"shape": True, **checks}
    for name in [name for name, wanted in asked.items() if wanted]:
        one, other = ((x.stride() if name == "stride" else getattr(x, name)) for x in (a, b))
        if one != other:
            return f"The values for attribute {name!r} do not match: {one} != {other}."
    return None


def _values(a: Tensor, b: Tensor, what: str, tolerances: Any, equal_nan: bool) -> str | None:
    """Which elements differ, and by how much."""
    rtol, atol = tolerances or [
        max(pair) for pair in zip(*(_TOLERANCES.get(x.dtype, (0.0, 0.0)) for x in (a, b)), strict=True)
    ]
    kind = dtypes.promote_types(a.dtype, b.dtype)
    wide = dtypes.complex128 if kind.is_complex else dtypes.float64 if kind.is_floating_point else kind
    x, y = (np.asarray(v.cpu().to(wide).numpy()) for v in (a, b))
    whole = wide.category <= dtypes.INTEGER
    if whole:  # Python's integers, in which differences do not wrap around
        x, y = x.astype(object), y.astype(object)
    with np.errstate(all="ignore"):
        apart = np.abs(x - y)
        ratio = apart / np.where(y == 0, np.nan, np.abs(y)).astype(np.float64)
        ratio = np.where((y == 0) & (apart != 0), math.inf, np.asarray(ratio, np.float64))
        inside = np.asarray(apart <= atol + rtol * np.abs(y), bool)
    same = x == y
    if not whole:
        inside &= np.isfinite(x) & np.isfinite(y)
        same |= equal_nan & np.isnan(x) & np.isnan(y)
    wrong = ~np.asarray(same | inside, bool)
    if not wrong.any():
        return None
    exact = rtol == 0 and atol == 0
    lines = [
        f"{what} are not {'equal' if exact else 'close'}: {wrong.sum()} of {wrong.size} elements ({wrong.mean():.1%}) differ."
    ]
    for name, sizes, allowed in (("absolute", apart, atol), ("relative", ratio, rtol)):
        sizes = np.where(wrong, np.nan_to_num(np.asarray(sizes, np.float64), nan=math.inf, posinf=math.inf), -1.0)
        place = tuple(int(i) for i in np.unravel_index(int(sizes.argmax()), sizes.shape))
        limit = "" if exact else f", of {allowed:g} allowed"
        lines.append(f"Greatest {name} difference: {sizes[place]:g}{f' at index {place}' if place else ''}{limit}")
    return "\n".join(lines)
