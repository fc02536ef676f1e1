"""Every row on a real GPU: the numbers of the CPU, forward and backward."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tests.device.elsewhere import gradients, on_gpu, same, weighed
from tests.ops import driver

ALL = [case for case in driver.names() if case[0] != "to_device"]
DIFFERENTIABLE = [case for case in driver.names(differentiable=True) if case[0] != "to_device"]
#: How far two good implementations of one function may be apart.
TOLERANCE = {np.float64: 1e-10, np.float32: 1e-4, np.float16: 1e-2, np.int64: 1e-5}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("name", "number"), ALL, ids=str)
def test_a_row_gives_the_same_as_on_the_cpu(name: str, number: int, dtype: Any) -> None:
    host, there = driver.sample(name, number, dtype), on_gpu(driver.sample(name, number, dtype))
    try:
        expected = host.run()
    except RuntimeError as error:
        with pytest.raises(RuntimeError, match=re.escape(str(error))):
            there.run()
        return
    for ours, theirs in zip(there.run(), expected, strict=True):
        same(ours, theirs, rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("create_graph", [False, True], ids=["arrays", "graph"])
@pytest.mark.parametrize(("name", "number"), DIFFERENTIABLE, ids=str)
def test_gradients_are_those_of_the_cpu(name: str, number: int, create_graph: bool) -> None:
    host, there = driver.sample(name, number), on_gpu(driver.sample(name, number))
    for ours, theirs in zip(gradients(there, create_graph), gradients(host, create_graph), strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            same(ours, theirs, memory=False, rtol=1e-9)


@pytest.mark.parametrize(("name", "number"), DIFFERENTIABLE, ids=str)
def test_backward_twice_leaves_twice_the_gradient(name: str, number: int) -> None:
    outs, wanted, weights = weighed(on_gpu(driver.sample(name, number)))
    if not wanted:
        return
    expected = tl.autograd.grad(outs, wanted, weights, retain_graph=True, allow_unused=True)
    for _ in range(2):
        tl.autograd.backward(outs, weights, retain_graph=True)
    for x, g in zip(wanted, expected, strict=True):
        if g is not None:
            np.testing.assert_allclose(x.grad.cpu().numpy(), 2 * g.cpu().numpy(), rtol=1e-9, atol=1e-9)
