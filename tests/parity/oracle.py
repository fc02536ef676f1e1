"""PyTorch as the judge: its values as ours, and its own table of operations with sample inputs (a private table; keep to this file)."""

from __future__ import annotations

import os
import sys
import types
import unittest
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tensorlab import layout

torch = pytest.importorskip("torch", reason="PyTorch, which these tests compare with, is not installed")

DTYPES = {getattr(torch, name): getattr(tl, name) for name in (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
)}  # fmt: skip
NAMES = {theirs: str(theirs).removeprefix("torch.") for theirs in DTYPES}
NAMES[torch.complex32] = "complex64"  # what float16 becomes beside a complex number here, where no complex32 exists

#: (rtol, atol) by type: PyTorch's own, loosened where other summation orders tell.
TOLERANCE = {
    "float64": (1e-7, 1e-7),
    "complex128": (1e-7, 1e-7),
    "float32": (2e-5, 1e-5),
    "complex64": (2e-5, 1e-5),
    "float16": (2e-3, 2e-3),
    "bfloat16": (1.6e-2, 3e-2),
}


def to_numpy(x: Any) -> np.ndarray:
    """Elements of either library's tensor, bfloat16 as float32."""
    if isinstance(x, tl.Tensor):
        a = x.detach().numpy()
        return a.astype(np.float32) if a.dtype.kind == "V" or a.dtype.name == "bfloat16" else a
    x = x.detach().resolve_conj().resolve_neg()
    x = x.clone() if x._is_zerotensor() else x
    x = x.float() if x.dtype == torch.bfloat16 else x.to(torch.complex64) if x.dtype == torch.complex32 else x
    return x.numpy()


def ours(value: Any) -> Any:
    """Tensors (with their strides), dtypes and containers of PyTorch's as our own; anything else as it is."""
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, torch.dtype):
        return DTYPES[value]
    if isinstance(value, torch.memory_format):
        return getattr(layout, str(value).removeprefix("torch."))
    if isinstance(value, torch.device):
        return str(value)
    if isinstance(value, (tuple, list)):
        return (
            type(value)([ours(item) for item in value])
            if type(value) in (tuple, list)
            else tuple(ours(v) for v in value)
        )
    if isinstance(value, torch.nn.Module):
        return getattr(tl.nn, type(value).__name__)()
    if callable(value) and getattr(torch.nn.functional, getattr(value, "__name__", ""), None) is value:
        return getattr(tl.nn.functional, value.__name__)
    if isinstance(value, dict):
        return {key: ours(item) for key, item in value.items()}
    return value


def _tensor(x: Any) -> Any:
    plain = x.detach().resolve_conj().resolve_neg()
    if x.dtype not in DTYPES:
        raise TypeError(f"no such type here: {x.dtype}")
    if plain.dtype == torch.bfloat16:
        made = tl.from_numpy(plain.view(torch.int16).numpy().view(tl.bfloat16.np))
    else:
        made = tl.from_numpy(plain.numpy())
    return made.requires_grad_() if x.requires_grad else made


def differences(found: Any, expected: Any, *, strides: bool = False, cancels: bool = False) -> list[str]:
    """In which ways our result differs from PyTorch's: nothing, or words for type, shape, strides, values.

    ``cancels`` says that small elements come out of sums of large ones, whose rounding they then show.
    """
    if isinstance(expected, torch.Size):
        expected = tuple(expected)
    if isinstance(expected, (tuple, list)):
        if not isinstance(found, (tuple, list)) or len(found) != len(expected):
            return [f"{type(found).__name__} instead of {len(expected)} results"]
        return [
            line
            for f, e in zip(found, expected, strict=True)
            for line in differences(f, e, strides=strides, cancels=cancels)
        ]
    if not isinstance(expected, torch.Tensor):
        return (
            []
            if found == expected or (found != found and expected != expected)
            else [f"{found!r} instead of {expected!r}"]
        )
    if not isinstance(found, tl.Tensor):
        return [f"{type(found).__name__} instead of a tensor"]
    said = []
    if found.dtype.name != NAMES.get(expected.dtype):
        said.append(f"type {found.dtype.name} instead of {NAMES.get(expected.dtype)}")
    if tuple(found.shape) != tuple(expected.shape):
        return [*said, f"shape {list(found.shape)} instead of {list(expected.shape)}"]
    if strides and found.stride() != expected.stride():
        said.append(f"strides {found.stride()} instead of {expected.stride()} for shape {list(found.shape)}")
    rtol, atol = TOLERANCE.get(found.dtype.name, (0, 0))
    a, b = to_numpy(found), to_numpy(expected)
    if cancels and rtol and a.size:
        with np.errstate(all="ignore"):
            atol = max(2 * atol, rtol / 20 * float(np.nanmax(np.abs(np.where(np.isfinite(b), b, 0)))))
    if not np.allclose(a, b, rtol, atol, equal_nan=True):
        with np.errstate(all="ignore"):
            off = float(np.nanmax(np.abs(a.astype(np.complex128) - b))) if a.size else 0.0
        said.append(f"values differ by up to {off:.3g}")
    return said


# ----------------------------------------------------------------------------------------------- PyTorch's table of operations


@cache
def table() -> list[Any]:
    """PyTorch's own list of operations with sample inputs."""
    if "expecttest" not in sys.modules:  # asked for at import, not used by anything here
        stand_in: Any = types.ModuleType("expecttest")
        stand_in.TestCase, stand_in.assert_expected_inline = unittest.TestCase, None
        sys.modules["expecttest"] = stand_in
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    return list(op_db)


def entries(name: str) -> list[Any]:
    return [op for op in table() if op.name == name]


#: Some operations have thousands of sample calls of one kind, for every pairing of window, step and padding: of more than these, every
#: second, third ... is tried, evenly spread. ``PARITY_SAMPLES=all`` tries them all; docs/parity.md is made that way.
MOST = sys.maxsize if os.environ.get("PARITY_SAMPLES") == "all" else 200


def samples(op: Any, dtype: Any, requires_grad: bool = False) -> Iterator[Any]:
    """Sample calls of one operation of the table, the same ones every time."""
    torch.manual_seed(0)
    np.random.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        every = list(op.sample_inputs("cpu", dtype, requires_grad=requires_grad))
        yield from every[:: -(-len(every) // MOST) or 1]


def error_samples(op: Any) -> Iterator[Any]:
    """Calls that PyTorch refuses, with the class of its error and a pattern of its words."""
    if op.error_inputs_func is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from op.error_inputs("cpu")


#: Operations that PyTorch's table calls as methods: the tensor first.
METHODS: dict[str, Callable[..., Any]] = {
    "polygamma": lambda x, n, **kwargs: tl.polygamma(n, x, **kwargs),
    "special.polygamma": lambda x, n, **kwargs: tl.special.polygamma(n, x, **kwargs),
}


def _second_first(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda first, second, *args, **kwargs: function(second, first, *args, **kwargs)


#: Functions whose first two arguments PyTorch's table gives the other way round.
TURNED = {"nn.functional.embedding", "nn.functional.embedding_bag"}


@cache
def function(name: str) -> Callable[..., Any] | None:
    """Our function for a name of PyTorch's table; a method if it is none, and nothing if we have neither."""
    if name in METHODS:
        return METHODS[name]
    found: Any = tl
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not None and callable(found) and not isinstance(found, type):
        return _second_first(found) if name in TURNED else found
    method = getattr(tl.Tensor, name, None) if "." not in name else None
    return method if callable(method) else None
