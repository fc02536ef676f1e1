"""GPUs through CuPy: whether it is installed, and a switch that changes nothing."""

from __future__ import annotations

from importlib.util import find_spec


def is_built() -> bool:
    """Whether CuPy is installed, with or without a GPU that it can use (``tensorlab.cuda.is_available`` says that)."""
    return find_spec("cupy") is not None


class _Products:
    """How products are computed: ``allow_tf32`` can be set and changes nothing; they compute in whole float32."""

    allow_tf32 = False


matmul = _Products()
