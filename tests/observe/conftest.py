"""A small graph and a session on it."""

from __future__ import annotations

import pytest

import tensorlab as tl
from tensorlab.observe.names import Names
from tensorlab.observe.session import StepSession


@pytest.fixture
def net():
    """Leaves ``x`` and ``w``, the value ``h`` between, and the loss."""
    tl.manual_seed(0)
    x = tl.randn(4, 3, requires_grad=True)
    w = tl.randn(3, 2, requires_grad=True)
    h = (x @ w).tanh()
    return {"x": x, "w": w, "h": h, "loss": (h * h).sum()}


@pytest.fixture
def session(net):
    return StepSession(net["loss"], names=Names(net))
