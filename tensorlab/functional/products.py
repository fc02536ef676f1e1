"""Products of vectors, matrices and batches of matrices."""

from __future__ import annotations

from typing import Any

from tensorlab.dispatch import call
from tensorlab.functional.arguments import need_dims, need_tensor
from tensorlab.functional.pointwise import mul
from tensorlab.functional.shapes import unsqueeze
from tensorlab.ops import ROWS

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    mul matmul mm mv dot outer addmm
"""
#: Rows that have an in-place form, ``name_``.
IN_PLACE = """
    mul
"""

_PRODUCTS = {(1, 1): "dot", (2, 1): "mv", (2, 2): "mm", (3, 3): "bmm"}


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Product of matrices and vectors, batches broadcast. Raises ``RuntimeError`` showing the sizes that do not meet.

    >>> import tensorlab as tl
    >>> tl.matmul(tl.tensor([[1., 2.], [3., 4.]]), tl.tensor([1., 1.]))
    tensor([3., 7.])
    """
    need_tensor("matmul", "other", 2, other)
    need_tensor("matmul", "input", 1, input)
    a, b = input._a, other._a
    name = _PRODUCTS.get((a.ndim, b.ndim), "matmul")
    if name == "bmm" and a.shape[0] != b.shape[0]:
        name = "matmul"
    return call(ROWS[name], (input, other))


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Product of two matrices, ``[n, m]`` and ``[m, p]``."""
    need_dims("mm", (("self", input, 2), ("mat2", mat2, 2)))
    return call(ROWS["mm"], (input, mat2))


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """Product of a matrix ``[n, m]`` and a vector ``[m]``."""
    need_dims("mv", (("self", input, 2), ("vec", vec, 1)))
    return call(ROWS["mv"], (input, vec))


def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """Inner product of two vectors of equal length."""
    need_dims("dot", (("self", input, 1), ("tensor", tensor, 1)))
    if input._a.dtype != tensor._a.dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {input.dtype.name} and {tensor.dtype.name}"
        )
    if input._a.shape != tensor._a.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor {list(input._a.shape)} and src {list(tensor._a.shape)} to have the same number of "
            f"elements, but got {input._a.size} and {tensor._a.size} elements respectively"
        )
    return call(ROWS["dot"], (input, tensor))


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Products of a batch of matrices, ``[b, n, m]`` and ``[b, m, p]``."""
    need_dims("bmm", (("self", input, 3), ("mat2", mat2, 3)))
    if input._a.shape[0] != mat2._a.shape[0]:
        raise RuntimeError(
            f"bmm(): Expected size for first two dimensions of batch2 tensor to be equal: batches "
            f"{input._a.shape[0]} and {mat2._a.shape[0]}"
        )
    return call(ROWS["bmm"], (input, mat2))


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Outer product of two vectors, ``[n]`` and ``[m]`` to ``[n, m]``."""
    need_dims("outer", (("self", input, 1), ("vec2", vec2, 1)))
    return mul(unsqueeze(input, 1), vec2)


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)``; ``input`` broadcasts to the product's shape."""
    need_tensor("addmm", "input", 1, input)
    need_dims("addmm", (("mat1", mat1, 2), ("mat2", mat2, 2)))
    return call(ROWS["addmm"], (input, mat1, mat2), beta=beta, alpha=alpha)
