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
    expect(grid.locator("td")).to_have_count(0)
    expect(view.get_by_test_id("tl-scratch-note")).to_contain_text("the storage ends at 11")
    view.locator('[data-field="shape 0"]').fill("2")
    expect(grid.locator("td")).to_have_text(["0", "4", "8", "2", "6", "10"])
    view.locator('[data-field="offset"]').scroll_into_view_if_needed()
    box = view.locator('[data-field="offset"]').bounding_box()
    assert box is not None
    mouse = notebook.page.mouse
    mouse.move(box["x"] + 10, box["y"] + 10)
    mouse.down()
    mouse.move(box["x"] + 18, box["y"] + 10, steps=2)
    mouse.up()
    expect(grid.locator("td")).to_have_text(["1", "5", "9", "3", "7", "11"])
    assert notebook.ask("list(y.stride())") == [1, 4]
    expect(view.get_by_test_id("tl-scratch-call")).to_have_text("y.as_strided((2, 3), (2, 4), 1)")
    expect(view.get_by_test_id("tl-strip").locator(".tl-tried")).to_have_count(6)
    notebook.tell("del y", beside=True)
    view.get_by_test_id("tl-refresh").click()
    expect(view.get_by_test_id("tl-error")).to_contain_text("gone")
    expect(view.get_by_test_id("tl-verdicts")).to_be_visible()


def test_a_large_tensor_is_walked_through_window_by_window(notebook: Notebook) -> None:
    view = opened(
        notebook,
        "import tensorlab as torch\nbig = torch.arange(600.).reshape(3, 4, 50)[:, :, ::2]\ntorch.show.layout(big)",
    )
    view.get_by_test_id("tl-grid").get_by_role("gridcell").first.click()
    notebook.page.keyboard.press("PageDown")
    where = view.get_by_test_id("tl-where")
    expect(where).to_contain_text("0 + 1·200 + 0·50 + 0·2 = 200")
    expect(view.get_by_test_id("tl-grid-caption")).to_contain_text("[1]")
    picked = view.get_by_test_id("tl-strip").locator(".tl-picked")
    expect(picked).to_have_attribute("data-element", "200")  # the strip turned to where it lies
    notebook.page.keyboard.press("End")
    expect(where).to_contain_text("= 598")
    view.locator('[data-field="index of dimension 0"]').fill("1")
    expect(where).to_contain_text("0 + 1·200 + 3·50 + 24·2 = 398")


def test_calls_are_typed_and_answered_shapes_meet_and_reading_is_counted(notebook: Notebook) -> None:
    view = opened(notebook)
    view.get_by_test_id("tl-grid").get_by_role("gridcell").first.click()
    notebook.page.keyboard.press("t")
    tried = view.get_by_test_id("tl-tried")
    call = view.get_by_test_id("tl-call")
    call.press_sequentially("view(6, 2)")
    call.press("Enter")
    expect(tried).to_contain_text("dimensions 0 | 1: stride 1 is not 12")
    expect(tried.get_by_label("it breaks between dimensions 0 and 1")).to_be_visible()
    tried.get_by_test_id("tl-would-copy").click()
    expect(tried).to_contain_text("48 B into new memory")
    expect(tried.locator(".tl-move").nth(1)).to_have_text("41")  # element 4 of the storage becomes element 1
    call.fill("- row[:3]")
    call.press("Enter")
    expect(tried).to_contain_text("neither")
    call.fill("+ (4, 1)")
    call.press("Enter")
    figure = tried.get_by_test_id("tl-broadcast")
    expect(figure).to_contain_text("the sum over it, 3 for each element")
    expect(figure.locator("td.tl-ghost")).not_to_have_count(0)
    expect(view.get_by_test_id("tl-reading")).to_contain_text("12 reads in order touch")
    view.locator('[data-alias="row"]').click()
    expect(view.get_by_test_id("tl-strip").locator(".tl-held")).to_have_count(4)
    view.get_by_test_id("tl-walk").click()
    expect(view.get_by_test_id("tl-where")).to_contain_text("0 + 0·1 + 1·4 = 4")
    view.get_by_text("bits of 4").click()
    expect(view.get_by_test_id("tl-bits")).to_contain_text("129 − 127: 2^2")
    assert notebook.ask("y._st.version") == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_picture_fits_at_every_width_in_both_themes(notebook: Notebook, theme: str) -> None:
    view = opened(notebook, SETUP.replace("layout(y)", "layout(y, row[:3].reshape(3))"))
    notebook.theme(theme)
    view.locator('[data-field="shape 0"]').fill("2")
    call = view.get_by_test_id("tl-call")
    call.fill("view(6, 2)")
    call.press("Enter")
    view.get_by_text("bits of 0").click()
    expect(view.get_by_test_id("tl-tried")).to_contain_text("cannot")
    for width in (1536, 916, 640):  # the view is 1100, 480 and 268 wide
        notebook.page.set_viewport_size({"width": width, "height": 2000})
        assert view.evaluate("root => root.scrollWidth <= root.clientWidth + 1")
        notebook.screenshot(f"layout-{theme}-{width - 436 if width > 700 else 268}", view)
