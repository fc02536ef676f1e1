"""The form of requests and answers, shared by everything that a view can talk to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


def word(arguments: Mapping[str, Any], name: str, known: str) -> str:
    """One of a few words out of the arguments of a request, the first of them where it is left out. Raises ``Refused`` for another."""
    words = known.split()
    value = arguments.get(name, words[0])
    if value not in words:
        raise Refused(f"'{name}' must be one of {', '.join(words)}, not {value!r}")
    return value


def windows(arguments: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Where grids begin, by the names of arrays, out of the arguments of a request."""
    given = arguments.get("windows") or {}
    if not isinstance(given, Mapping):
        raise Refused(f"'windows' must be an object of array names and elements, not {given!r}")
    return {str(name): element(given, name) for name in given}


def element(arguments: Mapping[str, Any], name: str) -> tuple[int, ...]:
    """The index of an element. Raises ``Refused`` when it is missing or something else."""
    value = arguments.get(name)
    if not isinstance(value, list) or not all(type(part) is int for part in value):
        raise Refused(f"'{name}' must be a list of whole numbers, not {value!r}")
    return tuple(value)


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


def served(request: Any, actions: Mapping[str, Callable[[Mapping[str, Any]], Message]], otherwise: str) -> Message:
    """Answer one request by the action of its name; ``otherwise`` says what a command that is none cannot do."""
    seq, command = -1, ""
    try:
        seq, command, arguments = parts(request)
        action = actions.get(command)
        if action is None:
            raise Refused(otherwise.format(command=command))
        return response(seq, command, True, None, action(arguments))
    except Refused as refusal:
        return response(seq, command, False, str(refusal), None)
    except Exception as error:  # a mistake of ours must not leave a view waiting for its answer
        return response(seq, command, False, f"{type(error).__name__}: {error}", None)


def wholes(arguments: Mapping[str, Any], name: str) -> tuple[int, ...]:
    """A list of whole numbers out of the arguments of a request. Raises ``Refused`` when it is missing or something else."""
    value = arguments.get(name)
    if not isinstance(value, list) or not all(type(item) is int for item in value):
        raise Refused(f"'{name}' must be a list of whole numbers, not {value!r}")
    return tuple(value)
