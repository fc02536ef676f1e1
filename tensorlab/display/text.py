"""A graph as plain text: one line a node in forward order, for consoles, diffs and screen readers."""

from __future__ import annotations

from tensorlab.display.outline import Outline
from tensorlab.observe.schema import FLAGS, STATES, Graph

MOST_LINES = 40
HEADINGS = ("", "node", "shape", "name", "inputs")


def text_graph(graph: Graph, limit: int = MOST_LINES) -> str:
    """The nodes as a table; inputs are named, or numbered as their own line is. The last ``limit`` nodes are listed."""
    outline = Outline(graph)
    nodes = graph.nodes
    numbers: dict[int, int] = {}
    for at in range(outline.count):
        if not outline.is_source[at] or not outline.consumers[at]:
            numbers[at] = len(numbers) + 1
    inputs: dict[int, list[str]] = {at: [] for at in numbers}
    for source, target in zip(graph.edges.source, graph.edges.target, strict=True):
        inputs[target].append(str(numbers[source]) if source in numbers else _source(outline, source))
    listed = list(numbers)[-limit:]
    rows: list[tuple[str, ...]] = [HEADINGS]
    for at in listed:
        name = outline.text(nodes.label[at]) or outline.path(nodes.group[at])
        rows.append((str(numbers[at]), outline.text(nodes.name[at]), _shape(outline, at), name, ", ".join(inputs[at])))
    hidden = graph.hidden + len(numbers) - len(listed)
    head = [graph.sentence] if graph.sentence else []
    if hidden:
        head.append(f"... {hidden:,} nodes before these ...")
    return "\n".join([*head, *_columns(rows)])


def _source(outline: Outline, at: int) -> str:
    nodes = outline.graph.nodes
    name = outline.text(nodes.label[at]) or outline.text(nodes.name[at])
    shape = outline.text(nodes.shape[at]).replace(", ", "×").strip("[]")
    return f"{name}({shape})" if shape else name


def _shape(outline: Outline, at: int) -> str:
    nodes = outline.graph.nodes
    dtype = outline.text(nodes.dtype[at])
    words = [outline.text(nodes.shape[at]), dtype if dtype != "float32" else ""]
    state = STATES[nodes.state[at]]
    words += [state] if state != "idle" else []
    words += [name.replace("_", " ") for name, bit in FLAGS.items() if nodes.flags[at] & bit]
    return " ".join(filter(None, words))


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows with their cells under one another; what would widen a column past reason is cut."""
    rows = [tuple(_one_line(cell, 64 if at == len(row) - 1 else 32) for at, cell in enumerate(row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _one_line(words: str, most: int) -> str:
    words = "".join(letter if letter.isprintable() else " " for letter in words)
    return words if len(words) <= most else words[: most - 1] + "…"
