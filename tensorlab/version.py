"""Which tensorlab this is, and the CUDA version of the CuPy beside it: ``version.cuda``, ``None`` where there is none.

>>> import tensorlab as tl
>>> tl.version.__version__ == tl.__version__
True
"""

from __future__ import annotations

__version__ = "0.1.0"
hip = None
debug = False


def __getattr__(name: str) -> str | None:
    if name == "cuda":
        return _cuda()
    raise AttributeError(f"module 'tensorlab.version' has no attribute {name!r}")


def _cuda() -> str | None:
    """The version of CUDA that the installed CuPy was made for, such as ``"12.9"``. CuPy is imported to find out."""
    try:
        import cupy
    except ImportError:
        return None
    found = int(cupy.cuda.runtime.runtimeGetVersion())
    return f"{found // 1000}.{found % 1000 // 10}"
