"""A record of lines as a document, and the answers to a view of it. The record is let go of: looks at values are all that stays."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from tensorlab.observe import wire
from tensorlab.observe.lines import BACK, RAISED, LineRecorder, Made
from tensorlab.observe.names import Names, dotted
from tensorlab.observe.places import short_path
from tensorlab.observe.protocol import Message, Refused, served, whole
from tensorlab.observe.schema import (
    FLAGS,
    GRAPH,
    KINDS,
    LINES,
    ArrayPreview,
    EdgeColumns,
    Graph,
    Group,
    LinesDocument,
    LineSource,
    NodeColumns,
    Site,
    StepColumns,
    ValueColumns,
)
from tensorlab.observe.schema_kept import KeepColumns, StorageColumns
from tensorlab.observe.words import count_text, number_text, shape_text

HEAT_ROWS, HEAT_COLUMNS = 5, 10
#: 63 levels, from the most negative over zero (the 32nd) to the most positive.
LEVELS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+"
ZERO = 31
_KIND = {name: number for number, name in enumerate(KINDS)}


class LineRecord:
    """What was recorded: ``document``, and a closer ``look`` at each of the first values. ``error`` ended the run, if one did."""

    def __init__(self, recorder: LineRecorder, title: str, names: Names | None = None) -> None:
        self.document = _Writer(recorder, names or Names()).document(title)
        self._looks: tuple[ArrayPreview | None, ...] = tuple(made.look for made in recorder.made)
        self.result: Any = None
        self.error: BaseException | None = None

    def look(self, node: int) -> ArrayPreview:
        """A closer look at the value of a node. Raises ``Refused`` where there is none."""
        if not 0 <= node < len(self._looks):
            raise Refused(f"there is no value {node}; there are {len(self._looks):,}")
        found = self._looks[node]
        if found is None:
            raise Refused(f"only the first {sum(look is not None for look in self._looks):,} values were looked at")
        return found

    def looked(self) -> int:
        """How many values can be looked at."""
        return sum(look is not None for look in self._looks)

    def handle(self, request: Any) -> Message:
        """Answer one request: ``initialize`` or ``value``."""
        actions: dict[str, Callable[[Mapping[str, Any]], Message]] = {
            "initialize": lambda arguments: {"lines": wire.to_json(self.document)},
            "value": lambda arguments: wire.to_json(self.look(whole(arguments, "node"))),
            "disconnect": lambda arguments: {},
        }
        return served(request, actions, "a record of lines cannot {command!r}")

    def let_go(self) -> None:
        """Keep the document and nothing else."""
        self._looks = ()
        self.result = self.error = None


class _Writer:
    def __init__(self, recorder: LineRecorder, names: Names) -> None:
        self.recorder, self.names = recorder, names
        self.strings: dict[str, int] = {}
        self.graph_strings: dict[str, int] = {}
        self.groups: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}
        self.sites: dict[Site, int] = {}

    def document(self, title: str) -> LinesDocument:
        r = self.recorder
        steps = self._steps()
        values = self._values()
        return LinesDocument(
            schema=LINES,
            title=title,
            sentence=self._sentence(title),
            strings=tuple(self.strings),
            sources=tuple(LineSource(s.name, s.function, s.first, s.text) for s in r.sources.all),
            steps=steps,
            graph=self._graph(title),
            values=values,
            error=r.error,
            cut=r.cut,
        )

    def _text(self, words: str) -> int:
        return self.strings.setdefault(words, len(self.strings)) if words else -1

    def _steps(self) -> StepColumns:
        numbers = {id(source): at for at, source in enumerate(self.recorder.sources.all)}
        rows = [
            (
                numbers[id(s.source)], s.statement.first, s.statement.last, s.depth, s.caller, s.turn,
                int(s.kind == BACK), int(s.state == RAISED), self._text(s.note), self._text(s.printed),
            )
            for s in self.recorder.steps
        ]  # fmt: skip
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(fields(StepColumns))
        return StepColumns(*columns)

    # ---- the graph ---------------------------------------------------------------------------------------------------

    def _graph(self, title: str) -> Graph:
        rows = [self._node(at, made) for at, made in enumerate(self.recorder.made)]
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(fields(NodeColumns))
        edges = [
            (source, target, slot)
            for target, made in enumerate(self.recorder.made)
            for slot, source in enumerate(made.inputs)
        ]
        sources, targets, slots = zip(*edges, strict=True) if edges else ((), (), ())
        groups = tuple(
            Group(dotted(root, path), path[-1][1], self.groups.get((root, path[:-1]), -1)) for root, path in self.groups
        )
        return Graph(
            GRAPH, title, "", tuple(self.graph_strings), NodeColumns(*columns),
            EdgeColumns(sources, targets, slots, (-1,) * len(sources)), groups, tuple(self.sites), (),
            StorageColumns(*((),) * len(fields(StorageColumns))), KeepColumns((), (), ()), 0,
        )  # fmt: skip

    def _node(self, at: int, made: Made) -> tuple[int, ...]:
        tensor = made.of()
        label = made.label or (self.names.of_tensor(tensor) if tensor is not None else "")
        flags = made.flags
        if made.look is not None and (made.look.nan or made.look.inf):
            flags |= FLAGS["nan"]
        operation = made.kind == "operation"
        return (
            at,
            _KIND[made.kind],
            self._word(made.name),
            -1,
            self._word(label) if label else -1,
            self._word(shape_text(made.shape)),
            self._word(made.dtype),
            self._group(made) if operation else -1,
            self._site(made) if operation else -1,
            flags,
            0,
            0,
            -1,
        )

    def _word(self, words: str) -> int:
        return self.graph_strings.setdefault(words, len(self.graph_strings))

    def _group(self, made: Made) -> int:
        key = made.scope
        if not key:
            return -1
        root = "" if key[0][0] else self.names.root_of_type(key[0][1])
        for depth in range(1, len(key) + 1):
            self.groups.setdefault((root, key[:depth]), len(self.groups))
        return self.groups[root, key]

    def _site(self, made: Made) -> int:
        step = self.recorder.steps[made.step]
        source, line = step.source, step.statement.first
        at = line - source.first
        code = source.text[at].strip() if 0 <= at < len(source.text) else ""
        file = "" if source.cell >= 0 or not source.file else short_path(source.file)
        site = Site(file or source.name, line, source.function or "<module>", code, source.cell)
        return self.sites.setdefault(site, len(self.sites))

    # ---- values ------------------------------------------------------------------------------------------------------

    def _values(self) -> ValueColumns:
        rows = [(made.step, *self._facts(made.look)) for made in self.recorder.made]
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(fields(ValueColumns))
        return ValueColumns(*columns)

    def _facts(self, look: ArrayPreview | None) -> tuple[Any, ...]:
        if look is None:
            return None, None, None, None, 0, -1
        figures = (look.low, look.high, look.mean, look.std)
        return *(map(_short, figures)), look.nan + look.inf, self._text(heat(look))

    # ---- the sentence ------------------------------------------------------------------------------------------------

    def _sentence(self, title: str) -> str:
        r = self.recorder
        lines = sum(step.kind != BACK and step.source.name != "call" for step in r.steps)
        if not lines and not r.operations:
            return f"{title} ran no line that could be followed."
        values = r.operations + sum(m.name == "tensor" for m in r.made)
        made = f" and made {count_text(values, 'value')}" if values else ""
        more = "more than " if r.cut else ""
        said = [f"{title} ran {more}{count_text(lines, 'line')}{made}."]
        bad = next((m for m in r.made if m.look is not None and (m.look.nan or m.look.inf)), None)
        if bad is not None and bad.name != "input":
            said.append(
                f"{bad.label or bad.name} in line {r.steps[bad.step].statement.first} is the first that is not finite."
            )
        if r.error:
            where = next((s for s in reversed(r.steps) if s.state == RAISED and not s.depth), None)
            said.append(f"It ended{f' in line {where.statement.first}' if where else ''} with {r.error}.")
        if r.cut:
            said.append(f"The record ends {r.cut}; what ran after that is not in it.")
        elif sum(m.look is None for m in r.made):
            looked = sum(m.look is not None for m in r.made)
            said.append(f"The first {looked:,} values were looked at closely.")
        return " ".join(said)


def heat(look: ArrayPreview) -> str:
    """The corner of an array as letters: rows apart by spaces, one letter a value by its size and sign."""
    rows = [row[:HEAT_COLUMNS] for row in look.grid[:HEAT_ROWS]]
    most = max((abs(value) for row in rows for value in row if value is not None), default=0.0) or 1.0
    return " ".join(
        "".join("!" if value is None else LEVELS[ZERO + round(value / most * ZERO)] for value in row) for row in rows
    )


def _short(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(f"{value:.4g}")


def value_text(document: LinesDocument, node: int) -> str:
    """What a value was, in few words: its name or operation, its shape, and its number or mean."""
    graph, values = document.graph, document.values
    nodes, strings = graph.nodes, graph.strings
    name = strings[nodes.label[node]] if nodes.label[node] >= 0 else strings[nodes.name[node]]
    shape, mean = strings[nodes.shape[node]], values.mean[node]
    if values.bad[node]:
        told = f"{values.bad[node]:,} not finite"
    elif mean is None:
        told = ""
    else:
        told = number_text(mean) if shape == "[]" else f"mean {number_text(mean)}"
    return " ".join(filter(None, (name, "" if shape == "[]" else shape, told)))


def part_of(document: LinesDocument, steps: int) -> LinesDocument:
    """The first ``steps`` steps of a document, with what they made."""
    if steps >= len(document.steps.line):
        return document
    kept = next((at for at, step in enumerate(document.values.step) if step >= steps), len(document.values.step))

    def first(columns: Any, count: int) -> Any:
        return replace(columns, **{field.name: getattr(columns, field.name)[:count] for field in fields(columns)})

    graph = document.graph
    count = sum(target < kept for target in graph.edges.target)
    return replace(
        document,
        steps=first(document.steps, steps),
        graph=replace(graph, nodes=first(graph.nodes, kept), edges=first(graph.edges, count)),
        values=first(document.values, kept),
        cut=document.cut or f"after {count_text(steps, 'line')}: the file keeps no more",
    )


def record(
    function: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any], names: Names | None = None
) -> LineRecord:
    """Call ``function`` and record its lines. What it returns is ``result``; an error ends the record and is kept as ``error``."""
    names = names or Names()
    called = names.of_module(function) or getattr(function, "__name__", type(function).__name__).strip("<>")
    recorder = LineRecorder(call=f"{called}({_listed(arguments, options, names)})")
    result, error = None, None
    recorder.start()
    try:
        result = function(*arguments, **options)
    except BaseException as raised:
        error = raised
    finally:
        recorder.stop(error)
    made = LineRecord(recorder, called, names)
    made.result, made.error = result, error
    return made


def _listed(arguments: Sequence[Any], options: Mapping[str, Any], names: Names) -> str:
    words = [names.of_tensor(value) or "…" for value in arguments] + [f"{name}=…" for name in options]
    return ", ".join(words)
