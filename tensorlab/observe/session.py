"""A backward pass that a person steps through: requests in, answers and events out, no transport inside.

``StepSession`` speaks the words of a debugger (``next``, ``stepIn``, ``stepOut``, ``stepBack``, ``continue``, ``goto``,
``setBreakpoints``, ``setExpression``, ``evaluate``, ``pause``, ...). A request is a
dictionary ``{"seq", "command", "arguments"}``; the answer says whether it succeeded, and a request that
fails leaves the run as it was. What happens is also told to every other subscriber as an event. One lock makes it
safe to serve requests on one thread while a cell waits on another.

The session owns its run until it is closed: that is the one place where an instrument keeps a graph alive.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorlab import modes
from tensorlab.engine.node import AccumulateGrad
from tensorlab.engine.run import BackwardRun
from tensorlab.observe import evaluate, places, wire
from tensorlab.observe.changes import Picture
from tensorlab.observe.checking import check
from tensorlab.observe.compared import changed
from tensorlab.observe.detail import arrays, detail, input_detail, values
from tensorlab.observe.edit import edited_gradient, replaced_gradient
from tensorlab.observe.evaluate import Seen
from tensorlab.observe.moves import Moves
from tensorlab.observe.names import Names
from tensorlab.observe.output import captured_output
from tensorlab.observe.predicates import Predicates, parsed, path_of
from tensorlab.observe.protocol import Message, Refused, element, parts, response, whole, windows, word
from tensorlab.observe.schema import SESSION, ArrayWindow, NodeDetail, Reason, SessionState, Stopped
from tensorlab.observe.schema_asking import Breakpoints, Changed, Check, Watched, Watches
from tensorlab.observe.serving import Desk, interrupt
from tensorlab.observe.snapshot import MOST_NODES, Input, Walk, snapshot
from tensorlab.observe.telling import called
from tensorlab.observe.watches import WatchList
from tensorlab.tensor import Tensor

Listener = Callable[[Message], None]


#: Seconds that a request waits for one that is being served, which may hang in somebody's hook.
BUSY = 2.0


def wanted_inputs(inputs: Any) -> list[Any] | None:
    """The tensors that gradients are wanted of. Raises ``TypeError`` and ``RuntimeError`` where one cannot have any."""
    if inputs is None:
        return None
    wanted = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
    if not wanted:
        raise RuntimeError("inputs=[] asks for no gradient; leave it out to step through loss.backward()")
    for at, x in enumerate(wanted):
        if not isinstance(x, Tensor):
            raise TypeError(f"inputs must be Tensors, element {at} is {type(x).__name__}")
        if not x.requires_grad:
            raise RuntimeError(f"inputs: tensor {at} does not require grad, so no gradient comes to it")
    return wanted


class StepSession(Moves):
    """A paused backward pass from ``loss`` and what is known about it.

    ``gradient`` seeds the pass as in ``loss.backward(gradient)``. With ``inputs`` it is the pass of ``autograd.grad(loss, inputs)``:
    what arrives is in ``gradients``, and no ``.grad`` changes. With ``create_graph`` the pass is itself recorded.
    ``retain_graph`` false frees saved values when the session is closed. ``names`` are the user's names for tensors, now and when a
    node is inspected. ``limit`` is the number of nodes in the picture; the run itself is always whole.
    """

    def __init__(
        self,
        loss: Any,
        gradient: Any = None,
        *,
        retain_graph: bool = True,
        create_graph: bool = False,
        inputs: Sequence[Any] | None = None,
        names: Names | None = None,
        title: str | None = None,
        limit: int = MOST_NODES,
    ) -> None:
        self.lock = threading.RLock()
        self.inputs = wanted_inputs(inputs)
        self._from: tuple[Any, Any] = loss, gradient
        self.run = BackwardRun(
            [loss], [gradient], retain_graph=retain_graph or create_graph, create_graph=create_graph, inputs=self.inputs,
            accumulate=self.inputs is None, journal=True,
        )  # fmt: skip
        self.names = names or Names()
        self.walk = Walk([loss], limit)
        self.graph = snapshot(loss, self.names, title=title, walk=self.walk)
        self.picture = Picture(self.walk, self.run)
        self.nodes: set[int] = set()
        self.predicates = Predicates()
        self.watches = WatchList()
        self.edits: list[tuple[int, int, int]] = []  # (steps run when it was made, node id, output)
        self.reason: Reason = "entry"
        self.why = ""
        self.error: BaseException | None = None
        self.closed = ""
        self.blocking = False
        self.heard = False  # whether a view has said anything yet
        self._released = threading.Event()
        self._pause = threading.Event()
        self._mover: int | None = None  # the thread that moves the run
        self._interrupted = False  # by the kernel, in the middle of a move for a view
        self.desk = Desk(lambda request, reply: reply(self.handle(request, reply)))
        self._listeners: list[Listener] = []
        self._refuse_freed()

    def _refuse_freed(self) -> None:
        """A pass that would fail on its way is over before it begins: the view shows the graph and says why."""
        freed = next((node.freed for node in self.run.cells if node.freed is not None), None)
        if freed is None:
            return
        where = places.words(places.place(freed.site))
        self.closed = (
            f"the values that this graph had saved were freed by {f'the backward in {where}' if where else 'a backward'}, "
            f"so it cannot run again. Compute {self.graph.title} anew, or say retain_graph=True in that backward"
        )
        self.error = RuntimeError(f"{self.closed}.")
        self.run.retain_graph = True
        self.run.close()

    # ---- telling ---------------------------------------------------------------------------------------------------

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Tell ``listener`` every event from now on. Returns the function that ends it."""
        self._listeners.append(listener)

        def undo() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return undo

    def _tell(self, event: str, body: Message, but: Listener | None = None) -> None:
        for listener in list(self._listeners):
            if listener == but:
                continue
            try:
                listener({"type": "event", "event": event, "body": body})
            except Exception as error:  # one view that is out of order is not the others' trouble, nor the run's
                warnings.warn(f"a view could not be told {event!r}: {type(error).__name__}: {error}", stacklevel=2)

    # ---- requests --------------------------------------------------------------------------------------------------

    def receive(self, request: Any, reply: Listener) -> None:
        """Answer a request of a view by ``reply(answer)``: a look here and now, a move where somebody's code should run (``Desk``)."""
        command = request.get("command") if isinstance(request, Mapping) else None
        if command in self._moves() and threading.current_thread() is not threading.main_thread():
            self.desk.put(request, reply)
        else:
            reply(self.handle(request, reply))

    def handle(self, request: Any, sender: Listener | None = None) -> Message:
        """Answer one request from a view. ``sender`` is the listener that asked: it gets the answer instead of the
        event.

        What hooks print while the request runs goes to every listener as an ``output`` event, since it belongs to no
        cell.
        """
        seq, command = -1, ""
        try:
            seq, command, arguments = parts(request)
            self.heard = True
            can_ask = self.desk.attended and threading.current_thread() is threading.main_thread()
            with captured_output(can_ask) as printed:
                try:
                    body = self._do(command, arguments, sender)
                finally:
                    if printed.text:
                        self._tell("output", {"text": printed.text})
            return response(seq, command, True, None, body)
        except Refused as refusal:
            return response(seq, command, False, str(refusal), None)
        except KeyboardInterrupt:
            self._interrupted = not self._pause.is_set()
            return response(seq, command, False, f"{command} was interrupted", None)
        except Exception as error:  # a mistake of ours must not leave a view waiting for its answer
            return response(seq, command, False, f"{type(error).__name__}: {error}", None)

    def ask(self, command: str, **arguments: Any) -> Message:
        """Do a request from Python: the body of the answer, or ``Refused``. Views are told; hooks print where they
        are called."""
        return self._do(command, arguments, None) or {}

    def _do(self, command: str, arguments: Mapping[str, Any], sender: Listener | None) -> Message | None:
        if command == "pause":
            return self.pause()
        self._not_looking()
        if not self.lock.acquire(timeout=BUSY):
            raise Refused(self._busy())
        outer, self._mover = self._mover, threading.get_ident()
        try:
            body, event = self._dispatch(command, arguments)
            shown = self._shown(arguments) if event == "stopped" else None
        finally:
            self._mover = outer
            self.lock.release()
            if self.blocking and (self.run.finished or self.closed):
                self._released.set()
        if event and body is not None:
            self._tell(event, body, but=sender)
        return body if shown is None or body is None else {**body, "detail": shown}

    def _not_looking(self) -> None:
        """An expression that is worked out while the run waits must not move it."""
        if modes.state.looking is not None:
            raise Refused("an expression only looks: it cannot ask this run for anything")

    def pause(self) -> Message:
        """Stop a move before its next node. A node that does not come back, because a hook or a backward hangs, is interrupted.

        Raises ``Refused`` where that does not help: a thread that waits outside of Python can only be waited for.
        """
        self._pause.set()
        mover = self._mover
        if mover is None or mover == threading.get_ident() or self._comes_to_rest(0.5):
            return {}
        interrupt(mover)
        if self._comes_to_rest(1.5):
            return {}
        raise Refused(
            f"{self._busy()}. It waits outside of Python (for a lock, a socket, a sleep), so it ends when that does"
        )

    def _comes_to_rest(self, seconds: float) -> bool:
        if not self.lock.acquire(timeout=seconds):
            return False
        self.lock.release()
        return True

    def _busy(self) -> str:
        node = self.run.current
        where = f"in the middle of {called(node, self)}" if node is not None else "busy"
        return (
            f"the run is {where}, which has not returned for {BUSY:g} s: a hook or a backward of yours may be waiting. "
            "Stop ends it, and so does interrupting the kernel"
        )

    def _shown(self, arguments: Mapping[str, Any]) -> Message | None:
        """What a view will show after a move, where it asks for it in the same breath: ``inspect`` is a node, or true for
        the one that is next."""
        wanted = arguments.get("inspect")
        if wanted is True:
            wanted = self.run.current.seq if self.run.current is not None else None
        return wire.to_json(self.inspect(wanted, windows(arguments))) if type(wanted) is int else None

    def _dispatch(self, command: str, arguments: Mapping[str, Any]) -> tuple[Message | None, str]:
        """Do a request; returns the body of its answer and the event that tells the others of it."""
        if command == "disconnect":
            return self._disconnect(), ""
        if command == "initialize":
            return wire.to_json(self.state()), ""
        if self.closed:
            raise Refused(self.closed)
        if command == "setBreakpoints":
            return wire.to_json(self.set_breakpoints(arguments)), "breakpoints"
        if command == "setWatches":
            return wire.to_json(self.set_watches(arguments.get("expressions"))), "watches"
        look = self._looks().get(command)
        if look is not None:
            return wire.to_json(look(arguments)), ""
        move = self._moves().get(command)
        if move is None:
            others = ("initialize", "setBreakpoints", "setWatches", "pause", "disconnect")
            known = sorted([*self._moves(), *self._looks(), *others])
            raise Refused(f"there is no command {command!r}; there are {', '.join(known)}")
        return wire.to_json(move(arguments)), "stopped"

    def _looks(self) -> dict[str, Callable[[Mapping[str, Any]], NodeDetail | ArrayWindow | Check | Changed | Watched]]:
        return {
            "check": lambda a: self.check(whole(a, "node")),
            "compare": lambda a: self.compare(),
            "evaluate": lambda a: self.evaluate(a.get("expression")),
            "inspect": lambda a: self.inspect(whole(a, "node"), windows(a)),
            "values": lambda a: self.values(whole(a, "node"), a.get("part"), element(a, "start")),
        }

    def _moves(self) -> dict[str, Callable[[Mapping[str, Any]], Stopped]]:
        return {
            "next": lambda a: (
                self.over() if word(a, "granularity", "node module") == "module" else self.next(whole(a, "count", 1))
            ),
            "stepIn": lambda a: self.next(),
            "stepOut": lambda a: self.out(),
            "stepBack": lambda a: self.back(whole(a, "count", 1)),
            "continue": lambda a: self.proceed(),
            "goto": lambda a: self.go_to(whole(a, "step")) if "step" in a else self.go_to_node(whole(a, "node")),
            "runTo": lambda a: self.run_to(whole(a, "node")),
            "goTo": lambda a: self.go_to(whole(a, "step")),
            "restart": lambda a: self.restart(),
            "setGradient": lambda a: self.set_gradient(
                whole(a, "node"), whole(a, "output", 0), a.get("index", ()), a.get("value")
            ),
            "setExpression": lambda a: self.set_expression(
                whole(a, "node"), whole(a, "output", 0), a.get("expression")
            ),
            "finish": lambda a: self.finish(),
        }

    # ---- what can be asked -----------------------------------------------------------------------------------------

    def state(self) -> SessionState:
        """The outline and where the run stands: what a view needs when it opens."""
        with self.lock:
            stopped = self.picture.everything(self)
            return SessionState(SESSION, self.graph, stopped, self.breakpoints(), self.blocking, self.closed)

    def breakpoints(self) -> Breakpoints:
        return Breakpoints(tuple(sorted(self.nodes)), self.predicates.all, self.predicates.together)

    def set_breakpoints(self, arguments: Mapping[str, Any]) -> Breakpoints:
        """Replace all breakpoints: ``nodes`` are ids, ``predicates`` conditions on a node and the gradient that comes to it,
        which must hold ``together`` or else one by one."""
        nodes = arguments.get("nodes", [])
        if not isinstance(nodes, list) or not all(type(number) is int for number in nodes):
            raise Refused(f"'nodes' must be a list of node ids, not {nodes!r}")
        for number in nodes:
            self._node(number)
        together = arguments.get("together", False)
        if type(together) is not bool:
            raise Refused(f"'together' must be true or false, not {together!r}")
        try:
            predicates = Predicates(parsed(arguments.get("predicates", [])), self.run.cells, self.names, together)
        except ValueError as error:
            raise Refused(str(error)) from None
        if predicates.all == self.predicates.all and together == self.predicates.together:
            predicates = self.predicates  # hits that were counted stay counted
        self.nodes, self.predicates = set(nodes), predicates
        return self.breakpoints()

    def inspect(self, number: int, windows: Mapping[str, Sequence[int]] | None = None) -> NodeDetail:
        """Everything there is to see of one node now. ``windows`` says where the grids of its arrays begin."""
        item = self._input(number)
        if item is not None:
            return input_detail(item, item.array, self.names, (windows or {}).get("value", ()))
        node = self._node(number)
        return detail(
            node,
            self.names,
            run=self.run,
            state_of=self.picture.state,
            edited=[output for _, who, output in self.edits if who == number],
            consumers=self.picture.consumers(number),
            windows=windows,
        )

    def values(self, number: int, part: Any, start: Sequence[int]) -> ArrayWindow:
        """Another part of one of a node's arrays: ``part`` is "value", "incoming.0", "saved.1" and the like."""
        item = self._input(number)
        if item is not None:
            return values({"value": item.array}, part, start, "this input")
        node = self._node(number)
        return values(arrays(node, self.run, self.picture.consumers(number)), part, start, node.name())

    def _input(self, number: int) -> Input | None:
        at = self.walk.place.get(number)
        item = self.walk.items[at] if at is not None else None
        return item if isinstance(item, Input) else None

    def check(self, number: int) -> Check:
        """Compare the backward of a node with finite differences of its forward."""
        node = self._node(number)
        return check(node, lambda each: self.picture.consumers(each.seq), called(node, self))

    def compare(self) -> Changed:
        """What the edits have changed so far, beside the same pass without them."""
        if self.closed:
            raise Refused(self.closed)
        if not self.edits:
            raise Refused("nothing was edited in this pass, so there is nothing to compare")
        loss, gradient = self._from
        leaves = self.inputs or [node.variable for node in self.run.cells if type(node) is AccumulateGrad]
        plain = BackwardRun([loss], [gradient], retain_graph=True, inputs=leaves, accumulate=False, journal=True)
        return changed(self.run, plain, self.names, sorted({number for _, number, _ in self.edits}))

    @property
    def gradients(self) -> tuple[Any, ...]:
        """Of a pass with ``inputs``: the gradients that have arrived at them, ``None`` where none has yet."""
        return tuple([self.run.captured.get(at) for at in range(len(self.inputs or ()))])

    # ---- expressions -----------------------------------------------------------------------------------------------

    def set_watches(self, expressions: Any, namespace: Mapping[str, Any] | None = None) -> Watches:
        """Watch these expressions and no others. ``namespace`` is where their names are looked up outside of a notebook."""
        try:
            self.watches.set(expressions, namespace)
        except ValueError as error:
            raise Refused(str(error)) from None
        return Watches(self.watched())

    def watched(self) -> tuple[Watched, ...]:
        """The watched expressions where the run stands."""
        return self.watches.now(self._seen()) if self.watches.expressions and not self.closed else ()

    def evaluate(self, text: Any, namespace: Mapping[str, Any] | None = None) -> Watched:
        """One expression where the run stands, once."""
        try:
            value = evaluate.evaluated(evaluate.Expression(text, namespace), self._seen())
        except ValueError as error:
            raise Refused(str(error)) from None
        return Watched(text, evaluate.value_text(value), False, False)

    def _seen(self, node: Any = None) -> Seen:
        """What an expression sees: the node that runs next (or another), and the gradients that wait there."""
        node = node if node is not None else self.run.current
        held = self.run.held(node) if node is not None else None
        return Seen(self.run, node, held, path_of(node, self.names) if node is not None else "")

    # ---- edits -----------------------------------------------------------------------------------------------------

    def set_gradient(self, number: int, output: int, index: Any, value: Any) -> Stopped:
        """Change one element of a gradient that waits at a node."""
        return self._edit(number, output, lambda slots: edited_gradient(slots, output, index, value))

    def replace_gradient(self, number: int, output: int, gradient: Any) -> Stopped:
        """Put other values (a tensor, nested lists or a number) in the place of a gradient that waits at a node."""
        with self.lock:
            if self.closed:
                raise Refused(self.closed)
            stopped = self._edit(number, output, lambda slots: replaced_gradient(slots, output, gradient))
        self._tell("stopped", wire.to_json(stopped))
        return stopped

    def set_expression(
        self, number: int, output: int, text: Any, namespace: Mapping[str, Any] | None = None
    ) -> Stopped:
        """Put the value of an expression, such as ``grad * 0``, in the place of a gradient that waits at a node."""
        node = self._node(number)
        if self.run.held(node) is None or self.picture.state(node) == "done":
            raise Refused(f"no gradient waits at {node.name()}, so there is nothing to put another value for")
        seen = self._seen(node)
        try:
            value = evaluate.evaluated(evaluate.Expression(text, namespace), seen.of_output(output))
        except ValueError as error:
            raise Refused(str(error)) from None
        return self._edit(number, output, lambda slots: replaced_gradient(slots, output, value))

    def replace_by(self, number: int, output: int, text: Any, namespace: Mapping[str, Any] | None) -> Stopped:
        """The same from Python, where names are looked up in ``namespace`` outside of a notebook. Views are told."""
        with self.lock:
            if self.closed:
                raise Refused(self.closed)
            stopped = self.set_expression(number, output, text, namespace)
        self._tell("stopped", wire.to_json(stopped))
        return stopped

    def _edit(self, number: int, output: int, changed: Callable[[Sequence[Any]], Any]) -> Stopped:
        node = self._node(number)
        slots = self.run.held(node)
        if slots is None or self.picture.state(node) == "done":
            raise Refused(
                f"no gradient waits at {node.name()}: only a gradient that has arrived and was not used can be changed"
            )
        try:
            self.run.edit(node, output, changed(slots))
        except ValueError as error:
            raise Refused(str(error)) from None
        self.edits.append((self.run.count, node.seq, output))
        self.reason, self.why = "edited", ""
        return self.picture.after(self, [node])

    # ---- waiting and ending ----------------------------------------------------------------------------------------

    def hold(self) -> None:
        """Say that a cell is about to wait: from now on a view that closes lets the pass run to its end."""
        with self.lock:
            self.blocking = not self.run.finished and not self.closed
            self._released.clear()
            self._interrupted = False
            self.desk.attended = self.blocking

    def wait(self, while_true: Callable[[], bool] = lambda: True) -> None:
        """Block this thread until the run is over or given up; requests are served on other threads meanwhile.

        ``while_true`` is asked every tenth of a second and ends the wait when it says no. An interrupt ends it too, and
        leaves a run that can go on or be dropped. An exception that stopped the run for good is raised here.
        """
        if not self.blocking and not self._released.is_set():
            self.hold()
        try:
            while self.blocking and not self._released.is_set() and while_true():
                self.desk.attend(0.1)
                if self._interrupted:
                    raise KeyboardInterrupt
        finally:
            self.blocking = False
            self._released.clear()
            self.desk.leave()
        if self.closed and self.error is not None:
            raise self.error

    def _disconnect(self) -> Message:
        """A view has gone. A cell that waits for it goes on as if nobody had looked: the pass runs to its end."""
        self.heard = False
        if self.blocking and not self.closed:
            stopped = self.finish()
            if self.error is None:
                self._tell("stopped", wire.to_json(stopped))
            else:
                self.closed = f"the run was given up: {self.why}"
        return {}

    def close(self, why: str = "this session is closed; make a new one from the loss") -> None:
        """End the session and let go of the graph. What views show stays; further requests say ``why`` they fail."""
        with self.lock:
            if self.closed:
                return
            self.closed = why
            self.run.close()
            self._from = None, None
            self.inputs = None
            self.watches.clear()
            self.walk.clear()
            self.picture = Picture(self.walk, self.run)
            self.error = None
            self._released.set()
        self._tell("closed", {"message": why})
        self._listeners.clear()
