"""What tensors over one buffer share: its version, and the log of who wrote into it."""

from __future__ import annotations

from typing import Any


class Storage:
    """Shared by a tensor and all its views. Made the first time anybody needs to tell versions apart.

    ``version`` counts in-place writes. ``root`` is a row-major array over the whole buffer, found when the first view is made.
    ``writes`` holds ``(version, op name, site)`` of the latest in-place writes, so that an error can name the line that wrote.
    """

    version = 0
    root: Any = None
    writes: tuple[tuple[int, str, Any], ...] = ()
    inference = False

    def bump(self, op: str, site: Any) -> None:
        """Count one in-place write. The only place a version moves."""
        self.version += 1
        self.writes = (*self.writes[-15:], (self.version, op, site))


class InferenceStorage(Storage):
    """Shared by a tensor made in inference mode and its views. It has no version, so a graph that would save it finds out."""

    inference = True

    @property
    def version(self) -> int:  # type: ignore[override]
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal tensor and use it in "
            "autograd."
        )

    def bump(self, op: str, site: Any) -> None:
        """Writes are not counted."""
