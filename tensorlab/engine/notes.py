"""What is remembered of a tensor for questions that may come later. Notes are about this very tensor: no copy and no file has them.

A dictionary of notes never changes, so that many tensors of which the same is remembered can share one.
"""

from __future__ import annotations

from typing import Any


def noted(x: Any, what: str, default: Any = None) -> Any:
    """A note on a tensor, or ``default``."""
    kept = getattr(x, "_notes", None)
    return default if kept is None else kept.get(what, default)


def note(x: Any, what: str, value: Any) -> None:
    """Remember something of a tensor."""
    kept = getattr(x, "_notes", None)
    x._notes = {what: value} if kept is None else {**kept, what: value}
