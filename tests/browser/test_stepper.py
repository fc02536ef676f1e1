"""The stepper in a page: every move by key and by mouse, and each time the kernel says the same as the page."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.instrument import Instrument
from tests.browser.lab import READY, Notebook

# A classifier whose backward has thirteen nodes, twice: the second graph is the measure of the first.
SETUP = """
import gc, weakref
import numpy as np
import tensorlab as torch

torch.manual_seed(0)
x, y = torch.randn(8, 3), torch.tensor([0, 1, 2, 3, 0, 1, 2, 3])
model = torch.nn.Sequential(
    torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 5), torch.nn.Tanh(), torch.nn.Linear(5, 4))
loss_of = torch.nn.CrossEntropyLoss()
loss = loss_of(model(x), y)
names = [name for name, _ in model.named_parameters()]
whole = dict(zip(names, torch.autograd.grad(loss_of(model(x), y), list(model.parameters()))))

def standing(run):
    states = {str(node.seq): 'waiting' for node in run.waiting}
    states |= {str(node.seq): 'done' for node in run.done}
    return states | ({str(run.current.seq): 'current'} if run.current else {})

def waiting(run):
    return {str(node.seq): [g.tolist() for g in slots if g is not None] for node, slots in run.waiting.items()}

def same(wanted=whole):
    return [name for name, p in model.named_parameters()
            if p.grad is not None and np.array_equal(p.grad.numpy(), wanted[name].numpy())]

def without():
    return [name for name, p in model.named_parameters() if p.grad is None]
