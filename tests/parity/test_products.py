"""Products of vectors and matrices against PyTorch, where its table of operations does not reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.ops import distances
from tests.ops import driver
from tests.parity import oracle
from tests.parity.test_ops import gradients_differ, leaves

torch = oracle.torch
CHAIN = [(2, 30), (30, 1), (1, 40), (40, 10), (10, 25)]


def drawn(*shapes: tuple[int, ...], dtype: Any = None) -> list[Any]:
    torch.manual_seed(3)
    return [torch.randn(shape, dtype=dtype or torch.float64, requires_grad=True) for shape in shapes]


def agree(theirs: Any, ours: Any, inputs: list[Any]) -> None:
    """That a call of either library gives the same values and gradients."""
    mine = [oracle.ours(x) for x in inputs]
    expected, found = theirs(*inputs), ours(*mine)
    assert oracle.differences(found, expected) == []
    assert gradients_differ(found, expected, mine, inputs) == []


@pytest.mark.filterwarnings("ignore")
def test_a_chain_of_matrices_is_multiplied_as_pytorch_multiplies_it() -> None:
    agree(torch.chain_matmul, tl.chain_matmul, drawn(*CHAIN))
    agree(lambda *m: torch.linalg.multi_dot(m), lambda *m: tl.chain_matmul(*m), drawn(*CHAIN[:2]))


@pytest.mark.parametrize("dims", [0, 1, 2, ([0, 2], [1, 0]), ([-1], [0])])
def test_tensordot_pairs_dimensions_as_pytorch_does(dims: Any) -> None:
    shapes = {0: ((2, 3), (4,)), 1: ((2, 3), (3, 4)), 2: ((5, 2, 3), (2, 3, 4))}.get(
        dims if isinstance(dims, int) else -1
    )
    shapes = shapes or (((2, 5, 3), (3, 2, 4)) if len(dims[0]) == 2 else ((2, 5, 3), (3, 4)))
    agree(lambda a, b: torch.tensordot(a, b, dims), lambda a, b: tl.tensordot(a, b, dims), drawn(*shapes))


def test_tensordot_meets_a_dimension_of_size_1_with_one_of_any_size() -> None:
    pair = drawn((2, 1), (3, 4))
    agree(lambda a, b: torch.tensordot(a, b, 1), lambda a, b: tl.tensordot(a, b, 1), pair)


@pytest.mark.parametrize("op", oracle.entries("einsum"))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.complex128], ids=str)
def test_einsum_agrees_on_the_sample_calls_of_pytorchs_table(op: Any, dtype: Any) -> None:
    real = dtype in (torch.float32, torch.float64)
    for sample in oracle.samples(op, dtype, requires_grad=real):
        expected = torch.einsum(sample.args[0], *sample.input)
        mine = [oracle.ours(x) for x in sample.input]
        found = tl.einsum(sample.args[0], *mine)
        assert oracle.differences(found, expected) == []
        assert gradients_differ(found, expected, list(leaves(mine)), list(leaves(sample.input))) == []


def test_einsum_of_many_operands_takes_them_in_a_cheap_order() -> None:
    a, b, c = tl.ones(200, 2), tl.ones(2, 200), tl.ones(200, 1)
    with driver.recorded() as calls:
        found = tl.einsum("ab,bc,cd->ad", a, b, c)
    sizes = [int(np.prod(call.outs[0].shape)) for call in calls]
    assert max(sizes) <= 400  # never the 200 by 200 product of the first two
    assert found.tolist() == [[400.0]] * 200


@pytest.mark.parametrize("numbers", [[0, 52], [-1, 0]])
def test_einsum_refuses_subscripts_that_are_no_letters(numbers: list[int]) -> None:
    with pytest.raises(ValueError, match="within the valid range"):
        torch.einsum(torch.ones(2, 2), numbers)
    with pytest.raises(ValueError, match="within the valid range"):
        tl.einsum(tl.ones(2, 2), numbers)


@pytest.mark.parametrize("name", ["addmm", "addmv", "addr", "addbmm", "baddbmm"])
def test_where_beta_is_0_nan_in_the_input_does_not_count(name: str) -> None:
    shapes = {"addmv": ((2,), (2, 3), (3,)), "addr": ((2, 3), (2,), (3,)), "addmm": ((2, 4), (2, 3), (3, 4))}
    rows, a, b = shapes.get(name, ((5, 2, 4) if name == "baddbmm" else (2, 4), (5, 2, 3), (5, 3, 4)))
    x = tl.full(rows, float("nan"), requires_grad=True)
    y = getattr(tl, name)(x, tl.ones(a), tl.ones(b), beta=0)
    assert tl.isfinite(y).all()
    y.sum().backward()
    assert x.grad.tolist() == tl.zeros(rows).tolist()
    z = tl.full(rows, float("nan"))
    assert getattr(z, f"{name}_")(tl.ones(a), tl.ones(b), beta=0) is z
    assert tl.isfinite(z).all()


def test_vdot_conjugates_its_first_vector_and_dot_does_not() -> None:
    pair = drawn((3,), (3,), dtype=torch.complex128)
    agree(torch.vdot, tl.vdot, pair)
    agree(torch.dot, tl.dot, pair)


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 2.0, 3.0, float("inf")])
def test_distances_of_points_that_coincide_have_finite_gradients_of_both_orders(p: float) -> None:
    x = tl.tensor([[0.0, 1.0], [0.0, 1.0], [2.0, 1.0]], dtype=tl.float64, requires_grad=True)
    for found in (tl.cdist(x, x.detach(), p), tl.pdist(x, p)):
        (g,) = tl.autograd.grad(found.sum(), x, create_graph=True, allow_unused=True, materialize_grads=True)
        assert tl.isfinite(g).all()
        if g.requires_grad:
            (h,) = tl.autograd.grad(g.sum(), x, allow_unused=True, materialize_grads=True)
            assert not tl.isnan(h).any()


def test_many_distances_are_worked_out_in_parts() -> None:
    x, y = torch.randn(40, 7, dtype=torch.float64), torch.randn(50, 7, dtype=torch.float64)
    kept, distances._AT_ONCE = distances._AT_ONCE, 700
    try:
        found = tl.cdist(oracle.ours(x), oracle.ours(y), 1.0)
    finally:
        distances._AT_ONCE = kept
    assert oracle.differences(found, torch.cdist(x, y, 1.0)) == []
