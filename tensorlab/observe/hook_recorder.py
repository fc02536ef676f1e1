"""What hooks do, as it happens: a line for every call, with its place relative to the accumulation of gradients.

A recorder listens through taps, so no hook is wrapped and no table touched; hooks that are registered while it listens are heard
too. Shapes, errors, writes and print are noted of every call; the numbers, which cost, of the first calls of each hook and then as
often as a twentieth of the time allows. ``detach()`` ends it all, and a recorder that nobody holds any more ends by itself.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tensorlab import backend, taps
from tensorlab.dispatch import storage_of
from tensorlab.engine.hooks import Registration, registration
from tensorlab.engine.node import AccumulateGrad, Node
from tensorlab.modes import state
from tensorlab.nn.modules.calling import register_module_forward_hook
from tensorlab.observe.hooks import called, is_library, table_of
from tensorlab.observe.output import copied_output
from tensorlab.observe.outputs import module_output, tensors_in
from tensorlab.observe.places import place
from tensorlab.observe.preview import norm, preview
from tensorlab.observe.schema_watching import HookLook, HookRow, ModuleOutput
from tensorlab.observe.words import number_text
from tensorlab.optim.optimizer import register_optimizer_step_post_hook
from tensorlab.tensor import Tensor

#: Lines that are kept, calls of each hook that are all measured, how often its own cost passes between later measurements,
#: characters kept of what one call prints, elements compared to notice a write, passes that are remembered.
KEPT, FIRST, BUDGET, PRINTED, SAMPLE, PASSES = 600, 25, 20, 2_000, 512, 4
#: Outputs of modules, and hooks that were called, that are remembered.
MOST_OUTPUTS, MOST_TOLD = 400, 5_000


class Pass:
    """One backward pass: where it was started, what it reached, and whether it fills ``.grad``."""

    __slots__ = ("number", "run", "fills", "leaves", "accumulated", "nodes", "site", "at")

    def __init__(self, number: int, run: Any, at: int) -> None:
        self.number = number
        self.run = weakref.ref(run)
        self.fills = bool(getattr(run, "_fill", True))
        self.site = getattr(run, "site", None)
        self.leaves: set[int] = set()
        self.accumulated: set[int] = set()
        self.nodes: set[int] = set()
        self.at = at


class Call:
    """What is known of the calls of one module."""

    __slots__ = ("count", "grad", "inputs", "output", "at")

    def __init__(self) -> None:
        self.count = self.at = 0
        self.grad = self.inputs = self.output = False


class Told(NamedTuple):
    """A hook that was called: what it was, where it had been registered, and the node it was on, weakly."""

    kind: str
    owner: str
    name: str
    made: Registration | None
    node: Any


class HookRecorder:
    """The calls of hooks that concern ``scope``: a set of modules and leaves by id, or ``None`` for all.

    ``name(kind, owner)`` says what a hook hangs on, in the user's words.
    """

    def __init__(self, name: Callable[[str, Any], str]) -> None:
        self.name = name
        self.modules: dict[int, str] | None = None  # of each module that is listened to its name; None for all
        self.leaves: dict[int, str] | None = None
        self.rows: deque[HookRow] = deque(maxlen=KEPT)
        self.next = 0
        self.fired: dict[int, int] = {}
        self.last_pass: dict[int, int] = {}
        self.told: dict[int, Told] = {}  # the hooks that were called
        self.looks: dict[int, tuple[HookRow, tuple[HookLook, ...]]] = {}
        self.calls: dict[int, Call] = {}
        self.stepped: set[int] = set()
        self.passes: deque[Pass] = deque(maxlen=PASSES)
        self.outputs: dict[int, ModuleOutput] = {}
        self.trouble = ""
        self._due: dict[int, float] = {}
        self._lock = threading.RLock()
        self._undo: list[Callable[[], None]] = []

    # ---------------------------------------------------------------------------------------------- listening

    @property
    def attached(self) -> bool:
        """Whether hooks are listened to."""
        return bool(self._undo)

    def attach(self) -> None:
        """Begin to listen, or go on. Doing it twice does nothing more."""
        if self._undo:
            return
        handles = [
            register_module_forward_hook(_Weakly(self, "_gave")),
            register_optimizer_step_post_hook(_Weakly(self, "_moved")),
        ]
        self._undo = [
            taps.watch_hooks(_Weakly(self, "_begins")),
            taps.watch_steps(_Weakly(self, "_ran")),
            *[handle.remove for handle in handles],
        ]
        weakref.finalize(self, _all, list(self._undo))

    def detach(self) -> None:
        """Stop listening. What was recorded stays."""
        undo, self._undo = self._undo, []
        _all(undo)

    def forget(self) -> None:
        """Begin anew with an empty timeline."""
        with self._lock:
            self.rows.clear()
            self.fired.clear()
            self.last_pass.clear()
            self.looks.clear()
            self.calls.clear()
            self.passes.clear()
            self.outputs.clear()
            self.stepped.clear()
            self.told.clear()

    # ---------------------------------------------------------------------------------------------- hooks

    def _begins(self, kind: str, owner: Any, number: int, hook: Any, given: tuple[Any, ...]) -> Any:
        if is_library(hook) or not self._concerns(kind, owner):
            return None
        try:
            return _Heard(self, kind, owner, number, hook, given)
        except Exception as error:  # what goes wrong with us must not go wrong with the program
            self.trouble = f"A call of {called(hook)} could not be recorded: {type(error).__name__}: {error}"
            return None

    def _concerns(self, kind: str, owner: Any) -> bool:
        if self.modules is not None and hasattr(owner, "_forward_hooks"):
            return id(owner) in self.modules
        if self.leaves is not None and kind in ("tensor", "node pre", "node", "post accumulate"):
            node = owner[0] if type(owner) is tuple else owner
            leaf = owner if kind == "post accumulate" else node.variable if type(node) is AccumulateGrad else None
            return leaf is None or id(leaf) in self.leaves
        return True

    def due(self, number: int) -> bool:
        """Whether a call of a hook is to be measured."""
        return self.fired.get(number, 0) < FIRST or time.perf_counter() >= self._due.get(number, 0.0)

    def cost(self, number: int, seconds: float) -> None:
        """Note what measuring a call cost: the next one waits until a twentieth of the time was enough for it."""
        self._due[number] = time.perf_counter() + seconds * BUDGET * max(1, len(self.fired))

    def add(self, row: HookRow) -> None:
        """Append a line to the timeline."""
        self.rows.append(row)

    def number_row(self) -> int:
        """The number of the next line."""
        with self._lock:
            self.next += 1
            return self.next - 1

    def line(self, what: Any, owner: str, turn: int, words: str = "", site: Any = None) -> None:
        """A line that is no hook's."""
        self.add(
            HookRow(
                self.number_row(), what, -1, turn, "", owner, "", words, None, None, "", False, "", 0, "", 0.0,
                place(site) if site is not None else None,
            )
        )  # fmt: skip

    # ---------------------------------------------------------------------------------------------- passes

    def turn(self) -> Pass | None:
        """The backward pass that this thread is in, noted when it is met first."""
        run = state.run
        if run is None:
            return None
        with self._lock:
            for known in reversed(self.passes):  # a hook may run a pass of its own, and this one goes on after it
                if known.run() is run:
                    return known
            number = self.passes[-1].number + 1 if self.passes else 0
            begun = Pass(number, run, self.next)
            self.passes.append(begun)
            what = "" if begun.fills else "autograd.grad(): adds to no .grad"
            self.line("pass", f"backward pass {number + 1}", number, what, begun.site)
            return begun

    def _ran(self, node: Any, incoming: Any, outgoing: Any) -> None:
        now = self.turn()
        if now is None:
            return
        if type(node) is AccumulateGrad:
            leaf = node.variable
            if leaf is not None:
                now.leaves.add(id(leaf))
                self.accumulated(now, leaf)
        elif len(now.nodes) < 100_000:
            now.nodes.add(node.seq)

    def accumulated(self, now: Pass, leaf: Any) -> None:
        """Note once a pass that the gradient of a leaf was added to its ``.grad``."""
        if not now.fills or leaf._grad is None or id(leaf) in now.accumulated:
            return
        now.accumulated.add(id(leaf))
        if self.leaves is None or id(leaf) in self.leaves:
            if leaf._acc is not None and (leaf._acc.after or leaf._acc.hooks is not None):
                self.line("accumulated", self.name("tensor", leaf), now.number, "its gradient is added to .grad")

    # ---------------------------------------------------------------------------------------------- modules, optimizers

    def _gave(self, module: Any, args: Any, output: Any) -> None:
        if self.modules is not None and id(module) not in self.modules:
            return
        try:
            call = self.calls.setdefault(id(module), Call())
            call.count += 1
            call.at = self.next
            given = tensors_in(output)
            call.grad = state.grad
            call.inputs = any(x.requires_grad for x in tensors_in(args))
            call.output = any(x.requires_grad for x in given)
            if (
                given
                and (-id(module) in self._due or len(self.outputs) < MOST_OUTPUTS)
                and self._may_look(module, call)
            ):
                start = time.perf_counter()
                self.outputs[id(module)] = module_output(
                    self.name("forward", module), type(module).__name__, call.count, given[0]
                )
                self._due[-id(module)] = time.perf_counter() + BUDGET * max(1, len(self.outputs)) * (
                    time.perf_counter() - start
                )
        except Exception as error:
            self.trouble = (
                f"An output of {type(module).__name__} could not be looked at: {type(error).__name__}: {error}"
            )

    def _may_look(self, module: Any, call: Call) -> bool:
        return call.count <= 3 or time.perf_counter() >= self._due.get(-id(module), 0.0)

    def _moved(self, optimizer: Any, *_: Any) -> None:
        self.stepped.add(id(optimizer))