"""
STEPPER = "view = torch.show.stepper(loss)\nview"
NAMES = ["0.weight", "0.bias", "2.weight", "2.bias", "4.weight", "4.bias"]


def opened(notebook: Notebook, *cells: str, setup: str = SETUP) -> Instrument:
    """A notebook with a stepper in its last cell."""
    notebook.open([setup, *(cells or (STEPPER,))])
    for cell in range(notebook.cells.count()):
        notebook.run(cell)
    return stepper(notebook, notebook.cells.count() - 1)


def stepper(notebook: Notebook, cell: int) -> Instrument:
    return Instrument(notebook.output(cell).get_by_test_id("tl-stepper"))


def agrees(notebook: Notebook, view: Instrument, step: int, *, beside: bool = False) -> None:
    """The page stands at a step, and the kernel tells the same story of it."""
    view.is_at(step)
    count, current, states = notebook.ask(
        "[view.session.run.count, getattr(view.session.run.current, 'seq', ''), standing(view.session.run)]",
        beside=beside,
    )
    assert count == step
    assert view.data("current") == str(current)
    assert view.states() == states


def test_ten_steps_forward_and_three_back_are_the_same_on_the_page_and_in_the_kernel(notebook: Notebook) -> None:
    view = opened(notebook)
    view.says("Step 1 of 13.", "Next is NllLossBackward0 (loss)", "norm 1.")
    agrees(notebook, view, 0)
    seen = {}
    for step in range(1, 11):
        if step % 2:
            view.press("F10")
        else:
            view.get("tl-next").click()
        view.says(f"Step {step + 1} of 13.")
        agrees(notebook, view, step)
        seen[step] = notebook.ask("[waiting(view.session.run), without()]")
    expect(view.status).to_have_text("10 of 13 done · paused before a node")
    assert notebook.ask("same()") == ["2.weight", "2.bias", "4.weight", "4.bias"]
    assert notebook.ask("without()") == ["0.weight", "0.bias"]
    for step, press in ((9, "key"), (8, "mouse"), (7, "key")):
        if press == "key":
            view.press("Shift+F10")
        else:
            view.get("tl-back").click()
        agrees(notebook, view, step)
        assert notebook.ask("[waiting(view.session.run), without()]") == seen[step]
    view.says("Step 8 of 13.")
    expect(view.get("tl-error")).to_have_count(0)


def test_breakpoints_by_mouse_and_by_key_stop_the_run_and_can_be_taken_away(notebook: Notebook) -> None:
    view = opened(notebook)
    view.click("model.3", "border")
    expect(view.root.get_by_role("treeitem", name="model.3")).to_contain_text("breakpoint")
    view.find("model.1")
    view.press("b")
    expect(view.root.get_by_role("treeitem", name="model.1")).to_contain_text("breakpoint")
    assert len(notebook.ask("sorted(view.session.nodes)")) == 2
    view.press("F9")
    view.says("at a breakpoint", "TanhBackward0 (model.3)")
    assert view.data("reason") == "breakpoint"
    agrees(notebook, view, 5)
    view.get("tl-continue").click()
    view.says("TanhBackward0 (model.1)")
    agrees(notebook, view, 9)
    view.get("tl-break").click()  # of the node that is current, in the inspector
    view.get("tl-restart").click()
    agrees(notebook, view, 0)
    assert len(notebook.ask("without()")) == 6
    view.press("F9", "F9")
    agrees(notebook, view, 13)
    expect(view.status).to_contain_text("finished")
    assert notebook.ask("same()") == NAMES


def test_run_to_here_and_the_scrubber_go_to_any_step_and_back(notebook: Notebook) -> None:
    view = opened(notebook)
    view.click("addmm model.2")
    expect(view.inspector).to_contain_text("AddmmBackward0")
    view.get("tl-run-to").click()
    view.says("Next is AddmmBackward0 (model.2)")
    agrees(notebook, view, 6)
    view.find("model.3")
    view.press("r")  # back to here: it has run already
    agrees(notebook, view, 5)
    scrubber = view.get("tl-scrubber")
    scrubber.focus()
    view.press("ArrowRight", "ArrowRight")
    agrees(notebook, view, 7)
    view.press("End")
    agrees(notebook, view, 13)
    assert notebook.ask("same()") == NAMES
    view.press("Home")
    agrees(notebook, view, 0)
    assert notebook.ask("same()") == []
    box = scrubber.bounding_box()
    assert box is not None
    view.page.mouse.move(box["x"] + 15, box["y"] + 18)
    view.page.mouse.down()
    view.page.mouse.move(box["x"] + 10 + 30 * 4.5, box["y"] + 18, steps=6)
    view.page.mouse.up()
    agrees(notebook, view, 4)
    # Keys that come faster than answers travel together, and none is lost.
    view.press(*["Shift+F10"] * 3, *["F10"] * 9)
    agrees(notebook, view, 10)


BAD = """
a = torch.tensor([4.0, 0.0, 9.0], requires_grad=True)
root = a.sqrt()
product = root * torch.tensor([1.0, 0.0, 100.0])
loss = product.sum()
"""


def test_a_condition_on_the_gradient_stops_the_run_where_it_is_met(notebook: Notebook) -> None:
    view = opened(notebook, BAD, STEPPER)
    view.get("tl-break-when").click()
    view.get("tl-break-nan").check()
    view.press("Escape", "F9")
    assert notebook.ask("[p.kind for p in view.session.predicates.all]") == ["nan"]
    view.says("because", "NaN", "AccumulateGrad (a)")
    assert view.data("reason") == "predicate"
    assert notebook.ask("[root.grad_fn in view.session.run.done, a.grad]") == [True, None]
    expect(view.inspector).to_contain_text("NaN 1")
    expect(view.root.get_by_role("treeitem", name="a, [3]")).to_contain_text("holds NaN or Inf")
    view.press("F9")
    view.says("Finished")
    assert notebook.ask("str(a.grad.tolist())") == "[0.25, nan, 16.66666603088379]"
    view.get("tl-restart").click()
    view.get("tl-break-when").click()
    view.get("tl-break-nan").uncheck()
    view.get("tl-break-above-value").fill("50")
    view.get("tl-break-above").check()
    view.press("Escape")
    view.press("F9")
    view.says("because", "SqrtBackward0")
    agrees(notebook, view, 2)


HOOKED = """
import copy

def by_hand():
    twin = copy.deepcopy(model)
    hidden = twin[1](twin[0](x))
    def change(grad):
        grad = grad.clone()
        grad[0, 1], grad[0, 0] = 5.0, -2.5
        return grad
    hidden.register_hook(change)
    loss_of(twin[4](twin[3](twin[2](hidden))), y).backward()
    return {name: p.grad for name, p in twin.named_parameters()}

