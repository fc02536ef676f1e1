"""How a tensor lies in memory, to pick elements of and try views on."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from typing import Any

from tensorlab.display.memory import svg
from tensorlab.observe.memory import Side
from tensorlab.observe.memory_viewer import LayoutViewer
from tensorlab.observe.names import Names, caller_namespace, notebook_namespace
from tensorlab.observe.protocol import Message
from tensorlab.observe.schema import LayoutDocument
from tensorlab.tensor import Tensor
from tensorlab_widgets.instrument import HERE, Instrument, script, styles


class LayoutView(Instrument):
    """A live picture of how ``tensor`` lies in memory. ``title`` is what it is called (its name in your code by default).
    ``others``, tensors or shapes, are what it meets in an operation: the picture shows what is stretched and what is summed.

    The view keeps no tensor alive: when the tensor goes, the picture stays and says so. Raises ``TypeError`` for anything else.

    >>> import tensorlab as tl
    >>> x = tl.arange(6.).reshape(2, 3)
    >>> tl.show.layout(x.t())
    LayoutView(tensor [3, 2], stride [1, 3])
    """

    _esm = script("layout")
    _css = styles("layout")

    def __init__(self, tensor: Any, *others: Any, title: str | None = None) -> None:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"a layout is shown of a Tensor, not of {type(tensor).__name__}")
        namespace = caller_namespace(str(HERE))
        names = Names(namespace)
        name = names.of_tensor(tensor) if title is None else title
        sides = [_side(other, names, place) for place, other in enumerate(others, 2)]
        self._viewer = LayoutViewer(tensor, name, _names(namespace), sides)
        super().__init__()

    @property
    def document(self) -> LayoutDocument:
        """The document that is shown."""
        return self._viewer.document

    def still(self) -> dict[str, Any]:
        """The picture for pages that cannot run the view, as one SVG."""
        return {"image/svg+xml": svg(self.document)}

    def _requests(self) -> Iterator[tuple[str, dict[str, Any]]]:
        yield from super()._requests()
        grid, dims = self.document.grid, len(self.document.shape)
        for row, texts in zip(grid.row_numbers, grid.text, strict=True):
            for column in grid.column_numbers[: len(texts)]:
                yield "pick", {"index": [*grid.lead, *(row, column)[2 - min(dims, 2) :]]}

    def _answer(self, request: Any) -> Message:
        return self._viewer.handle(request)

    def __repr__(self) -> str:
        d = self.document
        return f"LayoutView({d.title or 'tensor'} {list(d.shape)}, stride {list(d.stride)})"


def _side(other: Any, names: Names, place: int) -> Side:
    """What a tensor meets: another one, or a shape."""
    if isinstance(other, Tensor):
        return names.of_tensor(other) or f"tensor {place}", tuple(other.shape), other._a
    if isinstance(other, (tuple, list)) and all(type(n) is int and n >= 0 for n in other):
        return f"shape {place}", tuple(other), None
    if isinstance(other, (tuple, list)):
        raise TypeError(f"a layout meets tensors or shapes, and a shape is whole numbers from 0 on, not {other!r:.80}")
    raise TypeError(f"a layout meets tensors or shapes, not {type(other).__name__}")


def _names(namespace: Mapping[str, Any]) -> Any:
    """The variables to look for others in the same memory: a notebook's as they are when asked, else those of the caller, weakly."""
    known = {name: weakref.ref(value) for name, value in namespace.items() if isinstance(value, Tensor)}

    def now() -> dict[str, Any]:
        found = {name: value() for name, value in known.items()}
        return {name: value for name, value in found.items() if value is not None} | dict(notebook_namespace() or {})

    return now
