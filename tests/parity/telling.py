"""What programs that run on both libraries tell, and small models that they run on."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import pytest

import tensorlab as tl

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


def told(value: object) -> object:
    """What a program gave, in words that both libraries share."""
    if isinstance(value, (tl.Tensor, torch.Tensor)):
        return (type(value).__name__, tuple(value.shape), str(value.dtype).split(".")[-1], value.detach().tolist())
    if isinstance(value, (tl.nn.Module, torch.nn.Module)):
        return repr(value).replace("torch.", "").replace("tensorlab.", "")
    if isinstance(value, dict):
        return {key: told(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)) or hasattr(value, "__next__"):
        return [told(item) for item in value]
    return value


def attempt(call: Callable[[], object]) -> object:
    """What a call gave, or the class of its error."""
    try:
        return call()
    except Exception as error:
        return type(error).__name__


def filled(lib: object, module: object) -> object:
    with lib.no_grad():
        for at, p in enumerate(module.parameters()):
            p.copy_(lib.arange(p.numel()).reshape(p.shape) * 0.25 - at)
    return module


def net(lib: object) -> object:
    n = lib.nn

    class Block(n.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = n.Linear(2, 3)
            self.second = self.first
            self.register_buffer("seen", lib.zeros(2))
            self.register_buffer("hidden", lib.ones(1), persistent=False)
            self.register_parameter("none", None)

        def forward(self, x: object) -> object:
            return self.second(x)

    return filled(lib, n.Sequential(OrderedDict([("block", Block()), ("act", n.ReLU()), ("last", n.Linear(3, 1))])))
