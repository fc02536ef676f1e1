"""Style sheets of several views stand in one page: what one says of its own parts must not reach into another."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / "widgets" / "shared"
VIEWS = sorted(SHARED.glob("*view.css"))


def selectors(sheet: str) -> list[str]:
    """Every selector of a style sheet, lists of them taken apart."""
    sheet = re.sub(r"/\*.*?\*/", "", sheet, flags=re.S)
    found = []
    for rule in re.findall(r"(?:^|[{}])\s*([^{}@;]+)\{", sheet):
        found += [part.strip() for part in re.split(r",(?![^(]*\))", rule)]
    return found


@pytest.mark.parametrize("file", VIEWS, ids=lambda file: file.stem)
def test_a_view_styles_its_own_parts_only(file: Path) -> None:
    own = re.compile(r"^(\.tl)+\[data-testid='tl-[a-z]+'\]")
    wrong = [selector for selector in selectors(file.read_text("utf-8")) if not own.match(selector)]
    assert not wrong, f"begin these with .tl[data-testid='tl-{file.stem.removesuffix('view')}']: {wrong}"


def test_selectors_are_found() -> None:
    sheet = "/* a, b */ .a, .b:is(.c, .d) { x: y } @media (m) { .e { f: g } }"
    assert selectors(sheet) == [".a", ".b:is(.c, .d)", ".e"]
