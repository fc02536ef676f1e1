"""Functional derivatives against PyTorch: the same programs on both libraries, values and whether results are recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tests.parity import oracle

torch = oracle.torch


def _x(t: Any) -> Any:
    return t.tensor([1.0, 2.0, 3.0])


def _m(t: Any) -> Any:
    return t.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def _z(t: Any) -> Any:
    return t.tensor([1 + 2j, 3 - 1j])


def _two(a: Any, b: Any) -> Any:
    return b @ a, a.sin() * a


def _cube(a: Any) -> Any:
    return (a**3).sum()


def _through_parameter(t: Any) -> Any:
    p = _x(t).requires_grad_()
    g = t.func.grad(lambda a: (a * a * p).sum())(_x(t))
    g.sum().backward()
    return g, p.grad


def _without_recording(t: Any) -> Any:
    p = _x(t).requires_grad_()
    with t.no_grad():
        return t.func.grad(lambda a: (a * a * p).sum())(_x(t))


def _at_a_leaf(t: Any) -> Any:
    p = _x(t).requires_grad_()
    g = t.func.grad(_cube)(p)
    return g, t.autograd.grad(g.sum(), p)


def _vjp(t: Any) -> Any:
    out, product = t.func.vjp(lambda a: (a * 2, a.sum()), _x(t))
    return out, product((_x(t), t.tensor(1.0)))


def _linearize(t: Any) -> Any:
    out, along = t.func.linearize(lambda a: a.sin() * a, _x(t))
    return out, along(t.ones(3))


def _dual(t: Any) -> Any:
    fw = t.autograd.forward_ad
    with fw.dual_level():
        a = fw.make_dual(_x(t), t.tensor([1.0, 0.0, 2.0]))
        b = a * a.sin()
        c = b.clone()
        c.mul_(a)
        w = t.zeros(3)
        w[1:] = a[:2]
        return [fw.unpack_dual(v) for v in (b, c, w)]


def _batched_grad(t: Any) -> Any:
    x = _x(t).requires_grad_()
    return t.autograd.grad(x**2, x, t.eye(3), is_grads_batched=True)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "jacobian": lambda t: t.autograd.functional.jacobian(_two, (_x(t), _m(t))),
    "jacobian, recorded": lambda t: t.autograd.functional.jacobian(lambda a: a**3, _x(t), create_graph=True),
    "jacobian, forward": lambda t: t.autograd.functional.jacobian(
        _two, (_x(t), _m(t)), strategy="forward-mode", vectorize=True
    ),
    "jacobian of a constant": lambda t: t.autograd.functional.jacobian(lambda a: t.zeros(2), _x(t)),
    "jacobian of a number": lambda t: t.autograd.functional.jacobian(lambda a: a.sum(), _x(t)),
    "hessian": lambda t: t.autograd.functional.hessian(_cube, _x(t)),
    "hessian of two": lambda t: t.autograd.functional.hessian(lambda a, b: (a * b * b).sum(), (_x(t), _m(t) * 0.1)),
    "vjp": lambda t: t.autograd.functional.vjp(_two, (_x(t), _m(t)), (t.ones(2), t.ones(3))),
    "jvp": lambda t: t.autograd.functional.jvp(_two, (_x(t), _m(t)), (t.ones(3), t.ones(2, 3))),
    "jvp of a constant": lambda t: t.autograd.functional.jvp(lambda a: t.ones(2), _x(t), t.ones(3)),
    "vhp": lambda t: t.autograd.functional.vhp(_cube, _x(t), t.ones(3)),
    "hvp": lambda t: t.autograd.functional.hvp(_cube, _x(t), t.tensor([1.0, 2.0, 0.0])),
    "complex vjp": lambda t: t.autograd.functional.vjp(lambda a: a * a * (1 + 1j), _z(t), t.tensor([1j, 2 + 0j])),
    "complex jvp": lambda t: t.autograd.functional.jvp(lambda a: a * a * (1 + 1j), _z(t), t.tensor([1j, 2 + 0j])),
    "jvp of a modulus": lambda t: t.autograd.functional.jvp(lambda a: a.abs(), _z(t), t.tensor([1j, 2 + 0j])),
    "dual numbers": _dual,
    "batched grad": _batched_grad,
    "grad": lambda t: t.func.grad(_cube)(_x(t)),
    "grad of grad": lambda t: t.func.grad(t.func.grad(lambda a: a.sin()))(t.tensor(0.5)),
    "grad by two": lambda t: t.func.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(_x(t), _x(t) * 2),
    "grad in a dictionary": lambda t: list(
        t.func.grad(lambda d: (d["a"] * d["b"]).sum())({"a": _x(t), "b": _x(t)}).values()
    ),
    "grad and value": lambda t: t.func.grad_and_value(_cube)(_x(t)),
    "grad with aux": lambda t: t.func.grad(lambda a: ((a**2).sum(), a * 2), has_aux=True)(_x(t)),
    "a gradient inside a gradient is of its own variable": lambda t: t.func.grad(
        lambda a: a * t.func.grad(lambda b: a + b)(t.tensor(1.0))
    )(t.tensor(2.0)),
    "grad through a parameter": _through_parameter,
    "grad without recording": _without_recording,
    "grad at a leaf": _at_a_leaf,
    "jacrev": lambda t: t.func.jacrev(lambda a: _m(t) @ a)(_x(t)),
    "jacfwd": lambda t: t.func.jacfwd(lambda a: _m(t) @ a.sin())(_x(t)),
    "func.hessian": lambda t: t.func.hessian(lambda a: (a**3).prod())(_x(t)),
    "jacrev of jacrev": lambda t: t.func.jacrev(t.func.jacrev(_cube))(_x(t)),
    "jacfwd of jacfwd": lambda t: t.func.jacfwd(t.func.jacfwd(_cube))(_x(t)),
    "jacrev of jacfwd": lambda t: t.func.jacrev(t.func.jacfwd(lambda a: (a**3).prod()))(_x(t)),
    "jacrev by two": lambda t: t.func.jacrev(lambda a, b: (a * b, a.sum()), argnums=(0, 1))(_x(t), _x(t) * 2),
    "jacrev of a dictionary": lambda t: t.func.jacrev(lambda a: {"x": a * 2})(_x(t))["x"],
    "func.vjp": _vjp,
    "func.jvp": lambda t: t.func.jvp(lambda a, b: a * b, (_x(t), _x(t)), (_x(t), t.ones(3))),
    "jvp of grad": lambda t: t.func.jvp(t.func.grad(_cube), (_x(t),), (t.ones(3),)),
    "grad of jvp": lambda t: t.func.grad(lambda a: t.func.jvp(_cube, (a,), (t.ones(3),))[1])(_x(t)),
    "linearize": _linearize,
    "vmap": lambda t: t.func.vmap(lambda a, b: a @ b, in_dims=(0, None))(_m(t), _x(t)),
    "vmap of grad": lambda t: t.func.vmap(t.func.grad(lambda a: (a**2).sum()))(_m(t)),
    "vmap along columns": lambda t: t.func.vmap(lambda a: a * 2, in_dims=1, out_dims=1)(_m(t)),
    "vmap of vmap": lambda t: t.func.vmap(t.func.vmap(lambda a: a + 1))(_m(t)),
    "vmap of jacrev": lambda t: t.func.vmap(t.func.jacrev(lambda a: a**2))(_m(t)),
    "vmap of two results": lambda t: t.func.vmap(lambda a: (a.sum(), a * 2), out_dims=(0, 1))(_m(t)),
    "vmap over a dictionary": lambda t: t.func.vmap(lambda d: d["a"] + d["b"], in_dims=({"a": 0, "b": None},))(
        {"a": _m(t), "b": _x(t)}
    ),
}


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _flat(item)
    else:
        yield value


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_functional_derivatives_are_those_of_pytorch(name: str) -> None:
    ours, theirs = list(_flat(PROGRAMS[name](tl))), list(_flat(PROGRAMS[name](torch)))
    assert len(ours) == len(theirs)
    for found, expected in zip(ours, theirs, strict=True):
        if name == "dual numbers" and expected is None:
            assert found is None
            continue
        assert tuple(found.shape) == tuple(expected.shape)
        assert found.requires_grad == expected.requires_grad
        np.testing.assert_allclose(oracle.to_numpy(found), oracle.to_numpy(expected), rtol=1e-5, atol=1e-5)


WRONG: dict[str, Callable[[Any], Any]] = {
    "grad of a vector": lambda t: t.func.grad(lambda a: a * 2)(_x(t)),
    "grad by an argument that is not there": lambda t: t.func.grad(_cube, argnums=1)(_x(t)),
    "grad by a number": lambda t: t.func.grad(lambda a: a * 2.0)(3.0),
    "grad of integers": lambda t: t.func.grad(lambda a: a.sum())(t.tensor([1, 2])),
    "aux that is none": lambda t: t.func.grad(_cube, has_aux=True)(_x(t)),
    "vjp with a vector of another shape": lambda t: t.func.vjp(lambda a: a * 2, _x(t))[1](t.ones(2)),
    "jvp without tuples": lambda t: t.func.jvp(_cube, _x(t), _x(t)),
    "vmap of nothing": lambda t: t.func.vmap(lambda: 1)(),
    "vmap over a number": lambda t: t.func.vmap(lambda a: a * 2)(3.0),
    "vmap over a dimension that is not there": lambda t: t.func.vmap(lambda a: a, in_dims=3)(_x(t)),
    "vmap over different sizes": lambda t: t.func.vmap(lambda a, b: a + b)(_x(t), t.ones(2)),
    "vmap that returns a number": lambda t: t.func.vmap(lambda a: 1.0)(_x(t)),
    "vmap that draws": lambda t: t.func.vmap(lambda a: a + t.rand(()))(_x(t)),
    "vmap over none of its inputs": lambda t: t.func.vmap(lambda a: a, in_dims=None)(_x(t)),
    "jacobian of a number": lambda t: t.autograd.functional.jacobian(lambda a: a, 3.0),
    "strict jacobian of a constant": lambda t: t.autograd.functional.jacobian(lambda a: t.zeros(2), _x(t), strict=True),
    "vjp without its vector": lambda t: t.autograd.functional.vjp(lambda a: a * 2, _x(t)),
    "hessian of a vector": lambda t: t.autograd.functional.hessian(lambda a: a**2, _x(t)),
    "a dual outside a level": lambda t: t.autograd.forward_ad.make_dual(_x(t), _x(t)),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls_raise_what_pytorch_raises(name: str) -> None:
    with pytest.raises(Exception) as theirs:
        WRONG[name](torch)
    with pytest.raises(Exception) as ours:
        WRONG[name](tl)
    assert type(ours.value) is type(theirs.value), (ours.value, theirs.value)
