"""A backward pass as a document: every step of it, and what an inspector shows of every node, for a reader without a kernel."""

from __future__ import annotations

from typing import Any

from tensorlab.observe import wire
from tensorlab.observe.names import Names
from tensorlab.observe.protocol import Message, Refused
from tensorlab.observe.session import StepSession

RECORDING = "tensorlab.recording/1"
#: Nodes whose details a recording holds; of a longer pass the first ones, and the steps of all.
MOST_DETAILED = 400


def recorded(loss: Any, gradient: Any = None, *, names: Names | None = None, title: str | None = None) -> Message:
    """Run the backward pass of ``loss`` with a journal, note every step, and undo it: no ``.grad`` is left changed.

    The result is made of numbers and text alone: ``state`` is what a session begins with, ``steps`` where it stands after each
    node, ``details`` what is known of each node, by id, as it was just after it ran.
    """
    session = StepSession(loss, gradient, retain_graph=True, names=names, title=title)
    try:
        return recorded_session(session)
    finally:
        session.close()


def recorded_session(session: StepSession) -> Message:
    """The same for a session that stands anywhere: it is taken through its steps unseen, and put back where it stood.

    Raises ``Refused`` for a session that is over, or whose gradients a person has edited: those would be lost on the way.
    """
    with session.lock:
        if session.closed:
            raise Refused(session.closed)
        if session.edits:
            raise Refused(
                "a gradient was edited, and a recording begins anew without it; step back before the edit first"
            )
        stood, listeners = session.run.count, session._listeners
        session._listeners = []
        try:
            session.restart()
            return _steps(session)
        finally:
            session.go_to(stood)
            session._listeners = listeners


def _steps(session: StepSession) -> Message:
    """Every step of a session that stands at its beginning."""
    state = session.ask("initialize")
    steps: list[Message] = []
    details: dict[str, Message] = {}
    for number in session.graph.nodes.id:
        if len(details) >= MOST_DETAILED:
            break
        if session._input(number) is not None:
            details[str(number)] = wire.to_json(session.inspect(number))
    while (node := session.run.current) is not None:
        steps.append(session.ask("next"))
        if len(details) < MOST_DETAILED:
            details[str(node.seq)] = wire.to_json(session.inspect(node.seq))
        if steps[-1]["reason"] == "exception":
            break
    return {"schema": RECORDING, "state": state, "steps": steps, "details": details, "total": session.run.total}
