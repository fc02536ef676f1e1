"""The driver itself: a gradient that is slightly wrong must not pass it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tensorlab as tl
from tensorlab.engine.node import node_class
from tensorlab.ops import ROWS
from tensorlab.ops.table import Row
from tests.ops import driver

FORMULAS = [(name, i) for name, row in sorted(ROWS.items()) if row.vjps for i, vjp in enumerate(row.vjps) if vjp]
JOINT = [name for name, row in sorted(ROWS.items()) if row.joint]

#: Gradients that are zero stay right whatever they are multiplied by.
ZERO = {
    "sign",
    "floor",
    "ceil",
    "round",
    "trunc",
    "div_floor",
    "div_trunc",
    "zero",
    "round_decimals",
    ("fill", 0),
    ("copy", 0),
    ("copysign", 1),
    ("nextafter", 1),
}


@pytest.fixture
def changed() -> Iterator[Any]:
    """Puts other gradient formulas into a row for one test."""
    kept: list[tuple[Row, Any, Any, Any]] = []

    def change(row: Row, vjps: Any, joint: Any = None) -> None:
        kept.append((row, row.vjps, row.joint, row.node))
        row.vjps, row.joint, row.node = vjps, joint, None
        node_class(row)

    yield change
    for row, vjps, joint, node in kept:
        row.vjps, row.joint, row.node = vjps, joint, node


def passes(name: str) -> bool:
    """Whether first derivatives of all samples of a row are found right."""
    with driver.recorded():  # on the watched path a node's class is looked up at every call
        for sample in driver.samples(ROWS[name]):
            try:
                driver.check_gradient(sample, second=False)
            except RuntimeError:
                return False
    return True


@pytest.mark.parametrize(("name", "which"), FORMULAS)
def test_a_gradient_that_is_wrong_by_a_thousandth_is_noticed(name: str, which: int, changed: Any) -> None:
    if name in ZERO or (name, which) in ZERO:
        pytest.skip("the gradient is 0")
    row = ROWS[name]
    vjps = list(row.vjps)
    right = vjps[which]
    vjps[which] = lambda *args: right(*args) * 1.001
    changed(row, tuple(vjps))
    assert not passes(name)


@pytest.mark.parametrize("name", JOINT)
def test_a_gradient_of_several_results_that_is_wrong_by_a_thousandth_is_noticed(name: str, changed: Any) -> None:
    row = ROWS[name]
    right = row.joint
    changed(row, None, lambda *args: [None if g is None else g * 1.001 for g in right(*args)])
    assert not passes(name)


def test_a_row_that_is_right_passes() -> None:
    assert passes("mul")


def test_gradcheck_names_the_element_that_is_wrong() -> None:
    class Wrong(tl.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * tl.tensor([3.0, 4.0], dtype=tl.float64)

    x = tl.tensor([1.0, 2.0], dtype=tl.float64, requires_grad=True)
    with pytest.raises(
        RuntimeError, match=r"output element \[1\] and input element \[1\]: the function moves by 3, .* says 4 "
    ):
        tl.autograd.gradcheck(Wrong.apply, x)
    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to input 0"):
        tl.autograd.gradcheck(Wrong.apply, x, fast_mode=True)
    assert tl.autograd.gradcheck(Wrong.apply, x, raise_exception=False) is False


def test_gradcheck_notices_a_wrong_second_derivative_behind_a_right_first_one() -> None:
    class Forgetful(tl.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2 * ctx.saved_tensors[0].detach()

    x = tl.tensor([1.0, 2.0], dtype=tl.float64, requires_grad=True)
    assert tl.autograd.gradcheck(Forgetful.apply, x)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        tl.autograd.gradgradcheck(Forgetful.apply, x)


def test_gradcheck_notices_a_backward_that_gives_something_else_every_time() -> None:
    class Noisy(tl.autograd.Function):
        calls = 0

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            Noisy.calls += 1
            return g * (1 + 1e-8 * Noisy.calls)

    x = tl.tensor([1.0], dtype=tl.float64, requires_grad=True)
    with pytest.raises(RuntimeError, match="not reentrant"):
        tl.autograd.gradcheck(Noisy.apply, x)
    assert tl.autograd.gradcheck(Noisy.apply, x, nondet_tol=1e-5)


def test_gradcheck_warns_of_float32_and_refuses_overlapping_inputs_and_inputs_without_gradient() -> None:
    x = tl.tensor([1.0], requires_grad=True)
    with pytest.warns(UserWarning, match="not a double precision"):
        tl.autograd.gradcheck(lambda x: x * 2, x, raise_exception=False)
    wide = tl.ones(1, dtype=tl.float64).expand(3).detach().requires_grad_()
    with pytest.raises(RuntimeError, match="stride 0"):
        tl.autograd.gradcheck(lambda x: x * 2, wide)
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        tl.autograd.gradcheck(lambda x: x * 2, tl.ones(2, dtype=tl.float64))


def test_gradcheck_works_with_complex_numbers_several_outputs_and_empty_tensors() -> None:
    z = tl.tensor([1.0 + 2j, -1.0], dtype=tl.complex128, requires_grad=True)
    assert tl.autograd.gradcheck(lambda z: (z * z.conj() * z, z.abs()), z)
    assert tl.autograd.gradgradcheck(lambda z: z * z * z, z)
    empty = tl.zeros(0, 2, dtype=tl.float64, requires_grad=True)
    assert tl.autograd.gradcheck(lambda x: x * x, empty)


def test_gradcheck_leaves_its_inputs_and_the_random_numbers_of_the_user_alone() -> None:
    x = tl.tensor([1.0, 2.0], dtype=tl.float64, requires_grad=True)
    tl.manual_seed(0)
    first = tl.rand(2)
    tl.manual_seed(0)
    tl.autograd.gradgradcheck(lambda x: x * x, x)
    assert tl.equal(tl.rand(2), first)
    assert x.tolist() == [1.0, 2.0]
    assert x.grad is None
