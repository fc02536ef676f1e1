"""Gradient flow in a page: it follows a training loop, calls out what goes wrong, holds, and ends."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import Notebook

SETUP = """
import tensorlab as torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(16, 2), torch.randn(16, 1)
view = torch.show.flow(model)
def train(steps, spoil=1.0):
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        model[0].weight.grad.mul_(spoil)
        view.log(loss)
        optimizer.step()
view
"""


def opened(notebook: Notebook) -> Locator:
    notebook.open([SETUP])
    notebook.run(0)
    view = notebook.output(0).get_by_test_id("tl-flow").first
    view.wait_for()
    view.scroll_into_view_if_needed()
    expect(view).not_to_have_attribute("data-painted", "0")
    return view


def test_training_is_followed_while_it_runs_and_what_goes_wrong_is_called_out(notebook: Notebook) -> None:
    view = opened(notebook)
    expect(view.get_by_test_id("tl-sentence")).to_contain_text("No optimizer step")
    notebook.tell("train(30)", beside=True)
    expect(view).to_have_attribute("data-step", "29")
    expect(view.get_by_test_id("tl-findings")).to_contain_text("Nothing.")
    notebook.tell("train(8, spoil=1e-9)", beside=True)
    finding = view.locator('.tl-finding[data-name="0.weight"]')
    expect(finding).to_contain_text("vanished since step 30")
    view.locator('tr[data-name="2.bias"]').click()
    expect(view.get_by_test_id("tl-flow-detail")).to_contain_text("last update")
    notebook.page.keyboard.press("ArrowUp")
    expect(view.get_by_test_id("tl-flow-detail")).to_contain_text("2.weight")
    notebook.page.keyboard.press(" ")
    expect(view).to_have_attribute("data-held", "true")
    notebook.tell("train(2)", beside=True)
    notebook.page.wait_for_timeout(1200)
    assert view.get_attribute("data-step") == "37"
    notebook.page.keyboard.press(" ")
    expect(view).to_have_attribute("data-step", "39")
    notebook.tell("view.detach()", beside=True)
    expect(view.get_by_test_id("tl-status")).to_contain_text("ended")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_picture_fits_at_every_width_in_both_themes(notebook: Notebook, theme: str) -> None:
    view = opened(notebook)
    notebook.theme(theme)
    notebook.tell("train(60); train(8, spoil=1e-9)", beside=True)
    expect(view).to_have_attribute("data-step", "67")
    for width in (1400, 900, 640):
        notebook.page.set_viewport_size({"width": width, "height": 1000})
        assert view.evaluate("root => root.scrollWidth <= root.clientWidth + 1")
        notebook.screenshot(f"flow-{theme}-{width}", view)
