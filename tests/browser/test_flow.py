"""Gradient flow in a page: it follows a training loop, calls out what goes wrong, holds, and ends."""

from __future__ import annotations

import re

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


def opened(notebook: Notebook, code: str = SETUP) -> Locator:
    notebook.open([code])
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
    notebook.page.keyboard.press("n")
    expect(view.get_by_test_id("tl-flow-detail")).to_contain_text("0.weight [8, 2]: vanished")
    expect(view.get_by_test_id("tl-ridge").get_by_role("img")).to_have_accessible_name(re.compile("now above"))
    notebook.page.keyboard.press(" ")
    expect(view).to_have_attribute("data-held", "true")
    notebook.tell("train(2)", beside=True)
    notebook.page.wait_for_timeout(1200)
    assert view.get_attribute("data-step") == "37"
    notebook.page.keyboard.press(" ")
    expect(view).to_have_attribute("data-step", "39")
    notebook.tell("model[2] = torch.nn.Linear(8, 3); y = torch.randn(16, 3)", beside=True)
    notebook.tell(
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.01); view.recorder._learn_due = 0.0; train(3)",
        beside=True,
    )
    expect(view.locator('.tl-finding[data-name="2.weight"]')).to_contain_text("another tensor took its place")
    expect(view.locator('tr[data-name="2.bias"]')).to_contain_text("changed")
    notebook.tell("view.detach()", beside=True)
    expect(view.get_by_test_id("tl-status")).to_contain_text("ended")


MANY = """
import tensorlab as torch
pairs = [(f"layers.{i // 2}.{'weight' if i % 2 == 0 else 'bias'}", torch.zeros(4, requires_grad=True)) for i in range(1000)]
view = torch.show.flow(pairs)
def train(steps, value=1.0):
    for step in range(steps):
        for i, (_, p) in enumerate(pairs):
            p.grad = torch.full((4,), value * 1.01**i)
        view.note()
view
"""


def test_a_thousand_parameters_are_followed_and_nan_everywhere_is_one_finding(notebook: Notebook) -> None:
    view = opened(notebook, MANY)
    notebook.tell("train(200)", beside=True)
    expect(view).to_have_attribute("data-step", "199")
    notebook.page.keyboard.press("Tab")
    view.locator("tr[data-at]").first.click()
    notebook.page.keyboard.press("m")
    expect(view.get_by_test_id("tl-flow-detail")).to_contain_text("layers.499.bias")
    expect(view.locator('tr[data-at="999"]')).to_be_in_viewport()
    notebook.tell("train(3, float('nan'))", beside=True)
    finding = view.locator(".tl-finding")
    expect(finding).to_have_count(1)
    expect(finding).to_contain_text("layers.0.weight and 999 more")
    notebook.screenshot("flow-thousand", view)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_picture_fits_at_every_width_in_both_themes(notebook: Notebook, theme: str) -> None:
    view = opened(notebook)
    notebook.theme(theme)
    notebook.tell("import time\nfor _ in range(6): train(10); time.sleep(0.06)\ntrain(8, spoil=1e-9)", beside=True)
    expect(view).to_have_attribute("data-step", "67")
    view.locator('tr[data-name="2.weight"]').click()
    expect(view.get_by_test_id("tl-ridge")).to_be_visible()
    for width in (1536, 916, 640):  # the view is 1100, 480 and 268 wide
        notebook.page.set_viewport_size({"width": width, "height": 1500})
        assert view.evaluate("root => root.scrollWidth <= root.clientWidth + 1")
        notebook.screenshot(f"flow-{theme}-{width - 436 if width > 700 else 268}", view)
