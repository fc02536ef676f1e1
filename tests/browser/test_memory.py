"""Memory in a page: a curve while a model trains, what stood at the peak and at any moment, who holds it, and what grew."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from tests.browser.lab import Notebook

SETUP = """
import tensorlab as torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.Tanh(), torch.nn.Linear(256, 1))
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(128, 64)
history = []
def step():
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    history.append(torch.ones(4096))
"""
VIEW = """
view = torch.show.memory()
view
"""


def opened(notebook: Notebook) -> Locator:
    notebook.open([SETUP, VIEW])
    notebook.run(0)
    notebook.run(1)
    view = notebook.output(1).get_by_test_id("tl-memory").first
    view.wait_for()
    view.scroll_into_view_if_needed()
    expect(view).not_to_have_attribute("data-painted", "0")
    return view


def trained(notebook: Notebook, view: Locator) -> None:
    """Two steps, a mark, two more, and the view at rest."""
    notebook.tell("step(); step()", beside=True)
    expect(view.get_by_test_id("tl-sentence")).to_contain_text("The peak was")
    expect(view.locator('.tl-blocks tr[data-name="model.2.weight"]')).to_have_count(1)
    view.get_by_test_id("tl-mark").click()
    expect(view.get_by_test_id("tl-growth")).to_contain_text("Nothing")
    notebook.tell("step(); step()", beside=True)
    expect(view.get_by_test_id("tl-growth")).to_contain_text("32.0 KiB")


def test_memory_is_followed_explained_scrubbed_and_compared(notebook: Notebook) -> None:
    view = opened(notebook)
    page = notebook.page
    expect(view.get_by_test_id("tl-sentence")).to_contain_text("nothing has run since the recording began")
    trained(notebook, view)
    grown = view.get_by_test_id("tl-growth")
    expect(grown).to_contain_text("+2 buffers, held by history[...]")
    expect(grown).to_contain_text("in cell [1], line 12")
    peak = notebook.ask("view.watch.recorder.peak")
    assert view.get_attribute("data-peak") == str(peak)
    assert notebook.ask("sum(share.bytes for share in view.document.modules) == view.document.curve.peak") is True
    assert notebook.ask("view.document.curve.now == torch.cpu.memory_allocated()") is True

    view.locator('.tl-blocks tr[data-name="model.2.weight"]').click()
    detail = view.get_by_test_id("tl-block-detail")
    expect(detail).to_contain_text("stays with the model")
    page.keyboard.press("ArrowDown")  # from here on by keys
    expect(detail).not_to_contain_text("stays with the model")
    page.keyboard.press("s")
    expect(view.locator('th[aria-sort="ascending"]')).to_contain_text("what")
    view.get_by_role("slider").focus()
    page.keyboard.press("ArrowLeft")
    expect(view.get_by_test_id("tl-moment")).to_have_text(re.compile("^Moment [0-9]+ of"))
    page.keyboard.press("p")
    expect(view.get_by_test_id("tl-moment")).to_contain_text("The peak:")
    page.keyboard.press("r")
    expect(view).to_have_attribute("data-attached", "false")
    assert notebook.ask("len(torch.taps.ops)") == 0

    graph = notebook.run_code("loss = model(x).pow(2).mean()\ntorch.show.memory(loss)").get_by_test_id("tl-memory")
    expect(graph.get_by_test_id("tl-sentence")).to_contain_text("Backward from loss")
    expect(graph.get_by_test_id("tl-blocks")).to_contain_text("TanhBackward0")


def test_the_picture_fits_at_every_width_in_both_themes(notebook: Notebook) -> None:
    view = opened(notebook)
    trained(notebook, view)
    view.locator(".tl-blocks tbody tr").first.click()
    for theme in ("light", "dark"):
        notebook.theme(theme)
        for width in (1100, 480):
            notebook.page.set_viewport_size({"width": width + 500, "height": 1400})
            view.evaluate("(root, width) => { root.style.width = `${width}px`; }", width)
            assert view.evaluate("root => root.scrollWidth <= root.clientWidth + 1")
            notebook.screenshot(f"memory-{theme}-{width}", view)
