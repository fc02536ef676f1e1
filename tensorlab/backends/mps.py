"""Apple's GPUs, which tensorlab does not use."""


def is_available() -> bool:
    """False: tensors live in host memory or on NVIDIA GPUs."""
    return False


def is_built() -> bool:
    """False: there is no support for Apple's GPUs."""
    return False
