"""A backward pass recorded into one HTML file, in which a reader steps through it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tensorlab.display.player import page, written
from tensorlab.display.svg import svg
from tensorlab.observe import wire
from tensorlab.observe.recording import recorded
from tensorlab.observe.schema import Graph
from tensorlab_widgets.instrument import bundle_text, sheets, user_names


def record(
    loss: Any, path: str | os.PathLike[str] = "backward.html", gradient: Any = None, *, title: str | None = None
) -> Path:
    """Record the backward pass of ``loss`` into one HTML file and return its path.

    The reader steps forward and back, sets breakpoints and looks into nodes, without network, kernel or server. The pass is undone
    afterwards: gradients and graph are as they were. Raises ``RuntimeError`` where the browser part was not built.
    """
    bundle_text("player.js")
    recording = recorded(loss, gradient, names=user_names(), title=title)
    return written(path, played(recording))


def played(recording: dict[str, Any]) -> str:
    """The page that plays a recording."""
    graph = wire.from_json(Graph, recording["state"]["graph"])
    return page(recording, bundle_text("player.js"), sheets("player"), svg(graph), graph.title or "the loss")
