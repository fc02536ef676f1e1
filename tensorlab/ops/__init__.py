"""The table of operations. Importing this package fills ``table.ROWS``."""

from tensorlab.ops import convert, indexing, joining, losses, matmul, pointwise, reduce, selection, views
from tensorlab.ops.table import ROWS

__all__ = ["ROWS", "convert", "indexing", "joining", "losses", "matmul", "pointwise", "reduce", "selection", "views"]
