"""One row an operation: everything the house knows about it.

A row's ``forward`` gets the array namespace and arrays; its gradient formulas get Tensors (or plain arrays, see ``on_arrays``)
and use only methods of what they were given, so they differentiate again. What a node saves for its backward is read off the
formulas: ``lambda g, other: g * other`` needs ``other``, so ``other`` is saved when that gradient will be wanted, and nothing
else is. A formula's parameters name the gradient (first), then inputs, attributes, or results.

Where a row has nothing to say it says so by name, ``NO_GRAD("integer output")``; silence is a mistake that a test finds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorlab.backend import namespace

#: How a row's result type follows from its inputs' common type.
SAME, FLOAT, BOOL, OWN = "same", "float", "bool", "own"

#: What autocast does with a row.
LOWER, FLOAT32, PROMOTE, AS_IS = "lower", "float32", "promote", "as_is"

#: The same where PyTorch does it on one kind of device only.
GPU_LOWER, GPU_FLOAT32, GPU_PROMOTE, CPU_FLOAT32 = "lower on gpu", "float32 on gpu", "promote on gpu", "float32 on cpu"

#: What each of these means on the CPU and on a GPU.
AUTOCAST = {
    LOWER: (LOWER, LOWER),
    FLOAT32: (FLOAT32, FLOAT32),
    PROMOTE: (PROMOTE, PROMOTE),
    AS_IS: (AS_IS, AS_IS),
    GPU_LOWER: (AS_IS, LOWER),
    GPU_FLOAT32: (AS_IS, FLOAT32),
    GPU_PROMOTE: (AS_IS, PROMOTE),
    CPU_FLOAT32: (FLOAT32, AS_IS),
}


class Said:
    """A column left empty on purpose, with the reason."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.reason!r})"


class NO_GRAD(Said):
    """No gradient passes; results never require grad."""


class NO_ONNX(Said):
    """No ONNX operator says this."""


class Ufunc:
    """A forward that is one elementwise function of the array namespace, called without a wrapper where speed counts.

    ``discrete`` stands in for it where the function itself changed the type of integers or booleans, which it should keep.
    """

    def __init__(self, name: str, discrete: Callable[..., Any] | None = None) -> None:
        self.name = name
        self.discrete = discrete

    def __call__(self, xp: Any, *arrays: Any) -> Any:
        if self.discrete is not None and arrays[0].dtype.kind in "biu":
            return self.discrete(xp, *arrays)
        return getattr(xp, self.name)(*arrays)


Formula = Callable[..., Any]
ROWS: dict[str, Row] = {}


class Row:
    """One operation. See the module's text; ``row(...)`` declares one."""

    __slots__ = (
        "name", "params", "forward", "view", "infer", "vjps", "joint", "needs", "formula", "derivatives", "autocast",
        "onnx", "cost", "samples", "result", "promotes", "on_arrays", "node", "node_name", "results", "holomorphic", "variadic",
        "refuses", "beside_int", "keep", "keeps", "seen_as",
    )  # fmt: skip

    name: str
    params: tuple[str, ...]
    results: tuple[str, ...]
    forward: Any
    view: Any
    infer: Callable[..., Any]
    vjps: tuple[Formula | None, ...] | None  # one formula an input, or
    joint: Formula | None  # one for all of them
    needs: tuple[tuple[str, ...], ...]  # what each formula asks for by name
    keep: tuple[tuple[int, ...], ...]  # for every input and result, the formulas that need it
    keeps: bool  # whether any does
    formula: str
    derivatives: dict[str, str]
    autocast: str
    onnx: str | NO_ONNX
    cost: Callable[..., int]
    samples: Callable[[Any], Any]
    result: str
    promotes: bool
    on_arrays: bool
    holomorphic: bool
    variadic: bool
    refuses: Any
    beside_int: Any
    seen_as: dict[Any, Any] | None
    node: Any
    node_name: str

    def __repr__(self) -> str:
        return f"<row {self.name}({', '.join(self.params)})>"


