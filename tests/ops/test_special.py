"""Special functions: ends of their domains, degrees, other names, and what has no derivative."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.special

import tensorlab as tl
from tensorlab.ops import scipy as scipy_rows
from tensorlab.ops.bessel import _airy_by_parts, _integral

inf, nan = math.inf, math.nan


def test_special_functions_need_scipy_only_when_they_are_called() -> None:
    code = "import sys, tensorlab as tl, tensorlab.special; assert 'scipy' not in sys.modules; tl.erfc(tl.ones(1))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_scipy_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    scipy_rows._on_host.cache_clear()
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(RuntimeError, match="pip install scipy"):
        tl.erfinv(tl.zeros(2))


def test_values_at_the_ends_of_domains() -> None:
    def values(function: object, *numbers: float) -> str:
        return str(function(tl.tensor(numbers, dtype=tl.float64)).tolist())  # type: ignore[operator]

    assert values(tl.erfinv, -1, 1, 2) == str([-inf, inf, nan])
    assert values(tl.lgamma, 0, -1, inf) == str([inf, inf, inf])
    assert values(tl.digamma, 0.0, -0.0) == str([-inf, inf])
    assert values(tl.special.entr, -1, 0, nan) == str([-inf, 0.0, nan])
    assert values(tl.special.ndtri, 0, 1, 2) == str([-inf, inf, nan])
    assert values(tl.special.modified_bessel_k0, 0, -1) == str([inf, nan])
    assert values(tl.logit, 0, 1, 2) == str([-inf, inf, nan])


def test_a_product_with_a_logarithm_is_0_where_the_factor_is() -> None:
    x = tl.tensor([0.0, 0.0, 2.0], dtype=tl.float64, requires_grad=True)
    y = tl.tensor([0.0, -1.0, 1.0], dtype=tl.float64, requires_grad=True)
    found = tl.xlogy(x, y)
    assert found.tolist() == [0, 0, 0]
    found.sum().backward()
    assert x.grad.tolist() == [0, 0, 0]


@pytest.mark.parametrize(("order", "theirs"), [(0, scipy.special.k0e), (1, scipy.special.k1e)])
def test_the_integral_that_stands_in_for_cupy_gives_scipys_digits(order: int, theirs: object) -> None:
    x = np.concatenate([np.logspace(-12, 2.5, 200), [0.0, -1.0]])
    np.testing.assert_allclose(_integral(np, x, order, True), theirs(x), rtol=2e-14)  # type: ignore[operator]


def test_the_airy_function_that_stands_in_for_cupys_gives_scipys_digits() -> None:
    x = np.concatenate([np.linspace(-30, 30, 4001), [np.inf, -np.inf, np.nan]])
    expected = scipy.special.airy(x)[0]
    found = _airy_by_parts(np, x)
    left = np.isfinite(x) & (x < 0)
    np.testing.assert_allclose(found[left], expected[left], atol=2e-14)
    np.testing.assert_allclose(found[x >= 0], expected[x >= 0], rtol=1e-13)


POLYNOMIALS = {
    "chebyshev_polynomial_t": scipy.special.eval_chebyt,
    "chebyshev_polynomial_u": scipy.special.eval_chebyu,
    "shifted_chebyshev_polynomial_t": scipy.special.eval_sh_chebyt,
    "shifted_chebyshev_polynomial_u": scipy.special.eval_sh_chebyu,
    "hermite_polynomial_h": scipy.special.eval_hermite,
    "hermite_polynomial_he": scipy.special.eval_hermitenorm,
    "laguerre_polynomial_l": scipy.special.eval_laguerre,
    "legendre_polynomial_p": scipy.special.eval_legendre,
}


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_are_scipys_for_every_degree(name: str) -> None:
    x, n = np.linspace(-1, 1, 9)[:, None], np.arange(8)
    found = getattr(tl.special, name)(tl.tensor(x), tl.tensor(n))
    np.testing.assert_allclose(found.numpy(), POLYNOMIALS[name](n, x), rtol=1e-12, atol=1e-12)


def test_a_polynomial_has_derivatives_of_every_order() -> None:
    x = tl.tensor([0.3], dtype=tl.float64, requires_grad=True)
    y = tl.special.legendre_polynomial_p(x, 4)
    for order in range(5):
        expected = np.polynomial.legendre.Legendre.basis(4).deriv(order)(0.3) if order else y.item()
        np.testing.assert_allclose(y.item(), expected, rtol=1e-12)
        (y,) = tl.autograd.grad(y.sum(), x, create_graph=True)


def test_a_negative_degree_is_the_polynomial_0() -> None:
    assert tl.special.hermite_polynomial_h(tl.ones(2), -1).tolist() == [0, 0]


@pytest.mark.parametrize("function", [tl.igamma, tl.igammac, tl.special.zeta])
def test_a_derivative_that_nobody_knows_is_refused(function: object) -> None:
    x = tl.tensor([2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="no gradient"):
        function(x, tl.tensor([1.5])).sum().backward()  # type: ignore[operator]


def test_other_names_are_the_same_functions() -> None:
    x = tl.tensor([0.2, 0.7])
    for name, known in {"expit": "sigmoid", "gammaln": "lgamma", "psi": "digamma"}.items():
        assert tl.equal(getattr(tl.special, name)(x), getattr(tl, known)(x))
    out = tl.empty(2)
    assert tl.special.expit(x, out=out) is out
    assert tl.special.softmax(x, 0, dtype=tl.float64).dtype is tl.float64


def test_complex_numbers_are_refused_where_a_function_is_meant_for_real_ones() -> None:
    for function in (tl.fmax, tl.xlogy, tl.hypot, tl.atan2):
        with pytest.raises(RuntimeError):
            function(tl.tensor([1j]), tl.tensor([1j]))
    with pytest.raises(RuntimeError, match="erfc"):
        tl.erfc(tl.tensor([1j]))


def test_shifts_beyond_the_width_leave_nothing_but_the_sign() -> None:
    x = tl.tensor([5, -5], dtype=tl.int32)
    assert (x << 40).tolist() == [0, 0]
    assert (x >> 40).tolist() == [0, -1]
    assert (1 << tl.tensor([3, 4])).tolist() == [8, 16]
    y = tl.tensor([1, 2])
    y <<= 2
    y >>= tl.tensor([1, 0])
    assert y.tolist() == [2, 8]


def test_in_place_forms_keep_what_their_gradients_need() -> None:
    for name, args in {
        "nan_to_num_": (),
        "logit_": (0.1,),
        "mvlgamma_": (2,),
        "polygamma_": (1,),
        "sinc_": (),
        "xlogy_": (2.0,),
    }.items():
        x = tl.tensor([0.8, 0.9], dtype=tl.float64, requires_grad=True)
        base = x * 1
        assert getattr(base, name)(*args) is base
        base.sum().backward()
        y = tl.tensor([0.8, 0.9], dtype=tl.float64, requires_grad=True)
        getattr(y, name[:-1])(*args).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy())


def test_float_power_in_place_needs_a_wide_tensor() -> None:
    with pytest.raises(RuntimeError, match="requires dtype float64"):
        tl.ones(2).float_power_(2)
    assert tl.tensor([3.0], dtype=tl.float64).float_power_(2).tolist() == [9]
