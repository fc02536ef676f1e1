"""Conditions that stop a run before a node: on the gradient that comes to it, or on where the node was made.

Eight kinds. ``nan`` and ``inf`` look at every element, ``norm_above`` and ``norm_below`` at the norm, ``shape`` at the shape
(``[64, *]``), ``module`` at the module that made the node (``model.2``, and everything inside it), ``line`` at the line that made it
(``train.py:12``, or ``cell 4, line 2``). ``hit`` counts: it stops at the n-th node that fulfils the others, or the n-th at all.
"""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, get_args

from tensorlab.backend import namespace
from tensorlab.engine.node import AccumulateGrad, Node
from tensorlab.observe import places
from tensorlab.observe.names import Names
from tensorlab.observe.preview import distinct, norm
from tensorlab.observe.schema import Site
from tensorlab.observe.schema_asking import Predicate, PredicateKind
from tensorlab.observe.words import number_text, shape_text

KINDS = get_args(PredicateKind)
_TEXTS = {
    "shape": "a shape such as [64, *], where * is any size",
    "module": "the path of a module such as model.2",
    "line": "a line such as train.py:12, or cell 4, line 2",
}
_LINE = re.compile(r"^\s*(?:(cell)\s+)?(.+?)\s*(?::|,?\s*line\s+)\s*(\d+)\s*$", re.IGNORECASE)
#: Names that an error lists.
MOST_LISTED = 8

Test = Callable[[Node, Sequence[Any]], str]


def parsed(given: Any) -> tuple[Predicate, ...]:
    """Predicates from what a request holds. Raises ``ValueError`` with a sentence for anything else."""
    if not isinstance(given, list):
        raise ValueError(f"'predicates' must be a list, not {type(given).__name__}")
    return tuple(map(_parsed, given))


def _parsed(entry: Any) -> Predicate:
    kind: Any = entry.get("kind") if isinstance(entry, dict) else None
    if kind not in KINDS:
        raise ValueError(f"a predicate needs a 'kind' out of {', '.join(KINDS)}, not {kind!r}")
    value, text = entry.get("value"), entry.get("text", "")
    if kind in _TEXTS:
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"the predicate {kind} needs a 'text': {_TEXTS[kind]}; not {text!r}")
        return Predicate(kind, None, text.strip())
    if kind == "hit":
        if type(value) is not int or value < 1:
            raise ValueError(f"the predicate hit needs a 'value': which hit to stop at, 1 or more; not {value!r}")
        return Predicate(kind, value, "")
    if not kind.startswith("norm"):
        return Predicate(kind, None, "")
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise ValueError(f"the predicate {kind} needs a 'value': the norm to compare with, not {value!r}")
    return Predicate(kind, float(value), "")


class Predicates:
    """The conditions of a session on the nodes of its run. ``together``: a node must fulfil all of them, not only one.

    Raises ``ValueError`` with a sentence for a shape that is none, and for a module or a line that made none of the ``nodes``.
    """

    def __init__(
        self,
        predicates: Iterable[Predicate] = (),
        nodes: Iterable[Node] = (),
        names: Names | None = None,
        together: bool = False,
    ) -> None:
        self.all = tuple(predicates)
        self.together = together
        self.wanted = max((int(p.value or 1) for p in self.all if p.kind == "hit"), default=0)
        self._tests = [_test(p, list(nodes), names or Names()) for p in self.all if p.kind != "hit"]
        self._seen: list[int] = []  # at which steps a node fulfilled the conditions

    def met_by(self, node: Node, gradients: Iterable[Any] | None, step: int) -> str:
        """Why a node that is about to run as number ``step`` stops the run, in words; empty when it does not."""
        if not self.all:
            return ""
        why = self._why(node, [gradient._a for gradient in gradients or () if gradient is not None])
        if not self.wanted or not why:
            return why
        # A step that was undone does not count, and one that is looked at twice counts once.
        self._seen = [*(seen for seen in self._seen if seen < step), step]
        if len(self._seen) != self.wanted:
            return ""
        return f"this is hit {self.wanted}" + ("" if why == "a node runs" else f" where {why}")

    def _why(self, node: Node, arrays: Sequence[Any]) -> str:
        if not self._tests:
            return "a node runs"
        found = []
        for test in self._tests:
            why = test(node, arrays)
            if why:
                found.append(why)
            if bool(why) != self.together:
                break
        return " and ".join(found) if not self.together or len(found) == len(self._tests) else ""


