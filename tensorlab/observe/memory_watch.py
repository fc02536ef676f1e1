"""Memory that is looked at: a recording or a graph, snapshots, and answers to a view. It keeps nothing alive."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import Any

from tensorlab import census
from tensorlab.observe import wire
from tensorlab.observe.memory_holdings import blocks_at, curve_of, document_of, graph_document, holdings, snapshot_of
from tensorlab.observe.memory_recorder import MemoryRecorder
from tensorlab.observe.names import Names
from tensorlab.observe.protocol import Message, Refused, served, whole
from tensorlab.observe.schema_watching import MemoryDocument, MemorySnapshot
from tensorlab.tensor import Tensor

GONE = "the result is gone, and its graph with it. The picture is as it was when it was last looked at"


class MemoryWatch:
    """Memory of a device followed over time, or, with ``result``, what the graph of a tensor keeps."""

    def __init__(
        self,
        result: Any,
        title: str,
        names: Callable[[], Mapping[str, Any]],
        device: tuple[str, int] | None = None,
        attach: bool = True,
    ) -> None:
        if result is not None and not isinstance(result, Tensor):
            raise TypeError(
                f"memory is shown of everything, or of the graph of a Tensor; not of {type(result).__name__}"
            )
        self._result = None if result is None else weakref.ref(result)
        self.title = title
        self._names = names
        self.recorder = MemoryRecorder(device or _busiest())
        self.first: MemorySnapshot | None = None
        self._last: MemoryDocument | None = None
        if attach and result is None:
            self.recorder.attach()
        elif result is not None:
            self.document()

    def document(self) -> MemoryDocument:
        """The whole picture as it is now. Walks over the program's objects."""
        if self._result is None:
            self._last = document_of(self.recorder, self.title, self._names(), self.first)
            return self._last
        result = self._result()
        if result is not None:
            self._last = graph_document(result, self.title, self._names())
        assert self._last is not None
        return self._last

    @property
    def sentence(self) -> str:
        """What the picture says, in a sentence; costs no walk."""
        return str(self._curve().sentence)

    def snapshot(self, name: str = "") -> MemorySnapshot:
        """What is held now, grouped by what made it and who holds it."""
        namespace = self._names()
        device = self.recorder.device
        known = holdings(namespace, device)
        self.recorder.complete(known)
        return snapshot_of(known, Names(namespace), device, name)

    def handle(self, request: Any) -> Message:
        """Answer one request of a view."""
        actions: dict[str, Callable[[Mapping[str, Any]], Message]] = {
            "initialize": lambda arguments: self._whole(),
            "look": lambda arguments: self._whole(),
            "refresh": lambda arguments: {"curve": wire.to_json(self._curve())},
            "attach": lambda arguments: self._switch(self.recorder.attach),
            "detach": lambda arguments: self._switch(self.recorder.detach),
            "at": self._at,
            "mark": lambda arguments: self._mark(),
            "disconnect": lambda arguments: {},
        }
        return served(request, actions, "a view of memory cannot {command!r}")

    def _curve(self) -> Any:
        if self._result is not None:
            return (self._last or self.document()).curve
        return curve_of(self.recorder, self.title)

    def _whole(self) -> Message:
        gone = self._result is not None and self._result() is None
        document = wire.to_json(self.document())
        return {"memory": {**document, "trouble": GONE} if gone else document}

    def _switch(self, act: Callable[[], None]) -> Message:
        act()
        return self._whole()

    def _at(self, arguments: Mapping[str, Any]) -> Message:
        if self._result is not None:
            raise Refused("this is a forecast: it has one moment, before backward")
        blocks, total = blocks_at(self.recorder, whole(arguments, "tick"), self._names())
        return {"blocks": [wire.to_json(block) for block in blocks], "bytes": total}

    def _mark(self) -> Message:
        self.first = self.snapshot("the mark")
        return self._whole()


def _busiest() -> tuple[str, int]:
    """The device that holds the most: a GPU where one holds anything."""
    tensors, graphs = census.buffers()
    totals: dict[tuple[str, int], int] = {}
    for _, size, where, _ in (*tensors.values(), *graphs.values()):
        if where[0] != "cpu":
            totals[where] = totals.get(where, 0) + size
    return max(totals, key=lambda where: totals[where], default=("cpu", 0))
