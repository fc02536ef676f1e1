"""Who is watching. Taps may look at calls and steps and must change nothing; a tap that changes a value is a bug.

``ops`` are told of every call at the door, ``(row, inputs, attrs, outputs)``; ``steps`` of every node a backward pass ran,
``(node, incoming, outgoing)``; ``hooks`` of every function of a person's that is about to be called, ``(kind, owner, number, hook,
given)``; ``buffers`` of every array that becomes memory of the program without a call at the door: new tensors and the state of
optimizers. All lists are empty on the ordinary path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorlab import modes

ops: list[Callable[..., Any]] = []
steps: list[Callable[..., Any]] = []
left_out: list[Callable[..., Any]] = []
clips: list[Callable[..., Any]] = []
hooks: list[Callable[..., Any]] = []
buffers: list[Callable[..., Any]] = []


def watch_ops(tap: Callable[..., Any]) -> Callable[[], None]:
    """Tell ``tap(row, inputs, attrs, outputs)`` of every call. Returns the function that ends it."""
    ops.append(tap)
    modes.switch("taps", +1)
    return _ending(ops, tap, lambda: modes.switch("taps", -1))


def watch_steps(tap: Callable[..., Any]) -> Callable[[], None]:
    """Tell ``tap(node, incoming, outgoing)`` of every node a backward pass ran. Returns the function that ends it.

    A step is complete when it is told of; what a tap raises leaves the pass, which can go on.
    """
    steps.append(tap)
    return _ending(steps, tap, lambda: None)


def watch_hooks(tap: Callable[..., Any]) -> Callable[[], None]:
    """Tell ``tap(kind, owner, number, hook, given)`` of every hook before it is called. Returns the function that ends it.

    What the tap returns, unless ``None``, is called with ``(result, error)`` once the hook came back.
    """
    hooks.append(tap)
    return _ending(hooks, tap, lambda: None)


def watch_buffers(tap: Callable[..., Any]) -> Callable[[], None]:
    """Tell ``tap(array)`` of arrays that are made past the door. Returns the function that ends it."""
    buffers.append(tap)
    return _ending(buffers, tap, lambda: None)


def watch_training(on_left_out: Callable[..., Any], on_clip: Callable[..., Any]) -> Callable[[], None]:
    """Tell of steps that a gradient scaler leaves out and of gradients that are clipped. Returns the function that ends it."""
    left_out.append(on_left_out)
    clips.append(on_clip)
    return _ending(left_out, on_left_out, _ending(clips, on_clip, lambda: None))


def _ending(taps: list[Callable[..., Any]], tap: Callable[..., Any], also: Callable[[], None]) -> Callable[[], None]:
    """A function that takes one registration of ``tap`` off; calling it again does nothing."""
    on = [True]

    def undo() -> None:
        if on:
            on.clear()
            taps.remove(tap)
            also()

    return undo
