"""Two models and two graphs compared in a page: walked by keys and by mouse, with pictures of both."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Notebook

SETUP = """
import tensorlab as torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
before = torch.show.step(model)
with torch.no_grad():
    model[2].weight.mul_(1.5)
model[1] = torch.nn.ReLU()
torch.show.compare(before, model)
"""
GRAPHS = """
x = torch.randn(4, 3)
a = model(x).sum()
b = model(x).relu().sum()
torch.show.compare(a, b)
"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_differences_are_walked_and_both_graphs_are_drawn(notebook: Notebook, theme: str) -> None:
    notebook.open([SETUP, GRAPHS])
    notebook.theme(theme)
    view = notebook.run(0).get_by_test_id("tl-compare").first
    expect(view.get_by_test_id("tl-sentence")).to_contain_text("2 changed")
    rows = view.get_by_test_id("tl-differences")
    expect(rows.locator('[data-status="changed"][aria-expanded]').first).to_be_visible()
    rows.focus()
    notebook.page.keyboard.press("Home")
    notebook.page.keyboard.press("n")
    expect(view.get_by_test_id("tl-inspector")).to_contain_text("Tanh() became ReLU()")
    notebook.page.keyboard.press("n")
    expect(view.get_by_test_id("tl-inspector")).to_contain_text("value changed by 50 %")
    notebook.page.keyboard.press("n")
    expect(view.get_by_test_id("tl-sentence")).to_contain_text("That was the last difference")
    notebook.page.keyboard.press("a")
    expect(rows.locator('[data-status="same"]').first).to_be_visible()
    graphs = notebook.run(1).get_by_test_id("tl-compare").first
    expect(graphs.get_by_test_id("tl-sentence")).to_contain_text("1 added")
    graphs.get_by_test_id("tl-merged").click()
    expect(graphs.get_by_test_id("tl-graph")).to_have_count(1)
    expect(graphs.get_by_test_id("tl-tree")).to_contain_text("+ relu")
    graphs.get_by_test_id("tl-both").click()
    expect(graphs.get_by_test_id("tl-graph")).to_have_count(2)
    notebook.screenshot(f"compare-{theme}", graphs)
    for width in (1400, 1000):
        notebook.page.set_viewport_size({"width": width, "height": 1500})
        notebook.page.wait_for_timeout(200)
        assert graphs.evaluate("root => root.scrollWidth <= root.clientWidth + 1")
