"""Places for the boxes, edges and enclosures of a graph: the layered layout of ``widgets/shared/layout.md``, section B.

The live picture runs the same algorithm in TypeScript; tests hold the two equal, number for number. So only ``+ - *
/``, comparisons and ``floor`` are used, sums run in the order given and every sort has a total order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tensorlab.display.outline import ROOT, Item, Outline

HEIGHT, HEIGHT_WITH_BADGES = 46, 60
BADGE_TOP, BADGE_HEIGHT, BADGE_GAP = 43, 17, 6
MOST_BADGES, WIDEST_BADGES, WIDEST = 3, 244, 264
DUMMY_WIDTH, LONGEST_SPAN, MARGIN, STUB = 8, 8, 24, 14
MANY_ITEMS = 5000
#: How much more a box on the longest way keeps to it than others keep to theirs.
MAIN = 2**20


@dataclass
class Badge:
    """A parameter on the lower edge of its consumer. ``node`` is a position, or -1 for "and so many more"."""

    node: int
    text: str
    x: int
    width: int


@dataclass
class Box:
    """A node or a folded run of nodes (``item`` is ``~fold``); ``x`` and ``y`` are its top left corner."""

    item: Item
    home: int
    title: str
    subtitle: str
    badges: list[Badge]
    w: int
    nodes: list[int]
    layer: int = 0
    x: int = 0
    y: int = 0
    h: int = HEIGHT

    @property
    def center(self) -> int:
        return self.x + self.w // 2

    @property
    def bottom(self) -> int:
        """The lower edge with the badges that hang over it."""
        return self.y + (HEIGHT_WITH_BADGES if self.badges else HEIGHT)


@dataclass
class Edge:
    """A line between two boxes (their numbers), the document edges it stands for, and its corners. A long one is a
    stub: two corners below its source and two above its target, with nothing between."""

    source: int
    target: int
    edges: list[int]
    stub: bool = False
    points: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class Enclosure:
    """The rectangle around an unfolded fold; ``clean`` is false when a stranger stands in it."""

    fold: int
    title: str
    x: int
    y: int
    w: int
    h: int
    clean: bool = True


@dataclass
class Picture:
    """A graph with a place for everything."""

    width: int
    height: int
    boxes: list[Box]
    edges: list[Edge]
    enclosures: list[Enclosure]


def layout(outline: Outline, folded: frozenset[int] | None = None) -> Picture:
    """Lay out a graph with the given folds folded (those of ``default_folds()`` unless given)."""
    folded = outline.default_folds() if folded is None else folded
    boxes, number = _boxes(outline, folded)
    edges = _edges(outline, boxes, number)
    for box in boxes:
        _measure(box, outline.room)
    depths, heights = _assign_layers(boxes, edges)
    grid = _Grid(outline, boxes, edges, depths, heights)
    grid.order()
    grid.place()
    enclosures = _stack(outline, boxes, grid)
    _draw_lines(boxes, edges, grid)
    return _framed(boxes, edges, enclosures)


# ---- boxes and edges ------------------------------------------------------------------------------------------------


def _boxes(outline: Outline, folded: frozenset[int]) -> tuple[list[Box], dict[int, int]]:
    """The boxes in topological order, and the number of the box that holds each node that is not a badge."""
    held: dict[Item, list[int]] = {}
    for at in range(outline.count):
        if not outline.is_badge[at]:
            held.setdefault(outline.box_of(at, folded), []).append(at)
    boxes: list[Box] = []
    number: dict[int, int] = {}
    for item, nodes in sorted(held.items(), key=lambda entry: entry[1][-1]):
        home = outline.folds[~item].parent if item < 0 else outline.home[item]
        title, subtitle = outline.titles(item)
        number.update(dict.fromkeys(nodes, len(boxes)))
        boxes.append(Box(item, home, title, subtitle, [], 0, nodes))
    return boxes, number


def _edges(outline: Outline, boxes: list[Box], number: dict[int, int]) -> list[Edge]:
    """The lines of the picture; parameters go to their consumers as badges on the way."""
    found: dict[tuple[int, int], Edge] = {}
    badges: set[tuple[int, int]] = set()
    for edge, (source, target) in enumerate(zip(outline.graph.edges.source, outline.graph.edges.target, strict=True)):
        to = number[target]
        if outline.is_badge[source]:
            if boxes[to].item >= 0 and (source, to) not in badges:
                badges.add((source, to))
                boxes[to].badges.append(_badge(source, outline.badge(source)))
            continue
        pair = (number[source], to)
        if pair[0] != pair[1]:
            found.setdefault(pair, Edge(*pair, [])).edges.append(edge)
    return list(found.values())


def _measure(box: Box, room: int) -> None:
    """Widths from the number of characters, so that no font is asked."""
    box.badges = _fitting(box.badges)
    row = 20 + _row(box.badges) if box.badges else 0
    needed = max(50 + 17 * (len(box.title) + room) // 2, 28 + 7 * len(box.subtitle), row)
    box.w = min(max(-(-needed // 24) * 24, 120), WIDEST)


def _badge(node: int, text: str) -> Badge:
    """A badge as wide as its words and a mark beside them."""
    return Badge(node, text, 0, 26 + 7 * len(text))


def _row(badges: list[Badge]) -> int:
    return sum(badge.width for badge in badges) + BADGE_GAP * max(0, len(badges) - 1)


def _fitting(badges: list[Badge]) -> list[Badge]:
    """The badges that a box has room for: all, or the first ones and a count of the others."""
    if len(badges) <= MOST_BADGES and _row(badges) <= WIDEST_BADGES:
        return badges
    shown = badges
    for kept in range(min(len(badges), MOST_BADGES) - 1, 0, -1):
        shown = [*badges[:kept], _badge(-1, f"+{len(badges) - kept}")]
        if _row(shown) <= WIDEST_BADGES:
            break
    left = WIDEST_BADGES - _row(shown[1:]) - (BADGE_GAP if len(shown) > 1 else 0)
    shown[0].width = min(shown[0].width, left)
    return shown


def _assign_layers(boxes: list[Box], edges: list[Edge]) -> tuple[list[int], list[int]]:
    """Below everything a box needs, then down to right above the first that needs it.

    Returns the longest way to each box from above, and from it down.
    """
    incoming: list[list[int]] = [[] for _ in boxes]
    outgoing: list[list[int]] = [[] for _ in boxes]
    for edge in edges:
        if edge.source < edge.target:
            incoming[edge.target].append(edge.source)
            outgoing[edge.source].append(edge.target)
    depths, heights = [0] * len(boxes), [0] * len(boxes)
    for number, sources in enumerate(incoming):
        depths[number] = max((depths[source] + 1 for source in sources), default=0)
    for number in range(len(boxes) - 1, -1, -1):
        targets = outgoing[number]
        heights[number] = max((heights[target] + 1 for target in targets), default=0)
        nearest = min((boxes[target].layer for target in targets), default=depths[number] + 1)
        boxes[number].layer = nearest - 1
    return depths, heights


# ---- order and x ----------------------------------------------------------------------------------------------------


class _Grid:
    """The layers as lists of items: boxes by number, then dummies (one for each layer that a longer edge crosses)."""

    def __init__(
        self, outline: Outline, boxes: list[Box], edges: list[Edge], depths: list[int], heights: list[int]
    ) -> None:
        self.outline = outline
        self.depth = [*depths]
        self.height = [*heights]
        self.boxes = len(boxes)
        self.width = [box.w for box in boxes]
        self.home = [box.home for box in boxes]
        self.layers: list[list[int]] = [[] for _ in range(1 + max((box.layer for box in boxes), default=-1))]
        self.above: list[list[int]] = [[] for _ in boxes]
        self.below: list[list[int]] = [[] for _ in boxes]
        self.way: dict[int, list[int]] = {}
        for number, box in enumerate(boxes):
            self.layers[box.layer].append(number)
        for at, edge in enumerate(edges):
            span = boxes[edge.target].layer - boxes[edge.source].layer
            edge.stub = not 1 <= span <= LONGEST_SPAN
            if not edge.stub:
                self._add_way(at, edge, boxes[edge.source].layer, span)
        self.rootless = [False] * len(self.width)
        targets = {edge.target for edge in edges}
        for number in range(self.boxes):
            self.rootless[number] = number not in targets
        self.index = [0] * len(self.width)
        for layer in self.layers:
            self._number(layer)
        self.chains: dict[int, list[int]] = {}
        self.main_up = self._main(self.above, self.depth)
        self.main_down = self._main(self.below, self.height)
        self.x = [0.0] * len(self.width)
        self.bands: list[tuple[int, int]] = []  # top and bottom of every layer, once they are known

    def _add_way(self, at: int, edge: Edge, layer: int, span: int) -> None:
        way = [edge.source]
        home = self.outline.common(self.home[edge.source], self.home[edge.target]) if span > 1 else ROOT
        for step in range(1, span):
            dummy = len(self.width)
            self.width.append(DUMMY_WIDTH)
            self.home.append(home)
            self.depth.append(self.depth[edge.source])
            self.height.append(self.height[edge.target])
            self.above.append([])
            self.below.append([])
            self.layers[layer + step].append(dummy)
            way.append(dummy)
        way.append(edge.target)
        for upper, lower in zip(way, way[1:], strict=False):
            self.below[upper].append(lower)
            self.above[lower].append(upper)
        self.way[at] = way

    def _number(self, layer: list[int]) -> None:
        for at, item in enumerate(layer):
            self.index[item] = at

    def chain(self, fold: int) -> list[int]:
        """The folds from the outermost down to ``fold``."""
        if fold not in self.chains:
            self.chains[fold] = self.outline.ancestors(fold)[::-1]
        return self.chains[fold]

    def _passes(self, downwards: bool) -> tuple[list[list[int]], list[list[int]]]:
        """The layers in the order of a pass, and the neighbours that it looks at."""
        return (self.layers[1:], self.above) if downwards else (self.layers[-2::-1], self.below)

    def order(self) -> None:
        """Sort each layer by the mean place of the neighbours, keeping the members of a fold together."""
        for _ in range(4 if len(self.width) <= MANY_ITEMS else 2):
            for downwards in (True, False):
                layers, neighbours = self._passes(downwards)
                for layer in layers:
                    self._sort(layer, neighbours)

    def _sort(self, layer: list[int], neighbours: list[list[int]]) -> None:
        index = self.index
        bary = {}
        for item in layer:
            near = neighbours[item]
            bary[item] = sum(index[other] for other in near) / len(near) if near else float(index[item])
        if len({self.home[item] for item in layer}) <= 1:
            layer.sort(key=lambda item: (bary[item], index[item]))
        else:
            keys = self._fold_keys(layer, bary)
            layer.sort(key=keys.__getitem__)
        self._number(layer)

    def _fold_keys(self, layer: list[int], bary: dict[int, float]) -> dict[int, list[tuple[float, int]]]:
        sums: dict[int, list[float]] = {}
        for item in layer:
            for fold in self.chain(self.home[item]):
                entry = sums.setdefault(fold, [0.0, 0])
                entry[0] += bary[item]
                entry[1] += 1
        means = {fold: total / count for fold, (total, count) in sums.items()}
        folds = len(self.outline.folds)
        return {
            item: [(means[fold], fold) for fold in self.chain(self.home[item])]
            + [(bary[item], folds + self.index[item])]
            for item in layer
        }

    def place(self) -> None:
        """Centres: packed first, then drawn towards the neighbours, pass by pass."""
        offsets = {}
        for number, layer in enumerate(self.layers):
            offsets[number] = self._offsets(layer)
            middle = offsets[number][-1] / 2
            for item, offset in zip(layer, offsets[number], strict=False):
                self.x[item] = offset - middle
        down = range(1, len(self.layers))
        up = range(len(self.layers) - 2, -1, -1)
        for turn in range(9 if len(self.width) <= MANY_ITEMS else 3):
            numbers, neighbours, rank, main = (
                (down, self.above, self.depth, self.main_down)
                if turn % 2 == 0
                else (up, self.below, self.height, self.main_up)
            )
            for number in numbers:
                self._settle(
                    self.layers[number],
                    offsets[number],
                    [self._wish(item, neighbours[item], rank, main) for item in self.layers[number]],
                )
        for number in up:
            self._settle(self.layers[number], offsets[number], [self._last_wish(item) for item in self.layers[number]])

    def _offsets(self, layer: list[int]) -> list[float]:
        found = [0.0]
        for left, right in zip(layer, layer[1:], strict=False):
            found.append(found[-1] + self.width[left] / 2 + self._gap(left, right) + self.width[right] / 2)
        return found

    def _gap(self, left: int, right: int) -> int:
        one, other = self.chain(self.home[left]), self.chain(self.home[right])
        common = 0
        while common < len(one) and common < len(other) and one[common] == other[common]:
            common += 1
        return 28 + 16 * (len(one) + len(other) - 2 * common)

    def _settle(self, layer: list[int], offsets: list[float], wishes: list[tuple[float, int]]) -> None:
        """Give a layer the places nearest to its wishes that keep order and gaps (pool adjacent violators)."""
        blocks: list[tuple[float, int, int]] = []  # weighted sum, weight, items
        for (wish, weight), offset in zip(wishes, offsets, strict=False):
            total, count = weight * (wish - offset), 1
            while blocks and total / weight < blocks[-1][0] / blocks[-1][1]:
                before = blocks.pop()
                total, weight, count = before[0] + total, before[1] + weight, before[2] + count
            blocks.append((total, weight, count))
        at = 0
        for total, weight, count in blocks:
            mean = total / weight
            for _ in range(count):
                self.x[layer[at]] = mean + offsets[at]
                at += 1

    def _last_wish(self, item: int) -> tuple[float, int]:
        """At last only what stands above everything else moves, over what it leads to."""
        if not self.rootless[item]:
            return self.x[item], 1000
        return self._wish(item, self.below[item], self.height, self.main_up)[0], 1

    def _wish(self, item: int, near: list[int], rank: list[int], main: list[bool]) -> tuple[float, int]:
        if not near:
            return self.x[item], 1
        longest = self._longest(near, rank)
        wish = sum(self.x[other] for other in longest) / len(longest)
        return wish, MAIN if main[item] else 4 if item < self.boxes else 8

    def _longest(self, near: list[int], rank: list[int]) -> list[int]:
        """The neighbours on the longest way, or one short of it; boxes that nothing enters only among their like."""
        rooted = [other for other in near if not self.rootless[other]]
        most = max((rank[other] for other in rooted), default=0)
        return [other for other in rooted if rank[other] >= most - 1] or near

    def _main(self, neighbours: list[list[int]], rank: list[int]) -> list[bool]:
        found = [False] * len(self.width)
        for near in neighbours:
            for other in self._longest(near, rank):
                found[other] = True
        return found


# ---- y, enclosures, lines -------------------------------------------------------------------------------------------


def _stack(outline: Outline, boxes: list[Box], grid: _Grid) -> list[Enclosure]:
    """Give layers their height and boxes their corner; returns the enclosures."""
    members: dict[int, list[Box]] = {}
    for box in boxes:
        for fold in outline.ancestors(box.home):
            members.setdefault(fold, []).append(box)
    drawn = {fold: inside for fold, inside in sorted(members.items()) if len(inside) > 1}
    first = {fold: min(box.layer for box in inside) for fold, inside in drawn.items()}
    last = {fold: max(box.layer for box in inside) for fold, inside in drawn.items()}

    def most(layer: list[Box], edge: dict[int, int]) -> int:
        counts = (sum(edge.get(fold) == box.layer for fold in outline.ancestors(box.home)) for box in layer)
        return max(counts, default=0)

    y = 0
    for layer in grid.layers:
        here = [boxes[item] for item in layer if item < grid.boxes]
        y += 24 * most(here, first)
        height = HEIGHT_WITH_BADGES if any(box.badges for box in here) else HEIGHT
        grid.bands.append((y, y + height))
        for box in here:
            box.y = y
        y += height + 40 + 12 * most(here, last)
    for number, box in enumerate(boxes):
        box.x = math.floor(grid.x[number] - box.w / 2 + 0.5)
        left = box.x + 10
        for badge in box.badges:
            badge.x = left
            left += badge.width + BADGE_GAP
    return _enclosures(outline, boxes, drawn)


def _enclosures(outline: Outline, boxes: list[Box], drawn: dict[int, list[Box]]) -> list[Enclosure]:
    """Rectangles from the inside out: a fold's own boxes and the enclosures in it, with room for a title."""
    found: dict[int, Enclosure] = {}
    extents: dict[int, list[tuple[int, int, int, int]]] = {fold: [] for fold in drawn}

    def into(fold: int, extent: tuple[int, int, int, int]) -> None:
        around = next((outer for outer in outline.ancestors(fold) if outer in drawn), None)
        if around is not None:
            extents[around].append(extent)

    for box in boxes:
        into(box.home, (box.x, box.y, box.x + box.w, box.bottom))
    for fold in sorted(drawn, key=lambda fold: (-len(outline.ancestors(fold)), fold)):
        lefts, tops, rights, bottoms = zip(*extents[fold], strict=True)
        left, top, right, bottom = min(lefts) - 12, min(tops) - 24, max(rights) + 12, max(bottoms) + 12
        inside = {id(box) for box in drawn[fold]}
        clean = not any(
            box.x < right and box.x + box.w > left and box.y < bottom and box.bottom > top
            for box in boxes
            if id(box) not in inside
        )
        title = outline.titles(~fold)[0]
        found[fold] = Enclosure(fold, title, left, top, right - left, bottom - top, clean)
        into(outline.folds[fold].parent, (left, top, right, bottom))
    return [found[fold] for fold in drawn]


