"""A real kernel and a front end made of messages: what a page would send, and what it would get."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager

ROOT = Path(__file__).parents[2]
PATIENCE = 60


class Front:
    """A front end without a page. ``subshell`` is the thread that its widget messages are sent to, as JupyterLab's
    are."""

    def __init__(self) -> None:
        self.manager = KernelManager(kernel_name="python3")
        paths = [str(ROOT), str(ROOT / "widgets"), os.environ.get("PYTHONPATH", "")]
        self.manager.start_kernel(env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))})
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=PATIENCE)
        self.subshell = self.new_subshell()
        self.heard: list[dict[str, Any]] = []  # everything on the broadcast channel, in order
        self.seq = 0

    def new_subshell(self) -> str:
        self.client.control_channel.send(self.client.session.msg("create_subshell_request"))
        return self.client.control_channel.get_msg(timeout=PATIENCE)["content"]["subshell_id"]

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    # ---- cells ------------------------------------------------------------------------------------------------------

    def start(self, code: str, cell: str = "", person: bool = True) -> str:
        """Begin to run a cell; returns the id of the execution. A program that runs notebooks says that it takes no input."""
        message = self.client.session.msg(
            "execute_request",
            {
                "code": code,
                "silent": False,
                "store_history": True,
                "user_expressions": {},
                "allow_stdin": person,
                "stop_on_error": False,
            },
        )
        message["metadata"] = {"cellId": cell} if cell else {}
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def finish(self, execution: str) -> str:
        """Wait for a cell to end; returns what it printed. Raises ``AssertionError`` with the traceback if it
        failed."""

        def ended() -> bool:
            return any(
                message["msg_type"] == "status" and message["content"]["execution_state"] == "idle"
                for message in self.of(execution)
            )

        self.wait(ended)
        failures = [message["content"] for message in self.of(execution) if message["msg_type"] == "error"]
        assert not failures, "\n".join(failures[0]["traceback"])
        return self.printed(execution)

    def printed(self, execution: str) -> str:
        return "".join(m["content"]["text"] for m in self.of(execution) if m["msg_type"] == "stream")

    def run(self, code: str, cell: str = "") -> str:
        return self.finish(self.start(code, cell))

    def error(self, execution: str) -> str:
        """The name of the exception that ended a cell."""
        self.wait(lambda: any(message["msg_type"] == "error" for message in self.of(execution)))
        return next(m["content"]["ename"] for m in self.of(execution) if m["msg_type"] == "error")

    def of(self, execution: str) -> list[dict[str, Any]]:
        return [message for message in self.heard if message["parent_header"].get("msg_id") == execution]

    def wait(self, condition: Any, patience: float = PATIENCE) -> None:
        """Listen until ``condition`` holds."""
        deadline = time.monotonic() + patience
        while not condition():
            assert time.monotonic() < deadline, f"waited {patience} s in vain; last heard: {self.heard[-3:]}"
            try:
                self.heard.append(self.client.get_iopub_msg(timeout=0.2))
            except Exception as error:  # the queue is empty
                if type(error).__name__ != "Empty":
                    raise

    # ---- widgets ----------------------------------------------------------------------------------------------------

    def widgets(self) -> list[str]:
        """The comm ids of the instruments that were made, oldest first."""
        return [
            message["content"]["comm_id"]
            for message in self.heard
            if message["msg_type"] == "comm_open"
            and message["content"]["data"].get("state", {}).get("_model_module") == "anywidget"
        ]

    def send(self, widget: str, content: Any, subshell: str | None = "own") -> None:
        """Send a custom message to a widget, on the thread that JupyterLab uses unless another is named."""
        message = self.client.session.msg(
            "comm_msg", {"comm_id": widget, "data": {"method": "custom", "content": content}}
        )
        message["header"]["subshell_id"] = self.subshell if subshell == "own" else subshell
        self.client.shell_channel.send(message)

    def messages(self, widget: str) -> list[dict[str, Any]]:
        """Everything that a widget sent, with its buffers."""
        return [
            {**message["content"]["data"]["content"], "buffers": message["buffers"]}
            for message in self.heard
            if message["msg_type"] == "comm_msg"
            and message["content"]["comm_id"] == widget
            and message["content"]["data"].get("method") == "custom"
        ]

    def ask(self, widget: str, command: str, subshell: str | None = "own", **arguments: Any) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        self.seq += 1
        seq = self.seq
        self.send(widget, {"seq": seq, "command": command, "arguments": arguments}, subshell)

        def answers() -> list[dict[str, Any]]:
            return [m for m in self.messages(widget) if m["type"] == "response" and m["seq"] == seq]

        self.wait(lambda: bool(answers()))
        return answers()[0]
