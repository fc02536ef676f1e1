"""A graph as one self-contained SVG: the static face of the live picture, drawn in Python.

The picture shows with no kernel, no script and no network. It carries its own surface and both palettes, so it is
legible on a page of either colour; class names share the prefix ``tl-`` because a page may hold many of them.
Everything that a person named is text, escaped, and cut where it does not fit with the whole of it in a tooltip.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from math import ceil

from tensorlab.display.layout import BADGE_HEIGHT, BADGE_TOP, HEIGHT, Box, Edge, Enclosure, Picture, layout
from tensorlab.display.outline import Outline
from tensorlab.display.overlay import ROOM, Overlay
from tensorlab.display.style import SHEET
from tensorlab.observe.places import words as place_words
from tensorlab.observe.schema import FLAGS, KINDS, STATES, Graph
from tensorlab.observe.stored import part_of, with_storages
from tensorlab.observe.words import bytes_text

#: Boxes past this number are folded, and cut when folding is not enough.
MOST_BOXES, FEWEST_BOXES = 72, 8
#: A picture larger than this is folded further: it would not be read in a notebook.
WIDEST, TALLEST = 1280, 1800
LEAST_WIDTH, HEAD, PADDING, LINE = 480, 40, 16, 18
#: The width of a letter of a name, near enough.
LETTER = 6.7


def svg(
    graph: Graph,
    folded: frozenset[int] | None = None,
    limit: int = MOST_BOXES,
    *,
    layer: str = "both",
    saved: bool = False,
    overlay: Overlay | None = None,
    whole: bool = False,
) -> str:
    """The picture of a graph document with at most ``limit`` boxes, fewer where it would outgrow a page.

    ``layer`` is "forward" (calls), "backward" (the nodes that gradients pass) or "both"; ``saved`` draws the storages that are kept
    for backward; ``overlay`` writes a number into every box.

    ``folded`` are the folds to close (see :class:`Outline`); by default modules and repeats are folded until the
    picture fits, and when that is not enough the part nearest to the result is drawn. What is missing is said under
    the picture. With ``whole`` it may outgrow a page.
    """
    if saved:
        graph = with_storages(graph)
    outline = Outline(graph, layer, ROOM if overlay else 0)
    drawing = _drawing(graph, outline, folded, limit, overlay)
    while not whole and not drawing.fits() and limit > FEWEST_BOXES:
        limit //= 2
        drawing = _drawing(graph, outline, folded, limit, overlay)
    return drawing.text()


def _drawing(
    graph: Graph, outline: Outline, folded: frozenset[int] | None, limit: int, overlay: Overlay | None
) -> _Drawing:
    closed = outline.default_folds(limit) if folded is None else folded
    left_out = 0
    if outline.drawn(closed) > limit:
        graph, left_out = _last(graph, outline, closed, limit)
        outline = Outline(graph, outline.layer, outline.room)
        closed = outline.default_folds(limit)
    picture = layout(outline, closed)
    sentence = _sentence(graph, outline, closed, left_out)
    return _Drawing(outline, closed, picture, sentence, graph.hidden + left_out, overlay)


def _sentence(graph: Graph, outline: Outline, folded: frozenset[int], left_out: int) -> str:
    said = [graph.sentence] if graph.sentence else []
    hidden = graph.hidden + left_out
    if hidden:
        said.append(f"{hidden:,} nodes further from {graph.title or 'the result'} are not drawn.")
    if folded:
        repeats = sum(outline.folds[fold].is_repeat for fold in folded)
        kinds = ["repeats"] * bool(repeats) + ["modules"] * (repeats < len(folded))
        said.append(f"{' and '.join(kinds).capitalize()} are folded.")
    if hidden or folded:
        said.append("The live view opens them all.")
    return " ".join(said)


def _last(graph: Graph, outline: Outline, folded: frozenset[int], limit: int) -> tuple[Graph, int]:
    """The part of a graph nearest to its result that draws as ``limit`` boxes, and how many nodes that leaves out."""
    boxes: set[int] = set()
    start = outline.count
    while start:
        if not outline.is_badge[start - 1]:
            box = outline.box_of(start - 1, folded)
            if box not in boxes and len(boxes) == limit:
                break
            boxes.add(box)
        start -= 1
    return part_of(graph, start), start


class _Drawing:
    """Writes the elements of one picture."""

    def __init__(
        self,
        outline: Outline,
        folded: frozenset[int],
        picture: Picture,
        sentence: str,
        missing: int,
        overlay: Overlay | None = None,
    ) -> None:
        self.overlay = overlay
        self.outline = outline
        self.graph = outline.graph
        self.folded = folded
        self.picture = picture
        self.sentence = sentence
        self.missing = missing
        self.width = max(LEAST_WIDTH, picture.width)
        self.lines = _wrapped(sentence, int((self.width - 2 * PADDING) / 6.8))
        self.height = HEAD + picture.height + (len(self.lines) * LINE + 16 if self.lines else 0)

    def fits(self) -> bool:
        return self.picture.width <= WIDEST and self.picture.height <= TALLEST

    def text(self) -> str:
        dx = (self.width - self.picture.width) // 2
        w, h = self.width, self.height
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="tl-svg" role="img" width="{w}" height="{h}" ',
            f'viewBox="0 0 {w} {h}"><title>{text(self._about())}</title>{SHEET}',
            self._card(),
            f'<g transform="translate({dx} {HEAD})">',
            *map(self._frame, self.picture.enclosures),
            self._lines(),
            *map(self._frame_title, self.picture.enclosures),
            self._arrowheads(),
            *map(self._box, self.picture.boxes),
            *self._stretched(),
            "</g>",
            self._foot(),
            "</svg>",
        ]
        return "".join(parts)

    def _about(self) -> str:
        return f"Computation graph of {self.graph.title}. {self.sentence}".strip()

    def _card(self) -> str:
        """The frame: what it is, of what, and one quiet fact."""
        w, h = self.width, self.height
        title, nodes = cut(self.graph.title, 32), len(self.graph.nodes.id) + self.missing
        status = f"{nodes:,} node{'s' * (nodes != 1)}"
        return (
            f'<rect class="tl-card" x=".5" y=".5" width="{w - 1}" height="{h - 1}" rx="6"/>'
            f'<path class="tl-bar" d="M1 {HEAD}V7a6 6 0 0 1 6-6H{w - 7}a6 6 0 0 1 6 6V{HEAD}z"/>'
            f'<path class="tl-rule" d="M0 {HEAD + 0.5}H{w}"/>'
            f'<text x="{PADDING}" y="25"><tspan class="t">graph</tspan><tspan class="c" dx="10">{text(title)}</tspan>'
            f'<tspan class="m" dx="10">{status}</tspan></text>'
        )

    def _foot(self) -> str:
        top = HEAD + self.picture.height
        y = top + 23
        spans = [
            f'<tspan x="{PADDING}" y="{y + LINE * row}">{text(line)}</tspan>' for row, line in enumerate(self.lines)
        ]
        w, h = self.width, self.height
        return (
            f'<path class="tl-bar" d="M1 {top}V{h - 7}a6 6 0 0 0 6 6H{w - 7}a6 6 0 0 0 6-6V{top}z"/>'
            f'<path class="tl-rule" d="M0 {top + 0.5}H{w}"/><text class="m">{"".join(spans)}</text>'
            if spans
            else ""
        )

    # ---- enclosures and edges --------------------------------------------------------------------------------------

    def _frame(self, part: Enclosure) -> str:
        if not part.clean:
            return ""
        place = f'x="{part.x + 0.5}" y="{part.y + 0.5}" width="{part.w}" height="{part.h}"'
        return f'<rect class="tl-frame" {place} rx="8"/>'

    def _frame_title(self, part: Enclosure) -> str:
        """The name of a module on its frame, beside the lines that go through; with its type where there is room."""
        title, _ = self.outline.titles(~part.fold)
        fold = self.outline.folds[part.fold]
        names = [title]
        if not fold.is_repeat and (kind := self.graph.groups[fold.group].type) != title:
            names.insert(0, f"{title} ({kind})")
        spans = self._free(part)
        fits = [(name, at) for name in names for at, end in spans if LETTER * len(name) <= end - at]
        at, end = max(spans, key=lambda span: span[1] - span[0])
        name, x = fits[0] if fits else (cut(title, max(4, int((end - at) / LETTER))), at)
        y = part.y
        return (
            f'<path class="tl-head" d="M{x - 13:g} {y + 6}h8l-4 5z"/>'
            f'<text class="m h" x="{x:g}" y="{y + 13}">{text(name)}</text>'
        )

    def _free(self, part: Enclosure) -> list[tuple[float, float]]:
        """The stretches of a frame's first line that no edge goes through."""
        top, bottom = part.y + 2, part.y + 18
        crossed = sorted(
            (min(found), max(found)) for edge in self.picture.edges if (found := _crossing(edge, top, bottom))
        )
        spans, start, end = [], float(part.x + 23), float(part.x + part.w - 8)
        for left, right in crossed:
            if part.x < right and left < part.x + part.w:
                spans.append((start, left - 6))
                start = max(start, right + 22)
        return [span for span in [*spans, (start, end)] if span[1] > span[0]] or [(part.x + 23.0, end)]

    def _lines(self) -> str:
        """All lines as one path: they differ in nothing but place."""
        ways, rings = [], []
        stubs = [edge for edge in self.picture.edges if edge.stub]
        for number, edge in enumerate(stubs, start=1):
            (ax, ay), (bx, by), (cx, cy), (_, ey) = edge.points
            ways.append(f"M{ax} {ay}V{by - 4}M{cx} {cy + 4}V{ey - 3}")
            rings += [_ring(bx, by, number), _ring(cx, cy, number)]
        kept = [_way(edge) for edge in self.picture.edges if not edge.stub and self._is_reference(edge)]
        ways += [_way(edge) for edge in self.picture.edges if not edge.stub and not self._is_reference(edge)]
        line = f'<path class="tl-line" d="{"".join(ways)}"/>' if ways else ""
        line += f'<path class="tl-line" stroke-dasharray="4 3" d="{"".join(kept)}"/>' if kept else ""
        return line + self._open_ends() + "".join(rings)

    def _is_reference(self, edge: Edge) -> bool:
        """Whether a line says that a node keeps a storage, and nothing flows along it."""
        return all(self.graph.edges.slot[at] < 0 for at in edge.edges)

    def _arrowheads(self) -> str:
        """Down where values go, up where gradients come back."""
        edges = [edge for edge in self.picture.edges if not self._is_reference(edge)]
        layer = self.outline.layer
        down = [] if layer == "backward" else [_arrow(*edge.points[-1]) for edge in edges]
        up = [] if layer == "forward" else [self._up(edge) for edge in edges if self._has_gradient(edge)]
        heads = f'<path class="tl-head" d="{"".join(down)}"/>' if down else ""
        return heads + (f'<path class="tl-up" d="{"".join(up)}"/>' if up else "")

    def _has_gradient(self, edge: Edge) -> bool:
        nodes, edges = self.graph.nodes, self.graph.edges
        return any(
            nodes.op[edges.target[at]] >= 0 and not nodes.flags[edges.source[at]] & FLAGS["no_grad"]
            for at in edge.edges
        )

    def _up(self, edge: Edge) -> str:
        """The head of an edge's gradient, under the box that it goes to and what hangs there."""
        (x, y), box = edge.points[0], self.picture.boxes[edge.source]
        hangs = any(badge.x - 6 < x < badge.x + badge.width + 6 for badge in box.badges)
        return _arrow_up(x, y + 15 if hangs else y)

    def _stretched(self) -> Iterable[str]:
        """A mark where an operation stretches what comes along an edge, with what that does forward and backward."""
        marks = self.graph.edges.broadcast
        for edge in self.picture.edges:
            found = [self.graph.broadcasts[marks[at]] for at in edge.edges if marks[at] >= 0]
            if not found:
                continue
            first = max(found, key=lambda each: each.outer)
            x, y = edge.points[-1]
            sign = f"{'! ' if first.outer else ''}{first.given} → {first.result}"
            if self.outline.layer == "backward":
                sign = f"{'! ' if first.outer else ''}Σ {first.result} → {first.given}"
            told = "\n".join(f"{each.forward}; backward: {each.backward}" for each in found)
            look = "q w" if first.outer else "q"
            cells = f"M{x - 12} {y - 13}h5v5h-5zM{x - 18} {y - 13}h5v5h-5z"
            yield (
                f'<g><title>{text(told)}</title><path class="tl-ghost" d="{cells}"/>'
                f'<path class="tl-head" d="M{x - 24} {y - 13}h5v5h-5z"/>'
                f'<text class="{look} h" x="{x + 8}" y="{y - 6}">{text(sign)}</text></g>'
            )

    def _open_ends(self) -> str:
        """A dotted line into each operation whose inputs are not drawn because the graph was cut there."""
        if not self.missing:
            return ""
        reached = {edge.target for edge in self.picture.edges}
        ends = [
            f"M{box.center} {box.y - 18}V{box.y - 2}"
            for number, box in enumerate(self.picture.boxes)
            if number not in reached and self._is_operation(box)
        ]
        return f'<path class="tl-line" stroke-dasharray="1.5 3" d="{"".join(ends)}"/>' if ends else ""

    def _is_operation(self, box: Box) -> bool:
        return any(KINDS[self.graph.nodes.kind[at]] in ("operation", "root") for at in box.nodes)

    # ---- boxes -----------------------------------------------------------------------------------------------------

    def _box(self, box: Box) -> str:
        look, mark = self._look(box)
        x, y, w = box.x, box.y, box.w
        shape = f'<rect class="{look}" x="{x + 0.5}" y="{y + 0.5}" width="{w - 1}" height="{HEIGHT - 1}" rx="6"/>'
        if box.item < 0:
            shape = f'<path class="tl-back" d="M{x + 6} {y + 0.5}v-4h{w - 12}v4"/>' + shape
        if look == "tl-box tl-current":
            shape += f'<path class="tl-go" d="M{x - 9} {y + 16}l8 6l-8 6z"/>'
        measure = self._measure(box)
        title = cut(box.title, (w - 44) * 2 // 17 - (len(measure[0]) if measure else 0))
        mark = _meter(x, y, w, measure) if measure else _mark(mark, x + w - 20, y + 12)
        badges = "".join(self._badge(box, at) for at in range(len(box.badges)))
        quiet = middle_cut(box.subtitle, (w - 28) // 7)
        whole = self._tooltip(box)
        return (
            f"<g><title>{text(whole)}</title>{shape}"
            f'<text class="t" x="{x + 12}" y="{y + 19}">{text(title)}</text>'
            f'<text class="q" x="{x + 12}" y="{y + 34}">{text(quiet)}</text>'
            f"{mark}{badges}</g>"
        )

    def _measure(self, box: Box) -> tuple[str, float, bool] | None:
        """What the overlay says of a box: its words, the length of its bar, and whether something is wrong there."""
        if self.overlay is None:
            return None
        return self.overlay.of(self.graph, box.nodes)

    def _look(self, box: Box) -> tuple[str, str]:
        """The class of a box and the mark in its corner: state by border and mark, never by colour alone."""
        nodes = self.graph.nodes
        states = {STATES[nodes.state[at]] for at in box.nodes}
        flags = 0
        for at in box.nodes:
            flags |= nodes.flags[at]
        if flags & FLAGS["nan"]:
            return "tl-box tl-bad", "nan"
        for state in ("current", "waiting"):
            if state in states:
                return f"tl-box tl-{state}", state
        if states == {"done"}:
            return "tl-box tl-done", "done"
        if box.item >= 0 and KINDS[nodes.kind[box.item]] == "storage":
            return "tl-box tl-store", ""
        if states == {"freed"} or (box.item >= 0 and flags & FLAGS["no_grad"]):
            return "tl-off", ""
        if box.item < 0:
            return "tl-box tl-fold", ""
        kind = KINDS[nodes.kind[box.item]]
        if kind == "root":
            return "tl-box tl-root", ""
        return ("tl-box tl-leaf" if kind in ("leaf", "parameter", "input") else "tl-box"), ""

    def _badge(self, box: Box, number: int) -> str:
        badge = box.badges[number]
        y = box.y + BADGE_TOP
        return (
            f'<rect class="tl-badge" x="{badge.x + 0.5}" y="{y + 0.5}" width="{badge.width - 1}" '
            f'height="{BADGE_HEIGHT - 1}" rx="8.5"/>'
            f'<text class="q" text-anchor="middle" x="{badge.x + badge.width / 2:g}" y="{y + 12.5}">'
            f"{text(cut(badge.text, (badge.width - 12) // 7))}</text>"
        )

    def _tooltip(self, box: Box) -> str:
        said = [f"{box.title} {box.subtitle}".strip()]
        if box.item >= 0:
            site = self.graph.nodes.site[box.item]
            if site >= 0:
                place = self.graph.sites[site]
                said.append(f"{place_words(place)}: {place.code}")
            freed = self.graph.nodes.freed[box.item]
            if freed >= 0:
                said.append(f"freed by {self.graph.sites[freed].code} in {place_words(self.graph.sites[freed])}")
            if self.graph.nodes.saved_bytes[box.item]:
                said.append(f"keeps {bytes_text(self.graph.nodes.saved_bytes[box.item])} for backward")
        return "\n".join(said)


def _way(edge: Edge) -> str:
    """A smooth line through the corners of an edge, leaving and arriving vertically."""
    (x, y), *others = edge.points
    path = [f"M{x} {y}"]
    last = len(others) - 1
    for at, (to_x, to_y) in enumerate(others):
        end = to_y - 3 if at == last else to_y
        if to_x == x:
            path.append(f"V{end}")
        else:
            bend = ceil((end - y) / 2)
            path.append(f"C{x} {y + bend} {to_x} {end - bend} {to_x} {end}")
        x, y = to_x, to_y
    return "".join(path)


def _crossing(edge: Edge, top: int, bottom: int) -> list[float]:
    """Where a line stands at the borders of a stripe that it goes through."""
    if edge.stub:
        return []
    found = []
    for (x, y), (to_x, to_y) in zip(edge.points, edge.points[1:], strict=False):
        if to_y > y and y <= bottom and to_y >= top:
            for height in (max(y, top), min(to_y, bottom)):
                t = (height - y) / (to_y - y)
                found.append(x + (to_x - x) * t * t * (3 - 2 * t))
    return found


def _arrow(x: int, y: int) -> str:
    return f"M{x - 4} {y - 8}h8l-4 7z"


def _arrow_up(x: int, y: int) -> str:
    return f"M{x - 4} {y + 9}h8l-4 -7z"


def _meter(x: int, y: int, w: int, measure: tuple[str, float, bool]) -> str:
    """A number in the corner of a box and a bar along its lower edge; hatched where something is wrong."""
    words, part, wrong = measure
    long = max(2, round((w - 24) * part)) if part > 0 else 0
    bar = f'<path class="tl-rail" d="M{x + 12} {y + 41}h{w - 24}"/>'
    if wrong:
        cuts = "".join(f"M{at} {y + 43}l5 -5" for at in range(x + 12, x + w - 16, 6))
        bar = f'<path class="tl-mark b" d="{cuts}"/>'
    elif long:
        bar += f'<path class="tl-meter" d="M{x + 12} {y + 41}h{long}"/>'
    return f'{bar}<text class="{"q w" if wrong else "q"}" text-anchor="end" x="{x + w - 12}" y="{y + 18}">{text(words)}</text>'


def _ring(x: int, y: int, number: int) -> str:
    return (
        f'<circle class="tl-stub" cx="{x}" cy="{y}" r="7"/>'
        f'<text class="q" text-anchor="middle" x="{x}" y="{y + 4}">{number}</text>'
    )


def _mark(mark: str, x: int, y: int) -> str:
    if mark == "done":
        return f'<path class="tl-mark" d="M{x} {y + 4}l3.5 4l6-8"/>'
    if mark == "waiting":
        return (
            f'<circle class="tl-mark w" cx="{x + 5}" cy="{y + 4}" r="4.5"/>'
            f'<path class="tl-clock" d="M{x + 5} {y + 4}v-4.5a4.5 4.5 0 0 1 4.5 4.5z"/>'
        )
    if mark == "nan":
        return f'<path class="tl-mark b" d="M{x} {y}l8 8m0-8l-8 8"/>'
    return ""


# ---- words ----------------------------------------------------------------------------------------------------------

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def text(words: str) -> str:
    """Words as text content: escaped, without characters that XML cannot hold."""
    return escape(_NOT_XML.sub("\ufffd", words), quote=True)


def cut(words: str, most: int) -> str:
    """``words`` with at most ``most`` characters, an ellipsis at the end when some are missing."""
    words = " ".join(words.split())
    return words if len(words) <= most else words[: max(1, most - 1)] + "…"


def middle_cut(words: str, most: int) -> str:
    """The same with the ellipsis in the middle, for words whose end tells most."""
    words = " ".join(words.split())
    if len(words) <= most:
        return words
    tail = (most - 1) // 2
    return words[: most - 1 - tail] + "…" + words[len(words) - tail :]


def _wrapped(words: str, most: int) -> list[str]:
    lines: list[str] = []
    for word in _broken(words.split(), most):
        if lines and len(lines[-1]) + 1 + len(word) <= most:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines


def _broken(words: Iterable[str], most: int) -> Iterable[str]:
    return (word[at : at + most] for word in words for at in range(0, len(word), most))
