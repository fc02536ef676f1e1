"""Distributions whose log-density is linear in statistics of the value."""

from tensorlab.distributions.distribution import Distribution


class ExponentialFamily(Distribution):
    """A distribution of an exponential family; its members state their entropy and divergence in closed form."""
