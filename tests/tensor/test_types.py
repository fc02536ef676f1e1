"""Element types and numbers: promotion, low precision, rounding, ties, kinks, NaN and nothing at all."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import tensorlab as tl

f16, bf16, f32, f64, i8, u8, i32, i64 = (
    tl.float16,
    tl.bfloat16,
    tl.float32,
    tl.float64,
    tl.int8,
    tl.uint8,
    tl.int32,
    tl.int64,
)


def t(*values, dtype=None, grad=False):
    return tl.tensor(list(values), dtype=dtype, requires_grad=grad)


@pytest.mark.parametrize(
    ("a", "b", "dtype"),
    [
        (t(1, dtype=i64), 1.5, f32), (t(1.0), tl.tensor(1.0, dtype=f64), f32), (t(1, dtype=i32), tl.tensor(1), i32),
        (t(1, dtype=i64), t(1.0), f32), (t(1, dtype=i32), t(1, dtype=f16), f16), (t(1, dtype=f16), t(1, dtype=bf16), f32),
        (t(1, dtype=u8), t(1, dtype=i8), tl.int16), (t(True), 1, i64), (t(True), t(True), tl.bool), (t(1, dtype=u8), 2.5, f32),
        (t(1.0), 1j, tl.complex64), (t(1, dtype=f64), 1j, tl.complex128), (tl.tensor(1.0), t(1, dtype=f16), f16),
    ],
)  # fmt: skip
def test_two_types_meet_by_category_then_by_dimensions(a, b, dtype) -> None:
    assert (a + b).dtype is dtype
    assert (b + a).dtype is dtype


def test_numbers_wrap_in_arithmetic_and_compare_as_numbers() -> None:
    x = t(1, 44, dtype=u8)
    assert (x + 300).tolist() == [45, 88]
    assert (x - 2).tolist() == [255, 42]
    assert (x < 300).tolist() == [True, True]
    assert (x == 300).tolist() == [False, False]
    assert (300 > x).tolist() == [True, True]
    assert (x >= -1).tolist() == [True, True]
    assert (t(1) == 2**70).tolist() == [False]
    assert tl.tensor(-1, dtype=u8).item() == 255


def test_a_whole_number_and_its_float_are_two_constants() -> None:
    x = t(3)
    assert (x * 2.0).dtype is f32
    assert (x * 2).dtype is i64
    assert (1 / (t(1.0) * -0.0)).item() == -np.inf
    assert (1 / (t(1.0) * 0.0)).item() == np.inf


def test_division_of_integers() -> None:
    a = t(-7, 7)
    assert (a / 2).tolist() == [-3.5, 3.5]
    assert (a // 2).tolist() == [-4, 3]
    assert (a % 3).tolist() == [2, 1]
    assert a.fmod(3).tolist() == [-1, 1]
    assert tl.div(a, 2, rounding_mode="trunc").tolist() == [-3, 3]
    assert tl.div(t(2**62 + 1), 1, rounding_mode="trunc").item() == 2**62 + 1
    for wrong in (lambda: a // 0, lambda: a % 0, lambda: a.fmod(0), lambda: a.floor_divide_(tl.tensor(0))):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            wrong()


def test_division_of_floats_by_zero_says_nothing_and_gives_infinity_or_nan() -> None:
    x = t(1.0, -1.0, 0.0)
    assert (x // 0).tolist()[:2] == [np.inf, -np.inf]
    assert np.isnan((x % 0).tolist()).all()
    assert (x / 0).tolist()[:2] == [np.inf, -np.inf]


def test_powers_of_integers() -> None:
    assert (t(2, 3) ** 2).tolist() == [4, 9]
    assert (t(2, 1, -1, -1) ** t(-1, -1, -1, -2)).tolist() == [0, 1, -1, 1]
    with pytest.raises(RuntimeError, match="Integers to negative integer powers are not allowed"):
        t(2) ** -1
    assert (2 ** t(1, 2, 3)).tolist() == [2, 4, 8]


def test_booleans_add_as_or_and_neither_subtract_nor_negate() -> None:
    a, b = t(True, True, False), t(True, False, False)
    assert (a + b).tolist() == [True, True, False]
    assert (a * b).tolist() == [True, False, False]
    assert (~a).tolist() == [False, False, True]
    for wrong in (lambda: a - b, lambda: -a, lambda: a - 1, lambda: 1 - a):
        with pytest.raises(RuntimeError, match="is not supported"):
            wrong()
    with pytest.raises(RuntimeError, match="not implemented for bool"):
        a // b


def test_ties_share_the_gradient_or_go_to_the_index_that_is_returned() -> None:
    x = t(1.0, 3.0, 3.0, grad=True)
    (all_,) = tl.autograd.grad(x.max(), x)
    (amax,) = tl.autograd.grad(x.amax(0), x)
    (first,) = tl.autograd.grad(x.max(0).values, x)
    assert all_.tolist() == amax.tolist() == [0.0, 0.5, 0.5]
    assert first.tolist() == [0.0, 1.0, 0.0]
    (pair,) = tl.autograd.grad(tl.maximum(x, tl.full_like(x, 3.0)).sum(), x)
    assert pair.tolist() == [0.0, 0.5, 0.5]


def test_derivatives_at_kinks() -> None:
    zero = t(0.0, grad=True)

    def slope(function):
        return tl.autograd.grad(function(zero).sum(), zero)[0].item()

    assert slope(tl.relu) == 0
    assert slope(tl.abs) == 0
    assert slope(lambda x: tl.clamp(x, 0, 1)) == 1
    assert slope(lambda x: tl.clamp(x, -1, 0)) == 1
    assert slope(tl.sqrt) == np.inf
    assert slope(lambda x: x.norm()) == 0
    assert np.isnan(slope(lambda x: tl.where(x > 0, x.sqrt() / x, x)))
    x = t(2.0, 0.0, 3.0, grad=True)
    assert tl.autograd.grad(x.prod(), x)[0].tolist() == [0.0, 6.0, 0.0]


def test_nan_is_the_largest_and_has_no_sign() -> None:
    x = t(1.0, float("nan"), 3.0)
    assert np.isnan(x.max().item())
    assert np.isnan(x.min().item())
    assert x.argmax().item() == x.max(0).indices.item() == 1
    assert np.isnan(tl.maximum(x, t(2.0)).tolist()[1])
    assert tl.sign(t(float("nan"), -2.0, 0.0)).tolist() == [0.0, -1.0, 0.0]


def test_reductions_of_nothing() -> None:
    e = tl.zeros(0)
    assert (e.sum().item(), e.prod().item()) == (0, 1)
    assert np.isnan(e.mean().item())
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        assert np.isnan(e.std().item())
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        assert np.isnan(t(1.0).var().item())
    with pytest.raises(RuntimeError, match="Specify the reduction dim with the 'dim' argument"):
        e.max()
    with pytest.raises(IndexError, match="to have non-zero size"):
        tl.zeros(2, 0).max(1)
    with pytest.raises(IndexError, match="Dimension out of range"):
        tl.cat([e, e], dim=999)


def test_spread_corrects_by_one_unless_told() -> None:
    x = t(1.0, 2.0, 4.0)
    assert x.std().item() == pytest.approx(np.std([1, 2, 4], ddof=1))
    assert x.var(correction=0).item() == x.var(unbiased=False).item() == pytest.approx(np.var([1, 2, 4]))


def test_integers_sum_to_int64_and_have_no_mean() -> None:
    assert t(200, 100, dtype=u8).sum().item() == 300
    assert t(200, 100, dtype=u8).sum().dtype is i64
    assert t(True, True).sum().item() == 2
    with pytest.raises(RuntimeError, match="could not infer output dtype"):
        t(1, 2).mean()
    assert t(1, 2).mean(dtype=f32).item() == 1.5


@pytest.mark.parametrize("dtype", [f16, bf16])
def test_sums_of_low_precision_are_carried_in_float32(dtype) -> None:
    ones = tl.ones(4096, dtype=dtype)
    assert ones.sum().item() == 4096
    assert ones.cumsum(0)[-1].item() == 4096
    assert ones.mean().item() == 1
    assert (ones[None] @ ones[:, None]).item() == 4096
    assert ones.sum().dtype is dtype


def test_bfloat16_computes_like_any_other_float() -> None:
    x = t(1.5, -2.0, 0.25, dtype=bf16, grad=True)
    y = (x * 2 + 1).relu().sum() + x.exp().max() + x.softmax(0).sum()
    assert y.dtype is bf16
    y.backward()
    assert x.grad.dtype is bf16
    assert (x.detach() > 0).tolist() == [True, False, True]
    assert x.detach().tolist() == [1.5, -2.0, 0.25]
    assert x.detach()[0].item() == 1.5
    assert x.detach().to(i64).tolist() == [1, -2, 0]
    assert tl.isnan(t(float("nan"), dtype=bf16)).item()


def test_bfloat16_loads_its_package_when_first_asked_for() -> None:
    code = (
        "import sys, tensorlab as tl; a = 'ml_dtypes' in sys.modules; tl.ones(2, dtype=tl.bfloat16);"
        "print(a, 'ml_dtypes' in sys.modules, 'scipy' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "True", "False"]


def test_numpy_never_warns_through_us_however_strict_the_user_is() -> None:
    code = """
