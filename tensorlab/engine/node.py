"""Nodes of the graph, and how a node computes gradients from its row.

A node keeps arrays, never the tensors it was made from, so graphs have no cycles: a saved value is ``(array, storage, version)``,
and what it is in the graph is read off the node's own edges when a second derivative asks for it.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tensorlab import backend
from tensorlab.backend.storage import Storage
from tensorlab.engine import sites
from tensorlab.engine.hooks import NodeHooks, RemovableHandle, hook_table, register

#: Creation numbers. A node's is its id everywhere: in a snapshot, a breakpoint, a drawing.
counter = itertools.count(1)

#: An edge: the node a gradient goes to, and which of its outputs it belongs to; for a leaf's node, the leaf as well.
Edge = tuple["Node", int] | tuple["Node", int, Any]

_new, _weak = object.__new__, weakref.ref
_making = threading.RLock()
_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)


class Bound:
    """What the floors above give the engine when they are loaded: how to make tensors from arrays."""

    wrap: Any  # array -> Tensor
    unpack: Any  # (array, storage, edge) -> Tensor that is part of the graph
    cast: Any  # (Tensor, NumPy dtype) -> Tensor
    edge: Any  # root Tensor -> its edge, or an error that says why it has none
    seed: Any  # (root, gradient or None) -> gradient
    like: Any  # (array, array) -> Tensor with a copy of the first, laid out like the second


class Freed:
    """Stands where saved values were. Asking it for one explains which backward freed them."""

    __slots__ = ("site",)

    def __init__(self, site: Any) -> None:
        self.site = site

    def __getitem__(self, index: int) -> Any:
        first = f" The first backward was at {sites.describe(self.site)}." if self.site else ""
        raise RuntimeError(
            "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed)."
            f"{first} Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Say "
            "retain_graph=True in the first call if you need to backward through the graph a second time, or compute the loss again."
        )

    def __len__(self) -> int:
        return 0


class Packed:
    """A saved value in the care of a user's ``saved_tensors_hooks``."""

    __slots__ = ("payload", "unpack", "shape", "dtype")

    def __init__(self, payload: Any, unpack: Callable[[Any], Any], array: Any) -> None:
        self.payload = payload
        self.unpack = unpack
        self.shape, self.dtype = array.shape, array.dtype

    def open(self, node: Node, edge: Any = None) -> Any:
        """The value as the user's hook gives it back, as the part of the graph that ``edge`` says it is."""
        found = self.unpack(self.payload)
        if not hasattr(found, "_a"):
            raise TypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(found).__name__}, for {node.name()}"
            )
        if found._a.shape != self.shape or found._a.dtype != self.dtype:
            raise RuntimeError(
                f"the unpack hook gave {node.name()} a tensor of shape {list(found._a.shape)} and type {found._a.dtype} for one of shape "
                f"{list(self.shape)} and type {self.dtype}"
            )
        return Bound.unpack(found._a, found._st or Storage(), edge)


