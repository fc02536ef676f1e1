"""Hooks as a still picture and as text: who registered each, what they did in order, and what modules gave."""

from __future__ import annotations

from html import escape

from tensorlab.display.flow import SCALE
from tensorlab.display.style import SHEET
from tensorlab.observe.places import words
from tensorlab.observe.schema_watching import HookEntry, HookRow, HooksDocument, ModuleOutput
from tensorlab.observe.words import count_text, number_text, shape_text

WIDTH, PADDING, HEAD, ROW = 860, 20, 40, 20
#: Hooks, lines of the timeline and outputs of a still picture, and pictures of one output.
MOST_HOOKS, MOST_ROWS, MOST_OUTPUTS, MOST_TILES = 16, 18, 6, 6
STATES = {"fired": "called", "silent": "not called", "removed": "removed", "gone": "gone"}


# ------------------------------------------------------------------------------------------------------------ text


def text(document: HooksDocument) -> str:
    """Hooks, the timeline, and outputs, line by line."""
    d = document
    lines = [d.sentence]
    if d.trouble:
        lines.append(d.trouble)
    if d.hooks:
        lines.append("")
    for entry in d.hooks:
        lines.append(f"  {entry.kind} hook {entry.name} on {entry.owner}: {_facts(entry)}")
        lines += [f"      {line}" for line in (entry.left, entry.why) if line]
    if d.rows:
        lines += ["", "  in order" + (f" ({d.forgotten:,} earlier lines are not kept)" if d.forgotten else "")]
        lines += [f"    {_line(row)}" for row in d.rows[-60:]]
    if d.outputs:
        lines += ["", "  outputs of modules"]
        lines += [f"    {one.name} ({one.type}) {shape_text(one.shape)}: {_figures(one)}" for one in d.outputs[:60]]
    return "\n".join(_plain(line) for line in lines)


def _facts(entry: HookEntry) -> str:
    where = words(entry.registered)
    calls = count_text(entry.fired, "call")
    return f"{STATES[entry.state]}, {calls}" + (f", registered in {where}" if where else "")


def _line(row: HookRow) -> str:
    if row.what == "pass":
        where = words(row.site)
        return f"{row.owner}{f', from {where}' if where else ''}{f' ({row.place})' if row.place else ''}"
    if row.what != "hook":
        return f"  {row.owner}: {row.place}"
    parts = [f"  {row.place}: {row.name} on {row.owner}" if row.place else f"  {row.name} on {row.owner}"]
    change = _change(row)
    parts += [change] if change else []
    if row.printed_characters:
        parts.append(f"printed {_printed(row)}")
    return ", ".join(parts) + (f", raised {row.error}" if row.error else "")


def _change(row: HookRow) -> str:
    if row.before is None or row.after is None or row.change == "unchanged":
        return row.change
    return f"norm {number_text(row.before)} -> {number_text(row.after)} ({row.change.split(',')[0]})"


def _printed(row: HookRow, most: int = 60) -> str:
    said = " ".join(row.printed.split())
    cut = said if len(said) <= most else said[: most - 1] + "…"
    more = row.printed_characters - len(row.printed)
    return f"“{cut}”" + (f" and {more:,} characters more" if more > 0 else "")


def _figures(one: ModuleOutput) -> str:
    if one.mean is None:
        return f"no finite element, {one.bad:,} NaN or infinite" if one.bad else "no elements"
    zeros = f", {one.zeros:.0%} zeros" if one.zeros else ""
    bad = f", {one.bad:,} NaN or infinite" if one.bad else ""
    low, high = number_text(one.low or 0.0), number_text(one.high or 0.0)
    return f"mean {number_text(one.mean)}, std {number_text(one.std or 0.0)}, from {low} to {high}{zeros}{bad}"


def _plain(line: str) -> str:
    return "".join(c if c.isprintable() else " " for c in line)


# ------------------------------------------------------------------------------------------------------------ picture


