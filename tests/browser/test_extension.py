"""The JupyterLab extension: graph documents drawn from notebook files, and the command for the selected cell."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
from playwright.sync_api import Locator, expect

from tests.browser.lab import Notebook

COMMAND = "Show graph of the selected cell's result"
MIME = "application/vnd.tensorlab.graph+json"
LOSS = """
import tensorlab as tl
w = tl.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
loss = (w * w).sum()
loss
"""


def drawn(where: Locator) -> Locator:
    """The pictures of graphs under an element."""
    return where.get_by_test_id("tl-graph")


def warning(notebook: Notebook) -> Locator:
    """The message that JupyterLab shows in its corner."""
    return notebook.page.locator(".Toastify__toast")


def saved(tmp_path: Path, *bundles: dict[str, object]) -> Path:
    """A notebook file with a cell for each bundle, that was run and showed it."""
    cells = [
        nbformat.v4.new_code_cell(
            "loss",
            execution_count=count,
            outputs=[nbformat.v4.new_output("execute_result", data=bundle, execution_count=count)],
        )
        for count, bundle in enumerate(bundles, start=1)
    ]
    path = tmp_path / "saved.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def test_a_tensor_on_the_last_line_of_a_cell_is_drawn_as_its_graph(notebook: Notebook) -> None:
    notebook.open([LOSS])
    output = notebook.run(0)
    expect(drawn(output).get_by_test_id("tl-canvas")).to_be_visible()


def test_a_saved_notebook_shows_its_graph_without_a_kernel(notebook: Notebook, tmp_path: Path) -> None:
    notebook.open([LOSS, f"import json\nprint(json.dumps(get_ipython().display_formatter.format(loss)[0]['{MIME}']))"])
    notebook.run(0)
    document = notebook.run(1).inner_text()
    notebook.command("kernelmenu:shutdown")
    notebook.open(saved(tmp_path, {MIME: json.loads(document)}), name="saved.ipynb", kernel=False)
    assert notebook.server.kernels() == []
    expect(drawn(notebook.output(0)).get_by_test_id("tl-canvas")).to_be_visible()


def test_a_document_that_cannot_be_drawn_says_so_as_text(notebook: Notebook, tmp_path: Path) -> None:
    sentences = {
        "This graph is written as tensorlab.graph/99; this tensorlab reads": {"schema": "tensorlab.graph/99"},
        "it holds none": {},
        "This graph could not be drawn": {"schema": "tensorlab.graph/1", "nodes": 3},
        "written as <img src=x onerror=alert(1)>": {"schema": "<img src=x onerror=alert(1)>"},
    }
    notebook.open(saved(tmp_path, *({MIME: document} for document in sentences.values())), kernel=False)
    for cell, sentence in enumerate(sentences):
        error = notebook.output(cell).get_by_test_id("tl-error")
        expect(error).to_contain_text(sentence)
        expect(error.locator("img")).to_have_count(0)


def test_the_command_draws_the_selected_cells_result_beside_the_notebook(notebook: Notebook) -> None:
    notebook.open([LOSS])
    notebook.run(0)
    notebook.palette(COMMAND)
    panel = notebook.page.locator(".tl-GraphPanel")
    expect(drawn(panel).get_by_test_id("tl-canvas")).to_be_visible()
    assert notebook.ask("get_ipython().execution_count") == 2  # the question left no trace in the history
    assert notebook.ask("'result_of_cell' in globals()") is False


def test_asking_again_draws_in_the_same_panel(notebook: Notebook) -> None:
    notebook.open([LOSS])
    for count in ("[1]", "[2]"):
        notebook.run(0)
        notebook.command("tensorlab:show-graph")
        title = notebook.page.locator(".lm-TabBar-tabLabel", has_text="Graph of")
        expect(title).to_have_text(f"Graph of {count}")
    expect(notebook.page.locator(".tl-GraphPanel")).to_have_count(1)


def test_a_cell_that_shows_nothing_is_about_the_tensor_of_its_last_statement(notebook: Notebook) -> None:
    notebook.open([LOSS, "loss = loss * 1", "loss.backward(retain_graph=True)", "loss;"])
    notebook.run(0)
    for cell in (1, 2, 3):
        notebook.run(cell)
        notebook.command("tensorlab:show-graph")
        expect(notebook.page.get_by_role("tab", name=f"Graph of [{cell + 1}]")).to_be_visible()
    expect(drawn(notebook.page.locator(".tl-GraphPanel"))).to_have_count(3)


def test_a_cell_without_a_graph_gives_a_sentence(notebook: Notebook) -> None:
    sentences = {
        "'no <b>tensor</b>'": "no computation graph to show; it ended with 'no <b>tensor</b>'",
        "for i in range(3):\n    pass": "ended without a value",
        "import tensorlab as tl\ntl.tensor([1.0])": "has no computation graph to show",
    }
    notebook.open(list(sentences))
    for cell, sentence in enumerate(sentences.values()):
        notebook.run(cell)
        notebook.command("tensorlab:show-graph")
        expect(warning(notebook).filter(has_text=f"ell [{cell + 1}]")).to_contain_text(sentence)
    expect(notebook.page.locator(".tl-GraphPanel")).to_have_count(0)


def test_what_is_missing_is_named(notebook: Notebook) -> None:
    notebook.open(["x = 1", "x"])
    notebook.command("tensorlab:show-graph")
    expect(warning(notebook)).to_contain_text("Run this cell first")


def test_a_cell_edited_after_its_run_is_not_answered_with_the_old_result(notebook: Notebook) -> None:
    notebook.open([LOSS])
    notebook.run(0)
    notebook.page.evaluate("() => window.notebookPanel.content.activeCell.model.sharedModel.setSource('other')")
    notebook.command("tensorlab:show-graph")
    expect(warning(notebook)).to_contain_text("has not run the cell as it now stands")


def test_without_a_kernel_the_command_says_so(notebook: Notebook, tmp_path: Path) -> None:
    notebook.open(saved(tmp_path, {"text/plain": "3"}), kernel=False)
    notebook.command("tensorlab:show-graph")
    expect(warning(notebook)).to_contain_text("has no kernel")


def test_without_a_notebook_the_command_says_so(notebook: Notebook) -> None:
    notebook.open(["1"])
    notebook.page.goto(f"{notebook.server.url}/lab?reset&token={notebook.server.token}")
    notebook.page.wait_for_function("() => window.jupyterapp?.shell")
    notebook.page.evaluate("async () => { await window.jupyterapp.restored; }")
    notebook.command("tensorlab:show-graph")
    expect(warning(notebook)).to_contain_text("Open a notebook")