wanted = by_hand()
"""


def test_an_edited_gradient_flows_on_as_if_a_hook_had_changed_it(notebook: Notebook) -> None:
    view = opened(notebook, HOOKED, STEPPER)
    view.find("model.1")
    view.press("r")
    agrees(notebook, view, 9)
    grid = view.get("tl-gradient-incoming").get_by_role("grid")
    grid.locator('[data-row="0"][data-column="1"]').click()
    value = view.get("tl-edit-value")
    value.fill("five")
    value.press("Enter")
    expect(view.inspector).to_contain_text("write a number")
    assert notebook.ask("len(view.session.edits)") == 0
    value.fill("5")
    value.press("Enter")
    view.says("gradient edited")
    expect(view.root.get_by_role("treeitem", name="model.1")).to_contain_text("edited")
    expect(grid.locator('[data-row="0"][data-column="1"]')).to_have_attribute("data-said", "[0, 1] 5")
    view.focus()
    view.press("e")
    value.press("Control+a")
    view.page.keyboard.type("-2.5")
    value.press("Enter")
    expect(grid.locator('[data-row="0"][data-column="0"]')).to_have_attribute("data-said", "[0, 0] -2.5")
    view.press("F9")
    agrees(notebook, view, 13)
    assert notebook.ask("same(wanted)") == NAMES
    assert notebook.ask("same()") == ["2.weight", "2.bias", "4.weight", "4.bias"]
    view.press("Home")
    view.get("tl-restart").click()
    agrees(notebook, view, 0)
    view.press("F9")
    agrees(notebook, view, 13)
    assert notebook.ask("same()") == NAMES  # going back undid the edit


TRAINING = """
def train(steps, watched=None):
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 4))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    for step in range(steps):
        optimizer.zero_grad()
        error = loss_of(net(x), y)
        if step == watched:
            print('watching step', step)
            torch.show.stepper(error, block=True)
            print('went on with', error.item())
        else:
            error.backward()
        optimizer.step()
    return [p.detach().numpy().tolist() for p in net.parameters()]

def last():
    import ipywidgets
    return [w for w in ipywidgets.Widget.widgets.values() if type(w).__name__ == 'Stepper'][-1].session.run
"""
WATCHED = "trained = train(5, watched=3)"


def waits(notebook: Notebook, view: Instrument, step: int) -> None:
    """The cell is blocked, its view stands at a step, and the run in the kernel too."""
    view.is_at(step)
    assert notebook.is_running(2)
    expect(view.status).to_contain_text("a cell waits")
    count, states = notebook.ask("[last().count, standing(last())]", beside=True)
    assert (count, states) == (step, view.states())


def blocked(notebook: Notebook, cell: str = WATCHED) -> Instrument:
    """A notebook whose last cell waits in the middle of a training loop."""
    notebook.open([SETUP, TRAINING, cell])
    notebook.run(0)
    notebook.run(1)
    notebook.run(2, wait=False)
    view = stepper(notebook, 2)
    view.is_at(0)
    return view


def test_a_cell_blocked_in_a_training_loop_serves_steps_hits_a_breakpoint_and_goes_on(notebook: Notebook) -> None:
    view = blocked(notebook)
    expect(notebook.output(2).first).to_have_text("watching step 3")
    waits(notebook, view, 0)
    view.press("F10", "F10")
    waits(notebook, view, 2)
    view.press("Shift+F10")
    waits(notebook, view, 1)
    view.click("tanh", "border")
    view.press("F9")
    view.says("at a breakpoint", "TanhBackward0")
    waits(notebook, view, 5)
    view.press("F9")
    notebook.wait_until_done(2)
    view.is_at(9)
    expect(view.status).to_have_text("9 of 9 done · finished")
    expect(notebook.output(2).last).to_contain_text("went on with")
    assert notebook.ask("trained == train(5)") is True


def test_an_interrupt_releases_a_blocked_cell_and_leaves_a_pass_that_can_go_on(notebook: Notebook) -> None:
    view = blocked(notebook)
    view.press("F10", "F10", "F10")
    waits(notebook, view, 3)
    notebook.interrupt()
    notebook.wait_until_done(2)
    expect(notebook.output(2).last).to_contain_text("KeyboardInterrupt")
    view.press("F10")
    view.is_at(4)
    view.get("tl-back").click()
    view.is_at(3)
    view.press("F9")
    view.is_at(9)
    assert notebook.ask("[last().finished, train(5) == train(5)]") == [True, True]


def test_a_view_that_is_closed_releases_its_cell_with_all_gradients(notebook: Notebook) -> None:
    view = blocked(notebook)
    view.press("F10", "F10")
    waits(notebook, view, 2)
    notebook.command("notebook:clear-cell-output")
    notebook.wait_until_done(2)
    expect(view.root).to_have_count(0)
    assert notebook.ask("trained == train(5)") is True


def test_views_of_one_run_move_together_and_two_runs_of_one_graph_do_not(notebook: Notebook) -> None:
    again = opened(notebook, "one = torch.show.stepper(loss)\none", "two = torch.show.stepper(loss)\ntwo", "one")
    one, two = stepper(notebook, 1), stepper(notebook, 2)
    one.press("F10", "F10", "F10")
    two.get("tl-next").click()
    again.is_at(3)
    two.is_at(1)
    assert one.states() == again.states() == notebook.ask("standing(one.session.run)")
    assert two.states() == notebook.ask("standing(two.session.run)")
    again.find("model.1")
    again.press("b")
    expect(one.root.get_by_role("treeitem", name="model.1")).to_contain_text("breakpoint")
    assert notebook.ask("[len(one.session.nodes), len(two.session.nodes)]") == [1, 0]
    # The cell is run again while its stepper is open: a new run takes the place of the old one, whose other view says so.
    notebook.run(1)
    fresh = stepper(notebook, 1)
    fresh.is_at(0)
    again.says("Closed", "its cell was run again")
    expect(again.status).to_have_text("closed")
    again.press("F10", "F9")
    expect(again.get("tl-next")).to_have_attribute("aria-disabled", "true")
    # The names go, the runs stay: a session owns its graph.
    notebook.run_code("del loss, model; gc.collect();")
    fresh.press("F9")
    two.press("F9")
    for view in (fresh, two):
        view.is_at(13)
        view.says("Finished")


WATCH = """
kept = [weakref.ref(thing) for thing in (
    view, view.session, loss.grad_fn, next(model.parameters()))]