def row(
    name: str,
    params: str,
    *,
    forward: Any = None,
    view: Any = None,
    infer: Callable[..., Any],
    grad: dict[str, Formula] | Formula | NO_GRAD,
    formula: str,
    derivatives: dict[str, str] | None = None,
    autocast: str = AS_IS,
    onnx: str | NO_ONNX,
    cost: Callable[..., int],
    samples: Callable[[Any], Sequence[tuple[tuple[Any, ...], dict[str, Any]]]],
    result: str = OWN,
    promotes: bool = False,
    on_arrays: bool = False,
    results: str = "result",
    node: str | None = None,
    holomorphic: bool = True,
    refuses: Callable[[Sequence[Any]], None] | None = None,
    beside_int: Callable[[Any, int], Any] | None = None,
    seen_as: dict[Any, Any] | None = None,
) -> Row:
    """Declare an operation and enter it into the table.

    ``params`` names the tensor inputs (``"self other"``; ``"*tensors"`` for any number). ``grad`` is a dictionary from an input's
    name to its formula, or one function ``(grads, needs, **named) -> list`` for rows that share work between inputs. ``results``
    names the outputs. ``node`` is the class name of its nodes where it is not the row's name in camel case + ``Backward0``.
    ``refuses`` raises for input types that the forward would take but should not; ``beside_int(tensor, number)`` may do so too, or
    give another tensor, where a Python int is the second operand. ``seen_as`` gives the result type of a view whose elements are not
    those of its input, for every input type that can be seen that way.
    """
    if (forward is None) == (view is None):
        raise TypeError(f"row {name}: a row has either a forward or a view rule")
    self = Row()
    self.name, self.forward, self.view, self.infer = name, forward, view, infer
    self.variadic = params.startswith("*")
    self.params = tuple(params.lstrip("*").split())
    self.results = tuple(results.split())
    self.formula, self.derivatives = formula, derivatives or {}
    self.autocast, self.onnx, self.cost, self.samples = autocast, onnx, cost, samples
    self.result, self.promotes, self.on_arrays, self.holomorphic = result, promotes, on_arrays, holomorphic
    self.refuses, self.beside_int, self.seen_as = refuses, beside_int, seen_as
    self.vjps = None
    self.joint = None
    self.needs = ()
    if isinstance(grad, dict):
        if unknown := set(grad) - set(self.params):
            raise TypeError(f"row {name}: gradients for {sorted(unknown)}, which are no inputs")
        self.vjps = tuple(grad.get(p) for p in self.params)
        self.needs = tuple(_names(v)[1:] if v else () for v in self.vjps)
    elif not isinstance(grad, NO_GRAD):
        self.joint = grad
        self.needs = (_names(grad)[2:],)
    names = () if self.variadic else self.params
    self.keep = tuple(
        tuple(i for i, needed in enumerate(self.needs) if name in needed) for name in (*names, *self.results)
    )
    self.keeps = any(self.keep)
    self.node_name = node or "".join(part.capitalize() for part in name.split("_")) + "Backward0"
    self.node = None  # the class of its nodes, made by the engine when first needed
    if name in ROWS:
        raise TypeError(f"there are two rows named {name}")
    ROWS[name] = self
    return self


def _names(function: Formula) -> tuple[str, ...]:
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


# ------------------------------------------------------------------------------------- shared columns of elementwise rows


def elements(shape: Sequence[int]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def per_element(flops: int) -> Callable[..., int]:
    """Cost of an elementwise row: so many FLOPs for each element of the result."""

    def cost(shapes: Sequence[Sequence[int]], result: Sequence[int], **attrs: Any) -> int:
        return flops * elements(result)

    return cost


def of_arrays(value: Any) -> Any:
    """The namespace of an array, ``None`` for a Tensor: what a gradient formula is given may be either."""
    if isinstance(value, (np.ndarray, np.generic)):
        return np
    return None if hasattr(value, "_a") else namespace(value)


def nothing(g: Any) -> Any:
    """The gradient where none passes: zeros, whatever ``g`` holds. A product with 0 would turn inf and NaN into NaN."""
    xp = of_arrays(g)
    return g._zeros(tuple(g.shape)) if xp is None else xp.zeros_like(g)


def no_cost(shapes: Sequence[Sequence[int]], result: Sequence[int], **attrs: Any) -> int:
    """A row that moves or renames elements and computes nothing."""
    return 0
