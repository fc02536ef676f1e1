"""Probability distributions under PyTorch's names: draws, densities, entropies, divergences, transforms.

``Normal(loc, scale).rsample()`` draws so that gradients reach the parameters; ``log_prob`` is differentiable everywhere else. Parameters
broadcast into ``batch_shape``; ``event_shape`` is the shape of one draw.

>>> import tensorlab as tl
>>> q = tl.distributions.Independent(tl.distributions.Normal(tl.zeros(4, 3), tl.ones(3)), 1)
>>> q.batch_shape, q.event_shape, q.rsample((2,)).shape
(tensorlab.Size([4]), tensorlab.Size([3]), tensorlab.Size([2, 4, 3]))
"""

from tensorlab.distributions import constraints as constraints
from tensorlab.distributions import transforms as transforms
from tensorlab.distributions.bernoulli import Bernoulli as Bernoulli
from tensorlab.distributions.beta import Beta as Beta
from tensorlab.distributions.binomial import Binomial as Binomial
from tensorlab.distributions.categorical import Categorical as Categorical
from tensorlab.distributions.cauchy import Cauchy as Cauchy
from tensorlab.distributions.chi2 import Chi2 as Chi2
from tensorlab.distributions.constraint_registry import biject_to as biject_to
from tensorlab.distributions.constraint_registry import transform_to as transform_to
from tensorlab.distributions.dirichlet import Dirichlet as Dirichlet
from tensorlab.distributions.distribution import Distribution as Distribution
from tensorlab.distributions.exp_family import ExponentialFamily as ExponentialFamily
from tensorlab.distributions.exponential import Exponential as Exponential
from tensorlab.distributions.fishersnedecor import FisherSnedecor as FisherSnedecor
from tensorlab.distributions.gamma import Gamma as Gamma
from tensorlab.distributions.geometric import Geometric as Geometric
from tensorlab.distributions.gumbel import Gumbel as Gumbel
from tensorlab.distributions.half_cauchy import HalfCauchy as HalfCauchy
from tensorlab.distributions.half_normal import HalfNormal as HalfNormal
from tensorlab.distributions.independent import Independent as Independent
from tensorlab.distributions.inverse_gamma import InverseGamma as InverseGamma
from tensorlab.distributions.kl import kl_divergence as kl_divergence
from tensorlab.distributions.kl import register_kl as register_kl
from tensorlab.distributions.kumaraswamy import Kumaraswamy as Kumaraswamy
from tensorlab.distributions.laplace import Laplace as Laplace
from tensorlab.distributions.log_normal import LogNormal as LogNormal
from tensorlab.distributions.logistic_normal import LogisticNormal as LogisticNormal
from tensorlab.distributions.mixture_same_family import MixtureSameFamily as MixtureSameFamily
from tensorlab.distributions.multinomial import Multinomial as Multinomial
from tensorlab.distributions.multivariate_normal import MultivariateNormal as MultivariateNormal
from tensorlab.distributions.negative_binomial import NegativeBinomial as NegativeBinomial
from tensorlab.distributions.normal import Normal as Normal
from tensorlab.distributions.one_hot_categorical import OneHotCategorical as OneHotCategorical
from tensorlab.distributions.one_hot_categorical import (
    OneHotCategoricalStraightThrough as OneHotCategoricalStraightThrough,
)
from tensorlab.distributions.pareto import Pareto as Pareto
from tensorlab.distributions.poisson import Poisson as Poisson
from tensorlab.distributions.relaxed_bernoulli import RelaxedBernoulli as RelaxedBernoulli
from tensorlab.distributions.relaxed_categorical import RelaxedOneHotCategorical as RelaxedOneHotCategorical
from tensorlab.distributions.studentT import StudentT as StudentT
from tensorlab.distributions.transformed_distribution import TransformedDistribution as TransformedDistribution
from tensorlab.distributions.transforms import *  # noqa: F403
from tensorlab.distributions.uniform import Uniform as Uniform
from tensorlab.distributions.weibull import Weibull as Weibull