def svg(document: HooksDocument) -> str:
    """The hooks with their lines, the latest calls in order with the accumulations between them, and outputs as small pictures."""
    d = document
    parts: list[str] = []
    y = _draw_hooks(d, parts, HEAD + 26)
    y = _draw_rows(d, parts, y)
    y = _draw_outputs(d, parts, y)
    parts.append(_words(PADDING, y + 6, d.sentence, "m", most=130))
    height = y + 26
    label = escape(_plain(d.sentence), quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tl-svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'role="img" aria-label="{label}">{SHEET}'
        f'<rect class="tl-card" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="6"/>'
        f'<path class="tl-rule" d="M0 {HEAD}H{WIDTH}"/>'
        + _words(PADDING, 25, "hooks", "t")
        + _words(PADDING + 50, 25, d.title, "c", most=60)
        + "".join(parts)
        + "</svg>"
    )


def _draw_hooks(d: HooksDocument, parts: list[str], y: int) -> int:
    for entry in d.hooks[:MOST_HOOKS]:
        parts.append(_mark(entry, PADDING + 6, y - 4))
        parts.append(_words(PADDING + 22, y, entry.kind, "m", most=20))
        parts.append(_words(PADDING + 150, y, entry.name, "c", most=24))
        parts.append(_words(PADDING + 345, y, f"on {entry.owner}", "c", most=31))
        parts.append(_words(PADDING + 590, y, words(entry.registered), "q", most=24))
        parts.append(_words(WIDTH - PADDING, y, count_text(entry.fired, "call"), "q", "end"))
        y += ROW
        for line in (entry.left, entry.why):
            if line:
                parts.append(_words(PADDING + 22, y - 3, line, "m", most=125))
                y += ROW - 2
    if len(d.hooks) > MOST_HOOKS:
        parts.append(_words(PADDING + 22, y, f"{len(d.hooks) + d.unlisted - MOST_HOOKS:,} more are not drawn", "m"))
        y += ROW
    if not d.hooks:
        parts.append(_words(PADDING, y, "no hooks", "m"))
        y += ROW
    return y


def _mark(entry: HookEntry, x: int, y: int) -> str:
    """A tick for a hook that was called, a hollow dot for one that was not, a cross for one that is left behind or gone."""
    if entry.left:
        return (
            f'<path class="tl-mark b" d="M{x} {y - 5}v6m0 3v1"/><circle class="tl-mark b" cx="{x}" cy="{y}" r="7.5"/>'
        )
    if entry.state == "fired":
        return f'<path class="tl-mark" d="M{x - 5} {y}l3.5 4l6 -8"/>'
    if entry.state == "silent":
        return f'<circle class="tl-off" cx="{x}" cy="{y}" r="5"/>'
    return f'<path class="tl-line" d="M{x - 4} {y - 4}l8 8m0 -8l-8 8"/>'


def _draw_rows(d: HooksDocument, parts: list[str], y: int) -> int:
    shown = d.rows[-MOST_ROWS:]
    if not shown:
        return y
    y += 8
    parts.append(f'<path class="tl-rule" d="M0 {y - 14}H{WIDTH}"/>')
    more = len(d.rows) - len(shown) + d.forgotten
    earlier = f", the latest {len(shown)} of {len(d.rows) + d.forgotten:,} lines" if more else ""
    parts.append(_words(PADDING, y + 4, f"In order{earlier}", "t"))
    y += ROW + 6
    top = y - 10
    line_at = PADDING + 6
    drawn: list[str] = []
    for row in shown:
        if row.what == "pass":
            drawn.append(f'<path class="tl-go" d="M{line_at - 5} {y - 9}v10l9 -5z"/>')
            where = f", from {words(row.site)}" if row.site else ""
            drawn.append(_words(PADDING + 22, y, f"{row.owner}{where}", "m", most=110))
        elif row.what == "accumulated":
            drawn.append(f'<rect class="tl-box tl-done" x="{line_at - 5}" y="{y - 9}" width="10" height="10" rx="2"/>')
            drawn.append(_words(PADDING + 22, y, row.owner, "c", most=30))
            drawn.append(_words(PADDING + 250, y, row.place, "q"))
        else:
            bad = " tl-bad" if row.error else ""
            drawn.append(f'<circle class="tl-box{bad}" cx="{line_at}" cy="{y - 4}" r="4"/>')
            drawn.append(_words(PADDING + 22, y, row.name, "c", most=28))
            drawn.append(_words(PADDING + 250, y, row.place, "q", most=40))
            said = row.error or "; ".join(
                filter(None, [_change(row), _printed(row, 30) if row.printed_characters else ""])
            )
            drawn.append(_words(PADDING + 545, y, said, "q", most=40))
        y += ROW
    parts.append(f'<path class="tl-rule" d="M{line_at} {top}V{y - ROW + 2}"/>')
    parts += drawn
    return y


