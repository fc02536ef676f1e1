"""Writes the TypeScript types of the documents in ``schema.py``, ``schema_asking.py`` and ``schema_watching.py``.

``python -m tensorlab.observe.typescript`` rewrites ``widgets/shared/snapshot.ts``, ``asking.ts`` and ``watching.ts``; a test compares the
files with what this module generates, so the two sides cannot drift apart.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
import types
import typing
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from tensorlab.observe import schema, schema_asking, schema_compare, schema_kept, schema_training, schema_watching

#: The file of each schema.
FILES = {
    schema: "snapshot.ts",
    schema_asking: "asking.ts",
    schema_watching: "watching.ts",
    schema_training: "training.ts",
    schema_kept: "kept.ts",
    schema_compare: "compared.ts",
}
HEADER = "// Generated from tensorlab/observe/{}.py by `python -m tensorlab.observe.typescript`. Do not edit.\n"
CONSTANTS = (
    "GRAPH",
    "NODE",
    "SESSION",
    "LAYOUT",
    "FLOW",
    "FLOW_NOW",
    "MEASURES",
    "COMPARE",
    "CHANGES",
    "LINES",
    "HOOKS",
    "MEMORY",
    "USES",
    "KINDS",
    "FIRST_STORAGE",
    "LAYERS",
    "HOLDERS",
    "STATES",
    "FLAGS",
    "LEVELS",
    "FINDINGS",
)
ALIASES = ("Reason", "PredicateKind", "HookState", "OutputForm")
WIDTH = 110


def generate(module: ModuleType = schema) -> str:
    """The whole text of the file of one schema."""
    own = vars(module)
    documents = [_interface(document) for document in _documents(module)]
    aliases = [_alias(name) for name in ALIASES if name in own]
    head = HEADER.format(module.__name__.rpartition(".")[2]) + _imports(module)
    return "\n".join([head, _constants(module), *aliases, *documents])


def _documents(module: ModuleType) -> list[type]:
    """The dataclasses of a schema in the order in which they are written."""
    found = [item for item in vars(module).values() if dataclasses.is_dataclass(item) and isinstance(item, type)]
    return [item for item in found if item.__module__ == module.__name__]


def _imports(module: ModuleType) -> str:
    """The line that brings documents of another schema in."""
    lines = []
    for other, file in FILES.items():
        names = (
            [name for name, item in vars(module).items() if item in _documents(other)] if other is not module else []
        )
        if names:
            lines.append(f"import type {{ {', '.join(sorted(names))} }} from './{file.removesuffix('.ts')}';\n")
    return "\n" + "".join(lines) if lines else ""


def _constants(module: ModuleType) -> str:
    lines = []
    for name in CONSTANTS:
        value = vars(module).get(name)
        if value is None:
            continue
        if isinstance(value, str):
            text = _quoted(value)
        elif isinstance(value, dict):
            text = "{ " + ", ".join(f"{key}: {number}" for key, number in value.items()) + " } as const"
        elif isinstance(value, int):
            text = str(value)
        else:
            text = "[" + ", ".join(map(_quoted, value)) + "] as const"
            if len(f"export const {name} = {text};") > WIDTH:
                text = "[\n" + "".join(f"  {_quoted(one)},\n" for one in value) + "] as const"
        lines.append(f"export const {name} = {text};\n")
    if module is schema:
        lines.append("export type Kind = (typeof KINDS)[number];\n")
        lines.append("export type State = (typeof STATES)[number];\n")
    if module is schema_kept:
        lines.append("export type Layer = (typeof LAYERS)[number];\n")
    return "".join(lines)


def _alias(name: str) -> str:
    values = [
        _quoted(value)
        for value in typing.get_args(next(getattr(module, name) for module in FILES if hasattr(module, name)))
    ]
    line = f"export type {name} = {' | '.join(values)};\n"
    if len(line) <= WIDTH:
        return line
    return f"export type {name} =\n" + "".join(f"  | {value}\n" for value in values)[:-1] + ";\n"


def _interface(document: type) -> str:
    comment = _comment(inspect.getdoc(document) or "")
    hints = typing.get_type_hints(document)
    notes = _field_notes(document)
    lines = []
    for field in dataclasses.fields(document):
        if field.name in notes:
            lines.append(f"  /** {notes[field.name]} */\n")
        lines.append(f"  readonly {field.name}: {type_text(hints[field.name])};\n")
    return f"{comment}export interface {document.__name__} {{\n{''.join(lines)}}}\n"


def _comment(text: str) -> str:
    paragraph = _ticks(" ".join(text.split()))
    lines, line = [], ""
    for word in paragraph.split(" "):
        if line and len(line) + 1 + len(word) > WIDTH - 3:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    lines.append(line)
    return "/**\n" + "".join(f" * {line}\n" for line in lines) + " */\n"


def _field_notes(document: type) -> dict[str, str]:
    """The comments that stand behind fields in the source: they explain the field on the other side as well."""
    found = re.findall(r"^    (\w+):[^#\n]*#\s*(.+)$", inspect.getsource(document), flags=re.MULTILINE)
    return {name: _ticks(note) for name, note in found}


def _ticks(text: str) -> str:
    """Names in ``double ticks`` as TypeScript comments write them."""
    return re.sub(r"``([^`]*)``", r"`\1`", text).replace("`None`", "`null`")


def type_text(hint: Any) -> str:
    """A Python type as TypeScript: tuples are readonly arrays, ``None`` is ``null``, documents are named."""
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        for alias in ALIASES:
            if any(hint == getattr(module, alias, None) for module in FILES):
                return alias
        return " | ".join(map(_quoted, args))
    if origin in (typing.Union, types.UnionType):
        return " | ".join(type_text(arg) for arg in args)
    if origin is tuple and len(args) == 2 and args[1] is Ellipsis:
        item = type_text(args[0])
        return f"readonly ({item})[]" if " " in item else f"readonly {item}[]"
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return hint.__name__
    raise TypeError(
        f"no TypeScript type is known for {hint!r}: documents hold numbers, text, tuples and other documents"
    )


_SIMPLE: dict[Any, str] = {int: "number", float: "number", str: "string", bool: "boolean", type(None): "null"}


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def target(module: ModuleType = schema) -> Path:
    """Where the file of a schema lives in a checkout of the repository."""
    return Path(__file__).parents[2] / "widgets" / "shared" / FILES[module]


if __name__ == "__main__":
    for written in FILES:
        target(written).parent.mkdir(parents=True, exist_ok=True)
        target(written).write_text(generate(written), encoding="utf-8")
        sys.stdout.write(f"wrote {target(written)}\n")
