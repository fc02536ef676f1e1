"""Nested tuples, lists and dictionaries as a flat list of leaves, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Rebuild = Callable[[list[Any]], Any]


def children(value: Any) -> tuple[list[Any], Rebuild] | None:
    """What a container holds, and how to make one like it of other things; ``None`` for what is no container."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return list(value), lambda found: type(value)(*found)
    if type(value) in (tuple, list):
        return list(value), type(value)
    if isinstance(value, dict):
        keys = list(value)
        return [value[k] for k in keys], lambda found: _dict_like(value, keys, found)
    return None


def _dict_like(value: Any, keys: list[Any], found: list[Any]) -> Any:
    made = value.copy()
    made.update(zip(keys, found, strict=True))
    return made


def flatten(value: Any) -> tuple[list[Any], Rebuild]:
    """The leaves in order, and a function that puts others in their places."""
    inside = children(value)
    if inside is None:
        return [value], lambda found: found[0]
    items, rebuild = inside
    parts = [flatten(item) for item in items]
    counts = [len(leaves) for leaves, _ in parts]

    def back(found: list[Any]) -> Any:
        made, at = [], 0
        for (_, inner), count in zip(parts, counts, strict=True):
            made.append(inner(found[at : at + count]))
            at += count
        return rebuild(made)

    return [leaf for leaves, _ in parts for leaf in leaves], back


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The same containers with every leaf put through ``function``."""
    leaves, back = flatten(value)
    return back([function(leaf) for leaf in leaves])


def spread(prefix: Any, value: Any, what: str) -> list[Any]:
    """One entry of ``prefix`` for every leaf of ``value``: an entry that is no container stands for all leaves below it."""
    inside, above = children(value), children(prefix)
    if above is None or inside is None:
        if above is not None:
            raise ValueError(f"{what}: {prefix!r} has more levels than the value it is for")
        return [prefix] * len(flatten(value)[0])
    same = type(prefix) is type(value) or (isinstance(prefix, (tuple, list)) and isinstance(value, (tuple, list)))
    keyed = isinstance(value, dict) and isinstance(prefix, dict)
    if not same or len(above[0]) != len(inside[0]) or (keyed and set(prefix) != set(value)):
        raise ValueError(f"{what}: {prefix!r} does not have the structure of the value it is for")
    entries = [prefix[k] for k in value] if keyed else above[0]
    return [entry for p, v in zip(entries, inside[0], strict=True) for entry in spread(p, v, what)]
