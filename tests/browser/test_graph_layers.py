"""The graph view's layers: forward and backward, storages, numbers, freed nodes, and the way between nodes and code."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.instrument import Instrument
from tests.browser.lab import Notebook

SETUP = """
import tensorlab as torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
x, target = torch.randn(64, 3), torch.randn(64)
"""
FORWARD = """
with torch.show.timed():
    hidden = model[:2](x)
    prediction = model[2](hidden)
    loss = ((prediction - target) ** 2).mean()
"""


# The parts that reach past the right border of a view.
TOO_WIDE = """root => root.scrollWidth <= root.clientWidth + 1 ? [] : [...root.querySelectorAll('*')]
  .filter(part => part.getBoundingClientRect().right > root.getBoundingClientRect().right + 1)
  .map(part => `${part.className} ${Math.round(part.getBoundingClientRect().right - root.getBoundingClientRect().right)}`)"""


def opened(notebook: Notebook, *more: str) -> Instrument:
    notebook.open([SETUP, FORWARD, "torch.show.graph(loss)", *more])
    for cell in range(3):
        notebook.run(cell)
    return Instrument(notebook.output(2).get_by_test_id("tl-graph"))


def texts(view: Instrument) -> str:
    return "\n".join(row["text"] for row in view.rows())


def test_layers_storages_numbers_and_freed_nodes_by_mouse_and_by_keys(notebook: Notebook) -> None:
    view = opened(notebook, "loss.backward()")
    assert "hidden = tanh, [64, 8] · TanhBackward0" in texts(view)
    view.get("tl-layer-forward").click()
    assert "prediction = linear, [64, 1]" in texts(view)
    assert "TanhBackward0" not in texts(view)
    view.press("l")
    assert "TanhBackward0, [64, 8] · hidden" in texts(view)
    view.press("l", "s")
    assert "hidden, 2.0 KiB · [64, 8], kept by 2" in texts(view)
    view.find("hidden 2.0 KiB")
    expect(view.inspector).to_contain_text("kept 2 times and counted once")
    expect(view.inspector).to_contain_text("mean")
    view.get("tl-overlay").select_option("norm")
    view.says("Each box shows its gradient norm", "One backward pass of")
    assert "‖g‖ 1.0" in texts(view)
    assert notebook.ask("model[0].weight.grad is None") is True
    view.get("tl-overlay").select_option("forward")
    assert "µs" in texts(view) or " ms" in texts(view)
    view.find("sub")
    expect(view.inspector.get_by_test_id("tl-stretched")).to_contain_text(
        "Check: [64, 1] is repeated 64 times along dim 1"
    )
    view.press("Escape", "Escape")
    expect(view.get("tl-kept")).to_contain_text("16.0 KiB")
    notebook.run(3)
    view.focus()
    view.press("r")
    view.says("loss.backward() in cell 4, line 1 has freed what")
    assert {row["state"] for row in view.rows() if "tanh" in row["text"]} == {"freed"}
    view.find("pow")
    expect(view.inspector).to_contain_text("Freed by cell 4, line 1")


def test_a_node_leads_to_its_line_and_a_line_to_its_nodes(notebook: Notebook) -> None:
    view = opened(notebook)
    view.find("prediction =")
    view.get("tl-open-code").first.click()
    lit = notebook.page.locator(".cm-line.tl-lit")
    expect(lit).to_have_text("    prediction = model[2](hidden)")
    assert notebook.page.evaluate("window.notebookPanel.content.activeCellIndex") == 1
    notebook.run(1)  # the cell has another number now, and its nodes other ids: the line is still found by its code
    view.focus()
    view.find("pow")
    view.get("tl-open-code").first.click()
    expect(lit).to_contain_text("loss = ((prediction")
    notebook.run(2)
    again = Instrument(notebook.output(2).get_by_test_id("tl-graph"))
    line = notebook.cells.nth(1).locator(".cm-line", has_text="prediction = model")
    line.click()
    notebook.page.keyboard.press("Alt+Shift+N")
    again.says("1 node made by cell 4, line 3")
    expect(again.inspector).to_contain_text("prediction")
    notebook.cells.nth(0).locator(".cm-line").last.click()
    notebook.page.keyboard.press("Alt+Shift+N")
    expect(notebook.page.locator(".Toastify__toast")).to_contain_text("No graph in this notebook shows a node")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_picture_fits_at_every_width_in_both_themes(notebook: Notebook, theme: str) -> None:
    view = opened(notebook)
    notebook.theme(theme)
    for name, keys in {"both": [], "stored": ["s", "o"]}.items():
        view.press(*keys)
        view.press("0")
        for width in (1400, 1000, 640):
            notebook.page.set_viewport_size({"width": width, "height": 1500})
            notebook.page.wait_for_timeout(300)
            assert view.root.evaluate(TOO_WIDE) == []
            notebook.screenshot(f"graph-{name}-{theme}-{width}", view.root)
