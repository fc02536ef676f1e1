"""What people type is documented, and says what it takes."""

from __future__ import annotations

import importlib
import inspect
import re

import pytest

import tensorlab

PLACES = ("tensorlab", "tensorlab.autograd", "tensorlab.nn", "tensorlab.nn.functional", "tensorlab.nn.init")
PLACES += (
    "tensorlab.nn.native",
    "tensorlab.nn.parallel",
    "tensorlab.nn.utils",
    "tensorlab.nn.utils.parametrizations",
    "tensorlab.nn.utils.parametrize",
    "tensorlab.nn.utils.prune",
    "tensorlab.nn.utils.stateless",
    "tensorlab.optim",
    "tensorlab.optim.lr_scheduler",
    "tensorlab.optim.swa_utils",
    "tensorlab.data",
    "tensorlab.distributions",
    "tensorlab.distributions.constraints",
    "tensorlab.distributions.transforms",
    "tensorlab.utils.data",
    "tensorlab.serialization",
    "tensorlab.utils.checkpoint",
    "tensorlab.serialization.safetensors",
    "tensorlab.amp",
    "tensorlab.array_api",
    "tensorlab.backends.cuda",
    "tensorlab.backends.cudnn",
    "tensorlab.backends.mps",
    "tensorlab.cpu",
    "tensorlab.cpu.amp",
    "tensorlab.cuda.amp",
    "tensorlab.cuda.nvtx",
    "tensorlab.utils.dlpack",
    "tensorlab.cuda",
    "tensorlab.fft",
    "tensorlab.linalg",
    "tensorlab.random",
    "tensorlab.special",
    "tensorlab.testing",
    "tensorlab.signal.windows",
    "tensorlab.windows",
    "tensorlab.func",
    "tensorlab.autograd.functional",
    "tensorlab.autograd.forward_ad",
    "tensorlab.show",
    "tensorlab.why",
    "tensorlab_widgets",
)


def public(place: str) -> list[tuple[str, object]]:
    """The classes and functions of ours that a module offers under names of their own."""
    module = importlib.import_module(place)
    found = [(name, getattr(module, name)) for name in dir(module) if not name.startswith("_")]
    return [(name, value) for name, value in found if inspect.isclass(value) or callable(value) and is_ours(value)]


def is_ours(value: object) -> bool:
    return str(getattr(value, "__module__", "")).startswith("tensorlab")


def undocumented(names: list[tuple[str, object]]) -> list[str]:
    """Those without a sentence of their own; one that a class inherits tells nothing about it."""
    return [
        name
        for name, value in names
        if is_ours(value) and not (vars(value).get("__doc__") if inspect.isclass(value) else inspect.getdoc(value))
    ]


@pytest.mark.parametrize("place", PLACES)
def test_every_public_name_has_a_docstring(place: str) -> None:
    if place == "tensorlab_widgets":
        pytest.importorskip("tensorlab_widgets")
    names = public(place)
    assert names
    assert undocumented(names) == []


def test_every_public_method_of_a_tensor_has_a_docstring() -> None:
    names = [(name, getattr(tensorlab.Tensor, name)) for name in dir(tensorlab.Tensor) if not name.startswith("_")]
    assert len(names) > 200
    assert [name for name, method in names if not inspect.getdoc(method)] == []


def test_what_loads_late_can_be_reached_and_is_listed() -> None:
    for name in ("cuda", "data", "display", "make_dot", "nn", "observe", "optim", "show", "utils"):
        assert name in dir(tensorlab)
        assert getattr(tensorlab, name) is not None


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=re.escape("module 'tensorlab' has no attribute 'no_such_name'")):
        _ = tensorlab.no_such_name