def _test(predicate: Predicate, nodes: Sequence[Node], names: Names) -> Test:
    """A predicate as a function of a node and the arrays that wait there, which says why it holds."""
    if predicate.kind == "module":
        return _among(_of_module(predicate.text, nodes, names), f"it belongs to {predicate.text}")
    if predicate.kind == "line":
        return _among(_of_line(predicate.text, nodes), f"{predicate.text} made it")
    if predicate.kind == "shape":
        sizes = _sizes(predicate.text)
        return lambda node, arrays: next(
            (f"the gradient has shape {shape_text(a.shape)}" for a in arrays if _suits(a.shape, sizes)), ""
        )
    return lambda node, arrays: next(filter(None, (_of_values(predicate, array) for array in arrays)), "")


def _among(numbers: set[int], why: str) -> Test:
    return lambda node, arrays: why if node.seq in numbers else ""


def _of_values(predicate: Predicate, array: Any) -> str:
    if predicate.kind == "nan":
        return "the gradient holds NaN" if has_nan(array) else ""
    if predicate.kind == "inf":
        return "the gradient holds an infinite value" if has_inf(array) else ""
    size, bound = norm(array), predicate.value or 0.0
    met = size > bound if predicate.kind == "norm_above" else size < bound
    word = "above" if predicate.kind == "norm_above" else "below"
    return f"the norm {number_text(size)} is {word} {number_text(bound)}" if met else ""


# ---- shapes ----------------------------------------------------------------------------------------------------------


def _sizes(text: str) -> tuple[int | None, ...]:
    """``[64, *]`` as sizes, ``None`` for any."""
    inner = text.strip()
    if inner[:1] + inner[-1:] in ("[]", "()"):
        inner = inner[1:-1]
    words = [word.strip() for word in inner.split(",") if word.strip()]
    if not all(word == "*" or word.isdecimal() for word in words):
        raise ValueError(f"a shape is whole numbers, and * for any size, such as [64, *]; not {text!r}")
    return tuple(None if word == "*" else int(word) for word in words)


def _suits(shape: Sequence[int], sizes: Sequence[int | None]) -> bool:
    return len(shape) == len(sizes) and all(want in (None, size) for size, want in zip(shape, sizes, strict=True))


# ---- modules and lines -----------------------------------------------------------------------------------------------


def path_of(node: Node, names: Names) -> str:
    """The module that made a node; of a parameter's node the module that it belongs to."""
    if type(node) is AccumulateGrad:
        return names.of_tensor(node.variable).rpartition(".")[0]
    return names.path_of(node)


def _of_module(text: str, nodes: Sequence[Node], names: Names) -> set[int]:
    paths = {node.seq: path_of(node, names) for node in nodes}
    met = {number for number, path in paths.items() if _inside(path, text)}
    if not met:
        known = sorted(set(filter(None, paths.values())))
        there = f"there are {_listed(known)}" if known else "no module made any (modules are noted in notebooks)"
        raise ValueError(f"no node of this pass was made in a module {text!r}; {there}")
    return met


def _inside(path: str, wanted: str) -> bool:
    """Whether a path is the wanted one or lies in it; ``*`` in the wanted one stands for anything."""
    steps = path.split(".") if path else []
    return any(fnmatch.fnmatchcase(".".join(steps[: at + 1]), wanted) for at in range(len(steps)))


def _of_line(text: str, nodes: Sequence[Node]) -> set[int]:
    found = _LINE.match(text)
    if found is None:
        raise ValueError(f"a line is written as train.py:12, or as cell 4, line 2; not {text!r}")
    cell, where, line = found[1], found[2].strip(), int(found[3])
    sites = {node.seq: places.place(node.site) for node in nodes}
    met = {
        number
        for number, site in sites.items()
        if site is not None and site.line == line and _is_there(site, where, bool(cell))
    }
    if not met:
        known = sorted({places.words(site) for site in sites.values() if site is not None})
        there = f"there are {_listed(known)}" if known else "no line is known of any (lines are noted in notebooks)"
        raise ValueError(f"no node of this pass was made at {text!r}; {there}")
    return met


def _is_there(site: Site, where: str, cell: bool) -> bool:
    if site.cell >= 0:
        return where == str(site.cell)
    return not cell and (site.file == where or site.file.endswith(f"/{where}"))


def _listed(known: Sequence[str]) -> str:
    more = len(known) - MOST_LISTED
    return "; ".join(known[:MOST_LISTED]) + (f"; and {more} more" if more > 0 else "")


# ---- values ----------------------------------------------------------------------------------------------------------


def has_nan(array: Any) -> bool:
    """Whether any element is NaN, without copying repeated elements."""
    return array.dtype.kind in "fcV" and bool(namespace(array).isnan(distinct(array)).any())


def has_inf(array: Any) -> bool:
    """Whether any element is infinite."""
    return array.dtype.kind in "fcV" and bool(namespace(array).isinf(distinct(array)).any())
