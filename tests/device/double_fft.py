"""Fourier transforms of the stand-in for CuPy: NumPy's own, for arrays of the device only."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from tests.device.double import made, ndarray, plain

#: Functions of ``cupy.fft`` with their parameters, as CuPy 14.2.0 has them. Results are row-major.
FUNCTIONS = {
    **dict.fromkeys(["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"], ("a", "n", "axis", "norm")),
    **dict.fromkeys(
        ["fft2", "ifft2", "fftn", "ifftn", "rfft2", "irfft2", "rfftn", "irfftn"], ("a", "s", "axes", "norm")
    ),
}


def module() -> ModuleType:
    found = ModuleType("cupy.fft")
    found.__dict__.update({name: _function(name) for name in FUNCTIONS})
    return found


def _function(name: str) -> Any:
    theirs, parameters = getattr(np.fft, name), FUNCTIONS[name]

    def call(a: Any, *args: Any, **kwargs: Any) -> ndarray:
        if not isinstance(a, ndarray):
            raise AttributeError(f"{type(a).__name__} is no device array")
        if a.dtype.kind not in "fc" or a.dtype.itemsize < 4:
            raise TypeError(f"{name}: {a.dtype} would be converted without a word")
        given = dict(zip(parameters[1:], args, strict=False)) | kwargs
        if unknown := set(given) - set(parameters):
            raise TypeError(f"{name}() got an unexpected keyword argument {sorted(unknown)}")
        if given.get("norm") not in (None, "backward", "ortho", "forward"):
            raise ValueError(f"Invalid norm value {given['norm']}")
        return made(theirs(plain(a), **given), fresh=True)

    return call
