"""How a tensor lies in memory, as a still picture and as text."""

from __future__ import annotations

from html import escape
from textwrap import wrap
from typing import Any

from tensorlab.display.saving import Savable
from tensorlab.display.style import SHEET
from tensorlab.observe.schema import Alias, Broadcast, LayoutDocument, Reading, Verdict
from tensorlab.observe.words import bytes_text, count_text, shape_text

WIDTH, PADDING, HEAD, LINE = 860, 20, 40, 18
CELL, CELL_HEIGHT, PER_ROW, CACHE_LINE = 46, 28, 16, 64
MARKS = {"view": ("view", "tl-mark"), "copy": ("copies", "tl-mark w"), "cannot": ("cannot", "tl-mark b")}


class LayoutPicture(Savable):
    """A layout document that displays itself; ``svg()`` and ``text()`` are its two faces."""

    def __init__(self, document: LayoutDocument) -> None:
        self.document = document

    def svg(self) -> str:
        """The picture as one self-contained SVG."""
        return svg(self.document)

    def text(self) -> str:
        """The same as lines of text."""
        return text(self.document)

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"image/svg+xml": self.svg(), "text/plain": self.text()}


# ------------------------------------------------------------------------------------------------------------ text


def text(document: LayoutDocument) -> str:
    """Sentence, cells with their storage elements, aliases and verdicts, line by line."""
    d = document
    lines = [d.sentence, d.reading.sentence, *([d.broadcast.sentence] if d.broadcast else []), "", f"  {_facts(d)}", ""]
    if d.grid.text:
        cells = [
            [f"{v} @{e}" for v, e in zip(*row, strict=True)] for row in zip(d.grid.text, d.grid.element, strict=True)
        ]
        width = max(len(cell) for row in cells for cell in row)
        lead = f"at {list(d.grid.lead)}, " if d.grid.lead else ""
        lines += [f"  {lead}value @ element of the storage{f' ({d.grid.caption})' if d.grid.caption else ''}"]
        lines += ["    " + "  ".join(cell.rjust(width) for cell in row) for row in cells] + [""]
    lines += ["  in this storage"] + [f"    {_alias_words(alias)}" for alias in d.aliases] + [""]
    lines += ["  what a call would do"] + [f"    {_verdict_words(v)}" for v in d.verdicts]
    return "\n".join("".join(c if c.isprintable() else " " for c in line) for line in lines)


def _facts(d: LayoutDocument) -> str:
    kind = "contiguous" if d.contiguous else "not contiguous"
    return (
        f"{d.dtype} {shape_text(d.shape)} · stride {shape_text(d.stride)} · offset {d.offset} · {kind} · storage of "
        f"{count_text(d.strip.total, 'element')}, {bytes_text(d.strip.bytes)} · {d.device} · version {d.version}"
    )


def _alias_words(alias: Alias) -> str:
    spans = list(zip(alias.first, alias.last, strict=True))
    reached = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans[:6]) + (", ..." if len(spans) > 6 else "")
    note = f" ({alias.note})" if alias.note else ""
    return f"{alias.name}{note}: {shape_text(alias.shape)}, stride {shape_text(alias.stride)}, elements {reached or 'none'}"


def _verdict_words(v: Verdict) -> str:
    outcome = {
        "view": f"view     stride {shape_text(v.stride)}",
        "copy": f"copies   {bytes_text(v.bytes)}",
        "cannot": "cannot  ",
    }[v.kind]
    return f"{v.call:<24} {outcome}{f' · {v.why}' if v.why else ''}"


# ------------------------------------------------------------------------------------------------------------ picture


