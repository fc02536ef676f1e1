"""Where nodes belong that a pass makes which is itself recorded: to the backward of the node that they were computed for."""

from __future__ import annotations

from tensorlab.engine.marks import Mark, Path
from tensorlab.engine.node import Node

_ORDER = ("backward", "second backward", "third backward")


def made_by_backward(node: Node, outer: dict[str, Path]) -> Mark:
    """What nodes remember that a recorded pass makes for ``node``: the line of the forward, and ``backward`` > the node's name.

    ``outer`` holds the paths of this pass, which its nodes share, so that a picture can fold the pass as a whole.
    """
    path = node.made[1] if node.made else None
    while path is not None and path.outer is not None:
        path = path.outer
    order = _ORDER.index(path.name) + 1 if path is not None and path.name in _ORDER else 0
    word = _ORDER[min(order, len(_ORDER) - 1)]
    if word not in outer:
        outer[word] = Path(word, "pass of its own", None)
    return Mark(Path(node.name(), f"backward of {node.name()}", outer[word]), node.site)
