"""Every live view as a page that needs no kernel, and what is done to all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect

import tensorlab as tl
from tensorlab.display.player import view_page
from tests.browser.server import REPOSITORY

AXE = REPOSITORY / "node_modules" / "axe-core" / "axe.min.js"

#: Violations that keep somebody out, in a part of the page.
CHECK = """async root => {
  const { violations } = await axe.run(root, { resultTypes: ['violations'] });
  return violations.filter(found => ['serious', 'critical'].includes(found.impact)).map(found =>
    `${found.id} (${found.impact}): ${found.help}: ` +
    found.nodes.slice(0, 4).map(node => `${node.html.slice(0, 120)} ${node.any.concat(node.all).map(a => a.message)[0]}`).join(' | '));
}"""


def trained(steps: int = 6) -> tuple[Any, Any]:
    """A small model with a part that is never used, and a view of its gradients."""
    from tensorlab_widgets import FlowView

    tl.manual_seed(0)
    model = tl.nn.Sequential(tl.nn.Linear(3, 8), tl.nn.Tanh(), tl.nn.Linear(8, 2))
    model.register_parameter("unused", tl.nn.Parameter(tl.zeros(2)))
    optimizer = tl.optim.SGD(model.parameters(), lr=0.05)
    view = FlowView(model, title="model")
    x, y = tl.randn(16, 3), tl.randn(16, 2)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward(retain_graph=True)
        view.log(loss)
        optimizer.step()
    return model, view


def flow() -> str:
    """Gradient flow."""
    model, view = trained()
    text = view.page()
    view.close()
    del model
    return text


def layout() -> str:
    """A layout, with what it meets."""
    from tensorlab_widgets import LayoutView

    x = tl.arange(12.0).reshape(3, 4)
    y, row = x.t(), tl.arange(3.0)
    view = LayoutView(y, row, title="y")
    text = view.page()
    view.close()
    return text


def graph() -> str:
    """The graph of a loss."""
    from tensorlab_widgets import GraphView

    view = GraphView(_loss(), title="loss")
    text = view.page()
    view.close()
    return text


def player() -> str:
    """A recorded backward pass."""
    from tensorlab_widgets import Stepper

    view = Stepper(_loss(), title="loss")
    text = view.page()
    view.close()
    return text


def stepper() -> str:
    """The stepper itself, before its first step."""
    from tensorlab_widgets import Stepper
    from tensorlab_widgets.instrument import Instrument, bundle_text, sheets

    view = Stepper(_loss(), title="loss")
    answers = [list(answer) for answer in Instrument._kept_answers(view)]
    text = view_page(
        answers, bundle_text("stepper.js"), bundle_text("page.js"), sheets("stepper", "page"), "", "loss", "loss"
    )
    view.close()
    return text


def hooks() -> str:
    """Hooks of a model."""
    model = tl.nn.Sequential(tl.nn.Linear(3, 4), tl.nn.ReLU(), tl.nn.Linear(4, 2))
    model[0].weight.register_hook(lambda gradient: gradient * 0.5)
    model[1].register_forward_hook(lambda module, inputs, output: None)
    view = tl.show.hooks(model)
    model(tl.randn(5, 3)).sum().backward()
    text = view.page()
    view.close()
    return text


def _scaled(x: tl.Tensor) -> tl.Tensor:
    out = x * 2
    for _ in range(2):
        out = out + 1
    out.mul_(3)
    return out.sum()


def lines() -> str:
    """A function, line by line."""
    view = tl.show.lines(_scaled, tl.ones(4, requires_grad=True))
    text = view.page()
    view.close()
    return text


def _loss() -> tl.Tensor:
    tl.manual_seed(0)
    x = tl.randn(4, 3)
    model = tl.nn.Sequential(tl.nn.Linear(3, 5), tl.nn.Tanh(), tl.nn.Linear(5, 2))
    return (model(x) ** 2).mean()


VIEWS: dict[str, Callable[[], str]] = {
    made.__name__: made for made in (flow, layout, graph, player, stepper, hooks, lines)
}


def opened(browser: Browser, name: str, folder: Path, theme: str = "light", width: int = 1100) -> tuple[Page, Locator]:
    """A view in a page of its own, drawn, and its root."""
    file = folder / f"{name}.html"
    if not file.exists():
        file.write_text(VIEWS[name](), encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
    page.goto(file.as_uri())
    root = page.locator(".tl").first
    root.wait_for()
    expect(root).not_to_have_attribute("data-painted", "0")
    return page, root


def violations(page: Page, root: Locator) -> list[str]:
    """What axe finds serious or critical in a view."""
    page.evaluate(AXE.read_text("utf-8"))
    return root.evaluate(CHECK)


#: Opens and closes a view so many times with the answers that its page holds.
CYCLES = """async times => {
  const { answers } = JSON.parse(document.getElementById('recording').textContent);
  const keyOf = (command, given) => command + JSON.stringify(given);
  const known = new Map(answers.map(([command, given, refused, body]) => [keyOf(command, given), [refused, body]]));
  const frame = () => new Promise(done => requestAnimationFrame(done));
  const host = document.createElement('div');
  document.body.append(host);
  for (let i = 0; i < times; i++) {
    const listeners = new Set();
    const model = {
      send({ seq, command, arguments: given }) {
        const [refused, body] = known.get(keyOf(command, given)) ?? ['nobody is there', null];
        const reply = { type: 'response', seq, command, success: refused === null, message: refused, body };
        queueMicrotask(() => listeners.forEach(listener => listener(structuredClone(reply))));
      },
      on: (event, callback) => event === 'msg:custom' && listeners.add(callback),
      off: (event, callback) => listeners.delete(callback),
    };
    const el = document.createElement('div');
    host.append(el);
    const undo = await instrument.render({ model, el });
    await frame();
    undo();
    if (listeners.size) throw new Error(`${listeners.size} listeners of the model are left after closing`);
    if (el.childElementCount) throw new Error('elements are left after closing');
    el.remove();
  }
  host.remove();
  await frame();
}"""


def counted(page: Page) -> dict[str, float]:
    """Nodes and listeners of a page after its garbage was collected."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    for _ in range(3):
        session.send("HeapProfiler.collectGarbage")
    found = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
    session.detach()
    return {name: found[name] for name in ("Nodes", "JSEventListeners", "JSHeapUsedSize")}


def readable(part: Locator) -> str:
    """A part of a page as a screen reader is told of it."""
    return json.loads(json.dumps(part.aria_snapshot()))
