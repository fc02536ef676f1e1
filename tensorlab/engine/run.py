"""The backward pass as an object that can wait.

``BackwardRun`` owns the ready heap, the consumer counts and the gradients that wait at nodes. ``step()`` runs one node;
``Tensor.backward()`` is a run to the end. There is no second walker.

Two rules make a run safe to interrupt and to undo. Waiting gradients are never changed in place: a sum makes a new tensor and a
new list, so going back means putting earlier references back. And a step first computes, changing nothing, then commits edge by
edge behind a cursor; an exception or an interrupt at any point leaves either an untouched step or a commit that goes on where
it stood. (Signals are handled at calls, so the stores that belong together stand next to each other without a call between.)
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from sys import getrefcount
from typing import Any

import numpy as np

from tensorlab import taps
from tensorlab.engine import sites
from tensorlab.engine.hooks import NodeHooks
from tensorlab.engine.node import AccumulateGrad, Bound, Edge, Freed, Node
from tensorlab.modes import sites_are_watched, state

_deposits = threading.Lock()
_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)


def priority(node: Node) -> int:
    """The newest ready node runs first; leaves' accumulators run before everything."""
    return node.first - node.seq


def _sum(a: Any, b: Any) -> Any:
    """The sum of two gradients that no graph follows."""
    return Bound.wrap(a._a + b._a)


