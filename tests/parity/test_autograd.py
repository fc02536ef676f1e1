"""Backward passes, hooks, modes and custom functions in lock-step with PyTorch.

``TENSORLAB_PARITY_PROGRAMS=5000`` in the environment runs so many random programs instead of some hundreds.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tests.parity import oracle
from tests.parity.passes import FUNCTIONS, Passes

torch = oracle.torch
BLOCKS = 8
PROGRAMS = int(os.environ.get("TENSORLAB_PARITY_PROGRAMS", "320"))


@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_programs_of_passes_hooks_and_functions_do_the_same(block: int) -> None:
    share = PROGRAMS // BLOCKS
    for seed in range(block * share, (block + 1) * share):
        Passes(seed).run(16)


def test_long_programs_too() -> None:
    for seed in range(100_000, 100_000 + PROGRAMS // 16):
        Passes(seed).run(50)


# ------------------------------------------------------------------------------------------------ the same few lines


def outcome(lib: Any, lines: Callable[[Any], Any]) -> Any:
    """What a few lines give: numbers as lists, or the class of what they raise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain(lines(lib))
        except Exception as error:
            return type(error)


def plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if isinstance(value, (torch.Tensor, tl.Tensor)):
        return np.asarray(value.detach().tolist()).round(9).tolist()
    return value


def leaf(lib: Any, *values: float) -> Any:
    return lib.tensor(list(values), dtype=lib.float64, requires_grad=True)


def order_of_everything(lib: Any) -> Any:
    log: list[Any] = []
    x = leaf(lib, 1.0, 2.0)
    y = x * 3
    y.retain_grad()
    y.grad_fn.register_prehook(lambda gs: log.append(("pre", plain(gs), plain(y.grad))))
    y.grad_fn.register_hook(lambda gi, go: log.append(("post", plain(gi[0]), plain(go))))
    y.register_hook(lambda g: log.append(("tensor", plain(g))) or g * 2)
    x.register_post_accumulate_grad_hook(lambda p: log.append(("accumulated", plain(p.grad))))
    x.register_hook(lambda g: log.append(("leaf", plain(g), x.grad is None)) or g + 1)
    (y * y).sum().backward()
    return log, x.grad, y.grad


def in_place_after_hooks(lib: Any) -> Any:
    log: list[Any] = []
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    y.register_hook(lambda g: log.append(("before", plain(g))))
    y.retain_grad()
    y.mul_(5)
    y.register_hook(lambda g: log.append(("after", plain(g))))
    y.sum().backward()
    return log, y.grad, x.grad, y.retains_grad


def views_and_hooks(lib: Any) -> Any:
    log: list[Any] = []
    base = leaf(lib, 1.0, 2.0, 3.0).clone()
    base.register_hook(lambda g: log.append(("base", plain(g))))
    view = base[1:]
    view.register_hook(lambda g: log.append(("view", plain(g))))
    view.retain_grad()
    base.mul_(2)
    view.add_(1)
    (base.sum() + (view * view).sum()).backward()
    return log, view.grad


def second_and_third_order(lib: Any) -> Any:
    x, w = leaf(lib, 0.5, -1.0), leaf(lib, 2.0, 3.0)
    (g,) = lib.autograd.grad((w * x**3).sum(), x, create_graph=True)
    (h,) = lib.autograd.grad((g * g).sum(), x, create_graph=True)
    h.sum().backward()
    return g, h, x.grad, w.grad


def accumulation(lib: Any) -> Any:
    x = leaf(lib, 1.0, 2.0)
    (x * x).sum().backward()
    first, address = x.grad, x.grad.data_ptr()
    (x * x).sum().backward()
    same = x.grad is first, x.grad.data_ptr() == address
    (x * x).sum().backward(create_graph=True)
    return same, x.grad is first, x.grad.requires_grad, x.grad, first


def functions_of_all_kinds(lib: Any) -> Any:
    x = leaf(lib, 0.5, 1.5)
    made = FUNCTIONS[lib]
    a, b = made["Both"].apply(made["Cube"].apply(x))
    c = made["Same"].apply(a * b)
    d = made["Double"].apply((c + a).clone())
    e = made["First"].apply(d)
    (d.sum() + e).backward()
    return x.grad, [y.grad_fn.name() for y in (a, c, d, e)]


def function_twice(lib: Any) -> Any:
    x = leaf(lib, 0.5, 1.5)
    (g,) = lib.autograd.grad(FUNCTIONS[lib]["Cube"].apply(x).sum(), x, create_graph=True)
    return lib.autograd.grad(g.sum(), x)


def saved_hooks(lib: Any) -> Any:
    calls: list[str] = []
    x = leaf(lib, 0.5, 1.5)
    graph = lib.autograd.graph

    def pack(t: Any) -> Any:
        calls.append("pack")
        return t

    def unpack(t: Any) -> Any:
        calls.append("unpack")
        return t

    with graph.saved_tensors_hooks(pack, unpack):
        y = (x * x).exp()
    graph.register_multi_grad_hook((x, y), lambda gs: calls.append(str(plain(gs))))
    y.sum().backward()
    return calls, x.grad


def complex_gradients(lib: Any) -> Any:
    z = lib.tensor([1 + 2j, 0.5 - 1j], requires_grad=True)
    r = leaf(lib, 2.0, 3.0)
    y = z * z * r + z.conj()
    y.backward(lib.ones(2, dtype=lib.complex128))
    return [str(v) for v in z.grad.tolist()], r.grad


