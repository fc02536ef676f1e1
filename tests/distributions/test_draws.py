"""Draws follow their distributions, and move with their parameters as the formulas say."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorlab as tl

D = tl.distributions
N = 20_000


@pytest.fixture(autouse=True)
def same_numbers_each_time() -> None:
    tl.manual_seed(7)


SPREAD: dict[str, Callable[[], Any]] = {
    "normal": lambda: D.Normal(1.0, 2.0),
    "log normal": lambda: D.LogNormal(0.0, 0.5),
    "uniform": lambda: D.Uniform(-1.0, 3.0),
    "exponential": lambda: D.Exponential(2.0),
    "laplace": lambda: D.Laplace(1.0, 0.5),
    "cauchy": lambda: D.Cauchy(1.0, 0.5),
    "gamma": lambda: D.Gamma(2.5, 2.0),
    "small gamma": lambda: D.Gamma(0.2, 1.0),
    "chi2": lambda: D.Chi2(tl.tensor(3.0)),
    "half normal": lambda: D.HalfNormal(2.0),
    "half cauchy": lambda: D.HalfCauchy(2.0),
    "gumbel": lambda: D.Gumbel(1.0, 2.0),
    "kumaraswamy": lambda: D.Kumaraswamy(2.0, 3.0),
    "pareto": lambda: D.Pareto(1.0, 3.0),
    "weibull": lambda: D.Weibull(2.0, 1.5),
    "inverse gamma": lambda: D.InverseGamma(2.5, 2.0),
    "mixture": lambda: D.MixtureSameFamily(
        D.Categorical(tl.tensor([0.3, 0.7])), D.Normal(tl.tensor([-2.0, 1.0]), tl.tensor([0.5, 1.0]))
    ),
}


@pytest.mark.parametrize("name", SPREAD)
def test_ranks_of_draws_are_spread_evenly(name: str) -> None:
    d = SPREAD[name]()
    ranks = np.sort(d.cdf(d.sample((N,))).numpy())
    distance = np.abs(ranks - (np.arange(N) + 0.5) / N).max()
    assert distance < 1.95 / math.sqrt(N)  # Kolmogorov's bound for one chance in a thousand


MOMENTS: dict[str, Callable[[], Any]] = {
    "beta": lambda: D.Beta(tl.tensor([0.5, 2.0]), tl.tensor([0.7, 3.0])),
    "dirichlet": lambda: D.Dirichlet(tl.tensor([[0.3, 1.0, 2.5], [4.0, 4.0, 4.0]])),
    "bernoulli": lambda: D.Bernoulli(tl.tensor([0.1, 0.6])),
    "geometric": lambda: D.Geometric(tl.tensor([0.2, 0.7])),
    "multivariate normal": lambda: D.MultivariateNormal(tl.tensor([1.0, -1.0]), tl.tensor([[2.0, 0.6], [0.6, 1.0]])),
    "one hot": lambda: D.OneHotCategorical(tl.tensor([[0.1, 0.2, 0.7], [0.5, 0.2, 0.3]])),
    "binomial": lambda: D.Binomial(tl.tensor([5.0, 20.0]), tl.tensor([0.1, 0.6])),
    "negative binomial": lambda: D.NegativeBinomial(tl.tensor([2.5, 6.0]), tl.tensor([0.3, 0.6])),
    "poisson": lambda: D.Poisson(tl.tensor([0.5, 30.0])),
    "student": lambda: D.StudentT(tl.tensor([12.0, 30.0]), 1.0, 2.0),
    "multinomial": lambda: D.Multinomial(10, tl.tensor([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])),
    "mixture of vectors": lambda: D.MixtureSameFamily(
        D.Categorical(tl.tensor([0.4, 0.6])), D.MultivariateNormal(tl.tensor([[3.0, 0.0], [0.0, 1.0]]), tl.eye(2))
    ),
    "fisher": lambda: D.FisherSnedecor(tl.tensor([5.0, 9.0]), tl.tensor([40.0, 60.0])),
    "mapped": lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), D.AffineTransform(1.0, 3.0)),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_draws_have_the_mean_and_the_variance(name: str) -> None:
    d = MOMENTS[name]()
    x = d.sample((N,))
    mean, variance = (d.mean, d.variance) if name != "mapped" else (tl.tensor(1.0), tl.tensor(9.0))
    assert bool(((x.mean(0) - mean).abs() < 5 * (variance / N).sqrt()).all())
    assert bool(((x.var(0) - variance).abs() < 0.1 * variance).all())


def test_categories_come_as_often_as_they_should() -> None:
    d = D.Categorical(tl.tensor([[0.1, 0.2, 0.7], [0.5, 0.0, 0.5]]))
    x = d.sample((N,))
    often = tl.stack([(x == k).float().mean(0) for k in range(3)], -1)
    assert bool(((often - d.probs).abs() < 0.02).all())


def test_draws_of_normal_vectors_vary_together() -> None:
    wanted = tl.tensor([[2.0, 0.6], [0.6, 1.0]])
    x = D.MultivariateNormal(tl.zeros(2), precision_matrix=wanted.inverse()).sample((N,))
    assert tl.allclose(x.T.cov(), wanted, atol=0.1)


def test_a_normal_draw_moves_as_loc_and_scale() -> None:
    loc, scale = tl.tensor(1.0, requires_grad=True), tl.tensor(2.0, requires_grad=True)
    x = D.Normal(loc, scale).rsample()
    x.backward()
    assert loc.grad.item() == 1
    assert scale.grad.item() == pytest.approx((x.item() - 1) / 2, rel=1e-5)


@pytest.mark.parametrize("a", [0.05, 0.7, 1.0, 3.0, 40.0, 5000.0])
def test_a_gamma_draw_that_moves_with_its_shape_keeps_its_rank(a: float) -> None:
    shape = tl.full((200,), a, dtype=tl.float64, requires_grad=True)
    z = D.Gamma(shape, 1.0).rsample()
    z.sum().backward()
    h = 1e-5 * a
    low = tl.special.gammainc(shape.detach() - h, z.detach() - h * shape.grad)
    high = tl.special.gammainc(shape.detach() + h, z.detach() + h * shape.grad)
    assert float((high - low).abs().max()) < 1e-8


def test_mean_gradients_of_draws_are_gradients_of_means() -> None:
    a, b = tl.tensor(0.6, dtype=tl.float64, requires_grad=True), tl.tensor(1.5, dtype=tl.float64, requires_grad=True)
    makers = (
        lambda: D.Gamma(a, b),
        lambda: D.Beta(a, b),
        lambda: D.LogNormal(a, b * 0.3),
        lambda: D.Laplace(a, b),
        lambda: D.Uniform(a, a + b),
        lambda: D.Exponential(b),
    )
    for make in makers:
        drawn = tl.autograd.grad((make().rsample((N,)) ** 2).mean(), (a, b), allow_unused=True)
        meant = tl.autograd.grad(make().variance + make().mean ** 2, (a, b), allow_unused=True)
        for found, wanted in zip(drawn, meant, strict=True):
            assert (found is None) == (wanted is None)
            assert found is None or float(found) == pytest.approx(float(wanted), rel=0.1, abs=0.01)


def test_shares_of_small_weights_are_drawn_and_differentiated_without_nan() -> None:
    weights = tl.full((100, 3), 1e-3, requires_grad=True)
    x = D.Dirichlet(weights).rsample()
    assert tl.allclose(x.sum(-1), tl.ones(100))
    x[:, 0].sum().backward()
    assert bool(weights.grad.isfinite().all())


def test_sample_has_no_history_and_rsample_has() -> None:
    loc = tl.zeros(3, requires_grad=True)
    d = D.Normal(loc, 1.0)
    assert not d.sample().requires_grad
    assert d.rsample().requires_grad
    assert d.sample_n(4).shape == (4, 3)


def test_an_error_names_parameter_set_number_and_place() -> None:
    with pytest.raises(
        ValueError, match=r"Normal: parameter scale of shape \[2, 2\].*GreaterThan.*1 of 4.*-2.0 at \[1, 0\]"
    ):
        D.Normal(0.0, tl.tensor([[1.0, 1.0], [-2.0, 1.0]]))
    D.Normal(0.0, -1.0, validate_args=False)
    with pytest.raises(ValueError, match="exactly one of probs, logits, but got probs and logits"):
        D.Bernoulli(0.5, 0.5)
    with pytest.raises(ValueError, match=r"wrap it in tensor\(\)"):
        D.Normal(0.0, 1.0).log_prob(1.0)


def test_constrained_numbers_are_reached_from_free_ones() -> None:
    x = tl.linspace(-2, 2, 9).reshape(3, 3)
    c = D.constraints
    for into in (
        c.positive,
        c.unit_interval,
        c.interval(-1.0, 4.0),
        c.simplex,
        c.real_vector,
        c.greater_than(2.0),
        c.lower_cholesky,
    ):
        for registry in (D.biject_to, D.transform_to):
            transform = registry(into)
            assert bool(into.check(transform(x)).all())
            if transform.bijective:
                assert tl.allclose(transform.inv(transform(x)), x, atol=1e-4)


def test_a_cached_transform_gives_back_the_very_tensor() -> None:
    t = D.TanhTransform(cache_size=1)
    x = tl.tensor(30.0)
    assert t.inv(t(x)) is x
    assert t == D.TanhTransform()


def test_people_write_their_own_distributions() -> None:
    class Twice(D.Normal):
        def log_prob(self, value: Any) -> Any:
            return 2 * super().log_prob(value)

    class Odd(D.Distribution):
        def __init__(self, p: Any) -> None:
            self.p = p
            super().__init__(p.shape)

    @D.register_kl(Twice, D.Normal)
    def near(p: Any, q: Any) -> Any:
        return tl.tensor(42.0)

    d = Twice(0.0, 1.0).expand((3,))
    assert type(d) is Twice
    assert d.batch_shape == (3,)
    assert D.kl_divergence(d, D.Normal(0.0, 1.0)).item() == 42
    assert Odd(tl.ones(2)).batch_shape == (2,)
    with pytest.raises(NotImplementedError, match="Odd and Odd"):
        D.kl_divergence(Odd(tl.ones(2)), Odd(tl.ones(2)))


def test_relaxed_draws_come_close_to_the_outcomes_and_pass_gradients() -> None:
    odds = tl.tensor([0.2, 0.3, 0.5], requires_grad=True)
    shares = D.RelaxedOneHotCategorical(tl.tensor(0.05), odds).rsample((N,))
    assert tl.allclose(shares.sum(-1), tl.ones(N), atol=1e-5)
    assert tl.allclose(shares.mean(0), odds, atol=0.03)
    shares[:, 0].mean().backward()
    assert odds.grad[0] > 0 > odds.grad[1]
    logit = tl.tensor(0.4, requires_grad=True)
    near = D.RelaxedBernoulli(0.05, logits=logit).rsample((N,))
    assert abs(near.mean().item() - logit.sigmoid().item()) < 0.03
    near.mean().backward()
    assert logit.grad > 0


def test_a_straight_through_draw_is_one_hot_and_moves_as_the_probabilities() -> None:
    logits = tl.zeros(3, requires_grad=True)
    x = D.OneHotCategoricalStraightThrough(logits=logits).rsample()
    assert tl.allclose(x.sort().values, tl.tensor([0.0, 0.0, 1.0]), atol=1e-6)
    (x * tl.tensor([1.0, 0.0, 0.0])).sum().backward()
    assert tl.allclose(logits.grad, tl.tensor([2.0, -1.0, -1.0]) / 9)


def test_a_mixture_whose_weights_are_shared_by_a_batch_draws() -> None:
    d = D.MixtureSameFamily(D.Categorical(tl.tensor([0.0, 1.0])), D.Normal(tl.tensor([[0.0, 5.0], [0.0, -5.0]]), 0.1))
    assert tl.allclose(d.sample((N,)).mean(0), tl.tensor([5.0, -5.0]), atol=0.01)
    assert d.expand((3, 2)).sample((4,)).shape == (4, 3, 2)


def test_a_policy_that_draws_and_is_scored_by_log_prob_learns() -> None:
    logits = tl.zeros(3, requires_grad=True)
    optimizer = tl.optim.Adam([logits], lr=0.1)
    for _ in range(60):
        policy = D.Categorical(logits=logits)
        action = policy.sample((64,))
        reward = (action == 2).float()
        loss = -(policy.log_prob(action) * (reward - reward.mean())).mean() - 0.001 * policy.entropy()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert D.Categorical(logits=logits).probs[2] > 0.9


def test_what_a_coder_guesses_is_drawn_toward_the_prior() -> None:
    loc, log_scale = tl.full((8, 2), 3.0, requires_grad=True), tl.zeros(8, 2, requires_grad=True)
    optimizer = tl.optim.SGD([loc, log_scale], lr=0.1)
    prior = D.Independent(D.Normal(tl.zeros(2), tl.ones(2)), 1)
    divergence = []
    for _ in range(20):
        guess = D.Independent(D.Normal(loc, log_scale.exp()), 1)
        kl = D.kl_divergence(guess, prior)
        assert kl.shape == (8,)
        loss = kl.mean() + 0.01 * (guess.rsample() - 1).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        divergence.append(kl.mean().item())
    assert divergence[-1] < divergence[0]
