"""Pictures and pages that a view gives away: downloaded by keys, and opened where there is no network."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import tensorlab as tl
from tests.browser.lab import ARTIFACTS, Notebook

SETUP = """
import tensorlab as torch
torch.manual_seed(0)
x = torch.randn(4, 3)
model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2))
loss = (model(x) ** 2).mean()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
flow = torch.show.flow(model)
loss.backward(retain_graph=True); optimizer.step()
def half(x):
    return x / 2
def step(x):
    for i in range(2):
        x = half(x).tanh()
    return model(x).sum()
"""
VIEWS = {
    "tl-graph": ("torch.show.graph(loss)", "graph-loss"),
    "tl-stepper": ("torch.show.stepper(loss)", "backward-loss"),
    "tl-layout": ("kept = x.t(); torch.show.layout(kept, title='x / transposed <b>')", "layout-x-transposed-b"),
    "tl-flow": ("flow", "flow-model"),
    "tl-hooks": ("torch.show.hooks(model)", "hooks-model"),
    "tl-lines": ("torch.show.lines(step, x)", "lines-step"),
}


def exported(view: Locator, page: Page, kind: str, folder: Path) -> Path:
    """Opens the menu by its key, chooses by arrows, and gives the file that was downloaded."""
    view.focus()
    page.keyboard.press("x")
    menu = view.get_by_test_id("tl-export-menu")
    expect(menu).to_be_visible()
    with page.expect_download() as download:
        for _ in range(["svg", "png", "html"].index(kind)):
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
    expect(menu).to_be_hidden()
    expect(view.get_by_test_id("tl-exported")).to_have_text(f"Saved {download.value.suggested_filename}.")
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def squeezed(file: Path) -> str:
    """A file without its spaces: a page writes itself down with others at its end."""
    return "".join(file.read_text("utf-8").split())


def opened(browser: Browser, file: Path, theme: str, width: int) -> tuple[Page, list[str]]:
    """A file in a page without a network, and what went wrong there."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme, offline=True)
    page = context.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda line: troubles.append(line.text) if line.type == "error" else None)
    page.goto(file.as_uri())
    return page, troubles


def test_every_view_gives_an_svg_a_png_of_twice_its_size_and_a_page_that_works_offline(
    notebook: Notebook, browser: Browser, tmp_path: Path
) -> None:
    notebook.open([SETUP, *(code for code, _ in VIEWS.values())])
    notebook.run(0)
    for cell, (testid, (_, stem)) in enumerate(VIEWS.items(), start=1):
        notebook.run(cell)
        view = notebook.output(cell).get_by_test_id(testid).first
        view.scroll_into_view_if_needed()
        expect(view).not_to_have_attribute("data-painted", "0")
        picture = exported(view, notebook.page, "svg", tmp_path)
        assert picture.name == f"{stem}.svg"
        assert picture.read_text("utf-8").startswith("<svg")
        image = exported(view, notebook.page, "png", tmp_path).read_bytes()
        width = struct.unpack(">I", image[16:20])[0]
        assert f'width="{width // 2}"' in picture.read_text("utf-8")
        file = exported(view, notebook.page, "html", tmp_path)
        for theme, size in (("light", 1100), ("dark", 480)):
            page, troubles = opened(browser, file, theme, size)
            again = page.get_by_test_id(testid)
            expect(again).not_to_have_attribute("data-painted", "0")
            assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
            page.screenshot(path=ARTIFACTS / "screenshots" / f"page-{stem}-{theme}-{size}.png", full_page=True)
            assert exported(again, page, "svg", tmp_path).read_text("utf-8").startswith("<svg")
            copy = exported(again, page, "html", tmp_path / "copy")
            assert squeezed(copy) == squeezed(file)
            assert troubles == []
            page.context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_menu_and_the_png_wear_the_theme(notebook: Notebook, tmp_path: Path, theme: str) -> None:
    notebook.open([SETUP, VIEWS["tl-graph"][0]])
    notebook.theme(theme)
    notebook.run(0)
    notebook.run(1)
    view = notebook.output(1).get_by_test_id("tl-graph").first
    expect(view).not_to_have_attribute("data-painted", "0")
    view.focus()
    notebook.page.keyboard.press("x")
    notebook.screenshot(f"export-menu-{theme}", view)
    notebook.page.keyboard.press("Escape")
    expect(view.get_by_test_id("tl-export")).to_be_focused()
    picture = exported(view, notebook.page, "png", tmp_path)
    (ARTIFACTS / "screenshots" / f"export-png-{theme}.png").write_bytes(picture.read_bytes())


def test_a_view_saves_itself_from_python(tmp_path: Path) -> None:
    x = tl.ones(2, 3, requires_grad=True)
    view = tl.show.graph((x * 2).sum(), title="loss")
    assert view.save(tmp_path / "loss.svg").read_text("utf-8").startswith("<svg")
    assert "openKept" in view.save(tmp_path / "loss.html").read_text("utf-8")
    view.close()
