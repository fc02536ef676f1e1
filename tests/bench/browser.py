"""The instruments timed in a real JupyterLab with a real Chromium; prints medians beside their targets, asserts nothing.

    python tests/bench/browser.py [rounds]

Times of the page are taken in the page: from the key, or from the command that runs a cell, to the frame that shows the
result. Needs the built bundles (`make bundles`).
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from playwright.sync_api import sync_playwright

from tests.browser import chromium
from tests.browser.instrument import Instrument
from tests.browser.lab import Notebook
from tests.browser.server import REPOSITORY, environment, jupyterlab

SETUP = """
import random
import tensorlab as torch
torch.manual_seed(0)
random.seed(0)

def irregular(nodes):
    w = torch.randn(4, requires_grad=True)
    near = [w * 1, w + 1]
    steps = [lambda a, b: a * b, lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a.tanh(),
             lambda a, b: a.sin(), lambda a, b: a.cos(), lambda a, b: a.abs()]
    while nodes > 3:
        near = [*near[-6:], random.choice(steps)(near[-1], random.choice(near))]
        nodes -= 1
    return near[-1].sum()

def residual(blocks):
    w, x = torch.randn(4, requires_grad=True), torch.randn(4, requires_grad=True)
    y = x
    for _ in range(blocks):
        y = (y * w).tanh() + y
    return y.sum()

def recurrent(steps):
    cell, inner = torch.nn.Linear(4, 8), torch.nn.Linear(8, 8)
    h = torch.zeros(2, 8)
    for step in range(steps):
        h = torch.tanh(cell(torch.randn(2, 4)) + inner(h))
    return (h ** 2).mean()

def classified():
    net = torch.nn.Sequential(*[layer for _ in range(12) for layer in (torch.nn.Linear(64, 64), torch.nn.Tanh())],
                              torch.nn.Linear(64, 10))
    return torch.nn.functional.cross_entropy(net(torch.randn(64, 64)), torch.arange(64) % 10)

big, folded, long, loss = irregular(10_000), residual(3333), recurrent(600), classified()
"""

# A training loop of the size of lesson 1, timed with and without what a notebook switches on.
LOOP = """
import time
import tensorlab as torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
optimizer, loss_of = torch.optim.Adam(net.parameters(), lr=1e-3), torch.nn.CrossEntropyLoss()
x, y = torch.randn(32, 64), torch.randint(0, 10, (32,))

def seconds(steps=150):
    start = time.perf_counter()
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(net(x), y).backward()
        optimizer.step()
    return time.perf_counter() - start

