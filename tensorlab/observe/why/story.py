"""What an answer to "why?" is made of: plain facts, as everything that leaves observation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["leaf", "operation", "cut", "bad", "result", "gap"]


@dataclass(frozen=True, slots=True)
class Link:
    """One stop on the way from a value to a result. ``cut`` and ``bad`` are the stops that the story is about."""

    kind: Kind
    label: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Story:
    """An answer: one sentence, the way it went, what is known, and what to do.

    ``found`` says whether there is anything to explain; ``facts`` are pairs of a heading and a text.
    """

    title: str
    sentence: str
    chain: tuple[Link, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    fix: str = ""
    found: bool = True
