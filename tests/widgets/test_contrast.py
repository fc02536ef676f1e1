"""Every colour that words are written in can be read on every ground that they are written on, in both themes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tensorlab.display import style

TOKENS = (Path(__file__).parents[2] / "widgets" / "shared" / "tokens.css").read_text("utf-8")
ENOUGH = 4.5
#: What JupyterLab's own themes put in the place of our surface and ink.
LAB = {"light": {"surface": "#ffffff", "ink": "#212121"}, "dark": {"surface": "#212121", "ink": "#e1e1e1"}}

#: Words in these colours stand on these grounds.
WRITTEN = [
    *[
        (ink, ground)
        for ink in ("ink", "muted", "accent", "waiting", "done", "warn")
        for ground in ("surface", "raised")
    ],
    *[("ink", f"{name}-soft") for name in ("accent", "waiting", "done", "warn")],
    *[(name, f"{name}-soft") for name in ("accent", "done", "warn", "waiting")],
    *[("muted", f"{name}-soft") for name in ("accent", "done")],
]


def luminance(colour: str) -> float:
    """The relative luminance of ``#rrggbb`` or ``#rgb`` (WCAG 2.2)."""
    digits = colour.lstrip("#")
    digits = "".join(2 * c for c in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The ratio of two colours, from 1 to 21.

    >>> contrast("#000000", "#ffffff")
    21.0
    """
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def mixed(colour: str, part: float, other: str) -> str:
    """``part`` of a colour and the rest of another, as ``color-mix`` in sRGB does it."""
    channels = [round(part * int(colour[i : i + 2], 16) + (1 - part) * int(other[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{c:02x}" for c in channels)


def tokens(theme: str) -> dict[str, str]:
    """The tokens of the live views where the host brings none."""
    blocks = re.findall(r"\.tl \{([^}]*)\}", TOKENS)
    block = blocks[0] if theme == "light" else next(b for b in blocks if "color-scheme: dark" in b)
    found = dict(re.findall(r"--tl-([\w-]+): (?:[^;]*?)(#[0-9a-f]{3,6})\)*;", block))
    assert {"ink", "muted", "surface", "warn-soft", "on-accent"} <= set(found)
    return found


def still(theme: str) -> dict[str, str]:
    """The tokens of still pictures."""
    return dict(re.findall(r"--([\w-]+):(#[0-9a-f]{3,6})", style.LIGHT if theme == "light" else style.DARK))


def in_lab(theme: str) -> dict[str, str]:
    """The tokens of the live views in JupyterLab."""
    found = tokens(theme) | LAB[theme]
    return found | {"raised": mixed(found["surface"], 0.92, "#ffffff")} if theme == "dark" else found


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("palette", [tokens, still, in_lab])
def test_words_can_be_read_on_every_ground(palette, theme: str) -> None:
    colours = palette(theme)
    weak = {
        f"{ink} on {ground}": round(contrast(colours[ink], colours[ground]), 2)
        for ink, ground in WRITTEN
        if contrast(colours[ink], colours[ground]) < ENOUGH
    }
    assert not weak
    if "on-accent" in colours:
        assert contrast(colours["on-accent"], colours["accent"]) >= ENOUGH


def test_the_ratio_is_the_one_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