class Node:
    """One recorded operation. ``row`` is its operation, ``edges[i]`` where the gradient of input ``i`` goes (or ``None``)."""

    __slots__ = ("edges", "saved", "attrs", "seq", "outs", "made", "hooks", "__weakref__")

    row: Any = None
    many = False  # has several outputs
    first = 0  # added to the order in which ready nodes run: below 0 for nodes that go before all others
    _plain: tuple[Any, ...] = ()
    _graph: tuple[Any, ...] = ()

    edges: tuple[Edge | None, ...]
    saved: Any  # one entry an input and a result: (array, storage, version), or None where the formulas do not need it
    attrs: dict[str, Any] | None
    seq: int
    outs: tuple[Any, ...]  # of every output its shape and its NumPy dtype, in one flat tuple
    made: tuple[Any, Any] | None  # (site, path of modules) where places are recorded
    hooks: NodeHooks | None

    # ---------------------------------------------------------------------------------------------- what people see

    def name(self) -> str:
        """The node's name as PyTorch spells it, such as ``MulBackward0``."""
        return type(self).__name__

    @property
    def meta(self) -> tuple[tuple[tuple[int, ...], Any], ...]:
        """(shape, NumPy dtype) of every output."""
        return tuple(zip(self.outs[::2], self.outs[1::2], strict=True))

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes that this node's gradients go to, one pair (node, output number) an input."""
        return tuple([(None, 0) if edge is None else edge[:2] for edge in self.edges])

    @property
    def site(self) -> Any:
        return self.made[0] if self.made else None

    @property
    def scope(self) -> tuple[tuple[str, str], ...] | None:
        """The modules that were running when the node was made, outermost first, as (name, type name) pairs."""
        path = self.made[1] if self.made else None
        return path.names() if path is not None else None

    @property
    def freed(self) -> Any:
        """``None``, or what freed this node's saved values."""
        return self.saved if isinstance(self.saved, Freed) else None

    def saved_facts(self) -> list[tuple[str, Any, int, int, int]]:
        """What the node keeps: (name, array, version when saved, version now, storage identity)."""
        if isinstance(self.saved, Freed) or self.row is None:
            return []
        names = self.row.params + self.row.results if not self.row.variadic else ()
        return [
            (name, value[0], value[2], value[1].version, id(value[1]))
            for name, value in zip(names, self.saved or (), strict=False)
            if type(value) is tuple
        ]

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad_inputs, grad_outputs)`` after this node ran; a returned tuple replaces ``grad_inputs``."""
        return register(self.hook_tables().post, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad_outputs)`` before this node runs; a returned tuple replaces them."""
        return register(self.hook_tables().pre, hook)

    def hook_tables(self) -> NodeHooks:
        if self.hooks is None:
            self.hooks = NodeHooks()
        return self.hooks

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_saved_") and self.row is not None:
            return self._saved_by_name(name[7:])
        raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")

    def _saved_by_name(self, name: str) -> Any:
        if self.attrs and name in self.attrs:
            return self.attrs[name]
        names = self.row.params + self.row.results
        if name in names and self.saved[names.index(name)] is not None:
            return self.value(names.index(name))
        raise AttributeError(f"{type(self).__name__} saved no {name!r}; it saved {[f[0] for f in self.saved_facts()]}")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"

    # ---------------------------------------------------------------------------------------------- saved values

    def array(self, index: int) -> Any:
        """A saved value as a plain array, once its version is checked."""
        value = self.saved[index]
        if type(value) is tuple:
            array, storage, version = value
            if storage.version != version:
                check(self, self._label(index), value)
            return array
        return None if value is None else value.open(self)._a

    def value(self, index: int) -> Any:
        """A saved value as a Tensor that is the same part of the graph as what was saved."""
        value = self.saved[index]
        if type(value) is tuple:
            array, storage, version = value
            if storage.version != version:
                check(self, self._label(index), value)
            return Bound.unpack(array, storage, self._edge_of_saved(index))
        return None if value is None else value.open(self, self._edge_of_saved(index))

    def _edge_of_saved(self, index: int) -> Any:
        """What a saved value is in the graph: an input, or one of this node's own outputs."""
        inputs = len(self.edges)
        return self.edges[index] if index < inputs else (self, index - inputs)

    def _label(self, index: int) -> str:
        names = self.row.params + self.row.results
        return f"'{names[index]}'" if index < len(names) else f"value {index}"

    # ---------------------------------------------------------------------------------------------- computing gradients

    @classmethod
    def plan(cls, row: Any) -> None:
        """Prepare, once a row, how each gradient formula gets its arguments."""
        if row.vjps is not None:
            cls._plain = tuple(_bind(row, v, n, "array") for v, n in zip(row.vjps, row.needs, strict=True))
            cls._graph = tuple(_bind(row, v, n, "value") for v, n in zip(row.vjps, row.needs, strict=True))

    def apply(self, grads: Sequence[Any], graph: bool, edges: Sequence[Edge | None] | None = None) -> list[Any]:
        """Gradients for every edge from the gradients of the outputs; ``graph`` asks for gradients that differentiate again.

        ``edges`` are the node's own with ``None`` for those that nothing is wanted of.
        """
        row = self.row
        if row.joint is not None:
            return self._apply_joint(grads, edges or self.edges)
        g = grads[0]
        if g is None:
            return [None] * len(self.edges)
        if not graph and edges is None and self.flow is not None:
            a = g._a
            if a.dtype is _F32 or a.dtype is _F64:
                if type(a) is np.ndarray:
                    return [None if r is None else Bound.wrap(r) for r in self.flow(a)]
                with backend.of(a).on(a):
                    return [None if r is None else Bound.wrap(r) for r in self.flow(a)]
        out: list[Any] = []
        conjugate = self.outs[1].kind == "c" and row.holomorphic
        if conjugate:
            g = g.conj()
        for edge, step in zip(edges or self.edges, self._graph, strict=True):
            if edge is None:
                out.append(None)
                continue
            r = step(g, self)
            out.append(fit(r.conj() if conjugate else r, edge))
        return out

    #: The same on plain arrays, float32 or float64, for rows whose formulas allow it: ``flow(gradient) -> arrays``, or ``None``.
    flow: Any = None

    def _flow(self, a: Any) -> list[Any]:
        out: list[Any] = []
        for edge, step in zip(self.edges, self._plain, strict=True):
            out.append(None if edge is None else _fitted(step(a, self), *facts(edge)))
        return out

    def _apply_joint(self, grads: Sequence[Any], edges: Sequence[Edge | None]) -> list[Any]:
        if all(g is None for g in grads):
            return [None] * len(edges)
        needs = [edge is not None for edge in edges]
        arguments = [self._argument(name) for name in self.row.needs[0]]
        found = self.row.joint(list(grads), needs, *arguments)
        return [
            fit(r, edge) if edge is not None and r is not None else None for edge, r in zip(edges, found, strict=True)
        ]

    def _argument(self, name: str) -> Any:
        kind, key = _source(self.row, name)
        if kind == "attr":
            return self.attrs[key] if self.attrs else None
        if kind == "shape":
            return self.input_shape(key)
        return self.value(key) if self.saved[key] is not None else None

    def input_shape(self, index: int) -> tuple[int, ...]:
        edge = self.edges[index]
        if edge is None:
            raise RuntimeError(f"{self.name()} has no gradient to give for input {index}")
        return facts(edge)[0]


