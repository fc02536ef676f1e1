"""What a notebook shows by itself: computed tensors and modules as a bundle of document, picture and text.

Handlers are listed with their types in ``HANDLERS``; each decides whether it has something better than text. IPython
is never imported here: it is asked only when it already runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorlab import modes
from tensorlab.display.bundle import MOST_SHOWN, bundle
from tensorlab.display.lines import LinesPicture
from tensorlab.display.magics import LinesMagic
from tensorlab.display.story import Answer
from tensorlab.engine import sites
from tensorlab.observe.architecture import module_graph
from tensorlab.observe.names import Names, notebook_namespace, notebook_shell
from tensorlab.observe.places import cell_number
from tensorlab.observe.snapshot import snapshot
from tensorlab.observe.why import why_error

Bundle = dict[str, Any]


def show_tensor(tensor: Any) -> Bundle | None:
    """A computed tensor shows the graph that made it; a leaf, or a tensor without history, prints as always."""
    if tensor.grad_fn is None:
        return None
    names = Names(notebook_namespace())
    return bundle(snapshot(tensor, names, limit=MOST_SHOWN), text=repr(tensor))


def show_module(module: Any) -> Bundle | None:
    """A module shows what it is made of."""
    if type(module).__repr__ is object.__repr__ or not any(True for _ in module.modules()):
        return None
    return bundle(module_graph(module, _name_of(module)), text=repr(module))


def _name_of(module: Any) -> str:
    namespace = notebook_namespace() or {}
    found = [name for name, value in list(namespace.items()) if value is module and not name.startswith("_")]
    return min(found, key=len, default="")


#: (module, class, handler): the classes whose objects show more than text. Subclasses follow their base.
HANDLERS: tuple[tuple[str, str, Callable[[Any], Bundle | None]], ...] = (
    ("tensorlab.tensor", "Tensor", show_tensor),
    ("tensorlab.nn.modules.module", "Module", show_module),
)


def show_error(result: Any) -> None:
    """After a cell that raised an error which knows more of itself: its picture, under the traceback."""
    error = getattr(result, "error_in_exec", None)
    story = why_error(error) if error is not None else None
    if story is not None:
        notebook_shell().display_pub.publish(Answer(story)._repr_mimebundle_())


def note_cell(info: Any) -> None:
    """Before a cell runs: its number, for what is asked later about when something was done.

    Newer shells have counted it by then and older ones have not; what is in their history tells which.
    """
    shell = notebook_shell()
    if _counted.get(id(shell)) is None:
        _counted[id(shell)] = int(shell.execution_count > _stored(shell))
    early = _counted[id(shell)] if getattr(info, "store_history", True) else 0
    sites.Turn.cell = shell.execution_count - early


def _stored(shell: Any) -> int:
    """How many cells the history of a shell holds; the first is number 1."""
    return len(getattr(shell.history_manager, "input_hist_parsed", ()))


_counted: dict[int, int] = {}


_registered: dict[int, LinesMagic] = {}


def register(face: Callable[[Any], Any] = LinesPicture) -> bool:
    """Show tensors and modules as pictures in the notebook or IPython session that runs, and record where nodes are
    made. ``face`` makes of a record of lines what is shown of it.

    Returns whether there is such a session. Calling it again does nothing.
    """
    shell = notebook_shell()
    if shell is None:
        return False
    if id(shell) not in _registered:
        magic = _registered[id(shell)] = LinesMagic(shell, face)
        magic.register()
        modes.watch_sites(True)
        formatter = shell.display_formatter.mimebundle_formatter
        for module, name, handler in HANDLERS:
            formatter.for_type_by_name(module, name, handler)
        shell.events.register("post_run_cell", show_error)
        shell.events.register("pre_run_cell", note_cell)
        sites.Turn.cell = max(0, _stored(shell) - 1)
        sites.Turn.of_file = staticmethod(cell_number)
    return True


def unregister() -> None:
    """Show everything as text again, and stop recording where nodes are made."""
    shell = notebook_shell()
    if shell is None or id(shell) not in _registered:
        return
    _registered.pop(id(shell)).unregister()
    modes.watch_sites(False)
    shell.events.unregister("post_run_cell", show_error)
    shell.events.unregister("pre_run_cell", note_cell)
    sites.Turn.cell = -1
    sites.Turn.of_file = staticmethod(lambda file: -1)
    formatter = shell.display_formatter.mimebundle_formatter
    for module, name, _ in HANDLERS:
        formatter.pop(f"{module}.{name}", None)