def _draw_outputs(d: HooksDocument, parts: list[str], y: int) -> int:
    shown = [*[o for o in d.outputs if o.tiles], *[o for o in d.outputs if not o.tiles]][:MOST_OUTPUTS]
    if not shown:
        return y
    y += 8
    parts.append(f'<path class="tl-rule" d="M0 {y - 14}H{WIDTH}"/>')
    parts.append(_words(PADDING, y + 4, "What modules gave last", "t"))
    y += ROW + 6
    for one in shown:
        parts.append(_words(PADDING, y + 4, one.name, "c", most=30))
        parts.append(_words(PADDING, y + 20, f"{one.type} {shape_text(one.shape)}", "q", most=34))
        about, _, rest = _figures(one).partition(", from ")
        lines = [about, f"from {rest}" if rest else "", one.caption if one.tiles else ""]
        for at, line in enumerate(filter(None, lines)):
            parts.append(_words(PADDING + 525, y + 2 + 16 * at, line, "q", most=45))
        if one.tiles:
            x = PADDING + 240
            for tile in one.tiles[:MOST_TILES]:
                parts.append(_picture(tile.cells, x, y - 8))
                x += 45
        else:
            parts.append(_bars(one, PADDING + 240, y - 8))
        y += 58
    if len(d.outputs) > len(shown):
        parts.append(_words(PADDING, y, f"{len(d.outputs) - len(shown):,} more outputs are not drawn", "m"))
        y += ROW
    return y


def _picture(cells: tuple[tuple[int, ...], ...], x: float, y: float, side: float = 42) -> str:
    """Cells as one path a colour; at most 8 by 8, with what is not finite left hollow."""
    down, across = max(1, -(-len(cells) // 8)), max(1, -(-len(cells[0]) // 8)) if cells else 1
    rows = [line[::across] for line in cells[::down]]
    if not rows:
        return ""
    high, wide = side / len(rows), side / len(rows[0])
    by: dict[int, list[str]] = {}
    for r, line in enumerate(rows):
        for c, value in enumerate(line):
            if value >= 0:
                at = round(value / 99 * (len(SCALE) - 1))
                by.setdefault(at, []).append(
                    f"M{x + c * wide:.1f} {y + r * high:.1f}h{wide:.1f}v{high:.1f}h-{wide:.1f}z"
                )
    frame = f'<rect class="tl-off" x="{x}" y="{y}" width="{side}" height="{side}"/>'
    return frame + "".join(f'<path fill="{SCALE[at]}" d="{"".join(d)}"/>' for at, d in sorted(by.items()))


def _bars(one: ModuleOutput, x: float, y: float) -> str:
    most = max(one.bars, default=0)
    if not most:
        return _words(x, y + 24, "every value is the same" if one.mean is not None else "nothing to draw", "q")
    wide = 240 / len(one.bars)
    return "".join(
        f'<rect class="tl-go" x="{x + i * wide:.1f}" y="{y + 38 - 38 * n / most:.1f}" width="{wide - 2:.1f}" '
        f'height="{38 * n / most:.1f}"/>'
        for i, n in enumerate(one.bars)
        if n
    )


def _words(x: float, y: float, said: str, kind: str, anchor: str = "", most: int = 80) -> str:
    said = _plain(said)
    cut = said if len(said) <= most else said[: most - 1] + "…"
    title = f"<title>{escape(said)}</title>" if cut != said else ""
    where = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}"{where}>{escape(cut)}{title}</text>'
