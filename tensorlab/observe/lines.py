"""A run, line by line: which line ran when, what it made, and what it printed.

Python tells the lines (``sys.settrace``, for a person's own code only), the door tells the operations (``taps``). A line is a step;
a loop makes a step each time round, a call puts the steps of the function below its own, and where a line goes on after a call it
stands once more, as ``back``. So every operation belongs to one step, and steps and operations are in the order of time. Nothing is
kept of a tensor but a look at it. Without a recorder none of this costs anything.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from types import CodeType, FrameType
from typing import Any

from tensorlab import modes, taps
from tensorlab.dispatch import device_of
from tensorlab.observe.preview import preview
from tensorlab.observe.schema import FLAGS, ArrayPreview
from tensorlab.observe.statements import Source, Sources, Statement, cell_of, followed
from tensorlab.observe.words import count_text, shape_text
from tensorlab.tensor import Tensor

#: What a record holds of a run; what comes after it is counted and no more.
MOST_STEPS, MOST_OPERATIONS = 20_000, 10_000
#: Values that are looked at closely: the first ones.
MOST_LOOKED = 1_000
MOST_PRINTED, MOST_NOTED = 20_000, 4
#: The cell that is about to run; its number is known when it does.
NEXT = -2
LINE, BACK = 0, 1
RAN, RAISED = 0, 1
_QUIET = (StopIteration, StopAsyncIteration, GeneratorExit)


class Made:
    """A value that took part: what made it, when, and what it looked like then."""

    __slots__ = ("kind", "name", "label", "shape", "dtype", "scope", "step", "flags", "look", "inputs", "of", "output")

    def __init__(self, kind: str, name: str, step: int, array: Any, inputs: Sequence[int], of: Any) -> None:
        self.kind, self.name, self.step, self.inputs = kind, name, step, inputs
        self.label, self.flags, self.output = "", 0, 0
        self.scope: tuple[tuple[str, str], ...] = ()
        self.shape, self.dtype = tuple(array.shape), ""
        self.look: ArrayPreview | None = None
        self.of = of  # a weak reference to the tensor


class Step:
    """One line that ran."""

    __slots__ = ("source", "statement", "depth", "caller", "turn", "kind", "state", "note", "printed")

    def __init__(self, source: Source, statement: Statement, depth: int, caller: int, turn: int, kind: int) -> None:
        self.source, self.statement, self.depth, self.caller = source, statement, depth, caller
        self.turn, self.kind = turn, kind
        self.state, self.note, self.printed = RAN, "", ""


class _Call:
    """A frame that is followed, and where it stands."""

    __slots__ = ("frame", "source", "statement", "offset", "step", "caller", "turns", "gradients")

    def __init__(self, frame: FrameType | None, source: Source, caller: int) -> None:
        self.frame, self.source, self.caller = frame, source, caller
        self.statement: Statement | None = None
        self.offset = -1
        self.step = -1
        self.gradients = 0  # operations of a backward pass in this statement
        self.turns: dict[int, int] = {}


class LineRecorder:
    """Records what runs in this thread between ``start()`` and ``stop()``: a cell (``cell=NEXT``), or a ``call`` in words."""

    def __init__(self, *, cell: int = -1, call: str = "") -> None:
        self.cell = cell
        self.sources = Sources(cell)
        self.steps: list[Step] = []
        self.made: list[Made] = []
        self.error = ""
        self.cut = ""
        self.operations = 0
        self._busy = False
        self._room = MOST_PRINTED
        self._stack: list[_Call] = []
        self._known: dict[int, tuple[CodeType, Source | None]] = {}
        self._places: dict[int, tuple[Any, int]] = {}
        self._undo: Callable[[], None] | None = None
        if call:
            source = self.sources.add(Source("call", "", 1, (call,), "", -1))
            self._stack.append(_Call(None, source, -1))
            self._step(self._stack[0], source.statement(1))

    # ---- from start to end -------------------------------------------------------------------------------------------

    def start(self) -> LineRecorder:
        """Listen from the next call on."""
        self._thread = threading.get_ident()
        self._tracer = sys.gettrace()
        self._streams = [(name, getattr(sys, name)) for name in ("stdout", "stderr")]
        self._ears = [(name, _Ear(stream, self)) for name, stream in self._streams]
        modes.watch_sites(True)
        self._undo = taps.watch_ops(self._operation)
        for name, ear in self._ears:
            setattr(sys, name, ear)
        sys.settrace(self._called)
        return self

    def stop(self, error: BaseException | None = None) -> None:
        """Listen no more. ``error`` is what ended the run, if something did."""
        if self._undo is None:
            return
        sys.settrace(self._tracer)
        for (name, stream), (_, ear) in zip(self._streams, self._ears, strict=True):
            if getattr(sys, name) is ear:
                setattr(sys, name, stream)
        self._undo()
        self._undo = None
        self.drop_unused()
        modes.watch_sites(False)
        self._stack.clear()
        self._places.clear()
        if error is not None:
            self.error = _words_of(error)

    def drop_unused(self) -> None:
        """Leave out further results of operations that nobody named and nobody used."""
        used = {place for made in self.made for place in made.inputs}
        kept = [at for at, made in enumerate(self.made) if not made.output or made.label or at in used]
        places = {old: new for new, old in enumerate(kept)}
        self.made = [self.made[at] for at in kept]
        for made in self.made:
            made.inputs = tuple(places[place] for place in made.inputs)

    def _end(self, why: str) -> None:
        """The record is full, or broken: the run goes on without it."""
        self.cut = self.cut or why
        sys.settrace(None)

    @property
    def recording(self) -> bool:
        return self._undo is not None and not self.cut

    # ---- lines -------------------------------------------------------------------------------------------------------

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        if self.cut or self._busy:
            return None
        try:
            if self.cell == NEXT and not self._is_cell(frame.f_code):
                return None
            source = self._source(frame.f_code)
            if source is None:
                return None
            top = self._stack[-1] if self._stack else None
            if top is None and source.cell != self.cell:
                return None
            self._stack.append(_Call(frame, source, len(self.steps) - 1 if top is not None else -1))
            return self._stepped
        except Exception as error:
            return self._end(f"the record broke off: {_words_of(error)}")

    def _is_cell(self, code: CodeType) -> bool:
        """Whether this is the cell that was waited for: its own code, no function that some cell has made."""
        number = cell_of(code.co_filename) if code.co_name.startswith(("<module", "<cell")) else -1
        if number >= 0:
            self.cell = self.sources.whole = number
        return number >= 0

    def _source(self, code: CodeType) -> Source | None:
        known = self._known.get(id(code))
        if known is None:
            # A cell is followed by its number, wherever its file lies.
            ours = followed(code) or (self.cell >= 0 and cell_of(code.co_filename) >= 0)
            known = self._known[id(code)] = (code, self.sources.of(code) if ours else None)
        return known[1]

    def _stepped(self, frame: FrameType, event: str, argument: Any) -> Any:
        if self.cut:
            return None
        try:
            while self._stack and self._stack[-1].frame is not frame:
                self._stack.pop()
            if not self._stack:
                return None
            call = self._stack[-1]
            if event == "line":
                self._line(call, frame)
            elif event == "return":
                self._finished(call, frame)
                if isinstance(argument, Tensor) and call.source.function and call.step >= 0:
                    self._note(self.steps[call.step], f"returns {shape_text(argument.shape)}")
                self._stack.pop()
            elif event == "exception" and call.step >= 0 and not issubclass(argument[0], _QUIET):
                step = self.steps[call.step]
                step.state = RAISED
                self._note(step, _words_of(argument[1], argument[0]))
        except Exception as error:
            return self._end(f"the record broke off: {_words_of(error)}")
        return self._stepped

    def _line(self, call: _Call, frame: FrameType) -> None:
        statement = call.source.statement(frame.f_lineno)
        offset = frame.f_lasti
        if statement is call.statement and (offset > call.offset or statement.round):
            call.offset = offset  # another line of the same statement
            return
        self._finished(call, frame)
        call.statement, call.offset = statement, offset
        call.turns[statement.first] = call.turns.get(statement.first, 0) + 1
        self._step(call, statement)

    def _step(self, call: _Call, statement: Statement, kind: int = LINE) -> int:
        if len(self.steps) >= MOST_STEPS:
            self._end(f"after {count_text(MOST_STEPS, 'line')}")
            return len(self.steps) - 1
        depth = len(self._stack) - 1 if call is self._stack[-1] else self._stack.index(call)
        turn = call.turns.get(statement.first, 1)
        call.statement, call.step = statement, len(self.steps)
        self.steps.append(Step(call.source, statement, depth, call.caller, turn, kind))
        return call.step

    def _now(self, call: _Call) -> int:
        """The step that belongs to what happens now in a call: its line, or its line once more after others."""
        if call.step == len(self.steps) - 1 or call.statement is None:
            return call.step
        return self._step(call, call.statement, BACK)

    def _finished(self, call: _Call, frame: FrameType) -> None:
        """What the names of a statement became."""
        statement = call.statement
        if call.gradients:
            note = f"backward ran, {count_text(call.gradients, 'operation')}"
            self._note(self.steps[self._now(call)], note)
            call.gradients = 0
        if statement is None:
            return
        if statement.body is not None and not statement.body[0] <= frame.f_lineno <= statement.body[1]:
            self._note(self.steps[self._now(call)], "the loop ends")
            return
        if not statement.names:
            return
        there = frame.f_locals
        notes = []
        for name in statement.names[:MOST_NOTED]:
            if name not in there:
                continue
            value = there[name]
            if isinstance(value, Tensor):
                self._called_now(value, name, call)
                notes.append(f"{name} {shape_text(value.shape)}")
            else:
                notes.append(f"{name} = {_plain(value)}")
        if notes:
            self._note(self.steps[self._now(call)], ", ".join(notes))

    def _called_now(self, value: Tensor, name: str, call: _Call) -> None:
        """A name for a value that is known; one that is not was made by something that is no operation, such as ``zeros``."""
        place = self._place(value)
        if place is None:
            if len(self.made) >= MOST_OPERATIONS:
                return
            place = len(self.made)
            self._add(_kind_of(value), "tensor", self._now(call), value, ())
        made = self.made[place]
        made.label = made.label or name

    def _note(self, step: Step, words: str) -> None:
        step.note = f"{step.note}; {words}" if step.note and words not in step.note else step.note or words

    # ---- operations --------------------------------------------------------------------------------------------------

    def _operation(self, row: Any, inputs: Sequence[Any], attrs: Any, outs: Sequence[Any]) -> None:
        if threading.get_ident() != self._thread or not self._stack or self._busy:
            return
        if modes.state.run is not None:
            self._stack[-1].gradients += 1
            return
        self.operations += 1
        if self.cut:
            return
        if self.operations > MOST_OPERATIONS:
            self._end(f"after {count_text(MOST_OPERATIONS, 'operation')}")
            return
        self._busy = True
        try:
            self._take(row, inputs, outs)
        except Exception as error:
            self._end(f"the record broke off: {_words_of(error)}")
        finally:
            self._busy = False

    def _take(self, row: Any, inputs: Sequence[Any], outs: Sequence[Any]) -> None:
        step = self._now(self._stack[-1])
        sources = [place for x in inputs if isinstance(x, Tensor) and (place := self._given(x, step)) is not None]
        mark = modes.state.mark
        path = mark.path.names() if mark is not None and mark.path is not None else ()
        for number, out in enumerate(outs):
            written = any(out is x for x in inputs)
            made = self._add("operation", row.name + "_" * written, step, out, tuple(sources))
            made.scope, made.output = path, number
            made.flags = FLAGS["in_place"] * written | FLAGS["view"] * (row.view is not None)
            if written and out._view is not None:
                self._places[id(out._view.base)] = (weakref.ref(out._view.base), len(self.made) - 1)

    def _given(self, x: Tensor, step: int) -> int | None:
        """The place of an input; one that was not met yet is a value from outside. Numbers in the code are none."""
        place = self._place(x)
        if place is not None:
            return place
        if x._a.ndim == 0 and not x._rg:
            return None
        self._add(_kind_of(x), "input", step, x, ())
        return len(self.made) - 1

    def _add(self, kind: str, name: str, step: int, x: Tensor, inputs: Sequence[int]) -> Made:
        made = Made(kind, name, step, x._a, inputs, weakref.ref(x))
        made.dtype = str(x.dtype).rpartition(".")[2]
        if len(self.made) < MOST_LOOKED:
            made.look = preview(x._a, dtype=made.dtype, device=str(device_of(x._a)))
        self._places[id(x)] = (made.of, len(self.made))
        self.made.append(made)
        return made

    def _place(self, x: Tensor) -> int | None:
        known = self._places.get(id(x))
        return known[1] if known is not None and known[0]() is x else None

    # ---- words -------------------------------------------------------------------------------------------------------

    def printed(self, words: str) -> None:
        """What is printed while a line runs belongs to it, as far as there is room."""
        if not self._stack or self.cut or self._room <= 0 or threading.get_ident() != self._thread:
            return
        step = self._now(self._stack[-1])
        if step >= 0:
            self.steps[step].printed += words[: self._room]
            self._room -= len(words)


def _kind_of(x: Tensor) -> str:
    return "input" if not x._rg else "parameter" if type(x).__name__ == "Parameter" else "leaf"


class _Ear:
    """A stream that passes everything on, and tells a recorder of it."""

    def __init__(self, stream: Any, recorder: LineRecorder) -> None:
        self._stream, self._recorder = stream, recorder

    def write(self, words: str) -> Any:
        if isinstance(words, str):
            self._recorder.printed(words)
        return self._stream.write(words)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _words_of(error: Any, kind: type | None = None) -> str:
    """An error in a line; before it was made there is only its class."""
    kind = kind or type(error)
    try:
        words = str(error or "").strip().partition("\n")[0]
    except Exception:
        words = ""
    words = f"{kind.__name__}: {words}" if words else kind.__name__
    return words if len(words) <= 200 else words[:199] + "…"


def _plain(value: Any) -> str:
    """A value that is no tensor in few words, without calling anything of the user's."""
    kind = type(value)
    if value is None or kind in (bool, int, float, complex):
        return repr(value)[:40]
    if kind in (str, bytes):
        return repr(value[:30]) + "…" * (len(value) > 30)
    if kind in (list, tuple, dict, set):
        if kind is tuple and len(value) <= 4 and all(type(item) in (bool, int, float) for item in value):
            return repr(value)
        return f"{kind.__name__} of {len(value)}"
    return kind.__name__
