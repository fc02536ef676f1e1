"""Comms whose messages are served on the thread that the front end sends them to, also while a cell runs.

ipykernel sends a front end's messages to the thread that last sent it something: the main one, since cells make widgets. A view
that is to release a waiting cell must be heard on its own thread (a subshell), which each of its messages names. So instruments
open comms of a class that leaves a message where it was sent. And since that thread does not wait for the cell that makes the
widget, the first message waits until the widget listens.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

#: Seconds that a message waits for its widget to be made.
PATIENCE = 30.0

_opening = threading.RLock()


@contextmanager
def served_where_sent() -> Iterator[None]:
    """Comms that are made inside are served where the front end sends their messages. Does nothing outside of ipykernel."""
    import comm

    kernel_comm = getattr(sys.modules.get("ipykernel.comm.comm"), "BaseComm", None)
    if kernel_comm is None:
        yield
        return
    with _opening:
        before = comm.create_comm
        comm.create_comm = _comm_class(kernel_comm)
        try:
            yield
        finally:
            comm.create_comm = before


@cache
def _comm_class(kernel_comm: Any) -> Any:
    class ServedWhereSent(kernel_comm):
        """ipykernel's comm, without its detour, and patient with its first message."""

        _reply_subshell_for = None

        def __init__(self, *args: Any, **options: Any) -> None:
            self._listening = threading.Event()
            super().__init__(*args, **options)

        def on_msg(self, callback: Callable[..., Any] | None) -> None:
            super().on_msg(callback)
            self._listening.set()

        def handle_msg(self, msg: Any) -> None:
            self._listening.wait(PATIENCE)
            super().handle_msg(msg)

    return ServedWhereSent
