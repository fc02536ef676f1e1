"""Memory over time and who holds it, as a still picture and as text."""

from __future__ import annotations

from html import escape
from typing import Any

from tensorlab.display.style import SHEET
from tensorlab.observe.memory_holdings import growth_words
from tensorlab.observe.places import words
from tensorlab.observe.schema_watching import (
    USES,
    MemoryBlock,
    MemoryCurve,
    MemoryDocument,
    MemoryGrowth,
    MemoryShare,
    MemorySnapshot,
)
from tensorlab.observe.words import bytes_text, count_text

WIDTH, PADDING, HEAD, ROW = 860, 20, 40, 19
LEFT, RIGHT, HIGH = 84, 20, 190
#: Blocks, shares, groups and points of a still picture.
MOST_BLOCKS, MOST_SHARES, MOST_GROWTH, MOST_POINTS = 12, 8, 10, 140
#: How each use is filled and lined, in the order of USES.
LOOKS = (
    ("raised", "edge"), ("accent-soft", "accent"), ("done-soft", "done"), ("surface", "muted"), ("waiting-soft", "waiting"),
    ("warn-soft", "warn"),
)  # fmt: skip


class Growth:
    """What grew between two snapshots; displays itself. ``grown`` are the groups, the most first."""

    def __init__(self, before: MemorySnapshot, after: MemorySnapshot, grown: tuple[MemoryGrowth, ...]) -> None:
        self.before, self.after, self.grown = before, after, grown

    def text(self) -> str:
        """One line for each group that grew."""
        more = self.after.bytes - self.before.bytes
        change = f"{bytes_text(abs(more))} {'more' if more >= 0 else 'less'}"
        head = f"{bytes_text(self.before.bytes)} at first, {bytes_text(self.after.bytes)} later: {change}."
        lines = [f"  {growth_words(group)}" for group in self.grown] or ["  nothing grew"]
        return "\n".join(_plain(line) for line in [head, *lines])

    def svg(self) -> str:
        """Bars of what there is more of."""
        parts: list[str] = []
        y = _draw_growth(self.grown, parts, HEAD + 24)
        return _framed("memory", "what grew", parts, y, self.text().split("\n")[0])

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"image/svg+xml": self.svg(), "text/plain": self.text()}


# ------------------------------------------------------------------------------------------------------------ text


def text(document: MemoryDocument) -> str:
    """The sentence, what stood at the peak, by use, module and operation, and what grew."""
    d = document
    lines = [d.sentence]
    if d.trouble:
        lines.append(d.trouble)
    for pool in d.pools:
        lines.append(
            f"pool of {pool.device}: {bytes_text(pool.used)} in arrays, {bytes_text(pool.taken)} taken from the system"
        )
    lines += ["", "  what is kept" if d.curve.forecast else "  at the peak"]
    for block in d.blocks[:60]:
        lines += _block_lines(block)
    if d.unlisted:
        lines.append(f"    {count_text(d.unlisted, 'smaller block')}: {bytes_text(d.unlisted_bytes)}")
    for title, shares in (("by module", d.modules), ("by operation", d.ops)):
        lines += ["", f"  {title}"]
        lines += [
            f"    {bytes_text(s.bytes).rjust(10)}  {s.name} ({count_text(s.count, 'block')})" for s in shares[:30]
        ]
    if d.marked:
        lines += ["", "  grown since the mark"]
        lines += [f"    {growth_words(group)}" for group in d.growth] or ["    nothing"]
    return "\n".join(_plain(line) for line in lines)


def _block_lines(block: MemoryBlock) -> list[str]:
    made = f", made by {block.op}" if block.op else ""
    where = words(block.made)
    inside = f" in {block.module}" if block.module else ""
    head = f"    {bytes_text(block.bytes).rjust(10)}  {block.name}: {USES[block.use]}{made}{inside}{f' ({where})' if where else ''}"
    holders = [f"{' ' * 16}held by {'; '.join(block.holders)}"] if block.holders else []
    return [head, *holders, f"{' ' * 16}{block.frees}"]


# ------------------------------------------------------------------------------------------------------------ picture


def svg(document: MemoryDocument) -> str:
    """Bytes over time by use, the largest blocks at the peak with what frees them, and shares by module and operation."""
    d = document
    parts: list[str] = []
    y = _draw_curve(d, parts, HEAD + 18)
    y = _draw_blocks(d, parts, y)
    y = _draw_shares(d, parts, y)
    if d.marked:
        parts.append(f'<path class="tl-rule" d="M0 {y}H{WIDTH}"/>')
        parts.append(_words(PADDING, y + 22, "Grown since the mark", "t"))
        y = _draw_growth(d.growth, parts, y + 44)
    for pool in d.pools:
        said = (
            f"pool of {pool.device}: {bytes_text(pool.used)} in arrays, {bytes_text(pool.taken)} taken from the system"
        )
        parts.append(_words(PADDING, y + 10, said, "m"))
        y += ROW
    return _framed("memory", " ".join(filter(None, (d.title, f"on {d.device}"))), parts, y, d.sentence)


