"""A run line by line: the line that runs, what it makes, and what the values are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tensorlab.display.lines import bundle, svg
from tensorlab.observe.lines_document import LineRecord
from tensorlab.observe.protocol import Message
from tensorlab.observe.recording import MOST_DETAILED
from tensorlab.observe.schema import LinesDocument
from tensorlab_widgets.instrument import Instrument, script, styles


class LinesView(Instrument):
    """A live picture of a run that was recorded, as ``tensorlab.show.lines(function, *arguments)`` and ``%%lines`` make it.

    ``result`` is what the call returned; ``error`` is what ended it, if an error did. Nothing of the run is kept but looks at its
    values, and of those nothing after ``close()``.

    >>> import tensorlab as tl
    >>> view = tl.show.lines(lambda x: (x * 2).sum(), tl.ones(3))
    >>> view.result
    tensor(6.)
    >>> view.close()
    """

    _esm = script("lines")
    _css = styles("lines")

    def __init__(self, record: LineRecord) -> None:
        self._record = record
        super().__init__()

    @property
    def document(self) -> LinesDocument:
        """The document that is shown."""
        return self._record.document

    @property
    def result(self) -> Any:
        """What the call returned."""
        return self._record.result

    @property
    def error(self) -> BaseException | None:
        """What ended the call, if an error did."""
        return self._record.error

    def still(self) -> dict[str, Any]:
        """The document for notebooks that no kernel knows any more, and the picture for other pages."""
        found = bundle(self.document)
        del found["text/plain"]
        return found

    def svg(self, look: Any = None) -> str:
        """The picture as one self-contained SVG."""
        return svg(self.document)

    def close(self) -> None:
        """Let go of the values, and take the view away."""
        self._record.let_go()
        super().close()

    def _requests(self) -> Iterator[tuple[str, dict[str, Any]]]:
        yield from super()._requests()
        for node in range(min(self._record.looked(), MOST_DETAILED)):
            yield "value", {"node": node}

    def _answer(self, request: Any) -> Message:
        return self._record.handle(request)

    def __repr__(self) -> str:
        return f"LinesView({self.document.sentence})"