def _joined(node: Node, held: Any, output: int, gradient: Any, add: Callable[[Any, Any], Any]) -> Any:
    """What waits at a node once a gradient for one of its outputs arrived."""
    if gradient is None:
        return held
    if not node.many:
        return gradient if held is None else add(held, gradient)
    slots = [None] * (len(node.outs) // 2) if held is None else held.copy()
    slots[output] = gradient if slots[output] is None else add(slots[output], gradient)
    return slots


def _slots(node: Node, held: Any) -> list[Any]:
    """What waits at a node, one entry an output."""
    if node.many:
        return [None] * (len(node.outs) // 2) if held is None else list(held)
    return [held]


#: Of one node: how many edges that lead to it have not run yet (-1 once it ran itself), and the gradient that waits there: a
#: list with one entry an output for nodes that have several. A gradient is replaced, never changed.
Cell = list[Any]


def backward(roots: Sequence[Any], gradients: Sequence[Any], retain: bool | None, create: bool, inputs: Any) -> None:
    """A pass from ``roots`` to the end that adds to ``.grad`` of the leaves, or of ``inputs`` only."""
    run = BackwardRun(roots, gradients, retain_graph=retain, create_graph=create, inputs=inputs, unseen=True)
    run.run()
    if inputs is not None:
        for index, tensor in enumerate(inputs):
            gradient = run.captured.get(index)
            if tensor._edge is not None and gradient is not None:
                tensor._grad = gradient if tensor._grad is None else tensor._grad + gradient


class _Undo:
    """What one step changed, as references to what was there before."""

    __slots__ = ("node", "held", "incoming", "outgoing", "targets", "leaf", "edit")

    def __init__(self, node: Node, held: Any, edit: bool = False) -> None:
        self.node = node
        self.held = held
        self.incoming: Any = None
        self.outgoing: Any = ()
        self.targets: list[tuple[Cell, int, Any, int]] = []  # (cell, its missing edges, its gradient, edge position)
        self.leaf: tuple[Any, ...] | None = None
        self.edit = edit


class BackwardRun:
    """A backward pass from ``roots`` that goes on when it is told to.

    ``gradients`` seeds each root; ``None`` means 1, for roots of one element. ``inputs`` limits the pass to paths that lead to
    them: with ``accumulate`` their ``.grad`` is filled, without it the gradients are in ``captured``. ``journal`` keeps what
    ``back()`` needs. ``unseen`` promises that nobody looks at waiting gradients; they may then travel as plain arrays. ``retain_graph`` defaults to ``create_graph``; with a journal, saved values are freed at ``close()``.

    Attributes: ``current`` (the node that runs next, or ``None``), ``waiting`` (node -> gradients, one an output), ``done`` (nodes
    in the order they ran, with a journal), ``count`` and ``total`` (nodes run, nodes in all), ``finished``, ``lock``.
    """

    def __init__(
        self,
        roots: Sequence[Any],
        gradients: Sequence[Any] | None = None,
        *,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Sequence[Any] | None = None,
        accumulate: bool = True,
        journal: bool = False,
        unseen: bool = False,
    ) -> None:
        self.lock = threading.RLock()
        self.create_graph = create_graph
        self.retain_graph = create_graph if retain_graph is None else retain_graph
        self.cells: dict[Node, Cell] = {}
        self.ready: list[tuple[int, Node, Cell]] = []
        self.count = 0
        self.closed = False
        self.captured: dict[int, Any] = {}
        self._captures: dict[Node, list[tuple[int, int, Any]]] = {}
        self._fill = accumulate
        self._needed: set[Node] | None = None
        self._journal: list[_Undo] | None = [] if journal else None
        self._inflight: list[Any] | None = None
        self._stage = 0  # how far the deposit of a leaf's gradient got: 1 added, 2 its hooks are being told
        self._arrays = unseen and not journal and not create_graph and not taps.steps
        self._freed = Freed(sites.here() if not self.retain_graph and sites_are_watched() else None)
        edges = [Bound.edge(root) for root in roots]
        self._count(edges)
        if inputs is not None:
            self._aim(inputs)
        self.total = len(self.cells) if self._needed is None else len(self._needed)
        self._seed(edges, gradients if gradients is not None else [None] * len(edges), roots)

    # ---------------------------------------------------------------------------------------------- setting out

    def _count(self, edges: Sequence[Edge]) -> None:
        """Make a cell for every node that can be reached, with the number of edges that lead to it."""
        cells = self.cells
        stack = []
        for node, *_ in edges:
            if node not in cells:
                cells[node] = [0, None]
                stack.append(node)
        while stack:
            for edge in stack.pop().edges:
                if edge is not None:
                    node = edge[0]
                    if node in cells:
                        cells[node][0] += 1
                    else:
                        cells[node] = [1, None]
                        stack.append(node)

    def _aim(self, inputs: Sequence[Any]) -> None:
        """Keep only nodes from which a wanted input can be reached."""
        needed: set[Node] = set()
        for index, tensor in enumerate(inputs):
            edge = Bound.edge(tensor)
            self._captures.setdefault(edge[0], []).append((edge[1], index, tensor))
        for node in sorted(self.cells, key=lambda n: n.seq if type(n) is not AccumulateGrad else 0):
            if node in self._captures or any(e is not None and e[0] in needed for e in node.edges):
                needed.add(node)
        self._needed = needed

    def _seed(self, edges: Sequence[Edge], gradients: Sequence[Any], roots: Sequence[Any]) -> None:
        needed = self._needed
        for (node, output, *_), gradient, root in zip(edges, gradients, roots, strict=True):
            if needed is not None and node not in needed:
                continue
            seed = Bound.seed(root, gradient)
            cell = self.cells[node]
            cell[1] = _joined(node, cell[1], output, seed._a if self._arrays else seed, operator.add)
            del seed  # a reference here would make the gradient look shared to the leaf that may keep it
            if cell[0] == 0 and not (self.ready and any(entry[1] is node for entry in self.ready)):
                heappush(self.ready, (priority(node), node, cell))

    # ---------------------------------------------------------------------------------------------- where it stands

    @property
    def current(self) -> Node | None:
        """The node that runs next, or ``None`` when the run is over."""
        if self._inflight is not None:
            return self._inflight[0]
        return self.ready[0][1] if self.ready else None

    @property
    def finished(self) -> bool:
        return self.current is None

    @property
    def done(self) -> list[Node]:
        """Nodes in the order they ran. Only a run with a journal keeps them."""
        return [u.node for u in self._journal or () if not u.edit]

    @property
    def waiting(self) -> dict[Node, list[Any]]:
        """The gradients that wait: for every node that has some, one entry an output."""
        return {node: _slots(node, cell[1]) for node, cell in self.cells.items() if cell[1] is not None and cell[0] >= 0}

    def planned(self) -> list[Node]:
        """The nodes still to run, in the order they will run. The order depends on the graph alone, not on values."""
        missing = {node: cell[0] for node, cell in self.cells.items()}
        ready = [(entry[0], entry[1]) for entry in self.ready]
        order = []
        while ready:
            node = heappop(ready)[1]
            order.append(node)
            for edge in node.edges:
                if edge is not None and self._wants(edge[0]):
                    missing[edge[0]] -= 1
                    if missing[edge[0]] == 0:
                        heappush(ready, (priority(edge[0]), edge[0]))
        return order

    def held(self, node: Node) -> list[Any] | None:
        """The gradients that wait at a node, one entry an output, or ``None``."""
        cell = self.cells.get(node)
        return None if cell is None or cell[0] < 0 or cell[1] is None else _slots(node, cell[1])

    def left(self, node: Node) -> int | None:
        """How many edges that lead to a node have not run yet; -1 once the node ran, ``None`` if it is no part of the run."""
        cell = self.cells.get(node)
        return None if cell is None else cell[0]

    def incoming(self, node: Node) -> list[Any] | None:
        """The gradients that wait at a node, or that it got when it ran (with a journal)."""
        for undo in reversed(self._journal or ()):
            if undo.node is node and not undo.edit:
                return undo.incoming
        return self.held(node)

    def flow(self, node: Node) -> list[tuple[int, Any]]:
        """The gradients that a node sent when it ran, as (edge position, gradient); needs a journal."""
        for undo in reversed(self._journal or ()):
            if undo.node is node and not undo.edit:
                return [(i, g) for i, g in enumerate(undo.outgoing) if g is not None]
        return []

    def _wants(self, node: Node) -> bool:
        return self._needed is None or node in self._needed

    # ---------------------------------------------------------------------------------------------- going forward

    def step(self) -> Node | None:
        """Run one node and return it; ``None`` when there is none left."""
        with self.lock:
            node = self.current
            if node is not None:
                self._guarded(None, 1)
            return node

    def run(self, until: Callable[[BackwardRun, Node], bool] | None = None) -> Node | None:
        """Run to the end, or until ``until(run, node)`` says so of the node that would run next, which is returned."""
        with self.lock:
            return self._guarded(until, -1)

    def _guarded(self, until: Callable[[BackwardRun, Node], bool] | None, limit: int) -> Node | None:
        """Advance with this pass's grad mode, and give the thread its own back."""
        if self.closed:
            raise RuntimeError("this backward run is closed; start a new one from the loss")
        before = state.grad
        state.grad = self.create_graph
        try:
            return self._advance(until, limit)
        finally:
            state.grad = before

    def _advance(self, until: Callable[[BackwardRun, Node], bool] | None, limit: int) -> Node | None:
        """Run nodes: the one walker. Stops at the end, where ``until`` says so, or after ``limit`` nodes (-1: no limit).

        While ``outs`` is set a step is being committed, up to edge ``k``; should anything interrupt it, the flight is kept.
        """
        if self._inflight is not None:
            self._land()
            limit -= 1
        ready, cells, needed, journal, arrays = self.ready, self.cells, self._needed, self._journal, self._arrays
        quick = arrays and not self._captures
        add = operator.add if arrays or self.create_graph else _sum
        freed = None if self.retain_graph or journal is not None else self._freed
        watched = taps.steps
        outs = undo = None
        try:
            while ready:
                _, node, cell = ready[0]
                if limit == 0 or (until is not None and until(self, node)):
                    return node
                grads = cell[1]
                if (
                    quick
                    and node.flow is not None
                    and grads is not None
                    and node.hooks is None
                    and ((kind := grads.dtype) is _F32 or kind is _F64)
                ):
                    outs, k = node.flow(grads), 0
                else:
                    grads, outs, undo, k = *self._compute(node, grads), 0
                heappop(ready)
                for edge in node.edges:
                    if edge is None or (needed is not None and edge[0] not in needed):
                        k += 1
                        continue
                    target = edge[0]
                    there = cells[target]
                    left, new = there[0] - 1, outs[k]
                    if undo is not None:
                        undo.targets.append((there, left + 1, there[1], k))
                    if target.many:
                        new = _joined(target, there[1], edge[1], new, add)
                    elif there[1] is not None:
                        new = there[1] if new is None else add(there[1], new)
                    if left == 0:
                        heappush(ready, (target.first - target.seq, target, there))
                    there[1] = new
                    there[0] = left
                    k += 1
                if node.first:
                    outs = new = None  # the gradient must be seen to have one owner
                    outs = ()
                    self._deposit(node, grads, undo, cell)
                if undo is not None:
                    journal.append(undo)  # type: ignore[union-attr]
                elif freed is not None and node.saved:
                    node.saved = freed
                cell[0] = -1
                cell[1] = None
                self.count += 1
                sent, outs = outs, None
                limit -= 1
                if watched:
                    for tap in watched:
                        tap(node, grads, sent)
                sent = None
            return None
        except BaseException:
            if outs is not None:
                self._inflight = [node, grads, outs, k, undo]
            raise

    def _land(self) -> None:
        """Complete a step whose commit was interrupted. Every part of it can be told from whether it was done."""
        node, grads, outs, k, undo = self._inflight  # type: ignore[misc]
        self.ready = [entry for entry in self.ready if entry[1] is not node]
        heapify(self.ready)
        add = operator.add if self._arrays or self.create_graph else _sum
        while k < len(node.edges):
            edge = node.edges[k]
            if edge is not None and self._wants(edge[0]):
                target = edge[0]
                there = self.cells[target]
                left = there[0] - 1
                new = _joined(target, there[1], edge[1], outs[k], add)
                if undo is not None and (not undo.targets or undo.targets[-1][3] != k):
                    undo.targets.append((there, left + 1, there[1], k))
                if left == 0 and all(entry[1] is not target for entry in self.ready):
                    heappush(self.ready, (priority(target), target, there))
                there[1] = new
                there[0] = left
            k += 1
            self._inflight[3] = k  # type: ignore[index]
        cell = self.cells[node]
        if node.first:
            self._deposit(node, grads, undo, cell)
        if undo is not None and (not self._journal or self._journal[-1] is not undo):
            self._journal.append(undo)  # type: ignore[union-attr]
        elif undo is None and not self.retain_graph and node.saved:
            node.saved = self._freed
        if cell[0] >= 0:
            self.count += 1
            cell[0] = -1
        cell[1] = None
        self._inflight = None

    def _compute(self, node: Node, held: Any) -> tuple[Any, Any, _Undo | None]:
        """Everything of a step that can fail, before anything is changed: hooks and the node's own formulas.

        Returns the gradients that came in, those that go out along the edges, and what undoes the step.
        """
        self._stage = 0
        if self._arrays and node.first and node.hooks is None and not self._captures:
            return None, (), None
        grads = _slots(node, held)
        if not self._arrays:
            return self._compute_step(node, grads)
        incoming, outs, _ = self._compute_step(node, [None if g is None else Bound.wrap(g) for g in grads])
        return incoming, [None if g is None else g._a for g in outs], None

    def _compute_step(self, node: Node, grads: list[Any]) -> tuple[list[Any], Any, _Undo | None]:
        undo = None
        if self._journal is not None:
            undo = _Undo(node, self.cells[node][1])
        hooks = node.hooks
        capturing = self._captures.get(node)
        if hooks is not None:
            grads = self._before(node, hooks, list(grads), only_tensor_hooks=capturing is not None and not self._fill)
        if capturing is not None:
            for output, index, _ in capturing:
                self.captured[index] = grads[output]
        if node.first:
            outs: Any = ()
        elif self._ends_at(node):
            outs = (None,) * len(node.edges)
        else:
            outs = node.apply(grads, self.create_graph)
            if hooks is not None and hooks.post:
                outs = _after(node, hooks, outs, grads)
        if undo is not None:
            undo.incoming, undo.outgoing = list(grads), outs
        return grads, outs, undo

    def _ends_at(self, node: Node) -> bool:
        """Whether nothing that is wanted lies beyond a captured node, so that it need not run."""
        needed = self._needed
        return needed is not None and not any(e is not None and e[0] in needed for e in node.edges)

    # ---------------------------------------------------------------------------------------------- hooks

    def _before(self, node: Node, hooks: NodeHooks, grads: list[Any], only_tensor_hooks: bool) -> list[Any]:
        for output, table in hooks.tensor.items():
            for hook in list(table.values()):
                if grads[output] is not None:
                    grads[output] = _checked(node, hook(grads[output]), grads[output])
        for output, known in hooks.retain.items():
            tensor = known()
            if tensor is not None and grads[output] is not None:
                g = grads[output]
                tensor._grad = g if tensor._grad is None else tensor._grad + g
        if not only_tensor_hooks:
            for hook in list(hooks.pre.values()):
                found = hook(tuple(grads))
                if found is not None:
                    found = found if isinstance(found, tuple) else (found,)
                    if len(found) != len(grads):
                        raise RuntimeError(
                            f"a pre-hook of {node.name()} returned {len(found)} gradients; it got, and must return, {len(grads)}"
                        )
                    grads = [g if new is None else _checked(node, new, g) for new, g in zip(found, grads, strict=True)]
        return grads

    # ---------------------------------------------------------------------------------------------- leaves

    def _deposit(self, node: Any, grads: Any, undo: _Undo | None, cell: Cell) -> None:
        """Add what arrived to the leaf's ``.grad``: in place and in the same memory, unless the pass itself is recorded.

        ``grads`` is ``None`` where no hook saw the gradient, which then is in the cell alone and may become ``.grad`` itself.
        """
        leaf = node.variable
        wanted = self._fill and (self._needed is None or node in self._captures)
        held = cell if grads is None else [0, grads[0]._a if self._arrays and grads[0] is not None else grads[0]]
        if self._stage == 0 and wanted and held[1] is not None:
            with _deposits:
                current = leaf._grad
                if undo is not None and undo.leaf is None:
                    undo.leaf = _remember(leaf, current)
                if current is None:
                    if self.create_graph:
                        fresh = held[1]
                    else:
                        fresh = _own_array(held, leaf._a) if self._arrays else _own(held, leaf._a)
                    leaf._grad = fresh
                    self._stage = 1
                elif self.create_graph:
                    total = current + held[1]
                    leaf._grad = total
                    self._stage = 1
                else:
                    into, more = current._a, held[1] if self._arrays else held[1]._a
                    into += more
                    self._stage = 1
                    if current._st is not None:
                        current._st.bump("accumulate", None)
        if self._stage < 2:
            self._stage = 2
            if node.after and wanted:
                for hook in list(node.after.values()):
                    hook(leaf)
            if node.hooks is not None and node.hooks.post:
                for hook in list(node.hooks.post.values()):
                    hook((), tuple(grads))

    # ---------------------------------------------------------------------------------------------- going back

    def edit(self, node: Node, output: int, gradient: Any) -> None:
        """Replace a waiting gradient. ``back()`` undoes it together with the step before it."""
        with self.lock:
            cell = self.cells.get(node)
            if cell is None or cell[0] < 0 or cell[1] is None:
                raise RuntimeError(f"no gradient waits at {node.name()}; only gradients that have not been used can be changed")
            old = _slots(node, cell[1])[output]
            new = gradient if old is None else _checked(node, gradient, old)
            if self._journal is not None:
                self._journal.append(_Undo(node, cell[1], edit=True))
            cell[1] = [new if i == output else g for i, g in enumerate(cell[1])] if node.many else new

    def back(self) -> Node | None:
        """Undo the latest step exactly and return its node, which is then the next to run; ``None`` at the beginning."""
        with self.lock:
            journal = self._journal
            if journal is None:
                raise RuntimeError("this run keeps no journal; make it with journal=True to be able to step back")
            if self._inflight is not None:
                raise RuntimeError("a step was interrupted half-way; step forward once to complete it, then step back")
            while journal and journal[-1].edit:
                undo = journal.pop()
                self.cells[undo.node][1] = undo.held
            if not journal:
                return None
            undo = journal.pop()
            self._undo(undo)
            return undo.node

    def _undo(self, undo: _Undo) -> None:
        for there, left, held, _ in reversed(undo.targets):
            there[0], there[1] = left, held
        cell = self.cells[undo.node]
        cell[0], cell[1] = 0, undo.held
        self.ready = [e for e in self.ready if e[2][0] == 0 and e[1] is not undo.node]
        self.ready.append((priority(undo.node), undo.node, cell))
        heapify(self.ready)
        self.count -= 1
        for _, index, _ in self._captures.get(undo.node, ()):
            self.captured.pop(index, None)
        if undo.leaf is not None:
            leaf, gradient, values, version = undo.leaf
            leaf._grad = gradient
            if values is not None:
                gradient._a[...] = values
                if gradient._st is not None:
                    gradient._st.version = version

    def close(self) -> None:
        """End the run: forget the journal, and free saved values of nodes that ran unless the graph is to be kept."""
        with self.lock:
            if self.closed:
                return
            self.closed = True
            for undo in self._journal or ():
                if not self.retain_graph and undo.node.saved and not undo.edit:
                    undo.node.saved = self._freed
            self._journal = [] if self._journal is not None else None
            self.cells, self.ready, self._inflight = {}, [], None
            self._captures = {}


def _own(cell: Cell, like: Any) -> Any:
    """A gradient for ``.grad`` that nobody else holds, with the leaf's order of dimensions: itself if it is both, else a copy."""
    if cell[1]._edge is None and getrefcount(cell[1]) <= 2 and _alone(getrefcount(cell[1]._a), cell[1]._a, like):
        return cell[1]
    return Bound.like(cell[1]._a, like)


def _own_array(cell: Cell, like: Any) -> Any:
    if _alone(getrefcount(cell[1]), cell[1], like):
        return Bound.wrap(cell[1])
    return Bound.like(cell[1], like)


def _alone(references: int, array: Any, like: Any) -> bool:
    """Whether an array is held once (plus by the call that counted), owns its memory, and lies like ``like``."""
    return references <= 2 and array.base is None and array.strides == like.strides


def _remember(leaf: Any, current: Any) -> tuple[Any, ...]:
    """A leaf's gradient as it is, with its values if they are about to be added to in place."""
    if current is None:
        return leaf, None, None, 0
    return leaf, current, current._a.copy(), current._st.version if current._st is not None else 0


def _checked(node: Node, new: Any, old: Any) -> Any:
    """What a hook returned, once it is a gradient of the right kind and shape; ``None`` keeps the old one."""
    if new is None:
        return old
    if not hasattr(new, "_a"):
        raise TypeError(f"hooks of {node.name()} must return None or a Tensor, not {type(new).__name__}")
    if new._a.shape != old._a.shape:
        raise RuntimeError(
            f"hook of {node.name()} has changed the size of value: it got shape {list(old._a.shape)} and returned {list(new._a.shape)}"
        )
    if new._a.dtype != old._a.dtype:
        raise RuntimeError(
            f"hook of {node.name()} has changed the type of value: it got {old.dtype} and returned {new.dtype}; "
            "return the same type, for example with .to(grad.dtype)"
        )
    return new


def _after(node: Node, hooks: NodeHooks, outs: list[Any], grads: list[Any]) -> list[Any]:
    for hook in list(hooks.post.values()):
        found = hook(tuple(outs), tuple(grads))
        if found is None:
            continue
        found = found if isinstance(found, tuple) else (found,)
        if len(found) != len(outs):
            raise RuntimeError(f"a hook of {node.name()} returned {len(found)} gradients; it got, and must return, {len(outs)}")
        outs = [
            old if new is None else (_checked(node, new, old) if old is not None else new)
            for new, old in zip(found, outs, strict=True)
        ]
    return outs
