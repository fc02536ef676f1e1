"""GPU memory: what tensors use, what CuPy's pool holds, and the most of both. In bytes, as blocks of the pool (512 bytes a step).

Everything is 0 where there is no GPU. ``tensorlab.cpu`` counts host memory under the same names, and ``memory_held_by_graph`` tells on
both what backward would set free.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import Any

from tensorlab import backend, census, pinned
from tensorlab.cuda.devices import is_available, which

__all__ = [
    "empty_cache", "get_per_process_memory_fraction", "max_memory_allocated", "max_memory_cached", "max_memory_reserved", "mem_get_info",
    "memory_allocated", "memory_cached", "memory_held_by_graph", "memory_reserved", "memory_stats", "memory_stats_as_nested_dict",
    "memory_summary", "reset_accumulated_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached",
    "reset_peak_memory_stats", "set_per_process_memory_fraction",
]  # fmt: skip


def empty_cache() -> None:
    """Give GPU memory that no tensor uses back to the system, on the current GPU. Does nothing where there is none."""
    if is_available():
        pinned.release()
        backend.gpu().empty_cache()


def memory_stats(device: Any = None) -> OrderedDict[str, int]:
    """All counters of a GPU by name: ``allocated_bytes.all.current``, ``.peak``, ``.allocated`` and ``.freed``, and so on; none without."""
    where = which(device)
    found: OrderedDict[str, int] = OrderedDict()
    if not is_available():
        return found
    cuda = backend.gpu(where)
    used, reserved = cuda.memory(where.index)
    a = cuda.account(where.index)
    for name, current, peak, given, freed in (
        ("active_bytes", used, max(a.peak, used), a.given, a.freed),
        ("allocated_bytes", used, max(a.peak, used), a.given, a.freed),
        ("allocation", a.blocks, a.blocks_peak, a.blocks_given, a.blocks_freed),
        ("inactive_bytes", reserved - used, max(a.reserved_peak, reserved) - used, 0, 0),
        ("reserved_bytes", reserved, max(a.reserved_peak, reserved), 0, 0),
    ):
        for what, count in (("current", current), ("peak", peak), ("allocated", given), ("freed", freed)):
            found[f"{name}.all.{what}"] = count
    return found


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """``memory_stats`` with a dictionary inside a dictionary for every dot in the names."""
    out: dict[str, Any] = {}
    for name, count in memory_stats(device).items():
        *path, last = name.split(".")
        inner = out
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = count
    return out


def memory_allocated(device: Any = None) -> int:
    """Bytes that tensors use on a GPU, the current one unless told otherwise; 0 where there is none."""
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that tensors used at one time, since the program began or ``reset_peak_memory_stats``."""
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device: Any = None) -> int:
    """Bytes that are taken from the system on a GPU, used by tensors or kept for the next ones; 0 where there is none."""
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes that were taken from the system at one time."""
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def memory_held_by_graph(device: Any = None) -> int:
    """Bytes on a GPU that only the graph keeps, for a backward to come; as elements, not as blocks. 0 where there is no GPU."""
    where = which(device)
    if not is_available():
        return 0
    return census.held_by_graph("cuda", backend.gpu(where).current() if where.index is None else where.index)


def reset_peak_memory_stats(device: Any = None) -> None:
    """Let the peaks begin from what is there now. Does nothing where there is no GPU."""
    where = which(device)
    if is_available():
        cuda = backend.gpu(where)
        cuda.account(where.index).start_again(cuda.memory(where.index)[1])


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Let the sums of what was handed out and taken back begin at 0. Does nothing where there is no GPU."""
    where = which(device)
    if is_available():
        account = backend.gpu(where).account(where.index)
        account.given = account.freed = account.blocks_given = account.blocks_freed = 0


def reset_max_memory_allocated(device: Any = None) -> None:
    """An old name of ``reset_peak_memory_stats``, which it calls: all peaks begin again."""
    warnings.warn(
        "cuda.reset_max_memory_allocated now calls cuda.reset_peak_memory_stats, which resets all peaks",
        FutureWarning,
        stacklevel=2,
    )
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device: Any = None) -> None:
    """An old name of ``reset_peak_memory_stats``, which it calls: all peaks begin again."""
    warnings.warn(
        "cuda.reset_max_memory_cached now calls cuda.reset_peak_memory_stats, which resets all peaks",
        FutureWarning,
        stacklevel=2,
    )
    reset_peak_memory_stats(device)


def memory_cached(device: Any = None) -> int:
    """An old name of ``memory_reserved``."""
    warnings.warn("cuda.memory_cached has been renamed to cuda.memory_reserved", FutureWarning, stacklevel=2)
    return memory_reserved(device)


def max_memory_cached(device: Any = None) -> int:
    """An old name of ``max_memory_reserved``."""
    warnings.warn("cuda.max_memory_cached has been renamed to cuda.max_memory_reserved", FutureWarning, stacklevel=2)
    return max_memory_reserved(device)


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Bytes of a GPU that no program uses, and bytes that it has. Raises ``RuntimeError`` where there is none."""
    where = which(device)
    found = backend.gpu(where).free_and_total(where.index)
    return int(found[0]), int(found[1])


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Let this program take no more than a part of a GPU's memory, 0 to 1; what is beyond is an ``OutOfMemoryError``."""
    if isinstance(fraction, bool) or not isinstance(fraction, (int, float)):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    where = which(device)
    backend.gpu(where).limit(where.index, float(fraction))


def get_per_process_memory_fraction(device: Any = None) -> float:
    """The part of a GPU's memory that this program may take. Raises ``RuntimeError`` where there is none."""
    where = which(device)
    return float(backend.gpu(where).limit(where.index))


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """The counters of a GPU as a table for people to read."""
    stats = memory_stats(device)
    if not stats:
        return f"no GPU memory: {backend.why_no_gpu()}"
    where = which(device)
    index = backend.gpu(where).current() if where.index is None else where.index
    rows = [
        ("allocated by tensors", "allocated_bytes"), ("reserved by the pool", "reserved_bytes"), ("reserved, not in use", "inactive_bytes"),
        ("number of allocations", "allocation"),
    ]  # fmt: skip
    width = 21 + 4 * 16
    lines = [
        f"memory of cuda:{index}",
        "-" * width,
        f"{'':21}{'now':>16}{'most':>16}{'given':>16}{'taken back':>16}",
        "-" * width,
    ]
    for label, name in rows[:2] if abbreviated else rows:
        unit = _bytes if name != "allocation" else str
        numbers = [unit(stats[f"{name}.all.{what}"]) for what in ("current", "peak", "allocated", "freed")]
        lines.append(f"{label:21}" + "".join(f"{number:>16}" for number in numbers))
    return "\n".join([*lines, "-" * width]) + "\n"


def _bytes(count: int) -> str:
    size, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB"):
        if abs(size) < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
