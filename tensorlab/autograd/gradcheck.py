"""Are my gradients right? Compare them with differences of the function itself.

A complex number counts as two real ones, so that one comparison of real Jacobians serves every type: row ``i`` of a Jacobian
tells how the parts of input ``i`` move the parts of an output.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorlab import dtypes
from tensorlab.dispatch import wrap
from tensorlab.passes import grad
from tensorlab.tensor import Tensor
from tensorlab.viewing import strides_of

Function = Callable[..., Any]


class GradcheckError(RuntimeError):
    """A gradient differs from what the function does, and by how much."""


def gradcheck(
    func: Function,
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
) -> bool:
    """Whether gradients of ``func(*inputs)`` agree with central differences, element by element, to ``atol`` and ``rtol``.

    Every floating-point tensor among ``inputs`` that requires grad is checked; use float64. ``fast_mode`` compares one random
    projection of each Jacobian instead of all of it. Every output is also differentiated alone, the others then having no gradient
    (``check_undefined_grad``). Raises ``GradcheckError`` naming the worst element, or returns ``False`` without ``raise_exception``.

    >>> import tensorlab as tl
    >>> x = tl.tensor([1.0, 2.0], dtype=tl.float64, requires_grad=True)
    >>> tl.autograd.gradcheck(lambda x: (x * x).sum(), x)
    True
    """
    for name, wanted in (("check_batched_grad", check_batched_grad), ("check_forward_ad", check_forward_ad)):
        if wanted:
            raise ValueError(
                f"gradcheck(): {name} needs batched or forward-mode gradients, which tensorlab does not have"
            )
    if not check_backward_ad:
        raise ValueError("gradcheck(): nothing is left to check without check_backward_ad")
    args = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    try:
        _check(func, args, eps, atol, rtol, nondet_tol, check_grad_dtypes, fast_mode)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Function,
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    fast_mode: bool = False,
) -> bool:
    """Whether second derivatives of ``func(*inputs)`` are right: ``gradcheck`` of its gradient, in the inputs and in ``grad_outputs``.

    ``grad_outputs`` weighs the outputs; random ones are drawn where it is left out. Raises ``GradcheckError`` as ``gradcheck`` does.
    """
    args = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    outputs = _differentiable(func(*args))
    if grad_outputs is None:
        weights: tuple[Tensor, ...] = tuple([_weights(y, gen_non_contig_grad_outputs) for y in outputs])
    else:
        weights = (grad_outputs,) if isinstance(grad_outputs, Tensor) else tuple(grad_outputs)
    count = len(weights)

    def gradient(*both: Any) -> tuple[Tensor, ...]:
        values, weighing = both[: len(both) - count], both[len(both) - count :]
        wanted = [x for x in values if isinstance(x, Tensor) and x.requires_grad]
        found = grad(_differentiable(func(*values)), wanted, weighing, create_graph=True, allow_unused=True)
        return tuple([g for g in found if g is not None])

    return gradcheck(
        gradient, (*args, *weights), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad,
        fast_mode=fast_mode,
    )  # fmt: skip


# --------------------------------------------------------------------------------------------------------- the check


def _check(
    func: Function, args: tuple[Any, ...], eps: float, atol: float, rtol: float, nondet: float, types: bool, fast: bool
) -> None:
    inputs = [x for x in args if isinstance(x, Tensor) and x.requires_grad]
    _fit_to_check(inputs)
    outputs = _differentiable(func(*args))
    tangents = [_directions(x, fast) for x in inputs]
    moved = [_differences(func, args, x, t, eps) for x, t in zip(inputs, tangents, strict=True)]
    if not outputs:
        _nothing_may_move(moved, atol)
    for j, y in enumerate(outputs):
        weights = _directions(y, fast)
        gradients = _gradients(y, inputs, weights, types)
        again = _gradients(y, inputs, weights, types)
        for i, x in enumerate(inputs):
            numeric, analytic = weights @ moved[i][j].T, gradients[i] @ tangents[i].T
            _compare(numeric, analytic, j, y, i, x, atol, rtol, fast)
            apart = float(np.abs(gradients[i] - again[i]).max(initial=0.0))
            if apart > nondet:
                raise GradcheckError(
                    f"Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different "
                    f"values, although analytical gradient matches numerical gradient. Output {j} and input {i} differ by {apart:g}, "
                    f"more than nondet_tol={nondet:g}."
                )


def _fit_to_check(inputs: Sequence[Tensor]) -> None:
    if not inputs:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have requires_grad=True."
        )
    for i, x in enumerate(inputs):
        if x.dtype not in (dtypes.float64, dtypes.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex ({x.dtype.name}). This check will "
                "likely fail if all the inputs are not of double precision floating point or complex.",
                stacklevel=4,
            )
        if any(s == 0 and n > 1 for s, n in zip(strides_of(x._a), x.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to be able to "
                "compute the numerical gradients correctly. You should call .contiguous on the input before passing it to gradcheck."
            )


def _differentiable(outputs: Any) -> tuple[Tensor, ...]:
    """The outputs of a function that a gradient can come from."""
    given = tuple(outputs) if isinstance(outputs, (tuple, list)) else (outputs,)
    for y in given:
        if not isinstance(y, Tensor):
            raise ValueError(f"gradcheck(): the function must return tensors, got {type(y).__name__}")
    return tuple([y for y in given if y.requires_grad])


def _parts(array: np.ndarray) -> np.ndarray:
    """The elements as one vector of real float64 numbers, a complex one as two."""
    flat = array.reshape(-1)
    return (flat.astype(np.complex128).view(np.float64) if flat.dtype.kind == "c" else flat.astype(np.float64)).copy()


def _like(parts: np.ndarray, x: Tensor) -> np.ndarray:
    """A vector of parts as an array shaped and typed like ``x``."""
    wide = parts.view(np.complex128) if x.is_complex() else parts
    return wide.reshape(x._a.shape).astype(x._a.dtype)


def _directions(x: Tensor, fast: bool) -> np.ndarray:
    """Directions to look along, one a row: every part alone, or one of length 1 in fast mode."""
    count = _parts(x._a).size
    if not fast:
        return np.eye(count)
    drawn = np.random.default_rng(count).standard_normal((1, count))
    return drawn / max(1e-12, float(np.linalg.norm(drawn)))


def _weights(y: Tensor, spread: bool) -> Tensor:
    """Random weights for an output, every other element of a larger buffer if ``spread``."""
    drawn = np.random.default_rng(y.numel()).standard_normal((2, *y.shape))
    array = (drawn[0] + 1j * drawn[1] if y.is_complex() else drawn[0]).astype(y._a.dtype)
    if spread and array.ndim:
        array = np.repeat(array[..., None], 2, axis=-1)[..., 0]
    return wrap(np.asarray(array)).requires_grad_()


def _differences(
    func: Function, args: tuple[Any, ...], x: Tensor, tangents: np.ndarray, eps: float
) -> list[np.ndarray]:
    """How each output moves, a row for each direction in which ``x`` moves."""
    array, kept = x._a, x._a.copy()
    rows: list[list[np.ndarray]] = []
    try:
        for tangent in tangents:
            array[...] = kept + _like(eps * tangent, x)
            ahead = [_parts(y._a) for y in _differentiable(func(*args))]
            array[...] = kept - _like(eps * tangent, x)
            behind = [_parts(y._a) for y in _differentiable(func(*args))]
            rows.append([(a - b) / (2 * eps) for a, b in zip(ahead, behind, strict=True)])
    finally:
        array[...] = kept
    if not rows:
        return [np.zeros((0, _parts(y._a).size)) for y in _differentiable(func(*args))]
    return [np.stack(column) for column in zip(*rows, strict=True)]


def _gradients(y: Tensor, inputs: Sequence[Tensor], weights: np.ndarray, types: bool) -> list[np.ndarray]:
    """The gradients of one output for every input, a row for each weighing of its parts."""
    rows: list[list[np.ndarray]] = []
    for weight in weights:
        found = grad((y,), inputs, (wrap(_like(weight, y)),), retain_graph=True, allow_unused=True)
        for i, (g, x) in enumerate(zip(found, inputs, strict=True)):
            if g is not None and g.shape != x.shape:
                raise GradcheckError(
                    f"Analytical gradient has incorrect size: {list(g.shape)} for input {i} of shape {list(x.shape)}"
                )
            if types and g is not None and g.dtype is not x.dtype:
                raise GradcheckError(
                    f"Analytical gradient has incorrect type: {g.dtype} for input {i} of type {x.dtype}"
                )
        rows.append(
            [np.zeros(_parts(x._a).size) if g is None else _parts(g._a) for g, x in zip(found, inputs, strict=True)]
        )
    if not rows:
        return [np.zeros((0, _parts(x._a).size)) for x in inputs]
    return [np.stack(column) for column in zip(*rows, strict=True)]


def _nothing_may_move(moved: list[list[np.ndarray]], atol: float) -> None:
    if any(np.abs(m).max(initial=0.0) > atol for of_input in moved for m in of_input):
        raise GradcheckError(
            "Numerical gradient for function expected to be zero, since no output requires grad, but it is not"
        )


def _compare(
    numeric: np.ndarray,
    analytic: np.ndarray,
    j: int,
    y: Tensor,
    i: int,
    x: Tensor,
    atol: float,
    rtol: float,
    fast: bool,
) -> None:
    if np.allclose(analytic, numeric, rtol, atol, equal_nan=True):
        return
    off = np.abs(analytic - numeric) - rtol * np.abs(numeric)
    at = np.unravel_index(np.argmax(np.where(np.isnan(off), np.inf, off)), off.shape)
    where = "" if fast else f" for output element {_element(y, at[0])} and input element {_element(x, at[1])}"
    raise GradcheckError(
        f"Jacobian mismatch for output {j} with respect to input {i},\nnumerical:{numeric.T}\nanalytical:{analytic.T}\n"
        f"The largest difference is{where}: the function moves by {numeric[at]:.6g}, the gradient says {analytic[at]:.6g} "
        f"(atol={atol:g}, rtol={rtol:g})." + (" Run with fast_mode=False to learn which element it is." if fast else "")
    )


def _element(x: Tensor, part: Any) -> str:
    """The index of an element, and which part of it for complex numbers."""
    number, half = divmod(int(part), 2) if x.is_complex() else (int(part), None)
    index = tuple([int(n) for n in np.unravel_index(number, x._a.shape or (1,))]) if x._a.ndim else ()
    return f"{list(index)}" + ("" if half is None else " (imaginary part)" if half else " (real part)")
