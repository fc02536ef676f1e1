"""Two things side by side, still: what was added, removed and changed as a tree with a bar for how much, as one SVG and as text."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tensorlab.display.style import SHEET
from tensorlab.display.svg import cut, middle_cut, text
from tensorlab.observe.schema_compare import CHANGES, Comparison

MOST_ROWS = 40
WIDTH, HEAD, ROW, PADDING = 880, 40, 22, 16
MARKS = {"same": "=", "changed": "~", "added": "+", "removed": "−"}
_NAME, _LEFT, _RIGHT, _BAR = 40, 300, 470, 640


@dataclass(frozen=True)
class Line:
    """A row as it is told: ``depth`` parts in, with its sign, its name, both sides, what changed, and how much."""

    depth: int
    status: str
    name: str
    left: str
    right: str
    note: str
    amount: float | None


def told(found: Comparison, most: int = MOST_ROWS) -> tuple[list[Line], int]:
    """The rows that differ with the parts around them, at most so many, and how many are not told. Parts of which nothing differs are one
    line."""
    rows, strings = found.rows, found.strings
    lines: list[Line] = []
    left_out = 0
    depths: list[int] = []
    closed: set[int] = set()
    same: dict[int, int] = {}
    for at, parent in enumerate(rows.parent):
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
        if parent in closed:
            closed.add(at)
            continue
        status = CHANGES[rows.status[at]]
        if status == "same":
            closed.add(at)
            same[parent] = same.get(parent, 0) + 1
            continue
        if status in ("added", "removed") and strings[rows.kind[at]] == "part":
            closed.add(at)
        if len(lines) >= most:
            left_out += 1
            continue
        left, right, note = (_cell(strings, column[at]) for column in (rows.left, rows.right, rows.note))
        lines.append(Line(depths[at], status, strings[rows.name[at]], left, right, note, found.amount[at]))
    return lines, left_out


def _cell(strings: tuple[str, ...], index: int) -> str:
    return strings[index] if index >= 0 else ""


def compare_text(found: Comparison) -> str:
    """The comparison as a table, for consoles and screen readers."""
    lines, left_out = told(found, 200)
    said = [found.sentence]
    wide = max((2 * line.depth + len(line.name) for line in lines), default=0)
    for line in lines:
        name = "  " * line.depth + line.name
        sides = line.note or (line.right if line.status == "added" else line.left)
        said.append(f"{MARKS[line.status]} {name.ljust(min(wide, 48))}  {sides}".rstrip())
    if left_out:
        said.append(f"... and {left_out:,} more that differ")
    return "\n".join(said)


def svg(found: Comparison) -> str:
    """The comparison as one self-contained SVG."""
    lines, left_out = told(found)
    foot = [f"and {left_out:,} more that differ"] if left_out else []
    sentence = _wrapped(found.sentence)
    height = HEAD + 34 + ROW * (len(lines) + len(foot)) + 14 + 18 * len(sentence) + 16
    w, h = WIDTH, height
    top = HEAD + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tl-svg" role="img" width="{w}" height="{h}" viewBox="0 0 {w} {h}">',
        f"<title>{text(f'Comparison of {found.title}. {found.sentence}')}</title>{SHEET}",
        f'<rect class="tl-card" x=".5" y=".5" width="{w - 1}" height="{h - 1}" rx="6"/>',
        f'<path class="tl-bar" d="M1 {HEAD}V7a6 6 0 0 1 6-6H{w - 7}a6 6 0 0 1 6 6V{HEAD}z"/><path class="tl-rule" d="M0 {HEAD}.5H{w}"/>',
        f'<text x="{PADDING}" y="25"><tspan class="t">compare</tspan><tspan class="c" dx="10">{text(cut(found.title, 60))}</tspan></text>',
    ]
    heads = (
        (_NAME, "what differs"),
        (_LEFT, found.names[0] or "left"),
        (_RIGHT, found.names[1] or "right"),
        (_BAR, "how much"),
    )
    parts += [f'<text class="m" x="{x}" y="{HEAD + 22}">{text(cut(words, 20))}</text>' for x, words in heads]
    parts += [_line(line, top + ROW * at) for at, line in enumerate(lines)]
    if not lines:
        parts.append(f'<text class="m" x="{PADDING}" y="{top + 8}">Nothing differs.</text>')
    parts += [f'<text class="m" x="{_NAME}" y="{top + ROW * len(lines) + 14}">{text(words)}</text>' for words in foot]
    below = h - 18 * len(sentence) - 16
    parts.append(f'<path class="tl-rule" d="M0 {below}.5H{w}"/>')
    parts += [
        f'<text class="m" x="{PADDING}" y="{below + 21 + 18 * at}">{text(line)}</text>'
        for at, line in enumerate(sentence)
    ]
    return "".join([*parts, "</svg>"])


def _line(line: Line, y: int) -> str:
    base, indent = y + 14, 14 * line.depth
    sign = f'<text class="{"t" if line.status != "changed" else "t w"}" x="{PADDING}" y="{base}">{MARKS[line.status]}</text>'
    name = f'<text class="c" x="{_NAME + indent}" y="{base}">{text(cut(line.name, max(6, (_LEFT - _NAME - indent - 12) // 8)))}</text>'
    cells = ((_LEFT, line.left), (_RIGHT, line.right))
    sides = "".join(f'<text class="q" x="{x}" y="{base}">{text(middle_cut(words, 23))}</text>' for x, words in cells)
    bar = ""
    if line.amount is not None:
        long = max(2, round(90 * part_of_bar(line.amount)))
        bar = f'<path class="tl-rail" d="M{_BAR} {base - 4}h90"/><path class="tl-meter" d="M{_BAR} {base - 4}h{long}"/>'
        bar += f'<text class="q" x="{_BAR + 98}" y="{base}">{text(amount_text(line.amount))}</text>'
    elif line.note:
        bar = f'<text class="q" x="{_BAR}" y="{base}">{text(cut(line.note, 32))}</text>'
    tip = " · ".join(filter(None, [line.name, line.status, line.note]))
    return f"<g><title>{text(tip)}</title>{sign}{name}{sides}{bar}</g>"


def part_of_bar(amount: float) -> float:
    """Six decades up to a change as large as the value itself."""
    return min(1.0, max(0.02, 1 + math.log10(amount) / 6)) if amount > 0 else 0.0


def amount_text(amount: float) -> str:
    """``3.1 %``, ``0.0042 %``, ``12 × its size``."""
    return f"{100 * amount:.3g} %" if amount < 100 else f"{amount:.3g} × its size"


def _wrapped(words: str, most: int = 124) -> list[str]:
    lines = [""]
    for word in words.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > most:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
