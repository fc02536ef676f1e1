"""NumPy numbers and arrays on either side of an operator, as in ``np.sqrt(d) * x``."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import tensorlab as tl

ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow]
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@pytest.mark.parametrize("op", ARITHMETIC)
def test_a_numpy_number_on_the_left_counts_as_a_python_number(op) -> None:
    x = tl.tensor([1.0, 2.0, 4.0])
    found, expected = op(np.float64(3), x), op(3.0, x)
    assert found.dtype == expected.dtype == tl.float32
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("op", COMPARISONS)
def test_comparisons_with_a_numpy_number_on_the_left_keep_their_direction(op) -> None:
    x = tl.tensor([1.0, 2.0, 4.0])
    assert op(np.float64(2), x).tolist() == [op(2, v) for v in (1, 2, 4)]


def test_a_numpy_number_on_the_left_keeps_the_gradient() -> None:
    x = tl.tensor([1.0, 2.0], requires_grad=True)
    (np.float64(3) * x).sum().backward()
    assert x.grad.tolist() == [3, 3]


@pytest.mark.parametrize("op", [op for op in [*ARITHMETIC, operator.matmul] if op is not operator.floordiv])
def test_an_array_on_the_left_keeps_the_gradient(op) -> None:
    x = tl.tensor([1.0, 2.0], requires_grad=True)
    array = np.array([3, 5], np.float32)
    found = op(array, x)
    assert found.requires_grad
    assert found.tolist() == op(tl.from_numpy(array), x).tolist()


def test_an_array_of_texts_has_no_product_with_a_tensor() -> None:
    with pytest.raises(TypeError, match="can't convert a numpy.ndarray of type <U1"):
        np.array(["a"]) * tl.ones(1)
