"""The table of operations. Importing this package fills ``table.ROWS``."""

from tensorlab.ops import (
    activations,
    addproducts,
    convert,
    convolution,
    distances,
    fft,
    indexing,
    joining,
    losses,
    matmul,
    ordering,
    padding,
    pointwise,
    reduce,
    scatters,
    selection,
    sorting,
    statistics,
    views,
)
from tensorlab.ops.table import ROWS

__all__ = [
    "ROWS", "activations", "addproducts", "convert", "convolution", "distances", "indexing", "joining", "losses",
    "matmul", "ordering", "padding", "pointwise", "reduce", "scatters", "selection", "sorting", "statistics", "views",
    "ROWS", "activations", "convert", "indexing", "joining", "losses", "matmul", "pointwise", "reduce", "selection", "sorting", "views",
    "addproducts", "distances", "fft",
    "convolution",
    "padding",
]  # fmt: skip
