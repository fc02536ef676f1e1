"""A run line by line as a still picture and as text: what ran, how often, and what it made."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from tensorlab.display.saving import Savable
from tensorlab.display.style import SHEET
from tensorlab.observe import wire
from tensorlab.observe.lines_document import LEVELS, ZERO, LineRecord, part_of, value_text
from tensorlab.observe.schema import LinesDocument
from tensorlab.observe.words import count_text

LINES_TYPE = "application/vnd.tensorlab.lines+json"
#: Steps and values that a notebook file keeps of a record.
MOST_KEPT, MOST_VALUES = 400, 200
FIRST, LAST = 32, 6
WIDTH, PADDING, HEAD, ROW, CODE, VALUES = 900, 20, 40, 26, 84, 470
CELL = 4


class LinesPicture(Savable):
    """A record of lines that displays itself. ``document`` holds the facts, ``result`` what the call returned, ``error`` what ended it."""

    def __init__(self, record: LineRecord) -> None:
        self.record = record
        self.document: LinesDocument = record.document

    @property
    def result(self) -> Any:
        """What the call returned."""
        return self.record.result

    @property
    def error(self) -> BaseException | None:
        """What ended it, if an error did."""
        return self.record.error

    def svg(self) -> str:
        """The picture as one self-contained SVG."""
        return svg(self.document)

    def text(self) -> str:
        """The same as lines of text."""
        return text(self.document)

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle(self.document)


def bundle(document: LinesDocument) -> dict[str, Any]:
    """What a notebook file keeps: the first steps of the document, the picture, and the text."""
    made = document.values.step
    most = min(MOST_KEPT, made[MOST_VALUES] if len(made) > MOST_VALUES else MOST_KEPT)
    return {
        LINES_TYPE: wire.to_json(part_of(document, most)),
        "image/svg+xml": svg(document),
        "text/plain": text(document),
    }


# ------------------------------------------------------------------------------------------------------------ rows


class _Row:
    """One step as it is written."""

    def __init__(self, d: LinesDocument, at: int, made: list[int]) -> None:
        steps = d.steps
        source = d.sources[steps.source[at]]
        line = steps.line[at]
        place = line - source.first
        text = source.text[place] if 0 <= place < len(source.text) else ""
        self.code = text[_margin(source.text) :]
        self.line = "" if source.name == "call" else str(line)
        self.turn = f"×{steps.turn[at]}" if steps.turn[at] > 1 else ""
        self.depth = steps.depth[at]
        self.back = bool(steps.back[at])
        self.raised = bool(steps.raised[at])
        self.note = d.strings[steps.note[at]] if steps.note[at] >= 0 else ""
        self.printed = d.strings[steps.printed[at]] if steps.printed[at] >= 0 else ""
        self.made = made

    def told(self, d: LinesDocument) -> str:
        """What came of it: values, or what names became, or what it printed."""
        if self.raised:
            return self.note
        parts = [value_text(d, node) for node in self.made[-1:]]
        if len(self.made) > 1:
            parts.append(f"and {count_text(len(self.made) - 1, 'value')} before it")
        if not self.made and self.note:
            parts.append(self.note)
        if self.printed:
            parts.append(f"prints {self.printed.strip()!r}")
        return " · ".join(parts)


def _margin(lines: tuple[str, ...]) -> int:
    """The spaces before every line: a method stands further in than a function."""
    return min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)


def _rows(d: LinesDocument) -> Iterator[_Row | str]:
    """The steps that are shown, and a word for those that are not."""
    made: dict[int, list[int]] = {}
    for node, (step, name) in enumerate(zip(d.values.step, d.graph.nodes.name, strict=True)):
        if d.graph.strings[name] != "input":
            made.setdefault(step, []).append(node)
    count = len(d.steps.line)
    for at in range(count):
        if count > FIRST + LAST + 1 and FIRST <= at < count - LAST:
            if at == FIRST:
                yield f"{count_text(count - FIRST - LAST, 'step')} more are not drawn; the live view has them"
            continue
        yield _Row(d, at, made.get(at, []))


# ------------------------------------------------------------------------------------------------------------ text


def text(document: LinesDocument) -> str:
    """One line a step: its number, how often it ran, its code, and what it made."""
    d = document
    lines = [d.sentence, ""]
    for row in _rows(d):
        if isinstance(row, str):
            lines.append(f"       ... {row} ...")
            continue
        code = "  " * row.depth + ("back: " if row.back else "") + row.code.strip()
        lines.append(f"{row.line:>5} {row.turn:<5} {_cut(code, 48):<48}  {row.told(d)}".rstrip())
    return "\n".join(_printable(line) for line in lines)


# ------------------------------------------------------------------------------------------------------------ picture


def svg(document: LinesDocument) -> str:
    """Code on the left, what it made on the right: a word and a small heat map of the last value of each line."""
    d = document
    parts: list[str] = []
    y = HEAD + 12
    for row in _rows(d):
        if isinstance(row, str):
            parts.append(_words(CODE, y + 17, f"… {row} …", "m"))
        else:
            parts += _drawn(d, row, y)
        y += ROW
    y += 22
    for line in _wrapped(d.sentence, 120):
        parts.append(_words(PADDING, y, line, "m"))
        y += 18
    height = y + 2
    label = escape(_printable(d.sentence), quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tl-svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'role="img" aria-label="{label}" xml:space="preserve">{SHEET}'
        f'<rect class="tl-card" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="6"/>'
        f'<path class="tl-rule" d="M0 {HEAD}.5H{WIDTH}"/>'
        + _words(PADDING, 25, "lines", "t")
        + _words(PADDING + 46, 25, d.title, "c", 40)
        + _words(WIDTH - PADDING, 25, count_text(len(d.steps.line), "step"), "m", anchor="end")
        + "".join(parts)
        + "</svg>"
    )


def _drawn(d: LinesDocument, row: _Row, y: int) -> list[str]:
    parts = []
    base = y + 17
    if row.raised:
        parts.append(
            f'<rect class="tl-box tl-bad" x="{PADDING - 8}" y="{y + 1}" width="{WIDTH - 2 * PADDING + 16}" height="24" rx="4"/>'
        )
        parts.append(f'<path class="tl-mark b" d="M{PADDING + 44} {y + 9}l8 8m0 -8l-8 8"/>')
    parts.append(_words(PADDING + 22, base, row.line, "q", anchor="end"))
    if row.turn and not row.raised:
        parts.append(_words(PADDING + 28, base, row.turn, "q", 6))
    indent = CODE + 14 * row.depth
    if row.depth:
        parts.append(f'<path class="tl-frame" d="M{indent - 8} {y}v{ROW}"/>')
    code = f"back: {row.code.strip()}" if row.back else row.code.rstrip()
    kind = "q" if row.back else "c"
    parts.append(_words(indent, base, code, kind, max(8, (VALUES - indent - 12) // 8)))
    heats = [d.values.heat[node] for node in row.made]
    shown = d.strings[heats[-1]] if heats and heats[-1] >= 0 else ""
    if shown:
        parts.append(_heat(shown, VALUES, y + 3))
    if any(d.values.bad[node] for node in row.made) and not row.raised:
        parts.append(f'<path class="tl-mark b" d="M{VALUES + 36} {y + 9}l8 8m0 -8l-8 8"/>')
    parts.append(_words(VALUES + 50, base, row.told(d), "q", 56))
    return parts


def _heat(rows: str, x: int, y: int) -> str:
    """A small heat map: one hue above zero, another with a thin line below it, the stronger the larger; solid is not finite."""
    ways: dict[tuple[str, int], list[str]] = {}
    for r, row in enumerate(rows.split(" ")):
        start = 0
        looks = [_look(letter) for letter in row]
        for c in range(1, len(row) + 1):
            if c == len(row) or looks[c] != looks[start]:
                place = f"M{x + start * CELL} {y + r * CELL + 2}h{(c - start) * CELL}"
                ways.setdefault(looks[start], []).append(place)
                start = c
    return "".join(
        f'<path stroke="var(--{hue})" stroke-width="3.6" opacity="{(0.3, 0.25, 0.55, 1)[strength]:g}" d="{"".join(way)}"/>'
        for (hue, strength), way in sorted(ways.items())
    )


def _look(letter: str) -> tuple[str, int]:
    """The hue of a value, and how strong it is: 0 to 3."""
    if letter == "!":
        return "warn", 3
    level = LEVELS.index(letter) - ZERO
    strength = -(-abs(level) * 3 // ZERO)
    return ("edge" if not strength else "accent" if level > 0 else "waiting"), strength


def _words(x: float, y: float, words: str, kind: str, most: int = 130, anchor: str = "") -> str:
    words = _printable(words)
    if not words.strip():
        return ""
    cut = _cut(words, most)
    title = f"<title>{escape(words)}</title>" if cut != words else ""
    where = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}"{where}>{escape(cut)}{title}</text>'


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"


def _wrapped(words: str, width: int) -> list[str]:
    lines, line = [], ""
    for word in _printable(words).split(" "):
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]


def _printable(words: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in words)
