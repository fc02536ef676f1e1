"""Ambient switches, one set a thread: gradients on or off, inference, the module that is running, whether places are recorded.

They are thread-local as in PyTorch: a new thread starts with gradients on, and a cell of a notebook finds what an earlier cell
set. ``watching`` is the one process-wide bit the hot path reads to know whether anything unusual is on at all.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from typing import Any


class _State(threading.local):
    grad = True
    inference = False
    mark: Any = None  # the call of a module that runs (engine.marks), kept while places are recorded
    creation_hooks: tuple[Any, ...] = ()  # saved_tensors_hooks pairs, innermost last
    no_creation_hooks: tuple[str, ...] = ()  # why saved_tensors_hooks may not be used now, innermost last
    run: Any = None  # the backward pass that this thread is advancing
    looking: Any = (
        None  # while an expression that only looks is worked out: the ids of arrays and storages it must not write to
    )
    autocast: Any = None  # the types that autocast computes in on the CPU and on GPUs, while it is on for one of them


state = _State()


def is_grad_enabled() -> bool:
    """Whether operations of this thread record a graph."""
    return state.grad


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside ``inference_mode``."""
    return state.inference


class _Decorator:
    """A context manager that also decorates functions, and generators per resumption, as PyTorch's do."""

    def clone(self) -> _Decorator:
        return type(self)()

    def __enter__(self) -> Any:
        raise TypeError("use a subclass")

    def __exit__(self, *error: Any) -> None:
        raise TypeError("use a subclass")

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isclass(function):
            raise TypeError(
                f"{type(self).__name__} decorates functions, not the class {function.__name__}; decorate its methods"
            )
        if inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)

        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return inside

    def _wrap_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Iterator[Any]:
            generator = function(*args, **kwargs)
            resume: Callable[[], Any] = functools.partial(next, generator)
            while True:
                try:
                    with self.clone():
                        value = resume()
                except StopIteration as stop:
                    return stop.value
                try:
                    sent = yield value
                    resume = functools.partial(generator.send, sent)
                except GeneratorExit:
                    generator.close()
                    raise
                except BaseException as error:
                    resume = functools.partial(generator.throw, error)

        return inside


class set_grad_enabled(_Decorator):
    """Turn recording on or off in this thread; as a call it stays, as a context manager it ends with the block."""

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)
        self.previous = state.grad
        state.grad = self.mode

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        state.grad = self.previous
        return super().__call__(function)

    def clone(self) -> set_grad_enabled:
        return set_grad_enabled(self.mode)

    def __enter__(self) -> None:
        state.grad = self.mode

    def __exit__(self, *error: Any) -> None:
        state.grad = self.previous


class _Switch(_Decorator):
    mode: bool

    def __init__(self) -> None:
        self.previous: list[bool] = []

    def __enter__(self) -> None:
        self.previous.append(state.grad)
        state.grad = self.mode

    def __exit__(self, *error: Any) -> None:
        state.grad = self.previous.pop()


class no_grad(_Switch):
    """Operations inside record no graph. A context manager and a decorator.

    >>> import tensorlab as tl
    >>> x = tl.ones(2, requires_grad=True)
    >>> with tl.no_grad():
    ...     (x * 2).requires_grad
    False
    """

    mode = False

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        return super().__new__(cls) if function is None else cls()(function)


class enable_grad(_Switch):
    """Operations inside record a graph again, within ``no_grad``. A context manager and a decorator."""

    mode = True

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        return super().__new__(cls) if function is None else cls()(function)


class inference_mode(_Decorator):
    """Like ``no_grad``, and results are marked so that they can never enter a graph later."""

    def __new__(cls, mode: Any = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
        self.previous: list[tuple[bool, bool]] = []

    def clone(self) -> inference_mode:
        return inference_mode(self.mode)

    def __enter__(self) -> None:
        self.previous.append((state.grad, state.inference))
        state.inference = self.mode
        state.grad = not self.mode
        switch("inference", +1)

    def __exit__(self, *error: Any) -> None:
        state.grad, state.inference = self.previous.pop()
        switch("inference", -1)


# ------------------------------------------------------------------------------------------------ what the door listens to

_counts: dict[str, int] = {"sites": 0}
_counting = threading.RLock()
_listeners: list[Callable[[bool, bool], None]] = []


def switch(what: str, by: int) -> None:
    """Count one more or one fewer reason to leave the ordinary path, and tell the door when that changes anything."""
    with _counting:
        _counts[what] = max(0, _counts.get(what, 0) + by)
        notify()


def notify() -> None:
    unusual = any(count for what, count in _counts.items() if what != "sites")
    sites = bool(_counts.get("sites"))
    for listener in _listeners:
        listener(unusual, sites)


def listen(listener: Callable[[bool, bool], None]) -> None:
    """Call ``listener(unusual, sites)`` now and whenever one of the two changes."""
    _listeners.append(listener)
    notify()


def watch_sites(on: bool = True) -> None:
    """Record where every node is made. On inside notebooks; counted, so two watchers can both turn it on."""
    switch("sites", +1 if on else -1)


def sites_are_watched() -> bool:
    return _counts["sites"] > 0
