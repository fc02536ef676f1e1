"""Elementwise choice: the larger, the limited, the selected; comparison and logic."""

from __future__ import annotations

from typing import Any

from tensorlab.ops.elementwise import binary, broadcast, comparison, integer_pairs, unary
from tensorlab.ops.table import AS_IS, BOOL, NO_GRAD, NO_ONNX, PROMOTE, SAME, per_element, row

# --------------------------------------------------------------------------------------------- maximum, clamp, where


def _share(g: Any, loses: Any, ties: Any) -> Any:
    """A gradient for the side that did not lose, half of it where both sides are equal."""
    return g.where(~ties, g * 0.5).masked_fill(loses, 0)


maximum = binary(
    "maximum",
    "maximum",
    {
        "self": lambda g, self, other: _share(g, self < other, self == other),
        "other": lambda g, self, other: _share(g, other < self, self == other),
    },
    formula="result = max(self, other)",
    derivatives={"self": "grad where self wins, ½ grad at ties", "other": "grad where other wins, ½ grad at ties"},
    onnx="Max",
    holomorphic=False,
)
minimum = binary(
    "minimum",
    "minimum",
    {
        "self": lambda g, self, other: _share(g, self > other, self == other),
        "other": lambda g, self, other: _share(g, other > self, self == other),
    },
    formula="result = min(self, other)",
    derivatives={"self": "grad where self wins, ½ grad at ties", "other": "grad where other wins, ½ grad at ties"},
    onnx="Min",
    holomorphic=False,
)


def _clamp(xp: Any, a: Any, low: Any, high: Any) -> Any:
    r = a if low is None else xp.maximum(a, low)
    return r if high is None else xp.minimum(r, high)


def _inside(self: Any, low: Any, high: Any) -> Any:
    """Where a clamp let the value through, both edges included."""
    kept = None if low is None else self >= low
    if high is not None:
        kept = self <= high if kept is None else kept & (self <= high)
    return kept


clamp = row(
    "clamp",
    "self min max",
    forward=_clamp,
    infer=broadcast,
    grad={
        "self": lambda g, self, min, max: g.masked_fill(~_inside(self, min, max), 0),
        "min": lambda g, self, min, max: g.masked_fill(
            ~((self < min) if max is None else (self < min) & (min < max)), 0
        ),
        "max": lambda g, self, min, max: g.masked_fill(
            ~((self > max) if min is None else (self > max) | (max < min)), 0
        ),
    },
    formula="result = min(max(self, min), max)",
    derivatives={"self": "grad where min ≤ self ≤ max", "min": "grad where self < min", "max": "grad where self > max"},
    autocast=AS_IS,
    onnx="Clip",
    cost=per_element(2),
    samples=lambda t: [
        ((t(2, 3), -0.5, 0.5), {}),
        ((t(2, 3),), {"min": 0.25}),
        ((t(2, 3),), {"max": 0.25}),
        ((t(2, 3), t(2, 3, low=-2, high=-0.1), t(3, low=0.1, high=2)), {}),
        ((t(2, 3), t(3, low=-1, high=-0.1), t(2, 1, low=0.1, high=1)), {}),
        ((t(3), t(2, 1, low=-1, high=-0.1)), {}),
        ((t(0, 3), -1, 1), {}),
    ],
    result=SAME,
    promotes=True,
    holomorphic=False,
)
where = row(
    "where",
    "condition self other",
    forward=lambda xp, c, a, b: xp.where(c, a, b),
    infer=broadcast,
    grad={
        "self": lambda g, condition: g.masked_fill(~condition, 0),
        "other": lambda g, condition: g.masked_fill(condition, 0),
    },
    formula="result = self where condition, else other",
    derivatives={"self": "grad where condition, else 0", "other": "0 where condition, else grad"},
    onnx="Where",
    cost=per_element(1),
    samples=lambda t: [
        ((t.mask(2, 3), t(2, 3), t(2, 3)), {}),
        ((t.mask(2, 1), t(3), t(2, 3)), {}),
        ((t.mask(2, 3), t(2, 3), 0.5), {}),
        ((t.mask(0, 3), t(0, 3), t(3)), {}),
    ],
    autocast=PROMOTE,
)
masked_fill = row(
    "masked_fill",
    "self mask value",
    forward=lambda xp, a, m, v: xp.where(m, v.astype(a.dtype), a),
    infer=broadcast,
    grad={"self": lambda g, mask: g.masked_fill(mask, 0), "value": lambda g, mask: g.masked_fill(~mask, 0)},
    formula="result = value where mask, else self",
    derivatives={"self": "0 where mask, else grad", "value": "sum of grad where mask"},
    onnx="Where",
    cost=per_element(1),
    samples=lambda t: [
        ((t(2, 3), t.mask(2, 3), 0.5), {}),
        ((t(2, 3), t.mask(3), t()), {}),
        ((t(0, 3), t.mask(3), 1), {}),
    ],
)

# ------------------------------------------------------------------------------------------------ comparison and logic

eq = comparison("eq", "equal", "=", "Equal")
ne = comparison("ne", "not_equal", "≠", NO_ONNX("Equal then Not"))
lt = comparison("lt", "less", "<", "Less")
le = comparison("le", "less_equal", "≤", "LessOrEqual")
gt = comparison("gt", "greater", ">", "Greater")
ge = comparison("ge", "greater_equal", "≥", "GreaterOrEqual")
logical_and = comparison("logical_and", "logical_and", "and", "And")
logical_or = comparison("logical_or", "logical_or", "or", "Or")
logical_xor = comparison("logical_xor", "logical_xor", "xor", "Xor")

_DISCRETE = NO_GRAD("integers and booleans have no gradient")
_BITS: dict[str, Any] = {"grad": _DISCRETE, "samples": integer_pairs}
bitwise_and = binary("bitwise_and", "bitwise_and", formula="result = self & other", onnx="BitwiseAnd", **_BITS)
bitwise_or = binary("bitwise_or", "bitwise_or", formula="result = self | other", onnx="BitwiseOr", **_BITS)
bitwise_xor = binary("bitwise_xor", "bitwise_xor", formula="result = self ^ other", onnx="BitwiseXor", **_BITS)
bitwise_not = unary(
    "bitwise_not",
    "invert",
    _DISCRETE,
    formula="result = ~self",
    result=SAME,
    onnx="BitwiseNot",
    samples=lambda t: [((t.index(9, 2, 3),), {}), ((t.index(9),), {}), ((t.mask(0, 3),), {})],
)
logical_not = unary("logical_not", "logical_not", _DISCRETE, formula="result = not self", result=BOOL, onnx="Not")
isnan = unary("isnan", "isnan", _DISCRETE, formula="result = whether self is NaN", result=BOOL, onnx="IsNaN")
isinf = unary("isinf", "isinf", _DISCRETE, formula="result = whether self is ±∞", result=BOOL, onnx="IsInf")
isfinite = unary(
    "isfinite",
    "isfinite",
    _DISCRETE,
    formula="result = whether self is finite",
    result=BOOL,
    onnx=NO_ONNX("IsNaN, IsInf, Or, Not"),
)
