"""A tensor's layout that is looked at: the document, and answers while the tensor is still there. It keeps nothing alive."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import Any

from tensorlab.observe import memory, wire
from tensorlab.observe.protocol import Message, Refused, served, whole, wholes
from tensorlab.observe.schema import LayoutDocument
from tensorlab.viewing import layout_of

GONE = "the tensor is gone: nothing refers to it any more. The picture is as it was when the view was made"


class LayoutViewer:
    """The document of a tensor's layout, and the answers to a view of it. ``names`` gives the variables there are now."""

    def __init__(self, tensor: Any, title: str, names: Callable[[], Mapping[str, Any]]) -> None:
        self._tensor = weakref.ref(tensor)
        self._names = names
        self.document: LayoutDocument = memory.layout_document(tensor, title, names())

    def handle(self, request: Any) -> Message:
        """Answer one request: ``initialize``, ``look``, ``pick`` or ``scratch``."""
        actions: dict[str, Callable[[Mapping[str, Any]], Message]] = {
            "initialize": lambda arguments: {"layout": wire.to_json(self.document)},
            "refresh": lambda arguments: {"layout": wire.to_json(self._refreshed())},
            "look": self._look,
            "pick": self._pick,
            "scratch": self._scratch,
            "disconnect": lambda arguments: {},
        }
        return served(request, actions, "a picture of a layout cannot {command!r}")

    def _live(self) -> Any:
        tensor = self._tensor()
        if tensor is None:
            raise Refused(GONE)
        return tensor

    def _refreshed(self) -> LayoutDocument:
        self.document = memory.layout_document(self._live(), self.document.title, self._names())
        return self.document

    def _look(self, arguments: Mapping[str, Any]) -> Message:
        x = self._live()
        lead, row, column = wholes(arguments, "lead"), whole(arguments, "row", 0), whole(arguments, "column", 0)
        return wire.to_json(memory.grid(x._a, layout_of(x), lead, max(row, 0), max(column, 0)))

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