def _told(kind: str, owner: Any, number: int, words: str, name: str) -> Told:
    node = owner[0] if type(owner) is tuple else owner
    on_graph = isinstance(node, Node) and type(node) is not AccumulateGrad
    made = registration(table_of(kind, owner), number) if on_graph else None
    return Told(kind, words, name, made, weakref.ref(node) if on_graph else None)


class _Weakly:
    """A method of something that may go: then nothing happens."""

    __slots__ = ("known", "method")

    def __init__(self, owner: Any, method: str) -> None:
        self.known, self.method = weakref.ref(owner), method

    def __call__(self, *args: Any) -> Any:
        owner = self.known()
        return None if owner is None else getattr(owner, self.method)(*args)


def _all(undo: list[Callable[[], None]]) -> None:
    for one in undo:
        one()


# ------------------------------------------------------------------------------------------------------ one call of a hook


class _Heard:
    """One call: what was there before it, and, called with what came back, the line for the timeline."""

    def __init__(
        self, recorder: HookRecorder, kind: str, owner: Any, number: int, hook: Any, given: tuple[Any, ...]
    ) -> None:
        self.recorder, self.kind, self.owner, self.number, self.hook = recorder, kind, owner, number, hook
        self.now = recorder.turn()
        node = owner[0] if type(owner) is tuple else owner
        if self.now is not None and (kind == "post accumulate" or (kind == "node" and type(node) is AccumulateGrad)):
            leaf = owner if kind == "post accumulate" else node.variable
            self.now.leaves.add(id(leaf))
            recorder.accumulated(self.now, leaf)
        self.measured = recorder.due(number)
        begun = time.perf_counter()
        self.given = _changeable(kind, owner, given)
        self.inputs = _beside(kind, given)
        tensors = [*self.given, *self.inputs][:8]
        self.versions = [(x, _version(x)) for x in tensors]
        self.samples = [(x, _sample(x)) for x in tensors] if self.measured else []
        self.before = [norm(x._a) for x in self.given] if self.measured else []
        self.previews = [(x, preview(x._a, dtype=x.dtype.name)) for x in self.given[:2]] if self.measured else []
        self.spent = time.perf_counter() - begun
        self.printing = copied_output(PRINTED)
        self.printed = self.printing.__enter__()
        self.start = time.perf_counter()

    def __call__(self, found: Any, error: BaseException | None) -> None:
        seconds = time.perf_counter() - self.start
        self.printing.__exit__(None, None, None)
        recorder = self.recorder
        try:
            begun = time.perf_counter()
            row = self._row(found, error, seconds)
            recorder.add(row)
            if self.measured:
                recorder.looks[self.number] = row, self._looks(found, row)
                recorder.cost(self.number, self.spent + time.perf_counter() - begun)
            recorder.fired[self.number] = recorder.fired.get(self.number, 0) + 1
            if self.now is not None:
                recorder.last_pass[self.number] = self.now.number
        except Exception as trouble:
            recorder.trouble = (
                f"A call of {called(self.hook)} could not be recorded: {type(trouble).__name__}: {trouble}"
            )

    def _row(self, found: Any, error: BaseException | None, seconds: float) -> HookRow:
        wrote = any(_version(x) != version for x, version in self.versions)
        wrote = wrote or any(not np.array_equal(_sample(x), old, equal_nan=True) for x, old in self.samples)
        after = self._after(found)
        b = self.before[0] if self.before else None
        a = norm(after[0]._a) if self.measured and after else None
        same = not wrote and (found is None or (bool(after) and bool(self.given) and after[0] is self.given[0]))
        owner = self.recorder.name(self.kind, self.owner)
        name = called(self.hook)
        if self.number not in self.recorder.told and len(self.recorder.told) < MOST_TOLD:
            self.recorder.told[self.number] = _told(self.kind, self.owner, self.number, owner, name)
        return HookRow(
            row=self.recorder.number_row(),
            what="hook",
            number=self.number,
            turn=self.now.number if self.now is not None else -1,
            kind=self.kind,
            owner=owner,
            name=name,
            place=self._place(owner),
            before=b,
            after=a,
            change=self._change(same, wrote, b, a, after),
            wrote=wrote,
            printed=self.printed.text,
            printed_characters=self.printed.total,
            error="" if error is None else f"{type(error).__name__}: {error}"[:500],
            milliseconds=seconds * 1e3,
            site=None,
        )

    def _change(self, same: bool, wrote: bool, before: float | None, after: float | None, given: list[Any]) -> str:
        if self.kind == "backward" and not self.given:
            return "nothing given: no input of the module needs a gradient"
        if self.given and not given:
            return "taken away"
        return _change(same, wrote, before, after, bool(self.given))

    def _after(self, found: Any) -> list[Any]:
        if self.kind == "post accumulate":
            return _changeable(self.kind, self.owner, ())
        return self.given if found is None else tensors_in(found) or self.given

    def _looks(self, found: Any, row: HookRow) -> tuple[HookLook, ...]:
        label = _LABELS.get(self.kind, "value")
        if row.change == "unchanged":
            looks = [HookLook(f"{label}, unchanged", seen) for _, seen in self.previews[:1]]
            return tuple(looks + [HookLook("input", preview(x._a, dtype=x.dtype.name)) for x in self.inputs[:1]])
        looks = [HookLook(f"{label} before", seen) for _, seen in self.previews[:1]]
        after = self._after(found)
        if after:
            looks.append(HookLook(f"{label} after", preview(after[0]._a, dtype=after[0].dtype.name)))
        looks += [HookLook("input", preview(x._a, dtype=x.dtype.name)) for x in self.inputs[:1]]
        return tuple(looks)

    def _place(self, owner: str) -> str:
        """Where the call stands relative to the accumulation, in words."""
        kind, node = self.kind, self.owner[0] if type(self.owner) is tuple else self.owner
        if kind in ("forward pre", "forward"):
            return f"before {owner} runs" if kind == "forward pre" else f"after {owner} ran"
        if kind in ("backward pre", "backward"):
            return self._among_parameters(owner)
        if kind == "post accumulate":
            return f"after {owner}.grad is added to"
        if kind in ("tensor", "node pre", "node"):
            when = "after" if kind == "node" else "before"
            if type(node) is AccumulateGrad:
                return f"{when} {owner}.grad is added to"
            return f"{when} {node.name()} runs"
        if kind.startswith("step"):
            return "before the parameters move" if kind == "step pre" else "after the parameters moved"
        return ""

    def _among_parameters(self, owner: str) -> str:
        ours = [p for p in self.owner.parameters() if p.requires_grad]
        done = sum(id(p) in self.now.accumulated for p in ours) if self.now is not None else 0
        if not ours:
            return f"in the pass; {owner} has no .grad"
        if not done:
            return f"before any .grad of {owner} is added to"
        if done == len(ours):
            return f"after every .grad of {owner} is added to"
        return f"after {done} of {len(ours)} .grad of {owner} are added to"


