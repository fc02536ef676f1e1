"""The driver itself: what the other browser tests stand on."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Notebook
from tests.browser.server import Server


def test_a_cell_runs_and_the_kernel_tells_what_it_did(notebook: Notebook) -> None:
    notebook.open(["x = 20 + 1\nx * 2"])
    expect(notebook.run(0)).to_have_text("42")
    assert notebook.ask("x") == 21
    notebook.tell("x = 5")
    assert notebook.ask("[x, {'a': None}]") == [5, {"a": None}]


def test_the_kernel_answers_beside_a_running_cell_and_can_be_interrupted(notebook: Notebook) -> None:
    notebook.open(["import time\ni = 0\nwhile True:\n    i += 1\n    time.sleep(0.01)"])
    notebook.run(0, wait=False)
    notebook.page.wait_for_timeout(300)
    first = notebook.ask("i", beside=True)
    assert isinstance(first, int)
    assert first > 0
    assert notebook.is_running(0)
    notebook.interrupt()
    notebook.wait_until_done(0)
    expect(notebook.output(0)).to_contain_text("KeyboardInterrupt")


def test_a_cell_that_fails_makes_run_all_fail_with_its_message(notebook: Notebook) -> None:
    notebook.open(["1 + 1", "raise ValueError('too tall')"])
    with pytest.raises(AssertionError, match="cell 1.*too tall"):
        notebook.run_all()


def test_a_kernel_ends_with_its_page(notebook: Notebook, server: Server) -> None:
    notebook.open(["1"])
    assert len(server.kernels()) == 1
    notebook.close()
    assert server.kernels() == []


def test_an_uncaught_error_in_the_page_is_seen(notebook: Notebook) -> None:
    notebook.open(["1"])
    notebook.page.evaluate("setTimeout(() => { throw new Error('broken view'); }, 0)")
    notebook.page.wait_for_timeout(100)
    assert len(notebook.troubles) == 1
    assert "broken view" in notebook.troubles[0]
    notebook.troubles.clear()


def test_both_themes_can_be_worn(notebook: Notebook) -> None:
    notebook.open(["1"])
    notebook.theme("dark")
    notebook.theme("light")
