"""Gradients while a model trains: one norm a parameter and step, and now and then a closer look.

A recorder listens to the steps of whatever optimizer moves its parameters, and takes norms. It may use a twentieth of the time: the
first steps are all recorded, and where steps are quicker than that later ones are left out, never too slow ones. Twenty times a second
at most it looks at samples: how far weights moved, which signs changed, which units are dead. Nobody is told anything: a view asks.
``detach()`` takes every hook off, and then it costs nothing.
"""

from __future__ import annotations

import math
import time
import weakref
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tensorlab import backend
from tensorlab.observe.preview import norm as careful_norm
from tensorlab.observe.schema import FLOW, Finding, FlowDocument
from tensorlab.observe.words import count_text, number_text, shape_text
from tensorlab.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from tensorlab.tensor import Tensor

NONE, ZERO, FINITE, NOT_FINITE = range(4)
#: Steps that are kept, elements of a parameter that a closer look takes, and seconds between closer looks.
KEPT, SAMPLE, PERIOD = 600, 1024, 0.05
#: Steps that are all recorded, and how often its own cost a recorder lets pass after that.
FIRST, BUDGET = 200, 20
VANISHED, EXPLODED, PATIENCE = 1e-4, 1e3, 5


class FlowRecorder:
    """Norms of the gradients of ``parameters``, pairs (name, tensor), at every optimizer step. Holds the tensors weakly."""

    def __init__(self, parameters: Iterable[tuple[str, Tensor]], title: str, model: Any = None) -> None:
        pairs = list(parameters)
        if not pairs:
            raise ValueError("there are no parameters whose gradients could be followed")
        self.title = title
        self.names = tuple(name for name, _ in pairs)
        self.shapes = tuple(shape_text(p.shape) for _, p in pairs)
        self._parameters = [weakref.ref(p) for _, p in pairs]
        self._ids = {id(p) for _, p in pairs}
        self.step = 0
        self._rows: deque[tuple[int, list[float], list[int], float | None]] = deque(maxlen=KEPT)
        self._before: list[Any] | None = None
        self._signs: list[Any] = [None] * len(pairs)
        self._weight: list[float | None] = [None] * len(pairs)
        self._update: list[float | None] = [None] * len(pairs)
        self._flips: list[float | None] = [None] * len(pairs)
        self.dead: dict[str, tuple[float, int]] = {}
        self._loss: float | None = None
        self._looked = 0.0
        self._due = 0.0  # when the next step may be recorded
        self._handles = [
            register_optimizer_step_pre_hook(self._stepping),
            register_optimizer_step_post_hook(self._stepped),
        ]
        units = model.named_modules() if model is not None else ()
        self._units = [(n, weakref.ref(m)) for n, m in units if type(m).__name__ in ("ReLU", "ReLU6")]

    # ---------------------------------------------------------------------------------------------- listening

    @property
    def attached(self) -> bool:
        """Whether steps are recorded."""
        return bool(self._handles)

    def detach(self) -> None:
        """Take every hook off. What was recorded stays."""
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self._before = None

    def log(self, loss: Any) -> None:
        """Note the loss of the step that comes next."""
        self._loss = float(loss.detach()) if isinstance(loss, Tensor) else float(loss)

    def note(self) -> None:
        """Record the gradients as they are now as one step, for loops without an optimizer of ours."""
        norms, states = [], []
        with np.errstate(all="ignore"):
            for known in self._parameters:
                p = known()
                size, state = measure(p._grad) if p is not None else (math.nan, NONE)
                norms.append(size)
                states.append(state)
        self._rows.append((self.step, norms, states, self._loss))
        self.step += 1
        self._loss = None

    def _ours(self, optimizer: Any) -> bool:
        return any(id(p) in self._ids for group in optimizer.param_groups for p in group["params"])

    def _stepping(self, optimizer: Any, *_: Any) -> None:
        start = time.perf_counter()
        if not self._ours(optimizer):
            return
        if self.step >= FIRST and start < self._due:
            self.step += 1
            self._loss = None
            return
        self.note()
        if start - self._looked >= PERIOD:
            self._looked = start
            self._look()
        now = time.perf_counter()
        self._due = now + BUDGET * (now - start)

    def _stepped(self, optimizer: Any, *_: Any) -> None:
        if self._before is None or not self._ours(optimizer):
            return
        before, self._before = self._before, None
        for i, (known, old) in enumerate(zip(self._parameters, before, strict=True)):
            p = known()
            if p is not None and old is not None:
                size = float(np.sqrt(np.square(old, dtype=np.float64).sum()))
                moved = _sample(p._a).astype(np.float64) - old
                self._weight[i] = size
                self._update[i] = float(np.sqrt(np.square(moved).sum())) / size if size else None

    def _look(self) -> None:
        """A closer look at a sample of every parameter, and at units when they next run."""
        while len(self._handles) > 2:
            self._handles.pop().remove()
        self._watch_units()
        self._before = []
        for i, known in enumerate(self._parameters):
            p = known()
            self._before.append(None if p is None else _sample(p._a).astype(np.float64))
            if p is None or p._grad is None:
                continue
            signs = np.sign(_sample(p._grad._a).astype(np.float32))
            old, self._signs[i] = self._signs[i], signs
            if old is not None and old.shape == signs.shape and signs.size:
                self._flips[i] = float(np.mean(old * signs < 0))

    def _watch_units(self) -> None:
        """Look once, in the next forward pass, at the units of every ReLU: which gave nothing for a whole batch."""
        for name, known in self._units:
            module = known()
            if module is not None:
                self._handles.append(module.register_forward_hook(_Once(self, name)))

    # ---------------------------------------------------------------------------------------------- telling

    def document(self, since: int = -1) -> FlowDocument:
        """What was recorded after step ``since``, and what needs a look."""
        rows = [row for row in list(self._rows) if row[0] > since]
        found = self.findings()
        return FlowDocument(
            schema=FLOW,
            title=self.title,
            names=self.names,
            shapes=self.shapes,
            steps=tuple(row[0] for row in rows),
            norm=tuple(tuple(_finite(row[1][i]) for row in rows) for i in range(len(self.names))),
            state=tuple(tuple(row[2][i] for row in rows) for i in range(len(self.names))),
            weight=tuple(map(_finite, self._weight)),
            update=tuple(map(_finite, self._update)),
            flips=tuple(map(_finite, self._flips)),
            loss=tuple(_finite(row[3]) for row in rows),
            findings=found,
            attached=self.attached,
            sentence=self._sentence(found),
        )

    def _sentence(self, found: Sequence[Finding]) -> str:
        of = f" of {self.title}" if self.title else ""
        if not self._rows:
            return f"No optimizer step{of} was seen yet. Train, and the gradients appear here."
        _, norms, states, _ = self._rows[-1]
        real = [n for n, s in zip(norms, states, strict=True) if s == FINITE]
        between = f"norms from {number_text(min(real))} to {number_text(max(real))}" if real else "no finite gradient"
        look = f" {count_text(len(found), 'thing')} to look at." if found else " Nothing needs a look."
        return f"Step {self.step - 1}{of}: {count_text(len(self.names), 'parameter')}, {between}.{look}"

    def findings(self) -> tuple[Finding, ...]:
        """What needs a look, the gravest first."""
        rows = list(self._rows)
        if not rows:
            return ()
        found = [f for i in range(len(self.names)) if (f := self._finding(i, rows)) is not None]
        for name, (part, step) in self.dead.items():
            if part >= 0.5:
                what = f"{part:.0%} of the units gave 0 for a whole batch"
                found.append(
                    Finding(name or "ReLU", "dead", step, what, "Lower the learning rate, or use LeakyReLU or GELU.")
                )
        order = ["not finite", "exploded", "vanished", "none", "zero", "dead", "large update", "small update"]
        return tuple(sorted(found, key=lambda f: order.index(f.kind)))

    def _finding(self, i: int, rows: Sequence[Any]) -> Finding | None:
        name, state = self.names[i], rows[-1][2][i]
        if state in (NONE, ZERO, NOT_FINITE):
            return self._steady(i, rows, state)
        norms = [row[1][i] for row in rows if row[2][i] == FINITE]
        now, earlier = norms[-1], sorted(norms[: max(len(norms) - PATIENCE, 1)])
        usual = earlier[len(earlier) // 2]
        beside = sorted(n for n, s in zip(rows[-1][1], rows[-1][2], strict=True) if s == FINITE)
        middle = beside[len(beside) // 2]
        if (usual and now < usual * VANISHED) or (len(beside) > 2 and now < middle * 1e-6):
            since = _since(rows, i, lambda n: n < max(usual * VANISHED, middle * 1e-6))
            return Finding(
                name, "vanished", since, f"its norm fell to {number_text(now)}, usually {number_text(max(usual, middle))}",
                "Look for saturated activations before it; normalise, use residual connections, or another initialisation.",
            )  # fmt: skip
        if len(norms) > PATIENCE and usual and now > usual * EXPLODED:
            since = _since(rows, i, lambda n: n > usual * EXPLODED)
            return Finding(
                name, "exploded", since, f"its norm grew to {number_text(now)}, usually {number_text(usual)}",
                "Clip gradients (nn.utils.clip_grad_norm_) or lower the learning rate.",
            )  # fmt: skip
        update = self._update[i]
        if update is not None and update > 0.1:
            what = f"one step moved the weights by {update:.0%} of their size"
            return Finding(name, "large update", rows[-1][0], what, "Lower the learning rate; about 0.1% is usual.")
        if update is not None and 0 < update < 1e-7:
            what = f"one step moved the weights by {number_text(update)} of their size"
            return Finding(name, "small update", rows[-1][0], what, "Raise the learning rate; about 0.1% is usual.")
        return None

    def _steady(self, i: int, rows: Sequence[Any], state: int) -> Finding | None:
        """A gradient that is None, all zeros or not finite, and since when."""
        name, p = self.names[i], self._parameters[i]()
        since = rows[-1][0]
        for row in reversed(rows):
            if row[2][i] != state:
                break
            since = row[0]
        if state == NOT_FINITE:
            return Finding(name, "not finite", since, "its gradient holds NaN or infinity", "Call why_nan(loss).")
        if state == NONE:
            if p is not None and not p.requires_grad:
                return None
            ever = any(row[2][i] != NONE for row in rows)
            what = "its gradient is None" if ever else "it has had no gradient: the loss does not use it"
            return Finding(name, "none", since, what, f"Call explain_grad({name}, loss).")
        if rows[-1][0] - since >= PATIENCE:
            return Finding(
                name,
                "zero",
                since,
                "its gradient is exactly 0",
                "Dead units, a mask, or a saturated function before it?",
            )
        return None


class _Once:
    """A hook that counts silent units the first time it is called, and nothing after that."""

    def __init__(self, recorder: FlowRecorder, name: str) -> None:
        self.recorder: FlowRecorder | None = recorder
        self.name = name

    def __call__(self, module: Any, inputs: Any, output: Any) -> None:
        recorder, self.recorder = self.recorder, None
        if recorder is None or not isinstance(output, Tensor) or output.dim() < 2:
            return
        a = backend.to_host(output._a if output._a.size <= 1 << 20 else output._a[:64])
        silent = np.asarray((a <= 0).all(axis=tuple(d for d in range(a.ndim) if d != 1)))
        recorder.dead[self.name] = (float(silent.mean()) if silent.size else 0.0, recorder.step)


def _since(rows: Sequence[Any], i: int, bad: Any) -> int:
    since = rows[-1][0]
    for row in reversed(rows):
        if row[2][i] != FINITE or not bad(row[1][i]):
            break
        since = row[0]
    return since


def measure(gradient: Any) -> tuple[float, int]:
    """The norm of a gradient, and what it is: none, zero, finite or not."""
    if gradient is None:
        return math.nan, NONE
    a = gradient._a
    if type(a) is np.ndarray and a.dtype.kind == "f" and a.itemsize >= 4:
        flat = a.ravel(order="K")
        size = math.sqrt(float(np.dot(flat, flat)))
        if size == 0.0 or not math.isfinite(size):  # squares that vanish or overflow, or are what they seem
            size = careful_norm(a)
    else:
        size = careful_norm(backend.to_host(a))
    if not math.isfinite(size):
        return size, NOT_FINITE
    return size, FINITE if size else ZERO


def _sample(a: Any) -> np.ndarray:
    """Evenly spread elements of an array, in host memory."""
    flat = a.reshape(-1)
    return backend.to_host(flat[:: max(1, flat.size // SAMPLE)]).copy()


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
