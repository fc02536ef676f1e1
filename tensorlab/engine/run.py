"""The backward pass as an object that can wait.

``BackwardRun`` owns the ready heap, the consumer counts and the gradients that wait at nodes. ``step()`` runs one node;
``Tensor.backward()`` is a run to the end. There is no second walker.

Two rules make a run safe to interrupt and to undo. Waiting gradients are never changed in place: a sum makes a new tensor and a
new list, so going back means putting earlier references back. And a step first computes, changing nothing, then commits edge by
edge behind a cursor; an exception or an interrupt at any point leaves either an untouched step or a commit that goes on where
it stood, or, with a journal, is taken back. (Signals are handled at calls and at the ends of loops, so the stores that belong
together stand next to each other with neither between.) The README of this folder says more.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush, heapreplace
from typing import Any

import numpy as np

from tensorlab import backend, taps
from tensorlab.engine import ledger, sites
from tensorlab.engine.cells import LEAVES, Cell, joined, priority, slots_of, summed
from tensorlab.engine.deposit import added, fits, own, own_array, spare, total
from tensorlab.engine.hooks import told
from tensorlab.engine.journal import Leaf, Undo, restore
from tensorlab.engine.node import AccumulateGrad, Bound, Edge, Freed, Node, misfit
from tensorlab.engine.scopes import made_by_backward
from tensorlab.modes import sites_are_watched, state

_deposits = threading.RLock()
_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)


def backward(roots: Sequence[Any], gradients: Sequence[Any], retain: bool | None, create: bool, inputs: Any) -> None:
    """A pass from ``roots`` to the end that adds to ``.grad`` of the leaves, or of ``inputs`` only."""
    BackwardRun(roots, gradients, retain_graph=retain, create_graph=create, inputs=inputs, unseen=True).run()


class BackwardRun:
    """A backward pass from ``roots`` that goes on when it is told to.

    ``gradients`` seeds each root; ``None`` means 1, for roots of one element. ``inputs`` limits the pass to paths that lead to
    them: with ``accumulate`` their ``.grad`` is filled, without it the gradients are in ``captured``. ``journal`` keeps what
    ``back()`` needs. ``unseen`` promises that nobody looks at waiting gradients; they may then travel as plain arrays.
    ``retain_graph`` defaults to ``create_graph``; with a journal, saved values are freed at ``close()``.

    A step that fails, in a hook, a formula or by an interrupt, can be tried again by going on; with a journal it did not happen.
    Hooks run again then, except those that a leaf's ``.grad`` was already shown to.

    Attributes: ``current`` (the node that runs next, or ``None``), ``waiting`` (node -> gradients, one an output), ``done`` (nodes
    in the order they ran, with a journal), ``count`` and ``total`` (nodes run, nodes in all), ``finished``, ``lock``, ``site``.
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
        #: Of each node how many edges that lead to it have not run yet (-1 once it ran itself), and the gradient that waits: a
        #: list with one entry an output for nodes that have several. A gradient is replaced, never changed.
        self.cells: dict[Node, Cell] = {}
        self.ready: list[tuple[int, Node, Cell]] = []
        self.count = 0
        self.closed = False
        self.scopes: dict[str, Any] = {}  # of what this pass makes where it is itself recorded
        self.captured: dict[int, Any] = {}
        self._captures: dict[Node, list[tuple[int, int, Any]]] = {}
        self._fill = accumulate
        self._needed: set[Node] | None = None
        self._journal: list[Undo] | None = [] if journal else None
        self._inflight: list[Any] | None = None  # a step whose commit, or whose undoing, was interrupted
        self._busy = False
        self._stage = 0  # how far the deposit of a leaf's gradient got: 1 added, 1 + n when n of its hooks were told
        self._arrays = unseen and not journal and not create_graph and not taps.steps and not backend.several
        site = self.site = sites.here(2)
        self._freed = None if self.retain_graph else Freed(site)
        edges = self._roots = [Bound.edge(root, i) for i, root in enumerate(roots)]
        self._noted = ledger.begin(site, edges[0][0].name()) if edges and sites_are_watched() else None
        self._count(edges)
        if inputs is not None:
            self._aim(inputs)
        self.total = len(self.cells) if self._needed is None else len(self._needed)
        self._seed(edges, gradients if gradients is not None else [None] * len(edges), roots)

    # ---------------------------------------------------------------------------------------------- setting out

    def _count(self, edges: Sequence[Edge]) -> None:
        """Make a cell for every node that can be reached, with the number of edges that lead to it."""
        cells = self.cells
        known = cells.get
        stack = []
        for node, *_ in edges:
            if node not in cells:
                cells[node] = [0, None]
                stack.append(node)
        while stack:
            for edge in stack.pop().edges:
                if edge is not None:
                    node = edge[0]
                    cell = known(node)
                    if cell is not None:
                        cell[0] += 1
                    else:
                        cells[node] = [1, None]
                        if node.edges:
                            stack.append(node)

    def _aim(self, inputs: Sequence[Any]) -> None:
        """Keep only nodes from which a wanted input can be reached."""
        needed: set[Node] = set()
        for index, tensor in enumerate(inputs):
            edge = Bound.edge(tensor, index)
            if self._fill and not edge[0].first:
                tensor.retain_grad()
            self._captures.setdefault(edge[0], []).append((edge[1], index, tensor))
        for node in sorted(self.cells, key=lambda n: n.seq if type(n) is not AccumulateGrad else 0):
            if node in self._captures or any(e is not None and e[0] in needed for e in node.edges):
                needed.add(node)
        self._needed = needed

    def _seed(self, edges: Sequence[Edge], gradients: Sequence[Any], roots: Sequence[Any]) -> None:
        needed = self._needed
        for index, ((node, output, *_), gradient, root) in enumerate(zip(edges, gradients, roots, strict=True)):
            seed = Bound.seed(root, gradient, index)
            if needed is not None and node not in needed:
                continue
            cell = self.cells[node]
            cell[1] = joined(node, cell[1], output, seed._a if self._arrays else seed, operator.add)
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
        return {
            node: slots_of(node, cell[1]) for node, cell in self.cells.items() if cell[1] is not None and cell[0] >= 0
        }

    @property
    def number(self) -> int:
        """The number of this pass in the ledgers of leaves; 0 where places are not recorded."""
        return self._noted["ledger"][0][0] if self._noted is not None else 0

    def reaches(self, node: Node) -> bool:
        """Whether a node is part of this pass."""
        return node in self.cells and (self._needed is None or node in self._needed)

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
        return None if cell is None or cell[0] < 0 or cell[1] is None else slots_of(node, cell[1])

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

    def arrivals(self) -> dict[Node, list[Any]]:
        """The gradients that every node got which ran, one entry an output; needs a journal."""
        return {undo.node: undo.incoming for undo in self._journal or () if not undo.edit}

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
            self._guarded(None, 1)
            return node

    def run(self, until: Callable[[BackwardRun, Node], bool] | None = None) -> Node | None:
        """Run to the end, or until ``until(run, node)`` says so of the node that would run next, which is returned."""
        with self.lock:
            return self._guarded(until, -1)

    def _refuse(self) -> None:
        if self.closed:
            raise RuntimeError("this backward run is closed; start a new one from the loss")
        raise RuntimeError(
            "this backward run is in the middle of a step: what a step calls (a hook, a "
            "predicate) cannot move the run itself"
        )

    def _guarded(self, until: Callable[[BackwardRun, Node], bool] | None, limit: int) -> Node | None:
        """Advance with this pass's grad mode, and give the thread its own back."""
        if self.closed or self._busy:
            self._refuse()
        if state.looking is not None and self._fill:
            raise RuntimeError("an expression that only looks runs no backward pass: it would add to .grad")
        before, outer = state.grad, state.run
        self._busy = True
        state.grad, state.run = self.create_graph, self
        try:
            return self._advance(until, limit)
        except (FloatingPointError, RuntimeWarning):  # NumPy was told to raise; an infinite gradient is no error
            with np.errstate(all="ignore"):
                return self._advance(until, limit)
        finally:
            state.grad, state.run = before, outer
            self._busy = False

    def _advance(self, until: Callable[[BackwardRun, Node], bool] | None, limit: int) -> Node | None:
        """Run nodes: the one walker. Stops at the end, where ``until`` says so, or after ``limit`` nodes (-1: no limit).

        While ``outs`` is set a step is being committed, up to edge ``k``; should anything interrupt it, the flight is kept.
        """
        end = self.count + limit if limit >= 0 else -1
        self._settle()
        ready, cells, needed, journal, arrays = self.ready, self.cells, self._needed, self._journal, self._arrays
        quick, asked = arrays and not self._captures, until is not None or end >= 0
        watched, add = taps.steps, operator.add if arrays or self.create_graph else summed
        freed = None if self.retain_graph or journal is not None else self._freed
        outs = undo = None
        try:
            while ready:
                rank, node, cell = ready[0]
                if asked and (self.count == end or (until is not None and until(self, node))):
                    return node
                grads, k, gone, summed_at = cell[1], 0, False, -1  # gone: it made room for another that is ready
                flow = node.flow if quick and node.hooks is None and grads is not None else None
                if flow is not None and ((kind := grads.dtype) is _F32 or kind is _F64):
                    outs = flow(grads)
                else:
                    grads, outs, undo = self._compute(node, grads)
                for edge in node.edges:
                    if edge is None or (needed is not None and edge[0] not in needed):
                        k += 1
                        continue
                    there = cells[target := edge[0]]
                    left, new = there[0] - 1, outs[k]
                    if undo is not None:
                        undo.targets.append((there, left + 1, there[1]))
                    if target.many or new is None:
                        new = joined(target, there[1], edge[1], new, add)
                    elif there[1] is not None:
                        if quick and not watched and spare(new):
                            summed_at = k
                            new += there[1]
                        else:
                            new = add(there[1], new)
                    if left == 0:
                        (heappush if gone else heapreplace)(ready, (target.first - target.seq, target, there))
                        gone = True
                    there[1], there[0] = new, left
                    k += 1
                if not gone:
                    heappop(ready)
                if rank < LEAVES:
                    outs, new = (), None  # the gradient must be seen to have one owner
                    self._deposit(node, grads, undo, cell)
                if undo is not None:
                    journal.append(undo)  # type: ignore[union-attr]
                elif freed is not None and node.saved:
                    node.saved = freed
                cell[0], cell[1], self.count = -1, None, self.count + 1
                sent, outs = outs, None
                if watched:
                    self._tell(node, grads, sent)
        except BaseException:
            if outs is not None:
                self._inflight = [node, grads, outs, k, undo, summed_at == k]
                if undo is not None:
                    self._settle()
            raise
        return None

    def _tell(self, node: Node, grads: Any, sent: Sequence[Any]) -> None:
        """Tell the taps of a step. What travelled as plain arrays they see as tensors."""
        if self._arrays:
            grads = [
                g if g is None or hasattr(g, "_a") else Bound.wrap(g)
                for g in (grads if isinstance(grads, list) else [grads])
            ]
            sent = [None if g is None else Bound.wrap(g) for g in sent]
        for tap in list(taps.steps):
            tap(node, grads, sent)

    def _settle(self) -> None:
        """After an interrupt: take back the step, or complete it if there is no journal."""
        if self._inflight is None:
            return
        undo = self._inflight[4]
        if undo is not None:
            self._take_back(undo)
        else:
            self._land()

    def _land(self) -> None:
        """Complete a step whose commit was interrupted. Every part of it can be told from whether it was done."""
        node, grads, outs, k, _, is_sum = self._inflight  # type: ignore[misc]
        if is_sum:  # what is sent along edge k is the sum already
            self.cells[node.edges[k][0]][1] = None
        self.ready = [entry for entry in self.ready if entry[1] is not node]
        heapify(self.ready)
        add = operator.add if self._arrays or self.create_graph else summed
        while k < len(node.edges):
            edge = node.edges[k]
            if edge is not None and self._wants(edge[0]):
                target = edge[0]
                there = self.cells[target]
                left = there[0] - 1
                new = joined(target, there[1], edge[1], outs[k], add)
                if left == 0 and all(entry[1] is not target for entry in self.ready):
                    heappush(self.ready, (priority(target), target, there))
                there[1] = new
                there[0] = left
            k += 1
            self._inflight[3], self._inflight[5] = k, False  # type: ignore[index]
        cell = self.cells[node]
        if node.first:
            self._deposit(node, grads, None, cell)
        if not self.retain_graph and node.saved:
            node.saved = self._freed
        if cell[0] >= 0:
            self.count += 1
            cell[0] = -1
        cell[1] = None
        self._inflight = None

    def _compute(self, node: Node, held: Any) -> tuple[Any, Any, Undo | None]:
        """Everything of a step that can fail, before anything is changed: hooks and the node's own formulas.

        Returns the gradients that came in, those that go out along the edges, and what undoes the step.
        """
        self._stage = 0
        if self._arrays and node.first and node.hooks is None and not self._captures:
            return None, (), None
        retained: list[tuple[Any, Any]] = []
        outer, state.run = state.run, self
        recorded = self.create_graph and self._noted is not None
        around = state.mark
        try:
            if recorded:
                state.mark = made_by_backward(node, self.scopes)
            grads = slots_of(node, held)
            if self._arrays:
                grads, outs = self._apply(node, [None if g is None else Bound.wrap(g) for g in grads], retained)
                return grads, [None if g is None else g._a for g in outs], None
            grads, outs = self._apply(node, grads, retained)
            if self._journal is None:
                return grads, outs, None
            undo = Undo(node, held, self.count)
            undo.incoming, undo.outgoing, undo.retained = grads, outs, retained
            return grads, outs, undo
        except BaseException as error:
            restore(retained)
            if isinstance(error, Exception) and node.site:
                error.add_note(f"While running {node.name()} (node {node.seq}), made at {sites.describe(node.site)}")
            raise
        finally:
            state.run = outer
            if recorded:
                state.mark = around

    def _apply(self, node: Node, grads: list[Any], retained: list[tuple[Any, Any]]) -> tuple[list[Any], Sequence[Any]]:
        """The gradients that came in, after hooks, and those that go out. A node at which the pass ends does not compute."""
        hooks = node.hooks
        capturing = self._captures.get(node, ())
        ends = bool(node.first) or self._ends_at(node)
        runs = self._fill or not (capturing and ends)
        if hooks is not None:
            grads = hooks.arriving(node, grads, retained, self._journal is not None)
        if not self._fill:
            for output, index, _ in capturing:
                self.captured[index] = grads[output]
        if hooks is not None and runs:
            grads = hooks.entering(node, grads, self._journal is not None)
        if node.first:
            return grads, ()
        outs: Sequence[Any] = (
            [None] * len(node.edges) if ends else node.apply(grads, self.create_graph, self._wanted(node))
        )
        if hooks is not None and runs:
            outs = hooks.leaving(node, outs, grads, self._journal is not None)
        return grads, outs

    def _wanted(self, node: Node) -> list[Edge | None] | None:
        """A node's edges without those that lead to nothing that is wanted; ``None`` if all are wanted."""
        needed = self._needed
        if needed is None or all(edge is None or edge[0] in needed for edge in node.edges):
            return None
        return [edge if edge is not None and edge[0] in needed else None for edge in node.edges]

    def _ends_at(self, node: Node) -> bool:
        """Whether nothing that is wanted lies beyond a captured node, so that it need not compute."""
        needed = self._needed
        return needed is not None and not any(e is not None and e[0] in needed for e in node.edges)

    # ---------------------------------------------------------------------------------------------- leaves

    def _deposit(self, node: Any, grads: Any, undo: Undo | None, cell: Cell) -> None:
        """Add what arrived to the leaf's ``.grad``: in place and in the same memory, unless the pass itself is recorded.

        ``grads`` is ``None`` where no hook saw the gradient, which then is in the cell alone and may become ``.grad`` itself.
        """
        leaf = node.variable
        if (
            not self._fill
            or not (leaf._rg or leaf.requires_grad)
            or (self._needed is not None and node not in self._captures)
        ):
            return
        if node.outs[0] != leaf._a.shape:
            raise misfit(node.outs[0], leaf._a.shape)
        held = cell if grads is None else [0, grads[0]._a if self._arrays and grads[0] is not None else grads[0]]
        if self._stage == 0 and held[1] is not None:
            with _deposits:
                current = leaf._grad
                if undo is not None:
                    undo.leaf = Leaf(leaf)
                if current is None and not self.create_graph:
                    fresh = own_array(held, leaf._a) if self._arrays else own(held, leaf._a)
                    leaf._grad = fresh
                    self._stage = 1
                elif current is None or self.create_graph or 0 in current._a.strides:
                    fresh = total(current, held[1], self._arrays)
                    leaf._grad = fresh
                    self._stage = 1
                else:
                    into, more = current._a, held[1] if self._arrays else held[1]._a
                    if not added(into, more):
                        leaf._grad = total(current, held[1], self._arrays)
                    self._stage = 1
                    if current._st is not None:
                        current._st.bump("backward", sites.here())
                if self._noted is not None:
                    if current is None:
                        leaf._grad._notes = self._noted
                    else:
                        ledger.enter(leaf._grad, current, self._noted)
        self._stage = max(1, self._stage)
        if node.after or node.hooks is not None:
            self._tell_of_leaf(node, leaf, grads)

    def _tell_of_leaf(self, node: Any, leaf: Any, grads: Any) -> None:
        """Call the hooks that come after the accumulation; one that raised is not called again."""
        hooks: list[tuple[Any, tuple[Any, ...]]] = [(h, (leaf,)) for h in told("post accumulate", leaf, node.after)]
        if node.hooks is not None:
            hooks += [(h, ((), tuple(grads or ()))) for h in told("node", node, node.hooks.post)]
        for number, (hook, arguments) in enumerate(hooks, 1):
            if number >= self._stage:
                self._stage = number + 1
                hook(*arguments)

    # ---------------------------------------------------------------------------------------------- going back

    def edit(self, node: Node, output: int, gradient: Any) -> None:
        """Replace a waiting gradient. ``back()`` undoes it together with the step before it."""
        with self.lock:
            if self.closed:
                self._refuse()
            if self._inflight is not None and not self._busy:
                self._settle()
            cell = self.cells.get(node)
            if cell is None or cell[0] < 0 or cell[1] is None:
                raise RuntimeError(
                    f"no gradient waits at {node.name()}; only gradients that have not been used can be changed"
                )
            slots = slots_of(node, cell[1])
            if not 0 <= output < len(slots):
                raise IndexError(f"{node.name()} has no output {output}; it has {len(slots)}")
            slots[output] = fits(node, output, gradient)
            new = slots if node.many else slots[0]
            if self._arrays:
                raise RuntimeError(
                    "the gradients of this run travel unseen; make a BackwardRun of your own to edit them"
                )
            if self._journal is not None:
                self._journal.append(Undo(node, cell[1], self.count, edit=True))
            cell[1] = new

    def back(self) -> Node | None:
        """Undo the latest step exactly and return its node, which is then the next to run; ``None`` at the beginning."""
        with self.lock:
            if self.closed or self._busy:
                self._refuse()
            journal = self._journal
            if journal is None:
                raise RuntimeError("this run keeps no journal; make it with journal=True to be able to step back")
            if self._inflight is not None:
                self._settle()
            while journal and journal[-1].edit:
                undo = journal[-1]
                self.cells[undo.node][1] = undo.held
                journal.pop()
            if not journal:
                return None
            undo = journal[-1]
            # Should anything interrupt this, the next move completes it.
            self._inflight = [undo.node, None, None, 0, undo, False]
            self._settle()
            return undo.node

    def _take_back(self, undo: Undo) -> None:
        """Undo a step, whole or half made. Doing it twice does no harm, so an interrupt can do none either."""
        node, journal = undo.node, self._journal
        cell = self.cells[node]
        undo.restore(cell)
        self.ready = [e for e in self.ready if e[2][0] == 0 and e[1] is not node]
        self.ready.append((priority(node), node, cell))
        heapify(self.ready)
        self.count = undo.count
        for _, index, _ in self._captures.get(node, ()):
            self.captured.pop(index, None)
        if journal and journal[-1] is undo:
            journal.pop()
        self._inflight = None

    def close(self) -> None:
        """End the run: forget the journal, and free saved values of nodes that ran unless the graph is to be kept."""
        with self.lock:
            if self.closed:
                return
            if self._busy:
                self._refuse()
            for undo in self._journal or ():
                if not self.retain_graph and undo.node.saved and not undo.edit:
                    undo.node.saved = self._freed
            self._journal = [] if self._journal is not None else None
            self.cells, self.ready, self._inflight = {}, [], None
            self._captures, self._roots = {}, []
            self.closed = True
