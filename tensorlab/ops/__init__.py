"""The table of operations. Importing this package fills ``table.ROWS``."""

from tensorlab.ops import (
    activations,
    adaptive,
    addproducts,
    bessel,
    complex,
    convert,
    convolution,
    curves,
    distances,
    elementwise_losses,
    embedding,
    fft,
    indexing,
    joining,
    losses,
    matmul,
    normalize,
    ordering,
    padding,
    pairs,
    piecewise,
    placing,
    pointwise,
    polynomials,
    pooling,
    reduce,
    scatters,
    selection,
    sorting,
    special,
    statistics,
    views,
)
from tensorlab.ops.table import ROWS

__all__ = [
    "ROWS", "activations", "adaptive", "addproducts", "bessel", "complex", "convert", "convolution", "curves",
    "distances", "elementwise_losses", "embedding", "fft", "indexing", "joining", "losses", "matmul", "normalize",
    "ordering", "padding", "pairs", "piecewise", "placing", "pointwise", "polynomials", "pooling", "reduce",
    "scatters", "selection", "sorting", "special", "statistics", "views",
]  # fmt: skip
