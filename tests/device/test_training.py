"""Models trained on a GPU: the same numbers as on the CPU, with everything where it belongs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tensorlab import nn

pytestmark = pytest.mark.usefixtures("gpu")


def model() -> Any:
    tl.manual_seed(0)
    return nn.Sequential(
        nn.Linear(4, 100), nn.ReLU(), nn.Linear(100, 100), nn.Tanh(), nn.Dropout(0.2), nn.Linear(100, 3)
    )


def batch() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return tl.tensor(rng.normal(size=(16, 4)), dtype=tl.float32), tl.tensor(rng.integers(0, 3, 16))


def trained(device: str, make: Callable[[Any], Any], steps: int = 3) -> tuple[list[float], Any, Any]:
    net = model().to(device)
    optimizer = make(net.parameters())
    x, target = (t.to(device) for t in batch())
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), target)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimizer.step()
        losses.append(loss.item())
    return losses, net, optimizer


OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda p: tl.optim.SGD(p, lr=0.1),
    "SGD with momentum": lambda p: tl.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True),
    "Adam": lambda p: tl.optim.Adam(p, lr=0.01),
    "AdamW with amsgrad": lambda p: tl.optim.AdamW(p, lr=0.01, amsgrad=True),
}


@pytest.mark.parametrize("device", ["cuda:0", "cuda:1"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_perceptron_learns_what_it_learns_on_the_cpu(name: str, device: str) -> None:
    ours, net, _ = trained(device, OPTIMIZERS[name])
    theirs, host, _ = trained("cpu", OPTIMIZERS[name])
    assert ours[-1] < ours[0]
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    for p, q in zip(net.parameters(), host.parameters(), strict=True):
        assert str(p.device) == str(p.grad.device) == device
        np.testing.assert_allclose(p.detach().cpu().numpy(), q.detach().numpy(), rtol=1e-4, atol=1e-6)


def test_a_training_step_copies_nothing_large_to_the_host(gpu: Any) -> None:
    net = model().eval().to("cuda")
    optimizer = tl.optim.Adam(net.parameters(), lr=0.01)
    x, target = (t.to("cuda") for t in batch())
    for _ in range(2):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), target).backward()
        optimizer.step()
        gpu.copies, copies = [], gpu.copies
    assert not [size for way, size in copies if size > 1]


def test_an_optimizer_goes_with_its_model_to_another_device() -> None:
    _, net, optimizer = trained("cpu", OPTIMIZERS["Adam"])
    x, target = (t.to("cuda") for t in batch())
    net.to("cuda")
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), target).backward()
    optimizer.step()
    for p in net.parameters():
        assert p.is_cuda
        assert optimizer.state[p]["exp_avg"].is_cuda


def test_states_go_from_one_device_to_the_other() -> None:
    _, net, optimizer = trained("cuda", OPTIMIZERS["Adam"])
    host = model()
    host.load_state_dict({name: value.cpu() for name, value in net.state_dict().items()})
    theirs = OPTIMIZERS["Adam"](host.parameters())
    theirs.load_state_dict(optimizer.state_dict())
    x, target = batch()
    nn.functional.cross_entropy(host(x), target).backward()
    theirs.step()
    for p in host.parameters():
        assert not theirs.state[p]["exp_avg"].is_cuda
    again = model().to("cuda:1")
    again.load_state_dict(host.state_dict())
    assert {str(p.device) for p in again.parameters()} == {"cuda:1"}


def test_losses_with_ignored_and_soft_targets() -> None:
    scores = tl.randn(4, 3)
    scores[1] = float("-inf")
    hard, soft = tl.tensor([0, -100, 2, 1]), tl.tensor([[1.0, 0, 0]] * 4)
    weight = tl.tensor([1.0, 2.0, 3.0])
    cross = nn.functional.cross_entropy
    for call in (
        lambda to: cross(to(scores), to(hard)),
        lambda to: cross(to(scores), to(hard), to(weight), label_smoothing=0.1, reduction="sum"),
        lambda to: cross(to(scores[2:]), to(soft[2:])),
        lambda to: nn.functional.mse_loss(to(weight), to(soft[0])),
        lambda to: nn.functional.l1_loss(to(weight), to(soft[0])),
    ):
        np.testing.assert_allclose(call(lambda t: t.cuda()).cpu().item(), call(lambda t: t).item(), rtol=1e-5)


def test_a_model_may_span_two_gpus() -> None:
    first, second = nn.Linear(4, 8).to("cuda:0"), nn.Linear(8, 3).to("cuda:1")
    x, target = batch()
    loss = nn.functional.cross_entropy(second(first(x.to("cuda:0")).relu().to("cuda:1")), target.to("cuda:1"))
    loss.backward()
    assert str(first.weight.grad.device) == "cuda:0"
    assert str(second.weight.grad.device) == "cuda:1"
    assert first.weight.grad.abs().sum().item() > 0


def test_random_numbers_depend_on_the_seed_and_not_on_the_device() -> None:
    def draw(device: str) -> list[Any]:
        tl.manual_seed(3)
        x = tl.empty(5, device=device)
        made = [tl.rand(5, device=device), x.normal_().clone(), x.uniform_(2, 3).clone(), x.bernoulli_(0.5).clone()]
        made += [tl.bernoulli(tl.full((5,), 0.5, device=device)), tl.normal(x, 1.0)]
        assert {str(t.device) for t in made} == {device}
        return [t.tolist() for t in made]

    assert draw("cpu") == draw("cuda:0") == draw("cuda:1")


def test_questions_about_tensors_on_a_gpu() -> None:
    x = tl.tensor([[0.0, 1.0], [2.0, 0.0]], device="cuda")
    assert tl.equal(x, x.clone())
    assert not tl.equal(x, x + 1)
    assert tl.allclose(x, x + 1e-9)
    assert x.nonzero().tolist() == [[0, 1], [1, 0]]
    assert [i.device.type for i in x.nonzero(as_tuple=True)] == ["cuda", "cuda"]
    assert x.masked_select(x > 0).tolist() == [1, 2]


def test_the_graph_of_a_model_on_a_gpu_can_be_looked_at(gpu: Any) -> None:
    from tensorlab.observe.session import StepSession

    net = model().eval().to("cuda")
    x, target = (t.to("cuda") for t in batch())
    loss = nn.functional.cross_entropy(net(x), target)
    gpu.copies.clear()
    session = StepSession(loss)
    session.next(3)
    detail = session.inspect(session.state().graph.nodes.id[0])
    assert detail is not None
    assert "cuda:0" in str(detail)
    assert max([0, *gpu.copied("out")]) <= 2000
    current = session.run.current
    session.set_gradient(current.seq, 0, [0] * len(current.meta[0][0]), 0.0)
    session.back()
    session.finish()
    assert all(p.grad.is_cuda for p in net.parameters())
