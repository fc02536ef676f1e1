"""What needs a look in the gradients of a training run: since when, why, and what to try."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorlab.observe.schema_training import FINDINGS, Finding
from tensorlab.observe.words import number_text

NONE, NOT_FINITE = -1.0, -2.0  # what stands in a row of norms for a gradient that is None, or holds NaN or infinity
VANISHED, EXPLODED, PATIENCE = 1e-4, 1e3, 5
#: How many earlier steps say what is usual.
EARLIER = 64
ATTEMPTS = {
    "not finite": "Call why_nan(loss).",
    "exploded": "Clip gradients (nn.utils.clip_grad_norm_) or lower the learning rate.",
    "vanished": "Look for saturated activations before it; normalise, use residual connections, or another initialisation.",
    "zero": "Dead units, a mask, or a saturated function before it?",
    "large update": "Lower the learning rate; about 0.1% is usual.",
    "small update": "Raise the learning rate; about 0.1% is usual.",
    "dead": "Lower the learning rate, or use LeakyReLU or GELU.",
    "saturated": "Scale its input down: normalise before it, or initialise the layer before it smaller.",
    "left out": "A few at the start are usual while the scale is found; if it goes on, call why_nan(loss).",
}

#: A finding of one parameter, by its number: kind, since when, and why.
Single = tuple[str, int, str]


def single(norms: np.ndarray, steps: Sequence[int], update: np.ndarray, needs: np.ndarray) -> dict[int, Single]:
    """What was found of each parameter. ``norms`` has a row a step, from before clipping; ``needs`` says whose gradient is wanted."""
    last, found = norms[-1], dict[int, Single]()
    usual = _usual(norms[: max(len(norms) - PATIENCE, 1)])
    real = last[last > 0]
    middle = float(np.median(real)) if real.size > 2 else 0.0
    fallen = np.fmax(usual * VANISHED, middle * 1e-6)
    judged = {
        "not finite": (last == NOT_FINITE, lambda m, i: m == NOT_FINITE),
        "none": ((last == NONE) & needs, lambda m, i: m == NONE),
        "zero": (last == 0, lambda m, i: m == 0),
        "vanished": ((last > 0) & (last < fallen), lambda m, i: (m > 0) & (m < fallen[i])),
        "exploded": (
            (last > usual * EXPLODED) & (len(norms) > PATIENCE),
            lambda m, i: m > usual[i] * EXPLODED,
        ),
    }
    for kind, (bad, test) in judged.items():
        which = np.flatnonzero(bad)
        for i, row in zip(which.tolist(), _since(norms[:, which], which, test), strict=True):
            if kind == "zero" and steps[-1] - steps[row] < PATIENCE:
                continue
            found[i] = kind, steps[row], _why(kind, float(last[i]), float(np.fmax(usual[i], middle)), norms[:, i])
    for i in np.flatnonzero(np.isfinite(update) & ((update > 0.1) | (update < 1e-7)) & (update > 0)).tolist():
        kind = "large update" if update[i] > 0.1 else "small update"
        size = f"{update[i]:.0%}" if update[i] > 0.1 else number_text(float(update[i]))
        found.setdefault(i, (kind, steps[-1], f"one step moved the weights by {size} of their size"))
    return found


def _usual(earlier: np.ndarray) -> np.ndarray:
    """The median of each parameter's norms that are more than 0; NaN where there is none."""
    rows = earlier[:: max(1, len(earlier) // EARLIER)]
    ordered = np.sort(np.where(rows > 0, rows, np.nan), axis=0)  # NaN comes last
    count, columns = np.count_nonzero(rows > 0, axis=0), np.arange(rows.shape[1])
    return (ordered[np.maximum(count - 1, 0) // 2, columns] + ordered[count // 2, columns]) / 2


def _since(norms: np.ndarray, which: np.ndarray, test: Callable[[Any, Any], Any]) -> list[int]:
    """For each of some columns the first row of the stretch of bad ones that reaches the end."""
    good = ~test(norms, which)[::-1]
    return [
        len(norms) - 1 if not n else len(norms) - n
        for n in np.where(good.any(axis=0), good.argmax(axis=0), len(norms)).tolist()
    ]


def _why(kind: str, now: float, usual: float, history: np.ndarray) -> str:
    if kind == "not finite":
        return "its gradient holds NaN or infinity"
    if kind == "none":
        return "its gradient is None" if (history != NONE).any() else "it has had no gradient: the loss does not use it"
    if kind == "zero":
        return "its gradient is exactly 0"
    word = "fell" if kind == "vanished" else "grew"
    return f"its norm {word} to {number_text(now)}, usually {number_text(usual)}"


def gathered(found: dict[int, Single], names: Sequence[str]) -> list[Finding]:
    """One finding for all parameters of which the same was found at the same step, in the order of how grave they are."""
    groups: dict[tuple[str, int, str], list[int]] = {}
    for i, (kind, since, why) in found.items():
        groups.setdefault((kind, since, why if kind == "changed" else ""), []).append(i)
    out = []
    for (kind, since, _), members in groups.items():
        parts = [members] if len(members) > 3 else [[i] for i in members]
        for part in parts:
            name = names[part[0]]
            attempt = f"Call explain_grad({name}, loss)." if kind == "none" else ATTEMPTS.get(kind, "")
            out.append(Finding(name, len(part) - 1, kind, since, found[part[0]][2], attempt))  # type: ignore[arg-type]
    return sorted(out, key=grave)


def grave(finding: Finding) -> int:
    """The place of a finding among others, the gravest first."""
    return FINDINGS.index(finding.kind)
