"""Derivatives as functions of functions, without a reference library: what a person can check by hand."""

from __future__ import annotations

import gc
import weakref

import pytest

import tensorlab as tl
import tensorlab.autograd.forward_ad as fwAD
from tensorlab.autograd import functional as AF


def test_nothing_is_left_in_grad_of_anything() -> None:
    x = tl.tensor([1.0, 2.0], requires_grad=True)
    AF.jacobian(lambda a: a**2, x)
    AF.hessian(lambda a: (a**3).sum(), x)
    tl.func.grad(lambda a: (a**3).sum())(x)
    tl.func.jvp(lambda a: a**3, (x,), (tl.ones(2),))
    assert x.grad is None


def test_results_of_the_outermost_transform_are_plain_tensors() -> None:
    x = tl.tensor([1.0, 2.0])
    for found in (
        tl.func.grad(lambda a: (a**3).sum())(x),
        tl.func.jacrev(lambda a: a**3)(x),
        tl.func.hessian(lambda a: (a**3).sum())(x),
        tl.func.jvp(lambda a: a**3, (x,), (tl.ones(2),))[1],
        tl.func.vmap(tl.func.grad(lambda a: a**3))(x),
    ):
        assert not found.requires_grad


def test_an_infinite_tangent_does_not_make_the_value_nan() -> None:
    value, along = tl.func.jvp(lambda a: a * 2, (tl.tensor(3.0),), (tl.tensor(float("inf")),))
    assert value.item() == 6.0
    assert along.item() == float("inf")


def test_per_sample_gradients_are_the_gradients_of_each_sample() -> None:
    w, xs = tl.tensor([1.0, -2.0]), tl.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    found = tl.func.vmap(tl.func.grad(lambda w, x: (w * x).sum() ** 2), in_dims=(None, 0))(w, xs)
    assert found.tolist() == [[2 * s * a, 2 * s * b] for (a, b) in xs.tolist() for s in [a - 2 * b]]


def test_draws_inside_vmap_are_the_same_different_or_refused() -> None:
    x = tl.zeros(4)
    same = tl.func.vmap(lambda a: a + tl.rand(()), randomness="same")(x)
    different = tl.func.vmap(lambda a: a + tl.rand(()), randomness="different")(x)
    assert len(set(same.tolist())) == 1
    assert len(set(different.tolist())) == 4
    with pytest.raises(RuntimeError, match="randomness error mode"):
        tl.func.vmap(lambda a: a + tl.rand(()))(x)


def test_a_function_may_decide_by_the_values_of_each_entry() -> None:
    found = tl.func.vmap(lambda a: a * 2 if a > 0 else -a)(tl.tensor([1.0, -3.0]))
    assert found.tolist() == [2.0, 3.0]


def test_tangents_are_found_in_views_and_after_writes() -> None:
    with fwAD.dual_level():
        x = fwAD.make_dual(tl.tensor([1.0, 2.0]), tl.tensor([10.0, 20.0]))
        y = tl.zeros(2, 2)
        y[0] = x
        y[1] = x.flip(0) * x
        assert fwAD.unpack_dual(y).tangent.tolist() == [[10.0, 20.0], [40.0, 40.0]]
        assert fwAD.unpack_dual(tl.ones(2)).tangent is None


def test_levels_end_in_the_order_in_which_they_began() -> None:
    level = fwAD.enter_dual_level()
    inner = fwAD.enter_dual_level()
    with pytest.raises(RuntimeError, match="not the innermost"):
        fwAD.exit_dual_level(level=level)
    fwAD.exit_dual_level(level=inner)
    fwAD.exit_dual_level(level=level)
    with pytest.raises(RuntimeError, match="outside a `dual_level` block"):
        fwAD.make_dual(tl.ones(1), tl.ones(1))


def test_a_transform_keeps_nothing_alive() -> None:
    x = tl.tensor([1.0, 2.0])
    seen = []

    def f(a: tl.Tensor) -> tl.Tensor:
        y = a.sin() * a
        seen.append(weakref.ref(y))
        return y.sum()

    result = tl.func.grad(f)(x)
    gc.collect()
    assert seen[0]() is None
    assert result.shape == (2,)


def test_one_pass_for_every_entry_of_batched_gradients() -> None:
    x = tl.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (rows,) = tl.autograd.grad(x**2, x, tl.eye(3), is_grads_batched=True)
    assert rows.tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]
    with pytest.raises(RuntimeError, match="one more dimension"):
        tl.autograd.grad((x**2).sum(), x, tl.tensor(1.0), is_grads_batched=True)
