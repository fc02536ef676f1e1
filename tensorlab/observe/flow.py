"""Gradients while a model trains: one norm a parameter and step, and now and then a closer look.

A recorder listens to the steps of whatever optimizer moves its parameters, and takes norms. It may use a fortieth of the time: the
first steps are all recorded, and where steps are quicker than that later ones are left out, never too slow ones. Twenty times a second
at most it looks at samples: how far weights moved, which signs changed, how sizes are spread, which units are dead. Nobody is told
anything: a view asks. ``detach()`` takes every hook off, and then it costs nothing.
"""

from __future__ import annotations

import math
import time
import weakref
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tensorlab import taps
from tensorlab.observe import findings as judging
from tensorlab.observe.closer import Look, Watch, measure, sample, spread
from tensorlab.observe.findings import NONE
from tensorlab.observe.schema_training import FINDINGS, FLOW, FLOW_NOW, LEVELS, Finding, FlowDocument, FlowNow, Ridge
from tensorlab.observe.words import count_text, number_text, shape_text
from tensorlab.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from tensorlab.tensor import Tensor

#: Steps and looks that are kept, and seconds between looks.
KEPT, LOOKS, PERIOD = 600, 40, 0.05
#: Steps that are all recorded, and how often its own cost a recorder lets pass after that.
FIRST, BUDGET = 200, 40
#: Steps for which a change, or a step that was left out, is worth a word.
RECENT = 50
#: Findings that a document holds.
SHOWN = 24


class Row(NamedTuple):
    """One step: a norm for every parameter, the loss, the norm of all before clipping and what it was cut to, and whether a scaler
    left the step out."""

    step: int
    norms: Any
    loss: float | None
    clip: tuple[float, float] | None
    left_out: bool


