"""What a module-level name does on top of the function behind it: it explains arguments that are no tensors, and takes ``out=``.

Methods are the plain functions, since what they are called on is a tensor already.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from tensorlab import dispatch, dtypes, errors, fastpath, layout
from tensorlab.modes import no_grad, state

Function = Callable[..., Any]


def checked(function: Function, *, takes_out: bool = False) -> Function:
    """``function`` under its public name. ``takes_out`` says whether ``out=`` may name the tensor that gets the result."""

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        if takes_out and "out" in kwargs:
            out = kwargs.pop("out")
            if out is not None:
                return into(out, public, args, kwargs)
        try:
            return function(*args, **kwargs)
        except AttributeError as error:
            if not _given(error.obj, args, kwargs):
                raise
            raise TypeError(_not_a_tensor(function, args, kwargs, error.obj)) from None
        except (TypeError, ValueError, MemoryError) as error:
            better = explained(function, args, kwargs, error)
            if better is error:
                raise
            raise better from None

    return public


def explained(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception) -> Exception:
    """An error in words that name the function, where Python or NumPy found it; or the error that it was."""
    name = function.__name__
    if isinstance(error, TypeError):
        try:
            given = inspect.signature(function).bind(*args, **kwargs).arguments
        except TypeError:
            return error  # the call itself does not fit
        return errors.misread(name, error, given) or error
    return errors.out_of_memory(name, error) or error


def _given(wrong: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether something that is no tensor is one of the arguments, or stands in one of them."""
    if isinstance(wrong, dispatch.Tensor):
        return False
    given = (*args, *kwargs.values())
    return any(
        value is wrong or (isinstance(value, (tuple, list)) and any(x is wrong for x in value)) for value in given
    )


def _not_a_tensor(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], wrong: Any) -> str:
    """Which argument should have been a tensor, in PyTorch's words."""
    given = inspect.signature(function).bind(*args, **kwargs).arguments
    for position, (name, value) in enumerate(given.items(), 1):
        if value is wrong:
            return f"{function.__name__}(): argument '{name}' (position {position}) must be Tensor, not {type(wrong).__name__}"
        if isinstance(value, (tuple, list)) and any(item is wrong for item in value):
            return (
                f"{function.__name__}(): expected Tensor as element {[item is wrong for item in value].index(True)} in argument "
                f"'{name}', but got {type(wrong).__name__}"
            )
    return f"{function.__name__}(): a Tensor was expected, not {type(wrong).__name__}"


# ------------------------------------------------------------------------------------------------------------- out=


def into(out: Any, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a function and put its results into tensors that exist. Raises ``RuntimeError`` where a gradient would be lost."""
    outs = out if isinstance(out, (tuple, list)) else (out,)
    name = function.__name__
    for x in outs:
        if not isinstance(x, dispatch.Tensor):
            raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(x).__name__}")
    if state.grad and any(x.requires_grad for x in (*outs, *_tensors_in((args, tuple(kwargs.values()))))):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires "
            "grad. Leave out= away, or run inside `with no_grad():`."
        )
    with no_grad():
        found = function(*args, **kwargs)
        several = isinstance(found, tuple)
        results = found if several else (found,)
        if several is not isinstance(out, (tuple, list)) or len(outs) != len(results):
            wanted = f"a tuple of {len(results)} Tensors" if several else "Tensor"
            given = f"{len(outs)} in a {type(out).__name__}" if several and out is outs else type(out).__name__
            raise TypeError(f"{name}(): argument 'out' must be {wanted}, not {given}")
        results = [_receivable(name, x, result) for x, result in zip(outs, results, strict=True)]
        for x, result in zip(outs, results, strict=True):
            _receive(name, x, result)
    return out


fastpath.bind_out(into)


def _receivable(name: str, x: Any, result: Any) -> Any:
    """A result that may go to ``x``, in memory of its own. Raises where it may not, before anything is written."""
    if not isinstance(result, dispatch.Tensor):
        raise TypeError(f"{name}() got an unexpected keyword argument 'out': it returns {type(result).__name__}")
    if not dtypes.can_cast(result.dtype, x.dtype):
        raise RuntimeError(
            f"{name}(): result type {result.dtype.name} can't be cast to the desired output type {x.dtype.name}"
        )
    if x.shape != result.shape:
        if x.requires_grad:
            raise RuntimeError(
                f"{name}(): the out tensor requires grad and cannot be resized from {list(x.shape)} to {list(result.shape)}"
            )
    elif layout.overlaps_itself(x._a.shape, x._a.strides):
        raise RuntimeError(
            f"{name}(): unsupported operation: more than one element of the out tensor refers to a single memory location. "
            "Give a tensor of its own memory as out=, such as a clone()."
        )
    shared = result is not x and x._st is not None and x._st is result._st
    return dispatch.wrap(result._a.copy()) if shared else result


def _receive(name: str, x: Any, result: Any) -> None:
    if x.shape != result.shape:
        if x.numel():
            errors.warn(
                f"{name}(): An output with one or more elements was resized since it had shape {list(x.shape)}, which does not match the "
                f"required output shape {list(result.shape)}. Give an out tensor of that shape, or an empty one."
            )
        x.resize_(result.shape)
    x.copy_(result)


def _tensors_in(value: Any) -> Iterator[Any]:
    if isinstance(value, dispatch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors_in(item)
