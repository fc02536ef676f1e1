"""The heat map in a page: any element of a large gradient is reached by keys, by its index and by the mouse, and edited."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.instrument import Instrument
from tests.browser.lab import Notebook

SETUP = """
import tensorlab as torch
x = torch.arange(3 * 40 * 50.0).reshape(3, 40, 50).requires_grad_()
y = x * 1
loss = (y * torch.arange(3 * 40 * 50.0).reshape(3, 40, 50)).sum()
view = torch.show.stepper(loss)
view
"""
FREED = "loss.backward()\ntorch.show.stepper(loss)"


def test_any_element_is_reached_by_keys_by_its_index_and_by_the_mouse_and_can_be_edited(notebook: Notebook) -> None:
    notebook.open([SETUP, FREED])
    notebook.run(0)
    view = Instrument(notebook.output(0).get_by_test_id("tl-stepper"))
    view.press("F10", "F10")
    view.is_at(2)
    gradient = view.get("tl-gradient-incoming")
    cell = gradient.locator(".tl-cell:focus")
    caption = gradient.locator(".tl-caption")
    expect(caption).to_contain_text("first 8 of 40 rows and first 16 of 50 columns of [0]")
    gradient.locator('[data-row="7"][data-column="15"]').focus()
    view.press("ArrowDown", "ArrowDown", "ArrowRight")
    expect(cell).to_have_attribute("data-said", "[0, 9, 16] 466")
    expect(caption).to_contain_text("rows 2 to 9 of 40 and columns 1 to 16 of 50 of [0]")
    view.press("]", "End", "PageDown")
    expect(cell).to_have_attribute("data-said", "[1, 17, 49] 2899")
    index = gradient.get_by_test_id("tl-element")
    index.fill("2, 33, 40")
    index.press("Enter")
    expect(cell).to_have_attribute("data-said", "[2, 33, 40] 5690")
    view.press("Enter")
    view.get("tl-edit-value").fill("-7")
    view.get("tl-edit-value").press("Enter")
    view.says("gradient edited")
    edited = gradient.locator('[data-said="[2, 33, 40] -7"]')
    expect(edited).to_be_visible()  # the part that was looked at is still in sight
    expect(caption).to_contain_text("of [2]")
    rail = gradient.get_by_test_id("tl-bar-down").bounding_box()
    assert rail is not None
    view.page.mouse.move(rail["x"] + 4, rail["y"] + rail["height"] - 6)
    view.page.mouse.down()
    view.page.mouse.move(rail["x"] + 4, rail["y"] - 40, steps=4)
    view.page.mouse.up()
    expect(caption).to_contain_text("first 8 of 40 rows")
    gradient.locator(".tl-cell").first.focus()
    gradient.locator(".tl-cell").first.hover()
    view.page.mouse.wheel(0, 100)
    expect(caption).to_contain_text("rows 2 to 9 of 40")
    view.press("F9")
    view.says("Finished")
    assert notebook.ask("[x.grad[2, 33, 40].item(), x.grad[2, 33, 41].item()]") == [-7.0, 5691.0]
    # Once the graph was freed a new stepper says so at once.
    notebook.tell("view.close()")
    notebook.run(1)
    freed = Instrument(notebook.output(1).get_by_test_id("tl-stepper"))
    freed.says("Closed", "freed by the backward in cell 2, line 1", "Compute loss anew")
    expect(freed.status).to_have_text("closed")
    expect(freed.get("tl-next")).to_have_attribute("aria-disabled", "true")
    assert len(freed.rows()) >= 4
    notebook.screenshot("freed", freed.root)
