"""Chains of elementwise steps run as one kernel on a GPU, with the values of the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.backend.chains import CHAINS

F = tl.nn.functional
CALLS = {
    "sigmoid": tl.sigmoid, "silu": F.silu, "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "exp_less": lambda x: F.softmax(x, -1), "affine": lambda x: F.layer_norm(x, (4,), x[0].detach(), x[1].detach()),
}  # fmt: skip


def kernels(gpu: Any) -> list[str]:
    return [name.removeprefix("tensorlab_") for what, name, *_ in gpu.log if what == "kernel"]


@pytest.mark.parametrize("dtype", [tl.float32, tl.float64, tl.float16, tl.bfloat16], ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_a_chain_is_one_kernel_and_gives_what_the_steps_give(name: str, dtype: Any, gpu: Any) -> None:
    if name == "sigmoid" and dtype.itemsize == 2:
        pytest.skip("computed in its own type, step by step")
    x = tl.linspace(-4, 4, 12).reshape(3, 4).to(dtype)
    expected = CALLS[name](x)
    there = x.cuda()
    gpu.log.clear()
    found = CALLS[name](there)
    assert kernels(gpu) == [name]
    assert found.dtype is dtype
    tolerance = {tl.float64: 1e-12, tl.float32: 1e-6}.get(dtype, 1e-2)
    np.testing.assert_allclose(found.cpu().double().numpy(), expected.double().numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_the_gradient_of_gelu_is_one_kernel(approximate: str, gpu: Any) -> None:
    x = tl.linspace(-3, 3, 10, dtype=tl.float64)
    host, there = x.clone().requires_grad_(), x.cuda().requires_grad_()
    for t in (host, there):
        gpu.log.clear()
        F.gelu(t, approximate=approximate).backward(t.detach())
    assert kernels(gpu)[-1] == ("gelu_backward" if approximate == "none" else "gelu_tanh_backward")
    np.testing.assert_allclose(there.grad.cpu().numpy(), host.grad.numpy(), rtol=1e-12)


def test_gradients_of_softmax_and_layer_norm_use_their_kernels(gpu: Any) -> None:
    x = tl.rand(5, 4, device="cuda", requires_grad=True)
    F.layer_norm(
        F.softmax(x, -1), (4,), tl.ones(4, device="cuda"), tl.zeros(4, device="cuda")
    ).square().sum().backward()
    assert {"softmax_backward", "centred_backward"} <= set(kernels(gpu))


@pytest.mark.parametrize("optimizer", [tl.optim.Adam, tl.optim.AdamW])
def test_a_step_of_adam_is_one_kernel_for_all_small_parameters(optimizer: Any, gpu: Any) -> None:
    def trained(device: str) -> list[Any]:
        params = [tl.arange(float(n + 1)).to(device).requires_grad_() for n in range(4)]
        steps = optimizer(params, lr=0.1)
        for _ in range(3):
            steps.zero_grad()
            sum((p * p).sum() for p in params).backward()
            gpu.log.clear()
            steps.step()
        return params

    expected, found = trained("cpu"), trained("cuda")
    assert kernels(gpu) == ["adam"]
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours.detach().cpu().numpy(), theirs.detach().numpy(), rtol=1e-5)


def test_integers_and_mixed_types_go_step_by_step(gpu: Any) -> None:
    from tensorlab import backend

    a = tl.ones(2, device="cuda")._a
    assert backend.fused(backend.namespace(a), "silu", a) is not None
    assert backend.fused(backend.namespace(a), "exp_less", a, a.astype(np.float64)) is None
    assert backend.fused(backend.namespace(a), "silu", a.astype(np.int64)) is None
    assert backend.fused(np, "silu", np.ones(2)) is None


def test_every_chain_reads_and_writes_what_it_names() -> None:
    for chain in CHAINS.values():
        text = " ".join(chain.lines)
        assert all(f"{name} = " in text for name in chain.outputs), chain.name
        assert all(name in text for name in chain.inputs), chain.name
