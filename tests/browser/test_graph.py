"""The graph view in a page: walked with the mouse and with keys, and fed with graphs of every odd kind."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from tests.browser.instrument import Instrument
from tests.browser.lab import Notebook

SETUP = """
import tensorlab as torch

torch.manual_seed(0)
x = torch.randn(8, 3)
model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 4))
scale = torch.tensor(2.0, requires_grad=True)
loss = (model(x) * scale).exp().mean()
torch.show.graph(loss)
"""


def opened(notebook: Notebook, *cells: str) -> Instrument:
    """A notebook with a graph view in its last cell."""
    notebook.open(cells or (SETUP,))
    for cell in range(notebook.cells.count()):
        notebook.run(cell)
    return graph(notebook.output(notebook.cells.count() - 1))


def graph(where: Locator) -> Instrument:
    return Instrument(where.get_by_test_id("tl-graph"))


def test_the_picture_is_moved_and_scaled_with_the_mouse_and_with_keys(notebook: Notebook) -> None:
    view = opened(notebook)
    mouse = notebook.page.mouse
    with view.repainted():
        view.find("tanh")
    view.press("0")
    notebook.page.wait_for_timeout(400)  # it glides to where all of it is in sight
    x, y, width, height = view.at()
    mouse.move(*view.on_page(12, 12))
    mouse.down()
    with view.repainted():
        mouse.move(*view.on_page(52, 12), steps=4)
    mouse.up()
    assert view.at() == (x + 40, y, width, height)
    expect(view.inspector).to_contain_text("TanhBackward0")  # a drag is not a click
    centre = (x + 40 + width / 2, y + height / 2)
    mouse.move(*view.on_page(*centre))
    notebook.page.keyboard.down("Control")
    with view.repainted():
        mouse.wheel(0, -120)
    notebook.page.keyboard.up("Control")
    grown = view.at()
    assert grown[2] > 1.4 * width
    assert abs(grown[1] + grown[3] / 2 - centre[1]) <= 2  # what is under the pointer stays there
    with view.repainted():
        mouse.wheel(0, 40)
    assert view.at()[1] == grown[1] - 40
    view.press("0")
    moved_to(view, (x, y, width, height))
    view.press("+")
    view.page.wait_for_function(
        "size => Number(document.querySelector('.tl-canvas').dataset.at.split(' ')[2]) > size", arg=width + 20
    )
    view.press("-")
    view.get("tl-fit").click()
    moved_to(view, (x, y, width, height))


def moved_to(view: Instrument, place: tuple[int, ...]) -> None:
    """Waits until the opened node has glided to a place."""
    expect(view.canvas).to_have_attribute("data-at", " ".join(map(str, place)))


def test_a_node_is_found_and_tells_what_it_is_when_pointed_at_and_when_clicked(notebook: Notebook) -> None:
    view = opened(notebook)
    mouse = notebook.page.mouse
    view.press("/")
    find = view.get("tl-find")
    find.fill("addmm")
    expect(view.root.locator(".tl-count")).to_have_text("2")
    find.press("Enter")
    expect(view.inspector).to_contain_text("model.0")
    find.press("Enter")
    expect(view.inspector).to_contain_text("model.2")
    find.fill("no such thing")
    expect(view.root.locator(".tl-count")).to_have_text("none")
    find.press("Escape")
    expect(find).to_have_value("")
    where = view.place("tanh")
    mouse.move(*where, steps=3)
    card = view.root.get_by_role("tooltip")
    for text in (
        "tanh",
        "[8, 5] float32",
        "stride (5, 1)",
        "mean",
        "std",
        "NaN 0",
        "loss = (model(x)",
        "tanh",
    ):
        expect(card).to_contain_text(text)
    mouse.click(*where)
    expect(card).to_be_hidden()
    for text in (
        "TanhBackward0",
        "model.1",
        "made in cell 1, line 7",
        "What this node does",
        "1 − result²",
        "Saved for",
        "160 B",
        "version 0",
        "Its gradient goes to",
        "Its value",
    ):
        expect(view.inspector).to_contain_text(text)
    assert notebook.ask("loss.grad_fn.name()") == "MeanBackward0"
    view.inspector.get_by_role("button", name="AddmmBackward0").click()
    expect(view.inspector).to_contain_text("model.0")
    view.press("Escape")
    expect(view.inspector).to_contain_text("Kept for backward")


def test_the_keyboard_alone_walks_folds_and_opens_everything(notebook: Notebook) -> None:
    view = opened(notebook)
    view.focus()
    view.press("End")
    assert view.walked_to().startswith("loss = mean, [] · MeanBackward0")
    seen = []
    for _ in range(6):
        view.press("ArrowUp")
        seen.append(view.walked_to().split(",")[0])
    assert seen[:5] == ["exp", "mul", "linear", "tanh", "linear"]
    view.press("Home")
    assert view.walked_to().startswith("x")
    view.press("ArrowDown", "ArrowRight")
    assert view.walked_to() == "model.0.weight, [5, 3]"
    view.press("ArrowRight")
    assert view.walked_to() == "model.0.bias, [5]"
    view.press("Enter")
    expect(view.inspector).to_contain_text("AccumulateGrad")
    view.press("Escape")
    expect(view.inspector).to_contain_text("Parts")
    view.find("tanh")
    with view.repainted():
        view.press("f")
    view.says("Folded model")
    assert [row["text"] for row in view.rows() if row["open"] == "false"] == ["model, Sequential · 3 nodes"]
    assert "Tanh" not in "".join(row["text"] for row in view.rows())
    x, y, _, _ = view.at()
    notebook.page.mouse.click(*view.on_page(x + 13, y + 13))  # the mark that unfolds it
    view.says("Unfolded model")
    assert "TanhBackward0" in "".join(row["text"] for row in view.rows())
    view.get("tl-fold").click()
    view.says("Everything is folded")
    view.find("tanh")  # what is looked for comes out of its fold
    expect(view.inspector).to_contain_text("TanhBackward0")
    view.press("?")
    expect(view.get("tl-help")).to_contain_text("Arrows")
    view.press("Escape")
    expect(view.get("tl-help")).to_be_hidden()


EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"
NAMED = f"""
import tensorlab as torch
from collections import OrderedDict
net = torch.nn.Sequential(OrderedDict([({EVIL!r}, torch.nn.Linear(2, 2))]))
data = {{ {EVIL!r}: torch.ones(2, 2, requires_grad=True) }}
value = (net(data[{EVIL!r}]) ** 2).sum()  # {EVIL}
"""


def test_names_with_markup_are_shown_as_they_are_and_run_nothing(notebook: Notebook) -> None:
    asked: list[str] = []
    notebook.page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    cells = [
        NAMED,
        "value",
        "net",
        f"torch.show.stepper(value, title={EVIL!r})",
        f"torch.show.graph(value, title={EVIL!r})",
    ]
    view = opened(notebook, *cells)
    assert "<script>" in "".join(row["text"] for row in view.rows())
    expect(view.root.locator(".tl-of")).to_have_text(EVIL)
    view.find("addmm")
    expect(view.inspector).to_contain_text(EVIL)
    notebook.page.mouse.move(*view.place("pow"))
    expect(view.root.get_by_role("tooltip")).to_contain_text(EVIL)
    view.find(EVIL)
    stepper = Instrument(notebook.output(3).get_by_test_id("tl-stepper"))
    stepper.press("F9")
    stepper.says("Finished")
    for cell in range(1, 5):
        output = notebook.output(cell)
        expect(output.get_by_test_id("tl-canvas")).to_be_visible()
        expect(output.locator("script, img")).to_have_count(0)
    assert asked == []


ODD = {
    "torch.zeros(0, 3, requires_grad=True).sum()": ("SumBackward0", "[0, 3]"),
    "torch.tensor(2.0, requires_grad=True) * 3": ("MulBackward0", "[]"),
    "torch.tensor([float('nan'), 1.0, float('inf')], requires_grad=True).exp()": ("ExpBackward0", "NaN 1 · Inf 1"),
    "torch.zeros(2, 0, requires_grad=True) @ torch.zeros(0, 2)": ("MmBackward0", "[2, 2]"),
    "torch.ones(1, requires_grad=True).expand(1000, 1000, 1000)": ("ExpandBackward0", "[1000, 1000, 1000]"),
    "torch.ones(3)": ("y", "no grad"),
}


def test_odd_tensors_are_shown_and_can_be_opened(notebook: Notebook) -> None:
    notebook.open(["import tensorlab as torch", *(f"y = {code}\ntorch.show.graph(y)" for code in ODD)])
    for cell, (name, text) in enumerate([("", ""), *ODD.values()]):
        notebook.run(cell)
        if not cell:
            continue
        view = graph(notebook.output(cell))
        view.press("End", "Enter")
        expect(view.inspector).to_contain_text(name)
        expect(view.inspector).to_contain_text(text)
        expect(view.error).to_have_count(0)


DEEP = """
import tensorlab as torch
x = torch.ones(2, requires_grad=True)
y = x
for _ in range(20_000):
    y = y * 1.0
deep = y.sum()
"""


def test_a_graph_of_twenty_thousand_nodes_opens_and_is_walked_from_end_to_end(notebook: Notebook) -> None:
    view = opened(notebook, DEEP, "torch.show.graph(deep, limit=30_000)")
    expect(view.status).to_have_text("20,002 nodes")
    view.press("Home")
    assert view.walked_to().startswith("x")
    view.press("End")
    assert "SumBackward0" in view.walked_to()
    view.find("sum")
    expect(view.inspector).to_contain_text("SumBackward0")
    view.press("0", "ArrowUp", "ArrowUp", "Escape")
    expect(view.error).to_have_count(0)
    notebook.tell("del deep, y; __import__('gc').collect()")
    view.find("MulBackward0")
    expect(view.inspector).to_contain_text("this node is gone")