_LABELS = {
    "tensor": "gradient", "node pre": "gradient", "node": "gradient for the inputs", "post accumulate": ".grad",
    "forward pre": "input", "forward": "output", "backward pre": "gradient of the output",
    "backward": "gradient of the input",
}  # fmt: skip


def _changeable(kind: str, owner: Any, given: tuple[Any, ...]) -> list[Any]:
    """The tensors that a hook of this kind may change."""
    if kind == "post accumulate":
        return [owner._grad] if owner._grad is not None else []
    if kind in ("tensor", "node pre"):
        return tensors_in(given[:1])
    if kind == "node":
        return tensors_in(given[0]) or tensors_in(given[1])
    if kind == "forward":
        return tensors_in(given[-1])
    if kind in ("forward pre", "backward pre", "backward"):
        return tensors_in(given[1]) if len(given) > 1 else []
    return []


def _beside(kind: str, given: tuple[Any, ...]) -> list[Any]:
    """The tensors that a hook is given to look at."""
    if kind == "forward":
        return tensors_in(given[1:-1])
    if kind == "backward":
        return tensors_in(given[2:])
    return tensors_in(given[1]) if kind == "node" and len(given) > 1 and tensors_in(given[0]) else []


def _version(x: Tensor) -> int:
    st = storage_of(x)
    return -1 if st.inference else st.version


def _sample(x: Tensor) -> np.ndarray:
    a, steps = x._a, [1] * x._a.ndim
    size = list(a.shape)
    while prod(size) > SAMPLE:
        d = size.index(max(size))
        steps[d] *= 2
        size[d] = -(-a.shape[d] // steps[d])
    found = backend.to_host(a[tuple(slice(None, None, step) for step in steps)])
    return np.array(found, dtype=np.complex128 if found.dtype.kind == "c" else np.float64)


def _change(same: bool, wrote: bool, before: float | None, after: float | None, any_given: bool) -> str:
    """What a hook made of what it was given, in a word or two."""
    if not any_given:
        return ""
    if same:
        return "unchanged"
    how = "written into" if wrote else "replaced"
    if before is None or after is None:
        return how
    if before == after:
        return f"{how}, the norm is the same"
    if before and np.isfinite(before) and np.isfinite(after):
        return f"{how}, norm × {number_text(after / before)}"
    return how
