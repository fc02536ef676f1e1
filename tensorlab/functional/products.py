"""Products of vectors, matrices and batches of matrices."""

from __future__ import annotations

from typing import Any

from tensorlab.dispatch import call
from tensorlab.functional.arguments import a_number, need_dims, need_tensor
from tensorlab.functional.autocasting import lowered
from tensorlab.functional.older import older
from tensorlab.functional.pointwise import mul
from tensorlab.functional.shapes import unsqueeze
from tensorlab.inplace import write
from tensorlab.layout import wrap_dim
from tensorlab.modes import state
from tensorlab.ops import ROWS

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    mul matmul mm mv dot vdot outer ger cross addmm addmv addr addbmm baddbmm addmm_ addmv_ addr_ addbmm_ baddbmm_
"""
#: Functions that are not found at ``tensorlab.<name>``.
ELSEWHERE = """
    addmm_ addmv_ addr_ addbmm_ baddbmm_
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
    inputs = (input, other) if state.autocast is None else lowered(input, other)
    return call(ROWS[name], inputs)


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
    _two_vectors("dot", input, "tensor", tensor)
    return call(ROWS["dot"], (input, tensor))


def vdot(input: Tensor, other: Tensor) -> Tensor:
    """Inner product of two vectors of equal length, the first conjugated."""
    _two_vectors("vdot", input, "other", other)
    return call(ROWS["vdot"], (input, other))


def _two_vectors(op: str, input: Tensor, name: str, tensor: Tensor) -> None:
    need_dims(op, (("self", input, 1), (name, tensor, 1)))
    if input._a.dtype != tensor._a.dtype:
        raise RuntimeError(
            f"{op} : expected both vectors to have same dtype, but found {input.dtype.name} and {tensor.dtype.name}"
        )
    if input._a.shape != tensor._a.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor {list(input._a.shape)} and src {list(tensor._a.shape)} to have the same number of "
            f"elements, but got {input._a.size} and {tensor._a.size} elements respectively"
        )


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


ger = outer


def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Cross product of vectors with 3 elements along ``dim``; without it, along the first dimension that has 3 elements.

    >>> import tensorlab as tl
    >>> tl.cross(tl.tensor([1, 0, 0]), tl.tensor([0, 1, 0]))
    tensor([0, 0, 1])
    """
    need_tensor("cross", "other", 2, other)
    n = input._a.ndim
    if n != other._a.ndim:
        raise RuntimeError(
            f"linalg.cross: inputs must have the same number of dimensions, not {n} and {other._a.ndim}."
        )
    if dim is None:
        if 3 not in input._a.shape:
            raise RuntimeError(f"cross(): no dimension of size 3 in input, which has shape {list(input._a.shape)}")
        dim = input._a.shape.index(3)
    return call(ROWS["linalg_cross"], (input, other), dim=wrap_dim(dim, n, "linalg.cross"))


_TERMS = {
    "addmm": (("mat1", 2), ("mat2", 2)),
    "addmv": (("mat", 2), ("vec", 1)),
    "addr": (("vec1", 1), ("vec2", 1)),
    "addbmm": (("batch1", 3), ("batch2", 3)),
    "baddbmm": (("batch1", 3), ("batch2", 3)),
}


def _factors(op: str, name: str, tensors: tuple[Tensor, ...], beta: Any, alpha: Any) -> dict[str, Any]:
    """``beta`` and ``alpha``, once the tensors have the dimensions they need."""
    need_tensor(op, "input", 1, tensors[0])
    (first, m), (second, n) = _TERMS[name]
    need_dims(op, ((first, tensors[1], m), (second, tensors[2], n)))
    if m == 3 and tensors[1]._a.shape[0] != tensors[2]._a.shape[0]:
        raise RuntimeError(
            f"{op}(): {first} and {second} must have same number of batches, got {tensors[1]._a.shape[0]} and {tensors[2]._a.shape[0]}"
        )
    return {"beta": a_number(op, "beta", beta), "alpha": a_number(op, "alpha", alpha)}


@older("beta input alpha mat1 mat2", "beta input mat1 mat2", "input beta alpha mat1 mat2", "input beta mat1 mat2")
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * mat1 @ mat2`` of ``[n, m]`` and ``[m, p]``; ``input`` broadcasts to the product's shape."""
    factors = _factors("addmm", "addmm", (input, mat1, mat2), beta, alpha)
    return call(ROWS["addmm"], (input, mat1, mat2), **factors)


