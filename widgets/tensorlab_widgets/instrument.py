"""What every instrument shares: its bundle, its messages, and a face for places where no script runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anywidget

from tensorlab.display.bundle import kept
from tensorlab.observe import wire
from tensorlab.observe.names import Names, caller_namespace
from tensorlab.observe.protocol import Message
from tensorlab.observe.schema import Graph
from tensorlab_widgets.comms import served_where_sent

#: Marks an output in which an instrument lives, so that our JupyterLab extension decides what is shown of it.
VIEW_TYPE = "application/vnd.tensorlab.view+json"

HERE = Path(__file__).parent
STATIC = HERE / "static"

_NOT_BUILT = """
export default {
  render({ el }) {
    el.textContent =
      'The browser part of this instrument has not been built. In a clone, run: npm install && npm run build';
  },
};
"""


def script(name: str) -> Path | str:
    """The bundle of an instrument, or a script that says that it was not built."""
    return _contents(STATIC / f"{name}.js") or _NOT_BUILT


def styles(name: str) -> Path | str:
    """The style sheet of an instrument, if it has one of its own."""
    return _contents(STATIC / f"{name}.css")


def _contents(file: Path) -> Path | str:
    """The text of a bundle, empty if it was not built.

    anywidget never lets go of a widget whose bundle is a file, so it gets the file only where it is to watch it.
    """
    if not file.exists():
        return ""
    return file if os.environ.get("ANYWIDGET_HMR") == "1" else file.read_text("utf-8")


def user_names() -> Names:
    """The names in the code that called an instrument."""
    return Names(caller_namespace(str(HERE)))


class Instrument(anywidget.AnyWidget):
    """A widget that answers requests with custom messages and, besides being live, leaves a still picture in the notebook file."""

    def __init__(self, **traits: Any) -> None:
        # A view may speak as soon as the comm is open, which is before the next line returns.
        self.on_msg(self._receive)
        super().__init__(**traits)

    def open(self) -> None:
        """Open the comm to the front end."""
        with served_where_sent():
            super().open()

    @property
    def graph(self) -> Graph:
        """The document that is shown."""
        raise AttributeError(f"{type(self).__name__} shows no graph")

    def still(self) -> dict[str, Any]:
        """What pages show that cannot run the view, and notebooks that no kernel knows any more: a mime bundle."""
        return kept(self.graph)

    def _answer(self, request: Any) -> Message:
        raise AttributeError(f"{type(self).__name__} answers nothing")

    def _receive(self, widget: Any, content: Any, buffers: Any) -> None:
        self._deliver(self._answer(content))

    def _deliver(self, message: Message) -> None:
        """Send an answer or an event; long columns of numbers go as one buffer."""
        body, buffers = wire.pack(message["body"]) if isinstance(message["body"], dict) else (message["body"], [])
        self.send({**message, "body": body}, buffers)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """The live view, and what stands in for it."""
        live = super()._repr_mimebundle_(**options)
        if live is None:
            return None
        data, metadata = live
        return {**data, VIEW_TYPE: {}, **self.still(), "text/plain": repr(self)}, metadata
