"""Every hook, who registered it, and what it does while a program runs."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tensorlab.display.hooks import svg, text
from tensorlab.observe import wire
from tensorlab.observe.hook_viewer import HookViewer
from tensorlab.observe.names import Names, caller_namespace, is_module
from tensorlab.observe.protocol import Message
from tensorlab.observe.schema_watching import HooksDocument
from tensorlab_widgets.instrument import HERE, Instrument, live_names, running_cell, script, styles


class HooksView(Instrument):
    """A live list of the hooks of ``target`` (a module, a tensor, an optimizer, or all there are), and a timeline of their calls.

    What they do is recorded from now on, until ``detach()`` or ``close()``; ``attach()`` goes on, ``forget()`` begins anew.
    ``remove(number)`` takes a hook off, also one whose handle nobody holds.

    >>> import tensorlab as tl
    >>> x = tl.ones(2, requires_grad=True)
    >>> handle = x.register_hook(lambda grad: grad * 2)
    >>> view = tl.show.hooks(x)
    >>> (x * 3).sum().backward()
    >>> view
    HooksView(x: 1 hook, 1 call seen)
    >>> view.close()
    """

    _esm = script("hooks")
    _css = styles("hooks")

    def __init__(self, target: Any = None, *, title: str | None = None, attach: bool = True) -> None:
        namespace = caller_namespace(str(HERE))
        if title is None:
            title = _title(target, namespace)
        self.viewer = HookViewer(target, title, live_names(namespace), attach)
        super().__init__()
        _take_over(self)

    @property
    def document(self) -> HooksDocument:
        """Every hook there is now, and the whole timeline."""
        return self.viewer.document()

    def text(self) -> str:
        """The same as lines of text."""
        return text(self.document)

    def attach(self) -> None:
        """Record what hooks do, or go on."""
        self.viewer.recorder.attach()

    def detach(self) -> None:
        """End the recording; what was recorded stays."""
        self.viewer.recorder.detach()

    def forget(self) -> None:
        """Begin anew with an empty timeline."""
        self.viewer.recorder.forget()

    def remove(self, number: int) -> int:
        """Take off the hook of this number, or all that its entry stands for. Returns how many there were."""
        return self.viewer.remove(number)

    def close(self) -> None:
        """End the recording and take the view away."""
        if "viewer" in self.__dict__:  # it is missing where the target was refused
            self.viewer.recorder.detach()
        super().close()

    def still(self) -> dict[str, Any]:
        """The picture for pages that cannot run the view, as one SVG."""
        return {"image/svg+xml": svg(self.document)}

    def _kept_answers(self) -> Iterator[tuple[str, dict[str, Any], str | None, Any]]:
        ended = replace(self.document, attached=False)
        yield "initialize", {}, None, {"hooks": wire.to_json(ended)}
        for entry in ended.hooks:
            asked = {"number": entry.number}
            yield "detail", asked, None, {"detail": wire.to_json(self.viewer.detail(entry.number))}
        for one in self.viewer.recorder.outputs.values():
            yield "output", {"name": one.name}, None, {"output": wire.to_json(one)}

    def _answer(self, request: Any) -> Message:
        return self.viewer.handle(request)

    def __repr__(self) -> str:
        document = self.document
        there = sum(entry.count for entry in document.hooks if entry.state in ("fired", "silent"))
        calls = sum(self.viewer.recorder.fired.values())
        of = f"{document.title}: " if document.title else ""
        return f"HooksView({of}{there:,} hook{'s' * (there != 1)}, {calls:,} call{'s' * (calls != 1)} seen)"


#: The view that each notebook cell made last, and the execution it was made in.
_by_cell: dict[str, tuple[str, weakref.ref[HooksView]]] = {}
AGAIN = "its cell was run again, and the view made then records in its place"


def _take_over(view: HooksView) -> None:
    """End the recording of the view that the same cell made in an earlier execution."""
    cell, execution = running_cell()
    if not cell:
        return
    before, known = _by_cell.get(cell, ("", None))
    earlier = known() if known is not None else None
    if earlier is not None and before != execution:
        earlier.viewer.recorder.detach()
        earlier.viewer.recorder.trouble = f"The recording has ended: {AGAIN}."
    _by_cell[cell] = (execution, weakref.ref(view))


def _title(target: Any, namespace: dict[str, Any]) -> str:
    """The user's name for a target."""
    if target is None:
        return ""
    names = Names(namespace)
    found = names.of_module(target) if is_module(target) else names.of_tensor(target) if hasattr(target, "_a") else ""
    if found:
        return found
    mine = [name for name, value in namespace.items() if value is target and not name.startswith("_")]
    return min(mine, key=len, default="" if hasattr(target, "_a") else type(target).__name__)
