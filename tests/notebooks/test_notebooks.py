"""Every lesson runs from start to end, and is useful on a page that runs nothing."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

REPOSITORY = Path(__file__).parents[2]
LESSONS = sorted((REPOSITORY / "notebooks").rglob("[0-9]*.ipynb"))
EXECUTED = REPOSITORY / "artifacts" / "notebooks"
STILL = ("image/svg+xml", "image/png", "text/html")
WIDGET = "application/vnd.jupyter.widget-view+json"

pytestmark = pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)


def outputs(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Everything that the cells of a notebook show."""
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


@pytest.fixture
def kernel_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The kernel sees this tree's packages and nobody's settings."""
    tree = [str(REPOSITORY), str(REPOSITORY / "widgets"), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(tree))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")


@pytest.mark.usefixtures("kernel_environment")
def test_every_cell_of_the_lesson_runs(lesson: Path) -> None:
    notebook = nbformat.read(lesson, as_version=4)
    resources = {"metadata": {"path": str(lesson.parent)}}
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources)
    # On a thread of its own, since a browser test before this one may hold this thread's event loop.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(client.execute).result()
    EXECUTED.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, EXECUTED / lesson.name)


def test_the_saved_lesson_holds_its_outputs_and_no_error(lesson: Path) -> None:
    notebook = nbformat.read(lesson, as_version=4)
    shown = outputs(notebook)
    assert shown, "saved without outputs: a reader who runs nothing sees nothing"
    assert [output for output in shown if output.output_type == "error"] == []
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    assert counts == list(range(1, len(counts) + 1)), "saved after cells were run out of order, or not at all"


def test_every_saved_display_also_has_a_still_form(lesson: Path) -> None:
    for output in outputs(nbformat.read(lesson, as_version=4)):
        kinds = set(output.get("data", {}))
        if kinds - {"text/plain"}:
            assert kinds & {*STILL, "text/markdown", "text/latex"}, f"only a live page can show {sorted(kinds)}"


def test_the_saved_lesson_is_small_and_names_no_file_of_a_kernel(lesson: Path) -> None:
    text = lesson.read_text(encoding="utf-8")
    assert len(text) <= 300_000
    assert "/ipykernel_" not in text
