"""Three ways to drive a session.

A paused run needs no driver: every request does its part and returns. A *blocking* run keeps its cell waiting while
views stay alive; that works where the kernel serves comm messages on a thread of their own (subshells), which is
found out at run time. A *worker* serves requests on its own thread, for consoles and tests.
"""

from __future__ import annotations

import queue
import threading
import time
from typing import Any

from tensorlab.observe.names import notebook_shell
from tensorlab.observe.protocol import Message
from tensorlab.observe.session import Listener, StepSession

#: Seconds that a blocking cell waits for the first word from a view.
PATIENCE = 60.0


def why_not_blocking() -> str:
    """Why a cell cannot wait for its view here, in a sentence; empty where the kernel offers what it takes."""
    kernel = getattr(notebook_shell(), "kernel", None)
    if kernel is None:
        return "there is no notebook whose view could release the cell"
    features = getattr(kernel, "kernel_info", {}).get("supported_features", ())
    if "kernel subshells" not in features:
        return "this kernel serves no messages while a cell runs (it has no subshells; ipykernel 7 or newer does)"
    if threading.current_thread() is not threading.main_thread():
        return "the cell does not run on the kernel's main thread"
    return ""


def nobody_can_answer() -> bool:
    """Whether a program runs this notebook, with no person before it: such a front end takes no input either."""
    kernel = getattr(notebook_shell(), "kernel", None)
    parent = kernel.get_parent("shell") if kernel is not None else {}
    return (parent.get("content") or {}).get("allow_stdin") is False


def wait_for_view(session: StepSession, patience: float = PATIENCE) -> str:
    """Block until the run is over, or until no view has said anything for ``patience`` seconds from the start.

    Returns why it gave up in the second case, else an empty string. A view that has been heard once is waited for
    without end; interrupting the kernel ends the wait, and leaves the run as it is.
    """
    deadline = time.monotonic() + patience
    session.wait(lambda: session.heard or time.monotonic() < deadline)
    if session.heard or session.run.finished or session.closed:
        return ""
    return (
        f"no view of it answered within {patience:g} seconds, so this front end cannot release a waiting cell "
        "(JupyterLab can, from 4.4 on, with comms over subshells)"
    )


class Worker:
    """Serves the requests of a session on a thread of its own, in the order they are posted.

    ``replies`` holds every answer and event. ``close()`` ends the thread and leaves the session open.
    """

    def __init__(self, session: StepSession) -> None:
        self.session = session
        self.replies: queue.Queue[Message] = queue.Queue()
        self._requests: queue.Queue[Any] = queue.Queue()
        self._listener: Listener = self.replies.put
        self._undo = session.subscribe(self._listener)
        self._thread = threading.Thread(target=self._serve, name="tensorlab-session", daemon=True)
        self._thread.start()

    def post(self, command: str, seq: int = 0, **arguments: Any) -> None:
        """Hand over a request; its answer turns up in ``replies``."""
        self._requests.put({"seq": seq, "command": command, "arguments": arguments})

    def close(self) -> None:
        self._requests.put(None)
        self._thread.join()
        self._undo()

    def _serve(self) -> None:
        while (request := self._requests.get()) is not None:
            self.replies.put(self.session.handle(request, self._listener))
