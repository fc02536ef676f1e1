"""Answers to "why?", in one word each: ``why_none``, ``why_nan``, ``why_inplace``, ``why_shape``, ``explain_grad``.

Each gives an ``Answer``: a picture in a notebook, text elsewhere, with ``sentence``, ``fix`` and ``story`` to work with.
"""

from __future__ import annotations

from typing import Any

from tensorlab.display.story import Answer
from tensorlab.observe import why as _why
from tensorlab.observe.names import Names, caller_namespace

__all__ = ["Answer", "explain_grad", "why_inplace", "why_nan", "why_none", "why_shape"]


def explain_grad(x: Any, loss: Any = None) -> Answer:
    """Why ``x.grad`` is ``None``, by the shortest broken path; or, where there is a gradient, which passes added to it.

    With ``loss`` the path between the two is followed. What was cut off where is known where places are recorded: in a notebook, or
    after ``tensorlab.modes.watch_sites()``.

    >>> import tensorlab as tl
    >>> x = tl.ones(2)
    >>> tl.explain_grad(x).fix
    'Set x.requires_grad_() before it is used, or make it with requires_grad=True.'
    """
    _need_tensor("explain_grad", x)
    return Answer(_why.why_none(x, loss, Names(caller_namespace())))


def why_none(x: Any, loss: Any = None) -> Answer:
    """The same as ``explain_grad``."""
    _need_tensor("why_none", x)
    return Answer(_why.why_none(x, loss, Names(caller_namespace())))


def why_nan(subject: Any) -> Answer:
    """The first NaN or infinity, in forward order, and the call that made it of finite inputs.

    ``subject`` is a result, whose graph is looked through and then its backward pass; or a function without arguments, which is run
    with every operation watched.

    >>> import tensorlab as tl
    >>> x = tl.tensor([1., -1.], requires_grad=True)
    >>> tl.why_nan((x.log() * 2).sum()).sentence  # doctest: +ELLIPSIS
    'The first value that is not finite is NaN at [1], made by log()... of finite inputs: the logarithm of 0 is minus infinity, of a ...'
    """
    if not callable(subject):
        _need_tensor("why_nan", subject)
    return Answer(_why.why_nan(subject, Names(caller_namespace())))


def why_inplace(error: BaseException) -> Answer:
    """Which line wrote into a value that was saved for backward. ``error`` is what ``backward()`` raised."""
    return Answer(_why.why_inplace(error))


def why_shape(error: BaseException) -> Answer:
    """Which dimensions of a refused call do not meet, and what would make them. ``error`` is what the call raised."""
    return Answer(_why.why_shape(error))


def _need_tensor(name: str, x: Any) -> None:
    if not hasattr(x, "_a"):
        raise TypeError(f"{name}(): argument must be Tensor, not {type(x).__name__}")
