"""Memory as a still picture and as text: both say the same, and names are text whatever they hold."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

import tensorlab as tl
from tensorlab import nn
from tensorlab.display import held as picture
from tensorlab.observe.memory_holdings import grown
from tensorlab.observe.memory_watch import MemoryWatch

NAME = "<b>ネット</b>"


def recorded(forecast: bool) -> tuple[MemoryWatch, Any]:
    names: dict[str, Any] = {NAME: nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1))}
    watch = MemoryWatch(None, "<script>", lambda: names)
    loss = names[NAME](tl.ones(32, 8)).sum()
    if forecast:
        watch.recorder.detach()
        names["loss"] = loss
        return MemoryWatch(loss, "<script>", lambda: names), names
    loss.backward()
    return watch, names


@pytest.mark.parametrize("forecast", [False, True], ids=["recorded", "foreseen"])
def test_the_picture_and_the_text_say_the_same_and_names_are_text(forecast: bool) -> None:
    watch, _ = recorded(forecast)
    document = watch.document()
    watch.recorder.detach()
    drawn, said = picture.svg(document), picture.text(document)
    root = ElementTree.fromstring(drawn)
    assert "<script>" not in drawn
    assert NAME not in drawn
    written = "".join(root.itertext())
    assert f"{NAME}.0" in written or forecast
    assert f"{NAME}.0.weight" in said or forecast
    assert document.sentence in written
    assert document.sentence in said
    assert len(drawn) < 60_000


def test_a_long_recording_makes_no_long_picture() -> None:
    names: dict[str, Any] = {"net": nn.Sequential(*[nn.Linear(8, 8) for _ in range(30)])}
    watch = MemoryWatch(None, "", lambda: names)
    for _ in range(20):
        names["net"](tl.ones(4, 8)).sum().backward()
    document = watch.document()
    watch.recorder.detach()
    assert len(picture.svg(document)) < 60_000


def test_nothing_recorded_is_a_picture_too() -> None:
    watch = MemoryWatch(None, "", dict, attach=False)
    document = watch.document()
    assert "Nothing is recorded" in picture.text(document)
    assert "nothing is recorded" in "".join(ElementTree.fromstring(picture.svg(document)).itertext())


def test_growth_is_a_picture_and_lines() -> None:
    names: dict[str, Any] = {"kept": []}
    watch = MemoryWatch(None, "", lambda: names)
    before = watch.snapshot()
    names["kept"] += [tl.ones(1000), tl.ones(1000)]
    after = watch.snapshot()
    watch.recorder.detach()
    growth = picture.Growth(before, after, grown(before, after))
    assert "7.8 KiB more (+2 buffers) held by kept[...]" in repr(growth)
    assert "kept[...]" in "".join(ElementTree.fromstring(growth.svg()).itertext())
    same = picture.Growth(after, after, ())
    assert "nothing grew" in repr(same)
    assert set(same._repr_mimebundle_()) == {"image/svg+xml", "text/plain"}
