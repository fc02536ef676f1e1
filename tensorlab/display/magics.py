"""``%%lines`` on top of a cell: the cell runs as always, and under it stands which line made what.

The word is taken off before the cell is read, and a recorder listens while it runs. So values, errors, ``await`` and printing are what
they are without it. IPython itself is never imported here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorlab.display.lines import LinesPicture
from tensorlab.observe.lines import NEXT, LineRecorder
from tensorlab.observe.lines_document import LineRecord
from tensorlab.observe.names import Names

WORD = "%%lines"


class LinesMagic:
    """The word in one IPython session. ``face`` makes of a record what is shown: a live view, or the picture."""

    def __init__(self, shell: Any, face: Callable[[LineRecord], Any] = LinesPicture) -> None:
        self.shell, self.face = shell, face
        self.recorder: LineRecorder | None = None

    def register(self) -> None:
        """Let cells begin with the word."""
        self.shell.input_transformers_cleanup.append(self.transform)
        self.shell.events.register("pre_run_cell", self.before)
        self.shell.events.register("post_run_cell", self.after)
        self.shell.register_magic_function(self.run, "cell", WORD.strip("%"))

    def unregister(self) -> None:
        """The session as it was."""
        if self.transform in self.shell.input_transformers_cleanup:
            self.shell.input_transformers_cleanup.remove(self.transform)
        self.shell.events.unregister("pre_run_cell", self.before)
        self.shell.events.unregister("post_run_cell", self.after)
        self.shell.magics_manager.magics["cell"].pop(WORD.strip("%"), None)

    def transform(self, lines: list[str]) -> list[str]:
        """The cell without the word, every line where it was."""
        return ["#" + lines[0], *lines[1:]] if lines and asks(lines[0]) else lines

    def before(self, info: Any) -> None:
        """Listen, where the cell asks for it."""
        if self.recorder is not None:  # a cell that never ended
            self.recorder.stop()
        self.recorder = LineRecorder(cell=NEXT).start() if asks(info.raw_cell or "") else None

    def after(self, result: Any) -> None:
        """Show what was recorded, also of a cell that raised an error or was interrupted."""
        recorder, self.recorder = self.recorder, None
        if recorder is None:
            return
        recorder.stop(result.error_in_exec)
        if recorder.cell != NEXT:  # it was read without an error
            made = LineRecord(recorder, f"cell {recorder.cell}", Names(self.shell.user_ns))
            shown = self.face(made)._repr_mimebundle_()
            data, metadata = shown if isinstance(shown, tuple) else (shown, {})
            self.shell.display_pub.publish(data or LinesPicture(made)._repr_mimebundle_(), metadata)

    def run(self, line: str, cell: str) -> None:
        """Run the cell, and show under it which line made which value: step through it, look into values and calls."""
        self.shell.run_cell(f"{WORD} {line}\n{cell}", store_history=False)


def asks(cell: str) -> bool:
    """Whether a cell begins with the word."""
    return cell.lstrip().partition("\n")[0].split()[:1] == [WORD]
