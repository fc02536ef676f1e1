"""Signal processing."""

from tensorlab.signal import windows as windows

__all__ = ["windows"]
