"""Chains of elementwise steps that a GPU does in one kernel: read once, compute in registers, write once.

Each is written once, in what C++ and Python have in common: assignments of expressions, one a line. ``T`` is the element type of all
arrays; ``T name = ...`` makes a local value, ``T(0.5)`` a number of that type. What stands in ``outputs`` before may be read and is
written, as in ``m = m + T(1)``. The names of functions are those of CUDA and NumPy alike (``exp``, ``tanh``, ``sqrt``), and ``erf``.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class Chain(NamedTuple):
    """One kernel: names of arrays and numbers that it reads, names of arrays that it writes, and its lines."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def code(self) -> str:
        """The body in C++."""
        return " ".join(f"{line};" for line in self.lines)


CHAINS: dict[str, Chain] = {}


def _chain(name: str, inputs: str, outputs: str, body: str) -> None:
    lines = tuple(line.strip() for line in body.strip().splitlines())
    CHAINS[name] = Chain(name, tuple(inputs.split()), tuple(outputs.split()), lines)


_HALF, _DENSITY = repr(math.sqrt(0.5)), repr(1 / math.sqrt(2 * math.pi))
_TANH, _CUBIC = repr(math.sqrt(2 / math.pi)), "0.044715"

_chain("sigmoid", "x", "y", "y = (tanh(x * T(0.5)) + T(1)) * T(0.5)")
_chain("silu", "x", "y", "y = x * ((tanh(x * T(0.5)) + T(1)) * T(0.5))")
_chain("gelu", "x", "y", f"y = x * T(0.5) * (erf(x * T({_HALF})) + T(1))")
_chain("gelu_tanh", "x", "y", f"y = x * T(0.5) * (tanh((x + x * x * x * T({_CUBIC})) * T({_TANH})) + T(1))")
_chain(
    "gelu_backward",
    "g x",
    "y",
    f"""
    T normal = (erf(x * T({_HALF})) + T(1)) * T(0.5)
    y = g * (normal + x * exp(x * x * T(-0.5)) * T({_DENSITY}))
    """,
)
_chain(
    "gelu_tanh_backward",
    "g x",
    "y",
    f"""
    T bent = tanh((x + x * x * x * T({_CUBIC})) * T({_TANH}))
    T slope = (x * x * (T(3) * T({_CUBIC})) + T(1)) * T({_TANH})
    y = g * ((bent + T(1)) * T(0.5) + x * T(0.5) * (T(1) - bent * bent) * slope)
    """,
)
_chain("exp_less", "x most", "y", "y = exp(x - most)")
_chain("softmax_backward", "g total odds", "y", "y = (g - total) * odds")
_chain("affine", "x w b", "y", "y = x * w + b")
_chain("centred_backward", "h hat along mean rstd", "y", "y = (h - hat * along - mean) * rstd")
_chain(
    "adam",
    "g first keep second root eps size",
    "m v t",
    """
    m = m + (g - m) * first
    v = v * keep + g * g * second
    t = m / (sqrt(v) / root + eps) * size
    """,
)