LINES = [
    order_of_everything, in_place_after_hooks, views_and_hooks, second_and_third_order, accumulation, functions_of_all_kinds,
    function_twice, saved_hooks, complex_gradients,
]  # fmt: skip


@pytest.mark.parametrize("lines", LINES, ids=lambda f: f.__name__)
def test_the_same_lines_give_the_same(lines: Callable[[Any], Any]) -> None:
    expected = outcome(torch, lines)
    assert not isinstance(expected, type)
    assert outcome(tl, lines) == expected


# ------------------------------------------------------------------------------------------------ what is refused


def boom(*given: Any) -> Any:
    raise ZeroDivisionError


REFUSED: dict[str, Callable[[Any], Any]] = {
    "backward of a vector": lambda lib: (leaf(lib, 1.0, 2.0) * 2).backward(),
    "backward of a constant": lambda lib: lib.ones(1).backward(),
    "backward of a complex scalar": lambda lib: lib.tensor(1 + 1j, requires_grad=True).backward(),
    "a seed of another shape": lambda lib: (leaf(lib, 1.0) * 2).backward(lib.ones(2)),
    "a seed that is a number": lambda lib: (leaf(lib, 1.0) * 2).backward(1.0),
    "a second backward": lambda lib: [y.backward() for y in [leaf(lib, 1.0).exp().sum()] * 2],
    "no inputs": lambda lib: lib.autograd.grad(leaf(lib, 1.0).sum(), []),
    "empty inputs of backward": lambda lib: leaf(lib, 1.0).sum().backward(inputs=[]),
    "an unused input": lambda lib: lib.autograd.grad(leaf(lib, 1.0).sum(), leaf(lib, 1.0)),
    "a constant input": lambda lib: lib.autograd.grad(leaf(lib, 1.0).sum(), lib.ones(1)),
    "an integer that requires grad": lambda lib: lib.ones(1, dtype=lib.int64).requires_grad_(),
    "turning a computed tensor off": lambda lib: (leaf(lib, 1.0) * 2).requires_grad_(False),
    "retain_grad of a constant": lambda lib: lib.ones(1).retain_grad(),
    "a hook on a constant": lambda lib: lib.ones(1).register_hook(print),
    "a post-accumulate hook on a computed tensor": lambda lib: (leaf(lib, 1.0) * 2).register_post_accumulate_grad_hook(print),
    "a gradient of another shape": lambda lib: setattr(leaf(lib, 1.0), "grad", lib.ones(2, dtype=lib.float64)),
    "a gradient of another type": lambda lib: setattr(leaf(lib, 1.0), "grad", lib.ones(1, dtype=lib.float32)),
    "a gradient that is a number": lambda lib: setattr(leaf(lib, 1.0), "grad", 1.0),
    "a hook that raises": lambda lib: with_hook(lib, boom),
    "a hook that changes the shape": lambda lib: with_hook(lib, lambda g: g.sum()),
    "a hook that changes the type": lambda lib: with_hook(lib, lambda g: g.float()),
    "a hook that returns a number": lambda lib: with_hook(lib, lambda g: 1.0),
    "a pre-hook that returns a tensor": lambda lib: with_hook(lib, lambda gs: gs[0], "register_prehook"),
    "a pre-hook that returns too many": lambda lib: with_hook(lib, lambda gs: gs * 2, "register_prehook"),
    "a post-hook that fills a gap": lambda lib: with_hook(lib, lambda gi, go: (gi[0], gi[0]), "register_hook"),
    "leaf in place": lambda lib: leaf(lib, 1.0).add_(1),
    "view of a leaf in place": lambda lib: leaf(lib, 1.0, 2.0)[0].add_(1),
    "one of several views in place": lambda lib: leaf(lib, 1.0, 2.0).clone().unbind()[0].add_(1),
    "a saved value in place": lambda lib: in_place_then_backward(lib),
    "detach_ of a view": lambda lib: leaf(lib, 1.0, 2.0).clone()[0].detach_(),
    "an inference tensor saved": lambda lib: leaf(lib, 1.0) * inference(lib),
    "deepcopy of a computed tensor": lambda lib: __import__("copy").deepcopy(leaf(lib, 1.0) * 2),
}  # fmt: skip


def with_hook(lib: Any, hook: Any, kind: str = "") -> None:
    y = leaf(lib, 1.0, 2.0) * 3
    if kind:
        getattr(y.grad_fn, kind)(hook)
    else:
        y.register_hook(hook)
    y.sum().backward()


def in_place_then_backward(lib: Any) -> None:
    y = leaf(lib, 1.0).exp()
    y.add_(1)
    y.sum().backward()


def inference(lib: Any) -> Any:
    with lib.inference_mode():
        return lib.ones(1, dtype=lib.float64)


@pytest.mark.parametrize("what", list(REFUSED))
def test_the_same_is_refused_with_the_same_kind_of_error(what: str) -> None:
    expected = outcome(torch, REFUSED[what])
    assert isinstance(expected, type), "PyTorch allows it"
    found = outcome(tl, REFUSED[what])
    assert isinstance(found, type), f"{found} instead of {expected}"
    assert issubclass(found, expected), f"{found} instead of {expected}"