class Overwritten(NamedTuple):
    """What is known of a saved value that was written to: who saved it, and each write since as (version, operation, site)."""

    node: str
    site: Any
    label: str
    shape: tuple[int, ...]
    dtype: str
    saved_version: int
    version: int
    writes: tuple[tuple[int, str, Any], ...]


def check(node: Node, label: str, value: tuple[Any, Any, int]) -> None:
    """Raise if a saved value may have been written to, given that its storage was.

    PyTorch sees no write through ``.data``. Programs that rely on it write beside what they saved, which leaves the gradient right: so
    where such writes are known element by element, those beside do not count.
    """
    array, storage, version = value
    parts = storage.parts_since(version)
    if parts is None or any(backend.of(array).overlap(part, array) for part in parts):
        raise modified(node, label, value)


def modified(node: Node, label: str, value: tuple[Any, Any, int]) -> RuntimeError:
    """The error for a saved value that was written to, with everything that is known of who saved it and who wrote."""
    array, storage, version = value
    writes = [w for w in storage.writes if w[0] > version]
    who = "".join(
        f" It was written by {op}()" + (f" at {sites.describe(site)}" if site else "") + f" (version {number})."
        for number, op, site in writes[:3]
    )
    made = f", made at {sites.describe(node.site)}," if node.site else ""
    error: Any = RuntimeError(
        f"one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[tensorlab.{array.dtype.name} {list(array.shape)}], which {node.name()}{made} saved as {label}, is at version "
        f"{storage.version}; expected version {version} instead.{who} Use the out-of-place form, or write to a clone()."
    )
    error.facts = Overwritten(
        node.name(), node.site, label, array.shape, str(array.dtype), version, storage.version, tuple(writes)
    )
    return error


