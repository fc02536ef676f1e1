"""The documents of gradient flow. What ``schema.py`` says of documents holds here too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

FLOW: Final = "tensorlab.flow/2"
FLOW_NOW: Final = "tensorlab.flow-now/1"
#: What may be found of gradients, the gravest first. ``FlowDocument.looks`` counts them from 1.
FINDINGS: Final = (
    "not finite", "exploded", "vanished", "none", "zero", "dead", "saturated", "left out", "large update", "small update", "changed",
)  # fmt: skip
#: What stands for a level that is none: no gradient, all zeros, NaN or infinity.
LEVELS: Final = {"none": -2_000_000, "zero": -1_000_000, "not_finite": 1_000_000}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that needs a look: which parameter or module, how many others are like it, what, since which step, and what to try."""

    name: str
    others: int
    kind: Literal[
        "not finite",
        "exploded",
        "vanished",
        "none",
        "zero",
        "dead",
        "saturated",
        "left out",
        "large update",
        "small update",
        "changed",
    ]
    since: int
    what: str
    attempt: str


@dataclass(frozen=True, slots=True)
class FlowDocument:
    """Gradients of parameters over training steps.

    ``levels`` holds a row a step, with one whole number a parameter: a thousandth of the power of ten of its norm (``-1500`` is
    ``10 ** -1.5``), or one of ``LEVELS``. ``weight``, ``update`` (size of the last update over size of the weights) and ``flips``
    (part of the signs that changed) hold one such number a parameter, ``looks`` how grave what was found of it is (0 for nothing).
    ``clipped`` holds the norm of all gradients before they were clipped, step by step, and ``left_out`` the steps that a gradient
    scaler left out. Names and shapes are told when ``generation`` is new: a model may change while it trains."""

    schema: Literal["tensorlab.flow/2"]
    title: str
    generation: int
    names: tuple[str, ...]
    shapes: tuple[str, ...]
    steps: tuple[int, ...]
    levels: tuple[int, ...]
    loss: tuple[float | None, ...]
    clipped: tuple[float | None, ...]
    left_out: tuple[int, ...]
    weight: tuple[int, ...]
    update: tuple[int, ...]
    flips: tuple[int, ...]
    looks: tuple[int, ...]
    findings: tuple[Finding, ...]
    attached: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class Ridge:
    """How the sizes of one parameter's gradients are spread, look by look. ``counts`` holds a row of bins a look: elements of size
    ``2 ** (first + 2 * bin)`` to four times that, of a sample; ``zeros`` are those of size 0."""

    name: str
    first: int
    bins: int
    steps: tuple[int, ...]
    counts: tuple[int, ...]
    zeros: tuple[int, ...]
    update: tuple[int, ...]
    flips: tuple[int, ...]
    sentence: str


@dataclass(frozen=True, slots=True)
class FlowNow:
    """The latest gradients by the name of the parameter, for a graph that draws them as the width of its edges."""

    schema: Literal["tensorlab.flow-now/1"]
    title: str
    step: int
    names: tuple[str, ...]
    levels: tuple[int, ...]