def cost_of_sites(pairs=200):
    from tensorlab import modes
    ratios = []
    for pair in range(pairs):
        times = {}
        for on in (True, False) if pair % 2 else (False, True):
            modes.watch_sites(on)
            times[on] = seconds(30)
        ratios.append(times[True] / times[False])
    modes.watch_sites(True)
    return sorted(ratios)[pairs // 2]

best = lambda: min(seconds() for _ in range(15))
"""

FIRST_PAINT = """async source => {
  const content = window.notebookPanel.content;
  content.activeCellIndex = content.widgets.length - 1;
  const { node, model } = content.activeCell;
  model.sharedModel.setSource(source);
  const old = node.querySelector('[data-painted]');
  const start = performance.now();
  window.jupyterapp.commands.execute('notebook:run-cell');
  return await new Promise(done => {
    const look = () => {
      const root = node.querySelector('.jp-OutputArea [data-painted]');
      if (root && root !== old && Number(root.dataset.painted) > 0) done(performance.now() - start);
      else requestAnimationFrame(look);
    };
    look();
  });
}"""

# From each keydown to the frame in which picture and inspector show the step after it.
WATCH_STEPS = """root => {
  window.steps = [];
  const inspector = root.querySelector('[data-testid="tl-inspector"]');
  const painted = () => Number(root.dataset.painted);
  let start = 0, wanted = -1, before = painted();
  root.addEventListener('keydown', event => {
    if (event.key === 'F10') [start, wanted] = [event.timeStamp, Number(root.dataset.step) + 1];
  }, true);
  const look = () => {
    if (Number(root.dataset.step) !== wanted) before = painted();
    else if (painted() > before && Number(inspector.dataset.step) === wanted) {
      window.steps.push(performance.now() - start);
      wanted = -1;
    }
    requestAnimationFrame(look);
  };
  look();
}"""

WATCH_FRAMES = """root => {
  window.seen = [];
  let painted = Number(root.dataset.painted);
  window.counting = true;
  const look = now => {
    if (Number(root.dataset.painted) > painted) window.seen.push(now);
    painted = Number(root.dataset.painted);
    if (window.counting) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""

# A wheel turned with Ctrl, faster than frames come (Playwright's own wheel waits for every second frame).
ZOOM = """async (canvas, [clientX, clientY]) => {
  for (let turn = 0; turn < 400; turn++) {
    const deltaY = turn % 80 < 40 ? 6 : -6;
    canvas.dispatchEvent(new WheelEvent('wheel', { deltaY, ctrlKey: true, clientX, clientY, bubbles: true, cancelable: true }));
    await new Promise(done => setTimeout(done, 6));
  }
}"""

COUNT_MESSAGES = """() => {
  window.heard = {};
  window.notebookPanel.sessionContext.session.kernel.iopubMessage.connect((_, message) => {
    window.heard[message.header.msg_type] = (window.heard[message.header.msg_type] ?? 0) + 1;
  });
}"""


@contextmanager
def page_of(home: Path) -> Iterator[Notebook]:
    """A notebook driver in a JupyterLab of its own."""
    arguments = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
    with jupyterlab(home) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=arguments)
        context = browser.new_context(viewport={"width": 1400, "height": 900}, device_scale_factor=1)
        yield Notebook(context.new_page(), server)
        browser.close()


def row(what: str, figures: Sequence[float], unit: str, target: str) -> None:
    """One line: median, 95th percentile, target."""
    ordered = sorted(figures)
    p95 = ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]
    print(f"{what:52}{statistics.median(figures):9.1f} {unit:4}p95 {p95:8.1f}   target {target}", flush=True)


def first_paint(notebook: Notebook, what: str, source: str, rounds: int, target: str) -> None:
    """Opens a view several times in the only cell."""
    row(what, [notebook.page.evaluate(FIRST_PAINT, source) for _ in range(rounds)], "ms", target)


def last(notebook: Notebook, name: str) -> Instrument:
    """The instrument in the last cell."""
    return Instrument(notebook.output(notebook.cells.count() - 1).get_by_test_id(name))


def frames(notebook: Notebook, view: Instrument, what: str, *, zooming: bool = False) -> None:
    """Frames per second that show something new while the mouse drags, or the wheel zooms."""
    mouse = notebook.page.mouse
    x, y = view.on_page(300, 250)
    mouse.move(x, y)
    view.root.evaluate(WATCH_FRAMES)
    if zooming:
        view.canvas.evaluate(ZOOM, [x, y])
    else:
        mouse.down()
        for turn in range(300):
            mouse.move(x + 200 * ((turn % 60) / 30 - 1), y + 3 * (turn % 80))
        mouse.up()
    seen = notebook.page.evaluate("() => { window.counting = false; return window.seen; }")
    gaps = [later - earlier for earlier, later in zip(seen, seen[1:], strict=False)]
    print(f"{what:52}{1000 / statistics.median(gaps):9.1f} fps  mean {1000 / statistics.mean(gaps):7.1f}   target 50")


def steps(notebook: Notebook, view: Instrument, what: str, count: int = 30) -> None:
    """Steps by key, each pressed a fifth of a second after the last was shown."""
    view.focus()
    view.root.evaluate(WATCH_STEPS)
    for k in range(count):
        notebook.page.keyboard.press("F10")
        notebook.page.wait_for_function("count => window.steps.length === count", arg=k + 1, polling=50)
        notebook.page.wait_for_timeout(200)
    row(what, notebook.page.evaluate("window.steps"), "ms", "100, p95 200")


def silence(notebook: Notebook) -> None:
    """What a training loop costs in a notebook while no view is open, and what is said meanwhile."""
    notebook.open([LOOP, "best()"], name="loop.ipynb")
    notebook.run(0)
    notebook.page.evaluate(COUNT_MESSAGES)
    notebook.run(1)
    heard = notebook.page.evaluate("window.heard")
    print(
        f"{'messages of a cell that trains':52}{sum(n for k, n in heard.items() if k.startswith('comm')):9} comm"
        f"   of {json.dumps(heard)}   target 0"
    )
    print(f"{'training loop, sites on / off, one kernel':64}{notebook.ask('cost_of_sites()'):9.4f}   target 1.01")
    command = [sys.executable, "-c", LOOP + "print(best())"]
    ratios: dict[str, list[float]] = {"as it is": [], "all of ours switched off": []}
    for turn in range(10):
        with tempfile.TemporaryDirectory() as home:
            plain = float(subprocess.check_output(command, env=environment(Path(home)), cwd=REPOSITORY))
        what = list(ratios)[turn % 2]
        notebook.tell(f"from tensorlab.display import formatters as f; f.{'unregister' if turn % 2 else 'register'}()")
        ratios[what].append(notebook.ask("best()") / plain)
    for what, found in ratios.items():
        print(f"{'training loop, notebook / plain process, ' + what:64}{statistics.median(found):9.4f}")


def lesson(notebook: Notebook, rounds: int) -> None:
    """How long lesson 1 trains."""
    notebook.open(REPOSITORY / "notebooks" / "01_step_through_backward.ipynb", name="lesson.ipynb")
    sources = notebook.page.evaluate(
        "window.notebookPanel.content.widgets.map(each => each.model.sharedModel.getSource())"
    )
    training = next(i for i, source in enumerate(sources) if "optimizer.step()" in source and source.startswith("from"))
    for cell in range(training):
        notebook.run(cell)
    timed = (
        "async i => { const t = performance.now(); window.notebookPanel.content.activeCellIndex = i;"
        " await window.jupyterapp.commands.execute('notebook:run-cell'); return (performance.now() - t) / 1000; }"
    )
    row("lesson 1, training cell", [notebook.page.evaluate(timed, training) for _ in range(rounds)], "s", "10")


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as home, page_of(Path(home) / "lab") as notebook:
        notebook.open(["1"], name="bench.ipynb")
        notebook.tell(SETUP)
        first_paint(notebook, "first view of a kernel and a page", "torch.show.graph(loss)", 1, "none")
        first_paint(notebook, "10,000-node graph, call to first paint", "torch.show.graph(big)", rounds, "500")
        view = last(notebook, "tl-graph")
        frames(notebook, view, "10,000-node graph, pan (close)")
        frames(notebook, view, "10,000-node graph, zoom (close)", zooming=True)
        view.get("tl-fit").click()
        notebook.page.wait_for_timeout(400)
        frames(notebook, view, "10,000-node graph, zoom (whole)", zooming=True)
        view.press("0", *["+"] * 5)
        notebook.page.wait_for_timeout(400)
        frames(notebook, view, "10,000-node graph, pan (far)")
        first_paint(notebook, "10,000 nodes in 3,333 repeats, first paint", "torch.show.graph(folded)", rounds, "500")
        first_paint(notebook, "600-step recurrent net, graph, first paint", "torch.show.graph(long)", rounds, "500")
        first_paint(notebook, "600-step recurrent net, stepper, first paint", "torch.show.stepper(long)", rounds, "500")
        steps(notebook, last(notebook, "tl-stepper"), "600-step recurrent net, key to painted values")
        first_paint(notebook, "12-layer classifier, stepper, first paint", "torch.show.stepper(loss)", rounds, "500")
        steps(notebook, last(notebook, "tl-stepper"), "12-layer classifier, key to painted values")
        notebook.page.evaluate(FIRST_PAINT, "torch.show.stepper(loss, block=True, retain_graph=True)")
        view = last(notebook, "tl-stepper")
        steps(notebook, view, "the same while the cell is blocked")
        view.press("F9")
        silence(notebook)
        lesson(notebook, 3)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
