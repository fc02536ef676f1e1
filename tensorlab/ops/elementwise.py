"""What elementwise rows have in common: result shapes, sample inputs, and two short forms to declare them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorlab.layout import broadcast_shapes
from tensorlab.ops.table import BOOL, FLOAT, NO_GRAD, NO_ONNX, PROMOTE, SAME, Row, Ufunc, per_element, row

Shape = tuple[int, ...]


def same_shape(shapes: Sequence[Shape], **attrs: Any) -> Shape:
    return tuple(shapes[0])


def broadcast(shapes: Sequence[Shape], **attrs: Any) -> Shape:
    return broadcast_shapes(*[s for s in shapes if s is not None])


def unary_samples(low: float = -2.0, high: float = 2.0) -> Callable[[Any], Any]:
    """Ordinary, transposed, 0-dim and empty inputs with values between ``low`` and ``high``."""

    def samples(t: Any) -> Any:
        shapes = [(2, 3), (4,), (), (0, 3)]
        return [((t(*s, low=low, high=high),), {}) for s in shapes] + [((t(3, 2, low=low, high=high).T,), {})]

    return samples


def binary_samples(
    low: float = -2.0, high: float = 2.0, second: tuple[float, float] | None = None
) -> Callable[[Any], Any]:
    """Equal shapes, broadcasting both ways, a 0-dim partner, empties, and a transposed operand."""
    low2, high2 = second or (low, high)

    def samples(t: Any) -> Any:
        pairs: list[tuple[Shape, Shape]] = [
            ((2, 3), (2, 3)),
            ((2, 3), (3,)),
            ((3, 1), (1, 4)),
            ((2, 3), ()),
            ((), ()),
            ((0, 3), (3,)),
        ]
        found: list[Any] = [((t(*a, low=low, high=high), t(*b, low=low2, high=high2)), {}) for a, b in pairs]
        return [*found, ((t(3, 2, low=low, high=high).T, t(2, 3, low=low2, high=high2)), {})]

    return samples


def integer_pairs(t: Any) -> Any:
    """Integers and booleans of equal and of broadcasting shapes, 0-dim and empty ones too."""
    pairs = [((2, 3), (2, 3)), ((2, 3), (3,)), ((3, 1), (4,)), ((2, 3), ()), ((0, 3), (3,))]
    return [((t.index(9, *a), t.index(9, *b)), {}) for a, b in pairs] + [((t.mask(2, 3), t.mask(3)), {})]


def guarded(forward: Any, refuses: Any) -> Any:
    """A forward of our own that looks at its types first: what NumPy computes is not always what an operation is meant for."""
    if refuses is None or isinstance(forward, Ufunc):
        return forward

    def kernel(xp: Any, *arrays: Any, **attrs: Any) -> Any:
        refuses([a.dtype for a in arrays])
        return forward(xp, *arrays, **attrs)

    return kernel


def unary(
    name: str,
    forward: Any,
    grad: Callable[..., Any] | NO_GRAD,
    *,
    formula: str,
    derivative: str = "",
    result: str = FLOAT,
    onnx: str | NO_ONNX,
    flops: int = 1,
    domain: tuple[float, float] = (-2.0, 2.0),
    **columns: Any,
) -> Row:
    """A row of one elementwise input. A text for ``forward`` names a function of the array namespace."""
    return row(
        name,
        "self",
        forward=Ufunc(forward) if isinstance(forward, str) else guarded(forward, columns.get("refuses")),
        infer=same_shape,
        grad=grad if isinstance(grad, NO_GRAD) else {"self": grad},
        formula=formula,
        derivatives={"self": derivative},
        onnx=onnx,
        cost=per_element(flops),
        result=result,
        promotes=True,
        **{"samples": unary_samples(*domain), **columns},
    )


def binary(
    name: str,
    forward: Any,
    grad: dict[str, Callable[..., Any]] | NO_GRAD,
    *,
    formula: str,
    derivatives: dict[str, str] | None = None,
    result: str = SAME,
    onnx: str | NO_ONNX,
    flops: int = 1,
    domain: tuple[float, float] = (-2.0, 2.0),
    second: tuple[float, float] | None = None,
    **columns: Any,
) -> Row:
    """A row of two elementwise inputs that promote and broadcast."""
    columns.setdefault("autocast", PROMOTE)
    return row(
        name,
        "self other",
        forward=Ufunc(forward) if isinstance(forward, str) else guarded(forward, columns.get("refuses")),
        infer=broadcast,
        grad=grad,
        formula=formula,
        derivatives=derivatives,
        onnx=onnx,
        cost=per_element(flops),
        result=result,
        promotes=True,
        **{"samples": binary_samples(*domain, second=second), **columns},
    )


def comparison(name: str, forward: str, sign: str, onnx: str | NO_ONNX) -> Row:
    """A row that compares two inputs and answers with booleans."""
    return binary(
        name,
        forward,
        NO_GRAD("boolean output"),
        formula=f"result = self {sign} other",
        result=BOOL,
        onnx=onnx,
        holomorphic=False,
    )


def kept(xp: Any, a: Any, mask: Any, out: Any = None) -> Any:
    """``a`` where ``mask`` holds, else 0, whatever stands there.

    On the CPU the bits are multiplied by 1 or 0: no branch for each element, which a processor cannot foresee, and no infinity or
    NaN comes through as it would in a product of numbers.
    """
    if xp is np and a.dtype.kind == "f" and a.dtype.itemsize >= 4:
        bits = np.dtype(f"i{a.dtype.itemsize}")
        if out is None:
            return np.multiply(a.view(bits), mask).view(a.dtype)
        np.multiply(a.view(bits), mask, out=out.view(bits))
        return out
    found = xp.where(mask, a, a.dtype.type(0))
    if out is None:
        return found
    out[...] = found
    return out
