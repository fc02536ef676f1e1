"""A notebook in a real JupyterLab page, driven as a person would: cells run, keys pressed, the kernel asked for facts.

The waits are the ones that hold. The toolbar's execution indicator says "idle" two seconds before a kernel exists, so a
page is ready when its session context is: connected, idle, and the application restored.
"""

from __future__ import annotations

import ast
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import nbformat
from playwright.sync_api import ConsoleMessage, Locator, Page, expect

from tests.browser.server import REPOSITORY, Server

ARTIFACTS = REPOSITORY / "artifacts"
PATIENCE = 60_000  # milliseconds, for things that a loaded machine may need long for

# JupyterLab itself says these while a kernel goes.
NOISE = ("Could not restore the debugger state",)

# The notebook stays at hand when another panel becomes the current one.
FOUND = """() => !!(window.notebookPanel = window.jupyterapp?.shell?.currentWidget)?.context?.isReady
  && window.notebookPanel.content.widgets.length > 0"""

READY = """() => {
  const context = window.notebookPanel.sessionContext;
  const kernel = context?.session?.kernel;
  return !!context?.isReady && kernel?.connectionStatus === 'connected' && kernel?.status === 'idle';
}"""

COMMAND = "async ([name, args]) => { await window.jupyterapp.commands.execute(name, args); }"

SHUTDOWN = "async () => { await window.notebookPanel?.sessionContext?.shutdown(); }"

CELL_RUNS = """async ([index, wait]) => {
  const app = window.jupyterapp;
  app.shell.activateById(window.notebookPanel.id);
  window.notebookPanel.content.activeCellIndex = index;
  const run = app.commands.execute('notebook:run-cell');
  if (wait) await run;
}"""

CELL_STATE = """index => {
  const model = window.notebookPanel.content.widgets[index].model;
  return { count: model.executionCount, state: model.executionState };
}"""

NEW_CELL = """async source => {
  const app = window.jupyterapp;
  const content = window.notebookPanel.content;
  app.shell.activateById(window.notebookPanel.id);
  content.activeCellIndex = content.widgets.length - 1;
  await app.commands.execute('notebook:insert-cell-below');
  content.activeCell.model.sharedModel.setSource(source);
  return content.activeCellIndex;
}"""

KERNEL_SAYS = """async ([code, expression, beside]) => {
  const kernel = window.notebookPanel.sessionContext.session.kernel;
  const subshell = beside ? (await kernel.requestCreateSubshell({}).done).content.subshell_id : null;
  const usual = kernel.subshellId;
  kernel.subshellId = subshell ?? usual;
  const request = kernel.requestExecute({
    code, silent: true, store_history: false, stop_on_error: false, user_expressions: { answer: expression },
  });
  kernel.subshellId = usual;
  const { content } = await request.done;
  if (subshell) await kernel.requestDeleteSubshell({ subshell_id: subshell }).done;
  return content.status === 'ok' ? content.user_expressions.answer : content;
}"""


