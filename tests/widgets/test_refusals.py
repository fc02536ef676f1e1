"""What a view cannot show is refused in words that say what it shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorlab as tl
from tensorlab import show


@pytest.mark.parametrize("wrong", [None, 3, 2.5], ids=repr)
@pytest.mark.parametrize(
    ("view", "takes"),
    [
        (show.graph, "a graph shows how a Tensor was made"),
        (show.stepper, "backward needs Tensors"),
        (show.layout, "a layout is shown of a Tensor"),
        (show.flow, "gradients are followed of a Module, or of Tensors"),
        (show.lines, r"show.lines\(\) calls a function"),
    ],
)
def test_what_a_view_cannot_show_is_refused_by_name(view: Callable[..., Any], takes: str, wrong: Any) -> None:
    with pytest.raises(TypeError, match=f"{takes}.*{type(wrong).__name__}"):
        view(wrong)


@pytest.mark.parametrize("item", ["weight", 3, ("weight", 3), ("weight", None)], ids=repr)
def test_gradients_are_followed_of_tensors_only(item: Any) -> None:
    with pytest.raises(TypeError, match="Tensor"):
        show.flow([("bias", tl.ones(2, requires_grad=True)), item])
