"""An answer in a sentence and a table: text where text is shown, a table where tables are."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from tensorlab.observe.schema_asking import Changed, Check, Contribution
from tensorlab.observe.words import count_text, number_text, percent_text


class Table:
    """A sentence and rows of words under a head. ``document`` holds the facts."""

    def __init__(self, sentence: str, head: Sequence[str], rows: Sequence[Sequence[str]], document: Any) -> None:
        self.sentence, self.head, self.rows, self.document = (
            sentence,
            tuple(head),
            [tuple(row) for row in rows],
            document,
        )

    def __repr__(self) -> str:
        if not self.rows:
            return self.sentence
        lines = [self.head, *self.rows]
        widths = [max(len(line[at]) for line in lines) for at in range(len(self.head))]
        told = [
            "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines
        ]
        return "\n".join([self.sentence, "", *(f"  {line}" for line in told)])

    def _repr_html_(self) -> str:
        cells = "".join(f"<th style='text-align:left'>{escape(word)}</th>" for word in self.head)
        rows = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'><code>{escape(word)}</code></td>" for word in row) + "</tr>"
            for row in self.rows
        )
        table = f"<table><thead><tr>{cells}</tr></thead><tbody>{rows}</tbody></table>" if self.rows else ""
        return f"<p>{escape(self.sentence)}</p>{table}"


def check_table(found: Check) -> Table:
    """The verdict on a node's backward."""
    rows = [
        (
            row.name,
            row.shape,
            "agrees" if row.agrees else "disagrees",
            number_text(row.relative),
            row.index or "the value",
            f"{row.backward:.6g}",
            f"{row.difference:.6g}",
            f"{row.checked:,} of {row.elements:,}",
        )
        for row in found.inputs
    ]
    head = ("gradient", "shape", "verdict", "largest error", "at", "backward", "differences", "elements looked at")
    return Table(found.sentence, head, rows, found)


def changed_table(found: Changed) -> Table:
    """What edits have changed."""
    rows = [
        (
            row.label or row.name,
            row.shape,
            number_text(row.before),
            number_text(row.after),
            "from nothing" if row.relative is None else percent_text(row.relative),
        )
        for row in found.gradients
    ]
    return Table(found.sentence, ("gradient of", "shape", "norm without", "norm with", "changed by"), rows, found)


def ledger_table(name: str, badge: str, rows: Sequence[Contribution]) -> Table:
    """What adds up to the gradient of a leaf."""
    told = [
        (row.source, row.place, row.time, "" if row.norm is None else f"norm {number_text(row.norm)}", row.state)
        for row in rows
    ]
    passes = sum(row.node < 0 for row in rows)
    sentence = f"{name}.grad: {badge or count_text(passes, 'contribution')}."
    return Table(sentence, ("from", "where", "when", "gradient", "state"), told, tuple(rows))