class _Page:
    """Drawn parts, and how far down the page they reach."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.y = HEAD + PADDING

    def words(self, x: float, words: str, kind: str = "", anchor: str = "", most: int = 110) -> None:
        words = "".join(c if c.isprintable() else " " for c in words)
        cut = words if len(words) <= most else words[: most - 1] + "…"
        title = f"<title>{escape(words)}</title>" if cut != words else ""
        where = f' text-anchor="{anchor}"' if anchor else ""
        self.parts.append(f'<text class="{kind}" x="{x:g}" y="{self.y}"{where}>{escape(cut)}{title}</text>')

    def box(self, x: float, y: float, width: float, height: float, kind: str, tip: str = "") -> None:
        title = f"<title>{escape(tip)}</title>" if tip else ""
        self.parts.append(
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3">{title}</rect>'
        )


def svg(document: LayoutDocument) -> str:
    """One card: the index grid, the storage, everything that lies in it, and what calls would do."""
    d, page = document, _Page()
    if d.broadcast is not None:
        _draw_broadcast(page, d.broadcast)
    _draw_grid(page, d)
    _draw_strip(page, d)
    _draw_reading(page, d.reading)
    _draw_aliases(page, d)
    _draw_verdicts(page, d)
    page.y += 10
    for line in (d.sentence, d.reading.sentence):
        page.words(PADDING, line, "m", most=130)
        page.y += LINE
    height = page.y + PADDING - LINE // 2
    label = escape("".join(c if c.isprintable() else " " for c in d.sentence), quote=True)
    chips = f"{d.dtype} · {shape_text(d.shape)} · stride {shape_text(d.stride)} · {'contiguous' if d.contiguous else 'not contiguous'}"
    title = "".join(c if c.isprintable() else " " for c in d.title or "tensor")[:40]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tl-svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'role="img" aria-label="{label}">{SHEET}'
        f'<rect class="tl-card" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="6"/>'
        f'<path class="tl-rule" d="M0 {HEAD}H{WIDTH}"/>'
        f'<text class="t" x="{PADDING}" y="25">layout</text><text class="c" x="{PADDING + 56}" y="25">{escape(title)}</text>'
        f'<text class="q" x="{WIDTH - PADDING}" y="25" text-anchor="end">{escape(chips)}</text>'
        + "".join(page.parts)
        + "</svg>"
    )


def _draw_grid(page: _Page, d: LayoutDocument) -> None:
    grid = d.grid
    lead = f" at {list(grid.lead)}" if grid.lead else ""
    page.words(PADDING, f"values by index{lead}" + (f" · {grid.caption}" if grid.caption else ""), "m")
    page.y += LINE
    left = PADDING + 26
    for i, c in enumerate(grid.column_numbers):
        page.words(left + i * (CELL + 2) + CELL / 2, str(c), "q", "middle")
    page.y += 8
    for r, row, elements in zip(grid.row_numbers, grid.text, grid.element, strict=True):
        top = page.y
        page.y = top + 18
        page.words(PADDING + 12, str(r) if len(d.shape) > 1 else "", "q", "middle")
        for i, (value, element) in enumerate(zip(row, elements, strict=True)):
            x = left + i * (CELL + 2)
            page.box(x, top, CELL, CELL_HEIGHT, "tl-box tl-leaf", f"element {element}, byte {element * d.itemsize}")
            page.words(x + CELL / 2, value, "q", "middle", most=7)
        page.y = top + CELL_HEIGHT + 2
    page.y += LINE


def _draw_strip(page: _Page, d: LayoutDocument) -> None:
    s = d.strip
    more = f", elements {s.first} to {s.first + len(s.text) - 1}" if len(s.text) < s.total else ""
    page.words(PADDING, f"storage · {count_text(s.total, 'element')} · {bytes_text(s.bytes)} · {d.device}{more}", "m")
    page.y += 8
    reached = {
        e
        for a, b in zip(d.aliases[0].first, d.aliases[0].last, strict=True)
        for e in range(max(a, s.first), min(b, s.first + len(s.text)) + 1)
    }
    for start in range(0, len(s.text), PER_ROW):
        top = page.y
        for i, value in enumerate(s.text[start : start + PER_ROW]):
            element = s.first + start + i
            x = PADDING + i * (CELL + 2)
            kind = "tl-box" if element in reached else "tl-box tl-off"
            page.box(x, top, CELL, CELL_HEIGHT, kind, f"element {element}, byte {element * d.itemsize}")
            page.y = top + 18
            page.words(x + CELL / 2, value, "q", "middle", most=7)
            if (element * d.itemsize + s.skew) % CACHE_LINE < d.itemsize:
                page.parts.append(
                    f'<path class="tl-mark w" d="M{x - 1:g} {top - 3}v{CELL_HEIGHT + 6}"><title>a cache line begins here</title></path>'
                )
        page.y = top + CELL_HEIGHT + 14
        page.words(PADDING, f"byte {(s.first + start) * d.itemsize}", "q")
        page.y += 10
    page.y += LINE


def _draw_reading(page: _Page, r: Reading) -> None:
    """The first reads to the right, the cache line of each downwards."""
    if len(r.element) < 2:
        return
    low, high = min(r.line), max(r.line)
    page.words(PADDING, f"the first {len(r.element)} reads, and the cache line of each", "m")
    page.y += 8
    deep = min(high - low + 1, 8)
    for i, line in enumerate(r.line):
        at = (line - low) * (deep - 1) / max(high - low, 1)
        kind = "tl-box tl-done" if i and r.line[i - 1] == line else "tl-box tl-waiting"
        page.box(PADDING + i * 12, page.y + round(at * 10), 10, 8, kind, f"element {r.element[i]}, cache line {line}")
    page.y += deep * 10 + LINE + 6


def _draw_broadcast(page: _Page, b: Broadcast) -> None:
    """Each side as the result sees it: repeats stand there hollow."""
    page.words(PADDING, "broadcast" + (f" to {shape_text(b.shape)}" if b.dim < 0 else ""), "m")
    page.y += LINE
    top, x, bottom = page.y, PADDING, page.y
    for o in b.operands:
        page.y = top
        page.words(x, f"{o.name} {shape_text(o.shape)}", "c", most=26)
        for r, (texts, ghosts) in enumerate(zip(o.text, o.ghost, strict=True)):
            for c, (value, ghost) in enumerate(zip(texts, ghosts, strict=True)):
                left, above = x + c * 32, top + 8 + r * 22
                page.box(left, above, 30, 20, "tl-off" if ghost else "tl-box tl-leaf", "repeated" if ghost else "")
                page.y = above + 14
                page.words(left + 15, value, "q", "middle", most=4)
        page.y = top + 8 + len(o.text) * 22 + 16
        if o.stretched:
            page.words(x, f"backward: sum over {', '.join(map(str, o.stretched))}", "q", most=30)
        bottom = max(bottom, page.y)
        x += max(8 * 32, 200) + 24
    page.y = bottom + LINE
    for line in wrap(b.sentence, 125):
        page.words(PADDING, line, "m", most=126)
        page.y += LINE
    page.y += 8


def _draw_aliases(page: _Page, d: LayoutDocument) -> None:
    page.words(PADDING, "who lies in it", "m")
    page.y += LINE
    left, width = PADDING + 180, WIDTH - PADDING * 2 - 420
    total = max(d.strip.total, 1)
    for alias in d.aliases:
        page.words(PADDING, alias.name + (f" · {alias.note}" if alias.note else ""), "c", most=22)
        page.box(left, page.y - 9, width, 10, "tl-off")
        for a, b in zip(alias.first, alias.last, strict=True):
            page.box(left + width * a / total, page.y - 9, max(width * (b - a + 1) / total, 1.5), 10, "tl-box tl-done")
        page.words(WIDTH - PADDING, f"{shape_text(alias.shape)} stride {shape_text(alias.stride)}", "q", "end", most=34)
        page.y += LINE + 2
    page.y += 8


def _draw_verdicts(page: _Page, d: LayoutDocument) -> None:
    page.words(PADDING, "what a call would do", "m")
    page.y += LINE
    for v in d.verdicts:
        word, mark = MARKS[v.kind]
        page.words(PADDING + 18, v.call, "c", most=34)
        x, y = PADDING + 4, page.y - 4
        shape = {"view": "l3 4l7 -9", "copy": "h7v7h-7zm3 -3h7v7", "cannot": "m0 -4l8 8m0 -8l-8 8"}[v.kind]
        page.parts.append(f'<path class="{mark}" d="M{x} {y}{shape}"/>')
        page.words(PADDING + 300, word, "t")
        detail = {"view": f"stride {shape_text(v.stride)}", "copy": bytes_text(v.bytes), "cannot": ""}[v.kind]
        page.words(PADDING + 370, " · ".join(filter(None, (detail, v.why))), "q", most=64)
        page.y += LINE
