"""Pictures as files: a name that every system takes, and a file that is whole or not there."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from tensorlab.display.player import written
from tensorlab.display.style import UI_FONT

LONGEST_NAME = 60
#: Names that a device has on Windows, whatever follows the dot.
DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))})


def file_stem(*words: str) -> str:
    """A file name without its ending, from words that a person chose: letters and digits of any script, joined by hyphens.

    >>> file_stem("graph", "loss/2: <b>")
    'graph-loss-2-b'
    """
    joined = "-".join(words)
    letters = "".join(c if c.isalnum() or c in "_." else " " for c in joined)
    stem = "-".join(letters.split()).replace("..", ".").strip(".-")[:LONGEST_NAME].rstrip(".-")
    return f"{stem}-" if stem.lower() in DEVICES else stem or "picture"


def still_page(svg: str, title: str) -> str:
    """A page of HTML with nothing but a picture in it."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(_printable(title))}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<style>body{{margin:16px;font:13px {UI_FONT};color-scheme:light dark}}</style></head><body>{svg}</body></html>\n"
    )


def saved(path: str | os.PathLike[str], faces: Mapping[str, Callable[[], str]]) -> Path:
    """Write the face that belongs to the ending of ``path``. Raises ``ValueError`` for an ending that none belongs to."""
    ending = Path(path).suffix.lower()
    if ending == ".png":
        raise ValueError("a PNG is drawn by a browser: choose Export, PNG in the live view, or save .svg or .html here")
    if ending not in faces:
        known = ", ".join(faces)
        raise ValueError(f"{Path(path).name!r} has no ending that says what to save; there are {known}")
    folder = Path(path).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{Path(path).name} was not saved: there is no folder {str(folder)!r}")
    return written(path, faces[ending]())


class Savable:
    """What can be drawn and told can be saved: as ``.svg``, as a page of ``.html``, or as ``.txt``."""

    def svg(self) -> str:
        """The picture as one self-contained SVG."""
        raise AttributeError(f"{type(self).__name__} has no picture")

    def text(self) -> str:
        """The same as lines of text."""
        raise AttributeError(f"{type(self).__name__} has no text")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a file; the ending says how: ``.svg``, ``.html`` or ``.txt``. Returns the path."""
        faces: dict[str, Callable[[], Any]] = {
            ".svg": self.svg,
            ".html": lambda: still_page(self.svg(), Path(path).stem),
            ".txt": lambda: self.text() + "\n",
        }
        return saved(path, faces)


def _printable(words: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in words)
