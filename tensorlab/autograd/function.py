"""Operations with a gradient that a person writes: ``class F(Function)`` with static ``forward`` and ``backward``."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from tensorlab import backend, dispatch, inplace, modes
from tensorlab.autograd import second
from tensorlab.autograd.second import once_differentiable as once_differentiable
from tensorlab.device import device
from tensorlab.dispatch import edge_of, saved_value, storage_of, wrap
from tensorlab.dtypes import dtype
from tensorlab.engine import sites
from tensorlab.engine.node import Bound, Node, check, counter, facts, fit
from tensorlab.modes import state
from tensorlab.tensor import Tensor
from tensorlab.viewing import View, edge_of_view, layout_of

new = object.__new__

#: Stands for the edge of a saved value that ``forward`` computed on the way; nobody knows what it depends on.
INTERMEDIATE = object()


class Context:
    """What ``forward`` leaves for ``backward``. Attributes set on it are kept; tensors belong into ``save_for_backward``."""

    def __init__(self) -> None:
        self.needs_input_grad: tuple[bool, ...] = ()
        self._to_save: tuple[Any, ...] = ()
        self._node: Any = None  # a weak reference, so that node and context form no cycle
        self._constants: tuple[Any, ...] = ()
        self._dirty: tuple[Any, ...] = ()
        self._materialize = True

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs or outputs for ``backward``, with their versions checked.

        Intermediates may be kept too. A second derivative then takes them for constants, and a warning says so.
        """
        for i, x in enumerate(tensors):
            if x is not None and not isinstance(x, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type {type(x).__name__}; set it as an "
                    "attribute of ctx"
                )
        self._to_save = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What ``save_for_backward`` kept. Raises ``RuntimeError`` once freed, or if a value was overwritten."""
        if self._node is None:
            return self._to_save
        node = self._node()
        if node is None:
            raise RuntimeError("the graph of this context is gone; its saved tensors went with it")
        return node.saved_tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say that these outputs, or intermediates that are kept, carry no gradient."""
        self._constants = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say that ``forward`` wrote into these inputs, which must be among its outputs."""
        for x in tensors:
            storage_of(x).bump("mark_dirty", sites.here())
        self._dirty = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether missing gradients reach ``backward`` as zeros (the default) or as ``None``."""
        self._materialize = value


class FunctionNode(Node):
    """A node whose gradient a person wrote. Attributes of its context can be read off it, as if it were the context."""

    __slots__ = ("ctx", "function", "kinds", "intermediates", "tensors", "given")

    many = True
    attrs = None

    #: Stands for an argument that is not known any more.
    LOST: Any = object()

    kinds: tuple[Any, ...]  # of each saved value its edge, or the number of the output it is, or INTERMEDIATE, or None
    intermediates: tuple[str, ...]  # attributes of the context that hold tensors which forward computed on the way
    tensors: tuple[bool, ...]  # which arguments were tensors
    given: tuple[Any, ...]  # of a tensor a weak reference and its version, of a plain value (value,), else None

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What ``save_for_backward`` kept, each value as the part of the graph that it is."""
        if self.freed is not None:
            self.saved[0]
        return tuple([None if value is None else self._open(i, value) for i, value in enumerate(self.saved)])

    def _open(self, index: int, value: Any) -> Any:
        edge = self.kinds[index]
        if type(edge) is int:
            edge = (self, edge)
        elif edge is INTERMEDIATE:
            what = f"value {index} of save_for_backward"
            edge = second.suspect(value[0] if type(value) is tuple else value, what) if state.grad else None
        if type(value) is not tuple:
            return value.open(self, edge)
        array, storage, version = value
        if storage.version != version:
            check(self, f"value {index}", value)
        return Bound.unpack(array, storage, edge)

    def argument(self, index: int) -> Any:
        """What ``forward`` was called with: the array of a tensor, a plain value as it is, or ``LOST``.

        A tensor is not kept alive for this: it is found while somebody else holds it, or while it is saved, unless it was written to.
        """
        known = self.given[index]
        if not self.tensors[index]:
            return self.LOST if known is None else known[0]
        tensor = known[0]()
        if tensor is not None and version_of(tensor) == known[1]:
            return tensor._a
        edge = self.edges[index]
        for kind, value in zip(self.kinds, () if self.freed is not None else self.saved, strict=False):
            if edge is not None and kind is edge and type(value) is tuple and value[1].version == value[2]:
                return value[0]
        return self.LOST

    def saved_facts(self) -> list[tuple[str, Any, int, int, int]]:
        values = enumerate(() if self.freed is not None else self.saved)
        return [(f"saved_tensors[{i}]", v[0], v[2], v[1].version, id(v[1])) for i, v in values if type(v) is tuple]

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(object.__getattribute__(self, "ctx"), name)
        except AttributeError:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}") from None

    # ---------------------------------------------------------------------------------------------- computing gradients

    def apply(self, grads: Sequence[Any], graph: bool, edges: Sequence[Any] | None = None) -> list[Any]:
        ctx, function = self.ctx, self.function
        if ctx._materialize:
            beside = next((g for g in grads if g is not None), None)
            grads = [g if g is not None else self._zero(i, beside) for i, g in enumerate(grads)]
        since = next(counter)
        with modes.set_grad_enabled(graph):
            if graph and self.intermediates:
                found = second.run_with_suspects(function, ctx, self.intermediates, grads)
            else:
                found = function.backward(ctx, *grads)
        found = found if isinstance(found, (tuple, list)) else (found,)
        name, count = f"{function.__name__}Backward", len(self.edges)
        if len(found) > count and all(g is None for g in found[count:]):
            found = found[:count]
        if len(found) != count:
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {count}, got {len(found)})"
            )
        accepted = [
            self._accept(name, i, edge, g) for i, (edge, g) in enumerate(zip(edges or self.edges, found, strict=True))
        ]
        if graph:
            second.warn_of_suspects(function, accepted, since)
        return accepted

    def _zero(self, output: int, beside: Any) -> Any:
        """Zeros for an output that got no gradient, where the gradient of another one is."""
        shape, dtype = facts((self, output))
        if dtype is None or beside is None:
            return None if dtype is None else wrap(np.zeros(shape, dtype))
        where = backend.of(beside._a)
        with where.on(beside._a):
            return wrap(where.xp.zeros(shape, dtype))

    def _accept(self, name: str, index: int, edge: Any, g: Any) -> Any:
        """A gradient that ``backward`` returned, in the shape and type of its input."""
        if g is None:
            return None
        if not isinstance(g, Tensor):
            raise RuntimeError(
                f"function {name}: expected Variable or None (got {type(g).__name__}) as gradient {index}"
            )
        if not self.tensors[index]:
            raise RuntimeError(
                f"function {name} returned a gradient different than None at position {index + 1}, but the corresponding forward "
                "input was not a Variable"
            )
        if edge is None:
            return None
        shape = facts(edge)[0]
        if not _stretches(shape, g._a.shape):
            raise RuntimeError(
                f"Function {name} returned an invalid gradient at index {index} - got {list(g._a.shape)} but expected shape "
                f"compatible with {list(shape)}"
            )
        return fit(g, edge)


def _stretches(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Whether broadcasting can stretch ``shape`` to ``to``."""
    extra = len(to) - len(shape)
    return extra >= 0 and all(n in (m, 1) for n, m in zip(shape, to[extra:], strict=True))


