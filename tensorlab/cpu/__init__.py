"""The CPU as a device, for code that asks for its names."""

from tensorlab.cpu import amp as amp


def is_available() -> bool:
    """Whether there is a CPU."""
    return True


def device_count() -> int:
    """How many CPUs a device name can tell apart: one."""
    return 1


def synchronize(device: object = None) -> None:
    """Wait until the CPU has done all that it was given, which it has."""
