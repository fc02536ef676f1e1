"""0-dim and 0-size tensors, odd types and bare sums at the engine's edges."""

from __future__ import annotations

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.autograd import grad
from tensorlab.engine.run import BackwardRun


def test_a_0_dim_leaf():
    x = tl.tensor(3.0, requires_grad=True)
    (x * x).backward()
    assert x.grad.shape == ()
    assert x.grad.item() == 6
    assert isinstance(x.grad._a, np.ndarray)
    (x * x).backward()
    assert x.grad.item() == 12


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 2 + 1,
        lambda x: x.exp(),
        lambda x: x.reshape(1),
        lambda x: x.expand(3),
        lambda x: x.view(1, 1)[0],
        lambda x: x.unsqueeze(0).repeat(2),
        lambda x: x + tl.ones(2, 3),
        lambda x: tl.stack([x, x]),
        lambda x: x.clamp(0, 1),
        lambda x: x.softmax(0),
        lambda x: x.max(),
        lambda x: x.cumsum(0),
        lambda x: x.mean(),
        lambda x: x[None],
        lambda x: tl.where(x > 0, x, x * 2),
    ],
)
def test_0_dim_tensors_pass_gradients_of_0_dim(function):
    x = tl.tensor(0.5, requires_grad=True)
    y = function(x).sum()
    (g,) = grad(y, x, create_graph=True)
    assert g.shape == ()
    assert np.isfinite(g.item())
    y.backward()
    assert x.grad.item() == g.item()


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 2 + 1,
        lambda x: x.exp() * x,
        lambda x: x.sum(-1),
        lambda x: x.transpose(0, -1),
        lambda x: x.reshape(-1),
        lambda x: x.view(*x.shape, 1),
        lambda x: x[..., :0],
        lambda x: tl.cat([x, x]),
        lambda x: x.softmax(-1),
        lambda x: x.clone().mul_(3),
        lambda x: x.clone()[...].add_(1),
        lambda x: x + tl.ones(1),
        lambda x: x.cumsum(0),
        lambda x: x.matmul(tl.ones(x.shape[-1], 2)),
        lambda x: x.expand(5, *x.shape),
    ],
)
def test_empty_tensors_pass_empty_gradients(function, shape):
    x = tl.ones(*shape, requires_grad=True)
    y = function(x)
    y.sum().backward()
    assert x.grad.shape == shape
    assert x.grad.stride() == x.stride()
    y = function(x)
    y.backward(tl.ones(tuple(y.shape)))
    assert x.grad.shape == shape


def test_a_parameter_broadcast_against_nothing_gets_zeros():
    b = tl.ones(3, requires_grad=True)
    (tl.ones(0, 3) * b).sum().backward()
    assert b.grad.tolist() == [0, 0, 0]
    s = tl.tensor(2.0, requires_grad=True)
    (tl.ones(0) * s).sum().backward()
    assert s.grad.item() == 0
    one = tl.ones(1, requires_grad=True)
    one.expand(0).sum().backward()
    assert one.grad.tolist() == [0]


def test_an_empty_tensor_needs_a_gradient_to_start_from():
    x = tl.ones(0, requires_grad=True)
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        (x * 2).backward()
    (x * 2).backward(tl.ones(0))
    assert x.grad.shape == (0,)


def test_an_empty_run_steps_and_goes_back():
    x = tl.ones(0, 2, requires_grad=True)
    run = BackwardRun(((x * 2).sum(),), journal=True)
    run.run()
    assert x.grad.shape == (0, 2)
    while run.back() is not None:
        pass
    assert x.grad is None


@pytest.mark.parametrize("dtype", [tl.float16, tl.bfloat16, tl.float64, tl.complex64, tl.complex128])
def test_every_type_that_can_require_grad_gets_gradients_of_its_type(dtype):
    x = tl.ones(3, dtype=dtype, requires_grad=True)
    y = x * x + x
    y.backward(tl.ones(3, dtype=dtype))
    y = x * x + x
    y.backward(tl.ones(3, dtype=dtype))
    assert x.grad.dtype == dtype
    assert [complex(v) for v in x.grad.tolist()] == [6, 6, 6]


@pytest.mark.parametrize("dtype", [tl.int8, tl.int16, tl.int32, tl.int64, tl.uint8, tl.bool])
def test_no_other_type_can_require_grad_whichever_way_it_is_asked(dtype):
    for ask in (
        lambda: tl.ones(2, dtype=dtype, requires_grad=True),
        lambda: tl.zeros(2, dtype=dtype).requires_grad_(),
        lambda: setattr(tl.zeros(2, dtype=dtype), "requires_grad", True),
        lambda: tl.tensor([1, 0], dtype=dtype, requires_grad=True),
    ):
        with pytest.raises(RuntimeError, match="floating point and complex dtype can require gradients"):
            ask()
    tl.zeros(2, dtype=dtype).requires_grad_(False)


def test_mixed_types_meet_and_each_gets_its_own_back():
    a = tl.ones(2, dtype=tl.float16, requires_grad=True)
    b = tl.ones(2, requires_grad=True)
    c = tl.ones(2, dtype=tl.float64, requires_grad=True)
    z = tl.ones(2, dtype=tl.complex64, requires_grad=True)
    y = a * b + c
    y.sum().backward()
    (b * z).backward(tl.ones(2, dtype=tl.complex64))
    assert [x.grad.dtype for x in (a, b, c, z)] == [tl.float16, tl.float32, tl.float64, tl.complex64]
    assert b.grad.tolist() == [2, 2]


def test_gradients_pass_through_conversions():
    x = tl.ones(2, requires_grad=True)
    (x.double() * 2).half().sum().backward()
    assert x.grad.dtype == tl.float32
    assert x.grad.tolist() == [2, 2]


def test_nan_and_inf_gradients_arrive_as_they_are():
    x = tl.ones(3, requires_grad=True)
    (x * tl.tensor([float("nan"), float("inf"), -float("inf")])).sum().backward()
    assert str(x.grad.tolist()) == "[nan, inf, -inf]"


def test_non_contiguous_and_reversed_memory_is_differentiated_as_any():
    base = np.arange(12, dtype=np.float32).reshape(3, 4)
    x = tl.from_numpy(base.T[::2]).requires_grad_()
    (x * x).sum().backward()
    assert x.grad.tolist() == (2 * base.T[::2]).tolist()
    assert base.tolist() == np.arange(12).reshape(3, 4).tolist()


def test_a_leaf_whose_data_was_replaced_gets_gradients_of_the_new_kind():
    x = tl.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    x.grad = None
    x.data = tl.ones(3, dtype=tl.float64)
    (x * 2).sum().backward()
    assert x.grad.dtype == tl.float64
    assert x.grad.tolist() == [2, 2, 2]


def test_an_unused_leaf_stays_none_and_a_zero_gradient_is_zeros():
    x, unused = tl.ones(2, requires_grad=True), tl.ones(2, requires_grad=True)
    (x * 0 + tl.zeros(2)).sum().backward()
    assert x.grad.tolist() == [0, 0]
    assert unused.grad is None
