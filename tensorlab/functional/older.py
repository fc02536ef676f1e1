"""Calls in the order of PyTorch's early years, ``x.add_(0.1, y)``: a factor stands before the tensor that it multiplies.

Programs and books of those years are full of them. They give what the call of today gives, and a ``UserWarning`` that spells it, once.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tensorlab import dispatch
from tensorlab.errors import warn

Function = Callable[..., Any]


def older(*orders: str) -> Callable[[Function], Function]:
    """Let a function also take one of ``orders`` of its arguments, such as ``"input alpha other"``, where more are given than today."""

    def taking(function: Function) -> Function:
        parameters = inspect.signature(function).parameters.values()
        most = sum(parameter.kind is parameter.POSITIONAL_OR_KEYWORD for parameter in parameters)

        @functools.wraps(function)
        def form(*args: Any, **kwargs: Any) -> Any:
            if len(args) > most:
                args, kwargs = _today(function, orders, args, kwargs)
            return function(*args, **kwargs)

        return form

    return taking


def _today(function: Function, orders: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arguments of an older call in today's order, or as they were if they fit none."""
    parameters = inspect.signature(function).parameters
    for order in (order.split() for order in orders):
        factors = [name for name in order if parameters[name].kind is inspect.Parameter.KEYWORD_ONLY]
        given = dict(zip(order, args, strict=False))
        numbers = all(not isinstance(given.get(name), dispatch.Tensor) or given[name].ndim == 0 for name in factors)
        if (
            len(args) != len(order)
            or kwargs.keys() & set(order)
            or not numbers
            or not isinstance(given.get("input", args[0]), dispatch.Tensor)
        ):
            continue
        said = ", ".join(
            [*(name for name in order if name not in factors), *(f"{name}={given[name]!r}" for name in factors)]
        )
        name = function.__name__
        warn(f"{name}({', '.join(order)}) is the order of years ago; today's is {name}({said}).")
        today = tuple(given[name] for name in order if name not in factors)
        return today, {**kwargs, **{f: given[f] for f in factors}}
    return args, kwargs
