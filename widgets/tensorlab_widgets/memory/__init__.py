"""Memory over time: how much, what for, who holds it, and what grew."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tensorlab.display.held import Growth, svg, text
from tensorlab.observe import wire
from tensorlab.observe.memory_holdings import grown
from tensorlab.observe.memory_watch import MemoryWatch
from tensorlab.observe.names import Names, caller_namespace
from tensorlab.observe.protocol import Message
from tensorlab.observe.schema_watching import MemoryDocument, MemorySnapshot
from tensorlab.tensor import Tensor
from tensorlab_widgets.instrument import HERE, Instrument, live_names, running_cell, script, styles


class MemoryView(Instrument):
    """Memory followed from now on, live, or for the time of a ``with`` block; of a tensor, what its graph keeps for backward.

    ``snapshot()`` notes what is held; ``grew(before, after)`` tells what there is more of, by name and line. ``mark()`` notes it
    for the view, which then lists what grew since.

    >>> import tensorlab as tl
    >>> with tl.show.memory() as view:
    ...     x = tl.ones(256, 1024)
    >>> view.document.curve.peak >= 1 << 20
    True
    >>> view.close()
    """

    _esm = script("memory")
    _css = styles("memory")

    def __init__(self, result: Any = None, *, title: str | None = None, attach: bool = True) -> None:
        namespace = caller_namespace(str(HERE))
        if title is None:
            title = Names(namespace).of_tensor(result) if isinstance(result, Tensor) else ""
        self.watch = MemoryWatch(result, title, live_names(namespace), attach=attach)
        super().__init__()
        _take_over(self)

    def __enter__(self) -> MemoryView:
        self.watch.recorder.detach()
        self.watch.recorder.attach()
        return self

    def __exit__(self, *error: Any) -> None:
        self.watch.recorder.detach()

    @property
    def document(self) -> MemoryDocument:
        """The picture as it is now; made by a walk over the program's objects."""
        return self.watch.document()

    def text(self) -> str:
        """The same as lines of text."""
        return text(self.document)

    def attach(self) -> None:
        """Begin a new recording."""
        self.watch.recorder.attach()

    def detach(self) -> None:
        """End the recording; what was recorded stays."""
        self.watch.recorder.detach()

    def snapshot(self, name: str = "") -> MemorySnapshot:
        """What is held now, by what made it and who holds it."""
        return self.watch.snapshot(name)

    def mark(self) -> None:
        """Note what is held now: the view lists what grew since."""
        self.watch.first = self.watch.snapshot("the mark")

    @staticmethod
    def grew(before: MemorySnapshot, after: MemorySnapshot) -> Growth:
        """What there is more of in the second of two snapshots, by name and line, the most first."""
        return Growth(before, after, grown(before, after))

    def close(self) -> None:
        """End the recording and take the view away."""
        if "watch" in self.__dict__:  # it is missing where the result was refused
            self.watch.recorder.detach()
        super().close()

    def still(self) -> dict[str, Any]:
        """The picture for pages that cannot run the view, as one SVG."""
        return {"image/svg+xml": svg(self.document)}

    def _kept_answers(self) -> Iterator[tuple[str, dict[str, Any], str | None, Any]]:
        document = self.document
        ended = replace(document, curve=replace(document.curve, attached=False))
        yield "initialize", {}, None, {"memory": wire.to_json(ended)}

    def _answer(self, request: Any) -> Message:
        return self.watch.handle(request)

    def __repr__(self) -> str:
        return f"MemoryView({self.watch.sentence})"


#: The view that each notebook cell made last, and the execution it was made in.
_by_cell: dict[str, tuple[str, weakref.ref[MemoryView]]] = {}
AGAIN = "its cell was run again, and the view made then records in its place"


def _take_over(view: MemoryView) -> None:
    """End the recording of the view that the same cell made in an earlier execution."""
    cell, execution = running_cell()
    if not cell:
        return
    before, known = _by_cell.get(cell, ("", None))
    earlier = known() if known is not None else None
    if earlier is not None and before != execution:
        earlier.watch.recorder.detach()
        earlier.watch.recorder.trouble = f"The recording has ended: {AGAIN}."
    _by_cell[cell] = (execution, weakref.ref(view))
