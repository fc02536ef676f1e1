"""Writes the TypeScript types of the documents in ``schema.py``.

``python -m tensorlab.observe.typescript`` rewrites ``widgets/shared/snapshot.ts``; a test compares the file with what
this module generates, so the two sides cannot drift apart.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
import types
import typing
from pathlib import Path
from typing import Any, Literal

from tensorlab.observe import schema, schema_watching

SCHEMAS = (schema, schema_watching)
HEADER = """// Generated from tensorlab/observe/schema.py and its neighbours by `python -m tensorlab.observe.typescript`. Do not edit.
"""
CONSTANTS = ("GRAPH", "NODE", "SESSION", "LAYOUT", "FLOW", "HOOKS", "GRADIENTS", "KINDS", "STATES", "FLAGS")
ALIASES = ("Reason", "PredicateKind", "HookState", "OutputForm")
WIDTH = 110


def generate() -> str:
    """The whole text of ``snapshot.ts``."""
    parts = [HEADER, _constants(), *map(_alias, ALIASES)]
    parts += [_interface(document) for document in _documents()]
    return "\n".join(parts)


def _documents() -> list[type]:
    """The dataclasses of the schema in the order in which they are written."""
    items = {id(item): item for module in SCHEMAS for item in vars(module).values()}
    return [item for item in items.values() if dataclasses.is_dataclass(item) and isinstance(item, type)]


def _named(name: str) -> Any:
    """What the schema calls by this name."""
    return next(getattr(module, name) for module in SCHEMAS if hasattr(module, name))


def _constants() -> str:
    lines = []
    for name in CONSTANTS:
        value = _named(name)
        if isinstance(value, str):
            text = _quoted(value)
        elif isinstance(value, dict):
            text = "{ " + ", ".join(f"{key}: {number}" for key, number in value.items()) + " } as const"
        else:
            text = "[" + ", ".join(map(_quoted, value)) + "] as const"
        lines.append(f"export const {name} = {text};\n")
    lines.append("export type Kind = (typeof KINDS)[number];\n")
    lines.append("export type State = (typeof STATES)[number];\n")
    return "".join(lines)


def _alias(name: str) -> str:
    values = [_quoted(value) for value in typing.get_args(_named(name))]
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
            if hint == _named(alias):
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


def target() -> Path:
    """Where the file lives in a checkout of the repository."""
    return Path(__file__).parents[2] / "widgets" / "shared" / "snapshot.ts"


if __name__ == "__main__":
    target().parent.mkdir(parents=True, exist_ok=True)
    target().write_text(generate(), encoding="utf-8")
    sys.stdout.write(f"wrote {target()}\n")