import numpy as np
np.seterr(all="raise")
import tensorlab as tl
x = tl.tensor([0.0, -1.0, 1e38, float("inf"), float("nan")], requires_grad=True)
y = [x / 0, x.log(), x.sqrt(), x.rsqrt(), x.reciprocal(), x ** -1, x ** 0.5, x.exp(), x * 1e30, x % 0, x // 0, x.asin(),
     x.tanh(), x.sigmoid(), x.softmax(0), x.log_softmax(0), x.logsumexp(0), x.std(), x.var(), x.norm(), x.mean(),
     x.cumsum(0), x.prod(), x - x, x.tan(), x.erf(),
     x.square(), x.fmod(0), x.clamp(0, 1), x.max(), x.cosh(), x.log1p(), x.abs(), x.sign(), x.round(), x @ x, x.half(), x.pow(x), x.expm1()]
for each in y:
    if each.requires_grad:
        each.float().sum().backward(retain_graph=True)
z = x.detach().clone()
for write in (lambda: z.div_(0), lambda: z.log_(), lambda: z.exp_(), lambda: z.mul_(1e30), lambda: z.pow_(-1), lambda: z.sqrt_()):
    write()
tl.tensor([1e300, float("nan")], dtype=tl.float64).float(); tl.tensor([float("nan"), 1e30]).int(); tl.tensor([300]).to(tl.uint8)
tl.zeros(0).mean(); tl.tensor([1, 2]) / 0
g, = tl.autograd.grad((x.sqrt() / x).sum(), x, create_graph=True)
g.sum().backward()
try:
    np.ones(1) / 0
