"""Every row runs on a GPU as it does on the CPU, forward and backward, and copies nothing to the host on the way."""

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


@pytest.mark.parametrize(("name", "number"), ALL, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.float16])
def test_a_row_gives_the_same_on_a_gpu(name: str, number: int, dtype: Any, gpu: Any) -> None:
    host, there = driver.sample(name, number, dtype), on_gpu(driver.sample(name, number, dtype))
    gpu.copies.clear()
    try:
        expected = host.run()
    except RuntimeError as error:
        with pytest.raises(RuntimeError, match=re.escape(str(error))):
            there.run()
        return
    found = there.run()
    assert not gpu.copied("out")
    assert not gpu.copied("in")
    for ours, theirs in zip(found, expected, strict=True):
        same(ours, theirs, rtol=1e-12 if dtype is np.float64 else 1e-5)


@pytest.mark.parametrize(("name", "number"), DIFFERENTIABLE, ids=str)
@pytest.mark.parametrize("create_graph", [False, True], ids=["arrays", "graph"])
def test_gradients_are_the_same_on_a_gpu_and_nothing_passes_through_the_host(
    name: str, number: int, create_graph: bool, gpu: Any
) -> None:
    host, there = driver.sample(name, number), on_gpu(driver.sample(name, number))
    expected = gradients(host, create_graph)
    outs, wanted, weights = weighed(there)
    gpu.copies.clear()
    found = tl.autograd.grad(outs, wanted, weights, create_graph=create_graph, allow_unused=True) if wanted else []
    assert not gpu.copied("out")
    assert not gpu.copied("in")
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            same(ours, theirs, memory=False)


@pytest.mark.parametrize(("name", "number"), DIFFERENTIABLE, ids=str)
def test_backward_leaves_gradients_on_the_gpu_of_their_leaves(name: str, number: int, gpu: Any) -> None:
    there = on_gpu(driver.sample(name, number))
    outs, wanted, weights = weighed(there)
    if not wanted:
        pytest.skip("no gradient")
    expected = tl.autograd.grad(outs, wanted, weights, retain_graph=True, allow_unused=True)
    for _ in range(2):  # the second pass adds to what the first one left
        tl.autograd.backward(outs, weights, retain_graph=True)
    for x, g in zip(wanted, expected, strict=True):
        if g is not None:
            assert x.grad.device == x.device
            np.testing.assert_allclose(x.grad.cpu().numpy(), (g * 2).cpu().numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("name", "number"), ALL, ids=str)
def test_a_row_runs_on_the_second_gpu_while_the_first_is_current(name: str, number: int, gpu: Any) -> None:
    host, there = driver.sample(name, number), on_gpu(driver.sample(name, number), "cuda:1")
    outs, wanted, weights = weighed(there)
    for ours, theirs in zip(there.run(), host.run(), strict=True):
        assert str(ours.device) == "cuda:1"
        same(ours, theirs)
    if wanted:
        for ours, theirs in zip(
            tl.autograd.grad(outs, wanted, weights, allow_unused=True), gradients(host), strict=True
        ):
            if ours is not None:
                assert str(ours.device) == "cuda:1"
                same(ours, theirs, memory=False)
