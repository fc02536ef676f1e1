"""Complex numbers: parts are views that can be written to, and gradients follow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorlab as tl


def some(**kwargs: Any) -> tl.Tensor:
    return tl.tensor([1 + 2j, 3 - 1j], dtype=tl.complex128, **kwargs)


def test_real_and_imag_are_views_of_the_same_memory() -> None:
    x = some()
    assert x.real._base is x
    assert x.imag.stride() == (2,)
    assert x.imag.storage_offset() == 1
    x.real.add_(10)
    x.imag.zero_()
    assert x.tolist() == [11 + 0j, 13 + 0j]
    assert x._version == 2


def test_assigning_to_a_part_writes_it_and_leaves_the_other() -> None:
    x = some()
    x.real = 5.0
    x.imag = tl.tensor([7.0, 8.0], dtype=tl.float64)
    assert x.tolist() == [5 + 7j, 5 + 8j]
    y = tl.ones(2)
    y.real = 3.0
    assert y.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="imag is not implemented for tensors with non-complex dtypes"):
        y.imag = 3.0


def test_writing_a_real_view_of_a_complex_tensor_rewrites_its_history() -> None:
    x = some(requires_grad=True)
    v = tl.tensor([2.0, 3.0], dtype=tl.float64, requires_grad=True)
    y = x * (1 + 1j)
    real = y.real
    real.mul_(v)
    assert y.grad_fn.name() == "CopySlices"
    ((y * y.conj()).real.sum()).backward()
    before = (some() * (1 + 1j)).numpy()
    after = before.real * v.detach().numpy() + 1j * before.imag
    expected = (2 * after.real * v.detach().numpy() + 2j * after.imag) * (1 - 1j)
    np.testing.assert_allclose(x.grad.numpy(), expected)
    np.testing.assert_allclose(v.grad.numpy(), 2 * after.real * before.real)


def test_a_view_taken_before_a_write_to_the_other_view_is_brought_up_to_date() -> None:
    x = some(requires_grad=True)
    y = x * 1
    real, pairs = y.real, tl.view_as_real(y)
    y.mul_(2)
    assert [n.name() for n, _ in real.grad_fn.next_functions] == ["ViewAsRealBackward0"]
    (real.sum() + pairs[0, 1]).backward()
    assert x.grad.tolist() == [2 + 2j, 2 + 0j]


def test_a_complex_view_of_real_pairs_carries_writes_and_gradients() -> None:
    x = tl.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=tl.float64, requires_grad=True)
    pairs = x * 1
    z = tl.view_as_complex(pairs)
    z.mul_(1j)
    assert pairs.detach().tolist() == [[-2, 1], [-4, 3]]
    assert z.grad_fn.name() == "ViewAsComplexBackward0"
    (pairs[0, 0] + 2 * pairs[1, 1] + z.abs().pow(2).sum()).backward()
    assert x.grad.tolist() == [[2, 3], [8, 8]]


@pytest.mark.parametrize("shape", [(3,), (4, 2, 2), (2, 1)])
def test_what_are_no_pairs_cannot_be_seen_as_complex_numbers(shape: tuple[int, ...]) -> None:
    x = tl.zeros(3) if shape == (3,) else tl.zeros(4, 2, 2).transpose(1, 2) if len(shape) == 3 else tl.zeros(2, 1)
    with pytest.raises(RuntimeError, match="last dimension"):
        tl.view_as_complex(x)


def test_conjugates_are_computed_so_there_is_nothing_to_resolve() -> None:
    x = some()
    assert not x.conj().is_conj()
    assert x.resolve_conj() is x
    assert x.conj().imag.tolist() == [-2, 1]
    assert not tl.is_neg(x.imag)


def test_hermitian_transposes() -> None:
    x = tl.tensor([[1 + 2j, 3], [4, 5 - 1j]])
    assert x.H.tolist() == [[1 - 2j, 4], [3, 5 + 1j]]
    assert x.mH.tolist() == x.adjoint().tolist() == x.H.tolist()
    with pytest.raises(RuntimeError, match="mH"):
        _ = tl.zeros(2, 2, 2).H


@pytest.mark.parametrize(
    "function",
    [
        lambda z: z.angle(),
        lambda z: z.abs(),
        lambda z: z.sgn(),
        lambda z: z.real * z.imag,
        lambda z: z.acosh(),
        lambda z: z.asinh(),
        lambda z: z.atanh(),
        lambda z: tl.polar(z.abs(), z.angle()),
        lambda z: tl.complex(z.imag, z.real),
        lambda z: z.float_power(1.5),
        lambda z: tl.logaddexp(z, z.conj() * 0.5),
        lambda z: z.nan_to_num().conj_physical(),
        lambda z: z.ldexp(z * 0.3),
    ],
)
def test_complex_gradients_agree_with_differences_twice(function: Any) -> None:
    z = tl.tensor([0.4 + 0.7j, 1.3 - 0.6j, -0.8 + 0.2j], dtype=tl.complex128, requires_grad=True)
    assert tl.autograd.gradcheck(function, [z], atol=1e-6, rtol=1e-5)
    assert tl.autograd.gradgradcheck(function, [z], atol=1e-6, rtol=1e-5)


def test_a_size_of_zero_or_below_has_the_gradient_of_the_formula() -> None:
    size = tl.tensor([0.0, -2.0], dtype=tl.float64, requires_grad=True)
    tl.polar(size, tl.tensor([0.3, 0.3], dtype=tl.float64)).real.sum().backward()
    np.testing.assert_allclose(size.grad.numpy(), np.cos([0.3, 0.3]))
