"""Every optimizer, schedules, first values and computed weights on a GPU: the numbers of the CPU, and everything in its place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tensorlab import nn, optim

pytestmark = pytest.mark.usefixtures("gpu")

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "SGD": [{"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}, {"lr": 0.1, "maximize": True}],
    "Adam": [{"amsgrad": True}, {"weight_decay": 0.1, "fused": True}],
    "AdamW": [{"foreach": True, "capturable": True}],
    "Adamax": [{"weight_decay": 0.1}],
    "NAdam": [{"decoupled_weight_decay": True, "weight_decay": 0.1}],
    "RAdam": [{"weight_decay": 0.1}],
    "Adagrad": [{"initial_accumulator_value": 0.1, "lr_decay": 0.1}],
    "Adadelta": [{}],
    "RMSprop": [{"momentum": 0.9, "centered": True}],
    "Rprop": [{}],
    "ASGD": [{"t0": 2, "lambd": 0.1}],
    "Adafactor": [{"weight_decay": 0.1}],
    "LBFGS": [{"max_iter": 3}, {"max_iter": 3, "line_search_fn": "strong_wolfe"}],
}


def walked(device: str, name: str, options: dict[str, Any], dtype: tl.dtype = tl.float32) -> tuple[list[Any], Any]:
    rng = np.random.default_rng(0)
    params = [
        tl.tensor(rng.normal(size=shape)).to(dtype).to(device).requires_grad_() for shape in ((3, 4), (5,), (100, 90))
    ]
    optimizer = getattr(optim, name)(params, **options)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = sum(((p * p) * (0.1 * p * p + 0.3) + 0.5 * p).mean() for p in params)
        loss.backward()
        return loss

    for _ in range(4):
        optimizer.step(closure)
    return params, optimizer


@pytest.mark.parametrize("name", OPTIONS)
def test_a_path_is_that_of_the_cpu(name: str) -> None:
    for options in OPTIONS[name]:
        (ours, mine), (theirs, other) = walked("cuda", name, options), walked("cpu", name, options)
        for p, q in zip(ours, theirs, strict=True):
            assert p.is_cuda
            np.testing.assert_allclose(p.detach().cpu().numpy(), q.detach().numpy(), rtol=1e-5, atol=1e-6)
        for p, q in zip(ours, theirs, strict=True):
            for key, value in mine.state[p].items():
                if isinstance(value, tl.Tensor) and value.dim():
                    assert value.is_cuda, key
                    np.testing.assert_allclose(value.cpu().numpy(), other.state[q][key].numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop"])
def test_half_precision_steps_as_on_the_cpu(name: str) -> None:
    options = {"lr": 0.05, "momentum": 0.9} if name == "SGD" else {"lr": 0.05, "eps": 1e-3}
    ours, theirs = (walked(device, name, options, tl.float16)[0] for device in ("cuda", "cpu"))
    for p, q in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(p.detach().cpu().float().numpy(), q.detach().float().numpy(), rtol=5e-3, atol=5e-3)


def test_a_recorded_step_on_a_gpu_gives_the_gradient_of_the_cpu() -> None:
    def slope(device: str) -> Any:
        lr = tl.tensor(0.1, dtype=tl.float64, device=device, requires_grad=True)
        p = tl.linspace(-1, 1, 5, dtype=tl.float64).to(device).clone()
        optimizer = optim.Adam([p], lr=lr, differentiable=True)
        for turn in range(3):
            p.grad = tl.linspace(0.5, 2, 5, dtype=tl.float64).to(device) + turn
            optimizer.step()
        return tl.autograd.grad((p * p).sum(), lr)[0]

    assert slope("cuda").item() == pytest.approx(slope("cpu").item(), rel=1e-9)


def test_first_values_are_drawn_on_the_gpu_that_holds_the_parameter() -> None:
    for name in (
        "uniform_",
        "normal_",
        "trunc_normal_",
        "xavier_uniform_",
        "kaiming_normal_",
        "orthogonal_",
        "eye_",
        "ones_",
    ):
        tl.manual_seed(1)
        there = getattr(nn.init, name)(tl.empty(4, 3, device="cuda"))
        tl.manual_seed(1)
        here = getattr(nn.init, name)(tl.empty(4, 3))
        assert there.is_cuda
        np.testing.assert_allclose(there.cpu().numpy(), here.numpy(), rtol=1e-5, atol=1e-6)
    assert nn.init.sparse_(tl.empty(4, 3, device="cuda"), 0.5).eq(0).sum().item() >= 6
    assert nn.init.dirac_(tl.empty(4, 2, 3, device="cuda")).sum().item() == 2


def test_computed_normed_and_pruned_weights_stay_on_their_gpu() -> None:
    def told(device: str) -> list[Any]:
        tl.manual_seed(0)
        layer = nn.Linear(3, 4).to(device)
        seen = []
        for change in (
            nn.utils.parametrizations.weight_norm,
            lambda m: nn.utils.parametrize.remove_parametrizations(m, "weight"),
            nn.utils.parametrizations.spectral_norm,
            lambda m: nn.utils.parametrize.remove_parametrizations(m, "weight"),
            lambda m: nn.utils.prune.l1_unstructured(m, "weight", 0.3),
            lambda m: nn.utils.prune.ln_structured(m, "weight", 1, 2, 1),
            lambda m: nn.utils.prune.remove(m, "weight"),
        ):
            change(layer)
            assert layer.weight.device.type == device
            seen.append(layer(tl.ones(2, 3, device=device)).detach().cpu().numpy())
        return seen

    for a, b in zip(told("cuda"), told("cpu"), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_averaged_models_and_lazy_layers_on_a_gpu() -> None:
    net = nn.Sequential(nn.LazyLinear(3, device="cuda"), nn.LazyBatchNorm1d(device="cuda"))
    net(tl.ones(4, 2, device="cuda"))
    assert all(x.is_cuda for x in net.state_dict().values())
    mean = optim.swa_utils.AveragedModel(net, device="cuda", use_buffers=True)
    for _ in range(2):
        with tl.no_grad():
            net[0].weight.add_(1)
        mean.update_parameters(net)
    np.testing.assert_allclose(
        mean.module[0].weight.detach().cpu().numpy(), net[0].weight.detach().cpu().numpy() - 0.5, rtol=1e-5
    )
    optim.swa_utils.update_bn([tl.ones(4, 2)], mean, device="cuda")
    host = nn.LazyLinear(2).cuda()
    assert host(tl.ones(1, 5, device="cuda")).is_cuda
    there, here = nn.Linear(2, 2), nn.Linear(2, 2).cuda()
    with pytest.raises(TypeError, match="different devices"):
        nn.utils.parameters_to_vector([there.weight, here.weight])
