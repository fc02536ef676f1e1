"""Every kernel that the library generates is C++ that NVIDIA's compiler takes, on machines without a GPU as well.

The compiler is NVRTC, found where its wheel (``nvidia-cuda-nvrtc-cu12``), CuPy's extras or a CUDA toolkit put it.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tensorlab.backend.chains import CHAINS, Chain

TYPES = ("float", "double")
ARCHITECTURES = ("compute_75", "compute_80", "compute_90")


def wheels() -> list[Path]:
    """Libraries of NVRTC in wheels, old layout and new."""
    places = [Path(p) for p in getattr(importlib.util.find_spec("nvidia"), "submodule_search_locations", None) or ()]
    found = [path for place in places for path in sorted(place.glob("*/lib/libnvrtc.so*"))]
    return found + [path for place in places for path in sorted(place.glob("*/bin/**/nvrtc64*.dll"))]


@cache
def nvrtc() -> Any:
    """The compiler, or ``None``."""
    for name in (*map(str, wheels()), ctypes.util.find_library("nvrtc")):
        if name:
            try:
                return ctypes.CDLL(name)
            except OSError:
                continue
    return None


def source(chain: Chain, kind: str) -> str:
    """The kernel around a chain as CuPy builds it: one thread an element, inputs read, outputs by reference."""
    arrays = [f"const T* in_{name}" for name in chain.inputs] + [f"T* out_{name}" for name in chain.outputs]
    reads = [f"const T {name} = in_{name}[i];" for name in chain.inputs]
    writes = [f"T& {name} = out_{name}[i];" for name in chain.outputs]
    return (
        f"typedef {kind} T;\n"
        f'extern "C" __global__ void tensorlab_{chain.name}({", ".join(arrays)}, long long n) {{\n'
        "  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
        f"  if (i < n) {{ {' '.join(reads)} {' '.join(writes)} {chain.code} }}\n}}\n"
    )


def compiled(text: str, architecture: str) -> str:
    """The PTX of a program. Fails with the compiler's own words."""
    library = nvrtc()
    program = ctypes.c_void_p()
    assert library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None) == 0
    options = (ctypes.c_char_p * 2)(f"--gpu-architecture={architecture}".encode(), b"-std=c++17")
    status = library.nvrtcCompileProgram(program, len(options), options)
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    assert status == 0, f"{log.value.decode()}\n{text}"
    library.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    library.nvrtcGetPTX(program, ptx)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return ptx.value.decode()


needs_compiler = pytest.mark.skipif(
    nvrtc() is None, reason="NVRTC IS MISSING: no kernel was compiled. pip install nvidia-cuda-nvrtc-cu12 and run again"
)


@needs_compiler
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", CHAINS)
def test_a_kernel_compiles(name: str, kind: str, architecture: str) -> None:
    ptx = compiled(source(CHAINS[name], kind), architecture)
    assert f".entry tensorlab_{name}" in ptx
    if kind == "float":
        assert ".f64" not in ptx  # no step slips into double precision


@needs_compiler
def test_the_compiler_would_have_noticed() -> None:
    wrong = Chain("wrong", ("x",), ("y",), ("y = x * nothing",))
    with pytest.raises(AssertionError, match='identifier "nothing" is undefined'):
        compiled(source(wrong, "float"), "compute_80")


def test_the_library_has_no_other_kernels() -> None:
    """All kernels are chains, so that this file compiles all there are."""
    package = Path(importlib.util.find_spec("tensorlab").origin).parent  # type: ignore[union-attr,arg-type]
    makers = ("ElementwiseKernel", "ReductionKernel", "RawKernel", "RawModule", "cupy.fuse")
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if any(maker in path.read_text(encoding="utf-8") for maker in makers)
    }
    assert found == {"backend/cuda.py"}
