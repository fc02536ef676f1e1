"""A backward pass that a person steps through: requests in, answers and events out, no transport inside.

``StepSession`` speaks the words of a debugger (``next``, ``stepBack``, ``continue``, ``setBreakpoints``, ...). A
request is a dictionary ``{"seq", "command", "arguments"}``; the answer says whether it succeeded, and a request that
fails leaves the run as it was. What happens is also told to every other subscriber as an event. One lock makes it
safe to serve requests on one thread while a cell waits on another.

The session owns its run until it is closed: that is the one place where an instrument keeps a graph alive.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorlab.engine.run import BackwardRun
from tensorlab.observe import places, wire
from tensorlab.observe.changes import Picture
from tensorlab.observe.detail import arrays, detail, input_detail, values
from tensorlab.observe.edit import edited_gradient, replaced_gradient
from tensorlab.observe.names import Names
from tensorlab.observe.output import captured_output
from tensorlab.observe.predicates import Predicates, parsed
from tensorlab.observe.protocol import Message, Refused, element, parts, response, whole, windows
from tensorlab.observe.schema import SESSION, ArrayWindow, Breakpoints, NodeDetail, Reason, SessionState, Stopped
from tensorlab.observe.snapshot import MOST_NODES, Input, Walk, snapshot

Listener = Callable[[Message], None]


class StepSession:
    """A paused backward pass from ``loss`` and what is known about it.

    ``gradient`` seeds the pass as in ``loss.backward(gradient)``. ``retain_graph`` false frees saved values when the
    session is closed. ``names`` are the user's names for tensors, now and when a node is inspected.
    ``limit`` is the number of nodes in the picture; the run itself is always whole.
    """

    def __init__(
        self,
        loss: Any,
        gradient: Any = None,
        *,
        retain_graph: bool = True,
        names: Names | None = None,
        title: str | None = None,
        limit: int = MOST_NODES,
    ) -> None:
        self.lock = threading.RLock()
        self.run = BackwardRun([loss], [gradient], retain_graph=retain_graph, journal=True)
        self.names = names or Names()
        self.walk = Walk([loss], limit)
        self.graph = snapshot(loss, self.names, title=title, walk=self.walk)
        self.picture = Picture(self.walk, self.run)
        self.nodes: set[int] = set()
        self.predicates = Predicates(())
        self.edits: list[tuple[int, int, int]] = []  # (steps run when it was made, node id, output)
        self.reason: Reason = "entry"
        self.why = ""
        self.error: BaseException | None = None
        self.closed = ""
        self.blocking = False
        self.heard = False  # whether a view has said anything yet
        self._released = threading.Event()
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
            with captured_output() as printed:
                body = self._do(command, arguments, sender)
            if printed.text:
                self._tell("output", {"text": printed.text})
            return response(seq, command, True, None, body)
        except Refused as refusal:
            return response(seq, command, False, str(refusal), None)
        except KeyboardInterrupt:
            return response(seq, command, False, f"{command} was interrupted", None)
        except Exception as error:  # a mistake of ours must not leave a view waiting for its answer
            return response(seq, command, False, f"{type(error).__name__}: {error}", None)

    def ask(self, command: str, **arguments: Any) -> Message:
        """Do a request from Python: the body of the answer, or ``Refused``. Views are told; hooks print where they
        are called."""
        return self._do(command, arguments, None) or {}

    def _do(self, command: str, arguments: Mapping[str, Any], sender: Listener | None) -> Message | None:
        try:
            with self.lock:
                body, event = self._dispatch(command, arguments)
                shown = self._shown(arguments) if event == "stopped" else None
        finally:
            if self.blocking and (self.run.finished or self.closed):
                self._released.set()
        if event and body is not None:
            self._tell(event, body, but=sender)
        return body if shown is None or body is None else {**body, "detail": shown}

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
        look = self._looks().get(command)
        if look is not None:
            return wire.to_json(look(arguments)), ""
        move = self._moves().get(command)
        if move is None:
            known = sorted([*self._moves(), *self._looks(), "initialize", "setBreakpoints", "disconnect"])
            raise Refused(f"there is no command {command!r}; there are {', '.join(known)}")
        return wire.to_json(move(arguments)), "stopped"

    def _looks(self) -> dict[str, Callable[[Mapping[str, Any]], NodeDetail | ArrayWindow]]:
        return {
            "inspect": lambda a: self.inspect(whole(a, "node"), windows(a)),
            "values": lambda a: self.values(whole(a, "node"), a.get("part"), element(a, "start")),
        }

    def _moves(self) -> dict[str, Callable[[Mapping[str, Any]], Stopped]]:
        return {
            "next": lambda a: self.next(whole(a, "count", 1)),
            "stepBack": lambda a: self.back(whole(a, "count", 1)),
            "continue": lambda a: self.proceed(),
            "runTo": lambda a: self.run_to(whole(a, "node")),
            "goTo": lambda a: self.go_to(whole(a, "step")),
            "restart": lambda a: self.restart(),
            "setGradient": lambda a: self.set_gradient(
                whole(a, "node"), whole(a, "output", 0), a.get("index", ()), a.get("value")
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
        return Breakpoints(tuple(sorted(self.nodes)), self.predicates.all)

    def set_breakpoints(self, arguments: Mapping[str, Any]) -> Breakpoints:
        """Replace all breakpoints: ``nodes`` are ids, ``predicates`` conditions on the gradient that comes to a
        node."""
        nodes = arguments.get("nodes", [])
        if not isinstance(nodes, list) or not all(type(number) is int for number in nodes):
            raise Refused(f"'nodes' must be a list of node ids, not {nodes!r}")
        for number in nodes:
            self._node(number)
        try:
            predicates = parsed(arguments.get("predicates", []))
        except ValueError as error:
            raise Refused(str(error)) from None
        self.nodes, self.predicates = set(nodes), Predicates(predicates)
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

    # ---- moves -----------------------------------------------------------------------------------------------------

    def next(self, count: int = 1) -> Stopped:
        """Run ``count`` nodes. Breakpoints do not hold it up; the end does."""
        if count < 1:
            raise Refused(f"'count' is how many nodes to run: at least 1, not {count}")
        self._not_over()
        return self._forward("step", self.run.count + count, stops=False)

    def back(self, count: int = 1) -> Stopped:
        """Undo ``count`` nodes exactly, the gradients of leaves included."""
        if count < 1:
            raise Refused(f"'count' is how many nodes to undo: at least 1, not {count}")
        if not self.run.count and not self.edits:
            raise Refused("this is the beginning: no node has run yet, so there is nothing to undo")
        return self._backward("back", max(0, self.run.count - count))

    def proceed(self) -> Stopped:
        """Run to the next breakpoint, or to the end."""
        self._not_over()
        return self._forward("done", self.run.total, stops=True)

    def run_to(self, number: int) -> Stopped:
        """Run until this node is next. Breakpoints on the way do not stop it."""
        node = self._node(number)
        if self.picture.state(node) == "current":
            raise Refused(f"{node.name()} is the node that runs next: the run already stands before it")
        upcoming = self.run.planned()
        if node not in upcoming:
            raise Refused(f"{node.name()} has already run; step back, or restart, to come to it again")
        return self._forward("goto", self.run.count + upcoming.index(node), stops=False)

    def go_to(self, step: int) -> Stopped:
        """Go to the point where ``step`` nodes have run, forward or back."""
        if not 0 <= step <= self.run.total:
            raise Refused(f"step {step} is not in this run: it has steps 0 to {self.run.total}")
        if step >= self.run.count:
            return self._forward("goto", step, stops=False)
        return self._backward("goto", step)

    def restart(self) -> Stopped:
        """Undo everything, edits included."""
        return self._backward("goto", 0)

    def finish(self) -> Stopped:
        """Run to the end whatever breakpoints there are."""
        self.error = None
        return self._forward("done", self.run.total, stops=False)

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

    def _not_over(self) -> None:
        if self.run.finished:
            raise Refused("the run is over: every node has run. Step back, or restart, to see it again")

    def _forward(self, reason: Reason, until: int, stops: bool) -> Stopped:
        """Run nodes until ``until`` have run; with ``stops``, breakpoints stop it before. Tells why it stopped."""
        self.reason, self.why, self.error = reason, "", None
        begin = self.run.count
        touched: list[Any] = []

        def stop(run: BackwardRun, node: Any) -> bool:
            if run.count > begin:
                self.picture.ran(touched[-1])
            if run.count >= until or (stops and run.count > begin and self._breaks(run, node)):
                return True
            touched.append(node)
            return False

        try:
            if self.run.run(stop) is None and touched:
                self.picture.ran(touched[-1])
        except Exception as error:
            self.reason, self.why, self.error = "exception", f"{type(error).__name__}: {error}", error
        except BaseException:
            self._cut_short(touched)
            raise
        if self.run.finished:
            self.reason = "done"
        return self.picture.after(self, touched)

    def _breaks(self, run: BackwardRun, node: Any) -> bool:
        if node.seq in self.nodes:
            self.reason = "breakpoint"
            return True
        why = self.predicates.met_by(run.held(node))
        if why:
            self.reason, self.why = "predicate", why
        return bool(why)

    def _backward(self, reason: Reason, until: int) -> Stopped:
        self.reason, self.why, self.error = reason, "", None
        touched = []
        try:
            while self.run.count > until or (until == 0 and self._edited_here()):
                node = self.run.back()
                self.edits = [edit for edit in self.edits if edit[0] <= self.run.count]
                if node is None:
                    self.edits = []
                    break
                touched.append(node)
        except RuntimeError as error:
            raise Refused(str(error)) from None
        except BaseException:
            self._cut_short(touched)
            raise
        return self.picture.after(self, touched)

    def _cut_short(self, touched: list[Any]) -> None:
        """An interrupt came in the middle of a move: views are told how far it got."""
        self.reason = "paused"
        self._tell("stopped", wire.to_json(self.picture.after(self, touched)))

    def _edited_here(self) -> bool:
        return any(at >= self.run.count for at, _, _ in self.edits)

    def _node(self, number: int) -> Any:
        node = self.walk.node(number)
        if node is None:
            raise Refused(f"there is no node {number} in this graph")
        return node

    # ---- waiting and ending ----------------------------------------------------------------------------------------

    def hold(self) -> None:
        """Say that a cell is about to wait: from now on a view that closes lets the pass run to its end."""
        with self.lock:
            self.blocking = not self.run.finished and not self.closed
            self._released.clear()

    def wait(self, while_true: Callable[[], bool] = lambda: True) -> None:
        """Block this thread until the run is over or given up; requests are served on other threads meanwhile.

        ``while_true`` is asked every tenth of a second and ends the wait when it says no. An interrupt ends it too, and
        leaves a run that can go on or be dropped. An exception that stopped the run for good is raised here.
        """
        if not self.blocking and not self._released.is_set():
            self.hold()
        try:
            while self.blocking and not self._released.wait(0.1) and while_true():
                pass
        finally:
            self.blocking = False
            self._released.clear()
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
            self.walk.clear()
            self.picture = Picture(self.walk, self.run)
            self.error = None
            self._released.set()
        self._tell("closed", {"message": why})
        self._listeners.clear()
