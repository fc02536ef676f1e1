"""A graph as plain text: one line a node in forward order, for consoles, diffs and screen readers."""

from __future__ import annotations

from tensorlab.display.outline import Outline
from tensorlab.observe.places import words as place_words
from tensorlab.observe.schema import FLAGS, STATES, Graph
from tensorlab.observe.schema_kept import HOLDERS
from tensorlab.observe.words import bytes_text, count_text

MOST_LINES = 40
MOST_STORAGES = 8
HEADINGS = ("", "forward", "backward", "shape", "name", "inputs", "made in")


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
        op, made = outline.text(nodes.op[at]), nodes.site[at]
        where = place_words(graph.sites[made]) if made >= 0 else ""
        called = (op, outline.text(nodes.name[at])) if op else (outline.text(nodes.name[at]), "")
        rows.append((str(numbers[at]), *called, _shape(outline, at), name, ", ".join(inputs[at]), where))
    hidden = graph.hidden + len(numbers) - len(listed)
    head = [graph.sentence] if graph.sentence else []
    if hidden:
        head.append(f"... {hidden:,} nodes before these ...")
    return "\n".join(
        [*head, *_columns(rows), *_broadcasts(graph, outline, numbers), *_storages(graph, outline, numbers)]
    )


def _broadcasts(graph: Graph, outline: Outline, numbers: dict[int, int]) -> list[str]:
    """The values that operations stretched, those that look like a mistake first."""
    ends = zip(graph.edges.target, graph.edges.broadcast, strict=True)
    found = [(graph.broadcasts[mark], target) for target, mark in ends if mark >= 0]
    found.sort(key=lambda entry: not entry[0].outer)
    lines = []
    for mark, target in found[:MOST_STORAGES]:
        sign, op = "!" if mark.outer else " ", outline.text(graph.nodes.op[target])
        lines.append(f"{sign} {op} ({numbers[target]}): {mark.forward}; backward: {mark.backward}")
    return ["stretched by broadcasting", *lines] if lines else []


def _storages(graph: Graph, outline: Outline, numbers: dict[int, int]) -> list[str]:
    """What is kept for backward, the largest first, each storage once."""
    storages = graph.storages
    if not storages.bytes:
        return []
    keepers: dict[int, list[str]] = {}
    for storage, node in zip(graph.keeps.storage, graph.keeps.node, strict=True):
        keepers.setdefault(storage, []).append(f"{outline.text(graph.nodes.op[node])} ({numbers.get(node, '')})")
    order = sorted(range(len(storages.bytes)), key=lambda at: (-storages.bytes[at], at))
    rows: list[tuple[str, ...]] = [("kept", "what", "by", "held by")]
    for at in order[:MOST_STORAGES]:
        what = f"{outline.text(storages.label[at])} {outline.text(storages.dtype[at])}".strip()
        by = ", ".join(dict.fromkeys(keepers.get(at, ())))
        rows.append((outline.text(storages.text[at]), what, by, HOLDERS[storages.holder[at]]))
    rest = order[MOST_STORAGES:]
    more = [f"... and {count_text(len(rest), 'storage')} of {bytes_text(sum(storages.bytes[at] for at in rest))}"]
    return [*_columns(rows), *(more if rest else [])]


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