@older("beta input alpha mat vec", "beta input mat vec", "input beta alpha mat vec", "input beta mat vec")
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * mat @ vec`` of ``[n, m]`` and ``[m]``; ``input`` broadcasts to the product's shape."""
    factors = _factors("addmv", "addmv", (input, mat, vec), beta, alpha)
    return call(ROWS["addmv"], (input, mat, vec), **factors)


@older("beta input alpha vec1 vec2", "beta input vec1 vec2", "input beta alpha vec1 vec2", "input beta vec1 vec2")
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * outer(vec1, vec2)`` of ``[n]`` and ``[m]``; ``input`` broadcasts to the product's shape."""
    factors = _factors("addr", "addr", (input, vec1, vec2), beta, alpha)
    return call(ROWS["addr"], (input, vec1, vec2), **factors)


@older(
    "beta input alpha batch1 batch2",
    "beta input batch1 batch2",
    "input beta alpha batch1 batch2",
    "input beta batch1 batch2",
)
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * (batch1 @ batch2).sum(0)`` of ``[b, n, m]`` and ``[b, m, p]``; ``input`` broadcasts to it."""
    factors = _factors("addbmm", "addbmm", (input, batch1, batch2), beta, alpha)
    return call(ROWS["addbmm"], (input, batch1, batch2), **factors)


@older(
    "beta input alpha batch1 batch2",
    "beta input batch1 batch2",
    "input beta alpha batch1 batch2",
    "input beta batch1 batch2",
)
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * batch1 @ batch2`` of ``[b, n, m]`` and ``[b, m, p]``; ``input`` broadcasts to the product's shape."""
    factors = _factors("baddbmm", "baddbmm", (input, batch1, batch2), beta, alpha)
    return call(ROWS["baddbmm"], (input, batch1, batch2), **factors)


@older("beta input alpha mat1 mat2", "beta input mat1 mat2", "input beta alpha mat1 mat2", "input beta mat1 mat2")
def addmm_(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``addmm``, written into the tensor. Returns the tensor."""
    factors = _factors("addmm_", "addmm", (input, mat1, mat2), beta, alpha)
    return write(ROWS["addmm"], input, mat1, mat2, **factors)


@older("beta input alpha mat vec", "beta input mat vec", "input beta alpha mat vec", "input beta mat vec")
def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``addmv``, written into the tensor. Returns the tensor."""
    factors = _factors("addmv_", "addmv", (input, mat, vec), beta, alpha)
    return write(ROWS["addmv"], input, mat, vec, **factors)


@older("beta input alpha vec1 vec2", "beta input vec1 vec2", "input beta alpha vec1 vec2", "input beta vec1 vec2")
def addr_(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``addr``, written into the tensor. Returns the tensor."""
    factors = _factors("addr_", "addr", (input, vec1, vec2), beta, alpha)
    return write(ROWS["addr"], input, vec1, vec2, **factors)


@older(
    "beta input alpha batch1 batch2",
    "beta input batch1 batch2",
    "input beta alpha batch1 batch2",
    "input beta batch1 batch2",
)
def addbmm_(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``addbmm``, written into the tensor. Returns the tensor."""
    factors = _factors("addbmm_", "addbmm", (input, batch1, batch2), beta, alpha)
    return write(ROWS["addbmm"], input, batch1, batch2, **factors)


@older(
    "beta input alpha batch1 batch2",
    "beta input batch1 batch2",
    "input beta alpha batch1 batch2",
    "input beta batch1 batch2",
)
def baddbmm_(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``baddbmm``, written into the tensor. Returns the tensor."""
    factors = _factors("baddbmm_", "baddbmm", (input, batch1, batch2), beta, alpha)
    return write(ROWS["baddbmm"], input, batch1, batch2, **factors)
