"""Host memory by storage: now, at most, and what only a graph keeps.

Asking costs a walk over the program's objects and nothing before. The most there ever was can only be known by looking all the time:
the first call of ``reset_peak_memory_stats`` or ``max_memory_allocated`` begins to look, ``stop_counting`` ends it.
"""

from __future__ import annotations

from collections import OrderedDict

from tensorlab import census


def memory_allocated(device: object = None) -> int:
    """Bytes of host memory that tensors, gradients and graphs hold now."""
    return census.allocated("cpu", 0)


def memory_held_by_graph(device: object = None) -> int:
    """Bytes of host memory that only graphs hold, for a backward to come; they are free once it ran."""
    return census.held_by_graph("cpu", 0)


def reset_peak_memory_stats(device: object = None) -> None:
    """Let the peak begin from what is there now, and look at every operation from now on (about a microsecond each)."""
    census.watch_peak()


def max_memory_allocated(device: object = None) -> int:
    """The most bytes that tensors, gradients and graphs held at one time since ``reset_peak_memory_stats``.

    What a single operation uses while it computes, and gives back before it returns, is no tensor and is not counted. Where nobody
    has asked before, looking begins here, with what is there now.
    """
    return census.peak()


def stop_counting() -> None:
    """Look at operations no longer; the peak is forgotten."""
    census.stop()


def memory_stats(device: object = None) -> OrderedDict[str, int]:
    """The counters by the names that ``cuda.memory_stats`` gives them."""
    now = memory_allocated()
    found = OrderedDict({"allocated_bytes.all.current": now, "held_by_graph_bytes.all.current": memory_held_by_graph()})
    if census.watching():
        found["allocated_bytes.all.peak"] = max(census.peak(), now)
    return found
