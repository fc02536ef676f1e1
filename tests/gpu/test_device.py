"""Tensors, memory and training on a real GPU."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tensorlab import nn


def used() -> int:
    """Bytes that arrays hold in the memory pool of the current GPU."""
    import cupy

    gc.collect()
    return int(cupy.get_default_memory_pool().used_bytes())


def test_tensors_are_made_on_the_gpu_and_come_back_as_they_were() -> None:
    for made in (
        tl.zeros(2, 3, device="cuda"),
        tl.ones(3, device="cuda"),
        tl.arange(5, device="cuda"),
        tl.full((2,), 7, device="cuda"),
    ):
        assert made.is_cuda
    for dtype in (tl.bool, tl.uint8, tl.int64, tl.float16, tl.float32, tl.float64, tl.complex64):
        x = tl.arange(24).reshape(2, 3, 4).permute(2, 0, 1).to(dtype)
        there = x.cuda()
        assert there.stride() == there.cpu().stride() == x.stride()
        assert there.cpu().tolist() == x.tolist()
    assert "device='cuda:0'" in repr(tl.ones(2, device="cuda:0"))


def test_views_share_memory_and_writes_are_seen_by_all() -> None:
    x = tl.arange(12, dtype=tl.float32, device="cuda").reshape(3, 4)
    column, flat = x.T[1], x.view(12)
    column.mul_(10)
    x[2, tl.tensor([0, 3])] = -1
    x[x == 10] = 5
    assert flat.tolist() == [0, 5, 2, 3, 4, 50, 6, 7, -1, 90, 5, -1]
    assert column.data_ptr() == x.data_ptr() + 4
    assert x.as_strided((2, 2), (1, 4), 1).tolist() == [[5, 50], [2, 6]]
    assert x._version == column._version == 3


def test_repeated_indexes_all_count() -> None:
    at = tl.tensor([0, 0, 2, 0], device="cuda")
    for dtype in (tl.int64, tl.int32, tl.int8, tl.float16, tl.float32, tl.float64, tl.complex64):
        ones = tl.ones(4, dtype=dtype, device="cuda")
        assert tl.zeros(3, dtype=dtype, device="cuda").scatter_add(0, at, ones).tolist() == [3, 0, 1]
    with pytest.raises(IndexError, match="out of bounds"):
        tl.zeros(3, device="cuda")[tl.tensor([3])]


def test_a_result_keeps_the_order_of_dimensions_of_its_operands() -> None:
    x = tl.rand(2, 3, 4, 5, device="cuda").permute(0, 3, 1, 2)
    for y in (x.exp(), x * 2, x + x, x.sigmoid(), tl.where(x > 0, x, 0.0)):
        assert y.stride() == x.stride()


def test_mixed_devices_are_an_error_and_0_dim_tensors_join() -> None:
    x = tl.ones(3, device="cuda")
    with pytest.raises(RuntimeError, match="'self' is on cuda:0, 'other' is on cpu"):
        x + tl.ones(3)
    scale = tl.tensor(2.0, requires_grad=True)
    (x * scale).sum().backward()
    assert scale.grad.item() == 3
    assert scale.grad.device == tl.device("cpu")


def test_a_leaf_keeps_no_gradient_that_somebody_else_holds() -> None:
    x = tl.ones(2, 3, device="cuda", requires_grad=True)
    given = tl.ones(6, device="cuda")
    for _ in range(2):
        x.view(6).backward(given)
    assert given.tolist() == [1] * 6
    assert x.grad.tolist() == [[2] * 3] * 2


def test_memory_is_given_back_when_tensors_and_graphs_are_gone() -> None:
    before = used()
    x = tl.ones(1 << 20, device="cuda", requires_grad=True)
    assert used() - before == 4 << 20
    view = x[10:]
    y = (x * 2).exp().sum()
    assert used() - before > 4 << 20
    y.backward()
    assert x.grad.data_ptr() != x.data_ptr()
    del x, y, view
    assert used() - before < 1 << 16  # numbers beside tensors are kept


def test_printing_a_large_tensor_moves_its_corners_only() -> None:
    x = tl.zeros(1 << 14, 1 << 14, device="cuda")
    before = used()
    assert repr(x).count("0.") == 36
    assert used() - before < 1 << 20


@pytest.mark.parametrize(
    "optimizer",
    [
        tl.optim.SGD,
        tl.optim.Adam,
        tl.optim.NAdam,
        tl.optim.RAdam,
        tl.optim.RMSprop,
        tl.optim.Adamax,
        tl.optim.Adafactor,
    ],
)
def test_a_perceptron_learns_what_it_learns_on_the_cpu(optimizer: Any) -> None:
    def losses(device: str) -> list[float]:
        tl.manual_seed(0)
        net = nn.Sequential(nn.Linear(4, 100), nn.ReLU(), nn.Linear(100, 100), nn.Tanh(), nn.Linear(100, 3)).to(device)
        rng = np.random.default_rng(0)
        x = tl.tensor(rng.normal(size=(64, 4)), dtype=tl.float32, device=device)
        target = tl.tensor(rng.integers(0, 3, 64), device=device)
        steps = optimizer(net.parameters(), lr=0.01)
        found = []
        for _ in range(20):
            steps.zero_grad()
            loss = nn.functional.cross_entropy(net(x), target)
            loss.backward()
            steps.step()
            found.append(loss.item())
        assert all(str(p.grad.device) == str(p.device) for p in net.parameters())
        return found

    ours, theirs = losses("cuda"), losses("cpu")
    assert ours[-1] < ours[0]
    np.testing.assert_allclose(ours, theirs, rtol=1e-2)


def test_two_gpus_each_do_their_own_work() -> None:
    if tl.cuda.device_count() < 2:
        pytest.skip("needs a second GPU")
    first, second = nn.Linear(4, 8).to("cuda:0"), nn.Linear(8, 1).to("cuda:1")
    second(first(tl.ones(2, 4, device="cuda:0")).to("cuda:1")).sum().backward()
    assert str(first.weight.grad.device) == "cuda:0"
    assert str(second.weight.grad.device) == "cuda:1"
