"""What stays of a notebook: its pictures in a saved file, with no kernel and with no JupyterLab."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.instrument import Instrument
from tests.browser.lab import ARTIFACTS, SHUTDOWN, Notebook

MIME = "application/vnd.tensorlab.graph+json"
SETUP = """
import tensorlab as torch
torch.manual_seed(0)
x = torch.randn(4, 3)
model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2))
loss = (model(x) ** 2).mean()
"""
CELLS = [
    SETUP,
    "loss",
    "model",
    "torch.show.stepper(loss)",
    "x",
    "torch.show.layout(x)",
    "torch.show.flow(model)",
    "torch.show.hooks(model)",
    "%%lines\nh = model[0](x)\nfor i in range(2):\n    h = h * 2",
]


def saved(notebook: Notebook) -> Path:
    """A notebook that was run and saved, as its file."""
    notebook.open(CELLS, name="run.ipynb")
    for cell in range(len(CELLS)):
        notebook.run(cell)
    Instrument(notebook.output(3).get_by_test_id("tl-stepper"))
    notebook.command("docmanager:save")
    return notebook.server.folder / "run.ipynb"


def test_a_saved_notebook_shows_its_pictures_with_no_kernel_and_with_no_jupyterlab(
    notebook: Notebook, context: BrowserContext
) -> None:
    file = saved(notebook)
    shown = [cell.outputs[0].data for cell in nbformat.read(file, as_version=4).cells[1:]]
    for data, text in zip(shown[:2], ["tensor(", "Sequential("], strict=True):
        assert set(data) == {MIME, "image/svg+xml", "text/plain"}
        assert data["text/plain"].startswith(text)
        assert data["image/svg+xml"].startswith("<svg")
    assert {MIME, "image/svg+xml", "text/plain"} < set(shown[2])
    assert set(shown[3]) == {"text/plain"}  # nothing computed x, so there is no graph to show
    notebook.page.evaluate(SHUTDOWN)

    notebook.open(file, name="read.ipynb", kernel=False)
    assert notebook.server.kernels() == []
    loss = Instrument(notebook.output(1).get_by_test_id("tl-graph"))
    loss.click("tanh")
    expect(loss.inspector).to_contain_text("TanhBackward0")
    expect(loss.inspector).to_contain_text("[4, 5]")
    loss.press("Escape", "End", "ArrowUp")
    assert loss.walked_to().startswith("pow, [4, 2] · PowBackward0")
    # Where the stepper was, its graph is drawn as it stood when it was made.
    stood = Instrument(notebook.output(3).get_by_test_id("tl-graph"))
    assert len(stood.rows()) == len(loss.rows())
    stood.find("tanh")
    expect(stood.inspector).to_contain_text("model.1")
    expect(notebook.output(3)).not_to_contain_text("Loading")
    # A view without a document of its own is open again, with what was kept of its answers.
    layout = notebook.output(5).get_by_test_id("tl-layout")
    layout.scroll_into_view_if_needed()
    layout.locator("td[data-row='1'][data-column='2']").click()
    expect(layout).to_have_attribute("data-element", "5")
    layout.get_by_test_id("tl-refresh").click()
    expect(layout.get_by_test_id("tl-error")).to_contain_text("no kernel to ask")
    for cell, testid, words in ((6, "tl-flow", "0.weight"), (7, "tl-hooks", "hooks"), (8, "tl-lines", "h = h * 2")):
        view = notebook.output(cell).get_by_test_id(testid)
        view.scroll_into_view_if_needed()
        expect(view).to_contain_text(words)
    stood.page.evaluate("() => document.activeElement.blur()")
    notebook.screenshot("saved-stepper", stood.root)
    model = Instrument(notebook.output(2).get_by_test_id("tl-graph"))
    assert "Linear" in model.rows()[1]["text"]

    page = exported(file, context)
    drawings = page.locator('[data-mime-type="image/svg+xml"] img')
    expect(drawings).to_have_count(7)
    for width in drawings.evaluate_all("images => images.map(image => image.naturalWidth)"):
        assert width > 150
    expect(page.locator("body")).to_contain_text("tensor([[")
    page.screenshot(path=ARTIFACTS / "screenshots" / "export.png", full_page=True)
    page.close()


def test_a_live_view_comes_back_with_a_page_whose_kernel_still_runs_and_its_graph_where_another_does(
    notebook: Notebook,
) -> None:
    file = saved(notebook)
    live = Instrument(notebook.output(3).get_by_test_id("tl-stepper"))
    live.press("F10", "F10")
    live.is_at(2)
    expect(notebook.output(3).get_by_test_id("tl-graph")).to_have_count(0)
    notebook.command("docmanager:save")
    notebook.page.reload()
    notebook.ready()
    again = Instrument(notebook.output(3).get_by_test_id("tl-stepper"))
    again.is_at(2)
    again.press("F10")
    again.is_at(3)
    notebook.page.evaluate(SHUTDOWN)
    notebook.open(file, name="other.ipynb")
    stood = Instrument(notebook.output(3).get_by_test_id("tl-graph"))
    stood.find("tanh")
    expect(notebook.output(3).get_by_test_id("tl-stepper")).to_have_count(0)


def exported(file: Path, context: BrowserContext) -> Page:
    """The notebook as a page of HTML, opened where there is no network and no script."""
    command = [sys.executable, "-m", "nbconvert", "--to", "html", str(file), "--output", "export.html"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    page = context.new_page()
    page.route("**/*", lambda route: route.continue_() if route.request.url.startswith("file:") else route.abort())
    page.goto(file.with_name("export.html").as_uri())
    return page
