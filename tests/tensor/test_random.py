"""Draws: that they follow their distributions, start again from a seed, and refuse what has no distribution."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats

import tensorlab as tl

N = 20_000


def generator(seed: int = 11) -> tl.Generator:
    return tl.Generator().manual_seed(seed)


def empty(dtype: Any = tl.float64, n: int = N) -> tl.Tensor:
    return tl.empty(n, dtype=dtype)


CONTINUOUS: dict[str, tuple[Callable[[Any], tl.Tensor], Any]] = {
    "rand": (lambda g: tl.rand(N, generator=g), scipy.stats.uniform()),
    "rand_like": (lambda g: tl.rand_like(empty(), generator=g), scipy.stats.uniform()),
    "randn": (lambda g: tl.randn(N, generator=g), scipy.stats.norm()),
    "randn_like": (lambda g: tl.randn_like(empty(), generator=g), scipy.stats.norm()),
    "normal": (lambda g: tl.normal(2.0, 3.0, (N,), generator=g), scipy.stats.norm(2, 3)),
    "normal of tensors": (lambda g: tl.normal(tl.full((N,), 2.0), tl.full((1,), 3.0), generator=g), scipy.stats.norm(2, 3)),
    "normal_": (lambda g: empty().normal_(-1, 0.5, generator=g), scipy.stats.norm(-1, 0.5)),
    "uniform_": (lambda g: empty().uniform_(-1, 3, generator=g), scipy.stats.uniform(-1, 4)),
    "exponential_": (lambda g: empty().exponential_(2.0, generator=g), scipy.stats.expon(scale=0.5)),
    "cauchy_": (lambda g: empty().cauchy_(1.0, 2.0, generator=g), scipy.stats.cauchy(1, 2)),
    "log_normal_": (lambda g: empty().log_normal_(0.5, 0.25, generator=g), scipy.stats.lognorm(0.25, scale=math.exp(0.5))),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTINUOUS)
def test_draws_follow_their_distribution(name: str) -> None:
    draw, law = CONTINUOUS[name]
    found = draw(generator()).double().numpy()
    assert scipy.stats.kstest(found, law.cdf).pvalue > 1e-3
    np.testing.assert_array_equal(found, draw(generator()).double().numpy())
    assert not np.array_equal(found, draw(generator(12)).double().numpy())


WHOLE: dict[str, tuple[Callable[[Any], tl.Tensor], list[float]]] = {
    "randint": (lambda g: tl.randint(3, 7, (N,), generator=g), [0, 0, 0, 0.25, 0.25, 0.25, 0.25]),
    "randint_like": (lambda g: tl.randint_like(empty(), 2, generator=g), [0.5, 0.5]),
    "random_": (lambda g: empty().random_(1, 4, generator=g), [0, 1 / 3, 1 / 3, 1 / 3]),
    "random_ of booleans": (lambda g: empty(tl.bool).random_(generator=g), [0.5, 0.5]),
    "geometric_": (lambda g: empty().geometric_(0.6, generator=g), [0, *[0.6 * 0.4**k for k in range(9)]]),
    "poisson": (lambda g: tl.poisson(tl.full((N,), 1.5), generator=g), list(scipy.stats.poisson(1.5).pmf(range(9)))),
    "binomial": (
        lambda g: tl.binomial(tl.full((N,), 4.0), tl.full((1,), 0.3), generator=g), list(scipy.stats.binom(4, 0.3).pmf(range(5))),
    ),
    "bernoulli": (lambda g: tl.bernoulli(tl.full((N,), 0.2), generator=g), [0.8, 0.2]),
    "bernoulli with p": (lambda g: tl.bernoulli(empty(), 0.2, generator=g), [0.8, 0.2]),
    "bernoulli_ with a tensor": (lambda g: empty(tl.int64).bernoulli_(tl.full((N,), 0.2), generator=g), [0.8, 0.2]),
    "multinomial": (
        lambda g: tl.multinomial(tl.tensor([1.0, 0.0, 3.0, 4.0]), N, replacement=True, generator=g), [1 / 8, 0, 3 / 8, 4 / 8],
    ),
    "multinomial of rows": (lambda g: tl.multinomial(tl.tensor([[2.0, 1, 1]]).expand(N, 3), 1, generator=g), [0.5, 0.25, 0.25]),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_counts_follow_their_distribution(name: str) -> None:
    draw, odds = WHOLE[name]
    found = draw(generator()).long().numpy().reshape(-1)
    counts = np.bincount(found, minlength=len(odds))[: len(odds)]
    assert (counts[np.array(odds) == 0] == 0).all()
    likely = np.array(odds) * N > 5
    expected = np.array(odds)[likely] * N
    assert scipy.stats.chisquare(counts[likely], expected * counts[likely].sum() / expected.sum()).pvalue > 1e-3
    assert abs(counts[likely].sum() - expected.sum()) < 6 * math.sqrt(N)


def test_without_replacement_no_index_comes_twice_and_weights_decide_who_comes_first() -> None:
    weights = tl.tensor([1.0, 2.0, 0.0, 5.0]).expand(N, 4)
    found = tl.multinomial(weights, 3, generator=generator()).numpy()
    assert found.dtype == np.int64
    assert all(len(set(row)) == 3 for row in found[:200].tolist())
    assert 2 not in found
    first = np.bincount(found[:, 0], minlength=4) / N
    np.testing.assert_allclose(first, [1 / 8, 2 / 8, 0, 5 / 8], atol=0.02)
    second = np.bincount(found[found[:, 0] == 3, 1], minlength=4) / (found[:, 0] == 3).sum()
    np.testing.assert_allclose(second, [1 / 3, 2 / 3, 0, 0], atol=0.02)


def test_complex_normal_numbers_have_variance_1_in_all() -> None:
    z = tl.randn(N, dtype=tl.complex128, generator=generator()).numpy()
    assert abs(np.abs(z).var() + np.abs(z).mean() ** 2 - 1) < 0.05
    assert abs(z.real.var() - 0.5) < 0.02
    assert abs((z * z).mean()) < 0.05
    w = tl.rand(N, dtype=tl.complex64, generator=generator())
    assert w.dtype is tl.complex64
    assert 0 <= float(w.imag.min())
    assert float(w.real.max()) < 1


def test_exponential_draws_are_never_0() -> None:
    assert float(tl.empty(1000, dtype=tl.float16).exponential_(1e6, generator=generator()).min()) > 0


@pytest.mark.parametrize("dtype", [tl.uint8, tl.int8, tl.int16, tl.int64, tl.float16, tl.float32, tl.bfloat16])
def test_random_without_bounds_fills_with_what_the_type_holds(dtype: Any) -> None:
    found = empty(dtype, 4000).random_(generator=generator())
    last = tl.iinfo(dtype).max if not dtype.is_floating_point else 2 / tl.finfo(dtype).eps
    values = found.double()
    assert float(values.min()) >= 0
    assert 0.9 * last < float(values.max()) <= last
    assert tl.equal(values, values.floor())


def test_like_functions_keep_the_order_in_memory() -> None:
    x = tl.zeros(2, 3).t()
    for make in (tl.rand_like, tl.randn_like, lambda x: tl.randint_like(x, 9)):
        assert make(x).stride() == (1, 3)


def test_a_draw_passes_a_gradient_of_0() -> None:
    for draw in (tl.bernoulli, tl.poisson, lambda x: tl.normal(x, 1.0)):
        x = tl.tensor([0.25, 0.5], requires_grad=True)
        draw(x).sum().backward()
        assert x.grad.tolist() == [0, 0]


def test_a_state_is_a_tensor_of_bytes_that_leads_back() -> None:
    g = generator()
    tl.rand(3, generator=g)
    state, copy = g.get_state(), g.clone_state()
    assert state.dtype is tl.uint8
    first = [
        tl.rand(5, generator=g).tolist(),
        tl.randint(9, (3,), generator=g).tolist(),
        tl.randperm(6, generator=g).tolist(),
    ]
    for again in (copy, tl.Generator().set_state(state.clone()), g.set_state(state)):
        drawn = [tl.rand(5, generator=again).tolist(), tl.randint(9, (3,), generator=again).tolist()]
        assert [*drawn, tl.randperm(6, generator=again).tolist()] == first
        assert again.initial_seed() == 11
    assert g.device == tl.device("cpu")
    for wrong, error in (({}, TypeError), (tl.zeros(3), TypeError), (tl.zeros(3, dtype=tl.uint8), RuntimeError)):
        with pytest.raises(error):
            g.set_state(wrong)


def test_a_negative_seed_is_its_64_bits() -> None:
    assert tl.Generator().manual_seed(-1).initial_seed() == 2**64 - 1


def test_fork_rng_leaves_the_default_generator_as_it_was() -> None:
    tl.manual_seed(3)
    expected = tl.rand(2)
    tl.manual_seed(3)
    with tl.random.fork_rng():
        tl.manual_seed(99)
        tl.rand(10)
    assert tl.equal(tl.rand(2), expected)
    with pytest.raises(RuntimeError), tl.random.fork_rng():
        tl.rand(1).view(2)
    with tl.random.fork_rng(enabled=False):
        tl.manual_seed(3)
    assert tl.equal(tl.rand(2), expected)


def test_torch_random_names_are_there() -> None:
    for (
        name
    ) in "Generator default_generator fork_rng get_rng_state initial_seed manual_seed seed set_rng_state".split():
        assert hasattr(tl.random, name)


def test_a_seed_for_gpus_is_the_seed_of_all_devices_and_needs_no_gpu() -> None:
    tl.cuda.manual_seed_all(4)
    first = tl.rand(2)
    state = tl.cuda.get_rng_state()
    tl.manual_seed(4)
    assert tl.equal(tl.rand(2), first)
    tl.cuda.seed_all()
    tl.cuda.set_rng_state(state)
    assert tl.cuda.initial_seed() == tl.initial_seed() == 4
    tl.cuda.set_rng_state_all(tl.cuda.get_rng_state_all())


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: tl.zeros(2).exponential_(0), RuntimeError, "lambda > 0"),
    (lambda: tl.zeros(2).cauchy_(0, 0), RuntimeError, "sigma > 0"),
    (lambda: tl.zeros(2).log_normal_(0, 0), RuntimeError, "std > 0"),
    (lambda: tl.zeros(2).geometric_(1), RuntimeError, r"p to be in \(0, 1\)"),
    (lambda: tl.zeros(2, dtype=tl.int64).exponential_(), RuntimeError, "continuous"),
    (lambda: tl.zeros(2, dtype=tl.uint8).random_(300), RuntimeError, "out of bounds for uint8"),
    (lambda: tl.zeros(2).random_(5, 5), RuntimeError, "less than"),
    (lambda: tl.randint(300, (2,), dtype=tl.uint8), RuntimeError, "out of bounds"),
    (lambda: tl.multinomial(tl.tensor([1.0, -1.0]), 1), RuntimeError, "element < 0"),
    (lambda: tl.multinomial(tl.tensor([0.0, 0.0]), 1), RuntimeError, "sum of probabilities"),
    (lambda: tl.multinomial(tl.tensor([1.0, 1.0]), 3), RuntimeError, "without replacement"),
    (lambda: tl.multinomial(tl.tensor([1.0, 0.0, 2.0]), 3), RuntimeError, "weights above 0"),
    (lambda: tl.multinomial(tl.tensor([1, 1]), 1), RuntimeError, "floating-point"),
    (lambda: tl.poisson(tl.tensor([-1.0])), RuntimeError, "non-negative"),
    (lambda: tl.binomial(tl.tensor([1]), tl.tensor([0.5])), ValueError, "floating-point"),
    (lambda: tl.normal(tl.zeros(2), tl.tensor([1.0, -1.0])), RuntimeError, "std >= 0"),
    (lambda: tl.bernoulli(tl.tensor([1.5])), RuntimeError, "between 0 and 1"),
    (lambda: tl.rand(3, generator=5), TypeError, "Generator"),
    (lambda: tl.zeros(2, requires_grad=True).exponential_(), RuntimeError, "leaf"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_has_no_distribution_is_refused_and_nothing_is_written(number: int) -> None:
    call, error, words = WRONG[number]
    with pytest.raises(error, match=words):
        call()


def test_draws_into_part_of_a_tensor_leave_the_rest_and_are_recorded() -> None:
    x = tl.ones(4, requires_grad=True)
    y = x * 2
    y[:2].exponential_()
    assert y[2:].tolist() == [2, 2]
    y.sum().backward()
    assert x.grad.tolist() == [0, 0, 2, 2]
