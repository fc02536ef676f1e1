"""What every instrument shares: its bundle, its messages, and a face for places where no script runs."""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FunctionType
from typing import Any

import anywidget

from tensorlab.display.bundle import kept
from tensorlab.display.player import view_page
from tensorlab.display.saving import file_stem, saved
from tensorlab.engine import sites
from tensorlab.observe import wire
from tensorlab.observe.names import Names, caller_namespace, is_module, notebook_namespace, notebook_shell
from tensorlab.observe.protocol import Message, Refused, served
from tensorlab.observe.schema import Graph
from tensorlab.optim.optimizer import Optimizer
from tensorlab.tensor import Tensor
from tensorlab_widgets.comms import served_where_sent

#: Marks an output in which an instrument lives, so that our JupyterLab extension decides what is shown of it.
VIEW_TYPE = "application/vnd.tensorlab.view+json"

#: Letters that a notebook file keeps of a view in all, and of its answers; a large picture leaves them less room.
MOST_IN_FILE, MOST_KEPT = 58_000, 24_000

HERE = Path(__file__).parent
sites.pass_over(str(HERE))  # the line that asked for a view is the person's
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


def bundle_text(file: str) -> str:
    """The text of a built file, for a page that holds it. Raises ``RuntimeError`` where the browser part was not built."""
    path = STATIC / file
    if not path.exists():
        raise RuntimeError("the browser part has not been built. In a clone, run: npm install && npm run build")
    return path.read_text("utf-8")


def sheets(*names: str) -> str:
    """The style sheets of these bundles, one after the other."""
    return "".join(bundle_text(f"{name}.css") for name in names if (STATIC / f"{name}.css").exists())


def running_cell() -> tuple[str, str]:
    """What names the notebook cell that runs, and this execution of it; empty outside of a notebook."""
    kernel = getattr(notebook_shell(), "kernel", None)
    parent = kernel.get_parent("shell") if kernel is not None else {}
    execution = str((parent.get("header") or {}).get("msg_id", ""))
    return str((parent.get("metadata") or {}).get("cellId", "") or execution), execution


def live_names(namespace: Mapping[str, Any]) -> Callable[[], dict[str, Any]]:
    """The user's variables whenever they are asked for: a notebook's as they are then, else those that the caller saw, weakly."""
    if notebook_namespace() is not None:
        return lambda: dict(notebook_namespace() or {})
    known: dict[str, Any] = {}
    for name, value in namespace.items():
        if is_module(value) or isinstance(value, (Tensor, Optimizer, FunctionType)):
            known[name] = weakref.ref(value)
    return lambda: {name: value for name, one in known.items() if (value := one()) is not None}


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

    def close(self) -> None:
        """Take the view away, and the widget of its margins with it, which no other view uses."""
        super().close()
        self.layout.close()

    @property
    def graph(self) -> Graph:
        """The document that is shown."""
        raise AttributeError(f"{type(self).__name__} shows no graph")

    def still(self) -> dict[str, Any]:
        """What pages show that cannot run the view, and notebooks that no kernel knows any more: a mime bundle."""
        return kept(self.graph)

    # ---- export ------------------------------------------------------------------------------------------------------

    def svg(self, look: Mapping[str, Any] | None = None) -> str:
        """The picture as one self-contained SVG. ``look`` is what a view adds: how a person has arranged it."""
        return str(self.still()["image/svg+xml"])

    def page(self) -> str:
        """The view as one HTML page that needs no network, kernel or server, with answers for what a reader can ask."""
        word = self._word()
        answers = [list(answer) for answer in self._kept_answers()]
        still, name = self.svg(), self._called()
        title = " of ".join(filter(None, (word, name)))
        return view_page(
            answers, bundle_text(f"{word}.js"), bundle_text("page.js"), sheets(word, "page"), still, title, self.stem
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the view to a file; the ending says how: ``.svg``, or ``.html`` for a page that needs no kernel. Returns the path.

        Raises ``ValueError`` for another ending, ``RuntimeError`` where the browser part was not built.
        """
        return saved(path, {".svg": self.svg, ".html": self.page})

    def _word(self) -> str:
        """The instrument's word: the name of its folder and of its bundle."""
        return type(self).__module__.rpartition(".")[2]

    def _called(self) -> str:
        """What is shown, by the user's name for it."""
        document = getattr(self, "document", None) or getattr(self, "graph", None)
        return str(getattr(document, "title", ""))

    @property
    def stem(self) -> str:
        """What files of this view are called, without an ending."""
        return file_stem(self._word(), self._called())

    def _requests(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """What a view that was saved as a page can be asked."""
        yield "initialize", {}

    def _kept_answers(self) -> Iterator[tuple[str, dict[str, Any], str | None, Any]]:
        """Command, arguments, and either why it was refused or the body of the answer."""
        for command, arguments in self._requests():
            answer = self._answer({"seq": 0, "command": command, "arguments": arguments})
            yield command, arguments, answer["message"], answer["body"]

    def _export(self, arguments: Mapping[str, Any]) -> Message:
        kind = arguments.get("kind")
        if kind not in ("svg", "html"):
            raise Refused(f"a view is exported as 'svg' or 'html', not {kind!r}")
        return {"name": f"{self.stem}.{kind}", "text": self.page() if kind == "html" else self.svg(arguments)}

    # ---- messages ----------------------------------------------------------------------------------------------------

    def _answer(self, request: Any) -> Message:
        raise AttributeError(f"{type(self).__name__} answers nothing")

    def _receive(self, widget: Any, content: Any, buffers: Any) -> None:
        if isinstance(content, Mapping) and content.get("command") == "export":
            self._deliver(served(content, {"export": self._export}, ""))
        else:
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
        still = self.still()
        return {**data, VIEW_TYPE: self._kept(still), **still, "text/plain": repr(self)}, metadata

    def _kept(self, still: Mapping[str, Any]) -> dict[str, Any]:
        """What our JupyterLab extension opens where no kernel knows the view any more, if there is no document of its own kind."""
        if any(kind != "image/svg+xml" for kind in still):
            return {}
        answers, room = [], min(MOST_KEPT, MOST_IN_FILE - len(json.dumps(still.get("image/svg+xml", ""))))
        for answer in self._kept_answers():
            room -= len(json.dumps(answer))
            if room < 0:
                break
            answers.append(list(answer))
        return {"view": self._word(), "answers": answers, "stem": self.stem} if answers else {}
