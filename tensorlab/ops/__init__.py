"""The table of operations. Importing this package fills ``table.ROWS``."""

from tensorlab.ops import (
    activations,
    addproducts,
    convert,
    convolution,
    distances,
    indexing,
    joining,
    losses,
    matmul,
    padding,
    pointwise,
    reduce,
    selection,
    sorting,
    views,
)
from tensorlab.ops.table import ROWS

__all__ = [
    "ROWS", "activations", "convert", "indexing", "joining", "losses", "matmul", "pointwise", "reduce", "selection", "sorting", "views",
    "addproducts", "distances",
    "convolution",
    "padding",
]  # fmt: skip
