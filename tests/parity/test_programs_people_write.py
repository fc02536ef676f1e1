"""Programs of the kinds that people write tell the same on both libraries, step by step."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tests.parity.people import PROGRAMS, Given

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

for _kind in ("choices", "language", "pictures", "science"):
    import_module(f"tests.parity.people.{_kind}")


def plain(value: Any) -> Any:
    """What a program showed, without a library in it."""
    if isinstance(value, (tl.Tensor, torch.Tensor)):
        return str(value.dtype).split(".")[-1], value.detach().numpy()
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)) or hasattr(value, "__next__"):
        return [plain(each) for each in value]
    return value


def same(found: Any, expected: Any, at: str = "shown") -> None:
    """Equal in structure and words, close in numbers."""
    if isinstance(expected, np.ndarray):
        np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-5, err_msg=at)
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected), at
        for i, (f, e) in enumerate(zip(found, expected, strict=True)):
            same(f, e, f"{at}[{i}]")
    elif isinstance(expected, dict):
        assert list(found) == list(expected), at
        for key in expected:
            same(found[key], expected[key], f"{at}[{key!r}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=2e-3, abs=2e-5, nan_ok=True), at
    else:
        assert found == expected, at


#: Where roundings grow from step to step: these are compared in float64.
SENSITIVE = {"a_classifier_of_digits", "residual_blocks_and_attention_to_channels"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_tells_the_same(name: str) -> None:
    shown = []
    for library in (tl, torch):
        try:
            library.set_default_dtype(library.float64 if name in SENSITIVE else library.float32)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                shown.append(plain(PROGRAMS[name](library, Given(library))))
        finally:
            library.set_default_dtype(library.float32)
    same(*shown)
