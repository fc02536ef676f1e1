"""Operations with a gradient that a person writes: ``class F(Function)`` with static ``forward`` and ``backward``."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from tensorlab import dispatch, modes
from tensorlab.dispatch import edge_of, storage_of, wrap
from tensorlab.engine.node import Bound, Node, Packed, counter, facts, fit
from tensorlab.modes import state
from tensorlab.tensor import Tensor
from tensorlab.viewing import View, layout_of

new = object.__new__


class Context:
    """What ``forward`` leaves for ``backward``. Attributes set on it are kept; tensors belong into ``save_for_backward``."""

    def __init__(self) -> None:
        self.needs_input_grad: tuple[bool, ...] = ()
        self._to_save: tuple[Any, ...] = ()
        self._node: Any = None
        self._not_differentiable: set[int] = set()
        self._dirty: tuple[Any, ...] = ()
        self._materialize = True

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs, outputs or intermediates for ``backward``, with their versions checked."""
        for x in tensors:
            if x is not None and not isinstance(x, Tensor):
                raise TypeError(f"save_for_backward can only save variables, but argument is of type {type(x).__name__}; set it as an attribute")
        self._to_save = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What ``save_for_backward`` kept. Raises ``RuntimeError`` once freed, or if a value was overwritten."""
        node = self._node
        if node is None:
            return self._to_save
        return tuple([node.saved_tensor(i) for i in range(len(node.kept))])

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say that these outputs carry no gradient."""
        self._not_differentiable = {id(x) for x in tensors}

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say that ``forward`` wrote into these inputs."""
        self._dirty = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether missing gradients reach ``backward`` as zeros (the default) or as ``None``."""
        self._materialize = value


class FunctionNode(Node):
    """A node whose gradient a person wrote."""

    __slots__ = ("ctx", "function", "kept")

    many = True

    def saved_tensor(self, index: int) -> Any:
        """One of the values kept by ``save_for_backward``."""
        if self.freed is not None:
            self.saved[index]
        kind, value = self.kept[index]
        if kind == "none":
            return None
        if isinstance(value, Packed):
            return value.unpack(value.payload)
        array, storage, version = value
        if storage.version != version:
            raise self._overwritten(index, array, storage, version)
        where, number = kind
        edge = self.edges[number] if where == "input" else (self, number) if where == "output" else None
        return Bound.unpack(array, storage, edge)

    def _overwritten(self, index: int, array: Any, storage: Any, version: int) -> RuntimeError:
        return RuntimeError(
            f"one of the variables needed for gradient computation has been modified by an inplace operation: [tensorlab.{array.dtype.name} "
            f"{list(array.shape)}], which {self.function.__name__} saved as value {index}, is at version {storage.version}; expected version "
            f"{version} instead."
        )

    def apply(self, grads: Sequence[Any], graph: bool) -> list[Any]:
        ctx = self.ctx
        if self.saved is not None and self.freed is not None and self.kept:
            self.saved[0]
        if ctx._materialize:
            grads = [g if g is not None else self._zero(i) for i, g in enumerate(grads)]
        with modes.set_grad_enabled(graph):
            found = self.function.backward(ctx, *grads)
        found = found if isinstance(found, (tuple, list)) else (found,)
        name = f"{self.function.__name__}Backward"
        if len(found) > len(self.edges) and all(g is None for g in found[len(self.edges) :]):
            found = found[: len(self.edges)]
        if len(found) != len(self.edges):
            raise RuntimeError(f"function {name} returned an incorrect number of gradients (expected {len(self.edges)}, got {len(found)})")
        return [self._accept(name, i, edge, g) for i, (edge, g) in enumerate(zip(self.edges, found, strict=True))]

    def _zero(self, output: int) -> Any:
        shape, dtype = facts((self, output))
        return wrap(dispatch.np.zeros(shape, dtype))

    def _accept(self, name: str, index: int, edge: Any, g: Any) -> Any:
        if g is None or edge is None:
            return None
        if not isinstance(g, Tensor):
            raise TypeError(f"function {name} returned a {type(g).__name__} as gradient {index}; expected Tensor or None")
        shape = facts(edge)[0]
        try:
            return fit(g, edge)
        except (RuntimeError, ValueError):
            raise RuntimeError(
                f"Function {name} returned an invalid gradient at index {index} - got {list(g.shape)} but expected shape compatible with {list(shape)}"
            ) from None


class _FunctionType(type):
    """Gives every Function its own node class, named after it as in PyTorch."""

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> None:
        super().__init__(name, bases, body)
        cls._node_class = type(f"{name}Backward", (FunctionNode,), {"__slots__": ()})


