"""A recorded backward pass as one HTML file that needs no network, no kernel and no server."""

from __future__ import annotations

import json
import os
import tempfile
from html import escape
from pathlib import Path
from typing import Any

from tensorlab.display.style import UI_FONT


def page(recording: dict[str, Any], script: str, styles: str, still: str, title: str) -> str:
    """The page: the picture for readers without scripts, the recording as data, and what plays it."""
    data = json.dumps(recording, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    code = script.replace("</script", "<\\/script")
    name = escape("".join(c if c.isprintable() else " " for c in title))
    return (
        "<!doctype html>\n"
        f'<html lang="en"><head><meta charset="utf-8"><title>backward of {name}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline' blob:; worker-src blob:; img-src data:\">"
        f"<style>body{{margin:16px;font:13px {UI_FONT};color-scheme:light dark}}{styles}</style></head><body>"
        f'<div id="tensorlab"><noscript>{still}</noscript></div>'
        f'<script type="application/json" id="recording">{data}</script>'
        f'<script type="module">{code}\nplay(document.getElementById("tensorlab"), '
        'JSON.parse(document.getElementById("recording").textContent));</script>'
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