comm = view.comm.comm_id
"""
HAS_COMM = "id => window.notebookPanel.sessionContext.session.kernel.hasComm(id)"
ALIVE = "[type(ref()).__name__ for ref in kept if ref() is not None]"


def test_a_closed_stepper_leaves_nothing_alive(notebook: Notebook) -> None:
    view = opened(notebook, "view = torch.show.stepper(loss)\ndisplay(view)")
    view.press("F10", "F10")
    view.is_at(2)
    notebook.tell(WATCH)
    element = view.root.element_handle()
    notebook.run_code("view.close()")
    expect(view.root).to_have_count(0)
    painted = element.get_attribute("data-painted")
    notebook.theme("dark")
    notebook.page.set_viewport_size({"width": 1100, "height": 800})
    notebook.run_code("del loss, model; gc.collect();")
    assert notebook.ask(ALIVE) == ["Stepper", "StepSession"]  # while a name of it is left: no graph, no values
    notebook.run_code("del view; gc.collect();")
    assert notebook.ask(ALIVE) == []
    assert notebook.ask("comm in __import__('comm').get_comm_manager().comms") is False
    assert notebook.page.evaluate(HAS_COMM, notebook.ask("comm")) is False
    assert element.get_attribute("data-painted") == painted
    notebook.theme("light")


def test_after_a_restart_of_the_kernel_the_view_says_that_it_is_closed(notebook: Notebook) -> None:
    view = opened(notebook)
    view.press("F10", "F10")
    view.is_at(2)
    notebook.page.evaluate("() => window.notebookPanel.sessionContext.session.kernel.restart()")
    notebook.page.wait_for_function(READY)
    expect(view.status).to_have_text("closed")
    view.says("Closed", "kernel")
    expect(view.get("tl-next")).to_have_attribute("aria-disabled", "true")
    view.press("F10", "ArrowUp")
    assert view.states()  # the picture stays
    notebook.run(0)
    notebook.run(1)
    stepper(notebook, 1).press("F10")
    stepper(notebook, 1).is_at(1)


def test_an_interrupt_in_the_middle_of_a_step_leaves_a_run_that_can_go_on(notebook: Notebook) -> None:
    slow = "import time\nhandle = list(model.parameters())[2].register_hook(lambda grad: time.sleep(100))"
    view = opened(notebook, slow, STEPPER)
    cell = notebook.cells.count()
    notebook.run_code("view.next(12)", wait=False)
    notebook.page.wait_for_timeout(300)
    notebook.interrupt()
    notebook.wait_until_done(cell)
    expect(notebook.output(cell)).to_contain_text("KeyboardInterrupt")
    view.says("interrupted")
    agrees(notebook, view, notebook.ask("view.session.run.count"))
    notebook.run_code("handle.remove()")
    view.press("F9")
    agrees(notebook, view, 13)
    assert notebook.ask("same()") == NAMES
