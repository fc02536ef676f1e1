"""Conditions on a gradient that stop a run."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, get_args

from tensorlab.backend import namespace
from tensorlab.observe.preview import distinct, norm
from tensorlab.observe.schema import Predicate, PredicateKind
from tensorlab.observe.words import number_text

KINDS = get_args(PredicateKind)


def parsed(given: Any) -> tuple[Predicate, ...]:
    """Predicates from what a request holds. Raises ``ValueError`` with a sentence for anything else."""
    if not isinstance(given, list):
        raise ValueError(f"'predicates' must be a list, not {type(given).__name__}")
    return tuple(map(_parsed, given))


def _parsed(entry: Any) -> Predicate:
    kind: Any = entry.get("kind") if isinstance(entry, dict) else None
    if kind not in KINDS:
        raise ValueError(f"a predicate needs a 'kind' out of {', '.join(KINDS)}, not {kind!r}")
    if not kind.startswith("norm"):
        return Predicate(kind, None)
    value = entry.get("value")
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise ValueError(f"the predicate {kind} needs a 'value': the norm to compare with, not {value!r}")
    return Predicate(kind, float(value))


class Predicates:
    """The conditions of a session. ``nan`` and ``inf`` look at every element, the others at the norm."""

    def __init__(self, predicates: Iterable[Predicate]) -> None:
        self.all = tuple(predicates)

    def met_by(self, gradients: Iterable[Any] | None) -> str:
        """Why the gradients that wait at a node fulfil a condition, in words; empty when they fulfil none."""
        if not self.all:
            return ""
        arrays = [gradient._a for gradient in gradients or () if gradient is not None]
        for predicate in self.all:
            for array in arrays:
                why = _why(predicate, array)
                if why:
                    return why
        return ""


def _why(predicate: Predicate, array: Any) -> str:
    if predicate.kind == "nan":
        return "the gradient holds NaN" if has_nan(array) else ""
    if predicate.kind == "inf":
        return "the gradient holds an infinite value" if has_inf(array) else ""
    size, bound = norm(array), predicate.value or 0.0
    met = size > bound if predicate.kind == "norm_above" else size < bound
    word = "above" if predicate.kind == "norm_above" else "below"
    return f"the norm {number_text(size)} is {word} {number_text(bound)}" if met else ""


def has_nan(array: Any) -> bool:
    """Whether any element is NaN, without copying repeated elements."""
    return array.dtype.kind in "fcV" and bool(namespace(array).isnan(distinct(array)).any())


def has_inf(array: Any) -> bool:
    """Whether any element is infinite."""
    return array.dtype.kind in "fcV" and bool(namespace(array).isinf(distinct(array)).any())