class Notebook:
    """One notebook open in one page. `page` is Playwright's, for everything that this class has no word for."""

    def __init__(self, page: Page, server: Server) -> None:
        self.page = page
        self.server = server
        self.troubles: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: self.troubles.append(f"uncaught in the page: {error}"))
        page.on("console", self._note_console)
        page.on("request", lambda request: self._note_address(request.url))

    def _note_console(self, line: ConsoleMessage) -> None:
        """An error in the console is a fault of the page."""
        if line.type == "error" and not line.text.startswith(NOISE):
            self.troubles.append(f"console: {line.text}")

    def _note_address(self, url: str) -> None:
        """A page of ours asks nothing of the world."""
        if url.startswith(("http:", "https:", "ws:", "wss:")) and url.split("/")[2].split(":")[0] != "127.0.0.1":
            self.troubles.append(f"a request left the machine: {url}")

    # Opening

    def open(self, source: Path | Sequence[str], *, name: str = "test.ipynb", kernel: bool = True) -> Notebook:
        """Opens a copy of a notebook file, or a new notebook with these code cells, and waits until its kernel is idle.

        `kernel=False` opens it as a reader without one does: nothing starts, and saved outputs are all there is.
        """
        target = self.server.folder / name
        if isinstance(source, Path):
            shutil.copyfile(source, target)
        else:
            cells = [nbformat.v4.new_code_cell(code) for code in source]
            metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
            nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), target)
        if not kernel:
            document = nbformat.read(target, as_version=4)
            document.metadata["kernelspec"] = {"name": "", "display_name": "No Kernel"}
            document.metadata.pop("language_info", None)  # JupyterLab would find a kernel that speaks it
            nbformat.write(document, target)
        self.page.goto(f"{self.server.url}/lab/tree/{name}?reset&token={self.server.token}")
        return self.ready(kernel=kernel)

    def ready(self, *, kernel: bool = True) -> Notebook:
        """Waits until the notebook in the page can be used, after it was opened or the page was loaded again."""
        self.page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")
        self.page.evaluate("async () => { await window.jupyterapp.restored; }")
        self.page.wait_for_function(FOUND)
        if kernel:
            self.page.wait_for_function(READY)
        else:  # JupyterLab asks; its question would take the keys that are meant for the page
            self.page.locator(".jp-Dialog").get_by_role("button", name="No Kernel").click()
        return self

    def close(self) -> None:
        """Ends the kernel, leaves the notebook unsaved, and fails if the page met an error that no test asked for."""
        if not self.page.is_closed():
            self.page.evaluate(SHUTDOWN)
            self.page.close(run_before_unload=False)
        assert not self.troubles, "\n".join(self.troubles)

    # Cells

    def run(self, cell: int, *, wait: bool = True) -> Locator:
        """Runs a cell and gives its outputs. With `wait=False` it returns while the cell still runs."""
        self.page.evaluate(CELL_RUNS, [cell, wait])
        return self.output(cell)

    def run_code(self, code: str, *, wait: bool = True) -> Locator:
        """Runs code in a new cell at the end and gives its outputs."""
        return self.run(self.page.evaluate(NEW_CELL, code), wait=wait)

    def run_all(self) -> None:
        """Runs every cell from top to bottom; fails at the first error, naming its cell and what it says."""
        for cell in range(self.cells.count()):
            self.run(cell)
            trouble = self.cells.nth(cell).locator('[data-mime-type="application/vnd.jupyter.stderr"], .jp-mod-error')
            errors = [text for text in trouble.all_inner_texts() if "Error" in text]
            assert errors == [], f"cell {cell}: {errors}"

    @property
    def cells(self) -> Locator:
        """All cells, in order."""
        return self.page.locator(".jp-Notebook .jp-Cell")

    def output(self, cell: int) -> Locator:
        """What a cell shows beneath its code."""
        return self.cells.nth(cell).locator(".jp-OutputArea-output")

    def is_running(self, cell: int) -> bool:
        """Whether a cell waits or runs."""
        return self.page.evaluate(CELL_STATE, cell)["state"] != "idle"

    def wait_until_done(self, cell: int) -> None:
        """Waits until a cell that was started with `wait=False` is done."""
        self.page.wait_for_function(f"index => (({CELL_STATE})(index)).state === 'idle'", arg=cell)

    # The kernel

    def ask(self, expression: str, *, beside: bool = False) -> object:
        """The value of a Python expression in the kernel, which must be writable as JSON.

        `beside=True` asks on a subshell, which answers while a cell is running.
        """
        answer = self._says("", f"__import__('json').dumps({expression})", beside)
        return json.loads(ast.literal_eval(answer["data"]["text/plain"]))

    def tell(self, code: str, *, beside: bool = False) -> None:
        """Runs Python statements in the kernel without a cell."""
        self._says(code, "None", beside)

    def _says(self, code: str, expression: str, beside: bool) -> dict:
        answer = self.page.evaluate(KERNEL_SAYS, [code, expression, beside])
        assert answer["status"] == "ok", f"{answer.get('ename')}: {answer.get('evalue')}"
        return answer

    def interrupt(self) -> None:
        """Interrupts the kernel, as the stop button does."""
        self.command("notebook:interrupt-kernel")

    # The page

    def command(self, name: str, **arguments: object) -> None:
        """Runs a command of JupyterLab."""
        self.page.evaluate(COMMAND, [name, arguments])

    def palette(self, label: str) -> None:
        """Opens the command palette by its key, types a label and presses Enter."""
        self.page.keyboard.press("Control+Shift+c")
        search = self.page.locator(".lm-CommandPalette-input:visible")
        search.fill(label)
        expect(self.page.locator(".lm-CommandPalette-item:visible").first).to_contain_text(label)
        search.press("Enter")

    def theme(self, name: Literal["light", "dark"]) -> None:
        """Changes JupyterLab's theme and waits until the page wears it."""
        self.command("apputils:change-theme", theme=f"JupyterLab {name.title()}")
        light = "true" if name == "light" else "false"
        self.page.locator(f'body[data-jp-theme-light="{light}"]').wait_for(state="attached")
        self.page.locator("#jupyterlab-splash").wait_for(
            state="detached"
        )  # a second change before that breaks the page

    def screenshot(self, name: str, of: Locator | None = None) -> Path:
        """Keeps a picture of the page, or of one element, as artifacts/screenshots/NAME.png."""
        path = ARTIFACTS / "screenshots" / f"{name}.png"
        (of or self.page).screenshot(path=path, animations="disabled")
        return path
