"""Gradients over steps as a still picture and as text."""

from __future__ import annotations

import math
from html import escape

from tensorlab.display.style import SHEET
from tensorlab.observe.flow import norm_of
from tensorlab.observe.schema_training import LEVELS, Finding, FlowDocument
from tensorlab.observe.words import number_text

#: Viridis, low to high.
SCALE = (
    "#440154",
    "#482475",
    "#414487",
    "#355f8d",
    "#2a788e",
    "#21918c",
    "#22a884",
    "#44bf70",
    "#7ad151",
    "#bddf26",
    "#fde725",
)
WIDTH, PADDING, HEAD, ROW, NAMES, STEPS, MOST_ROWS = 860, 20, 40, 20, 190, 60, 60
#: What a line of text says of a gradient that has no norm.
MARKS = {LEVELS["none"]: "none", LEVELS["zero"]: "zero", LEVELS["not_finite"]: "NaN/Inf"}


def text(document: FlowDocument) -> str:
    """One line a parameter: its latest norm and update, and what needs a look."""
    d = document
    lines = [d.sentence, ""]
    width = max(map(len, d.names))
    for i, name in enumerate(d.names):
        moved = norm_of(d.update[i])
        update = f"update {moved:.1e}" if moved is not None else ""
        look = "needs a look" if d.looks[i] else ""
        lines.append(f"  {name.ljust(width)}  {_latest(d, i).ljust(9)} {update.ljust(16)} {look}".rstrip())
    lines += [""] if d.findings else []
    lines += [f"  {headline(f)}: {f.what}. {f.attempt}".rstrip() for f in d.findings]
    return "\n".join("".join(c if c.isprintable() else " " for c in line) for line in lines)


def _latest(d: FlowDocument, i: int) -> str:
    if not d.steps:
        return "-"
    level = d.levels[i - len(d.names)]
    return MARKS.get(level) or number_text(norm_of(level) or 0.0)


def headline(f: Finding) -> str:
    """Who it is about, what it is, and since when: ``0.weight and 3 more: vanished since step 7``."""
    more = f" and {f.others} more" if f.others else ""
    return f"{f.name}{more}: {f.kind} since step {f.since}"


def span(document: FlowDocument) -> tuple[float, float]:
    """The lowest and highest norm as powers of ten, at least one apart."""
    known = [level for level in document.levels if level not in MARKS]
    if not known:
        return -6.0, 0.0
    low, high = math.floor(min(known) / 1000), math.ceil(max(known) / 1000)
    return float(low), float(max(high, low + 1))


def colour(level: int, low: float, high: float) -> str:
    """The colour of a norm on a logarithmic scale."""
    at = (level / 1000 - low) / (high - low)
    return SCALE[min(len(SCALE) - 1, max(0, round(at * (len(SCALE) - 1))))]


def svg(document: FlowDocument) -> str:
    """Parameters in model order, steps to the right in viridis, the latest norm as a bar on a log scale, and what needs a look."""
    d = document
    low, high = span(d)
    shown = min(len(d.names), MOST_ROWS)
    left, cells = PADDING + NAMES, min(len(d.steps), STEPS)
    heat = 320
    bars = left + heat + 20
    parts: list[str] = []
    y = HEAD + 20
    if d.steps:
        parts.append(_words(left, y, f"step {d.steps[-cells]}", "q"))
        parts.append(_words(left + heat, y, f"step {d.steps[-1]}", "q", "end"))
    parts.append(_words(bars, y, f"gradient norm, 1e{low:.0f} to 1e{high:.0f}", "q"))
    y += 8
    for i in range(shown):
        parts.append(_words(PADDING, y + 14, d.names[i], "c", most=25))
        wide = heat / max(cells, 1)
        for j in range(cells):
            parts.append(_cell(d, i, len(d.steps) - cells + j, left + j * wide, y + 3, wide, low, high))
        parts += _bar(d, i, bars, y + 4, low, high, bool(d.looks[i]))
        y += ROW
    if shown < len(d.names):
        parts.append(_words(PADDING, y + 14, f"{len(d.names) - shown} more parameters are not drawn", "m"))
        y += ROW
    y += 20
    for f in d.findings[:8]:
        parts.append(_words(PADDING, y, headline(f), "t", most=60))
        parts.append(_words(PADDING + 20, y + 17, f"{f.what}. {f.attempt}", "q", most=118))
        y += 38
    parts.append(_words(PADDING, y + 4, d.sentence, "m", most=120))
    height = y + 24
    label = escape("".join(c if c.isprintable() else " " for c in d.sentence), quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tl-svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'role="img" aria-label="{label}">{SHEET}'
        f'<rect class="tl-card" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="6"/>'
        f'<path class="tl-rule" d="M0 {HEAD}H{WIDTH}"/>'
        + _words(PADDING, 25, "gradient flow", "t")
        + _words(PADDING + 104, 25, d.title, "c")
        + "".join(parts)
        + "</svg>"
    )


def _cell(d: FlowDocument, i: int, j: int, x: float, y: float, wide: float, low: float, high: float) -> str:
    level = d.levels[j * len(d.names) + i]
    width = max(wide - 1, 0.8)
    if level not in MARKS:
        return f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="14" fill="{colour(level, low, high)}"/>'
    if level == LEVELS["zero"]:
        return f'<circle cx="{x + wide / 2:.1f}" cy="{y + 7}" r="1.5" class="tl-head"/>'
    if level == LEVELS["not_finite"]:
        return f'<path class="tl-mark b" d="M{x:.1f} {y + 3}l{width:.1f} 8m0 -8l-{width:.1f} 8"/>'
    return f'<rect class="tl-off" x="{x:.1f}" y="{y}" width="{width:.1f}" height="14"/>'


def _bar(d: FlowDocument, i: int, x: int, y: int, low: float, high: float, look: bool) -> list[str]:
    level = d.levels[i - len(d.names)] if d.steps else LEVELS["none"]
    most = 130
    if level not in MARKS:
        long = max(2.0, most * (level / 1000 - low) / (high - low))
        parts = [
            f'<rect class="{"tl-box tl-bad" if look else "tl-box tl-current"}" x="{x}" y="{y}" width="{long:.1f}" height="11" rx="2"/>'
        ]
    else:
        parts = [f'<rect class="tl-off" x="{x}" y="{y}" width="{most}" height="11" rx="2"/>']
    mark = " (look)" if look else ""
    return [*parts, _words(x + most + 12, y + 10, f"{_latest(d, i)}{mark}", "q")]


def _words(x: float, y: float, words: str, kind: str, anchor: str = "", most: int = 80) -> str:
    words = "".join(c if c.isprintable() else " " for c in words)
    cut = words if len(words) <= most else words[: most - 1] + "…"
    title = f"<title>{escape(words)}</title>" if cut != words else ""
    where = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}"{where}>{escape(cut)}{title}</text>'
