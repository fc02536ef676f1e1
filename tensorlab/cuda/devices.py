"""The GPUs of this machine: how many, which one is meant, and what they are."""

from __future__ import annotations

from typing import Any

from tensorlab import backend
from tensorlab.device import device as device_class

__all__ = [
    "can_device_access_peer", "current_device", "device", "device_count", "device_of", "get_arch_list", "get_device_capability",
    "get_device_name", "get_device_properties", "get_gencode_flags", "init", "ipc_collect", "is_available", "is_bf16_supported",
    "is_initialized", "is_tf32_supported", "set_device", "synchronize",
]  # fmt: skip


def which(device: Any = None) -> device_class:
    """The GPU that an argument means: a ``device``, its name or its number; ``None`` is the current one.

    Raises ``ValueError`` for the CPU.
    """
    where = device_class("cuda" if device is None else device)
    if where.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {where}")
    return where


def is_available() -> bool:
    """Whether tensors can live on a GPU here. ``False`` where CuPy is not installed."""
    return backend.why_no_gpu() is None


def device_count() -> int:
    """How many GPUs there are. 0 where CuPy is not installed."""
    return backend.gpu().count() if is_available() else 0


def is_initialized() -> bool:
    """Whether GPUs are in use, which begins by itself when one is first asked for something."""
    import sys

    return "tensorlab.backend.cuda" in sys.modules and is_available()


def init() -> None:
    """Begin to use GPUs now. Raises ``RuntimeError`` where there is none. Seldom needed: it happens by itself."""
    backend.gpu()


def current_device() -> int:
    """The number of the GPU that ``"cuda"`` means. Raises ``RuntimeError`` where there is none."""
    return int(backend.gpu().current())


def set_device(device: Any) -> None:
    """Make a GPU the one that ``"cuda"`` means in this thread; a negative number changes nothing. ``with device(...)`` is safer."""
    if isinstance(device, int) and device < 0:
        return
    where = which(device)
    cuda = backend.gpu(where)
    if where.index is not None:
        cuda.set_current(where.index)


class device:
    """Inside, a GPU is the one that ``"cuda"`` means: ``with cuda.device(1):``. ``None`` and negative numbers change nothing."""

    def __init__(self, device: Any) -> None:
        nothing = device is None or (isinstance(device, int) and device < 0)
        self.idx = -1 if nothing else which(device).index
        self.prev_idx = -1
        self._inside: list[Any] = []

    def __enter__(self) -> None:
        if self.idx is None or self.idx >= 0:
            cuda = backend.gpu("cuda" if self.idx is None else self.idx)
            self.prev_idx = cuda.current()
            self._inside.append(cuda.use(self.idx))
            self._inside[-1].__enter__()
        else:
            self._inside.append(None)

    def __exit__(self, *error: Any) -> None:
        entered = self._inside.pop()
        if entered is not None:
            entered.__exit__(*error)


class device_of(device):
    """Inside, the GPU that a tensor is on is the one that ``"cuda"`` means; a tensor in host memory changes nothing."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


def synchronize(device: Any = None) -> None:
    """Wait until a GPU, the current one unless told otherwise, has done all that it was given on all streams.

    ``device`` is a ``device``, its name or its number. Raises ``RuntimeError`` where there is none, and ``ValueError`` for the CPU.
    """
    where = which(device)
    backend.gpu(where).synchronize(where.index)


def get_device_name(device: Any = None) -> str:
    """What a GPU, the current one unless told otherwise, is called. Raises ``RuntimeError`` where there is none."""
    return str(get_device_properties(device).name)


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The compute capability of a GPU as ``(major, minor)``. Raises ``RuntimeError`` where there is none."""
    found = get_device_properties(device)
    return found.major, found.minor


class _CudaDeviceProperties:
    """What a GPU is: ``name``, ``major`` and ``minor`` of its compute capability, ``total_memory`` in bytes, and more."""

    def __init__(self, known: dict[str, Any]) -> None:
        name = known.get("name", b"")
        self.name = name.decode() if isinstance(name, bytes) else str(name)
        self.major, self.minor = int(known.get("major", 0)), int(known.get("minor", 0))
        self.total_memory = int(known.get("totalGlobalMem", 0))
        self.multi_processor_count = int(known.get("multiProcessorCount", 0))
        self.warp_size = int(known.get("warpSize", 32))
        self.max_threads_per_multi_processor = int(known.get("maxThreadsPerMultiProcessor", 0))
        self.max_threads_per_block = int(known.get("maxThreadsPerBlock", 0))
        self.shared_memory_per_block = int(known.get("sharedMemPerBlock", 0))
        self.regs_per_multiprocessor = int(known.get("regsPerMultiprocessor", 0))
        self.L2_cache_size = int(known.get("l2CacheSize", 0))
        self.is_integrated, self.is_multi_gpu_board = (
            int(known.get("integrated", 0)),
            int(known.get("isMultiGpuBoard", 0)),
        )
        self.pci_bus_id, self.pci_device_id = int(known.get("pciBusID", 0)), int(known.get("pciDeviceID", 0))
        self.pci_domain_id = int(known.get("pciDomainID", 0))

    def __repr__(self) -> str:
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory // 2**20}MB, multi_processor_count={self.multi_processor_count}, "
            f"L2_cache_size={self.L2_cache_size // 2**20}MB)"
        )


def get_device_properties(device: Any = None) -> _CudaDeviceProperties:
    """What the CUDA runtime knows about a GPU. Raises ``RuntimeError`` where there is none."""
    where = which(device)
    return _CudaDeviceProperties(backend.gpu(where).properties(where.index))


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Whether one GPU can read the memory of another directly. Raises ``AssertionError`` for a GPU that is not there."""
    numbers = [which(d).index for d in (device, peer_device)]
    cuda, last = backend.gpu(), device_count()
    for name, index in zip(("device", "peer device"), numbers, strict=True):
        if index is None or not 0 <= index < last:
            raise AssertionError(f"Invalid {name} id: {index}; there are {last}")
    return bool(cuda.can_reach(*numbers))


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the current GPU computes with bfloat16: from compute capability 8.0 on by itself, before that through float32."""
    return is_available() and (including_emulation or get_device_capability()[0] >= 8)


def is_tf32_supported() -> bool:
    """Whether the current GPU has TF32 units (compute capability 8.0 on), which tensorlab does not use: products are whole float32."""
    return is_available() and get_device_capability()[0] >= 8


def get_arch_list() -> list[str]:
    """The architectures that kernels were built for in advance: none, since CuPy builds them for the GPU that it finds."""
    return []


def get_gencode_flags() -> str:
    """Compiler flags for ``get_arch_list()``: none."""
    return ""


def ipc_collect() -> None:
    """Give back GPU memory that other processes sent and nobody uses. No memory is shared that way, so there is none to give."""
    backend.gpu()
