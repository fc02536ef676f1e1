"""The default device: what is made on it, and what is not concerned; and calls whose arguments sit on different devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorlab as tl

MADE = {
    "zeros": lambda: tl.zeros(2), "ones": lambda: tl.ones(2), "empty": lambda: tl.empty(2), "full": lambda: tl.full((2,), 1.0),
    "arange": lambda: tl.arange(3), "linspace": lambda: tl.linspace(0, 1, 3), "logspace": lambda: tl.logspace(0, 1, 3),
    "eye": lambda: tl.eye(2), "rand": lambda: tl.rand(2), "randn": lambda: tl.randn(2), "randint": lambda: tl.randint(3, (2,)),
    "randperm": lambda: tl.randperm(3), "normal": lambda: tl.normal(0.0, 1.0, (2,)), "tensor": lambda: tl.tensor([1.0]),
    "as_tensor of an array": lambda: tl.as_tensor(np.ones(2)), "asarray": lambda: tl.asarray([1.0]),
    "asarray of an array": lambda: tl.asarray(np.ones(2)), "scalar_tensor": lambda: tl.scalar_tensor(2.0),
    "tril_indices": lambda: tl.tril_indices(2, 2), "triu_indices": lambda: tl.triu_indices(2, 2),
    "hann_window": lambda: tl.hann_window(3), "signal.windows.hann": lambda: tl.signal.windows.hann(4),
    "fftfreq": lambda: tl.fft.fftfreq(4), "empty_strided": lambda: tl.empty_strided((2,), (1,)),
    "Linear": lambda: tl.nn.Linear(2, 2).weight, "BatchNorm1d": lambda: tl.nn.BatchNorm1d(2).running_mean,
    "Embedding": lambda: tl.nn.Embedding(3, 2).weight, "LSTM": lambda: tl.nn.LSTM(2, 3).weight_hh_l0,
}  # fmt: skip
NOT_CONCERNED = {
    "from_numpy": lambda: tl.from_numpy(np.ones(2)), "frombuffer": lambda: tl.frombuffer(bytearray(4), dtype=tl.float32),
    "from_dlpack": lambda: tl.from_dlpack(np.ones(2)), "Tensor": lambda: tl.Tensor(2), "FloatTensor": lambda: tl.FloatTensor([1, 2]),
    "zeros_like": lambda: tl.zeros_like(tl.ones(2, device="cpu")), "new_ones": lambda: tl.ones(2, device="cpu").new_ones(3),
    "told": lambda: tl.ones(2, device="cpu"), "a storage": lambda: tl.UntypedStorage(4),
}  # fmt: skip


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_what_is_not_told_where_is_made_on_the_default_device(make: Any, gpu: Any) -> None:
    assert make().device.type == "cpu"
    with tl.device("cuda:1"):
        assert str(make().device) == "cuda:1"
    assert make().device.type == "cpu"


@pytest.mark.parametrize("make", NOT_CONCERNED.values(), ids=NOT_CONCERNED)
def test_what_has_a_place_already_stays_there(make: Any, gpu: Any) -> None:
    with tl.device("cuda"):
        assert make().device.type == "cpu"


def test_the_default_gpu_is_the_current_one(gpu: Any) -> None:
    tl.set_default_device("cuda")
    try:
        assert tl.get_default_device() == tl.device("cuda", 0)
        with tl.cuda.device(1):
            assert tl.get_default_device() == tl.device("cuda", 1)
            assert str(tl.ones(2).device) == "cuda:1"
        assert tl.get_device_module() is tl.cuda
        net = tl.nn.Sequential(tl.nn.Linear(3, 4), tl.nn.Tanh(), tl.nn.Linear(4, 2))
        optimizer = tl.optim.Adam(net.parameters())
        tl.nn.functional.mse_loss(net(tl.rand(5, 3)), tl.zeros(5, 2)).backward()
        optimizer.step()
        assert {str(p.device) for p in net.parameters()} == {"cuda:0"}
    finally:
        tl.set_default_device(None)


#: Calls with one argument elsewhere, and what the error says sits where.
MIXED = {
    "add": (lambda a, b: a + b, "'self' is on cuda:0, 'other' is on cpu"),
    "in place": (lambda a, b: a.mul_(b), "'self' is on cuda:0, 'other' is on cpu"),
    "into the cpu": (lambda a, b: b.mul_(a), "'self' is on cpu, 'other' is on cuda:0"),
    "matmul": (lambda a, b: a @ b, "is on cuda:0, '.*' is on cpu"),
    "where": (lambda a, b: tl.where(a > 0, a, b), "is on cuda:0, .*is on cpu"),
    "cat": (lambda a, b: tl.cat([a, b]), r"'tensors\[0\]' is on cuda:0, 'tensors\[1\]' is on cpu"),
    "stack": (lambda a, b: tl.stack([a, b]), "is on cuda:0, .* is on cpu"),
    "linear": (lambda a, b: tl.nn.functional.linear(a, b), "is on cuda:0, .* is on cpu"),
    "conv": (lambda a, b: tl.nn.functional.conv1d(a[None], b[None]), "is on cuda:0, .* is on cpu"),
    "mse_loss": (lambda a, b: tl.nn.functional.mse_loss(a, b), "is on cuda:0, .* is on cpu"),
    "gather": (lambda a, b: a.gather(0, b.long()), "is on cuda:0, .* is on cpu"),
    "index_add": (lambda a, b: a.index_add(0, tl.arange(3, device="cuda"), b), "is on cuda:0, .* is on cpu"),
    "masked_fill": (lambda a, b: a.masked_fill(b > 0, 0.0), "is on cuda:0, .* is on cpu"),
    "lerp": (lambda a, b: a.lerp(b, 0.5), "is on cuda:0, .* is on cpu"),
    "addcmul": (lambda a, b: tl.addcmul(a, a, b), "is on cuda:0, .* is on cpu"),
    "einsum": (lambda a, b: tl.einsum("ij,jk->ik", a, b), "is on cuda:0, .* is on cpu"),
    "equal": (lambda a, b: tl.equal(a, b), "'input' is on cuda:0, 'other' is on cpu"),
    "allclose": (lambda a, b: tl.allclose(a, b), "is on cuda:0, .* is on cpu"),
    "two GPUs": (lambda a, b: a + b.to("cuda:1"), "'self' is on cuda:0, 'other' is on cuda:1"),
    "layer_norm": (lambda a, b: tl.nn.functional.layer_norm(a, (3,), b[0]), "is on cuda:0, .* is on cpu"),
    "solve": (lambda a, b: tl.linalg.solve(a, b), "is on cuda:0, .* is on cpu"),
    "embedding": (lambda a, b: tl.nn.functional.embedding(b.long(), a), "on cpu"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "words"), MIXED.values(), ids=MIXED)
def test_arguments_on_different_devices_are_an_error_that_says_which_sits_where(
    call: Any, words: str, gpu: Any
) -> None:
    a, b = tl.ones(3, 3, device="cuda"), tl.ones(3, 3)
    gpu.copies.clear()
    with pytest.raises(RuntimeError, match=words):
        call(a, b)
    assert not gpu.copied("out")
    assert a.tolist() == [[1] * 3] * 3
    assert b.tolist() == [[1] * 3] * 3
