"""What an error knows about itself, as a story: who saved and who wrote, or which dimensions do not meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorlab import layout
from tensorlab.engine.node import Overwritten
from tensorlab.explain import Refused
from tensorlab.observe.places import place, words
from tensorlab.observe.why.story import Link, Story
from tensorlab.observe.words import count_text, shape_text

Shape = tuple[int, ...]


def why_error(error: BaseException) -> Story | None:
    """The story of an error that carries one, else ``None``."""
    facts = getattr(error, "facts", None)
    if isinstance(facts, Overwritten):
        return _overwritten(facts)
    if isinstance(facts, Refused):
        return _refused(facts, error)
    return None


def why_inplace(error: BaseException) -> Story:
    """Which line wrote into a value that a node had saved, which node that was, and both versions.

    ``error`` is what ``backward()`` raised. Raises ``ValueError`` for an error that is about something else.
    """
    facts = getattr(error, "facts", None)
    if not isinstance(facts, Overwritten):
        raise ValueError(
            f"why_inplace() explains a saved value that was written to; this error is about something else: {error}"
        )
    return _overwritten(facts)


def why_shape(error: BaseException) -> Story:
    """Which dimensions of a call do not meet. Raises ``ValueError`` for an error that is not about the inputs of an operation."""
    facts = getattr(error, "facts", None)
    if not isinstance(facts, Refused):
        raise ValueError(
            f"why_shape() explains a call that an operation refused; this error is about something else: {error}"
        )
    return _refused(facts, error)


# ------------------------------------------------------------------------------------------------------- overwritten


def _overwritten(facts: Overwritten) -> Story:
    saved = place(facts.site)
    value = f"{facts.label} {shape_text(facts.shape)}"
    chain = [Link("operation", f"{facts.node} saves {value}", f"version {facts.saved_version}{_at(saved)}")]
    notes = []
    for version, op, site in facts.writes[:4]:
        wrote = place(site)
        chain.append(Link("cut", f"{op}() writes into it", f"version {version}{_at(wrote)}"))
        notes.append((f"write {version}", f"{op}(){_at(wrote)}{f': {wrote.code}' if wrote is not None else ''}"))
    if len(facts.writes) > 4:
        chain.append(Link("gap", count_text(len(facts.writes) - 4, "more write")))
    chain.append(
        Link(
            "bad", f"backward needs {value} as it was", f"expected version {facts.saved_version}, found {facts.version}"
        )
    )
    first = facts.writes[0] if facts.writes else None
    by = f" by {first[1]}(){_where(place(first[2]))}" if first is not None else ""
    return Story(
        "a saved value was overwritten",
        f"{facts.node}{_where(saved)} saved {facts.label} for its gradient, and it was written to afterwards{by}.",
        tuple(chain),
        (("saved by", f"{facts.node}{_at(saved)}{f': {saved.code}' if saved is not None else ''}"), *notes),
        _instead(first[1] if first is not None else ""),
    )


def _instead(op: str) -> str:
    plain = op.rstrip("_")
    if op in ("copy_", "fill_", "zero_"):
        return "Assign into a clone(): y = x.clone(), then y[...] = value; or build the result with where() or cat()."
    if op.endswith("_") and plain.isidentifier():
        return f"Use the form that makes a new tensor, x = x.{plain}(...), or write to a clone()."
    return "Use the out-of-place form, or write to a clone()."


# ----------------------------------------------------------------------------------------------------------- refused


def _refused(facts: Refused, error: BaseException) -> Story:
    site = place(facts.site)
    shapes = [(name, shape) for name, shape, _ in facts.inputs]
    chain = [Link("leaf", name, f"{shape_text(shape)} {dtype}") for name, shape, dtype in facts.inputs[:4]]
    notes: list[tuple[str, str]] = [("called", f"{words(site)}: {site.code}")] if site is not None else []
    sentence, fix = str(error), ""
    if facts.op in ("view", "reshape") and "layout" in facts.attrs:
        sentence, fix, more = _view(facts, error)
        notes += more
    elif facts.op in ("mm", "matmul", "bmm", "addmm", "linear", "linear_without_bias") and len(shapes) >= 2:
        sentence, fix, more = _product(facts.op, shapes, error)
        notes += more
    elif len(shapes) >= 2:
        lines = _meeting([shape for _, shape in shapes])
        if lines:
            notes.append(("dimensions, from the last", lines))
            fix = _broadcast_fix(shapes)
    chain.append(Link("bad", f"{facts.op}()", "refused"))
    return Story(f"{facts.op}() refused its inputs", sentence, tuple(chain), tuple(notes), fix)


def _view(facts: Refused, error: BaseException) -> tuple[str, str, list[tuple[str, str]]]:
    """A view that is impossible: the pair of neighbours in memory that the new shape would join."""
    at: layout.Layout = facts.attrs["layout"]
    wanted = tuple(facts.attrs.get("shape", ()))
    notes = [
        ("shape and strides", f"{shape_text(at.shape)}, strides {shape_text(at.strides)}"),
        ("asked for", shape_text(wanted)),
    ]
    found = layout.view(at, wanted)
    if isinstance(found, layout.Blocked):
        notes.append(("does not meet", str(error).split(": ", 1)[-1]))
    return str(error), "Use reshape(), which copies where it must, or .contiguous().view(...).", notes


def _product(
    op: str, shapes: Sequence[tuple[str, Shape]], error: BaseException
) -> tuple[str, str, list[tuple[str, str]]]:
    (first, a), (second, b) = shapes[-2:] if op == "addmm" else shapes[:2]
    turned = op.startswith("linear")
    inner = (a[-1] if a else 0, (b[-1] if turned else b[-2] if len(b) > 1 else b[0]) if b else 0)
    notes = [
        (first, f"{shape_text(a)}: its last dimension is {inner[0]}"),
        (
            second,
            f"{shape_text(b)}: its {'last' if turned or len(b) < 2 else 'first of the last two'} dimension is {inner[1]}",
        ),
    ]
    fix = ""
    if not turned and len(a) == len(b) == 2 and a[-1] == b[-1]:
        fix = f"Did you mean {first} @ {second}.T?"
    elif not turned and len(a) == len(b) == 2 and a[0] == b[0]:
        fix = f"Did you mean {first}.T @ {second}?"
    elif turned:
        fix = f"The input needs {b[-1] if b else 0} features in its last dimension, or the layer {a[-1] if a else 0} inputs."
    return str(error), fix, notes


def _meeting(shapes: Sequence[Shape]) -> str:
    """How shapes meet from the last dimension on: ``4 with 4, 3 with 2 (these two)``."""
    longest = max(len(shape) for shape in shapes)
    said = []
    for back in range(1, longest + 1):
        sizes = [shape[-back] if back <= len(shape) else None for shape in shapes]
        real = {n for n in sizes if n not in (None, 1)}
        text = " with ".join("-" if n is None else str(n) for n in sizes)
        said.append(f"{text} (do not meet)" if len(real) > 1 else text)
    return ", ".join(said) if any("do not meet" in part for part in said) else ""


def _broadcast_fix(shapes: Sequence[tuple[str, Shape]]) -> str:
    """A dimension of size 1 that would make two shapes meet, if one would."""
    (first, a), (second, b) = shapes[:2]
    for name, short, long in ((second, b, a), (first, a, b)):
        for at in range(len(short) + 1):
            tried = (*short[:at], 1, *short[at:])
            try:
                layout.broadcast_shapes(tried, long)
            except RuntimeError:
                continue
            return f"{name}.unsqueeze({at}) has shape {shape_text(tried)} and would broadcast."
    return "Sizes meet, counted from the last dimension, where they are equal or one of them is 1."


def _at(site: Any) -> str:
    said = words(site)
    return f" · {said}" if said else ""


def _where(site: Any) -> str:
    said = words(site)
    return f" ({said})" if said else ""
