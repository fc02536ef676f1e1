"""The named states of the instruments: documents that Python writes and TypeScript draws, so one file is checked from both sides.

``python -m tests.widgets.states`` writes them anew (in a fresh process, so that nodes count from one); a test compares. Floats
are rounded, and addresses numbered, so that every machine writes the same.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import tensorlab as tl
from tensorlab import modes
from tensorlab.observe import wire
from tensorlab.observe.names import Names
from tensorlab.observe.session import StepSession
from tensorlab.observe.snapshot import snapshot

ROOT = Path(__file__).parents[2]
WIDGETS = ROOT / "widgets" / "tensorlab_widgets"


def network() -> dict[str, Any]:
    """A classifier with one hidden layer, the batch and the loss, by their names."""
    tl.manual_seed(0)
    model = tl.nn.Sequential(tl.nn.Linear(2, 8), tl.nn.Tanh(), tl.nn.Linear(8, 3))
    x, target = tl.randn(6, 2), tl.tensor([0, 1, 2, 0, 1, 2])
    logits = model(x)
    loss = tl.nn.functional.cross_entropy(logits, target)
    return {"model": model, "x": x, "target": target, "logits": logits, "loss": loss}


def graphs() -> dict[str, Any]:
    """The states of a graph view."""
    known = network()
    written = {"classifier": snapshot(known["loss"], Names(known))}
    x = tl.ones(4, requires_grad=True)
    written["leaf"] = snapshot(x, Names({"x": x}))
    y = tl.ones(4)
    written["no_grad"] = snapshot(y, Names({"y": y}))
    weight = tl.ones(2, requires_grad=True)
    written["markup"] = snapshot(
        (weight * 2).sum(), Names({"<img src=x onerror=alert(1)>": weight}), title="<b>&amp;</b>"
    )
    h = tl.zeros(3, 4)
    w = tl.eye(4).requires_grad_()
    for _ in range(40):
        h = (h @ w).tanh()
    written["recurrent"] = snapshot(h.sum(), Names({"w": w}), title="loss")
    known["loss"].backward()
    written["freed"] = snapshot(known["loss"], Names(known))
    written["cut"] = snapshot(h.sum(), Names({"w": w}), title="loss", limit=12)
    return {f"graph/{name}": wire.to_json(graph) for name, graph in written.items()}


def sessions() -> dict[str, Any]:
    """The states of a stepper, and what its inspector shows in some of them."""
    written: dict[str, Any] = {}
    known = network()
    session = StepSession(known["loss"], names=Names(known))
    tanh = next(node.seq for node in session.walk.nodes if node.name() == "TanhBackward0")

    def keep(name: str) -> None:
        written[name] = wire.to_json(session.state())

    keep("begin")
    session.ask("setBreakpoints", nodes=[tanh], predicates=[{"kind": "nan", "value": None}])
    session.ask("continue")
    keep("breakpoint")
    session.ask("setBreakpoints", nodes=[], predicates=[])
    session.ask("stepBack")
    session.ask("next")
    keep("middle")
    written["middle.node"] = session.ask("inspect", node=tanh)
    session.ask("setGradient", node=tanh, output=0, index=[0, 1], value=100)
    keep("edited")
    written["edited.node"] = session.ask("inspect", node=tanh)
    session.ask("setGradient", node=tanh, output=0, index=[2, 3], value="nan")
    keep("not_finite")
    written["not_finite.node"] = session.ask("inspect", node=tanh)
    session.ask("stepBack")
    session.ask("finish")
    keep("finished")
    leaf = next(node.seq for node in session.walk.nodes if node.name() == "AccumulateGrad")
    written["finished.node"] = session.ask("inspect", node=leaf)
    session.close()

    known = network()
    known["logits"].register_hook(_raise)
    session = StepSession(known["loss"], names=Names(known))
    session.ask("continue")
    keep("exception")
    return {f"stepper/{name}": document for name, document in written.items()}


def _raise(gradient: Any) -> None:
    raise ValueError("a hook that fails")


def documents() -> dict[str, Any]:
    """All states by ``instrument/name``, the same on every machine."""
    modes.watch_sites(True)
    storages: dict[int, int] = {}
    return {name: _steady(document, storages) for name, document in {**graphs(), **sessions()}.items()}


def _steady(value: Any, storages: dict[int, int], key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _steady(item, storages, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_steady(item, storages) for item in value]
    if key == "storage":
        return storages.setdefault(value, len(storages) + 1)
    if key == "time":
        return "12:00:00"
    return float(f"{value:.4g}") if isinstance(value, float) else value


def path(name: str) -> Path:
    instrument, _, state = name.partition("/")
    return WIDGETS / instrument / "states" / f"{state}.json"


def _text(document: Any) -> str:
    """JSON with a line for each field, and for each list of numbers."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return re.sub(r"\[\s+([^\[\]{}\"]*?)\s+\]", lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"


def written_by_a_fresh_process() -> dict[str, Any]:
    """The documents as a process writes them in which nothing else was made before."""
    code = "import json; from tests.widgets.states import documents; print(json.dumps(documents()))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


if __name__ == "__main__":
    for folder in ("graph", "stepper"):
        for old in (WIDGETS / folder / "states").glob("*.json"):
            old.unlink()
    for state, document in documents().items():
        path(state).parent.mkdir(exist_ok=True)
        path(state).write_text(_text(document), encoding="utf-8")
