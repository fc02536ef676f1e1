"""Numbers, shapes and sizes as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def shape_text(shape: Sequence[int]) -> str:
    """A shape as Python prints a list: ``[64, 16]``."""
    return f"[{', '.join(map(str, shape))}]"


def bytes_text(count: int) -> str:
    """Bytes: ``4.0 KiB``."""
    amount = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024 or unit == "GiB":
            break
        amount /= 1024
    return f"{count} B" if unit == "B" else f"{amount:.1f} {unit}"


def number_text(value: float) -> str:
    """A measured number in few letters: ``0.084``, ``8.4e-05``, ``NaN``."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    return f"{value:.2g}" if abs(value) < 99.5 else f"{value:.3g}"


def percent_text(part: float) -> str:
    """A part of a whole: ``42 %``, ``0.3 %``."""
    return f"{100 * part:.3g} %" if abs(part) < 100 else f"{number_text(part)} times"


def count_text(number: int, one: str, many: str | None = None) -> str:
    """A count with its noun: ``1 node``, ``1,200 nodes``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def value_text(value: Any) -> str:
    """One value in few letters."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, complex):
        return f"{value.real:.3g}{value.imag:+.3g}j"
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else f"{value:.3g}"
    try:
        return f"{float(value):.3g}" if not isinstance(value, int) else str(value)
    except (TypeError, ValueError):
        return str(value)
