"""What a person asks of a paused pass, and what is answered: conditions, expressions, ledgers, comparisons, checks; see ``schema.py``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PredicateKind = Literal["nan", "inf", "norm_above", "norm_below", "shape", "module", "line", "hit"]


@dataclass(frozen=True, slots=True)
class Contribution:
    """A part of what adds up to ``.grad`` of a leaf: one earlier pass, or what one node sent in the pass that is looked at.
    ``node`` is that node's id, or -1 for a pass; ``norm`` is ``None`` where it was not noted."""

    node: int
    source: str  # "pass 3", or the node that sent it
    place: str  # "cell 7, line 2"
    time: str  # "14:05:12", empty in the pass that is looked at
    norm: float | None
    state: Literal["added", "arriving", "to come"]


@dataclass(frozen=True, slots=True)
class Predicate:
    """A condition that stops a run before the node that fulfils it. ``value`` is the norm to compare with, or which hit is meant;
    ``text`` is the shape, the module or the line."""

    kind: PredicateKind
    value: float | None
    text: str


@dataclass(frozen=True, slots=True)
class Watched:
    """An expression that is worked out after every step, and what came out: a value or an error, in words."""

    expression: str
    text: str
    wrong: bool
    changed: bool  # since the stop before


@dataclass(frozen=True, slots=True)
class Breakpoints:
    """All breakpoints of a session, as they are now. A node must fulfil all conditions where they hold ``together``, else any."""

    nodes: tuple[int, ...]
    predicates: tuple[Predicate, ...]
    together: bool


@dataclass(frozen=True, slots=True)
class ChangedGradient:
    """A gradient that is another one because of an edit: its norm without and with it, and the norm of the difference, also in
    parts of the norm without it (``None`` where that was zero)."""

    node: int
    name: str
    label: str
    shape: str
    before: float
    after: float
    difference: float
    relative: float | None


@dataclass(frozen=True, slots=True)
class Changed:
    """What the edits of a run have changed so far, largest effect on leaves first. ``same`` counts the gradients that are equal."""

    gradients: tuple[ChangedGradient, ...]
    same: int
    sentence: str


@dataclass(frozen=True, slots=True)
class CheckedInput:
    """One gradient that a node works out, beside finite differences of its forward: the greatest errors, and where the greatest is."""

    name: str
    shape: str
    checked: int
    elements: int
    error: float
    relative: float
    index: str  # "[0, 3]"
    backward: float
    difference: float
    agrees: bool


@dataclass(frozen=True, slots=True)
class Check:
    """The verdict on one node's backward. ``done`` is false where it could not be checked, and the sentence says why."""

    node: int
    name: str
    done: bool
    agrees: bool
    inputs: tuple[CheckedInput, ...]
    sentence: str


@dataclass(frozen=True, slots=True)
class Watches:
    """All watched expressions, with what they are now."""

    watches: tuple[Watched, ...]
