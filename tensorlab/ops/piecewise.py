"""Activations with corners, and those that take a learned or a drawn slope.

float16 and bfloat16 are computed in float32 and rounded once. At a corner the gradient is the one PyTorch takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorlab.ops.activations import rounded_once
from tensorlab.ops.elementwise import broadcast, same_shape
from tensorlab.ops.table import FLOAT, LOWER, NO_ONNX, OWN, of_arrays, per_element, row

Shape = tuple[int, ...]


def chosen(condition: Any, a: Any, b: Any) -> Any:
    """``a`` where ``condition`` holds, else ``b``, of arrays or of Tensors; ``b`` may be a number."""
    xp = of_arrays(a)
    return a.where(condition, b) if xp is None else xp.where(condition, a, b)


def _activation(name: str, forward: Any, grad: Any, samples: Any, **columns: Any) -> Any:
    return row(
        name,
        "self",
        forward=rounded_once(forward),
        infer=same_shape,
        grad={"self": grad},
        samples=lambda t: (
            [((t(2, 3, low=-5, high=5), *args), kwargs) for args, kwargs in samples]
            + [((t(), *samples[0][0]), {}), ((t(0, 3), *samples[0][0]), {})]
        ),
        **{"result": FLOAT, "promotes": True, "holomorphic": False, "on_arrays": True, **columns},
    )


hardtanh = _activation(
    "hardtanh",
    lambda xp, a, min_val, max_val: xp.minimum(xp.maximum(a, a.dtype.type(min_val)), a.dtype.type(max_val)),
    lambda g, self, min_val, max_val: chosen((self > min_val) & (self < max_val), g, 0),
    [((), {}), ((-2.0, 3.0), {})],
    formula="result = self limited to [min, max]",
    derivatives={"self": "grad where min < self < max, else 0"},
    onnx="Clip",
    cost=per_element(2),
    result=OWN,
)
threshold = _activation(
    "threshold",
    lambda xp, a, threshold, value: xp.where(a <= threshold, a.dtype.type(value), a),
    lambda g, self, threshold: chosen(self > threshold, g, 0),
    [((0.5, 20.0), {}), ((-1.0, -1.0), {})],
    formula="result = self where above the threshold, else value",
    derivatives={"self": "grad where self > threshold, else 0"},
    onnx=NO_ONNX("Greater, Where"),
    cost=per_element(2),
    result=OWN,
)
hardsigmoid = _activation(
    "hardsigmoid",
    lambda xp, a: xp.minimum(xp.maximum(a + a.dtype.type(3), a.dtype.type(0)), a.dtype.type(6)) / a.dtype.type(6),
    lambda g, self: chosen((self > -3) & (self < 3), g / 6, 0),
    [((), {})],
    formula="result = self ÷ 6 + ½, limited to [0, 1]",
    derivatives={"self": "grad ÷ 6 where −3 < self < 3, else 0"},
    onnx="HardSigmoid",
    cost=per_element(4),
)
hardswish = _activation(
    "hardswish",
    lambda xp, a: a * xp.minimum(xp.maximum(a + a.dtype.type(3), a.dtype.type(0)), a.dtype.type(6)) / a.dtype.type(6),
    lambda g, self: chosen(self > -3, chosen(self < 3, g * (self / 3 + 0.5), g), 0),
    [((), {})],
    formula="result = self · hardsigmoid(self)",
    derivatives={"self": "grad · (self ÷ 3 + ½) between −3 and 3, grad above, 0 below"},
    onnx="HardSwish",
    cost=per_element(5),
)
hardshrink = _activation(
    "hardshrink",
    lambda xp, a, lambd: xp.where((a >= -lambd) & (a <= lambd), a.dtype.type(0), a),
    lambda g, self, lambd: chosen((self > lambd) | (self < -lambd), g, 0),
    [((), {}), ((1.5,), {})],
    formula="result = self where |self| > λ, else 0",
    derivatives={"self": "grad where |self| > λ, else 0"},
    onnx="Shrink",
    cost=per_element(3),
)
softshrink = _activation(
    "softshrink",
    lambda xp, a, lambd: a - xp.minimum(xp.maximum(a, a.dtype.type(-lambd)), a.dtype.type(lambd)),
    lambda g, self, lambd: chosen((self > lambd) | (self < -lambd), g, 0),
    [((), {}), ((1.5,), {})],
    formula="result = self moved towards 0 by λ, at most to 0",
    derivatives={"self": "grad where |self| > λ, else 0"},
    onnx="Shrink",
    cost=per_element(3),
)


def _celu(xp: Any, a: Any, alpha: float) -> Any:
    kind = a.dtype.type
    return xp.where(a > 0, a, xp.expm1(xp.minimum(a, kind(0)) / kind(alpha)) * kind(alpha))


celu = _activation(
    "celu",
    _celu,
    lambda g, self, alpha: g.where(self > 0, g * (self.clamp(max=0) / alpha).exp()),
    [((), {}), ((0.7,), {})],
    formula="result = self where positive, else α · (exp(self ÷ α) − 1)",
    derivatives={"self": "grad where self > 0, else grad · exp(self ÷ α)"},
    onnx="Celu",
    cost=per_element(12),
    on_arrays=False,
)
mish = _activation(
    "mish",
    lambda xp, a: a * xp.tanh(xp.log1p(xp.exp(-abs(a))) + xp.maximum(a, a.dtype.type(0))),
    lambda g, self: _mish_grad(g, self),
    [((), {})],
    formula="result = self · tanh(ln(1 + exp(self)))",
    derivatives={"self": "grad · (t + self · σ(self) · (1 − t²)), t = tanh(ln(1 + exp(self)))"},
    onnx="Mish",
    cost=per_element(35),
    on_arrays=False,
)


def _mish_grad(g: Any, self: Any) -> Any:
    bent = ((-self.abs()).exp().log1p() + self.clamp(min=0)).tanh()
    return g * (bent + self * self.sigmoid() * (1 - bent * bent))


log_sigmoid = _activation(
    "log_sigmoid",
    lambda xp, a: xp.minimum(a, a.dtype.type(0)) - xp.log1p(xp.exp(-abs(a))),
    lambda g, self: g * (-self).sigmoid(),
    [((), {})],
    formula="result = ln(1 ÷ (1 + exp(−self)))",
    derivatives={"self": "grad · σ(−self)"},
    onnx=NO_ONNX("Sigmoid then Log"),
    cost=per_element(20),
    on_arrays=False,
)

# --------------------------------------------------------------------------------------------------- given slopes


def _one_type(types: Sequence[Any]) -> None:
    if types[0] != types[1]:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {types[0].name} and {types[1].name}; convert one with .to()"
        )


prelu = row(
    "prelu",
    "self weight",
    forward=rounded_once(lambda xp, a, w: xp.where(a > 0, a, a * w)),
    infer=broadcast,
    grad={
        "self": lambda g, self, weight: chosen(self > 0, g, g * weight),
        "weight": lambda g, self: chosen(self <= 0, g * self, 0),
    },
    formula="result = self where positive, else weight · self",
    derivatives={"self": "grad where self > 0, else weight · grad", "weight": "0 where self > 0, else grad · self"},
    autocast=LOWER,
    onnx="PRelu",
    cost=per_element(2),
    samples=lambda t: [((t(2, 3), t(1)), {}), ((t(2, 3), t(3)), {}), ((t(2, 3, 4), t(3)), {}), ((t(0, 3), t(3)), {})],
    result=FLOAT,
    promotes=True,
    on_arrays=True,
    refuses=_one_type,
    holomorphic=False,
    node="PreluKernelBackward0",
)
rrelu_with_noise = row(
    "rrelu_with_noise",
    "self noise",
    forward=rounded_once(lambda xp, a, noise: a * noise),
    infer=broadcast,
    grad={"self": lambda g, noise: g * noise},
    formula="result = self · noise, noise being 1 where self is positive, else a drawn slope",
    derivatives={"self": "grad · noise"},
    onnx=NO_ONNX("chance"),
    cost=per_element(1),
    samples=lambda t: [((t(2, 3), t(2, 3).detach()), {})],
    result=FLOAT,
    promotes=True,
    on_arrays=True,
)

# ------------------------------------------------------------------------------------------------- one half gates


def _half(shape: Shape, dim: int) -> Shape:
    if not shape:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    if shape[dim] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim} is size {shape[dim]}; the second half gates the first"
        )
    return (*shape[:dim], shape[dim] // 2, *shape[dim + 1 :])


def _glu(xp: Any, a: Any, dim: int) -> Any:
    size = _half(a.shape, dim)[dim]
    at = (slice(None),) * dim
    first, second = a[(*at, slice(0, size))], a[(*at, slice(size, None))]
    half = a.dtype.type(0.5)
    return first * ((xp.tanh(second * half) + 1) * half)


def _glu_grad(g: Any, self: Any, dim: int) -> Any:
    first, second = self.split(g.shape[dim], dim)
    gate = second.sigmoid()
    through = g * gate
    sizes = (g.shape[dim], g.shape[dim])
    return through._op("cat", through * first * (1 - gate), dim=dim, sizes=sizes)


glu = row(
    "glu",
    "self",
    forward=rounded_once(_glu),
    infer=lambda shapes, dim: _half(tuple(shapes[0]), dim),
    grad={"self": _glu_grad},
    formula="result = first half · σ(second half)",
    derivatives={"self": "grad · σ(b) beside grad · a · σ(b) · (1 − σ(b)), for halves a and b"},
    onnx=NO_ONNX("Split, Sigmoid, Mul"),
    cost=per_element(12),
    samples=lambda t: [((t(2, 4),), {}), ((t(4, 3), 0), {}), ((t(0, 4),), {})],
    result=FLOAT,
    promotes=True,
)
