"""A backward pass to walk through: forward, back, to a breakpoint, with a gradient changed on the way."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tensorlab.display.table import Table, changed_table, check_table, ledger_table
from tensorlab.engine.node import Bound, Node
from tensorlab.observe.accumulation import badge
from tensorlab.observe.names import caller_namespace, notebook_namespace
from tensorlab.observe.protocol import Message
from tensorlab.observe.recording import recorded_session
from tensorlab.observe.schema import Graph
from tensorlab.observe.session import StepSession
from tensorlab.observe.snapshot import MOST_NODES
from tensorlab.tensor import Tensor
from tensorlab_widgets.graph import drawn
from tensorlab_widgets.instrument import HERE, Instrument, running_cell, script, styles, user_names
from tensorlab_widgets.player import played

#: The stepper that each notebook cell made last, and the execution it was made in.
_by_cell: dict[str, tuple[str, weakref.ref[Stepper]]] = {}

AGAIN = "its cell was run again, and the stepper made then has taken its place"
OVER = "its pass is over, and its cell has gone on to the next one"


class Stepper(Instrument):
    """A live backward pass from ``loss``, paused before its first node.

    ``gradient`` seeds it as in ``loss.backward(gradient)``. With ``retain_graph=False`` closing the stepper frees the
    values that the graph saved, as a backward does. What the buttons do can also be done from Python: ``next()``, ``over()`` and
    ``out()`` of a module, ``back()``, ``run_to(node)``, ``go_to(step)``, ``restart()``, ``resume()`` to the next breakpoint,
    ``finish()``, ``break_at(...)``, ``edit(node, gradient)``, ``changed()``, ``watch("grad.norm()")``, ``check(node)``,
    ``ledger(leaf)``. The stepper owns the graph until ``close()``. Running its cell again closes it.
    """

    _esm = script("stepper")
    _css = styles("stepper")

    def __init__(
        self,
        loss: Any,
        gradient: Any = None,
        *,
        retain_graph: bool = True,
        create_graph: bool = False,
        inputs: Any = None,
        title: str | None = None,
        limit: int = MOST_NODES,
        conditions: Mapping[str, Any] | None = None,
    ) -> None:
        self.session = StepSession(
            loss, gradient, retain_graph=retain_graph, create_graph=create_graph, inputs=inputs, names=user_names(),
            title=title, limit=limit,
        )  # fmt: skip
        if conditions is not None:
            _known(conditions)
            self.break_at(**conditions)
            self.session.proceed(here=True)
        super().__init__()
        self._undo = self.session.subscribe(self._deliver)
        _take_over(self)

    @property
    def graph(self) -> Graph:
        """The document that is shown."""
        return self.session.graph

    def svg(self, look: Mapping[str, Any] | None = None) -> str:
        """The graph as one self-contained SVG, with the states that its nodes have now."""
        changes = self.session.ask("initialize")["stopped"]["changes"]
        now = dict(zip(changes["node"], changes["state"], strict=True))
        nodes = self.graph.nodes
        state = tuple(now.get(number, before) for number, before in zip(nodes.id, nodes.state, strict=True))
        return drawn(replace(self.graph, nodes=replace(nodes, state=state)), look)

    def page(self) -> str:
        """The whole pass as one HTML page in which a reader steps through it. The run stays where it stands."""
        return played(recorded_session(self.session))

    def _word(self) -> str:
        return "backward"

    def _answer(self, request: Any) -> Message:
        return self.session.handle(request, self._deliver)

    def _receive(self, widget: Any, content: Any, buffers: Any) -> None:
        if isinstance(content, Mapping) and content.get("command") == "export":
            super()._receive(widget, content, buffers)
        else:
            self.session.receive(content, self._deliver)

    # ---- the buttons, from Python ------------------------------------------------------------------------------------

    def next(self, count: int = 1) -> str:
        """Run ``count`` nodes; returns where the run stands, in a sentence."""
        return self._move("next", count=count)

    def over(self) -> str:
        """Run until the module is left that the next node belongs to; one node where it belongs to none."""
        return self._move("next", granularity="module")

    def out(self) -> str:
        """Run until the module is left that encloses the one of the next node."""
        return self._move("stepOut")

    def back(self, count: int = 1) -> str:
        """Undo ``count`` nodes exactly, gradients of leaves included."""
        return self._move("stepBack", count=count)

    def resume(self) -> str:
        """Run to the next breakpoint, or to the end."""
        return self._move("continue")

    def run_to(self, node: Any) -> str:
        """Run until ``node`` (a node such as ``h.grad_fn``, or its id) is next."""
        return self._move("runTo", node=_number(node))

    def go_to(self, step: int) -> str:
        """Go to where ``step`` nodes have run, forward or back."""
        return self._move("goTo", step=step)

    def restart(self) -> str:
        """Undo everything."""
        return self._move("restart")

    def finish(self) -> str:
        """Run to the end, whatever breakpoints there are."""
        return self._move("finish")

    def edit(self, node: Any, gradient: Any, *, index: Any = None, output: int = 0) -> str:
        """Replace the gradient that waits at ``node`` (a node such as ``h.grad_fn``, or its id); returns where the run
        stands, in a sentence.

        ``gradient`` is a tensor, or nested lists of numbers, of the waiting gradient's shape; a single number fills it; and text is
        an expression such as ``"grad * 0"`` or ``"grad.clamp(-1, 1)"``. ``changed()`` tells what became of it.
        With ``index`` (one whole number a dimension) only that element is set, to a number. ``output`` says which
        gradient is meant where a node has several outputs. ``back()`` undoes an edit together with the step before it.
        Raises ``Refused`` where no gradient waits or nothing of that shape, type or index does.

        >>> import tensorlab as tl
        >>> x = tl.ones(2, requires_grad=True)
        >>> y = x * 3
        >>> run = tl.show.stepper(y.sum())
        >>> _ = run.next()
        >>> _ = run.edit(y.grad_fn, [1.0, 10.0])
        >>> _ = run.finish()
        >>> x.grad
        tensor([ 3., 30.])
        """
        if isinstance(gradient, str) and index is None:
            return self.session.replace_by(_number(node), output, gradient, self._namespace()).sentence
        if index is not None:
            place = [index] if isinstance(index, int) else list(index)
            return self._move("setGradient", node=_number(node), output=output, index=place, value=gradient)
        return self.session.replace_gradient(_number(node), output, gradient).sentence

    def break_at(
        self,
        *nodes: Any,
        nan: bool = False,
        inf: bool = False,
        norm_above: float | None = None,
        norm_below: float | None = None,
        shape: Any = None,
        module: str | None = None,
        line: str | None = None,
        hit: int | None = None,
        together: bool = False,
    ) -> None:
        """Replace all breakpoints: before these nodes, and before any node that fulfils a condition. Without arguments there are none.

        Conditions on the gradient that comes to a node: it holds ``nan`` or ``inf``, its norm is beyond a bound, it has a ``shape``
        (``(64, None)``, or ``"[64, *]"``, for any second size). On the node: a ``module`` made it (``"model.2"``, and all inside
        it), or a ``line`` did (``"train.py:12"``, ``"cell 4, line 2"``). ``hit`` stops only at that one of the nodes that fulfil the
        others. One condition is enough, unless ``together``. Raises ``Refused`` where a condition can hold of no node.
        """
        given = {
            "nan": (nan or None, None), "inf": (inf or None, None), "norm_above": (norm_above, norm_above),
            "norm_below": (norm_below, norm_below), "shape": (shape, None), "module": (module, None), "line": (line, None),
            "hit": (hit, hit),
        }  # fmt: skip
        texts = {"shape": _shape_text(shape), "module": module, "line": line}
        predicates = [
            {"kind": kind, "value": value, "text": texts.get(kind, "")}
            for kind, (wanted, value) in given.items()
            if wanted is not None
        ]
        numbers = [_number(node) for node in nodes]
        self.session.ask("setBreakpoints", nodes=numbers, predicates=predicates, together=together)

    # ---- questions ---------------------------------------------------------------------------------------------------

    def watch(self, *expressions: str) -> Table:
        """Watch these expressions from now on, and no others; returns what they are now.

        They see ``grad`` (the gradient that waits at the node which runs next), ``grads``, ``node`` (``node.name``,
        ``node.saved["self"]``) and your own names; they are worked out on copies, and what writes in place is refused.

        >>> import tensorlab as tl
        >>> w = tl.ones(2, requires_grad=True)
        >>> run = tl.show.stepper((w * 3).sum())
        >>> run.watch("node.name", "grad.norm()").rows[0]
        ('node.name', "'SumBackward0'")
        """
        self.session.set_watches(list(expressions), self._namespace())
        told = self.session.watched()
        self._deliver({"type": "event", "event": "watches", "body": {"watches": [_watch(each) for each in told]}})
        rows = [(each.expression, each.text) for each in told]
        return Table(f"{len(rows)} watched where the run stands.", ("expression", "value"), rows, told)

    def evaluate(self, expression: str) -> str:
        """What an expression is where the run stands, in words; ``watch`` says what it may be."""
        return self.session.evaluate(expression, self._namespace()).text

    def _namespace(self) -> dict[str, Any] | None:
        return None if notebook_namespace() is not None else caller_namespace(str(HERE))

    def check(self, node: Any = None) -> Table:
        """Compare the backward of a node (the next one, unless given) with finite differences of its forward."""
        if node is None:
            node = self.session.run.current
            if node is None:
                raise ValueError("the run is over: say which node to check, such as h.grad_fn")
        with self.session.lock:
            return check_table(self.session.check(_number(node)))

    def changed(self) -> Table:
        """What the edits have changed so far: every gradient that is another one than without them, and by how much."""
        with self.session.lock:
            return changed_table(self.session.compare())

    def ledger(self, leaf: Any) -> Table:
        """What adds up to ``leaf.grad``: the passes that added to it, and what each node sends in this one."""
        if not isinstance(leaf, Tensor) or not leaf.is_leaf:
            what = "a tensor that was computed" if isinstance(leaf, Tensor) else type(leaf).__name__
            raise TypeError(f"a ledger is kept of a leaf, a tensor whose .grad fills up; not of {what}")
        found = self.session.inspect(_number(leaf))
        return ledger_table(found.label or "the leaf", badge(leaf), found.contributions)

    @property
    def gradients(self) -> tuple[Any, ...]:
        """With ``inputs``: the gradients that have arrived at them, ``None`` where none has yet. Empty without."""
        return self.session.gradients

    def _move(self, command: str, **arguments: Any) -> str:
        return self.session.ask(command, **arguments)["sentence"]

    def close(self) -> None:
        """End the session, let go of the graph, and take the view away."""
        if "session" in self.__dict__:  # it is missing where the loss was refused
            self.session.close()
        super().close()

    def __repr__(self) -> str:
        run, title = self.session.run, self.graph.title
        if self.session.closed:
            return f"Stepper({title}: closed)"
        where = f"step {run.count} of {run.total}"
        if run.current is None:
            return f"Stepper({title}: {where}, finished; .back() undoes, .close() lets go)"
        return f"Stepper({title}: {where}; .next() runs {run.current.name()}, .finish() runs all)"


def _watch(each: Any) -> Message:
    return {"expression": each.expression, "text": each.text, "wrong": each.wrong, "changed": each.changed}


def _known(conditions: Mapping[str, Any]) -> None:
    """``TypeError`` for a condition that nobody knows, with those there are."""
    there = [p.name for p in inspect.signature(Stepper.break_at).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for name in conditions:
        if name not in there:
            raise TypeError(f"there is no condition {name!r}; the conditions are {', '.join(there)}")


def _shape_text(shape: Any) -> str:
    if shape is None or isinstance(shape, str):
        return shape or ""
    if not isinstance(shape, (tuple, list)):
        raise TypeError(f"shape={shape!r}: a shape is written as (64, None), or as '[64, *]'")
    return f"[{', '.join('*' if size is None or size == -1 else str(size) for size in shape)}]"


def _number(node: Any) -> int:
    """The number of a node; of a tensor that of the node that made it, or waits for its gradient."""
    if isinstance(node, Tensor) and node.requires_grad:
        return int(Bound.edge(node)[0].seq)
    if isinstance(node, Node):
        return int(node.seq)
    if isinstance(node, int) and not isinstance(node, bool):
        return node
    said = "a tensor that requires no gradient" if isinstance(node, Tensor) else type(node).__name__
    raise TypeError(f"a node is given as h.grad_fn, as a tensor of the graph, or by its number; not as {said}")


def _take_over(stepper: Stepper) -> None:
    """Close the stepper that the same cell made before: in an earlier execution, or in this one when its pass is over. So a
    loop that makes a stepper each time holds one graph and not all of them."""
    cell, execution = running_cell()
    if not cell:
        return
    before, known = _by_cell.get(cell, ("", None))
    earlier = known() if known is not None else None
    if earlier is not None and before != execution:
        earlier.session.close(AGAIN)
    elif earlier is not None and earlier.session.run.finished:
        earlier.session.close(OVER)
    _by_cell[cell] = (execution, weakref.ref(stepper))
