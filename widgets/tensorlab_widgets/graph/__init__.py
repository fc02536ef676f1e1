"""The graph that made a tensor, to walk around in."""

from __future__ import annotations

from typing import Any

from tensorlab.observe.protocol import Message
from tensorlab.observe.schema import Graph
from tensorlab.observe.snapshot import MOST_NODES
from tensorlab.observe.viewer import GraphViewer
from tensorlab_widgets.instrument import Instrument, script, styles, user_names


class GraphView(Instrument):
    """A live picture of the graph that made ``result`` (a tensor, or a list of tensors).

    ``title`` is what it is called (the tensor's name in your code by default); ``limit`` is how many operations are
    taken, newest first. The view keeps no tensor and no node alive: when the graph goes, the picture stays and says
    so.

    >>> import tensorlab as tl
    >>> x = tl.ones(2, requires_grad=True)
    >>> tl.show.graph((x * 2).sum())  # doctest: +ELLIPSIS
    GraphView(...)
    """

    _esm = script("graph")
    _css = styles("graph")

    def __init__(self, result: Any, *, title: str | None = None, limit: int = MOST_NODES) -> None:
        self._viewer = GraphViewer(result, names=user_names(), title=title, limit=limit)
        super().__init__()

    @property
    def graph(self) -> Graph:
        """The document that is shown."""
        return self._viewer.graph

    def _answer(self, request: Any) -> Message:
        return self._viewer.handle(request)

    def __repr__(self) -> str:
        return f"GraphView({self.graph.title}: {len(self.graph.nodes.id) + self.graph.hidden:,} nodes)"