def _source(row: Any, name: str) -> tuple[str, Any]:
    """Where a formula's argument comes from: a saved value, the shape of an input, or an attribute of the call."""
    if name in row.params and not row.variadic:
        return "saved", row.params.index(name)
    if name in row.results:
        return "saved", len(row.params) + row.results.index(name)
    if name.endswith("_shape") and name[:-6] in row.params:
        return "shape", row.params.index(name[:-6])
    return "attr", name


def _bind(row: Any, vjp: Callable[..., Any] | None, needs: tuple[str, ...], how: str) -> Callable[[Any, Node], Any]:
    """A formula as a function of (gradient, node). The common forms are spelled out since every backward step runs one."""
    if vjp is None:

        def refuse(g: Any, node: Node) -> Any:
            raise RuntimeError(f"{row.name}() has no gradient for this input")

        return refuse
    sources = [_source(row, name) for name in needs]
    kinds = [kind for kind, _ in sources]
    read = getattr(Node, how)
    if not sources:
        return lambda g, node: vjp(g)
    if kinds == ["saved"]:
        i = sources[0][1]
        if how == "array":

            def one_array(g: Any, node: Node) -> Any:
                value = node.saved[i]
                if type(value) is tuple and value[1].version == value[2]:
                    return vjp(g, value[0])
                return vjp(g, node.array(i))

            return one_array
        return lambda g, node: vjp(g, read(node, i))
    if kinds == ["saved", "saved"]:
        i, j = sources[0][1], sources[1][1]
        return lambda g, node: vjp(g, read(node, i), read(node, j))

    def general(g: Any, node: Node) -> Any:
        arguments = []
        for kind, key in sources:
            if kind == "saved":
                arguments.append(read(node, key))
            elif kind == "shape":
                arguments.append(node.input_shape(key))
            else:
                arguments.append(node.attrs[key])  # type: ignore[index]
        return vjp(g, *arguments)

    return general


