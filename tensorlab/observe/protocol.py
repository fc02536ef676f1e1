"""The form of requests and answers, shared by everything that a view can talk to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Message = dict[str, Any]


class Refused(Exception):
    """A request that cannot be done; its message says why and what can."""


def parts(request: Any) -> tuple[int, str, Mapping[str, Any]]:
    """Number, command and arguments of a request. Raises ``Refused`` for anything that is not one."""
    if not isinstance(request, Mapping):
        raise Refused(f"a request is an object with 'seq', 'command' and 'arguments', not {type(request).__name__}")
    seq, command, arguments = request.get("seq", -1), request.get("command"), request.get("arguments") or {}
    if not isinstance(command, str) or not isinstance(arguments, Mapping):
        raise Refused("a request needs a 'command' that is a word and 'arguments' that are an object")
    return seq if type(seq) is int else -1, command, arguments


def whole(arguments: Mapping[str, Any], name: str, default: int | None = None) -> int:
    """A whole number out of the arguments of a request. Raises ``Refused`` when it is missing or something else."""
    value = arguments.get(name, default)
    if type(value) is not int:
        missing = f"'{name}' is missing"
        raise Refused(f"'{name}' must be a whole number, not {value!r}" if name in arguments else missing)
    return value


def response(seq: int, command: str, success: bool, message: str | None, body: Message | None) -> Message:
    """An answer as it is sent."""
    return {
        "type": "response",
        "seq": seq,
        "command": command,
        "success": success,
        "message": message,
        "body": body,
    }