def _framed(what: str, of: str, parts: list[str], y: int, sentence: str) -> str:
    parts.append(_words(PADDING, y + 14, sentence, "m", most=130))
    height = y + 32
    label = escape(_plain(sentence), quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tl-svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'role="img" aria-label="{label}">{SHEET}'
        f'<rect class="tl-card" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="6"/>'
        f'<path class="tl-rule" d="M0 {HEAD}H{WIDTH}"/>'
        + _words(PADDING, 25, what, "t")
        + _words(PADDING + 66, 25, of, "c", most=60)
        + "".join(parts)
        + "</svg>"
    )


def _draw_curve(d: MemoryDocument, parts: list[str], y: int) -> int:
    c = d.curve
    if not c.ticks or not c.peak:
        parts.append(_words(PADDING, y + 12, "nothing is recorded", "m"))
        return y + 28
    y = _legend(d, parts, y)
    wide, last = WIDTH - LEFT - RIGHT, max(c.last, 1)
    base = y + HIGH

    def across(tick: float) -> float:
        return LEFT + wide * min(tick, last) / last

    def up(size: float) -> float:
        return base - (HIGH - 12) * size / c.peak

    for part, label in ((1.0, bytes_text(c.peak)), (0.5, bytes_text(c.peak // 2)), (0.0, "0")):
        parts.append(f'<path class="tl-rule" d="M{LEFT} {up(c.peak * part):.1f}H{WIDTH - RIGHT}"/>')
        parts.append(_words(LEFT - 8, up(c.peak * part) + 4, label, "q", "end"))
    ticks, stack = _thinned(c)
    below = [0] * len(ticks)
    for use, row in enumerate(stack):
        if not any(row):
            continue
        above = [a + b for a, b in zip(below, row, strict=True)]
        top = _steps([(across(t), up(v)) for t, v in zip(ticks, above, strict=True)], across(last))
        bottom = _steps([(across(t), up(v)) for t, v in zip(ticks, below, strict=True)], across(last))
        fill, line = LOOKS[use]
        outline = "M" + "L".join(f"{a:.0f} {b:.0f}" for a, b in [*top, *reversed(bottom)]) + "z"
        parts.append(f'<path style="fill:var(--{fill})" d="{outline}"/>')
        parts.append(f'<path style="fill:none;stroke:var(--{line})" d="{_edge(top, bottom)}"/>')
        below = above
    previous = -100.0
    for phase in c.phases:
        x = across(phase.tick)
        if x - previous > 62 and x < WIDTH - 66:
            parts.append(f'<path class="tl-frame" d="M{x:.1f} {base - HIGH}V{base + 4}"/>')
            parts.append(_words(x + 3, base + 15, phase.name, "q"))
            previous = x
    if c.forecast:
        parts.append(_words(LEFT, base + 15, f"before backward, and after each of its {c.last} nodes", "q"))
    else:
        x = across(c.peak_tick)
        parts.append(f'<path class="tl-mark b" d="M{x:.1f} {up(c.peak) - 9:.1f}l4 -7h-8z"/>')
    return base + 34


def _edge(top: list[tuple[float, float]], bottom: list[tuple[float, float]]) -> str:
    """The upper edge of an area, where there is something under it."""
    out, drawing = "", False
    for (x, y), (_, floor) in zip(top, bottom, strict=True):
        there = round(y) < round(floor)
        out += f"{'L' if drawing else 'M'}{x:.0f} {y:.0f}" if there or drawing else ""
        drawing = there
    return out


def _thinned(c: MemoryCurve) -> tuple[list[int], list[list[int]]]:
    """As many points as can be told apart, the highest of each stretch; the peak is always one of them."""
    totals = [sum(column) for column in zip(*c.stack, strict=True)]
    step = -(-len(totals) // MOST_POINTS)
    kept = [max(range(at, min(at + step, len(totals))), key=totals.__getitem__) for at in range(0, len(totals), step)]
    if kept[-1] != len(totals) - 1:
        kept.append(len(totals) - 1)
    return [c.ticks[at] for at in kept], [[row[at] for at in kept] for row in c.stack]


def _steps(points: list[tuple[float, float]], end: float) -> list[tuple[float, float]]:
    """A line that changes at once and then stays."""
    out: list[tuple[float, float]] = []
    for at, (x, y) in enumerate(points):
        if at:
            out.append((x, out[-1][1]))
        out.append((x, y))
    out.append((end, out[-1][1]))
    return out


def _legend(d: MemoryDocument, parts: list[str], y: int) -> int:
    x = LEFT
    for use, row in enumerate(d.curve.stack):
        if any(row):
            fill, line = LOOKS[use]
            parts.append(
                f'<rect style="fill:var(--{fill});stroke:var(--{line})" x="{x}" y="{y - 9}" width="12" height="11" rx="2"/>'
            )
            parts.append(_words(x + 18, y, USES[use], "m"))
            x += 34 + round(6.6 * len(USES[use]))
    return y + 18


def _draw_blocks(d: MemoryDocument, parts: list[str], y: int) -> int:
    shown = [b for b in d.blocks if b.at_peak or d.curve.forecast][:MOST_BLOCKS]
    if not shown:
        return y
    parts.append(
        _words(PADDING, y, "What is kept, and what frees it" if d.curve.forecast else "What stood at the peak", "t")
    )
    y += ROW + 2
    most = max(b.bytes for b in shown)
    for b in shown:
        fill, line = LOOKS[b.use]
        long = max(2.0, 90 * b.bytes / most)
        parts.append(
            f'<rect style="fill:var(--{fill});stroke:var(--{line})" x="{PADDING}" y="{y - 10}" width="{long:.1f}" height="12" rx="2"/>'
        )
        parts.append(_words(PADDING + 100, y, bytes_text(b.bytes), "q"))
        parts.append(_words(PADDING + 172, y, b.name, "c", most=23))
        made = " in ".join(filter(None, (b.op, b.module)))
        parts.append(_words(PADDING + 362, y, made or USES[b.use], "q", most=30))
        parts.append(_words(PADDING + 572, y, b.frees, "q", most=38))
        y += ROW
    rest = len([b for b in d.blocks if b.at_peak or d.curve.forecast]) - len(shown) + d.unlisted
    if rest:
        parts.append(_words(PADDING + 172, y, f"{rest:,} smaller blocks are not drawn", "m"))
        y += ROW
    return y + 6


def _draw_shares(d: MemoryDocument, parts: list[str], y: int) -> int:
    if not d.modules and not d.ops:
        return y
    parts.append(f'<path class="tl-rule" d="M0 {y}H{WIDTH}"/>')
    lowest = y
    for x, title, shares in ((PADDING, "By module", d.modules), (WIDTH // 2 + 10, "By operation", d.ops)):
        parts.append(_words(x, y + 22, title, "t"))
        lowest = max(lowest, _bars(shares[:MOST_SHARES], parts, x, y + 42))
    return lowest


def _bars(shares: tuple[MemoryShare, ...], parts: list[str], x: int, y: int) -> int:
    most = max((s.bytes for s in shares), default=1) or 1
    for s in shares:
        parts.append(
            f'<rect class="tl-go" x="{x}" y="{y - 9}" width="{max(1.0, 110 * s.bytes / most):.1f}" height="10" rx="2"/>'
        )
        parts.append(_words(x + 120, y, bytes_text(s.bytes), "q"))
        parts.append(_words(x + 190, y, s.name, "c", most=25))
        y += ROW
    return y


def _draw_growth(growth: tuple[MemoryGrowth, ...], parts: list[str], y: int) -> int:
    if not growth:
        parts.append(_words(PADDING, y, "nothing grew", "m"))
        return y + ROW
    most = max(g.bytes_after - g.bytes_before for g in growth)
    for g in growth[:MOST_GROWTH]:
        more = g.bytes_after - g.bytes_before
        long = max(2.0, 90 * more / most)
        parts.append(f'<rect class="tl-box tl-bad" x="{PADDING}" y="{y - 10}" width="{long:.1f}" height="12" rx="2"/>')
        parts.append(_words(PADDING + 100, y, growth_words(g), "m", most=112))
        y += ROW
    if len(growth) > MOST_GROWTH:
        parts.append(_words(PADDING + 100, y, f"{len(growth) - MOST_GROWTH:,} more groups grew", "m"))
        y += ROW
    return y


def _plain(line: str) -> str:
    return "".join(c if c.isprintable() else " " for c in line)


def _words(x: float, y: float, said: str, kind: str, anchor: str = "", most: int = 80) -> str:
    said = _plain(said)
    cut = said if len(said) <= most else said[: most - 1] + "…"
    title = f"<title>{escape(said)}</title>" if cut != said else ""
    where = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}"{where}>{escape(cut)}{title}</text>'
