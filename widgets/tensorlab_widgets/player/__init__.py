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
from tensorlab_widgets.instrument import STATIC, user_names


def record(
    loss: Any, path: str | os.PathLike[str] = "backward.html", gradient: Any = None, *, title: str | None = None
) -> Path:
    """Record the backward pass of ``loss`` into one HTML file and return its path.

    The reader steps forward and back, sets breakpoints and looks into nodes, without network, kernel or server. The pass is undone
    afterwards: gradients and graph are as they were. Raises ``RuntimeError`` where the browser part was not built.
    """
    script, styles = STATIC / "player.js", STATIC / "player.css"
    if not script.exists():
        raise RuntimeError("the player has not been built. In a clone, run: npm install && npm run build")
    recording = recorded(loss, gradient, names=user_names(), title=title)
    graph = wire.from_json(Graph, recording["state"]["graph"])
    sheet = styles.read_text("utf-8") if styles.exists() else ""
    return written(path, page(recording, script.read_text("utf-8"), sheet, svg(graph), graph.title or "the loss"))
