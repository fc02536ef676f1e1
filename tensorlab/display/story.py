"""An answer as text, and as a picture of the way it went: stops under one another, the one it is about marked."""

from __future__ import annotations

from html import escape
from typing import Any

from tensorlab.display.saving import Savable
from tensorlab.display.style import SHEET
from tensorlab.observe.why.story import Link, Story

MARKS = {"leaf": "o", "operation": "|", "cut": "X", "bad": "!", "result": "*", "gap": ":"}
CLASSES = {
    "leaf": "tl-box tl-leaf",
    "operation": "tl-box",
    "cut": "tl-box tl-bad",
    "bad": "tl-box tl-bad",
    "result": "tl-box tl-root",
    "gap": "",
}
WIDTH, PADDING, BOX, GAP, LINE = 640, 16, 44, 20, 18
#: Letters that fit into a line of the picture.
LETTERS = 88


class Answer(Savable):
    """What a question was answered with. In a notebook it shows as a picture, elsewhere as text; ``story`` holds the facts."""

    def __init__(self, story: Story) -> None:
        self.story = story

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        return self.story.sentence

    @property
    def fix(self) -> str:
        """What to do, or an empty string."""
        return self.story.fix

    @property
    def found(self) -> bool:
        """Whether there was anything to explain."""
        return self.story.found

    def text(self) -> str:
        """The answer as lines of text."""
        return text(self.story)

    def svg(self) -> str:
        """The answer as one self-contained picture."""
        return svg(self.story)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"image/svg+xml": self.svg(), "text/plain": self.text()}


def text(story: Story) -> str:
    """A story as lines: the sentence, the way with its marks, facts, and what to do."""
    lines = [story.sentence]
    if story.chain:
        lines += [""] + [
            f"  {MARKS[link.kind]} {link.label}{f'   {link.detail}' if link.detail else ''}" for link in story.chain
        ]
    if story.facts:
        width = max(len(name) for name, _ in story.facts)
        lines += [""] + [f"  {name.ljust(width)}  {value}" for name, value in story.facts]
    if story.fix:
        lines += ["", story.fix]
    return "\n".join(_printable(line) for line in lines)


def svg(story: Story) -> str:
    """A story as a picture; everything that a person wrote in it is text."""
    parts: list[str] = []
    y = 40 + PADDING
    for line in _wrapped(story.sentence):
        parts.append(_words(PADDING, y, line, ""))
        y += LINE
    y += 8
    for i, link in enumerate(story.chain):
        parts += _stop(link, y, i > 0, link.kind in ("cut", "bad") and i > 0)
        y += (BOX if link.kind != "gap" else LINE) + GAP
    y += 4 if story.chain else 0
    for name, value in story.facts:
        for n, line in enumerate(_wrapped(f"{name}: {value}")):
            parts.append(_words(PADDING + 12 * bool(n), y, line, "q"))
            y += LINE
    if story.fix:
        y += 6
        for line in _wrapped(story.fix, LETTERS - 12):
            parts.append(_words(PADDING, y, line, "t"))
            y += LINE
    height = y + PADDING - 8
    label = escape(_printable(story.sentence), quote=True)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tl-svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'role="img" aria-label="{label}">{SHEET}'
        f'<rect class="tl-card" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="6"/>'
        f'<path class="tl-rule" d="M0 40H{WIDTH}"/>' + _words(PADDING, 25, story.title, "t")
    )
    return head + "".join(parts) + "</svg>"


def _stop(link: Link, y: int, joined: bool, broken: bool) -> list[str]:
    """One stop: its box, the line from the stop above it, and a cross where the way is broken."""
    parts = []
    middle = PADDING + 28
    if joined:
        dash = ' stroke-dasharray="3 4"' if broken or link.kind == "gap" else ""
        parts.append(f'<path class="tl-line" d="M{middle} {y - GAP}V{y}"{dash}/>')
    if link.kind == "gap":
        return [*parts, _words(middle + 14, y + 13, link.label, "m")]
    parts.append(
        f'<rect class="{CLASSES[link.kind]}" x="{PADDING}" y="{y}" width="{WIDTH - 2 * PADDING}" height="{BOX}" rx="4"/>'
    )
    if link.kind in ("cut", "bad"):
        x = WIDTH - PADDING - 22
        parts.append(f'<path class="tl-mark b" d="M{x - 6} {y + 16}l12 12m0 -12l-12 12"/>')
    parts.append(_words(PADDING + 12, y + (18 if link.detail else 27), link.label, "c"))
    if link.detail:
        parts.append(_words(PADDING + 12, y + 35, link.detail, "q"))
    return parts


def _words(x: int, y: int, words: str, kind: str) -> str:
    words = _printable(words)
    if len(words) > LETTERS:
        full, words = words, words[: LETTERS - 1] + "…"
        return f'<text class="{kind}" x="{x}" y="{y}">{escape(words)}<title>{escape(full)}</title></text>'
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(words)}</text>'


def _wrapped(words: str, width: int = LETTERS) -> list[str]:
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