class FlowRecorder:
    """Norms of the gradients of ``parameters``, pairs (name, tensor), at every optimizer step. Holds tensors and ``model`` weakly.

    Of a ``model`` parameters may come, go and be replaced while it trains: a look notices.
    """

    def __init__(self, parameters: Iterable[tuple[str, Tensor]], title: str, model: Any = None) -> None:
        pairs = list(parameters)
        if not pairs:
            raise ValueError("there are no parameters whose gradients could be followed")
        self.title = title
        self.names: list[str] = []
        self.shapes: list[str] = []
        self.generation, self.step = 0, 0
        self._parameters: list[Any] = []
        self._changes: dict[
            int, tuple[int, str]
        ] = {}  # number of a parameter -> when it came, went or was replaced, and what
        self._model = weakref.ref(model) if model is not None else None
        for name, p in pairs:
            self._add(name, p)
        self._ids = {id(p) for _, p in pairs}
        self._mine: Callable[[], Any] = nobody  # the optimizer that is known to move them
        self._rows: deque[Row] = deque(maxlen=KEPT)
        self._looks: deque[Look] = deque(maxlen=LOOKS)
        self._before: list[Any] | None = None
        self._signs: dict[int, Any] = {}
        self._weight: dict[int, float] = {}
        self.units: dict[
            str, tuple[str, float, int]
        ] = {}  # module -> what was seen of its units, how many of them, when
        self._scale: float | None = None
        self._loss: float | None = None
        self._clip: tuple[float, float] | None = None
        self._learn_due = self._look_due = self._due = self._judge_due = 0.0
        self._judged: tuple[int, dict[int, judging.Single], tuple[Finding, ...]] = (-1, {}, ())
        self._watched: list[Any] = []
        self._handles: list[Any] = [
            register_optimizer_step_pre_hook(self._stepping),
            register_optimizer_step_post_hook(self._stepped),
        ]
        self._untap: Callable[[], None] | None = taps.watch_training(self._left_out, self._clipped)

    def _add(self, name: str, p: Tensor) -> None:
        self.names.append(name)
        self.shapes.append(shape_text(p.shape))
        self._parameters.append(weakref.ref(p))

    # ---------------------------------------------------------------------------------------------- listening

    @property
    def attached(self) -> bool:
        """Whether steps are recorded."""
        return bool(self._handles)

    def detach(self) -> None:
        """Take every hook off. What was recorded stays."""
        for handle in (*self._handles, *self._watched):
            handle.remove()
        self._handles, self._watched = [], []
        if self._untap is not None:
            self._untap()
        self._untap = self._before = None
        self._signs = {}

    def log(self, loss: Any) -> None:
        """Note the loss of the step that comes next."""
        try:
            self._loss = float(loss.detach()) if isinstance(loss, Tensor) else float(loss)
        except (TypeError, ValueError):
            what = f"a tensor of shape {list(loss.shape)}" if isinstance(loss, Tensor) else f"{loss!r:.60}"
            raise TypeError(f"the loss of a step is one number, not {what}; for many, log(loss.mean())") from None

    def note(self, left_out: bool = False) -> None:
        """Record the gradients as they are now as one step, for loops without an optimizer of ours."""
        norms = array("d")
        with np.errstate(all="ignore"):
            for known in self._parameters:
                p = known()
                norms.append(NONE if p is None else measure(p._grad))
        self._rows.append(Row(self.step, norms, self._loss, self._clip, left_out))
        self._next()

    def _next(self) -> None:
        self.step += 1
        self._loss = self._clip = None

    def _ours(self, optimizer: Any) -> bool:
        """Whether an optimizer moves a parameter that is followed."""
        if self._mine() is optimizer:
            return True
        if not any(id(p) in self._ids for group in optimizer.param_groups for p in group["params"]):
            return False
        self._mine = weakref.ref(optimizer)
        return True

    def _stepping(self, optimizer: Any, *_: Any) -> None:
        start = time.perf_counter()
        if start >= self._learn_due and self._model is not None:
            self._learn()
            self._learn_due = start + max(PERIOD, BUDGET * (time.perf_counter() - start))
        if not self._ours(optimizer):
            return
        if self.step >= FIRST and start < self._due:
            return self._next()
        self.note()
        if start >= self._look_due:
            self._look()
            self._look_due = start + max(PERIOD, BUDGET * (time.perf_counter() - start))
        now = time.perf_counter()
        self._due = now + BUDGET * (now - start)

    def _left_out(self, optimizer: Any, scale: float) -> None:
        """A gradient scaler found NaN or infinity and leaves the step out: its gradients are recorded all the same."""
        if self._ours(optimizer):
            self._scale = scale
            self.note(left_out=True)

    def _clipped(self, parameters: Sequence[Any], total: Any, greatest: float) -> None:
        """Gradients are clipped together; what they were before is noted with the step that comes."""
        if any(id(p) in self._ids for p in parameters):
            self._clip = float(total), float(greatest)

    # ---------------------------------------------------------------------------------------------- a closer look

    def _learn(self) -> None:
        """Notice parameters of the model that came, went or were replaced."""
        model = self._model() if self._model is not None else None
        if model is None:
            return
        now = dict(model.named_parameters())
        if self._ids == {id(p) for p in now.values()} and len(now) == len(self._ids):
            return
        known = {name: i for i, name in enumerate(self.names)}
        for name, p in now.items():
            i = known.get(name)
            if i is None:
                self._add(name, p)
                self._changes[len(self.names) - 1] = self.step, "it came into the model"
            elif self._parameters[i]() is not p:
                self._parameters[i], self.shapes[i] = weakref.ref(p), shape_text(p.shape)
                self._changes[i] = self.step, "another tensor took its place"
                self._signs.pop(i, None)
        for name in known.keys() - now.keys():
            self._changes.setdefault(known[name], (self.step, "it is no part of the model any more"))
        self._ids, self._mine = {id(p) for p in now.values()}, nobody
        self.generation += 1

    def _look(self) -> None:
        """A closer look at a sample of every parameter, and at units when they next run."""
        for handle in self._watched:
            handle.remove()
        model = self._model() if self._model is not None else None
        self._watched = [] if model is None else list(Watch.all_in(model, self))
        look, self._before = Look(self.step - 1, len(self.names)), []
        for i, known in enumerate(self._parameters):
            p = known()
            self._before.append(None if p is None else sample(p._a).astype(np.float64))
            if p is None or p._grad is None:
                continue
            taken = sample(p._grad._a).astype(np.float32)
            look.counts[i], look.zeros[i] = spread(taken)
            signs = np.sign(taken).astype(np.int8)
            old, self._signs[i] = self._signs.get(i), signs
            if old is not None and old.shape == signs.shape and signs.size:
                look.flips[i] = float(np.mean(old * signs < 0))
        self._looks.append(look)

    def _stepped(self, optimizer: Any, *_: Any) -> None:
        if self._before is None or not self._ours(optimizer):
            return
        before, self._before = self._before, None
        look = self._looks[-1]
        with np.errstate(all="ignore"):
            for i, (known, old) in enumerate(zip(self._parameters, before, strict=False)):
                p = known()
                if p is None or old is None:
                    continue
                new = sample(p._a).astype(np.float64)
                if new.shape == old.shape:
                    size = self._weight[i] = float(np.sqrt(np.square(old).sum()))
                    look.update[i] = float(np.sqrt(np.square(new - old).sum())) / size if size else math.nan

    # ---------------------------------------------------------------------------------------------- telling

    def document(self, since: int = -1, generation: int | None = None, fresh: bool = True) -> FlowDocument:
        """What was recorded after step ``since``, and what needs a look. ``generation`` says which names are known: they are left
        out where it is the present one, and all steps are told where it is another.

        ``fresh=False`` may tell what was found a moment ago, for a view that asks often.
        """
        same = generation == self.generation
        rows = [row for row in list(self._rows) if row.step > since or generation not in (None, self.generation)]
        singles, found = self._findings(fresh)
        n, names = len(self.names), tuple(self.names)
        latest = self._looks[-1] if self._looks else None
        return FlowDocument(
            schema=FLOW,
            title=self.title,
            generation=self.generation,
            names=() if same else names,
            shapes=() if same else tuple(self.shapes),
            steps=tuple(row.step for row in rows),
            levels=levels(self._matrix(rows)),
            loss=tuple(_finite(row.loss) for row in rows),
            clipped=tuple(_finite(row.clip[0]) if row.clip and row.clip[0] > row.clip[1] else None for row in rows),
            left_out=tuple(row.step for row in rows if row.left_out),
            weight=levels(np.array([self._weight.get(i, NONE) for i in range(n)])),
            update=levels(_wide(latest.update if latest else (), n)),
            flips=levels(_wide(latest.flips if latest else (), n)),
            looks=tuple(FINDINGS.index(singles[i][0]) + 1 if i in singles else 0 for i in range(n)),
            findings=found[:SHOWN],
            attached=self.attached,
            sentence=self._sentence(found),
        )

    def now(self) -> FlowNow:
        """The latest norm of every parameter, by its name."""
        last = list(self._rows)[-1:]
        step = last[0].step if last else -1
        return FlowNow(FLOW_NOW, self.title, step, tuple(self.names) if last else (), levels(self._matrix(last)))

    def ridge(self, at: int) -> Ridge:
        """How the gradients of one parameter were spread, look by look. Raises ``IndexError`` where there is no such parameter."""
        name = self.names[at] if 0 <= at < len(self.names) else None
        if name is None:
            raise IndexError(f"there is no parameter {at}; they are numbered from 0 to {len(self.names) - 1}")
        looks = [look for look in list(self._looks) if at < len(look.counts)]
        seen = f"{count_text(len(looks), 'look')} at up to 1,024 of its gradients" if looks else "not looked at yet"
        return Ridge(
            name=name,
            first=Look.first,
            bins=Look.bins,
            steps=tuple(look.step for look in looks),
            counts=tuple(n for look in looks for n in look.counts[at].tolist()),
            zeros=tuple(int(look.zeros[at]) for look in looks),
            update=tuple(n for look in looks for n in levels(look.update[at : at + 1])),
            flips=tuple(n for look in looks for n in levels(look.flips[at : at + 1])),
            sentence=f"{name}: {seen}.",
        )

    def _matrix(self, rows: Sequence[Row], before_clipping: bool = False) -> np.ndarray:
        """Norms with a row a step; of parameters that came later, None before that."""
        n = len(self.names)
        short = [row.norms for row in rows if len(row.norms) < n]
        data = b"".join(
            [(row.norms + array("d", [NONE] * (n - len(row.norms))) if short else row.norms).tobytes() for row in rows]
        )
        out = np.frombuffer(data).reshape(len(rows), n)
        factors = [
            row.clip[0] / row.clip[1] if row.clip and 0 < row.clip[1] < row.clip[0] < math.inf else 1.0 for row in rows
        ]
        if before_clipping and any(factor > 1 for factor in factors):
            return np.where(out > 0, out * np.array(factors)[:, None], out)
        return out

    def _sentence(self, found: Sequence[Finding]) -> str:
        of = f" of {self.title}" if self.title else ""
        if not self._rows:
            return f"No optimizer step{of} was seen yet. Train, and the gradients appear here."
        row = self._rows[-1]
        norms = np.frombuffer(row.norms)
        real = norms[norms > 0]
        between = (
            f"norms from {number_text(real.min())} to {number_text(real.max())}" if real.size else "no finite gradient"
        )
        clip = (
            f", clipped from {number_text(row.clip[0])} to {number_text(row.clip[1])}"
            if row.clip and row.clip[0] > row.clip[1]
            else ""
        )
        count = sum(finding.others + 1 for finding in found)
        look = f" {count_text(count, 'thing')} to look at." if count else " Nothing needs a look."
        return f"Step {row.step}{of}: {count_text(len(self.names), 'parameter')}, {between}{clip}.{look}"

    def findings(self) -> tuple[Finding, ...]:
        """What needs a look, the gravest first."""
        return self._findings(True)[1]

    def _findings(self, fresh: bool) -> tuple[dict[int, judging.Single], tuple[Finding, ...]]:
        start = time.perf_counter()
        rows = list(self._rows)
        at = rows[-1].step if rows else -1
        if not rows or (not fresh and start < self._judge_due) or (not fresh and at == self._judged[0]):
            return self._judged[1:]
        singles = self._singles(rows)
        found = judging.gathered(singles, self.names) + self._of_units(rows)
        self._judged = at, singles, tuple(sorted(found, key=judging.grave))
        self._judge_due = start + min(BUDGET * (time.perf_counter() - start), 0.5)
        return self._judged[1:]

    def _singles(self, rows: Sequence[Row]) -> dict[int, judging.Single]:
        wanted = np.array([(p := known()) is not None and bool(p.requires_grad) for known in self._parameters])
        singles = judging.single(self._matrix(rows, True), [row.step for row in rows], self._moved(), wanted)
        if rows[-1].left_out:  # what a scaler found too large is told as that
            singles = {i: found for i, found in singles.items() if found[0] != "not finite"}
        for i, known in enumerate(self._parameters):
            if i not in self._changes and known() is None:
                self._changes[i] = self.step, "it is no part of the model any more"
        for i, (step, what) in self._changes.items():
            gone = "no part" in what
            if gone or self.step - step < RECENT:
                singles[i] = "changed", step, what
        return singles

    def _moved(self) -> np.ndarray:
        """How far each parameter was moved: the least of the last three looks, since one step of a bias near 0 says nothing."""
        n, looks = len(self.names), list(self._looks)[-3:]
        latest = _wide(looks[-1].update if looks else (), n)
        least = np.fmin.reduce([_wide(look.update, n) for look in looks]) if len(looks) == 3 else np.full(n, math.nan)
        return np.where(latest > 1.0, latest, least)

    def _of_units(self, rows: Sequence[Row]) -> list[Finding]:
        found = []
        for name, (kind, part, step) in list(self.units.items()):
            if part >= 0.5:
                said = "units gave 0 for a whole batch" if kind == "dead" else "outputs are within 1% of the ends"
                what = f"{part:.0%} of the {said}"
                found.append(Finding(name or "the module", 0, kind, step, what, judging.ATTEMPTS[kind]))  # type: ignore[arg-type]
        out = [row.step for row in rows if row.left_out]
        if out and len(rows) - rows.index(next(r for r in rows if r.step == out[-1])) <= RECENT:
            scale = f"; the scale was {number_text(self._scale)}" if self._scale else ""
            what = f"{count_text(len(out), 'step')} of the last {len(rows)} left out: gradients were not finite{scale}"
            found.append(Finding("GradScaler", 0, "left out", out[-1], what, judging.ATTEMPTS["left out"]))
        return found


def nobody() -> None:
    """Nothing, where something weakly known would be."""


def levels(norms: Any) -> tuple[int, ...]:
    """Norms as whole numbers: thousandths of their powers of ten, or what stands for none, zero and not finite."""
    values = np.asarray(norms, dtype=np.float64).reshape(-1)
    real = np.isfinite(values) & (values > 0)
    out = np.where(
        values == 0, LEVELS["zero"], np.where((values == NONE) | np.isnan(values), LEVELS["none"], LEVELS["not_finite"])
    )
    out[real] = np.rint(np.log10(values[real]) * 1000).astype(np.int64)
    return tuple(out.tolist())


def norm_of(level: int) -> float | None:
    """The norm that a level stands for; ``None`` for a gradient that is None or not finite."""
    if level == LEVELS["zero"]:
        return 0.0
    return None if level in (LEVELS["none"], LEVELS["not_finite"]) else float(10 ** (level / 1000))


def _wide(values: Any, n: int) -> np.ndarray:
    """As many numbers as there are parameters, unknown ones NaN."""
    out = np.full(n, math.nan)
    out[: len(values)] = values
    return out


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
