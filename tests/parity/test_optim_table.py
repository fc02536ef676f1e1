"""Every optimizer walks PyTorch's path for 100 steps, with every set of options of PyTorch's own table of optimizers."""

from __future__ import annotations

import re
import warnings
from functools import cache

import numpy as np
import pytest

import tensorlab as tl
from tests.parity.oracle import differences, table, torch

#: What has no counterpart here, with its reason.
LEFT_OUT = {"SparseAdam": "there are no sparse gradients here"}
#: Relative error that 100 steps may add up to; matrices of Muon go through bfloat16.
RTOL = {"Muon": 0.03, "LBFGS": 1e-6}


@cache
def entries() -> tuple:
    table()  # which prepares the import of PyTorch's private tables
    from torch.testing._internal.common_optimizers import optim_db

    return tuple(optim_db)


def cases() -> list:
    return [
        pytest.param(entry.optim_cls.__name__, case.kwargs, id=f"{entry.optim_cls.__name__}-{number}")
        for entry in entries()
        for number, case in enumerate(entry.optim_inputs_func(device="cpu"))
    ]


def options(library: object, given: dict) -> dict:
    return {
        name: library.tensor(value.numpy()) if isinstance(value, torch.Tensor) else value
        for name, value in given.items()
    }


def shapes(name: str) -> list[tuple[int, ...]]:
    return [(3, 4), (6, 2)] if name == "Muon" else [(3, 4), (4,), (), (90, 100), (2, 3, 2)]


def walk(library: object, name: str, given: dict, dtype: str, steps: int = 100) -> tuple[list, object]:
    """Gradients of a curved loss with noise, so that a path that strays goes on straying."""
    rng = np.random.default_rng(0)
    kind = np.float64 if dtype == "float64" else np.float32
    params = [library.tensor(rng.standard_normal(s).astype(kind), requires_grad=True) for s in shapes(name)]
    if dtype in ("float16", "bfloat16"):
        params = [p.detach().to(getattr(library, dtype)).requires_grad_() for p in params]
    optimizer = getattr(library.optim, name)(params, **options(library, given))
    for _ in range(steps):
        noise = [rng.standard_normal(s) for s in shapes(name)]
        up = -1 if given.get("maximize") else 1

        def closure(noise: list = noise, up: int = up) -> float:
            loss = 0.0
            for p, n in zip(params, noise, strict=True):
                values = p.detach().double().numpy()
                square = values * values
                slope = up * ((0.4 * square + 0.6) * values + n) / max(values.size, 1)
                p.grad = library.tensor(np.asarray(slope)).to(p.dtype)
                loss += up * float(((0.1 * square + 0.3) * square + n * values).mean())
            return loss

        if name == "LBFGS":
            optimizer.step(closure)
        else:
            closure()
            optimizer.step()
    return params, optimizer


def close(ours: tl.Tensor, theirs: torch.Tensor, rtol: float) -> None:
    assert ours.dtype.name == str(theirs.dtype).removeprefix("torch.")
    a, b = ours.detach().double().numpy(), theirs.detach().double().numpy()
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


@pytest.mark.parametrize(("name", "given"), cases())
def test_a_path_of_100_steps_is_that_of_pytorch(name: str, given: dict) -> None:
    if name in LEFT_OUT:
        pytest.skip(LEFT_OUT[name])
    rtol = RTOL.get(name, 1e-9)
    steps = {"LBFGS": 2, "Muon": 20}.get(name, 100)
    (ours, mine), (theirs, optimizer) = (walk(library, name, given, "float64", steps) for library in (tl, torch))
    for a, b in zip(ours, theirs, strict=True):
        close(a, b, rtol)
    kept, wanted = mine.state_dict(), optimizer.state_dict()
    assert {n: set(s) for n, s in kept["state"].items()} == {n: set(s) for n, s in wanted["state"].items()}
    for number, state in wanted["state"].items():
        for key, value in state.items():
            if isinstance(value, torch.Tensor) and isinstance(kept["state"][number][key], tl.Tensor):
                close(kept["state"][number][key], value, max(rtol, 1e-6 if value.dtype == torch.float32 else rtol))
    for mine_group, group in zip(kept["param_groups"], wanted["param_groups"], strict=True):
        assert list(mine_group) == list(group) or set(mine_group) == set(group)
    assert re.sub(r"lr: .*", "", repr(mine)) == re.sub(r"lr: .*", "", repr(optimizer))


