"""Optimizers walk the paths of PyTorch's, and their saved state goes both ways."""

from __future__ import annotations

import numpy as np
import pytest

import tensorlab as tl

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

PATHS = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1, "nesterov": True, "maximize": True}),
    ("SGD", {"lr": 0.1, "weight_decay": 0.1, "maximize": True}),
    ("Adam", {"lr": 0.1}),
    ("Adam", {"lr": 0.1, "betas": (0.5, 0.7), "eps": 1e-3}),
    ("Adam", {"lr": 0.1, "weight_decay": 0.2}),
    ("Adam", {"lr": 0.1, "amsgrad": True}),
    ("Adam", {"lr": 0.1, "amsgrad": True, "maximize": True, "weight_decay": 0.2}),
    ("AdamW", {"lr": 0.1}),
    ("AdamW", {"lr": 0.1, "weight_decay": 0.5, "amsgrad": True, "maximize": True}),
    ("Adam", {"lr": 0.1, "weight_decay": 0.5, "decoupled_weight_decay": True}),
]
SHAPES = [(3, 4), (4,), (), (0, 2), (90, 100), (2, 3, 2), (200, 200)]


def start(library: object, dtype: str = "float64") -> list:
    rng = np.random.default_rng(0)
    return [library.tensor(rng.standard_normal(s).astype(dtype), requires_grad=True) for s in SHAPES]


def gradients(step: int, dtype: str = "float64") -> list[np.ndarray]:
    rng = np.random.default_rng(100 + step)
    return [np.asarray(rng.standard_normal(s) * (1 + step)).astype(dtype) for s in SHAPES]


def walk(library: object, name: str, options: dict, steps: int = 12, dtype: str = "float64") -> tuple[list, object]:
    params = start(library, dtype)
    optimizer = getattr(library.optim, name)(params, **options)
    for step in range(steps):
        for at, (p, g) in enumerate(zip(params, gradients(step, dtype), strict=True)):
            p.grad = None if (step + at) % 4 == 3 else library.tensor(g)  # some parameters sit out some steps
        optimizer.step()
    return params, optimizer


def same(ours: tl.Tensor, theirs: torch.Tensor, rtol: float = 1e-10) -> None:
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=rtol, atol=rtol)


@pytest.mark.parametrize(("name", "options"), PATHS)
def test_a_path_is_that_of_pytorch(name: str, options: dict) -> None:
    (ours, mine), (theirs, optimizer) = walk(tl, name, options), walk(torch, name, options)
    for a, b in zip(ours, theirs, strict=True):
        same(a, b)
    kept, wanted = mine.state_dict()["state"], optimizer.state_dict()["state"]
    assert {n: set(s) for n, s in kept.items()} == {n: set(s) for n, s in wanted.items()}
    for number in wanted:
        for key, value in wanted[number].items():
            same(kept[number][key], value)


@pytest.mark.parametrize(("name", "options"), PATHS)
def test_a_path_in_single_precision_stays_within_rounding_of_pytorch(name: str, options: dict) -> None:
    (ours, _), (theirs, _) = walk(tl, name, options, dtype="float32"), walk(torch, name, options, dtype="float32")
    for a, b in zip(ours, theirs, strict=True):
        same(a, b, 2e-5)


def test_complex_parameters_walk_the_path_of_pytorch() -> None:
    def run(library: object) -> np.ndarray:
        p = library.tensor([1 + 2j, -0.5j, 3.0 + 0j], dtype=library.complex128, requires_grad=True)
        q = library.tensor([0.5 + 0.5j], dtype=library.complex128, requires_grad=True)
        optimizer = library.optim.Adam([p, q], lr=0.1, weight_decay=0.1)
        for step in range(5):
            p.grad = library.tensor([0.3j * (step + 1), 1 - 1j, -2 + 0j], dtype=library.complex128)
            q.grad = library.tensor([1 + 1j * step], dtype=library.complex128)
            optimizer.step()
        return np.concatenate([p.detach().numpy(), q.detach().numpy()])

    np.testing.assert_allclose(run(tl), run(torch), rtol=1e-10)


@pytest.mark.parametrize(("name", "options"), PATHS)
def test_the_options_of_a_group_and_the_text_are_those_of_pytorch(name: str, options: dict) -> None:
    ours = getattr(tl.optim, name)(start(tl), **options)
    theirs = getattr(torch.optim, name)(start(torch), **options)
    mine, wanted = ours.state_dict()["param_groups"], theirs.state_dict()["param_groups"]
    assert mine == wanted
    assert list(mine[0])[:3] == list(wanted[0])[:3]
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize(("name", "options"), PATHS)
def test_a_state_saved_by_pytorch_is_gone_on_from(name: str, options: dict) -> None:
    theirs, optimizer = walk(torch, name, options, steps=7)
    ours = [tl.tensor(p.detach().numpy(), requires_grad=True) for p in theirs]
    mine = getattr(tl.optim, name)(ours, **options)
    saved = optimizer.state_dict()
    state = {n: {k: tl.tensor(v.numpy()) for k, v in kept.items()} for n, kept in saved["state"].items()}
    mine.load_state_dict({"state": state, "param_groups": saved["param_groups"]})
    for step in range(7, 12):
        for p, q, g in zip(ours, theirs, gradients(step), strict=True):
            p.grad, q.grad = tl.tensor(g), torch.tensor(g)
        mine.step()
        optimizer.step()
    for a, b in zip(ours, theirs, strict=True):
        same(a, b)


ERRORS = {
    "no parameters": lambda lib: lib.optim.SGD([], lr=0.1),
    "a tensor": lambda lib: lib.optim.SGD(lib.ones(2), lr=0.1),
    "a computed tensor": lambda lib: lib.optim.SGD([lib.ones(2, requires_grad=True) * 2], lr=0.1),
    "a number": lambda lib: lib.optim.SGD([3.0], lr=0.1),
    "one in two groups": lambda lib: (p := lib.ones(2), lib.optim.SGD([{"params": [p]}, {"params": [p]}], lr=0.1)),
    "a set in a group": lambda lib: lib.optim.SGD([{"params": {lib.ones(2)}}], lr=0.1),
    "a negative rate": lambda lib: lib.optim.SGD([lib.ones(2)], lr=-0.1),
    "a negative momentum": lambda lib: lib.optim.SGD([lib.ones(2)], lr=0.1, momentum=-1),
    "nesterov without momentum": lambda lib: lib.optim.SGD([lib.ones(2)], lr=0.1, nesterov=True),
    "a beta of one": lambda lib: lib.optim.Adam([lib.ones(2)], betas=(0.9, 1.0)),
    "a negative eps": lambda lib: lib.optim.Adam([lib.ones(2)], eps=-1),
    "another number of groups": lambda lib: lib.optim.SGD([lib.ones(2)], lr=0.1).load_state_dict(
        {"state": {}, "param_groups": []}
    ),
}


def message(call: object) -> str:
    with pytest.raises(Exception) as caught:
        call()
    return f"{caught.type.__name__}: {caught.value}"


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_begins_as_that_of_pytorch(case: str) -> None:
    ours, theirs = message(lambda: ERRORS[case](tl)), message(lambda: ERRORS[case](torch))
    assert ours.split()[:5] == theirs.split()[:5]
    assert case in ("a tensor", "a number", "another number of groups") or ours.startswith(theirs)
