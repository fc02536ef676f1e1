"""A JupyterLab for all browser tests, a Chromium for all of them, and a page of its own for each."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from tests.browser import chromium
from tests.browser.lab import ARTIFACTS, PATIENCE, Notebook
from tests.browser.server import REPOSITORY, Server, jupyterlab

expect.set_options(timeout=PATIENCE)
MISSING = "no Chromium was found: `make browser` tries to get one (Debian: apt install chromium)"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Skipped browser tests are never silent."""
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if MISSING in str(report.longrepr)]
    if skipped:
        terminalreporter.section("BROWSER TESTS DID NOT RUN", yellow=True, bold=True)
        terminalreporter.line(f"{len(skipped)} tests were skipped: {MISSING}")


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """The Chromium to drive. Without one the test is skipped, or fails where CI is set."""
    path = chromium.find()
    if path is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(MISSING)
    return path


@pytest.fixture(scope="session")
def server(chromium_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One JupyterLab with the extension and the packages of this tree."""
    built = REPOSITORY / "extension" / "labextension" / "package.json"
    assert built.exists(), "the bundles are not built: `make bundles`, or `npm ci && npm run build`"
    with jupyterlab(tmp_path_factory.mktemp("jupyterlab")) as running:
        yield running


@pytest.fixture(scope="session")
def browser(chromium_path: str) -> Iterator[Browser]:
    """One headless Chromium."""
    arguments = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium_path, args=arguments)
        yield started
        started.close()


@pytest.fixture(scope="session")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """One profile: with JupyterLab's scripts in its cache a page opens in a third of the time."""
    profile = browser.new_context(viewport={"width": 1400, "height": 900}, device_scale_factor=1)
    yield profile
    profile.close()


@pytest.fixture
def notebook(server: Server, context: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Notebook]:
    """A page with nothing open: `notebook.open([...])`. A failed test leaves its last sight in artifacts/failures."""
    driven = Notebook(context.new_page(), server)
    failed_before = request.session.testsfailed
    yield driven
    if request.session.testsfailed > failed_before and not driven.page.is_closed():
        name = re.sub(r"\W+", "_", request.node.name)
        driven.page.screenshot(path=ARTIFACTS / "failures" / f"{name}.png")
    try:
        driven.close()
    finally:
        driven.page.close()
