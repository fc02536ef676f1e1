"""The look of static pictures: one style sheet with both palettes, small enough to travel inside every picture."""

LIGHT = (
    "--ink:#1b1f24;--muted:#5b6570;--line:#d5dae0;--edge:#97a1ac;--surface:#fff;--raised:#f6f8fa;"
    "--accent:#0072b2;--accent-soft:#e6f2fa;--waiting:#9a6100;--waiting-soft:#fdf0d8;"
    "--done:#007a59;--done-soft:#dff3ec;--warn:#b84600;--warn-soft:#fdece1"
)
DARK = (
    "--ink:#e6e9ed;--muted:#9aa5b1;--line:#3a424b;--edge:#66717c;--surface:#16191d;--raised:#1e2328;"
    "--accent:#56b4e9;--accent-soft:#17354a;--waiting:#f0b64a;--waiting-soft:#3d2f12;"
    "--done:#4cc9a4;--done-soft:#143a30;--warn:#ff8f57;--warn-soft:#472312"
)
UI_FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif"
CODE_FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"

_RULES = {
    # words: title, quiet code, muted, code, over a line
    ".tl-svg text": "fill:var(--ink)",
    ".tl-svg .t": "font-weight:600",
    ".tl-svg .q": f"fill:var(--muted);font:11px {CODE_FONT}",
    ".tl-svg .m": "fill:var(--muted);font-size:12px",
    ".tl-svg .c": f"font:13px {CODE_FONT}",
    ".tl-svg .h": "paint-order:stroke;stroke:var(--surface);stroke-width:5px",
    # the frame
    ".tl-card": "fill:var(--surface);stroke:var(--line)",
    ".tl-bar": "fill:var(--raised)",
    ".tl-rule": "stroke:var(--line);fill:none",
    # boxes by kind, then by state
    ".tl-box": "fill:var(--surface);stroke:var(--line)",
    ".tl-root": "stroke:var(--ink);stroke-width:1.5",
    ".tl-leaf,.tl-fold": "fill:var(--raised)",
    ".tl-back": "fill:var(--surface);stroke:var(--line)",
    ".tl-off": "fill:none;stroke:var(--muted);stroke-dasharray:1.5 2.5",
    ".tl-waiting": "fill:var(--waiting-soft);stroke:var(--waiting);stroke-width:1.5;stroke-dasharray:5 3",
    ".tl-current": "fill:var(--accent-soft);stroke:var(--accent);stroke-width:2.5",
    ".tl-done": "fill:var(--done-soft);stroke:var(--done);stroke-width:1.5",
    ".tl-bad": "fill:var(--warn-soft);stroke:var(--warn);stroke-width:1.5",
    ".tl-badge": "fill:var(--raised);stroke:var(--line)",
    ".tl-frame": "fill:none;stroke:var(--muted);stroke-dasharray:2 3",
    # lines and marks
    ".tl-line": "fill:none;stroke:var(--edge);stroke-width:1.25",
    ".tl-head": "fill:var(--edge)",
    ".tl-up": "fill:var(--surface);stroke:var(--accent);stroke-width:1.4;stroke-linejoin:round",
    ".tl-store": "fill:var(--raised);stroke:var(--muted);stroke-width:1.2;stroke-dasharray:7 2",
    ".tl-ghost": "fill:none;stroke:var(--muted);stroke-dasharray:1.5 1.5",
    ".tl-rail": "stroke:var(--line);stroke-width:3;fill:none",
    ".tl-meter": "stroke:var(--accent);stroke-width:3;fill:none",
    ".tl-svg .w": "fill:var(--warn);font-weight:600",
    ".tl-stub": "fill:var(--surface);stroke:var(--edge)",
    ".tl-mark": "fill:none;stroke:var(--done);stroke-width:2;stroke-linecap:round;stroke-linejoin:round",
    ".tl-mark.w": "stroke:var(--waiting);stroke-width:1.5",
    ".tl-mark.b": "stroke:var(--warn)",
    ".tl-go": "fill:var(--accent)",
    ".tl-clock": "fill:var(--waiting)",
}

SHEET = (
    f"<style>.tl-svg{{{LIGHT};font:13px {UI_FONT};max-width:100%;height:auto}}"
    f"@media(prefers-color-scheme:dark){{.tl-svg{{{DARK}}}}}"
    + "".join(f"{where}{{{what}}}" for where, what in _RULES.items())
    + "</style>"
)
