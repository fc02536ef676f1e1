"""Code as statements: which lines belong together, which names they bind, and whose code is worth following."""

from __future__ import annotations

import ast
import linecache
import site
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

from tensorlab.engine.sites import is_ours
from tensorlab.observe.names import notebook_shell

#: Lines of one piece of code that a document holds.
MOST_LINES = 400
LONGEST_LINE = 160


@dataclass(eq=False)
class Statement:
    """A statement, or the head of one that holds others: its first and last line, the names it binds, whether it goes
    round in itself, as a comprehension does, and the lines of a loop's body."""

    first: int
    last: int
    names: tuple[str, ...] = ()
    round: bool = False
    body: tuple[int, int] | None = None


@dataclass(eq=False)
class Source:
    """A piece of code that is followed: a cell, or a function. ``first`` is the number of its first line."""

    name: str
    function: str
    first: int
    text: tuple[str, ...]
    file: str
    cell: int
    statements: dict[int, Statement] = field(default_factory=dict)

    def statement(self, line: int) -> Statement:
        """The statement that a line belongs to."""
        known = self.statements.get(line)
        if known is None:
            known = self.statements[line] = Statement(line, line)
        return known


def followed(code: CodeType) -> bool:
    """Whether code is a person's own: no part of this library, of Python, or of an installed package."""
    name = code.co_filename
    if code.co_name in _ROUND or is_ours(code) or "tensorlab_widgets" in name or name.startswith(_installed()):
        return False
    return not name.startswith("<") or bool(linecache.getlines(name))


#: The frames of comprehensions: Python has them up to 3.11. What happens there belongs to the line around it.
_ROUND = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _installed(known: list[tuple[str, ...]] = []) -> tuple[str, ...]:  # noqa: B006  (worked out once)
    if not known:
        folders = {sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
        known.append(tuple({*folders, *site.getsitepackages(), site.getusersitepackages()}))
    return known[0]


def cell_of(file: str) -> int:
    """The execution count of the notebook cell that was compiled under a file name, or -1."""
    known = getattr(getattr(notebook_shell(), "compile", None), "_filename_map", {})
    return int(known.get(file, -1))


class Sources:
    """The pieces of code that were met, each once. ``whole`` is the cell that is shown with all its lines."""

    def __init__(self, whole: int = -1) -> None:
        self.whole = whole
        self.all: list[Source] = []
        self._by_code: dict[int, tuple[CodeType, Source]] = {}
        self._by_place: dict[tuple[str, int], Source] = {}
        self._statements: dict[str, dict[int, Statement]] = {}

    def add(self, source: Source) -> Source:
        """Take in a piece of code that has no file."""
        self.all.append(source)
        return source

    def number(self, source: Source) -> int:
        return self.all.index(source)

    def of(self, code: CodeType) -> Source:
        """The piece that a code object belongs to."""
        known = self._by_code.get(id(code))
        if known is None:
            known = self._by_code[id(code)] = (code, self._find(code))
        return known[1]

    def _find(self, code: CodeType) -> Source:
        file, cell = code.co_filename, cell_of(code.co_filename)
        lines = linecache.getlines(file)
        entire = code.co_name.startswith("<module") or code.co_name.startswith("<cell") or (0 <= cell == self.whole)
        first = 1 if entire else code.co_firstlineno
        last = len(lines) if entire else max((line for *_, line in code.co_lines() if line), default=first)
        statements = self._of_file(file, lines)
        if code.co_name == "<lambda>" and first in statements:  # it is shown with the statement that it stands in
            last = max(last, statements[first].last)
            first = statements[first].first
        place = (file, first)
        if place in self._by_place:
            return self._by_place[place]
        text = tuple(_cut(line) for line in lines[first - 1 : min(last, first + MOST_LINES - 1)])
        if entire and text and text[0].startswith("#%%"):
            text = (text[0][1:], *text[1:])
        name = f"cell {cell}" if cell >= 0 else Path(file).name
        function = "" if entire else code.co_name
        made = Source(name, function, first, text, file, cell, statements)
        self._by_place[place] = made
        self.all.append(made)
        return made

    def _of_file(self, file: str, lines: list[str]) -> dict[int, Statement]:
        if file not in self._statements:
            try:
                self._statements[file] = _statements(ast.parse("".join(lines)))
            except (SyntaxError, ValueError, RecursionError):
                self._statements[file] = {}
        return self._statements[file]


def _cut(line: str) -> str:
    line = line.rstrip("\r\n").expandtabs(4)
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"


def _statements(tree: ast.Module) -> dict[int, Statement]:
    """Line -> the innermost statement there; one line of several statements is one."""
    found: dict[int, Statement] = {}
    stack: list[ast.AST] = [tree]
    order: list[ast.stmt] = []
    while stack:
        node = stack.pop()
        if isinstance(node, ast.stmt):
            order.append(node)
        stack += [child for child in ast.iter_child_nodes(node) if isinstance(child, _HOLDERS)]
    for node in sorted(order, key=lambda stmt: (stmt.lineno, -(stmt.end_lineno or 0))):
        first, last = _span(node)
        names = tuple(_bound(node))
        body = None
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            body = (_line(node.body[0]), node.body[-1].end_lineno or 0)
        round_ = any(isinstance(part, _COMPREHENSIONS) for part in _own(node))
        before = found.get(first)
        if before is not None and before.first == first:
            before.names += names
            before.last = max(before.last, last)
            before.round |= round_
            statement = before
        else:
            statement = Statement(first, last, names, round_, body)
        for line in range(first, last + 1):
            found[line] = statement
    return found


_HOLDERS = (ast.stmt, ast.excepthandler, ast.match_case)


def _own(node: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement that are in no statement within it."""
    stack: list[ast.AST] = [node]
    while stack:
        part = stack.pop()
        yield part
        stack += [child for child in ast.iter_child_nodes(part) if not isinstance(child, _HOLDERS)]


def _span(node: ast.stmt) -> tuple[int, int]:
    """The lines of a statement; of one that holds others, those of its head."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    inner = [_line(child) for child in ast.iter_child_nodes(node) if isinstance(child, _HOLDERS) and _line(child)]
    last = node.end_lineno or node.lineno
    return first, max(first, min([last, *(line - 1 for line in inner)]))


def _line(node: Any) -> int:
    return int(getattr(node, "lineno", 0))


def _bound(node: ast.stmt) -> Iterator[str]:
    """The plain names that a statement binds."""
    targets: list[ast.AST] = []
    if isinstance(node, ast.Assign):
        targets = list(node.targets)
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For | ast.AsyncFor):
        targets = [node.target]
    elif isinstance(node, ast.With | ast.AsyncWith):
        targets = [item.optional_vars for item in node.items if item.optional_vars is not None]
    while targets:
        target = targets.pop(0)
        if isinstance(target, ast.Name):
            yield target.id
        elif isinstance(target, ast.Tuple | ast.List):
            targets = [*target.elts, *targets]
        elif isinstance(target, ast.Starred):
            targets.insert(0, target.value)
