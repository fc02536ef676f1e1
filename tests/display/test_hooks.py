"""Hooks as a still picture and as text: both say the same, and names are text whatever they hold."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

import tensorlab as tl
from tensorlab import nn
from tensorlab.display import hooks as picture
from tensorlab.observe.hook_viewer import HookViewer


def watched(title: str) -> HookViewer:
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(2 * 36, 2))
    names: dict[str, Any] = {"<b>ネット</b>": net}

    def hook(module: Any, args: Any, out: Any) -> None:
        print("</svg><script>alert(1)</script>\x00\n")

    hook.__qualname__ = "<i>हुक</i>"
    net[0].register_forward_hook(hook)
    net[0].register_forward_hook(hook)
    net[2].weight.register_hook(lambda g: g * 2)
    viewer = HookViewer(net, title, lambda: names)
    viewer.net = net  # type: ignore[attr-defined]
    return viewer


@pytest.mark.parametrize("run", [False, True], ids=["before anything ran", "after a pass"])
def test_the_picture_and_the_text_say_the_same_and_names_are_text(run: bool) -> None:
    viewer = watched("<b>ネット</b>")
    if run:
        viewer.net(tl.randn(2, 1, 8, 8)).sum().backward()  # type: ignore[attr-defined]
    document = viewer.document()
    viewer.recorder.detach()
    drawn, said = picture.svg(document), picture.text(document)
    root = ElementTree.fromstring(drawn)
    assert "<script>" not in drawn
    assert "<i>" not in drawn
    written = "".join(root.itertext())
    for words in ("<i>हुक</i>", "is registered twice"):
        assert words in written
        assert words in said
    assert ("before <b>ネット</b>.2.weight.grad" in said) is run
    assert all(c.isprintable() or c == "\n" for c in said)


def test_no_hooks_are_a_picture_too() -> None:
    net = nn.Linear(1, 1)
    viewer = HookViewer(net, "net", dict)
    viewer.recorder.detach()
    document = viewer.document()
    assert "There are no hooks of net" in picture.text(document)
    assert "no hooks" in "".join(ElementTree.fromstring(picture.svg(document)).itertext())


def test_a_picture_of_many_hooks_stays_small() -> None:
    net = nn.Sequential(*[nn.Linear(2, 2) for _ in range(300)])
    for number, part in enumerate(net):
        exec("\n" * number + "part.register_forward_hook(lambda *given: None)", {"part": part})
    viewer = HookViewer(net, "net", dict)
    net(tl.ones(1, 2))
    document = viewer.document()
    viewer.recorder.detach()
    assert len(picture.svg(document)) < 60_000
    assert (len(document.hooks), document.unlisted) == (200, 100)
