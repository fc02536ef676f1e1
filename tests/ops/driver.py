"""One driver for every row of the op table: sample calls from the row itself, and what must hold for each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import tensorlab as tl
from tensorlab import taps
from tensorlab.functional import plain, shapes
from tensorlab.ops import ROWS
from tensorlab.ops.table import Row

TIGHT = {"atol": 1e-6, "rtol": 1e-5}


class Samples:
    """What a row's ``samples`` are given: makes tensors of one type, the same ones for the same seed."""

    def __init__(self, dtype: Any = np.float64, requires_grad: bool = True, seed: int = 7) -> None:
        self.np_dtype = np.dtype(dtype)
        self.requires_grad = requires_grad and self.np_dtype.kind in "fV"
        self.rng = np.random.default_rng(seed)

    def __call__(self, *shape: int, low: float = -2.0, high: float = 2.0) -> Any:
        values = self.rng.uniform(low, high, shape)
        if self.np_dtype.kind in "iu":
            values = np.where(np.floor(values) == 0, 1, np.floor(values))
        return tl.tensor(np.asarray(values).astype(self.np_dtype), requires_grad=self.requires_grad)

    def complex(self, *shape: int) -> Any:
        values = self.rng.uniform(-2, 2, shape) + 1j * self.rng.uniform(-2, 2, shape)
        kind = np.complex64 if self.np_dtype.itemsize == 4 else np.complex128
        return tl.tensor(np.asarray(values).astype(kind), requires_grad=self.requires_grad)

    def mask(self, *shape: int) -> Any:
        return tl.tensor(np.asarray(self.rng.uniform(size=shape) < 0.5))

    def index(self, high: int, *shape: int) -> Any:
        return tl.tensor(np.asarray(self.rng.integers(0, high, shape)))


def _op(name: str) -> Callable[..., Any]:
    """A call by row name, for rows that no public function stands for."""
    return lambda first, *others, **attrs: first._op(name, *others, **attrs)


def _nll(name: str) -> Callable[..., Any]:
    def call(x: Any, target: Any, weight: Any = None, **attrs: Any) -> Any:
        return x._op(name, target, weight, **{"reduction": "mean", "ignore_index": -100, **attrs})

    return call


def _slice(x: Any, dim: int, start: int, stop: int, step: int) -> Any:
    return shapes.slice_dim(x, dim, start, stop, step)


def _hermitian(name: str) -> Callable[..., Any]:
    """A call that reads one triangle, of a matrix whose both triangles follow its argument."""
    return lambda x, **attrs: x.add(x.mT).div(2)._op(name, **attrs)


def _eig(x: Any) -> tuple[Any, Any]:
    """Eigenvalues, and of the vectors what their free phase does not change."""
    values, vectors = x._op("linalg_eig")
    return values, vectors.abs()


#: Rows whose samples are not meant for a public function of the row's own name.
CALLS: dict[str, Callable[..., Any]] = {
    "max_dim": lambda x, *args, **kwargs: x.max(*args, **kwargs),
    "min_dim": lambda x, *args, **kwargs: x.min(*args, **kwargs),
    "slice": _slice,
    "view": lambda x, shape: x.view(shape),
    "linalg_cholesky_ex": _hermitian("linalg_cholesky_ex"),
    "linalg_eigh": _hermitian("linalg_eigh"),
    "linalg_eigvalsh": _hermitian("linalg_eigvalsh"),
    "linalg_eig": _eig,
    "geqrf": lambda x: x._op("geqrf"),
    "vector_norm": lambda x, dim=None, p=2, **kwargs: x.norm(p, dim, **kwargs),
    "mse_loss": lambda x, y, reduction="mean": x._op("mse_loss", y, reduction=reduction),
    "nll_loss": _nll("nll_loss"),
    "nll_loss_backward": _nll("nll_loss_backward"),
    "clone": lambda x: x.clone(),
    "linear": _op("linear"),
    "lstm_layer": lambda x, *others, **attrs: x._op("lstm_layer", *others, **attrs)[
        :3
    ],  # what else it keeps has no gradient
    "index_put": _op("index_put"),
    "as_strided_copy": _op("as_strided_copy"),
    "as_strided_scatter": _op("as_strided_scatter"),
    "block_diag": lambda *tensors: tl.block_diag(*tensors),
    **{
        name: lambda x, *others, _name=name, **attrs: x._op(_name, *others, **attrs)[
            0
        ]  # the statistics have no gradient
        for name in ("native_layer_norm", "native_group_norm", "native_batch_norm")
    },
    "polygamma": _op("polygamma"),
    "to_device": _op("to_device"),  # the method of that name is the array API's
    "orthogonal_polynomial": _op("orthogonal_polynomial"),
    "median_dim": lambda x, *args, **kwargs: x.median(*args, **kwargs),
    "nanmedian_dim": lambda x, *args, **kwargs: x.nanmedian(*args, **kwargs),
}


