"""A tensor's layout that is looked at: the document, and answers while the tensor is still there. It keeps nothing alive."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tensorlab.observe import calls, memory, wire
from tensorlab.observe.protocol import Message, Refused, served, whole, wholes
from tensorlab.observe.schema import LayoutDocument
from tensorlab.viewing import layout_of

GONE = "the tensor is gone: nothing refers to it any more. The picture is as it was when the view was made"


class LayoutViewer:
    """The document of a tensor's layout, and the answers to a view of it. ``names`` gives the variables there are now."""

    def __init__(
        self, tensor: Any, title: str, names: Callable[[], Mapping[str, Any]], others: Sequence[memory.Side] = ()
    ) -> None:
        self._tensor = weakref.ref(tensor)
        self._names = names
        self.document: LayoutDocument = memory.layout_document(tensor, title, names(), others)

    def handle(self, request: Any) -> Message:
        """Answer one request: ``initialize``, ``look``, ``strip``, ``pick``, ``scratch`` or ``try``."""
        actions: dict[str, Callable[[Mapping[str, Any]], Message]] = {
            "initialize": lambda arguments: {"layout": wire.to_json(self.document)},
            "refresh": lambda arguments: {"layout": wire.to_json(self._refreshed())},
            "look": self._look,
            "strip": self._strip,
            "pick": self._pick,
            "scratch": self._scratch,
            "try": self._try,
            "disconnect": lambda arguments: {},
        }
        return served(request, actions, "a picture of a layout cannot {command!r}")

    def _live(self) -> Any:
        tensor = self._tensor()
        if tensor is None:
            raise Refused(GONE)
        return tensor

    def _refreshed(self) -> LayoutDocument:
        found = memory.layout_document(self._live(), self.document.title, self._names())
        self.document = replace(found, broadcast=self.document.broadcast)
        return self.document

    def _look(self, arguments: Mapping[str, Any]) -> Message:
        x = self._live()
        lead, row, column = wholes(arguments, "lead"), whole(arguments, "row", 0), whole(arguments, "column", 0)
        return wire.to_json(memory.grid(x._a, layout_of(x), lead, max(row, 0), max(column, 0)))

    def _strip(self, arguments: Mapping[str, Any]) -> Message:
        return wire.to_json(memory.strip_of(self._live(), max(whole(arguments, "first"), 0)))

    def _try(self, arguments: Mapping[str, Any]) -> Message:
        call = arguments.get("call")
        if not isinstance(call, str):
            raise Refused(f"'call' must be a text, not {call!r}")
        x = self._live()
        names = dict(memory.named_tensors(self._names()))
        return wire.to_json(calls.tried(x, call, self.document.title, names))

    def _pick(self, arguments: Mapping[str, Any]) -> Message:
        try:
            return wire.to_json(
                memory.picked(self._live(), wholes(arguments, "index"), self.document.title, self._names())
            )
        except IndexError as error:
            raise Refused(str(error)) from None

    def _scratch(self, arguments: Mapping[str, Any]) -> Message:
        shape, stride = wholes(arguments, "shape"), wholes(arguments, "stride")
        return wire.to_json(memory.scratch(self._live(), shape, stride, whole(arguments, "offset", 0)))
