"""Gradients while a model trains, live."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tensorlab.display.flow import svg
from tensorlab.observe import wire
from tensorlab.observe.flow import FlowRecorder
from tensorlab.observe.names import Names, caller_namespace, is_module
from tensorlab.observe.protocol import Message, Refused, served, whole
from tensorlab.observe.schema_training import FlowDocument, FlowNow
from tensorlab.tensor import Tensor
from tensorlab_widgets.instrument import HERE, Instrument, script, styles

#: Parameters whose histograms an exported page holds.
KEPT_RIDGES = 64


class FlowView(Instrument):
    """A live picture of the gradients of ``model`` (a module, or pairs of a name and a tensor) over its training steps.

    Whatever optimizer steps these parameters is listened to. ``log(loss)`` notes the loss of the step that comes next, ``note()``
    records a step of a loop without an optimizer, ``detach()`` or ``close()`` ends the recording.

    >>> import tensorlab as tl
    >>> model = tl.nn.Linear(2, 3)
    >>> view = tl.show.flow(model)
    >>> view
    FlowView(2 parameters, 0 steps)
    >>> view.close()
    """

    _esm = script("flow")
    _css = styles("flow")

    def __init__(self, model: Any, *, title: str | None = None) -> None:
        module = model if is_module(model) else None
        if title is None and module is not None:
            title = Names(caller_namespace(str(HERE))).of_module(module)
        pairs = module.named_parameters() if module is not None else _pairs(model)
        self.recorder = FlowRecorder(pairs, title or "", module)
        super().__init__()

    @property
    def document(self) -> FlowDocument:
        """Everything that was recorded."""
        return self.recorder.document()

    @property
    def now(self) -> FlowNow:
        """The latest gradients by the name of the parameter, as a graph takes them for the width of its edges."""
        return self.recorder.now()

    def log(self, loss: Any) -> None:
        """Note the loss of the step that comes next."""
        self.recorder.log(loss)

    def note(self) -> None:
        """Record the gradients as they are now as one step."""
        self.recorder.note()

    def detach(self) -> None:
        """End the recording; what was recorded stays."""
        self.recorder.detach()

    def close(self) -> None:
        """End the recording and take the view away."""
        if "recorder" in self.__dict__:  # it is missing where the model was refused
            self.recorder.detach()
        super().close()

    def still(self) -> dict[str, Any]:
        """The picture for pages that cannot run the view, as one SVG."""
        return {"image/svg+xml": svg(self.document)}

    def _kept_answers(self) -> Iterator[tuple[str, dict[str, Any], str | None, Any]]:
        ended = replace(self.document, attached=False)
        yield "initialize", {}, None, {"flow": wire.to_json(ended)}
        for at in range(min(len(self.recorder.names), KEPT_RIDGES)):
            yield "ridge", {"parameter": at}, None, {"ridge": wire.to_json(self.recorder.ridge(at))}

    def _answer(self, request: Any) -> Message:
        actions: dict[str, Callable[[Mapping[str, Any]], Message]] = {
            "initialize": lambda arguments: {"flow": wire.to_json(self.recorder.document())},
            "steps": self._steps,
            "ridge": self._ridge,
            "detach": lambda arguments: {"flow": wire.to_json(self._detached())},
            "disconnect": lambda arguments: {},
        }
        return served(request, actions, "a picture of gradients cannot {command!r}")

    def _steps(self, arguments: Mapping[str, Any]) -> Message:
        since, generation = whole(arguments, "since", -1), whole(arguments, "generation", -1)
        return {"flow": wire.to_json(self.recorder.document(since, generation, fresh=False))}

    def _ridge(self, arguments: Mapping[str, Any]) -> Message:
        try:
            return {"ridge": wire.to_json(self.recorder.ridge(whole(arguments, "parameter")))}
        except IndexError as error:
            raise Refused(str(error)) from None

    def _detached(self) -> FlowDocument:
        self.recorder.detach()
        return self.recorder.document(self.recorder.step, self.recorder.generation)

    def __repr__(self) -> str:
        return f"FlowView({len(self.recorder.names)} parameters, {self.recorder.step} steps)"


def _pairs(model: Any) -> Any:
    """Pairs of a name and a tensor out of a dictionary, or an iterable of pairs or of tensors."""
    if isinstance(model, Tensor):
        model = [model]
    of = "gradients are followed of a Module, or of Tensors with or without names, not of"
    try:
        items = list(model.items()) if isinstance(model, Mapping) else list(model)
    except TypeError:
        raise TypeError(f"{of} {type(model).__name__}") from None
    pairs = [item if isinstance(item, tuple) else (f"parameter {i}", item) for i, item in enumerate(items)]
    for _, item in pairs:
        if not isinstance(item, Tensor):
            raise TypeError(f"{of} {type(item).__name__}")
    return pairs
