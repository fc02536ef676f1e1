"""A step length that fulfils the strong Wolfe conditions, by bracketing and cubic interpolation.

Source: Nocedal and Wright, 2006, algorithms 3.5 and 3.6 and equation 3.59, with the safeguards of Schmidt's minFunc.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

ENOUGH, FLAT = 1e-4, 0.9  # how much of the promised decrease is enough; how flat the slope has to become


class Point(NamedTuple):
    """A step length, and there the loss, its gradient, and its slope along the step."""

    t: float
    loss: float
    gradient: Any
    slope: float


def strong_wolfe(
    look: Callable[[float], tuple[float, Any, float]],
    t: float,
    longest: float,
    start: tuple[float, Any, float],
    most: int,
    tolerance: float,
) -> tuple[float, Any, float, int]:
    """Loss, gradient and length of a good step, and how often ``look(length)`` was called.

    ``start`` is what it gives for length 0, ``longest`` the largest element of the direction, ``most`` the number of
    looks after the first.
    """
    zero = Point(0.0, *start)
    bracket, done, looks = _bracketed(look, t, zero, most)
    if not done and looks <= most:
        bracket, more = _narrowed(look, bracket, zero, most - looks + 1, longest, tolerance)
        looks += more
    best = min(bracket, key=lambda point: point.loss)
    return best.loss, best.gradient, best.t, looks


def _bracketed(
    look: Callable[[float], tuple[float, Any, float]], t: float, zero: Point, most: int
) -> tuple[list[Point], bool, int]:
    """Two lengths with a good one between them, or a good one; whether it is good; the number of looks."""
    before, now = zero, Point(t, *look(t))
    for turn in range(most):
        if now.loss > zero.loss + ENOUGH * now.t * zero.slope or (turn > 1 and now.loss >= before.loss):
            return [before, now], False, turn + 1
        if abs(now.slope) <= -FLAT * zero.slope:
            return [now], True, turn + 1
        if now.slope >= 0:
            return [before, now], False, turn + 1
        bounds = (now.t + 0.01 * (now.t - before.t), now.t * 10)
        further = _lowest(before, now, bounds)
        before, now = now, Point(further, *look(further))
    return [zero, now], True, max(most, 0) + 1


def _narrowed(
    look: Callable[[float], tuple[float, Any, float]],
    bracket: list[Point],
    zero: Point,
    most: int,
    longest: float,
    tolerance: float,
) -> tuple[list[Point], int]:
    """A bracket that was narrowed until its better end is good; the number of looks."""
    low, high = sorted(bracket, key=lambda point: point.loss)
    slow = False
    for turn in range(most):
        if abs(high.t - low.t) * longest < tolerance:
            return [low, high], turn
        t, slow = _inside(_lowest(bracket[0], bracket[1], None), low.t, high.t, slow)
        found = Point(t, *look(t))
        if found.loss > zero.loss + ENOUGH * t * zero.slope or found.loss >= low.loss:
            bracket[bracket.index(high)] = found
        else:
            if abs(found.slope) <= -FLAT * zero.slope:
                return [found], turn + 1
            if found.slope * (high.t - low.t) >= 0:
                bracket[bracket.index(high)] = low
            bracket[bracket.index(low)] = found
        low, high = sorted(bracket, key=lambda point: point.loss)
    return [low, high], most


def _inside(t: float, one: float, other: float, slow: bool) -> tuple[float, bool]:
    """A length that is not too near an end of the bracket twice in a row; whether it is near one."""
    least, largest = min(one, other), max(one, other)
    margin = 0.1 * (largest - least)
    if min(largest - t, t - least) >= margin:
        return t, False
    if slow or t >= largest or t <= least:
        return (largest - margin if abs(t - largest) < abs(t - least) else least + margin), False
    return t, True


def _lowest(one: Point, other: Point, bounds: tuple[float, float] | None) -> float:
    """Where the cubic through two points with their slopes is lowest, within bounds (of the points, unless given)."""
    if bounds is None:
        bounds = min(one.t, other.t), max(one.t, other.t)
    if one.t > other.t:
        one, other = other, one
    if one.t == other.t:
        return sum(bounds) / 2
    d1 = one.slope + other.slope - 3 * (one.loss - other.loss) / (one.t - other.t)
    square = d1 * d1 - one.slope * other.slope
    if not square >= 0:
        return sum(bounds) / 2
    d2 = math.sqrt(square)
    below = other.slope - one.slope + 2 * d2
    t = other.t - (other.t - one.t) * (other.slope + d2 - d1) / below if below else math.nan
    if not math.isfinite(t):
        return sum(bounds) / 2
    return min(max(t, bounds[0]), bounds[1])
