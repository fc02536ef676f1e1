"""PyTorch's place for ``checkpoint``, ``data`` and ``dlpack``."""

_LATER = ("checkpoint", "data", "dlpack")


def __getattr__(name: str) -> object:
    if name in _LATER:
        from importlib import import_module

        return import_module(f"tensorlab.utils.{name}")
    raise AttributeError(f"module 'tensorlab.utils' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATER])
