"""Tensors on a GPU: where they are, how they get there and back, and what may not be mixed."""

from __future__ import annotations

import pickle
import re
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import tensorlab as tl

pytestmark = pytest.mark.usefixtures("gpu")


def matrix(device: str = "cuda", **options: Any) -> Any:
    return tl.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], device=device, **options)


MAKERS = {
    "tensor": lambda **o: tl.tensor([1.0, 2.0], **o),
    "zeros": lambda **o: tl.zeros(2, 3, **o),
    "ones": lambda **o: tl.ones(2, 3, **o),
    "empty": lambda **o: tl.empty(2, 3, **o),
    "full": lambda **o: tl.full((2, 3), 7, **o),
    "arange": lambda **o: tl.arange(5, **o),
    "linspace": lambda **o: tl.linspace(0, 1, 5, **o),
    "eye": lambda **o: tl.eye(3, **o),
    "rand": lambda **o: tl.rand(3, **o),
    "randn": lambda **o: tl.randn(3, **o),
    "randint": lambda **o: tl.randint(5, (3,), **o),
    "randperm": lambda **o: tl.randperm(5, **o),
    "as_tensor": lambda **o: tl.as_tensor(np.ones(3), **o),
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_new_tensor_is_made_where_it_was_asked_for(name: str) -> None:
    assert MAKERS[name]().device == tl.device("cpu")
    for asked, given in (("cuda", "cuda:0"), ("cuda:1", "cuda:1"), (1, "cuda:1"), (tl.device("cuda", 0), "cuda:0")):
        made = MAKERS[name](device=asked)
        assert made.device == tl.device(given)
        assert made.is_cuda
        assert made.is_leaf


def test_a_tensor_made_like_another_is_where_that_is() -> None:
    x = matrix("cuda:1").T
    for made in (tl.zeros_like(x), tl.ones_like(x), tl.full_like(x, 3), tl.empty_like(x), tl.rand_like(x)):
        assert made.device == x.device
        assert made.shape == x.shape
    assert tl.zeros_like(x).stride() == x.stride()
    assert x.new_zeros(2).device == x.device
    assert x.new_tensor([1, 2]).device == x.device
    assert tl.zeros_like(x, device="cpu").device == tl.device("cpu")
    assert tl.zeros_like(tl.ones(2), device="cuda").device == tl.device("cuda:0")


def test_big_tensors_are_not_made_on_the_host_first(gpu: Any) -> None:
    tl.zeros(100, 100, device="cuda")
    tl.ones(100, 100, device="cuda")
    tl.full((100, 100), 2.0, device="cuda")
    tl.zeros_like(tl.empty(100, 100, device="cuda"))
    assert not gpu.copied("in")
    assert not gpu.copied("out")


def test_the_way_there_and_back_keeps_values_types_and_layout() -> None:
    x = tl.arange(24).reshape(2, 3, 4).permute(2, 0, 1).double()
    there = x.cuda()
    assert there.device == tl.device("cuda:0")
    assert there.stride() == x.stride()
    assert there.cpu().stride() == x.stride()
    assert there.cpu().tolist() == x.tolist()
    assert there.dtype is tl.float64
    assert there.cuda() is there
    assert there.to("cuda:0") is there
    assert x.cpu() is x
    assert there.to("cuda:1").device == tl.device("cuda:1")
    assert there.to("cuda:1").to("cuda").device == tl.device("cuda:0")  # without a number: the current one
    assert x.to("cuda", tl.float32).dtype is tl.float32
    assert x.to(there).device == there.device


def test_a_gradient_goes_back_to_the_device_that_its_leaf_is_on() -> None:
    x = tl.tensor([1.0, 2.0], requires_grad=True)
    y = (x.cuda() * 3).to("cuda:1") * 2
    assert str(y.device) == "cuda:1"
    y.cpu().sum().backward()
    assert x.grad.device == tl.device("cpu")
    assert x.grad.tolist() == [6, 6]


MIXED = {
    "an operator": (lambda a, b: a + b, "add(): ", "'self' is on cuda:0, 'other' is on cpu"),
    "its mirror": (lambda a, b: b * a, "mul(): ", "'self' is on cpu, 'other' is on cuda:0"),
    "a product": (lambda a, b: a @ b.T, "mm(): ", "'self' is on cuda:0, 'mat2' is on cpu"),
    "a list": (lambda a, b: tl.cat([a, b]), "cat(): ", "'tensors[0]' is on cuda:0, 'tensors[1]' is on cpu"),
    "three inputs": (lambda a, b: tl.where(b > 0, a, a), "where(): ", "'condition' is on cpu, 'self' is on cuda:0"),
    "a layer": (lambda a, b: tl.nn.Linear(3, 2)(a), "linear(): ", "'input' is on cuda:0, 'weight' is on cpu"),
    "a write": (lambda a, b: a.add_(b), "add(): ", "'self' is on cuda:0, 'other' is on cpu"),
    "two GPUs": (lambda a, b: a + b.to("cuda:1"), "add(): ", "'self' is on cuda:0, 'other' is on cuda:1"),
    "a question": (tl.equal, "equal(): ", "'input' is on cuda:0, 'other' is on cpu"),
}


@pytest.mark.parametrize("what", MIXED)
def test_mixed_devices_are_an_error_that_says_which_argument_sits_where(what: str) -> None:
    call, op, sits = MIXED[what]
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device") as caught:
        call(matrix(), matrix("cpu"))
    assert op in str(caught.value)
    assert sits in str(caught.value)
    assert ".to(" in str(caught.value)


def test_a_write_that_was_refused_changed_nothing() -> None:
    x = matrix()
    with pytest.raises(RuntimeError, match="same device"):
        x.mul_(matrix("cpu"))
    assert x.tolist() == matrix("cpu").tolist()
    assert x._version == 0
    small = tl.tensor(1.0)
    with pytest.raises(RuntimeError, match="same device"):
        small.add_(tl.tensor(2.0, device="cuda"))
    assert small.item() == 1


def test_numbers_and_0_dim_tensors_of_the_host_may_join() -> None:
    x = matrix(requires_grad=True)
    scale = tl.tensor(3.0, requires_grad=True)
    y = (x * scale + 1 - tl.tensor(2)) / 2.0
    assert y.device == x.device
    y.sum().backward()
    assert scale.grad.device == tl.device("cpu")
    assert scale.grad.item() == 10.5
    assert x.grad.tolist() == [[1.5] * 3] * 2
    assert (tl.tensor(1.0) + matrix()).device == x.device
    assert (2 ** matrix()).device == x.device
    assert [type(v) for v in ((x > 1).any().item(), x.sum().item())] == [bool, float]


def test_a_negative_zero_beside_a_tensor_stays_negative() -> None:
    x = tl.tensor([1.0], device="cuda")
    assert (1 / (x * 0.0)).item() == float("inf")
    assert (1 / (x * -0.0)).item() == float("-inf")


def test_backward_needs_a_gradient_from_the_same_device() -> None:
    y = matrix(requires_grad=True) * 2
    with pytest.raises(RuntimeError, match=re.escape("grad_output[0] is on cpu and output[0] is on cuda:0")):
        y.backward(tl.ones(2, 3))
    with pytest.raises(RuntimeError, match="a gradient on device 'cpu' to a tensor on device 'cuda:0'"):
        matrix(requires_grad=True).grad = tl.ones(2, 3)


# ------------------------------------------------------------------------------------------------ values for Python


def test_values_leave_a_gpu_only_when_asked() -> None:
    x = matrix()
    for call in (x.numpy, lambda: np.asarray(x), lambda: np.add(x, 1)):
        with pytest.raises(
            TypeError, match=re.escape("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu()")
        ):
            call()
    assert x.numpy(force=True).tolist() == x.cpu().numpy().tolist() == x.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert x[1, 2].item() == float(x[1, 2]) == 6
    assert int(tl.tensor([7], device="cuda")) == 7
    assert bool(tl.tensor(True, device="cuda"))
    assert 5.0 in x
    assert 9.0 not in x
    assert len(x) == 2
    assert [row.tolist() for row in x] == x.tolist()
    assert [10, 20, 30][tl.tensor(1, device="cuda")] == 20


def test_a_printed_tensor_says_where_it_is() -> None:
    assert repr(tl.tensor([1.0, 2.0], device="cuda")) == "tensor([1., 2.], device='cuda:0')"
    assert repr(tl.tensor(3, device="cuda:1")) == "tensor(3, device='cuda:1')"
    assert (
        repr(tl.ones(1, device="cuda", requires_grad=True) * 2)
        == "tensor([2.], device='cuda:0', grad_fn=<MulBackward0>)"
    )


def test_printing_a_large_tensor_copies_no_more_than_it_shows(gpu: Any) -> None:
    x = tl.zeros(1000, 1000, device="cuda")
    gpu.copies.clear()
    assert repr(x).count("0.") == 36
    assert sum(gpu.copied("out")) <= 36
    assert sum(gpu.copied("in")) <= 12


def test_copies_and_pickles_stay_on_their_device() -> None:
    x = matrix("cuda:1", requires_grad=True)
    for other in (deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert other.device == x.device
        assert other.requires_grad
        assert other.tolist() == x.tolist()
        assert other.data_ptr() != x.data_ptr()


# -------------------------------------------------------------------------------------------------- views and writes


def test_views_share_memory_and_version() -> None:
    x = matrix()
    second, column, flat = x[1], x.T[0], x.view(6)
    column.mul_(10)
    assert x.tolist() == [[10, 2, 3], [40, 5, 6]]
    assert second.tolist() == [40, 5, 6]
    assert flat[3].item() == 40
    assert x._version == second._version == flat._version == 1
    assert second.storage_offset() == 3
    assert second.data_ptr() == x.data_ptr() + 12
    assert second._base is x
    assert x.unfold(1, 2, 1).tolist() == [[[10, 2], [2, 3]], [[40, 5], [5, 6]]]
    assert x.as_strided((2, 2), (1, 2), 1).tolist() == [[2, 40], [3, 5]]


def test_subscripts_read_and_write() -> None:
    x, host = matrix(), matrix("cpu")
    at, mask = tl.tensor([1, 0, -1]), tl.tensor([True, False, True])
    for i in (at, at.cuda(), [1, 0, -1], np.array([1, 0, -1])):
        assert x[:, i].tolist() == host[:, at].tolist()
    for m in (mask, mask.cuda(), [True, False, True]):
        assert x[:, m].tolist() == host[:, mask].tolist()
    assert x[x > 2].tolist() == [3, 4, 5, 6]
    for y in (x, host):
        y[0] = 7
        y[:, 1] = tl.tensor([8.0, 9.0], device=y.device)
        y[1, tl.tensor([0, 2])] = tl.tensor([1.0, 2.0], device=y.device)
        y[y == 7] = -1
    assert x.tolist() == host.tolist()
    x[1] = matrix("cpu")[0]  # what is copied in may come from anywhere
    assert x[1].tolist() == [1, 2, 3]


def test_an_index_out_of_bounds_is_an_error_and_not_a_wrong_number() -> None:
    x = matrix()
    for key in (tl.tensor([0, 2]), tl.tensor([0, -3], device="cuda")):
        with pytest.raises(IndexError, match="out of bounds for dimension 0 with size 2"):
            x[key]
    with pytest.raises(IndexError, match="out of bounds"):
        x.index_select(1, tl.tensor([3], device="cuda"))
    with pytest.raises(RuntimeError, match="either on cpu or on the same device"):
        x.cpu()[tl.tensor([0], device="cuda")]


def test_every_repeated_index_counts_for_every_type() -> None:
    at = tl.tensor([0, 0, 2], device="cuda")
    for dtype in (tl.int64, tl.int32, tl.int8, tl.uint8, tl.float16, tl.float32, tl.float64, tl.complex64):
        ones = tl.ones(3, dtype=dtype, device="cuda")
        assert (tl.zeros(3, dtype=dtype, device="cuda").scatter_add(0, at, ones)).tolist() == [2, 0, 1]
    minus = tl.full((3,), -1, device="cuda")
    assert tl.ones(3, dtype=tl.int64, device="cuda").scatter_add(0, at, minus).tolist() == [-1, 1, 0]


def test_a_copy_may_come_from_any_device_and_takes_its_gradient_back() -> None:
    source = matrix("cpu", requires_grad=True)
    target = tl.zeros(2, 3, device="cuda")
    target.copy_(source)
    (target * 2).sum().backward()
    assert source.grad.device == tl.device("cpu")
    assert source.grad.tolist() == [[2] * 3] * 2
    back = tl.zeros(2, 3)
    back.copy_(target.detach())
    assert back.tolist() == source.tolist()


def test_a_write_with_a_number_of_the_host_gives_its_gradient_back_to_the_host() -> None:
    scale = tl.tensor(3.0, requires_grad=True)
    x = matrix()
    x.mul_(scale)
    x[0, tl.tensor([1])] = scale
    x.sum().backward()
    assert scale.grad.device == tl.device("cpu")
    assert scale.grad.item() == 20


def test_a_write_into_overlapping_memory_is_refused() -> None:
    x = tl.arange(6, device="cuda")
    with pytest.raises(RuntimeError, match="single memory location"):
        x[1:].copy_(x[:-1])
    with pytest.raises(RuntimeError, match="single memory location"):
        tl.ones(1, device="cuda").expand(3).add_(1)
    x[3:].copy_(x[:3])
    assert x.tolist() == [0, 1, 2, 0, 1, 2]


def test_a_leaf_keeps_no_gradient_that_somebody_else_holds() -> None:
    x = matrix(requires_grad=True)
    given = tl.ones(6, device="cuda")
    for _ in range(2):
        x.view(6).backward(given)
    assert given.tolist() == [1] * 6
    assert x.grad.tolist() == [[2] * 3] * 2
    kept: list[Any] = []
    y = matrix(requires_grad=True)
    z = y.view(6) * 1
    z.register_hook(kept.append)
    z.sum().backward()
    y.grad.zero_()
    assert kept[0].tolist() == [1] * 6


def test_a_pass_can_wait_and_step_back() -> None:
    from tensorlab.engine.run import BackwardRun

    x = matrix(requires_grad=True)
    run = BackwardRun([(x.sigmoid() * x).sum()], journal=True)
    run.run()
    first = x.grad.tolist()
    while run.back() is not None:
        pass
    assert x.grad is None
    run.run()
    assert x.grad.tolist() == first
    run.close()
