"""Functions that the door builds straight from their rows, without a layer between."""

from __future__ import annotations

from typing import Any

from tensorlab import fastpath
from tensorlab.ops import ROWS


def row_function(name: str, doc: str) -> Any:
    """The public function of an elementwise row with one or two inputs."""
    row = ROWS[name]
    make = fastpath.unary if len(row.params) == 1 else fastpath.binary
    made = make(row)
    made.__doc__ = f"{doc}\n\n``{row.formula}``, element by element; inputs promote" + (
        " and broadcast." if len(row.params) == 2 else "."
    )
    made.__module__ = "tensorlab"
    return made
