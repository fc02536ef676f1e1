"""Derivatives along a direction come from the gradient formulas of the rows: checked for each of them against differences."""

from __future__ import annotations

import numpy as np
import pytest

import tensorlab as tl
from tests.ops import driver


@pytest.mark.parametrize(("name", "number"), driver.names(differentiable=True), ids=str)
def test_a_derivative_along_a_direction_agrees_with_differences(name: str, number: int) -> None:
    sample = driver.sample(name, number)
    given = sample.inputs
    moving = [i for i, x in enumerate(given) if x.requires_grad and not x.is_complex()]
    if not moving or any(y.is_complex() for y in sample.run()):
        pytest.skip("no real input or output to move along")
    rng = np.random.default_rng(0)
    ways = [tl.tensor(np.asarray(rng.uniform(-1, 1, given[i].shape))) for i in moving]

    def at(*values: tl.Tensor) -> tuple[tl.Tensor, ...]:
        inputs = [x.detach() for x in given]
        for i, x in zip(moving, values, strict=True):
            inputs[i] = x
        return tuple(y for y in sample.run(*inputs) if y.is_floating_point())

    base = tuple(given[i].detach() for i in moving)
    _, along = tl.func.jvp(at, base, tuple(ways))
    step = 1e-6
    with tl.no_grad():
        ahead = at(*[x + step * w for x, w in zip(base, ways, strict=True)])
        behind = at(*[x - step * w for x, w in zip(base, ways, strict=True)])
    for t, a, b in zip(along, ahead, behind, strict=True):
        finite = np.isfinite(a.numpy())  # at an infinite value there is no difference to take
        slope = (a.numpy()[finite] - b.numpy()[finite]) / (2 * step)
        np.testing.assert_allclose(t.numpy()[finite], slope, rtol=1e-5, atol=1e-6)
