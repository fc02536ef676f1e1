"""What tensors over one buffer share: its version, and the log of who wrote into it."""

from __future__ import annotations

from typing import Any


class Storage:
    """Shared by a tensor and all its views. Made the first time anybody needs to tell versions apart.

    ``version`` counts in-place writes. ``root`` is a row-major array over the whole buffer, found when the first view is made.
    ``writes`` holds ``(version, op name, site)`` of the latest in-place writes, so that an error can name the line that wrote.
    ``parts`` is there once ``.data`` was asked for: ``(version, elements written)`` of the latest writes outside of any graph.
    """

    version = 0
    root: Any = None
    writes: tuple[tuple[int, str, Any], ...] = ()
    parts: tuple[tuple[int, Any], ...] | None = None
    inference = False

    def bump(self, op: str, site: Any, part: Any = None) -> None:
        """Count one in-place write, to the elements of the array ``part`` if that is known. The only place a version moves."""
        self.version += 1
        self.writes = (*self.writes[-15:], (self.version, op, site))
        if self.parts is not None and part is not None:
            self.parts = (*self.parts[-63:], (self.version, part))

    def parts_since(self, version: int) -> list[Any] | None:
        """The elements that were written since a version; ``None`` if that is not known of every write."""
        since = [part for number, part in self.parts or () if number > version]
        return since if len(since) == self.version - version else None


class InferenceStorage(Storage):
    """Shared by a tensor made in inference mode and its views. It has no version, so a graph that would save it finds out."""

    inference = True

    @property
    def version(self) -> int:  # type: ignore[override]
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal tensor and use it in "
            "autograd."
        )

    def bump(self, op: str, site: Any, part: Any = None) -> None:
        """Writes are not counted."""
