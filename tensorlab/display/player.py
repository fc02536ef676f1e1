"""An instrument as one HTML file that needs no network, no kernel and no server."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from tensorlab.display.style import UI_FONT

#: How a bundle ends: with the one thing that it gives.
_EXPORT = re.compile(r"export\s*\{\s*([\w$]+)\s+as\s+default\s*,?\s*\}\s*;?\s*$")


def page(recording: dict[str, Any], script: str, styles: str, still: str, title: str) -> str:
    """A recorded pass: the picture for readers without scripts, the recording as data, and what plays it."""
    return _document(f"backward of {title}", styles, still, recording, [script, f"play({_ELEMENT}, {_DATA});"])


def view_page(
    answers: Sequence[Any], instrument: str, reader: str, styles: str, still: str, title: str, stem: str
) -> str:
    """A view as it stands: its picture for readers without scripts, the answers that it will want, and the view itself.

    ``instrument`` is the bundle of the view, ``reader`` the one that answers in the place of a kernel, ``stem`` the name of files that
    the page gives. Raises ``ValueError`` for a bundle that gives nothing.
    """
    named, found = _EXPORT.subn(r"globalThis.instrument = \1;", instrument)
    if not found:
        raise ValueError("this bundle has no default export, so a page cannot open it; build the bundles again")
    data = {"answers": list(answers), "stem": stem}
    return _document(title, styles, still, data, [named, reader, f"openKept(instrument, {_ELEMENT}, {_DATA});"])


_ELEMENT = 'document.getElementById("tensorlab")'
_DATA = 'JSON.parse(document.getElementById("recording").textContent)'


def _document(title: str, styles: str, still: str, data: Any, scripts: Sequence[str]) -> str:
    told = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    name = escape("".join(c if c.isprintable() else " " for c in title))
    inert = (script.replace("</script", "<\\/script") for script in scripts)
    code = "".join(f'<script type="module">{script}</script>' for script in inert)
    return (
        "<!doctype html>\n"
        f'<html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline' blob:; worker-src blob:; img-src data: blob:\">"
        f"<style>body{{margin:16px;font:13px {UI_FONT};color-scheme:light dark}}{styles}</style></head><body>"
        f'<div id="tensorlab"><noscript>{still}</noscript></div>'
        f'<script type="application/json" id="recording">{told}</script>{code}'
        "</body></html>\n"
    )


def written(path: str | os.PathLike[str], text: str) -> Path:
    """Write a file whole or not at all."""
    target = Path(path)
    handle, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, target)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    return target
