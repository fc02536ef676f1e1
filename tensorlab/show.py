"""Live views in two words: ``tensorlab.show.graph(loss)`` and ``tensorlab.show.stepper(loss)``.

They are the widgets of ``tensorlab_widgets``, imported when first asked for: the library itself needs no notebook.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["compare", "flow", "graph", "hooks", "layout", "lines", "memory", "record", "step", "stepper", "timed"]


def compare(a: Any, b: Any, *, tolerance: float = 0.0) -> Any:
    """What became of ``a`` in ``b``: added, removed and changed, by how much, module by module.

    Each side is a module, a ``state_dict()``, a tensor (with the graph that made it) or what :func:`step` kept. Named things are matched by
    their names, operations in forward order (see :mod:`tensorlab.observe.compare`). Differences up to ``tolerance``, relative to
    the left, count as none. Raises ``TypeError`` where the sides are of two kinds.
    """
    return _widgets().CompareView(a, b, tolerance=tolerance)


def step(thing: Any, name: str = "") -> Any:
    """A model, a ``state_dict()`` or the graph of a tensor as it is now, to be compared later: ``before = tensorlab.show.step(model)``.

    It holds samples of values and of gradients and keeps no tensor alive. Of a graph the gradients are those of a backward pass that is
    run now and leaves every ``.grad`` as it is.
    """
    from tensorlab.observe.names import Names, caller_namespace
    from tensorlab.observe.steps import step_of

    return step_of(thing, Names(caller_namespace()), name)


def flow(model: Any, *, title: str | None = None) -> Any:
    """Gradients while a model trains, live: a norm for every parameter and step, and what vanishes, explodes or never arrives.

    ``model`` is a module, or pairs (name, tensor). Whatever optimizer steps its parameters is listened to; in a loop without one call
    ``.note()`` after ``backward()``. ``.log(loss)`` adds the loss of a step. ``.detach()`` ends the recording.
    """
    return _widgets().FlowView(model, title=title)


def graph(
    result: Any,
    *,
    title: str | None = None,
    limit: int | None = None,
    fold: Callable[[Any], Any] | None = None,
) -> Any:
    """A live picture of the graph that made ``result``: pan, zoom, fold, search, and look into every node. A module shows
    what it is made of.

    ``title`` is what it is called (the tensor's name in your code by default), ``limit`` the number of operations
    taken, newest first. ``fold`` is asked of every node what opens folded: ``fold=lambda node: node.op == "view"`` folds neighbours
    together (a module all of whose nodes are wanted as a whole), a string puts nodes into the part of that name. A node has ``id, name,
    op, label, module, shape, file, line, cell, code, saved_bytes``. Raises ``ImportError`` with what to install where the notebook
    packages are missing.

    >>> import tensorlab as tl
    >>> x = tl.ones(4, 4, requires_grad=True)
    >>> y = (x @ x).t().reshape(2, 8).sum()
    >>> tl.show.graph(y, fold=lambda node: "reshaping" if node.op in ("t", "view", "transpose") else False)
    GraphView(y: 6 nodes)
    """
    options: dict[str, Any] = {} if limit is None else {"limit": limit}
    if fold is not None:
        options["fold"] = fold
    return _widgets().GraphView(result, title=title, **options)


def hooks(target: Any = None, *, title: str | None = None, attach: bool = True) -> Any:
    """Every hook of a module, a tensor or an optimizer, or all there are: who registered it, what it does, and why it was not called.

    A timeline tells when each was called relative to the accumulation of gradients, with the difference it made and what it
    printed. ``attach=False`` only lists them. ``.detach()`` ends the recording, ``.attach()`` goes on, ``.remove(number)`` takes a
    hook off.
    """
    return _widgets().HooksView(target, title=title, attach=attach)


def layout(tensor: Any, *others: Any, title: str | None = None) -> Any:
    """How a tensor lies in memory: its cells and the storage under them, every other tensor there, and what calls would do.

    Pick an element to see the sum that leads to its address and who else sees it; try shapes, strides and offsets on a scratch
    view, which never touches the tensor. ``others``, tensors or shapes, meet it in an operation: what is stretched in forward stands
    there hollow, and what is summed in backward is said.
    """
    return _widgets().LayoutView(tensor, *others, title=title)


def memory(*what: Any, title: str | None = None, attach: bool = True) -> Any:
    """Memory over time: how much, what for, by module and operation, who holds it, what frees it, and what stood at the peak.

    ``with show.memory() as view:`` records the block; ``show.memory()`` records until ``.detach()``. ``show.memory(loss)`` shows
    what the graph of a tensor keeps and what its backward will free. ``show.memory(before, after)`` compares two
    ``view.snapshot()``: what grew, by name and line.
    """
    views = _widgets().MemoryView
    if len(what) == 2:
        return views.grew(*what)
    if len(what) > 2:
        raise TypeError(
            f"memory is shown of everything, of one tensor, or between two snapshots; not of {len(what)} things"
        )
    return views(*what, title=title, attach=attach)


def lines(function: Any, *arguments: Any, **options: Any) -> Any:
    """Call ``function`` and record it line by line: which line ran when, what it made, and what the values were.

    A loop makes a step each time round, a call can be stepped into. ``result`` of what is returned is what the call returned; an error
    ends the record and is kept as ``error``. In a notebook ``%%lines`` on top of a cell does the same for the cell. Where the notebook
    packages are missing it is a picture and a text instead of a live view.

    >>> import tensorlab as tl
    >>> seen = tl.show.lines(lambda x: x * 2, tl.ones(2))
    >>> seen.result
    tensor([2., 2.])
    >>> seen.document.sentence
    'lambda ran 1 line and made 1 value.'
    """
    if not callable(function):
        raise TypeError(
            f"show.lines() calls a function and records its lines; {type(function).__name__} cannot be called"
        )
    from tensorlab.observe.lines_document import record as recorded
    from tensorlab.observe.names import Names, caller_namespace

    return lines_view(recorded(function, arguments, options, Names(caller_namespace())))


def lines_view(made: Any) -> Any:
    """A record of lines as a live view, or as a picture where the notebook packages are missing."""
    try:
        from tensorlab_widgets.lines import LinesView
    except ImportError:
        from tensorlab.display.lines import LinesPicture

        return LinesPicture(made)
    return LinesView(made)


def record(subject: Any, path: Any = None, gradient: Any = None, *, title: str | None = None) -> Any:
    """Record the backward pass of a loss into one HTML file, in which a reader steps through it: no network, no kernel, no server.

    ``subject`` is the loss, or any view of this module: a stepper with its whole pass, lines, a graph, a layout, hooks or gradients as
    they are now. Returns the path: ``backward.html`` or what the view is called, unless given. Gradients and graph are as they were.
    """
    if hasattr(subject, "page") and hasattr(subject, "save"):
        return subject.save(path if path is not None else f"{subject.stem}.html")
    return _widgets().record(subject, "backward.html" if path is None else path, gradient, title=title)


def stepper(
    loss: Any,
    gradient: Any = None,
    *,
    inputs: Any = None,
    create_graph: bool = False,
    retain_graph: bool | None = None,
    block: bool = False,
    when: Any = None,
    title: str | None = None,
    patience: float | None = None,
) -> Any:
    """The backward pass of ``loss``, to be stepped through in a live view instead of ``loss.backward(gradient)``.

    Returns at once with the run paused before its first node. With ``block=True`` the view is shown and the cell
    waits, also in the middle of a training loop, until the pass has reached its end: by *Continue*, or because the
    view was closed. That needs a front end that can speak to a busy kernel (JupyterLab 4.4 with ipykernel 7); where
    it cannot, the paused view is returned and a warning says so. Interrupting the kernel ends the wait and leaves the
    pass where it stands.

    ``when`` says at which call a blocking one stops: true or false, a whole number (which time the line is reached, from 0),
    ``"nan"`` (the loss is not finite), a function of the loss, or conditions on gradients as ``break_at`` takes them, such as
    ``{"norm_above": 1e3}``: then the pass stops at the first node that fulfils them, or fails. Where it does not stop it is an
    ordinary ``backward``, at no further cost (conditions on gradients cost a journal).

    With ``inputs`` the pass is that of ``autograd.grad(loss, inputs)``: what arrives is in ``.gradients`` of the view, which a
    blocking call returns, and no ``.grad`` changes. With ``create_graph`` the pass is recorded, so that it can be differentiated
    and stepped through again. ``retain_graph`` says whether closing keeps what the graph saved: yes for a paused view, no for a
    blocking one, unless given. ``patience`` is how many seconds a blocking cell waits for the first word from its view.
    """
    options = {"inputs": inputs, "create_graph": create_graph}
    keep = (not block or create_graph) if retain_graph is None else retain_graph
    if when is None:
        view = _widgets().Stepper(loss, gradient, retain_graph=keep, title=title, **options)
        return _wait(view, patience) if block else view
    from tensorlab.observe.occasions import is_now

    if not block:
        raise ValueError("when= says at which call a cell stops and waits, so it needs block=True")
    if not is_now(when, loss):
        return _pass(loss, gradient, inputs, retain_graph, create_graph)
    view = _widgets().Stepper(loss, gradient, retain_graph=keep, title=title, conditions=_conditions(when), **options)
    if view.session.run.finished:
        found = view.gradients if inputs is not None else None
        view.close()
        return found
    return _wait(view, patience)


def _conditions(when: Any) -> dict[str, Any] | None:
    return dict(when) if hasattr(when, "items") else None


def _pass(loss: Any, gradient: Any, inputs: Any, retain_graph: bool | None, create_graph: bool) -> Any:
    """The pass that nobody wants to see."""
    if inputs is None:
        return loss.backward(gradient, retain_graph=retain_graph, create_graph=create_graph)
    from tensorlab.passes import grad

    return grad(loss, inputs, gradient, retain_graph=retain_graph, create_graph=create_graph)


def timed() -> Any:
    """Time every call inside ``with tensorlab.show.timed():``; a graph that is shown afterwards has the times as an overlay."""
    from tensorlab.observe.timing import timed as block

    return block()


def _wait(view: Any, patience: float | None) -> Any:
    """Show the view and wait for it. Returns ``None`` when the pass is over, else the paused view, after saying why."""
    import warnings

    from IPython.display import display

    from tensorlab.observe.drivers import PATIENCE, nobody_can_answer, wait_for_view, why_not_blocking

    why = why_not_blocking()
    if not why and nobody_can_answer():
        view.finish()
        if view.session.error is not None:
            raise view.session.error
        display(view)
        print("Nobody can answer here, so the pass ran to its end.")
        return view.gradients or None
    if not why:
        view.session.hold()
        display(view)
        why = wait_for_view(view.session, PATIENCE if patience is None else patience)
        if not why:
            return view.gradients or None
    advice = "The pass is paused; step through it in the view, or call its .finish()."
    warnings.warn(f"stepper(block=True) did not wait: {why}. {advice}", stacklevel=3)
    return view


def _widgets() -> Any:
    try:
        import tensorlab_widgets
    except ImportError as error:
        raise ImportError(
            f'live views need the notebook packages ({error}). Install them with: pip install "jupyter-tensorlab[lab]"'
        ) from error
    return tensorlab_widgets