except FloatingPointError:
    print("fine")
"""
    ran = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert (ran.stdout.strip(), ran.stderr) == ("fine", "")


def test_tensors_are_made_of_numbers_and_say_what_else_they_were_given() -> None:
    for data, kind, words in [
        ([[1, 2], [3]], ValueError, r"expected sequence of length 2 at dim 1 \(got length 1 at position 1\)"),
        ([1, [2]], (ValueError, TypeError), "."),
        ([1, "a"], (ValueError, TypeError), "."),
        ("text", TypeError, "invalid data type 'str'"),
        ([None], RuntimeError, "Could not infer dtype of NoneType"),
        ({1: 2}, RuntimeError, "Could not infer dtype of dict"),
        (np.array([{}, []], dtype=object), TypeError, "can't convert a numpy.ndarray of type object"),
        (np.array(["a"]), TypeError, "can't convert"),
        (2**70, ValueError, "too large for int64"),
        ([2**70], ValueError, "too large for int64"),
    ]:
        with pytest.raises(kind, match=words):
            tl.tensor(data)
    with pytest.raises(
        RuntimeError, match="value 300 cannot be converted to type uint8 without overflow: it holds 0 to 255"
    ):
        tl.tensor([300], dtype=u8)


def test_types_of_new_tensors_are_those_of_their_numbers() -> None:
    assert tl.tensor([1, 2]).dtype is i64
    assert tl.tensor([1, 2.0]).dtype is f32
    assert tl.tensor([True]).dtype is tl.bool
    assert tl.tensor([]).dtype is f32
    assert tl.tensor(1j).dtype is tl.complex64
    assert tl.tensor(np.float64(1)).dtype is f64
    assert tl.tensor([np.float64(1)]).dtype is f64
    assert tl.arange(3).dtype is i64
    assert tl.arange(3.0).dtype is f32
    assert tl.full((2,), 1).dtype is i64
    assert tl.linspace(0, 1, 3).dtype is f32
    tl.set_default_dtype(f64)
    try:
        assert tl.tensor([1.0]).dtype is f64
        assert (t(1) / 2).dtype is f64
        assert tl.zeros(1).dtype is f64
    finally:
        tl.set_default_dtype(f32)


def test_complex_gradients_are_conjugate_wirtinger() -> None:
    z = tl.tensor([1 + 2j], requires_grad=True)
    (z.abs() ** 2).sum().backward()
    assert z.grad.tolist() == [pytest.approx(2 + 4j)]


@pytest.mark.parametrize("argument", ["axis", "dim"])
def test_axis_and_keepdims_are_dim_and_keepdim(argument) -> None:
    x = tl.arange(6.0).reshape(2, 3)
    for name in ("sum", "mean", "prod", "amax", "amin", "argmax", "argmin", "all", "any", "var", "std", "logsumexp"):
        expected = getattr(x, name)(1, keepdim=True)
        for function in (getattr(tl, name), lambda x, name=name, **more: getattr(x, name)(**more)):
            assert tl.equal(function(x, **{argument: 1}, keepdims=True), expected), name
    for name in ("cumsum", "softmax", "log_softmax", "squeeze", "unsqueeze"):
        assert tl.equal(getattr(tl, name)(x, **{argument: 1}), getattr(x, name)(1)), name
    assert tl.cat([x, x], **{argument: 1}).shape == (2, 6)
    assert tl.stack([x, x], **{argument: 1}).shape == (2, 2, 3)
