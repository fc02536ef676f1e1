"""The stepper's questions in a page: conditions, modules, watches, edits by expression with what they changed, checks, ledgers."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.instrument import Instrument
from tests.browser.lab import Notebook
from tests.browser.test_stepper import agrees, opened

SETUP = """
import tensorlab as torch
torch.manual_seed(0)
x, y = torch.randn(8, 3), torch.tensor([0, 1, 2, 3, 0, 1, 2, 3])
model = torch.nn.Sequential(
    torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 5), torch.nn.Tanh(), torch.nn.Linear(5, 4))
loss_of = torch.nn.CrossEntropyLoss()

class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return 2 * grad * x ** 2  # wrong: it is 3

def standing(run):
    states = {str(node.seq): 'waiting' for node in run.waiting}
    states |= {str(node.seq): 'done' for node in run.done}
    return states | ({str(run.current.seq): 'current'} if run.current else {})
"""
FORWARD = "loss = loss_of(model(x), y) + 0.1 * Cube.apply(model[0].weight).sum()\nloss.backward(retain_graph=True)"
STEPPER = "view = torch.show.stepper(loss)\nview"


def test_modules_conditions_watches_edits_checks_and_the_ledger_by_keys_and_mouse(notebook: Notebook) -> None:
    notebook.page.set_viewport_size({"width": 1210, "height": 1600})
    view = opened(notebook, FORWARD, STEPPER, setup=SETUP)
    notebook.command("application:toggle-left-area")
    # watches
    view.press("w")
    for text in ("grad.norm()", "node.name", "model[4].weight.grad.norm()", "1 / 0"):
        view.get("tl-watch-input").fill(text)
        view.page.keyboard.press("Enter")
        expect(view.get("tl-watch").filter(has_text=text)).to_have_count(1)
    view.get("tl-watch-input").fill("grad.mul_(0)")
    view.page.keyboard.press("Enter")
    expect(view.get("tl-watch-says")).to_contain_text("writes in place")
    view.page.keyboard.press("Escape")
    # over and out of modules, conditions that hold together
    view.find("model.4")
    view.press("r", "o")
    view.says("model.3")
    expect(view.get("tl-watch").nth(1)).to_contain_text("TanhBackward0")
    assert notebook.ask("view.evaluate('node.name')") == "'TanhBackward0'"
    view.get("tl-break-when").click()
    view.get("tl-break-module").check()
    view.get("tl-break-module-value").fill("model.1")
    view.get("tl-break-shape").check()
    view.get("tl-break-shape-value").fill("[8, *]")
    view.get("tl-break-together").select_option("all")
    notebook.screenshot("stepper-conditions", view.root)
    view.press("Escape", "F9")
    view.says("it belongs to model.1", "shape [8, 5]")
    assert notebook.ask("[(p.kind, p.text) for p in view.session.predicates.all]") == [
        ["shape", "[8, *]"],
        ["module", "model.1"],
    ]
    # the whole gradient by an expression, and what that changed
    view.press("E")
    view.page.keyboard.type("grad.clamp(-0.01, 0.01)")
    view.page.keyboard.press("Enter")
    view.says("gradient edited")
    assert notebook.ask("abs(view.session.run.held(view.session.run.current)[0]).max().item() <= 0.0101") is True
    view.focus()
    view.press("F9")
    expect(view.get("tl-sheet")).to_contain_text("model.0.weight")
    view.says("The edit of the gradient of model.1 changed")
    assert notebook.ask("view.changed().sentence") == view.sentence.inner_text()
    for theme in ("light", "dark"):
        notebook.theme(theme)
        notebook.screenshot(f"stepper-changed-{theme}", view.root)
    notebook.theme("light")
    view.get("tl-sheet-close").click()
    # the backward that was written by hand is wrong, and says so
    view.find("CubeBackward")
    view.press("g")
    expect(view.get("tl-sheet")).to_contain_text("disagrees")
    view.says("The backward of CubeBackward disagrees with its forward", "0.33")
    notebook.screenshot("stepper-check", view.root)
    # the leaf got two contributions in two passes, and two in this one
    view.find("model.0.weight")
    expect(view.get("tl-badge")).to_contain_text("2 contributions: cell 2, cell 3")
    expect(view.get("tl-ledger").get_by_role("listitem")).to_have_count(4)
    expect(view.get("tl-scrubber")).to_have_attribute("data-marks", "0 1 0")
    view.inspector.evaluate("each => each.scrollTo(0, 9999)")
    notebook.screenshot("stepper-ledger", view.root)
    view.get("tl-restart").click()
    agrees(notebook, view, 0)
    expect(view.get("tl-sheet")).to_be_hidden()
    notebook.page.set_viewport_size({"width": 640, "height": 2000})
    for theme in ("light", "dark"):
        notebook.theme(theme)
        view.press("E")
        notebook.screenshot(f"stepper-narrow-{theme}", view.root)
    view.press("Escape", "?")
    notebook.screenshot("stepper-keys", view.root)


LOOP = """
import time
model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 4))
def hang(grad):
    hung.append(1)
    while len(hung) < 2:
        time.sleep(0.05)
hung = []

def train():
    stops = []
    for step in range(4):
        hidden = model[0](x)
        if step == 2:
            hidden.register_hook(hang)
        error = loss_of(model[2](model[1](hidden)), y)
        torch.show.stepper(error, block=True, when=2)
        stops.append(step)
    return stops
"""


def test_a_loop_stops_at_its_third_step_and_a_hook_that_hangs_is_stopped_from_the_page(notebook: Notebook) -> None:
    notebook.open([SETUP, LOOP, "stops = train()"])
    notebook.run(0)
    notebook.run(1)
    notebook.run(2, wait=False)
    view = Instrument(notebook.output(2).get_by_test_id("tl-stepper"))
    view.is_at(0)
    expect(view.status).to_contain_text("a cell waits")
    view.press("F9")
    view.get("tl-stop").click()
    expect(view.error).to_contain_text("interrupted")
    assert notebook.is_running(2)
    expect(view.status).to_contain_text("paused")
    view.press("F9")  # the hook comes back this time
    notebook.wait_until_done(2)
    expect(view.status).to_contain_text("finished")
    assert notebook.ask("[stops, hung]") == [[0, 1, 2, 3], [1, 1]]
