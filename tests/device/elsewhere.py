"""The same call on two devices: sample calls of the rows with everything that is an array moved to a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

import tensorlab as tl
from tensorlab import backend
from tests.ops import driver


def moved(x: Any, device: str = "cuda") -> Any:
    """A tensor as a leaf on another device; anything else as it is."""
    return x.detach().to(device).requires_grad_(x.requires_grad) if isinstance(x, tl.Tensor) else x


def array_moved(value: Any, device: str = "cuda") -> Any:
    """Index arrays in attributes of a call, moved to a GPU; anything else as it is."""
    if isinstance(value, np.ndarray):
        return backend.gpu(device).from_host(value, tl.device(device).index)
    return tuple(array_moved(item, device) for item in value) if type(value) is tuple else value


def on_gpu(sample: driver.Sample, device: str = "cuda") -> driver.Sample:
    """A sample call with its tensors and index arrays on a GPU."""
    args = driver.replaced(sample.args, iter([moved(x, device) for x in sample.inputs]))
    kwargs = {name: array_moved(value, device) for name, value in sample.kwargs.items()}
    return sample._replace(args=args, kwargs=kwargs)


def layout(x: Any) -> tuple[tuple[int, int], ...]:
    """Sizes and strides of dimensions in which there is more than one element."""
    return tuple((n, s) for n, s in zip(x.shape, x.stride(), strict=True) if n > 1) if x.numel() else ()


def weighed(sample: driver.Sample) -> tuple[list[Any], list[Any], list[Any]]:
    """The results that require grad, the inputs that do, and uneven weights for the results, where these are."""
    outs = [y for y in sample.run() if y.requires_grad]
    wanted = [x for x in sample.inputs if x.requires_grad] if outs else []
    weights = [tl.linspace(0.5, 1.5, y.numel(), dtype=tl.float64).reshape(y.shape).to(y.device, y.dtype) for y in outs]
    return outs, wanted, weights


def gradients(sample: driver.Sample, create_graph: bool = False) -> list[Any]:
    """Gradients of the outputs, weighed unevenly, for every input that requires grad, where they are."""
    outs, wanted, weights = weighed(sample)
    return list(tl.autograd.grad(outs, wanted, weights, create_graph=create_graph, allow_unused=True)) if wanted else []


def same(ours: Any, theirs: Any, *, memory: bool = True, rtol: float = 1e-12) -> None:
    """That a tensor on a GPU is the tensor on the CPU: value, type, shape, and how it lies in memory."""
    assert ours.device.type == "cuda"
    assert ours.dtype is theirs.dtype
    assert ours.shape == theirs.shape
    if memory:
        assert layout(ours) == layout(theirs)
    np.testing.assert_allclose(ours.detach().cpu().numpy(), theirs.detach().numpy(), rtol=rtol, atol=rtol)
