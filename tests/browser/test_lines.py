"""A cell line by line in a page: the line lit, what it makes appearing, values beside it, and the record when nothing runs any more."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import SHUTDOWN, Notebook

SETUP = """
import tensorlab as torch
torch.manual_seed(0)
class Block(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.norm = torch.nn.LayerNorm(size)
        self.linear = torch.nn.Linear(size, size)

    def forward(self, x):
        h = self.norm(x)
        h = torch.relu(self.linear(h))
        return x + h

block = Block(6)

def scaled(x, by):
    if by > 1:
        x = x * by
    return x
"""
CELL = """%%lines
x = torch.randn(8, 6)
target = torch.ones(8)
for i in range(3):
    x = scaled(block(x), i)
    print("round", i)
score = x.mean(dim=1)
loss = ((score - target) ** 2).mean()
loss"""
FAULT = """%%lines
y = torch.ones(3)
for k in range(5):
    y = y * 2
    if k == 2:
        y.view(7)
"""


def lines(output: Locator) -> Locator:
    """The view in the outputs of a cell, painted."""
    view = output.get_by_test_id("tl-lines").first
    view.wait_for()
    view.scroll_into_view_if_needed()
    expect(view).not_to_have_attribute("data-painted", "0")
    return view


def test_a_cell_is_walked_through_line_by_line(notebook: Notebook) -> None:
    notebook.open([SETUP, CELL, FAULT])
    notebook.run(0)
    output = notebook.run(1)
    view, page = lines(output), notebook.page
    assert notebook.ask("round(loss.item(), 6) == round(_.item(), 6)")  # it ran as always: values, prints, the result
    expect(output.filter(has_text="round 2").first).to_be_visible()
    expect(view.get_by_test_id("tl-sentence")).to_contain_text("made")
    lit, status = view.locator(".tl-lit"), view.get_by_test_id("tl-status")
    view.focus()
    view.get_by_test_id("tl-first").click()
    expect(view).to_have_attribute("data-line", "2")
    expect(lit).to_contain_text("x = torch.randn(8, 6)")
    value = view.get_by_test_id("tl-value").first
    expect(value.locator(".tl-cell")).to_have_count(48)
    made = int(view.get_attribute("data-made") or 0)
    for line in ("3", "4", "5", "5", "6", "4"):
        page.keyboard.press("F10")
        expect(view).to_have_attribute("data-line", line)
    assert int(view.get_attribute("data-made") or 0) > made
    page.keyboard.press("Shift+F10")
    expect(view).to_have_attribute("data-line", "6")
    expect(view.get_by_test_id("tl-inspector")).to_contain_text("round 0")
    page.keyboard.press("F10")
    page.keyboard.press("F10")
    expect(lit).to_contain_text("×2")
    page.keyboard.press("F11")
    expect(view.get_by_test_id("tl-calls")).to_contain_text("forward")
    expect(lit).to_contain_text("h = self.norm(x)")
    page.keyboard.press("Shift+F11")
    expect(view).to_have_attribute("data-depth", "0")
    # A node that is picked lights the line that made it.
    tree = view.get_by_test_id("tl-tree")
    tree.focus()
    page.keyboard.press("/")
    page.keyboard.type("score")
    page.keyboard.press("Enter")
    expect(lit).to_contain_text("score = x.mean(dim=1)")
    # The scrubber goes everywhere.
    view.get_by_test_id("tl-scrubber").focus()
    page.keyboard.press("Home")
    expect(status).to_contain_text("step 1 of")
    page.keyboard.press("End")
    expect(lit).to_contain_text("loss")

    failed = lines(notebook.run(2))
    expect(notebook.output(2).filter(has_text=re.compile("RuntimeError.*Traceback", re.S)).first).to_be_visible()
    expect(failed).to_have_attribute("data-line", "6")
    expect(failed.locator(".tl-raised")).to_contain_text("y.view(7)")
    expect(failed.get_by_test_id("tl-sentence")).to_contain_text("ended in line 6 with RuntimeError")
    assert notebook.ask("__import__('sys').gettrace() is None")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_at_every_width_and_stays_in_the_file(notebook: Notebook, theme: str) -> None:
    notebook.open([SETUP, CELL], name="lines.ipynb")
    notebook.theme(theme)
    notebook.run(0)
    view = lines(notebook.run(1))
    notebook.page.keyboard.press("Escape")
    for width in (1530, 1250, 900):
        notebook.page.set_viewport_size({"width": width, "height": 1100})
        view.scroll_into_view_if_needed()
        view.focus()
        view.locator('.tl-line[data-line="7"]').click()
        expect(view.locator(".tl-lit")).to_contain_text("score")
        assert view.evaluate("root => root.scrollWidth <= root.clientWidth + 1")
        expect(view.get_by_test_id("tl-value").first.locator(".tl-array")).to_be_visible()
        notebook.screenshot(f"lines-{theme}-{width}", view)
        notebook.page.keyboard.press("n")
    notebook.page.set_viewport_size({"width": 1400, "height": 900})
    notebook.command("docmanager:save")
    file: Path = notebook.server.folder / "lines.ipynb"
    notebook.page.evaluate(SHUTDOWN)
    notebook.open(file, name="read.ipynb", kernel=False)
    again = lines(notebook.output(1))
    again.focus()
    again.get_by_test_id("tl-first").click()
    expect(again.locator(".tl-lit")).to_contain_text("x = torch.randn(8, 6)")
    expect(again.locator(".tl-small-heat").first).to_be_visible()
    notebook.screenshot(f"lines-saved-{theme}", again)