def _draw_lines(boxes: list[Box], edges: list[Edge], grid: _Grid) -> None:
    for at, edge in enumerate(edges):
        source, target = boxes[edge.source], boxes[edge.target]
        bottom = source.y + HEIGHT
        if edge.stub:
            x, to = source.x + source.w - STUB, target.x + target.w - STUB
            edge.points = [(x, bottom), (x, bottom + STUB), (to, target.y - STUB), (to, target.y)]
            continue
        way = grid.way[at]
        middle = [math.floor(grid.x[item] + 0.5) for item in way[1:-1]]
        edge.points = [(_port(source, middle[0] if middle else target.center), bottom)]
        for step, x in enumerate(middle, start=source.layer + 1):
            edge.points += [(x, grid.bands[step][0]), (x, grid.bands[step][1])]
        edge.points.append((_port(target, middle[-1] if middle else source.center), target.y))


def _port(box: Box, towards: int) -> int:
    """Where on the edge of a box a line ends: off its middle, towards where the line comes from."""
    most = box.w // 2 - 16
    return box.center + min(max((towards - box.center) // 4, -most), most)


def _framed(boxes: list[Box], edges: list[Edge], enclosures: list[Enclosure]) -> Picture:
    """Move everything so that the picture begins at the margin."""
    if not boxes:
        return Picture(2 * MARGIN, 2 * MARGIN, [], [], [])
    parts: list[Box | Enclosure] = [*boxes, *enclosures]
    dx = MARGIN - min(part.x for part in parts)
    dy = MARGIN - min(part.y for part in parts)
    for box in boxes:
        box.x, box.y = box.x + dx, box.y + dy
        for badge in box.badges:
            badge.x += dx
    for enclosure in enclosures:
        enclosure.x, enclosure.y = enclosure.x + dx, enclosure.y + dy
    for edge in edges:
        edge.points = [(x + dx, y + dy) for x, y in edge.points]
    width = max(part.x + part.w for part in parts) + MARGIN
    height = max([box.bottom for box in boxes] + [item.y + item.h for item in enclosures]) + MARGIN
    return Picture(width, height, boxes, edges, enclosures)
