"""Where an operation lets no gradient pass the gradient is 0, whatever arrives: an infinity or a NaN does not leak through a dead unit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorlab as tl

INF, NAN = float("inf"), float("nan")
AT = (-1.0, 0.0, 2.0, -3.0)


def _set(x: Any) -> Any:
    y = x * 1
    y[:2] = 5.0
    return y


#: What runs, and through which of the four elements (-1, 0, 2, -3) its gradient passes.
CASES: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "relu": (lambda x: x.relu(), (0, 0, 1, 0)),
    "clamp": (lambda x: x.clamp(-0.5, 1.0), (0, 1, 0, 0)),
    "clamp_min": (lambda x: x.clamp(min=1.0), (0, 0, 1, 0)),
    "maximum": (lambda x: tl.maximum(x, tl.tensor([1.0, 1.0, 1.0, 1.0])), (0, 0, 1, 0)),
    "minimum": (lambda x: tl.minimum(x, tl.tensor([-2.0, -2.0, -2.0, -2.0])), (0, 0, 0, 1)),
    "sign": (lambda x: x.sign(), (0, 0, 0, 0)),
    "floor": (lambda x: x.floor(), (0, 0, 0, 0)),
    "ceil": (lambda x: x.ceil(), (0, 0, 0, 0)),
    "round": (lambda x: x.round(), (0, 0, 0, 0)),
    "trunc": (lambda x: x.trunc(), (0, 0, 0, 0)),
    "where": (lambda x: tl.where(x > 0, x, tl.zeros(4)), (0, 0, 1, 0)),
    "masked_fill": (lambda x: x.masked_fill(x > 0, 7.0), (1, 1, 0, 1)),
    "zero_": (lambda x: (x * 1).zero_(), (0, 0, 0, 0)),
    "fill_": (lambda x: (x * 1).fill_(3.0), (0, 0, 0, 0)),
    "copy_": (lambda x: (x * 1).copy_(tl.ones(4)), (0, 0, 0, 0)),
    "assignment": (_set, (0, 0, 1, 1)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("bad", [INF, -INF, NAN])
@pytest.mark.parametrize("create_graph", [False, True])
def test_no_bad_gradient_leaks_where_none_passes(name: str, bad: float, create_graph: bool) -> None:
    function, passes = CASES[name]
    x = tl.tensor(AT, requires_grad=True)
    (g,) = tl.autograd.grad(function(x), x, tl.full((4,), bad), create_graph=create_graph, allow_unused=True)
    found = np.zeros(4) if g is None else g.detach().numpy()
    np.testing.assert_array_equal(found, [bad if p else 0.0 for p in passes])


@pytest.mark.parametrize("bad", [INF, NAN])
@pytest.mark.parametrize("name", ["max", "min", "amax", "amin", "median"])
def test_only_the_chosen_element_of_a_reduction_gets_a_bad_gradient(name: str, bad: float) -> None:
    x = tl.tensor([3.0, 1.0, 2.0], requires_grad=True)
    y = getattr(x, name)()
    y.backward(tl.tensor(bad))
    np.testing.assert_array_equal(x.grad.numpy(), np.where(x.detach().numpy() == y.item(), bad, 0.0))


@pytest.mark.parametrize("name", ["huber_loss", "smooth_l1_loss"])
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_loss_with_a_bend_keeps_its_slope_at_infinity(name: str, create_graph: bool) -> None:
    x = tl.tensor([-INF, INF, 0.25], requires_grad=True)
    loss = getattr(tl.nn.functional, name)(x, tl.zeros(3), reduction="none")
    (g,) = tl.autograd.grad(loss, x, tl.ones(3), create_graph=create_graph)
    assert g.tolist() == [-1.0, 1.0, 0.25]


def test_infinite_scores_do_not_hide_which_classes_were_asked_for() -> None:
    x = tl.tensor([[INF, 1.0, 0.0]], requires_grad=True)
    loss = tl.nn.functional.multilabel_margin_loss(x, tl.tensor([[0, -1, -1]]))
    loss.backward()
    assert loss.item() == 0.0
    assert x.grad.tolist() == [[0.0, 0.0, 0.0]]
