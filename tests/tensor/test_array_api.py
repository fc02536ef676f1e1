"""The array API over tensors, with ``array-api-strict`` as the referee: the same calls on the same values give the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, mutually_broadcastable_shapes

import tensorlab as tl
from tensorlab import array_api as xp

strict = pytest.importorskip("array_api_strict")

INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
REAL, COMPLEX = ("float32", "float64"), ("complex64", "complex128")
FLOATS = REAL + COMPLEX
NUMBERS = INTEGERS + REAL
ALL = ("bool", *NUMBERS, *COMPLEX)
FEW = settings(max_examples=10, deadline=None)


@st.composite
def values(draw: Any, dtype: str, shape: Any) -> np.ndarray:
    """Arrays of small numbers, of which many are equal."""
    shape = shape if isinstance(shape, tuple) else draw(shape)
    rng, kind = np.random.default_rng(draw(st.integers(0, 999))), np.dtype(dtype)
    whole = rng.integers(0 if kind.kind in "bu" else -4, 5, shape)
    if kind.kind == "b":
        return np.asarray(whole > 2)
    if kind.kind in "iu":
        return np.asarray(whole).astype(kind)
    return np.asarray(whole / 2 + (1j * (whole % 3) if kind.kind == "c" else 0)).astype(kind)


def check(call: Callable[[Any, Any], Any], *given: np.ndarray) -> None:
    """That a call of a namespace with arrays gives in tensors what the referee gives, or an error where it raises one."""
    with np.errstate(all="ignore"):
        theirs = call(strict, [strict.asarray(a) for a in given])
    ours = call(xp, [tl.from_numpy(a.copy()) for a in given])
    same(ours, theirs)


def same(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            same(a, b)
        return
    if not hasattr(theirs, "dtype"):
        assert ours == theirs
        return
    expected = np.asarray(theirs._array)
    assert tuple(ours.shape) == expected.shape
    name = expected.dtype.name
    assert ours.dtype.name == ("int64" if name == "uint64" else name)
    tolerance = {"float32": 1e-5, "complex64": 1e-5}.get(name, 1e-12)
    np.testing.assert_allclose(ours.detach().numpy(), expected, rtol=tolerance, atol=tolerance)


UNARY = {
    **dict.fromkeys("acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 sin sinh sqrt tan tanh".split(), REAL),
    **dict.fromkeys("ceil floor trunc round".split(), NUMBERS),
    **dict.fromkeys("abs negative positive square sign isfinite isinf isnan".split(), NUMBERS + COMPLEX),
    **dict.fromkeys("real imag".split(), COMPLEX), "reciprocal": FLOATS, "conj": COMPLEX, "signbit": REAL,
    "bitwise_invert": ("bool", *INTEGERS), "logical_not": ("bool",),
}  # fmt: skip
BINARY = {
    **dict.fromkeys("add subtract multiply".split(), NUMBERS + COMPLEX),
    **dict.fromkeys("equal not_equal".split(), ALL),
    **dict.fromkeys("greater greater_equal less less_equal maximum minimum".split(), NUMBERS),
    **dict.fromkeys("atan2 copysign hypot logaddexp nextafter".split(), REAL), "divide": FLOATS,
    **dict.fromkeys("bitwise_and bitwise_or bitwise_xor".split(), ("bool", *INTEGERS)),
    **dict.fromkeys("logical_and logical_or logical_xor".split(), ("bool",)),
    **dict.fromkeys("floor_divide remainder".split(), REAL), "pow": REAL,
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
@given(data=st.data())
@FEW
def test_a_function_of_one_tensor(name: str, data: Any) -> None:
    dtype = data.draw(st.sampled_from(UNARY[name]))
    a = data.draw(values(dtype, array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)))
    check(lambda m, x: getattr(m, name)(x[0]), a)


@pytest.mark.parametrize("name", BINARY)
@given(data=st.data())
@FEW
def test_a_function_of_two_tensors_of_any_types_and_shapes_that_meet(name: str, data: Any) -> None:
    first, second = (data.draw(st.sampled_from(BINARY[name])) for _ in range(2))
    try:
        strict.result_type(getattr(strict, first), getattr(strict, second))
    except TypeError:  # integers with floats: the standard leaves the result open
        second = first
    shapes = data.draw(mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3)).input_shapes
    a, b = (data.draw(values(d, s)) for d, s in zip((first, second), shapes, strict=True))
    check(lambda m, x: getattr(m, name)(*x), a, b)


@pytest.mark.parametrize("name", ["add", "multiply", "less", "maximum", "pow", "subtract", "equal"])
@pytest.mark.parametrize("number", [2, 1.5])
def test_a_number_may_stand_on_either_side(name: str, number: Any) -> None:
    a = np.array([0.5, 1.0, 2.0], np.float32)
    check(lambda m, x: getattr(m, name)(x[0], number), a)
    check(lambda m, x: getattr(m, name)(number, x[0]), a)


@pytest.mark.parametrize("name", "floor_divide remainder bitwise_left_shift bitwise_right_shift pow".split())
@given(data=st.data())
@FEW
def test_whole_numbers_are_divided_shifted_and_raised(name: str, data: Any) -> None:
    dtype = data.draw(st.sampled_from(INTEGERS))
    a = data.draw(values(dtype, (2, 3)))
    check(lambda m, x: getattr(m, name)(*x), a, np.abs(data.draw(values(dtype, (3,)))) + np.dtype(dtype).type(1))


def axes(ndim: int, several: bool = True) -> Any:
    one = st.integers(-ndim, ndim - 1) if ndim else st.nothing()
    many = st.lists(st.integers(0, ndim - 1), unique=True, min_size=1).map(tuple) if ndim and several else st.nothing()
    return st.one_of(st.none(), one, many)


REDUCTIONS = {
    "sum": NUMBERS + COMPLEX, "prod": NUMBERS + COMPLEX, "mean": REAL, "max": NUMBERS, "min": NUMBERS, "var": REAL, "std": REAL,
    "all": ALL, "any": ALL, "count_nonzero": ALL,
}  # fmt: skip


@pytest.mark.parametrize("name", REDUCTIONS)
@given(data=st.data())
@FEW
def test_a_reduction_over_one_axis_several_or_all(name: str, data: Any) -> None:
    dtype = data.draw(st.sampled_from(REDUCTIONS[name]))
    a = data.draw(values(dtype, array_shapes(min_dims=0, max_dims=3, min_side=1, max_side=3)))
    axis, keepdims = data.draw(axes(a.ndim)), data.draw(st.booleans())
    check(lambda m, x: getattr(m, name)(x[0], axis=axis, keepdims=keepdims), a)


@pytest.mark.parametrize("name", ["sum", "prod", "all", "any", "count_nonzero"])
def test_a_reduction_of_nothing(name: str) -> None:
    check(lambda m, x: getattr(m, name)(x[0], axis=0), np.zeros((0, 2)))


@pytest.mark.parametrize("name", ["sum", "prod", "cumulative_sum", "cumulative_prod"])
def test_the_type_of_a_sum_can_be_chosen(name: str) -> None:
    check(lambda m, x: getattr(m, name)(x[0], dtype=m.float32, axis=0), np.arange(3, dtype=np.int32))


@pytest.mark.parametrize("correction", [0.0, 1.0, 0.5])
def test_a_variance_has_a_correction(correction: float) -> None:
    a = np.arange(6.0).reshape(2, 3)
    check(lambda m, x: [m.var(x[0], correction=correction), m.std(x[0], axis=1, correction=correction)], a)


@pytest.mark.parametrize(
    "name", ["argmax", "argmin", "argsort", "sort", "cumulative_sum", "cumulative_prod", "diff", "unique"]
)
@given(data=st.data())
@FEW
def test_what_goes_along_an_axis(name: str, data: Any) -> None:
    dtype = data.draw(st.sampled_from(NUMBERS))
    a = data.draw(values(dtype, array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4)))
    axis = data.draw(st.integers(-a.ndim, a.ndim - 1))
    if name in ("argmax", "argmin"):
        keepdims, where = data.draw(st.booleans()), data.draw(st.sampled_from([None, axis]))
        check(lambda m, x: getattr(m, name)(x[0], axis=where, keepdims=keepdims), a)
    elif name in ("argsort", "sort"):
        descending = data.draw(st.booleans())
        check(lambda m, x: getattr(m, name)(x[0], axis=axis, descending=descending), a)
    elif name == "diff":
        check(lambda m, x: m.diff(x[0], axis=axis, prepend=x[0]), a)
    elif name == "unique":
        check(lambda m, x: [m.unique_counts(x[0]), m.unique_inverse(x[0]), m.unique_values(x[0])], a)
        check(lambda m, x: m.unique_all(x[0]), a)
    else:
        first = data.draw(st.booleans())
        check(lambda m, x: getattr(m, name)(x[0], axis=axis, include_initial=first), a)


SHAPED: dict[str, Callable[[Any, Any], Any]] = {
    "concat": lambda m, x: [m.concat([x[0], x[0]]), m.concat([x[0], x[0]], axis=-1), m.concat([x[0], x[0]], axis=None)],
    "expand_dims": lambda m, x: [m.expand_dims(x[0], axis=a) for a in (0, 1, -1, 3)],
    "flip": lambda m, x: [m.flip(x[0]), m.flip(x[0], axis=1), m.flip(x[0], axis=(0, -1))],
    "moveaxis": lambda m, x: [m.moveaxis(x[0], 0, -1), m.moveaxis(x[0], (0, 1), (2, 0))],
    "permute_dims": lambda m, x: m.permute_dims(x[0], (2, 0, 1)),
    "matrix_transpose": lambda m, x: m.matrix_transpose(x[0]),
    "repeat": lambda m, x: [m.repeat(x[0], 2), m.repeat(x[0], 3, axis=1), m.repeat(x[0], m.asarray([1, 0, 2, 1]), axis=2)],
    "reshape": lambda m, x: [m.reshape(x[0], (4, 6)), m.reshape(x[0], (-1,)), m.reshape(x[0], (6, -1), copy=True)],
    "roll": lambda m, x: [m.roll(x[0], 5), m.roll(x[0], -1, axis=1), m.roll(x[0], (1, 2), axis=(0, 2))],
    "squeeze": lambda m, x: m.squeeze(m.expand_dims(x[0], axis=1), axis=1),
    "stack": lambda m, x: [m.stack([x[0], x[0]]), m.stack([x[0], x[0]], axis=-1)],
    "tile": lambda m, x: [m.tile(x[0], (2,)), m.tile(x[0], (2, 1, 1, 2))],
    "unstack": lambda m, x: [m.unstack(x[0]), m.unstack(x[0], axis=-1)],
    "broadcast_to": lambda m, x: m.broadcast_to(x[0], (5, 2, 3, 4)),
    "broadcast_arrays": lambda m, x: m.broadcast_arrays(x[0], x[0][0, 0, :]),
    "tril": lambda m, x: [m.tril(x[0]), m.tril(x[0], k=1)],
    "triu": lambda m, x: [m.triu(x[0]), m.triu(x[0], k=-1)],
    "take": lambda m, x: [m.take(x[0], m.asarray([0, -1, 1]), axis=1), m.take(x[0][0, 0, :], m.asarray([3, 0]))],
    "take_along_axis": lambda m, x: m.take_along_axis(x[0], m.zeros((2, 1, 4), dtype=m.int64) - 1, axis=1),
    "nonzero": lambda m, x: m.nonzero(x[0]),
    "where": lambda m, x: [m.where(x[0] != m.asarray(0, dtype=x[0].dtype), x[0], m.zeros_like(x[0]))],
    "index": lambda m, x: [x[0][0, ...], x[0][:, 1:, ::2], x[0][..., None], x[0][x[0] == x[0]]],
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["bool", "int32", "float64", "complex64"])
@pytest.mark.parametrize("name", SHAPED)
def test_what_turns_joins_and_picks(name: str, dtype: str) -> None:
    a = (np.arange(24).reshape(2, 3, 4) % 5).astype(dtype)
    check(SHAPED[name], a)


PRODUCTS: dict[str, Callable[[Any, Any], Any]] = {
    "matmul": lambda m, x: [m.matmul(*x), x[0] @ m.matrix_transpose(x[0]), m.matmul(x[0][0, :], x[1])],
    "tensordot": lambda m, x: [m.tensordot(*x, axes=1), m.tensordot(x[0], x[0], axes=((0, 1), (0, 1))), m.tensordot(x[0], x[0])],
    "vecdot": lambda m, x: [m.vecdot(x[0], x[0]), m.vecdot(x[0], x[0], axis=-2)],
}  # fmt: skip


@pytest.mark.parametrize(
    "types", [("int64", "int32"), ("float32", "float64"), ("complex64", "complex64"), ("float64", "complex128")]
)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_in_the_common_type(name: str, types: Any) -> None:
    a, b = (np.arange(n).reshape(s).astype(d) for n, s, d in zip((6, 12), ((2, 3), (3, 4)), types, strict=True))
    check(PRODUCTS[name], a, b)


CREATED: dict[str, Callable[[Any, Any], Any]] = {
    "arange": lambda m, x: [m.arange(5), m.arange(1, 4), m.arange(5, 1, -2), m.arange(0, 3, 2, dtype=m.int32), m.arange(3, 1)],
    "linspace": lambda m, x: [m.linspace(0, 1, 5, dtype=m.float64), m.linspace(0.0, 1.0, 4, endpoint=False, dtype=m.float64)],
    "eye": lambda m, x: [m.eye(3, dtype=m.int64), m.eye(3, k=-2, dtype=m.int8), m.eye(1, k=9, dtype=m.int8)],
    "zeros": lambda m, x: [m.zeros(3, dtype=m.int64), m.zeros((2, 0), dtype=m.bool), m.zeros_like(x[0]), m.zeros((), dtype=m.int8)],
    "ones": lambda m, x: [m.ones((2, 3), dtype=m.complex64), m.ones_like(x[0], dtype=m.int8)],
    "full": lambda m, x: [m.full((2,), 7), m.full(3, True), m.full_like(x[0], 2), m.full((1,), 2, dtype=m.float32)],
    "meshgrid": lambda m, x: [m.meshgrid(x[0], x[0]), m.meshgrid(x[0], x[0], indexing="ij")],
    "asarray": lambda m, x: [m.asarray([1, 2]), m.asarray(True), m.asarray(x[0], copy=True), m.asarray([[1.0]], dtype=m.float64)],
    "astype": lambda m, x: [m.astype(x[0], m.int32), m.astype(x[0], m.bool), m.astype(x[0], x[0].dtype, copy=False)],
    "searchsorted": lambda m, x: [m.searchsorted(m.asarray([1, 3, 5]), m.asarray([0, 3, 6]), side=s) for s in ("left", "right")],
    "isin": lambda m, x: m.isin(m.asarray([1, 2, 3]), m.asarray([2, 5])),
    "clip": lambda m, x: [m.clip(x[0], 0.5, 1.5), m.clip(x[0], max=1.0), m.clip(x[0], min=x[0])],
}  # fmt: skip


@pytest.mark.parametrize("name", CREATED)
def test_what_makes_tensors(name: str) -> None:
    check(CREATED[name], np.array([0.0, 1.0, 2.0]))


def test_the_default_type_of_new_tensors_is_pytorchs() -> None:
    assert xp.zeros(2).dtype is xp.asarray([1.0]).dtype is tl.float32
    assert xp.empty((2, 3)).shape == xp.empty_like(xp.zeros((2, 3))).shape == (2, 3)


def test_types_are_asked_and_combined() -> None:
    for a in ALL:
        for b in ALL:
            ours, theirs = (getattr(xp, a), getattr(xp, b)), (getattr(strict, a), getattr(strict, b))
            try:
                expected = strict.result_type(*theirs)
            except TypeError:
                continue
            assert xp.result_type(*ours).name == str(expected).rpartition(".")[2].strip("'>").replace("uint64", "int64")
            assert xp.can_cast(*ours) == strict.can_cast(*theirs)
        for kind in (
            "bool",
            "signed integer",
            "unsigned integer",
            "integral",
            "real floating",
            "complex floating",
            "numeric",
        ):
            assert xp.isdtype(getattr(xp, a), kind) == strict.isdtype(getattr(strict, a), kind)
    assert xp.result_type(tl.ones(1), 1.0) is tl.float32
    assert xp.isdtype(tl.int8, ("bool", tl.int8))
    assert (xp.finfo(tl.float32).bits, xp.iinfo(tl.ones(1, dtype=tl.int8)).max) == (32, 127)
    assert xp.broadcast_shapes((2, 1), (3,)) == (2, 3)
    with pytest.raises(ValueError, match="unknown kind 'floating'"):
        xp.isdtype(tl.int8, "floating")


def test_every_function_of_the_referee_is_there() -> None:
    switches = {
        "ArrayAPIStrictFlags",
        "get_array_api_strict_flags",
        "reset_array_api_strict_flags",
        "set_array_api_strict_flags",
    }
    not_there = {"uint16", "uint32", "uint64", "Device", "ModuleType", *switches}
    names = {name for name in dir(strict) if not name.startswith("_")}
    assert {name for name in names - not_there if not hasattr(xp, name)} == set()


def test_a_tensor_leads_to_its_namespace() -> None:
    x = tl.ones(2)
    assert x.__array_namespace__() is x.__array_namespace__(api_version="2022.12") is xp
    with pytest.raises(ValueError, match="not '2099.01'"):
        x.__array_namespace__(api_version="2099.01")
    assert x.to_device("cpu") is x
    info = xp.__array_namespace_info__()
    assert info.default_device() == tl.device("cpu")
    assert info.devices()[0] == tl.device("cpu")
    assert info.default_dtypes()["integral"] is tl.int64
    assert info.dtypes(kind="real floating") == {"float32": tl.float32, "float64": tl.float64}
    assert info.capabilities()["boolean indexing"]


def test_wrong_arguments_are_errors_and_gradients_are_kept() -> None:
    x = tl.ones(2, 3, requires_grad=True)
    for call, error in (
        (lambda: xp.squeeze(x, axis=0), ValueError), (lambda: xp.take(x, tl.tensor([0])), ValueError),
        (lambda: xp.cumulative_sum(x), ValueError), (lambda: xp.reshape(x.mT, (6,), copy=False), ValueError),
        (lambda: xp.expand_dims(x, axis=5), IndexError),
    ):  # fmt: skip
        with pytest.raises(error):
            call()
    xp.sum(xp.multiply(2.0, xp.clip(x, 0, 3))).backward()
    assert x.grad.tolist() == [[2] * 3] * 2
