"""The graph that made a tensor, to walk around in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tensorlab.display.overlay import overlay
from tensorlab.display.svg import svg
from tensorlab.observe.folding import Fold
from tensorlab.observe.protocol import Message
from tensorlab.observe.recording import MOST_DETAILED
from tensorlab.observe.schema import Graph
from tensorlab.observe.schema_kept import LAYERS, Measures
from tensorlab.observe.snapshot import MOST_NODES
from tensorlab.observe.viewer import GraphViewer
from tensorlab_widgets.instrument import Instrument, script, styles, user_names

#: Boxes of an exported picture.
MOST_DRAWN = 2_000


#: What a view calls the numbers in its boxes.
OVERLAYS = {
    "bytes": "bytes",
    "forward": "forward time",
    "backward": "backward time",
    "norm": "gradient norm",
    "bad": "not finite",
}


def drawn(graph: Graph, look: Mapping[str, Any] | None, measures: Measures | None = None) -> str:
    """A graph as a person has arranged it, however large: what is folded (``{"folded": [...]}``), which layer is shown, whether storages
    are, and which numbers; without that, as it fits a page."""
    look = look or {}
    folded = look.get("folded")
    if not isinstance(folded, list) or not all(type(fold) is int for fold in folded):
        return svg(graph)
    layer = look["layer"] if look.get("layer") in LAYERS else "both"
    name = OVERLAYS.get(str(look.get("overlay")))
    numbers = overlay(name, graph, measures) if name == "bytes" or (name and measures) else None
    saved = look.get("saved") is True
    return svg(graph, frozenset(folded), MOST_DRAWN, whole=True, layer=layer, saved=saved, overlay=numbers)


class GraphView(Instrument):
    """A live picture of the graph that made ``result`` (a tensor, or a list of tensors).

    ``title`` is what it is called (the tensor's name in your code by default); ``limit`` is how many operations are
    taken, newest first; ``fold`` decides what opens folded. The view keeps no tensor and no node alive: when the graph goes, the
    picture stays and says so.

    >>> import tensorlab as tl
    >>> x = tl.ones(2, requires_grad=True)
    >>> tl.show.graph((x * 2).sum())  # doctest: +ELLIPSIS
    GraphView(...)
    """

    _esm = script("graph")
    _css = styles("graph")

    def __init__(
        self, result: Any, *, title: str | None = None, limit: int = MOST_NODES, fold: Fold | None = None
    ) -> None:
        self._viewer = GraphViewer(result, names=user_names(), title=title, limit=limit, fold=fold)
        super().__init__()

    @property
    def graph(self) -> Graph:
        """The document that is shown."""
        return self._viewer.graph

    def svg(self, look: Mapping[str, Any] | None = None) -> str:
        """The picture as one self-contained SVG."""
        return drawn(self.graph, look, self._viewer.measures)

    def _requests(self) -> Iterator[tuple[str, dict[str, Any]]]:
        yield from super()._requests()
        for number in self.graph.nodes.id[-MOST_DETAILED:]:
            yield "inspect", {"node": number}

    def _answer(self, request: Any) -> Message:
        return self._viewer.handle(request)

    def __repr__(self) -> str:
        return f"GraphView({self.graph.title}: {len(self.graph.nodes.id) + self.graph.hidden:,} nodes)"
