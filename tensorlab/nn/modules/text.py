"""How a module prints: a line for each part, children further in."""

from __future__ import annotations


def bracketed(name: str, first: list[str], children: list[str]) -> str:
    """``Name(...)`` in one line where there is at most one line inside and no child."""
    if not children and len(first) <= 1:
        return f"{name}({''.join(first)})"
    inside = "".join([f"\n  {line}" for line in [*first, *children]])
    return f"{name}({inside}\n)"


def indented(text: str) -> str:
    """Text whose lines after the first stand two spaces further in."""
    return text.replace("\n", "\n  ")
