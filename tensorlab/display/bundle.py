"""What a graph shows of itself: a bundle of our own document, a picture and plain text, without any widget in it.

The document is drawn by the JupyterLab extension, the picture by everything else that can show one, the text by the
rest; so a saved notebook shows its graphs with no kernel, no script and no network.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tensorlab.display.overlay import Overlay
from tensorlab.display.saving import Savable
from tensorlab.display.svg import svg
from tensorlab.display.text import text_graph
from tensorlab.observe import wire
from tensorlab.observe.schema import Graph
from tensorlab.observe.stored import part_of

GRAPH_TYPE = "application/vnd.tensorlab.graph+json"
#: Operations of a graph that is shown without being asked for; the live view takes more.
MOST_SHOWN = 240


#: Nodes of a graph that are kept beside a live view, for the notebook file.
MOST_KEPT = 2_500


class GraphPicture(Savable):
    """A graph document that displays itself. ``graph`` is the document; ``svg()`` and ``text()`` are its two faces."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def svg(self, *, layer: str = "both", saved: bool = False, overlay: Overlay | None = None) -> str:
        """The picture as one self-contained SVG; see :func:`tensorlab.display.svg.svg` for what it can show."""
        return svg(self.graph, layer=layer, saved=saved, overlay=overlay)

    def text(self) -> str:
        """The nodes as a table."""
        return text_graph(self.graph)

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle(self.graph)


def kept(graph: Graph) -> dict[str, Any]:
    """What a live view leaves in the notebook file: the document, or the part of it nearest to the result."""
    start = max(0, len(graph.nodes.id) - MOST_KEPT)
    part = part_of(graph, start) if start else graph
    hidden = graph.hidden + len(graph.nodes.id) - len(part.nodes.id)
    return {
        GRAPH_TYPE: wire.to_json(replace(part, hidden=hidden)),
        "image/svg+xml": svg(graph),
    }


def bundle(graph: Graph, text: str | None = None) -> dict[str, Any]:
    """The mime bundle of a graph document; ``text`` takes the place of its table."""
    return {
        GRAPH_TYPE: wire.to_json(graph),
        "image/svg+xml": svg(graph),
        "text/plain": text if text is not None else text_graph(graph),
    }
