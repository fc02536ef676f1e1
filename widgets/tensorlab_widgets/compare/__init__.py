"""Two models, steps or graphs side by side: what was added, removed and changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tensorlab.display.compare import compare_text, svg
from tensorlab.observe import wire
from tensorlab.observe.compare import compared
from tensorlab.observe.protocol import Message, served
from tensorlab.observe.schema_compare import Comparison
from tensorlab_widgets.instrument import Instrument, script, styles, user_names


class CompareView(Instrument):
    """What became of ``a`` in ``b``: two modules, two ``state_dict()``s, two tensors with their graphs, or steps that
    ``tensorlab.show.step`` kept. Differences of at most ``tolerance`` (relative to the left) count as none.

    The view keeps no tensor alive: it is made of what was compared when it was made.

    >>> import tensorlab as tl
    >>> model = tl.nn.Linear(2, 2)
    >>> before = tl.show.step(model)
    >>> with tl.no_grad():
    ...     model.bias.add_(1)  # doctest: +ELLIPSIS
    tensor(...)
    >>> tl.show.compare(before, model)  # doctest: +ELLIPSIS
    From model to model: 1 changed, 2 the same. Most changed bias, ...
    """

    _esm = script("compare")
    _css = styles("compare")

    def __init__(self, a: Any, b: Any, *, tolerance: float = 0.0) -> None:
        self.document: Comparison = compared(a, b, names=user_names(), tolerance=tolerance)
        super().__init__()

    def still(self) -> dict[str, Any]:
        """The picture for pages that cannot run the view, as one SVG."""
        return {"image/svg+xml": svg(self.document)}

    def text(self) -> str:
        """The comparison as a table."""
        return compare_text(self.document)

    def _answer(self, request: Any) -> Message:
        actions: dict[str, Callable[[Mapping[str, Any]], Message]] = {
            "initialize": lambda arguments: {"comparison": wire.to_json(self.document)},
            "disconnect": lambda arguments: {},
        }
        return served(request, actions, "a comparison cannot {command!r}")

    def __repr__(self) -> str:
        return self.text()
