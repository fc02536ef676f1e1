"""How a run is moved: by nodes, over and out of modules, to a node, a step, a breakpoint or the end, and back."""

from __future__ import annotations

import threading
from typing import Any

from tensorlab.engine.marks import Path
from tensorlab.engine.node import AccumulateGrad, Node
from tensorlab.engine.run import BackwardRun
from tensorlab.observe import wire
from tensorlab.observe.changes import Picture
from tensorlab.observe.names import Names
from tensorlab.observe.parts import has_left, path_to_leave
from tensorlab.observe.predicates import Predicates
from tensorlab.observe.protocol import Message, Refused
from tensorlab.observe.schema import Reason, Stopped
from tensorlab.observe.schema_asking import Watched
from tensorlab.observe.snapshot import Walk
from tensorlab.observe.telling import called


class Moves:
    """The moves of a session: each does its part, and tells where the run stands then."""

    run: BackwardRun
    names: Names
    walk: Walk
    picture: Picture
    nodes: set[int]  # those with a breakpoint
    predicates: Predicates
    edits: list[tuple[int, int, int]]  # (steps run when it was made, node id, output)
    reason: Reason
    why: str
    error: BaseException | None
    _pause: threading.Event

    def _tell(self, event: str, body: Message) -> None:
        """Tell every view of an event."""

    def watched(self) -> tuple[Watched, ...]:
        """The watched expressions where the run stands."""
        return ()

    def next(self, count: int = 1) -> Stopped:
        """Run ``count`` nodes. Breakpoints do not hold it up; the end does."""
        if count < 1:
            raise Refused(f"'count' is how many nodes to run: at least 1, not {count}")
        self._not_over()
        return self._forward("step", self.run.count + count, stops=False)

    def over(self) -> Stopped:
        """Run until the module is left that the next node belongs to; one node where it belongs to none."""
        self._not_over()
        return self._leave(path_to_leave(self._standing_in(), out=False))

    def out(self) -> Stopped:
        """Run until the module is left that encloses the one of the next node. Refused where nothing encloses it."""
        self._not_over()
        node = self._standing_in()
        call = path_to_leave(node, out=True)
        if call is None:
            raise Refused(f"{called(node, self)} is in no module inside another, so there is nothing to step out of")
        return self._leave(call)

    def _leave(self, call: Path | None) -> Stopped:
        """Run until a module is left, or to a breakpoint in it."""
        if call is None:
            return self.next()
        return self._forward("step", self.run.total, stops=True, leave=call)

    def back(self, count: int = 1) -> Stopped:
        """Undo ``count`` nodes exactly, the gradients of leaves included."""
        if count < 1:
            raise Refused(f"'count' is how many nodes to undo: at least 1, not {count}")
        if not self.run.count and not self.edits:
            raise Refused("this is the beginning: no node has run yet, so there is nothing to undo")
        return self._backward("back", max(0, self.run.count - count))

    def proceed(self, here: bool = False) -> Stopped:
        """Run to the next breakpoint, or to the end. ``here``: also the node that is next now may be where it stops."""
        self._not_over()
        return self._forward("done", self.run.total, stops=True, here=here)

    def run_to(self, number: int) -> Stopped:
        """Run until this node is next. Breakpoints on the way do not stop it."""
        node = self._node(number)
        if self.picture.state(node) == "current":
            raise Refused(f"{node.name()} is the node that runs next: the run already stands before it")
        upcoming = self.run.planned()
        if node not in upcoming:
            raise Refused(f"{node.name()} has already run; step back, or restart, to come to it again")
        return self._forward("goto", self.run.count + upcoming.index(node), stops=False)

    def go_to_node(self, number: int) -> Stopped:
        """Go to where a node is next, forward or back."""
        node = self._node(number)
        done = self.run.done
        if node in done:
            return self._backward("goto", done.index(node))
        return self.run_to(number)

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

    def _standing_in(self) -> Node:
        """The node that says in which module the run stands: the next one, or before a leaf the operation that came last."""
        node = self.run.current
        assert node is not None
        if type(node) is not AccumulateGrad:
            return node
        return next((done for done in reversed(self.run.done) if type(done) is not AccumulateGrad), node)

    def _not_over(self) -> None:
        if self.run.finished:
            raise Refused("the run is over: every node has run. Step back, or restart, to see it again")

    def _forward(
        self, reason: Reason, until: int, stops: bool, leave: Path | None = None, here: bool = False
    ) -> Stopped:
        """Run nodes until ``until`` have run, or a module is left; with ``stops``, breakpoints stop it before. Tells why
        it stopped."""
        self.reason, self.why, self.error = reason, "", None
        self._pause.clear()
        begin = self.run.count
        touched: list[Any] = []

        def stop(run: BackwardRun, node: Any) -> bool:
            if run.count > begin:
                self.picture.ran(touched[-1])
            if run.count >= until or self._stops_here(run, node, here or run.count > begin, stops, leave):
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

    def _stops_here(self, run: BackwardRun, node: Any, moved: bool, stops: bool, leave: Path | None) -> bool:
        """Whether a move ends before ``node``: at a breakpoint, outside of a module, or because somebody asked for a pause."""
        why = self.predicates.met_by(node, run.held(node), run.count) if stops or self.predicates.wanted else ""
        if not moved:
            return False
        if stops and node.seq in self.nodes:
            self.reason = "breakpoint"
        elif stops and why:
            self.reason, self.why = "predicate", why
        elif self._pause.is_set():
            self.reason = "paused"
        else:
            return leave is not None and has_left(node, leave)
        return True

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