def public(row: Row) -> Callable[..., Any]:
    """What a person would call to run this row with its sample arguments."""
    found = CALLS.get(row.name) or plain.get(row.name) or getattr(tl.Tensor, row.name, None)
    return found or _op(row.name)


class Sample(NamedTuple):
    """One call: a row, which of its samples, its arguments."""

    row: Row
    number: int
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @property
    def inputs(self) -> list[Any]:
        """The tensors among the arguments, in order."""
        return list(_tensors(self.args))

    def run(self, *inputs: Any) -> tuple[Any, ...]:
        """The results for other tensors in place of the inputs, or for the inputs themselves."""
        args = replaced(self.args, iter(inputs)) if inputs else self.args
        found = public(self.row)(*args, **self.kwargs)
        return tuple(found) if isinstance(found, (tuple, list)) else (found,)

    def __repr__(self) -> str:
        return f"{self.row.name}[{self.number}]"


def _tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, tl.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item)


def replaced(value: Any, inputs: Iterator[Any]) -> Any:
    if isinstance(value, tl.Tensor):
        return next(inputs)
    if type(value) in (tuple, list):
        return type(value)([replaced(item, inputs) for item in value])
    return value


def samples(row: Row, dtype: Any = np.float64, requires_grad: bool = True) -> list[Sample]:
    """All sample calls of a row, made anew."""
    made = row.samples(Samples(dtype, requires_grad))
    return [Sample(row, number, args, kwargs) for number, (args, kwargs) in enumerate(made)]


@cache
def names(*, differentiable: bool = False) -> list[tuple[str, int]]:
    """(row, sample number) of every sample of every row, for ``parametrize``."""
    return [
        (name, sample.number)
        for name, row in sorted(ROWS.items())
        if not differentiable or row.vjps or row.joint
        for sample in samples(row)
    ]


def sample(name: str, number: int, dtype: Any = np.float64, requires_grad: bool = True) -> Sample:
    return samples(ROWS[name], dtype, requires_grad)[number]


class Call(NamedTuple):
    """What passed the door once."""

    row: Row
    inputs: list[Any]
    attrs: dict[str, Any]
    outs: tuple[Any, ...]


@contextmanager
def recorded() -> Iterator[list[Call]]:
    """Everything that passes the door inside, each call as the door saw it."""
    calls: list[Call] = []
    stop = taps.watch_ops(lambda row, inputs, attrs, outs: calls.append(Call(row, list(inputs), dict(attrs), outs)))
    try:
        yield calls
    finally:
        stop()


# ------------------------------------------------------------------------------------------------------------ checks


def check_gradient(sample: Sample, second: bool = True) -> None:
    """First (and second) derivatives against central differences, tight enough to notice an error of 0.1%."""
    inputs = sample.inputs
    outs = [y for y in sample.run() if y.requires_grad]
    if not outs or not any(x.requires_grad for x in inputs):
        return
    tl.autograd.gradcheck(lambda *inputs: sample.run(*inputs), inputs, **TIGHT)
    if second:
        tl.autograd.gradgradcheck(lambda *inputs: sample.run(*inputs), inputs, **TIGHT)


def gradients(sample: Sample, inputs: list[Any], create_graph: bool = False) -> list[np.ndarray | None]:
    """Gradients of the outputs, weighed unevenly, for every input that requires grad."""
    outs = [y for y in sample.run(*inputs) if y.requires_grad]
    wanted = [x for x in inputs if x.requires_grad]
    if not outs or not wanted:
        return []
    weights = [tl.tensor(np.linspace(0.5, 1.5, y.numel()).reshape(y.shape).astype(y._a.dtype)) for y in outs]
    found = tl.autograd.grad(outs, wanted, weights, create_graph=create_graph, allow_unused=True)
    return [None if g is None else g.detach().numpy() for g in found]


def scattered(x: Any) -> Any:
    """The same values in memory with gaps, dimensions in reverse order."""
    a = x.detach().numpy()
    if a.ndim == 0:
        buffer = np.zeros(3, a.dtype)
        buffer[1] = a
        return tl.from_numpy(buffer)[1].detach().requires_grad_(x.requires_grad)
    buffer = np.zeros((*a.shape[::-1][:-1], a.shape[0] * 2), a.dtype) if a.ndim else a
    seen = tl.from_numpy(buffer).permute(*reversed(range(a.ndim)))[::2]
    seen._a[...] = a
    return seen.detach().requires_grad_(x.requires_grad)
