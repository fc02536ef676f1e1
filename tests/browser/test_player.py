"""The recorded pass in a page of its own, opened from the disk with no server and no network."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import tensorlab as tl
from tests.browser.instrument import Instrument


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_reader_steps_through_the_file_forward_and_back(browser: Browser, tmp_path: Path, theme: str) -> None:
    tl.manual_seed(0)
    model = tl.nn.Sequential(tl.nn.Linear(3, 5), tl.nn.Tanh(), tl.nn.Linear(5, 4))
    loss = tl.nn.functional.cross_entropy(model(tl.randn(8, 3)), tl.randint(0, 4, (8,)))
    file = tl.show.record(loss, tmp_path / "pass.html", title="loss")
    assert model[0].weight.grad is None
    context = browser.new_context(viewport={"width": 1200, "height": 760}, color_scheme=theme, offline=True)
    page = context.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda line: troubles.append(line.text) if line.type == "error" else None)
    page.on(
        "request",
        lambda request: (
            troubles.append(request.url) if not request.url.startswith(("file:", "data:", "blob:")) else None
        ),
    )
    page.goto(file.as_uri())
    view = Instrument(page.get_by_test_id("tl-stepper"))
    view.is_at(0)
    view.focus()
    for step in (1, 2, 3):
        view.press("F10")
        view.is_at(step)
    expect(view.inspector).to_contain_text("AccumulateGrad")
    view.press("Shift+F10")
    view.is_at(2)
    view.press("F9")
    expect(view.root).to_have_attribute("data-reason", "done")
    view.find("tanh")
    expect(view.inspector).to_contain_text("TanhBackward0")
    page.screenshot(path=Path("artifacts") / "screenshots" / f"player-{theme}.png")
    assert troubles == []
    context.close()
