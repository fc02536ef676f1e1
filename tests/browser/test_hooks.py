"""Hooks in a page: a list that says who registered them, a timeline while the model runs, and what is left behind taken off."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from tests.browser.lab import Notebook

SETUP = """
import tensorlab as torch
torch.manual_seed(0)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 8, 3)
        self.act = torch.nn.ReLU(inplace=True)
        self.out = torch.nn.Linear(8 * 12 * 12, 4)
        self.spare = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.out(self.act(self.conv(x)).flatten(1))

net = Net()
def step():
    net.zero_grad()
    net(torch.randn(4, 1, 14, 14)).pow(2).mean().backward()
"""
REGISTER = """
def look(module, args, output):
    print("<b>saw</b>", tuple(output.shape))
net.act.register_forward_hook(look)
"""
MORE = """
net.spare.register_full_backward_hook(lambda module, grad_input, grad_output: None)
net.out.weight.register_hook(lambda grad: grad * 0.5)
handle = net.out.weight.register_post_accumulate_grad_hook(lambda p: None)
net.conv.bias.register_hook(lambda grad: grad.mul_(0))
view = torch.show.hooks(net)
view
"""


def opened(notebook: Notebook) -> Locator:
    notebook.open([SETUP, REGISTER, MORE])
    for cell in (0, 1, 1, 2):
        notebook.run(cell)
    view = notebook.output(2).get_by_test_id("tl-hooks").first
    view.wait_for()
    view.scroll_into_view_if_needed()
    expect(view).not_to_have_attribute("data-painted", "0")
    return view


def line(view: Locator, name: str, owner: str) -> Locator:
    return view.get_by_role("option").filter(has_text=f"{name} on {owner}")


def test_hooks_are_listed_followed_explained_and_removed(notebook: Notebook) -> None:
    view = opened(notebook)
    page = notebook.page
    expect(view.get_by_test_id("tl-sentence")).to_contain_text(
        "6 hooks of net; nothing has run since the recording began"
    )
    left = view.get_by_role("option").filter(has_text="Left behind")
    expect(left).to_contain_text("registered in cell [2] and again in cell [3]")
    notebook.tell("step()", beside=True)
    expect(line(view, "look", "net.act").first).to_contain_text("1 call")
    order = view.get_by_test_id("tl-order")
    expect(order).to_contain_text("before net.out.weight.grad is added to")
    expect(order).to_contain_text("after net.out.weight.grad is added to")
    expect(order).to_contain_text("printed “<b>saw</b> (4, 8, 12, 12)”")
    expect(line(view, "<lambda>", "net.spare")).to_contain_text("net.spare was not called")
    expect(view.locator('[data-output="net.conv"] canvas')).to_have_count(4)

    line(view, "<lambda>", "net.conv.bias").click()
    expect(view.get_by_test_id("tl-hook-detail")).to_contain_text("It wrote into what it was given")
    view.locator('[data-output="net.conv"]').click()
    expect(view.get_by_test_id("tl-hook-detail").locator("canvas")).to_have_count(8)

    left.click()  # from here on by keys
    page.keyboard.press("Delete")
    expect(view.get_by_test_id("tl-remove")).to_contain_text("Really remove?")
    page.keyboard.press("Delete")
    expect(left).to_have_count(0)
    assert notebook.ask("len(net.act._forward_hooks)") == 1
    view.get_by_role("listbox").focus()
    page.keyboard.press("r")
    expect(view).to_have_attribute("data-attached", "false")
    assert notebook.ask("len(torch.taps.hooks)") == 0
    notebook.tell("view.close()", beside=True)
    assert notebook.ask("view.viewer.recorder.attached") is False


def test_the_picture_fits_at_every_width_in_both_themes(notebook: Notebook) -> None:
    view = opened(notebook)
    notebook.tell("step(); step()", beside=True)
    expect(view).not_to_have_attribute("data-rows", "0")
    expect(line(view, "look", "net.act").first).to_contain_text("2 calls")
    for theme in ("light", "dark"):
        notebook.theme(theme)
        for width in (1100, 480):
            notebook.page.set_viewport_size({"width": width + 500, "height": 1400})
            view.evaluate("(root, width) => { root.style.width = `${width}px`; }", width)
            assert view.evaluate("root => root.scrollWidth <= root.clientWidth + 1")
            notebook.screenshot(f"hooks-{theme}-{width}", view)
