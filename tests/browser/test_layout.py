"""The layout instrument in a page: an element picked with keys and the mouse, others in the same memory, a view tried out."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import Notebook

SETUP = """
import tensorlab as torch
x = torch.arange(12.).reshape(3, 4)
y = x.t()
row = x[1]
torch.show.layout(y)
"""


def opened(notebook: Notebook, code: str = SETUP) -> Locator:
    notebook.open([code])
    notebook.run(0)
    view = notebook.output(0).get_by_test_id("tl-layout").first
    view.wait_for()
    view.scroll_into_view_if_needed()
    expect(view).not_to_have_attribute("data-painted", "0")
    return view


def test_an_element_is_picked_and_its_address_is_spelled_out(notebook: Notebook) -> None:
    view = opened(notebook)
    expect(view).to_contain_text("y has shape [4, 3]")
    view.get_by_test_id("tl-grid").get_by_role("gridcell").nth(7).click()
    where = view.get_by_test_id("tl-where")
    expect(where).to_contain_text("0 + 2·1 + 1·4 = 6")
    expect(where).to_contain_text("element 6, byte 24: 6")
    expect(where).to_contain_text("x[1, 2], row[2]")
    expect(view).to_have_attribute("data-element", "6")
    picked = view.get_by_test_id("tl-strip").locator(".tl-picked")
    expect(picked).to_have_text("624")
    notebook.page.keyboard.press("ArrowDown")
    expect(where).to_contain_text("0 + 3·1 + 1·4 = 7")
    notebook.page.keyboard.press("Home")
    expect(where).to_contain_text("= 0")
    notebook.page.keyboard.press("ArrowUp")
    expect(view).to_have_attribute("data-element", "0")


def test_what_calls_would_do_is_said_in_words_and_marks(notebook: Notebook) -> None:
    view = opened(notebook)
    verdicts = view.get_by_test_id("tl-verdicts")
    expect(verdicts.locator('[data-call="view(12)"]')).to_contain_text("cannot")
    expect(verdicts.locator('[data-call="view(12)"]')).to_contain_text("stride 1 is not 12")
    expect(verdicts.locator('[data-call="reshape(12)"]')).to_contain_text("copies")
    expect(verdicts.locator('[data-call="t()"]')).to_have_attribute("data-kind", "view")


def test_a_view_is_tried_out_by_typing_and_by_dragging_and_touches_nothing(notebook: Notebook) -> None:
    view = opened(notebook)
    field = view.locator('[data-field="stride 0"]')
    field.fill("2")
    grid = view.get_by_test_id("tl-scratch-grid")
    expect(grid.get_by_role("cell")).to_have_count(0)
    expect(view.get_by_test_id("tl-scratch-note")).to_contain_text("the storage ends at 11")
    view.locator('[data-field="shape 0"]').fill("2")
    expect(grid.locator("td")).to_have_text(["0", "4", "8", "2", "6", "10"])
    box = view.locator('[data-field="offset"]').bounding_box()
    assert box is not None
    mouse = notebook.page.mouse
    mouse.move(box["x"] + 10, box["y"] + 10)
    mouse.down()
    mouse.move(box["x"] + 18, box["y"] + 10, steps=2)
    mouse.up()
    expect(grid.locator("td")).to_have_text(["1", "5", "9", "3", "7", "11"])
    assert notebook.ask("list(y.stride())") == [1, 4]


def test_a_large_tensor_is_walked_through_window_by_window(notebook: Notebook) -> None:
    view = opened(
        notebook,
        "import tensorlab as torch\nbig = torch.arange(60.).reshape(3, 4, 5)[:, :, ::2]\ntorch.show.layout(big)",
    )
    view.get_by_test_id("tl-grid").get_by_role("gridcell").first.click()
    notebook.page.keyboard.press("PageDown")
    expect(view.get_by_test_id("tl-where")).to_contain_text("0 + 1·20 + 0·5 + 0·2 = 20")
    expect(view.get_by_test_id("tl-grid-caption")).to_contain_text("[1]")
    notebook.page.keyboard.press("End")
    expect(view.get_by_test_id("tl-where")).to_contain_text("= 59")


def test_a_tensor_that_is_gone_is_said_to_be_gone_and_the_picture_stays(notebook: Notebook) -> None:
    view = opened(notebook)
    notebook.tell("del y", beside=True)
    view.get_by_test_id("tl-refresh").click()
    expect(view.get_by_test_id("tl-error")).to_contain_text("gone")
    expect(view.get_by_test_id("tl-verdicts")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_picture_fits_at_every_width_in_both_themes(notebook: Notebook, theme: str) -> None:
    view = opened(notebook)
    notebook.theme(theme)
    for width in (1400, 900, 640):
        notebook.page.set_viewport_size({"width": width, "height": 1000})
        assert view.evaluate("root => root.scrollWidth <= root.clientWidth + 1")
        notebook.screenshot(f"layout-{theme}-{width}", view)