@pytest.mark.parametrize(("name", "given"), cases())
def test_a_path_in_single_precision_stays_near_that_of_pytorch(name: str, given: dict) -> None:
    if name in LEFT_OUT:
        pytest.skip(LEFT_OUT[name])
    steps = {"LBFGS": 1, "Muon": 10}.get(name, 30)  # what L-BFGS rounds it goes on to amplify
    (ours, _), (theirs, _) = (walk(library, name, given, "float32", steps) for library in (tl, torch))
    for a, b in zip(ours, theirs, strict=True):
        close(a, b, {"LBFGS": 5e-3, "Muon": 0.03}.get(name, 2e-4))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad", "NAdam"])
def test_a_path_in_half_precision_stays_within_rounding_of_pytorch(name: str, dtype: str) -> None:
    given = {"lr": 0.01, "eps": 1e-3} if name != "SGD" else {"lr": 0.05, "momentum": 0.9}
    (ours, _), (theirs, _) = (walk(library, name, given, dtype, 10) for library in (tl, torch))
    for a, b in zip(ours, theirs, strict=True):
        close(a, b, 0.06)


def real(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


COMPLEX = [
    "SGD",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "RAdam",
    "Adagrad",
    "Adadelta",
    "RMSprop",
    "Rprop",
    "ASGD",
    "LBFGS",
]


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_parameters_walk_the_path_of_pytorch(name: str) -> None:
    def run(library: object) -> list:
        params = [library.tensor(real((3,), n) + 1j * real((3,), n + 5), requires_grad=True) for n in range(2)]
        optimizer = getattr(library.optim, name)(params, lr=0.05)

        def closure() -> float:
            loss = 0.0
            for at, p in enumerate(params):
                z = p.detach().numpy().copy()
                p.grad = library.tensor(2 * (2 + at) * z + 1)
                loss += float((np.abs(z) ** 2 * (2 + at) + z.real).sum())
            return loss

        for _ in range(20):
            optimizer.step(closure)
        return [p.detach() for p in params]

    for a, b in zip(run(tl), run(torch), strict=True):
        assert differences(a, b) == []


@pytest.mark.parametrize(
    "entry", [e for e in entries() if "differentiable" in e.supported_impls], ids=lambda e: e.optim_cls.__name__
)
def test_a_gradient_goes_through_a_recorded_step_as_in_pytorch(entry: object) -> None:
    name = entry.optim_cls.__name__

    def run(library: object, given: dict) -> list:
        leaves = [library.tensor(real((4,), n), requires_grad=True) for n in range(2)]
        p = leaves[0].clone()
        optimizer = getattr(library.optim, name)([p], differentiable=True, **given)
        p.grad = leaves[1] * leaves[1]
        optimizer.step()
        return [*library.autograd.grad((p * p * p).sum(), leaves), p.detach()]

    for case in entry.optim_inputs_func(device="cpu"):
        if any(isinstance(value, torch.Tensor) for value in case.kwargs.values()) or (
            name == "SGD" and case.kwargs.get("momentum")
        ):
            continue  # where PyTorch cuts the first gradient off, as it becomes the momentum
        for a, b in zip(run(tl, case.kwargs), run(torch, case.kwargs), strict=True):
            close(a, b, 1e-5)  # PyTorch counts steps in single precision here


def test_a_learning_rate_that_wants_a_gradient_gets_it_over_several_steps() -> None:
    lr = tl.tensor(0.1, dtype=tl.float64, requires_grad=True)

    def end(rate: object) -> tl.Tensor:
        p = tl.ones(3, dtype=tl.float64).clone()
        optimizer = tl.optim.Adam([p], lr=rate, weight_decay=0.1, differentiable=True)
        for n in range(4):
            p.grad = tl.tensor(real((3,), n))
            optimizer.step()
        return (p * p).sum()

    (slope,) = tl.autograd.grad(end(lr), lr)
    step = 1e-6
    numeric = (end(lr.detach() + step) - end(lr.detach() - step)) / (2 * step)
    assert slope.item() == pytest.approx(numeric.item(), rel=1e-6)


def message(call: object) -> tuple[type, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(Exception) as caught:
            call()
    return caught.type, str(caught.value)


@pytest.mark.parametrize("entry", entries(), ids=lambda e: e.optim_cls.__name__)
def test_wrong_options_are_refused_in_the_words_of_pytorch(entry: object) -> None:
    known: dict[int, tl.Tensor] = {}

    def translated(value: object) -> object:
        if isinstance(value, torch.Tensor):
            made = tl.tensor(value.detach().numpy(), requires_grad=value.requires_grad)
            return known.setdefault(id(value), made)
        if isinstance(value, dict):
            return {key: translated(item) for key, item in value.items()}
        return type(value)([translated(item) for item in value]) if isinstance(value, (list, tuple)) else value

    for error in entry.optim_error_inputs_func(device="cpu", dtype=torch.float32):
        case = error.optimizer_error_input
        if "dense params" in case.desc:
            continue  # about sparse tensors

        def make(case: object = case) -> object:
            optimizer = getattr(tl.optim, entry.optim_cls.__name__)(translated(case.params), **translated(case.kwargs))
            for p in optimizer.param_groups[0]["params"]:
                p.grad = tl.ones_like(p)
            optimizer.step()

        kind, said = message(make)
        assert issubclass(kind, error.error_type), (case.desc, said)
        assert re.search(error.error_regex, said), (case.desc, said)


def plain(value: object) -> object:
    """A saved value of PyTorch's as ours."""
    if isinstance(value, torch.Tensor):
        return tl.tensor(value.detach().numpy())
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return type(value)([plain(item) for item in value]) if isinstance(value, (list, tuple)) else value


def theirs_again(value: object) -> object:
    """A saved value of ours as PyTorch's."""
    if isinstance(value, tl.Tensor):
        return torch.tensor(value.detach().numpy())
    if isinstance(value, dict):
        return {key: theirs_again(item) for key, item in value.items()}
    return type(value)([theirs_again(item) for item in value]) if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize("entry", entries(), ids=lambda e: e.optim_cls.__name__)
def test_saved_states_are_gone_on_from_across_the_libraries(entry: object) -> None:
    name = entry.optim_cls.__name__
    if name in LEFT_OUT:
        pytest.skip(LEFT_OUT[name])
    given = entry.optim_inputs_func(device="cpu")[-1].kwargs
    theirs, other = walk(torch, name, given, "float64", 3)
    ours, mine = walk(tl, name, given, "float64", 3)
    fresh = [tl.tensor(p.detach().numpy(), requires_grad=True) for p in theirs]
    back = [torch.tensor(p.detach().numpy(), requires_grad=True) for p in ours]
    here = getattr(tl.optim, name)(fresh, **options(tl, given))
    there = getattr(torch.optim, name)(back, **given)
    here.load_state_dict(plain(other.state_dict()))
    there.load_state_dict(theirs_again(mine.state_dict()))
    go_on(torch, other), go_on(tl, here), go_on(tl, mine), go_on(torch, there)
    for a, b, c, d in zip(theirs, fresh, ours, back, strict=True):
        close(b, a, RTOL.get(name, 1e-9))
        close(c, d, RTOL.get(name, 1e-9))


def go_on(library: object, optimizer: object) -> None:
    def closure() -> float:
        loss = 0.0
        for p in optimizer.param_groups[0]["params"]:
            values = p.detach().numpy()
            p.grad = library.tensor(np.asarray(0.6 * values + 0.1))
            loss += float((0.3 * values * values + 0.1 * values).sum())
        return loss

    for _ in range(3):
        optimizer.step(closure)
