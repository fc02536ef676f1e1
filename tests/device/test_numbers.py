"""Draws, special functions and complex numbers on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorlab as tl

DRAWS: dict[str, Callable[[str, Any], tl.Tensor]] = {
    "rand": lambda where, g: tl.rand(4, device=where, generator=g),
    "rand_like": lambda where, g: tl.rand_like(tl.zeros(2, 3, device=where).t(), generator=g),
    "randint_like": lambda where, g: tl.randint_like(tl.zeros(4, device=where), 9, generator=g),
    "normal": lambda where, g: tl.normal(tl.zeros(4, device=where), tl.ones(4, device=where), generator=g),
    "bernoulli": lambda where, g: tl.bernoulli(tl.full((4,), 0.5, device=where), generator=g),
    "poisson": lambda where, g: tl.poisson(tl.full((4,), 2.5, device=where), generator=g),
    "binomial": lambda where, g: tl.binomial(tl.full((4,), 9.0, device=where), tl.full((4,), 0.5, device=where), generator=g),
    "multinomial": lambda where, g: tl.multinomial(tl.ones(3, 5, device=where), 2, generator=g),
    "exponential_": lambda where, g: tl.empty(4, device=where).exponential_(generator=g),
    "cauchy_": lambda where, g: tl.empty(4, device=where).cauchy_(generator=g),
    "log_normal_": lambda where, g: tl.empty(4, device=where).log_normal_(generator=g),
    "geometric_": lambda where, g: tl.empty(4, device=where).geometric_(0.3, generator=g),
    "random_": lambda where, g: tl.empty(4, dtype=tl.int64, device=where).random_(generator=g),
    "normal_": lambda where, g: tl.empty(4, device=where).normal_(generator=g),
    "uniform_": lambda where, g: tl.empty(4, device=where).uniform_(generator=g),
    "bernoulli_": lambda where, g: tl.empty(4, device=where).bernoulli_(tl.full((4,), 0.5, device=where), generator=g),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("where", ["cuda", "cuda:1"])
def test_a_seed_draws_the_same_numbers_on_a_gpu(name: str, where: str, gpu: Any) -> None:
    host, there = (DRAWS[name](device, tl.Generator().manual_seed(5)) for device in ("cpu", where))
    assert there.device == tl.device("cuda:1" if where == "cuda:1" else "cuda:0")
    assert there.stride() == host.stride()
    assert there.cpu().tolist() == host.tolist()


def test_parts_of_complex_numbers_on_a_gpu_are_views_that_can_be_written(gpu: Any) -> None:
    leaf = tl.tensor([1 + 2j, 3 - 1j], dtype=tl.complex128).to("cuda").requires_grad_()
    x = leaf * 1
    gpu.copies.clear()
    x.real.mul_(2)
    x.imag = tl.zeros(2, dtype=tl.float64, device="cuda")
    x.real.sum().backward()
    assert not gpu.copied("out")
    assert x.tolist() == [2, 6]
    assert leaf.grad.tolist() == [2, 2]
    assert tl.view_as_complex(tl.ones(2, 2, device="cuda")).tolist() == [1 + 1j, 1 + 1j]


def test_new_tensors_by_rule_are_made_where_they_are_asked_for(gpu: Any) -> None:
    for made in (
        tl.logspace(0, 2, 3, device="cuda"), tl.tril_indices(3, 3, device="cuda"), tl.empty_strided((2, 3), (1, 2), device="cuda"),
        tl.empty_permuted((2, 3), (1, 0), device="cuda"), tl.zeros(2, device="cuda").new_empty_strided((2, 3), (1, 2)),
    ):  # fmt: skip
        assert made.device.type == "cuda"
    assert tl.empty_strided((2, 3), (1, 2), device="cuda").stride() == (1, 2)


def test_special_functions_that_take_a_degree_stay_on_the_gpu(gpu: Any) -> None:
    x = tl.tensor([0.3, 0.7]).to("cuda")
    gpu.copies.clear()
    found = [
        tl.special.legendre_polynomial_p(x, 3),
        tl.polygamma(2, x),
        tl.mvlgamma(x + 2, 2),
        tl.special.zeta(x + 2, x),
    ]
    assert not gpu.copied("out")
    assert all(y.device.type == "cuda" for y in found)
