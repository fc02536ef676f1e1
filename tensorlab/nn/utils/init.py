"""Modules without first values."""

from __future__ import annotations

import inspect
from typing import Any

from tensorlab.nn import init
from tensorlab.nn.modules.module import Module


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """Make a module and leave its parameters uninitialised, for values that come from elsewhere.

    Raises ``RuntimeError`` for what is no module class, or takes no ``device``.
    """
    if not (inspect.isclass(module_cls) and issubclass(module_cls, Module)):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    with init.skipping():
        return module_cls(*args, **kwargs)