class Function(metaclass=_FunctionType):
    """Subclass with static methods ``forward(ctx, *args)`` and ``backward(ctx, *grads)``, and call ``F.apply(*args)``.

    ``forward`` may also leave out ``ctx`` when ``setup_context(ctx, inputs, output)`` is defined. ``backward`` returns one gradient
    for every argument of ``forward``, ``None`` for those that need none. It is recorded under ``create_graph``, so it
    differentiates again if it uses tensor operations.
    """

    _node_class: Any

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("a Function needs a static method forward(ctx, ...)")

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError("a Function needs a static method backward(ctx, ...)")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Fill ``ctx`` when ``forward`` was written without it."""

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run ``forward`` and record one node for it."""
        ctx = Context()
        edges = tuple([edge_of(a) if isinstance(a, Tensor) and a._live else None for a in args])
        ctx.needs_input_grad = tuple([edge is not None for edge in edges])
        recording = state.grad and any(ctx.needs_input_grad)
        with modes.no_grad():
            if cls.setup_context is not Function.setup_context:
                output = cls.forward(*args)
                cls.setup_context(ctx, args, output)
            else:
                output = cls.forward(ctx, *args)
        outputs = output if isinstance(output, tuple) else (output,)
        if not recording:
            return output
        found = cls._record(ctx, args, edges, outputs)
        return found if isinstance(output, tuple) else found[0]

    @classmethod
    def _record(cls, ctx: Context, args: Sequence[Any], edges: tuple[Any, ...], outputs: Sequence[Any]) -> tuple[Any, ...]:
        node = new(cls._node_class)
        node.edges, node.attrs, node.hooks = edges, None, None
        node.seq = next(counter)
        node.made = dispatch.made_here()
        node.ctx, node.function = ctx, cls
        node.saved = ()
        results = []
        for x in outputs:
            if not isinstance(x, Tensor):
                results.append(x)
                continue
            dirty = any(x is d for d in ctx._dirty)
            given = any(x is a for a in args)
            results.append(x if dirty or not given else _same(x))
        node.outs = tuple([fact for x in results for fact in ((x._a.shape, x._a.dtype) if isinstance(x, Tensor) else ((), None))])
        for number, (x, original) in enumerate(zip(results, outputs, strict=True)):
            if isinstance(x, Tensor) and id(original) not in ctx._not_differentiable and x._a.dtype.kind in "fcV":
                x._edge, x._rg, x._live = (node, number), True, True
        node.kept = tuple([_keep(x, args, edges, outputs) for x in ctx._to_save])
        node.saved = (True,) if node.kept else ()
        ctx._to_save = ()
        ctx._node = _Weak(node)
        return tuple(results)


class _Weak:
    """A node as its context sees it: without keeping it alive, so that graph and context form no cycle."""

    def __init__(self, node: FunctionNode) -> None:
        self._node = weakref.ref(node)

    def __getattr__(self, name: str) -> Any:
        node = self._node()
        if node is None:
            raise RuntimeError("the graph of this context is gone; its saved tensors went with it")
        return getattr(node, name)


def _same(x: Tensor) -> Tensor:
    """An input that ``forward`` returned as it is: a view of it, so that it can have its own history."""
    out = wrap(x._a)
    out._st, out._off = storage_of(x), x._off
    out._view = View(x._view.base if x._view is not None else x, "function", out._st.version, layout_of(x))
    return out


def _keep(x: Any, args: Sequence[Any], edges: Sequence[Any], outputs: Sequence[Any]) -> tuple[Any, Any]:
    if x is None:
        return "none", None
    st = storage_of(x)
    value: Any = (x._a, st, st.version)
    if state.creation_hooks:
        value = dispatch._packed(x)
    for i, a in enumerate(args):
        if a is x:
            return ("input", i), value
    for i, o in enumerate(outputs):
        if o is x:
            return ("output", i), value
    return ("neither", 0), value


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a ``backward`` that cannot be differentiated again: doing so raises instead of giving a wrong answer."""

    def inside(ctx: Any, *grads: Any) -> Any:
        asked = state.grad and any(isinstance(g, Tensor) and g.requires_grad for g in grads)
        with modes.no_grad():
            found = function(ctx, *grads)
        if not asked:
            return found
        many = isinstance(found, tuple)
        blocked = tuple([_Refuse.apply(g, *grads) if isinstance(g, Tensor) else g for g in (found if many else (found,))])
        return blocked if many else blocked[0]

    return inside


class _Refuse(Function):
    @staticmethod
    def forward(ctx: Any, value: Tensor, *through: Any) -> Tensor:
        return value.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")
