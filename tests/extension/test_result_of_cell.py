"""The Python that the extension sends to the kernel, in a real IPython shell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

SOURCE = Path(__file__).parents[2] / "extension" / "src" / "kernel" / "result_of_cell.py"
ABOUT_X = ["[7]", "x", "x;", "x = [7]", "x += []", "x: list = [7]", "y = x", "x.sort()", "x[0].real;"]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """A shell of its own, with no history of anybody's."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    InteractiveShell.clear_instance()
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


@pytest.fixture
def result_of_cell() -> Callable[[int, str, InteractiveShell], object]:
    """The function, made as the extension makes it."""
    names: dict[str, Callable[[int, str, InteractiveShell], object]] = {}
    exec(SOURCE.read_text(), names)
    return names["result_of_cell"]


@pytest.mark.parametrize("last", ABOUT_X)
def test_the_value_shown_or_else_the_name_that_the_last_statement_is_about(shell, result_of_cell, last: str) -> None:
    shell.run_cell("x = [7]", store_history=True)
    shell.run_cell("z = 1\n" + last, store_history=True)
    assert result_of_cell(2, "z = 1\n" + last, shell) == [7]


@pytest.mark.parametrize("code", ["for i in []: pass", "import os", "x, y = 1, 2", "None", "(", "pass", "%pinfo2 len"])
def test_a_cell_that_ends_without_a_value_is_told_so(shell, result_of_cell, code: str) -> None:
    shell.run_cell(code, store_history=True)
    with pytest.raises(LookupError, match=r"Cell \[1\] ended without a value"):
        result_of_cell(1, code, shell)


def test_the_result_of_a_run_stays_the_one_of_that_run(shell, result_of_cell) -> None:
    shell.run_cell("x = 1\nx", store_history=True)
    shell.run_cell("x = 2\nx", store_history=True)
    assert result_of_cell(1, "x = 1\nx", shell) == 1


@pytest.mark.parametrize(("number", "source"), [(1, "y"), (2, "x = 1"), (99, "x = 1")])
def test_a_cell_that_this_kernel_has_not_run_is_refused(shell, result_of_cell, number: int, source: str) -> None:
    shell.run_cell("x = 1", store_history=True)
    with pytest.raises(LookupError, match="has not run the cell"):
        result_of_cell(number, source, shell)