def reduce_to(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum a gradient over the dimensions that broadcasting stretched. Works on arrays and on Tensors.

    Raises ``RuntimeError`` where that does not give ``shape``: the value was given another shape in place after it was used.
    """
    given = tuple(g.shape)
    extra = len(given) - len(shape)
    if extra < 0:
        if prod(given) != prod(shape):
            raise misfit(given, shape)
        return g.reshape(shape)
    axes = tuple(range(extra)) + tuple(d for d in range(extra, len(given)) if shape[d - extra] == 1 and given[d] != 1)
    if axes:
        g = g.sum(axes, keepdims=True)
    if tuple(g.shape)[extra:] != shape:
        raise misfit(given, shape)
    return g.reshape(shape) if extra else g


def misfit(given: tuple[int, ...], shape: tuple[int, ...]) -> RuntimeError:
    return RuntimeError(
        f"an invalid gradient: got {list(given)} but expected a shape compatible with {list(shape)}. Was a tensor given another shape "
        "in place (t_, squeeze_, resize_ ...) after it had been used?"
    )


def fit(g: Any, edge: Edge) -> Any:
    """A gradient with the shape and type of what it belongs to."""
    shape, dtype = facts(edge)
    if g._a.shape != shape:
        g = reduce_to(g, shape)
    return g if g._a.dtype is dtype or g._a.dtype == dtype else Bound.cast(g, dtype)


def _elementwise(row: Any) -> Callable[..., Any]:
    """``flow`` for elementwise rows: the same steps as ``Node._flow``, with nothing in between.

    Most formulas need one saved value or none, so ``vjp(gradient)`` and ``vjp(gradient, saved)`` are spelled out; ``at`` is where
    the value is saved, -1 for none, -2 where the formula needs more.
    """
    steps = [_bind(row, v, n, "array") for v, n in zip(row.vjps, row.needs, strict=True)]
    at = [_only_saved(row, names) for names in row.needs]
    if len(steps) == 1:
        (vjp,), (step,), (i,) = row.vjps, steps, at

        def flow_one(self: Node, a: Any) -> tuple[Any]:
            if i >= 0:
                value = self.saved[i]
                if type(value) is tuple and value[1].version == value[2]:
                    return (vjp(a, value[0]),)
            return (step(a, self),)

        return flow_one

    (vjp_one, vjp_two), (step_one, step_two), (i, j) = row.vjps, steps, at

    def flow_two(self: Node, a: Any) -> tuple[Any, Any]:
        one, two = self.edges
        own = self.outs
        left = right = None
        if one is not None:
            if i >= 0 and type(value := self.saved[i]) is tuple and value[1].version == value[2]:
                left = vjp_one(a, value[0])
            else:
                left = step_one(a, self)
            if one[0].outs != own:
                left = _fitted(left, *facts(one))
        if two is not None:
            if j >= 0 and type(value := self.saved[j]) is tuple and value[1].version == value[2]:
                right = vjp_two(a, value[0])
            else:
                right = step_two(a, self)
            if two[0].outs != own:
                right = _fitted(right, *facts(two))
        return left, right

    return flow_two


def _only_saved(row: Any, names: tuple[str, ...]) -> int:
    """Where the one saved value that a formula needs is kept; -1 if it needs none, -2 if it needs anything else."""
    sources = [_source(row, name) for name in names]
    if not sources:
        return -1
    return sources[0][1] if len(sources) == 1 and sources[0][0] == "saved" else -2


def facts(edge: Edge) -> tuple[tuple[int, ...], Any]:
    """Shape and NumPy dtype of the value whose gradient goes along an edge."""
    outs, at = edge[0].outs, 2 * edge[1]
    return outs[at], outs[at + 1]


def _fitted(r: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array with the shape and type of what it is the gradient of."""
    if r.shape != shape:
        r = reduce_to(r, shape)
    return r if r.dtype is dtype else r.astype(dtype)


def node_class(row: Any) -> type[Node]:
    """The class of a row's nodes, one a row, named as PyTorch names it."""
    if row.node is None:
        made: Any = type(
            row.node_name, (Node,), {"__slots__": (), "row": row, "__doc__": f"Records one call of {row.name}()."}
        )
        made.plan(row)
        made.many = len(row.results) > 1 or row.name in ("split", "unbind")
        if row.on_arrays:
            made.flow = _elementwise(row) if row.promotes and len(row.params) <= 2 else Node._flow
        row.node = made
    return row.node


class AccumulateGrad(Node):
    """The end of a path: adds what arrives to the ``.grad`` of its leaf, ``variable``.

    A leaf keeps its node for good, with the hooks registered on it; the node knows the leaf weakly, and the edges of a graph
    (``(node, 0, leaf)``) keep the leaf alive. So there is no cycle, and a graph never loses a leaf.
    """

    __slots__ = ("_leaf", "after")

    _leaf: Any
    after: dict[int, Any]
    first = -(1 << 62)
    edges = ()
    saved = None
    attrs = None
    made = None

    @property
    def variable(self) -> Any:
        """The leaf; ``None`` once it is gone together with every graph that used it."""
        return self._leaf()


def accumulator(leaf: Any) -> AccumulateGrad:
    """The node at which gradients of a leaf that requires grad arrive."""
    node = leaf._acc
    if node is None:
        with _making:
            if leaf._acc is not None:
                return leaf._acc
            node = _new(AccumulateGrad)
            node._leaf = _weak(leaf)
            node.seq = next(counter)
            node.outs = (leaf._a.shape, leaf._a.dtype)
            node.hooks = None
            node.after = hook_table()  # post-accumulate-grad hooks
            leaf._acc = node  # last: other threads may look
    return node


def new_accumulator(leaf: Any) -> None:
    """Give a leaf that has another shape now a node of that shape, with the hooks of the old one."""
    old = leaf._acc
    if old is not None and old.outs[0] != leaf._a.shape:
        leaf._acc = None
        fresh = accumulator(leaf)
        fresh.hooks, fresh.after = old.hooks, old.after
