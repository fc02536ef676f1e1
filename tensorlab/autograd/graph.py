"""The graph as people handle it: nodes and edges, and hooks on what a graph saves and on several gradients at once."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from tensorlab import modes
from tensorlab.dispatch import edge_of, storage_of
from tensorlab.engine import sites
from tensorlab.engine.hooks import RemovableHandle, name_of
from tensorlab.engine.node import Node
from tensorlab.modes import state
from tensorlab.tensor import Tensor

__all__ = [
    "GradientEdge", "Node", "disable_saved_tensors_hooks", "get_gradient_edge", "increment_version", "register_multi_grad_hook",
    "save_on_cpu", "saved_tensors_hooks",
]  # fmt: skip


class GradientEdge(NamedTuple):
    """Where a tensor's gradient arrives: a node, and which of the node's outputs the tensor is."""

    node: Node
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge at which the gradient of ``tensor`` arrives. Raises ``RuntimeError`` if the tensor does not require grad."""
    edge = edge_of(tensor)
    if edge is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(edge[0], edge[1])


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Count an in-place write that happened where nobody saw it, for example through a NumPy array that shares the memory."""
    for one in (tensor,) if isinstance(tensor, Tensor) else tensor:
        storage_of(one).bump("increment_version", sites.here(1))


# ------------------------------------------------------------------------------------------------ what a graph saves


class saved_tensors_hooks:
    """Inside, ``pack_hook(tensor)`` is called for every value that a graph saves, and what it returns is kept instead.

    ``unpack_hook(packed)`` gives the tensor back when backward needs it. Both belong to this thread. The pack hook must not write
    into its tensor, and the unpack hook must return a tensor with the shape and type of what was packed.

    >>> import tensorlab as tl
    >>> x = tl.tensor([1.0, 2.0], requires_grad=True)
    >>> with tl.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), tl.from_numpy):
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad
    tensor([2., 4.])
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if state.no_creation_hooks:
            raise RuntimeError(state.no_creation_hooks[-1])
        modes.switch("saved hooks", +1)
        state.creation_hooks = (*state.creation_hooks, (self.pack_hook, self.unpack_hook))

    def __exit__(self, *error: Any) -> None:
        state.creation_hooks = state.creation_hooks[:-1]
        modes.switch("saved hooks", -1)


class save_on_cpu(saved_tensors_hooks):
    """Inside, what a graph saves is kept in host memory and comes back to its device when backward needs it."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda x: (x.device, x.cpu()), lambda packed: packed[1].to(packed[0]))


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Inside, entering ``saved_tensors_hooks`` raises ``RuntimeError(error_message)``, as it does at once if some are on."""
    if state.creation_hooks:
        raise RuntimeError(error_message)
    before = state.no_creation_hooks
    state.no_creation_hooks = (*before, error_message)
    try:
        yield
    finally:
        state.no_creation_hooks = before


# ------------------------------------------------------------------------------------------------ several gradients


class _Heard:
    """The tensor hook that ``register_multi_grad_hook`` puts on each of its tensors."""

    told_of_nothing = True  # also called, with None, when the node runs and this output got no gradient

    def __init__(self, gather: _Gather, index: int) -> None:
        self.gather, self.index = gather, index
        self.__qualname__ = f"multi-grad hook {name_of(gather.hook)}"

    def __call__(self, gradient: Any) -> None:
        self.gather.hear(self.index, gradient)


class _Gather:
    """Collects the gradients of each backward pass, and calls the hook once it has all of them, or the first.

    A pass may step back, or try a step again that failed: what was heard at a later step than now has been undone.
    """

    def __init__(self, tensors: Sequence[Tensor], hook: Callable[..., Any], first_only: bool) -> None:
        self.hook = hook
        self.first_only = first_only
        self.edges = [get_gradient_edge(x) for x in tensors]
        self.lock = threading.Lock()
        self.heard: Any = weakref.WeakKeyDictionary()  # pass -> {index: (steps run before, gradient)}

    def hear(self, index: int, gradient: Any) -> None:
        run = state.run
        with self.lock:
            before = self.heard.get(run, {})
            found = {i: (at, g) for i, (at, g) in before.items() if at <= run.count and i != index}
            first = all(g is None for _, g in found.values())
            found[index] = (run.count, gradient)
            self.heard[run] = found
        if self.first_only:
            if first and gradient is not None:
                self.hook(gradient)
        elif all(i in found for i, (node, _) in enumerate(self.edges) if run.reaches(node)):
            self.hook([found[i][1] if i in found else None for i in range(len(self.edges))])


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., Any], *, mode: str = "all"
) -> RemovableHandle:
    """Call ``fn(grads)`` once a backward pass, when the gradients of all ``tensors`` are known.

    A tensor that the pass does not reach has ``None``. With ``mode="any"`` it is ``fn(grad)``, with the first gradient there is.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    gather = _Gather(tensors, fn, mode == "any")
    handles = [x.register_hook(_Heard(gather, index)) for index, x in enumerate(tensors)]
    return _Together(handles)


class _Together(RemovableHandle):
    """One handle for several hooks."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        super().__init__()
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()
