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
    normalize,
    ordering,
    padding,
    piecewise,
    placing,
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
    "ROWS", "activations", "addproducts", "convert", "convolution", "distances", "fft", "indexing", "joining",
    "losses", "matmul", "normalize", "ordering", "padding", "piecewise", "placing", "pointwise", "reduce", "scatters",
    "selection", "sorting", "statistics", "views",
]  # fmt: skip