class _FunctionType(type):
    """Gives every Function its own node class, named after it as in PyTorch."""

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> None:
        super().__init__(name, bases, body)
        cls._node_class = type(f"{name}Backward", (FunctionNode,), {"__slots__": ()})


class Function(metaclass=_FunctionType):
    """Subclass with static methods ``forward(ctx, *args)`` and ``backward(ctx, *grads)``, and call ``F.apply(*args)``.

    ``forward`` may also leave out ``ctx`` when ``setup_context(ctx, inputs, output)`` is defined. ``backward`` returns one
    gradient for every argument of ``forward``, ``None`` for those that need none. It is recorded under ``create_graph``, so it
    differentiates again if it uses tensor operations on what ``save_for_backward`` kept of inputs and outputs.
    """

    _node_class: Any

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function: a static method forward(ctx, ...)"
        )

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD: a "
            "static method backward(ctx, ...)"
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Fill ``ctx`` when ``forward`` was written without it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with "
            f"static forward method, and call {type(self).__name__}.apply(...)"
        )

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run ``forward`` and record one node for it."""
        ctx = Context()
        edges = tuple([edge_of(a) if isinstance(a, Tensor) and a._live else None for a in args])
        ctx.needs_input_grad = tuple([edge is not None for edge in edges])
        recording = state.grad and any(ctx.needs_input_grad)
        versions = [
            a._st.version if edge is not None and a._st is not None else 0 for a, edge in zip(args, edges, strict=True)
        ]
        with modes.no_grad():
            if cls.setup_context is not Function.setup_context:
                output = cls.forward(*args)
                cls.setup_context(ctx, args, output)
            else:
                output = cls.forward(ctx, *args)
        outputs = output if isinstance(output, tuple) else (output,)
        cls._check_writes(ctx, args, edges, outputs, versions)
        results = [_result(x, args, ctx._dirty) for x in outputs]
        if recording:
            cls._record(ctx, args, edges, outputs, results)
        ctx._dirty = ctx._constants = ()
        return tuple(results) if isinstance(output, tuple) else results[0]

    @classmethod
    def _check_writes(
        cls, ctx: Context, args: Sequence[Any], edges: Any, outputs: Sequence[Any], versions: Sequence[int]
    ) -> None:
        """Every input that was written to is marked and returned."""
        for x in ctx._dirty:
            if not _among(x, outputs):
                raise RuntimeError(
                    f"{cls.__name__}: Some elements marked as dirty during the forward method were not returned as output. The inputs "
                    "that are modified inplace must all be outputs of the Function."
                )
        for i, (a, edge, version) in enumerate(zip(args, edges, versions, strict=True)):
            if edge is not None and a._st is not None and a._st.version != version and not _among(a, ctx._dirty):
                warnings.warn(
                    f"{cls.__name__}: forward wrote into input {i}, which requires grad, and did not say so: gradients will take it for "
                    "unchanged. Call ctx.mark_dirty(input) and return it, or write to a clone().",
                    stacklevel=3,
                )

    @classmethod
    def _record(
        cls, ctx: Context, args: Sequence[Any], edges: tuple[Any, ...], outputs: Sequence[Any], results: list[Any]
    ) -> None:
        node: Any = new(cls._node_class)
        node.ctx, node.function, node.edges, node.hooks = ctx, cls, edges, None
        node.seq = next(counter)
        node.made = dispatch.made_here() if dispatch.watched else None
        node.tensors = tuple([isinstance(a, Tensor) for a in args])
        node.given = tuple([_given(a) for a in args])
        node.outs = tuple(
            [fact for x in results for fact in ((x._a.shape, x._a.dtype) if isinstance(x, Tensor) else ((), None))]
        )
        for number, (x, original) in enumerate(zip(results, outputs, strict=True)):
            if isinstance(x, Tensor) and not _among(original, ctx._constants) and x._a.dtype.kind in "fcV":
                if not _among(x, ctx._dirty):
                    x._edge, x._rg, x._live = (node, number), True, True
                else:
                    _check_dirty(cls.__name__, x, len(results))
                    inplace.rebase(x, node, number, next(i for i, a in enumerate(args) if a is x))
        node.kinds = tuple([_kind(x, args, edges, outputs, ctx) for x in ctx._to_save])
        node.saved = tuple([None if x is None else saved_value(cls.__name__, x) for x in ctx._to_save])
        node.intermediates = tuple(
            [
                n
                for n, x in ctx.__dict__.items()
                if isinstance(x, Tensor) and _kind(x, args, edges, outputs, ctx) is INTERMEDIATE
            ]
        )
        ctx._to_save = ()
        ctx._node = weakref.ref(node)


def version_of(x: Any) -> int:
    return 0 if x._st is None or x._st.inference else x._st.version


def _given(a: Any) -> Any:
    """What is remembered of an argument: nothing that could hold a graph, a model or much memory."""
    if isinstance(a, Tensor):
        return weakref.ref(a), version_of(a)
    plain = a is None or isinstance(a, (bool, int, float, complex, str, dtype, device))
    return (a,) if plain or (isinstance(a, (tuple, list)) and all(type(b) in (int, float, bool) for b in a)) else None


def _among(x: Any, others: Sequence[Any]) -> bool:
    return any(x is other for other in others)


def _check_dirty(name: str, x: Tensor, outputs: int) -> None:
    if x._view is not None and outputs > 1:
        raise RuntimeError(
            f"{name}: a Function that writes into a view must have that view as its only output; write to a clone() instead"
        )
    base = x if x._view is None else x._view.base
    if base._rg and base._edge is None:
        what = "a leaf Variable" if base is x else "a view of a leaf Variable"
        raise RuntimeError(f"{name}: {what} that requires grad has been used in an in-place operation.")
    inplace.may_record(name, x)


def _result(x: Any, args: Sequence[Any], dirty: Sequence[Any]) -> Any:
    """An output as ``apply`` returns it: an input that was returned as it is becomes a view, so that it has its own history."""
    if not isinstance(x, Tensor) or _among(x, dirty):
        return x
    if _among(x, args):
        out = wrap(x._a)
        out._st, out._off, out._live = storage_of(x), x._off, True
        stamp = -1 if out._st.inference else out._st.version
        out._view = View(x if x._view is None else x._view.base, "function", stamp, layout_of(x))
        return out
    if x._view is not None:
        if getrefcount(x._view.base) <= 2:
            x._view = None  # of something that nobody else holds
        else:
            x._view.made_in = "function"
    return x


def _kind(x: Any, args: Sequence[Any], edges: Sequence[Any], outputs: Sequence[Any], ctx: Context) -> Any:
    """What a kept tensor is in the graph."""
    if x is None or x._a.dtype.kind not in "fcV" or _among(x, ctx._constants):
        return None
    for i, a in enumerate(args):
        if a is x and not _among(x, ctx._dirty):
            return edges[i]
    for i, o in enumerate(outputs):
        if o is x:
            return i
    view = x._view
    if view is not None and view.made_in:
        of_input = _among(view.base, args) and not _among(view.base, ctx._dirty)
        return edge_of_view(view.base, x) if of_input else INTERMEDIATE
    return edge_of(x) if x._rg else INTERMEDIATE
