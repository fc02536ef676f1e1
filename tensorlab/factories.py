"""What makes new tensors, under its public names: with ``out=``, and with options that say what is so anyway.

``out=`` names the tensor that gets the result, whose type the result then has. ``layout`` may be ``tensorlab.strided``, the only one
there is; ``pin_memory=True`` puts the result into page-locked memory.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorlab import backend, creation, drawn, random, ranges
from tensorlab.functional.checked import checked, into
from tensorlab.traits import strided

if TYPE_CHECKING:
    from tensorlab.creation import *  # noqa: F403
    from tensorlab.drawn import *  # noqa: F403
    from tensorlab.random import *  # noqa: F403
    from tensorlab.ranges import *  # noqa: F403

_NAMES = {
    creation: "zeros ones empty full eye arange linspace scalar_tensor zeros_like ones_like empty_like full_like",
    ranges: "logspace range tril_indices triu_indices empty_strided empty_permuted",
    random: "rand randn randint randperm rand_like randn_like randint_like",
    drawn: "normal bernoulli multinomial poisson binomial",
}
_EXTRA = frozenset(["out", "layout", "pin_memory"])


def in_pinned_memory(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A new tensor in page-locked memory. Raises ``RuntimeError`` where there is no GPU, and for a tensor on one."""
    leaf = kwargs.pop("requires_grad", False)
    backend.gpu()
    return function(*args, **kwargs).pin_memory().requires_grad_(leaf)


def _public(function: Callable[..., Any], *, typed: bool) -> Callable[..., Any]:
    filled = checked(function)

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        if not kwargs or _EXTRA.isdisjoint(kwargs):
            return filled(*args, **kwargs)
        layout, out = kwargs.pop("layout", None), kwargs.pop("out", None)
        pin = kwargs.pop("pin_memory", None)
        if layout not in (None, strided):
            raise RuntimeError(f"{function.__name__}(): unsupported layout {layout!r}; every tensor here is strided")
        if out is None:
            return in_pinned_memory(filled, args, kwargs) if pin else filled(*args, **kwargs)
        if typed:
            kwargs.setdefault("dtype", getattr(out, "dtype", None))
        return into(out, filled, args, kwargs)

    return public


for _module, _text in _NAMES.items():
    for _name in _text.split():
        globals()[_name] = _public(getattr(_module, _name), typed=_module is not drawn or _name == "normal")
