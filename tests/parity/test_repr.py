"""``repr`` of real tensors, held against PyTorch's where it is installed."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tensorlab as tl
from tensorlab import printing

MAKERS = {
    "floats": lambda t: t.tensor([[1.5, -2.0], [3.25, 4.0]]),
    "whole": lambda t: t.arange(5.0),
    "ints": lambda t: t.arange(12).reshape(3, 4),
    "bools": lambda t: t.tensor([True, False]),
    "double": lambda t: t.tensor([1.5], dtype=t.float64),
    "half": lambda t: t.tensor([1.5, 2.25], dtype=t.float16),
    "bfloat16": lambda t: t.tensor([1.5, 2.25], dtype=t.bfloat16),
    "complex": lambda t: t.tensor([1 + 2j, -0.5j]),
    "scalar": lambda t: t.tensor(3.14159),
    "empty": lambda t: t.zeros(0),
    "empty matrix": lambda t: t.zeros(2, 0),
    "empty ints": lambda t: t.zeros(0, dtype=t.int64),
    "not finite": lambda t: t.tensor([float("nan"), float("inf"), -float("inf"), 1.0]),
    "summary": lambda t: t.arange(3000.0).reshape(30, 100),
    "transposed": lambda t: t.arange(6.0).reshape(2, 3).t(),
    "expanded": lambda t: t.tensor([1.0]).expand(3, 2),
    "leaf": lambda t: t.ones(2, requires_grad=True),
    "product": lambda t: t.ones(2, requires_grad=True) * 2,
    "long product": lambda t: t.linspace(-1, 1, 10, dtype=t.float64).requires_grad_() * 2,
    "view": lambda t: t.ones(2, 3, requires_grad=True).t(),
    "detached": lambda t: (t.ones(2, requires_grad=True) * 2).detach(),
    "parameter": lambda t: t.nn.Parameter(t.ones(2, 2)),
    "gradient": lambda t: _gradient(t),
    "in a list": lambda t: [t.ones(2), t.zeros(1, dtype=t.int32)],
}


def _gradient(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    return x.grad


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_tensor_prints_as_in_pytorch(make):
    assert repr(make(tl)) == repr(make(torch)).replace("torch.", "tensorlab.")
    assert str(make(tl)) == str(make(torch)).replace("torch.", "tensorlab.")


def test_a_subclass_prints_its_own_name():
    class Weights(tl.Tensor):
        pass

    assert repr(Weights([1.0, 2.0])) == "Weights([1., 2.])"


def test_another_default_type_is_the_one_that_is_not_said():
    before = tl.get_default_dtype()
    try:
        tl.set_default_dtype(tl.float64)
        assert repr(tl.ones(1)) == "tensor([1.])"
        assert repr(tl.ones(1, dtype=tl.float32)) == "tensor([1.], dtype=tensorlab.float32)"
    finally:
        tl.set_default_dtype(before)


def test_print_options_change_what_a_tensor_prints():
    with printing.printoptions(precision=2):
        assert repr(tl.tensor([1.23456])) == "tensor([1.23])"
    assert repr(tl.tensor([1.23456])) == "tensor([1.2346])"


def test_printing_reads_only_the_corners_of_what_no_memory_could_hold():
    assert repr(tl.ones(1).expand(10**12)) == "tensor([1., 1., 1.,  ..., 1., 1., 1.])"


def test_any_float_prints_the_same_as_in_pytorch():
    numbers = np.random.default_rng(0)
    for _ in range(200):
        values = (numbers.standard_normal(numbers.integers(1, 12)) * 10.0 ** numbers.integers(-8, 9)).astype("f4")
        assert repr(tl.from_numpy(values)) == repr(torch.from_numpy(values))
