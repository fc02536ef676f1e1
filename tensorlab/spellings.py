"""Functions at ``tensorlab.<name>`` that are methods of the tensor they take first, such as ``tensorlab.exp_(x)``."""

from __future__ import annotations

import functools
from typing import Any

from tensorlab.tensor import Tensor

_NAMES = """
    abs_ acos_ acosh_ addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ as_strided_ asin_ asinh_ atan_ atanh_ ceil_ clamp_
    clamp_max_ clamp_min_ clip_ conj_physical_ cos_ cosh_ deg2rad_ detach detach_ erf_ erfc_ exp2_ exp_ expm1_ fill_ fix_ floor_ frac_
    gcd_ get_device i0_ index_put_ is_inference is_nonzero is_same_size is_signed lcm_ ldexp_ log10_ log1p_ log2_ log_ logit_
    nan_to_num_ neg_ negative_ nonzero_static rad2deg_ reciprocal_ resize_as_ round_ rsqrt_ sigmoid_ sin_ sinc_ sinh_ sqrt_ square_
    tan_ tanh_ trunc_ xlogy_ zero_
"""


def _spelt(name: str) -> Any:
    method = getattr(Tensor, name)

    @functools.wraps(method)
    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(input, Tensor):
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
        return method(input, *args, **kwargs)

    return function


__all__ = _NAMES.split()
globals().update({name: _spelt(name) for name in __all__})
