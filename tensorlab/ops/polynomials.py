"""Orthogonal polynomials of any degree, by their three-term recurrences.

Source: NIST Digital Library of Mathematical Functions, table 18.9.1: ``p(k+1) = (A x + B) p(k) - C p(k-1)``. Differentiated ``m``
times the recurrence gives the derivative of the same kind, so a polynomial has derivatives of every order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from tensorlab.ops.elementwise import broadcast
from tensorlab.ops.table import FLOAT, NO_ONNX, per_element, row


class Family(NamedTuple):
    """A kind of polynomial: ``p(1) = first[0] x + first[1]``, and A, B, C as functions of ``k``, from 1."""

    first: tuple[float, float]
    step: Callable[[int], tuple[float, float, float]]


FAMILIES = {
    "chebyshev_t": Family((1, 0), lambda k: (2, 0, 1)),
    "chebyshev_u": Family((2, 0), lambda k: (2, 0, 1)),
    "chebyshev_v": Family((2, -1), lambda k: (2, 0, 1)),
    "chebyshev_w": Family((2, 1), lambda k: (2, 0, 1)),
    "shifted_chebyshev_t": Family((2, -1), lambda k: (4, -2, 1)),
    "shifted_chebyshev_u": Family((4, -2), lambda k: (4, -2, 1)),
    "shifted_chebyshev_v": Family((4, -3), lambda k: (4, -2, 1)),
    "shifted_chebyshev_w": Family((4, -1), lambda k: (4, -2, 1)),
    "hermite_h": Family((2, 0), lambda k: (2, 0, 2 * k)),
    "hermite_he": Family((1, 0), lambda k: (1, 0, k)),
    "laguerre_l": Family((-1, 1), lambda k: (-1 / (k + 1), (2 * k + 1) / (k + 1), k / (k + 1))),
    "legendre_p": Family((1, 0), lambda k: ((2 * k + 1) / (k + 1), 0, k / (k + 1))),
}


#: The highest degree that is computed, step by step.
HIGHEST = 100_000


def _polynomial(xp: Any, x: Any, n: Any, kind: str, order: int) -> Any:
    """The derivative number ``order`` of the polynomials of degrees ``n`` at ``x``; 0 for negative degrees.

    Terms cancel near a root, so all is computed in float64 and rounded once.
    """
    values = _one_after_another(xp, x.astype(np.float64), FAMILIES[kind], order)
    found = xp.zeros(x.shape, np.float64)
    highest = int(n.max()) if n.size else -1
    if highest > HIGHEST:
        raise RuntimeError(
            f"degrees of polynomials go up to {HIGHEST}, each being computed from the two below it, but n is {highest}"
        )
    if n.ndim == 0:
        for _ in range(highest + 1):
            found = next(values)
        return found.astype(x.dtype)
    degree = xp.trunc(n).astype(np.int64)
    for k in range(highest + 1):
        found = xp.where(degree == k, next(values), found)
    return xp.broadcast_to(found, np.broadcast_shapes(x.shape, n.shape)).astype(x.dtype)


def _one_after_another(xp: Any, x: Any, family: Family, order: int) -> Iterator[Any]:
    """The derivative number ``order`` of the polynomials of degree 0, 1, 2 and so on; lower ones are carried along."""
    zero, one = xp.zeros(x.shape, x.dtype), xp.ones(x.shape, x.dtype)
    a, b = family.first
    before, now = [one, *[zero] * order], [a * x + b, a * one, *[zero] * order][: order + 1]
    yield before[order]
    for k in count(1):
        yield now[order]
        a, b, c = family.step(k)
        lead = a * x + b
        after = [lead * now[m] - c * before[m] + (m * a * now[m - 1] if m else 0) for m in range(order + 1)]
        before, now = now, after


orthogonal_polynomial = row(
    "orthogonal_polynomial",
    "self n",
    forward=_polynomial,
    infer=broadcast,
    grad={"self": lambda g, self, n, kind, order: g * self._op("orthogonal_polynomial", n, kind=kind, order=order + 1)},
    formula="result = the derivative number `order` of the polynomial of degree n",
    derivatives={"self": "grad · the next derivative"},
    onnx=NO_ONNX("a loop over degrees"),
    cost=per_element(50),
    samples=lambda t: (
        [((t(2, 3), t.index(5, 2, 3).to(t(1).dtype)), {"kind": kind, "order": 0}) for kind in FAMILIES]
        + [((t(2, 1), t.index(5, 3).to(t(1).dtype)), {"kind": "legendre_p", "order": 1})]
    ),
    result=FLOAT,
    promotes=True,
)
