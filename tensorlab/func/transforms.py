"""Functions made of functions: gradients, Jacobian products and Jacobians, which nest in any order.

Every one differentiates at fresh leaves and gives results that keep only the graph that leads elsewhere: to the leaves of a transform
around it, or to tensors outside that require grad. So results of the outermost transform are plain tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from tensorlab import creation, modes
from tensorlab.autograd.forward_ad import along, attach, epsilon_for
from tensorlab.autograd.functional import columns_of, rows_of
from tensorlab.autograd.leaves import fresh, others, released, zeros
from tensorlab.func.trees import flatten, mapped
from tensorlab.modes import state
from tensorlab.passes import grad as gradients
from tensorlab.tensor import Tensor

Function = Callable[..., Any]


# ------------------------------------------------------------------------------------------------------------ arguments


def _positions(argnums: Any, count: int, name: str) -> tuple[int, ...]:
    """Which arguments to differentiate by, as non-negative numbers."""
    given = (argnums,) if isinstance(argnums, int) else argnums
    if not isinstance(given, tuple) or not all(isinstance(n, int) for n in given):
        raise RuntimeError(f"{name}(): argnums should be an int or a tuple of ints, got: {argnums!r}")
    if not given:
        raise RuntimeError(f"{name}(): Got empty argnums, expected to have at least one argument to differentiate by.")
    for n in given:
        if not -count <= n < count:
            raise RuntimeError(f"{name}(): Got argnum={n}, but only {count} positional inputs")
    found = tuple(n % count for n in given)
    if len(set(found)) != len(found):
        raise RuntimeError(f"{name}(): argnums elements must be unique, got {argnums!r}")
    return found


def _leaves(value: Any, name: str, recording: bool) -> tuple[Any, list[Tensor], Callable[[list[Any]], Any]]:
    """An argument with fresh tensors to differentiate at, these tensors, and how to put others in their places."""
    flat, back = flatten(value)
    made = []
    for x in flat:
        if not isinstance(x, Tensor):
            raise ValueError(f"{name}(): Expected only Tensors to differentiate by, got {type(x).__name__}")
        if not (x.is_floating_point() or x.is_complex()):
            raise RuntimeError(f"{name}(): only floating-point and complex tensors have gradients, got {x.dtype}")
        made.append(fresh(x, recording))
    return back(made), made, back


def _results(value: Any, name: str) -> tuple[list[Tensor], Callable[[list[Any]], Any]]:
    flat, back = flatten(value)
    for y in flat:
        if not isinstance(y, Tensor):
            raise RuntimeError(f"{name}(): Expected f(*args) to return only tensors, got {type(y).__name__}")
    return flat, back


def _split(value: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    if not has_aux:
        return value, None
    if not (isinstance(value, tuple) and len(value) == 2):
        raise RuntimeError(
            f"{name}(): output of function f should be a tuple (output, aux) if has_aux is True, got {type(value).__name__}"
        )
    return value


def _in_form(flat: list[Any], backs: list[tuple[int, Function]]) -> tuple[Any, ...]:
    """Results for all leaves in the form of the arguments that held them."""
    parts, at = [], 0
    for count, back in backs:
        parts.append(back(flat[at : at + count]))
        at += count
    return tuple(parts)


def _zeros_for_missing(found: Sequence[Any], like: Sequence[Tensor]) -> list[Tensor]:
    return [creation.zeros_like(x) if g is None else g for g, x in zip(found, like, strict=True)]


# ------------------------------------------------------------------------------------------------------------ gradients


def grad_and_value(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """A function that gives the gradient of ``func`` and its value: a pair. See ``grad``."""

    @wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        recording = state.grad
        positions = _positions(argnums, len(args), "grad")
        moved, own, backs = list(args), [], []
        for n in positions:
            moved[n], leaves, back = _leaves(args[n], "grad", recording)
            backs.append((len(leaves), back))
            own += leaves
        with modes.enable_grad():
            output, aux = _split(func(*moved, **kwargs), has_aux, "grad")
            _need_scalar(output)
            found = [None] * len(own)
            if output.requires_grad:
                found = list(gradients(output, own, create_graph=True, allow_unused=True))
        plain = [released(g, own, recording) for g in _zeros_for_missing(found, own)]
        parts = _in_form(plain, backs)
        result = parts[0] if isinstance(argnums, int) else parts
        value = released(output, own, recording)
        if has_aux:
            return result, (value, mapped(lambda x: released(x, own, recording), aux))
        return result, value

    return wrapped


def _need_scalar(output: Any) -> None:
    if not isinstance(output, Tensor):
        raise RuntimeError(f"grad(): Expected f(*args) to return a Tensor, got {type(output).__name__}")
    if output.dim() != 0:
        raise RuntimeError(
            f"grad(): Expected f(*args) to return a scalar tensor, got tensor with {output.dim()} dims. Maybe you wanted to use the vjp or "
            "jacrev APIs instead?"
        )


def grad(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """A function that gives the gradient of ``func``, which returns a tensor without dimensions.

    ``argnums`` says by which positional arguments, an int or a tuple of ints; arguments may be nested containers of tensors. With
    ``has_aux`` the function returns ``(output, aux)`` and the gradient comes as ``(gradient, aux)``.

    >>> import tensorlab as tl
    >>> tl.func.grad(tl.func.grad(lambda x: x.sin()))(tl.tensor(0.5))
    tensor(-0.4794)
    """
    both = grad_and_value(func, argnums, has_aux)

    @wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        result, value = both(*args, **kwargs)
        return (result, value[1]) if has_aux else result

    return wrapped


# ------------------------------------------------------------------------------------------------------------ products


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """The outputs of ``func``, and a function that multiplies vectors in their form with its Jacobian: a pair (or with aux, three).

    The function takes what has the structure of the outputs and returns a tuple, one entry for each of ``primals``.
    """
    recording = state.grad
    moved, own, backs = [], [], []
    for value in primals:
        new, leaves, back = _leaves(value, "vjp", recording)
        moved.append(new)
        own += leaves
        backs.append((len(leaves), back))
    with modes.enable_grad():
        output, aux = _split(func(*moved), has_aux, "vjp")
        outputs, rebuild = _results(output, "vjp")

    def product(*cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> tuple[Any, ...]:
        vectors, _ = flatten(cotangents)
        _need_same("vjp_fn", vectors, outputs)
        create = state.grad if create_graph is None else create_graph
        pairs = [(y, v) for y, v in zip(outputs, vectors, strict=True) if y.requires_grad]
        found: Sequence[Any] = [None] * len(own)
        if pairs:
            ys, vs = zip(*pairs, strict=True)
            found = gradients(ys, own, vs, create_graph=create, retain_graph=retain_graph, allow_unused=True)
        plain = [released(g, own, create) for g in _zeros_for_missing(found, own)]
        return _in_form(plain, backs)

    value = rebuild([released(y, own, recording) for y in outputs])
    if has_aux:
        return value, product, mapped(lambda x: released(x, own, recording), aux)
    return value, product


def _need_same(name: str, vectors: Sequence[Any], outputs: Sequence[Tensor]) -> None:
    if len(vectors) != len(outputs) or any(not isinstance(v, Tensor) for v in vectors):
        raise RuntimeError(
            f"{name}(): Expected vectors with the structure of the outputs, {len(outputs)} tensors, got {len(vectors)} values"
        )
    for i, (v, y) in enumerate(zip(vectors, outputs, strict=True)):
        if v.shape != y.shape:
            raise RuntimeError(
                f"{name}(): vector {i} must have the shape {list(y.shape)} of what it is multiplied with, not {list(v.shape)}"
            )


def jvp(func: Function, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """The outputs of ``func`` and their derivatives along ``tangents``: a pair (or with aux, three).

    ``primals`` and ``tangents`` are tuples of the same structure.

    >>> import tensorlab as tl
    >>> tl.func.jvp(lambda x: x * x, (tl.tensor(3.),), (tl.tensor(1.),))
    (tensor(9.), tensor(6.))
    """
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError(
            "jvp(): Expected primals and tangents to be tuples, one entry for each argument of the function"
        )
    if not primals:
        raise RuntimeError("jvp(): Expected primals to be a non-empty tuple")
    recording = state.grad
    flat, back = flatten(primals)
    directions, _ = flatten(tangents)
    for x in (*flat, *directions):
        if not isinstance(x, Tensor):
            raise ValueError(f"jvp(): Expected only Tensors in primals and tangents, got {type(x).__name__}")
    _need_same("jvp", directions, flat)
    epsilon = epsilon_for(flat[0])
    at = [x if recording else x.detach() for x in flat]
    ways = [t if recording else t.detach() for t in directions]
    with modes.enable_grad():
        moved = back([attach(x, t, epsilon) for x, t in zip(at, ways, strict=True)])
        output, aux = _split(func(*moved), has_aux, "jvp")
        outputs, rebuild = _results(output, "jvp")
        found = []
        for i, y in enumerate(outputs):
            outer = recording and others(y, [epsilon])
            t = along(y, epsilon, create_graph=outer)
            if t is None and strict:
                raise RuntimeError(f"jvp(): output {i} is independent of the inputs, which strict=True does not allow")
            found.append(creation.zeros_like(y) if t is None else t)
    value = rebuild([released(y, [epsilon], recording) for y in outputs])
    product = rebuild([released(t, [epsilon], recording) for t in found])
    if has_aux:
        return value, product, mapped(lambda x: released(x, [epsilon], recording), aux)
    return value, product


def linearize(func: Function, *primals: Any) -> tuple[Any, Function]:
    """The outputs of ``func``, and the linear function that gives their derivatives along tangents."""
    moved, own = [], []
    for value in primals:
        new, leaves, _ = _leaves(value, "linearize", False)
        moved.append(new)
        own += leaves
    with modes.enable_grad():
        outputs, rebuild = _results(func(*moved), "linearize")
        weights = [zeros(y) for y in outputs]
        pairs = [(y, w) for y, w in zip(outputs, weights, strict=True) if y.requires_grad]
        turned: Sequence[Any] = [None] * len(own)
        if pairs:
            ys, ws = zip(*pairs, strict=True)
            turned = gradients(ys, own, ws, create_graph=True, allow_unused=True)

    def along_tangents(*tangents: Any) -> Any:
        directions, _ = flatten(tangents)
        _need_same("linearize", directions, own)
        pairs = [(g, t) for g, t in zip(turned, directions, strict=True) if g is not None and g.requires_grad]
        found: Sequence[Any] = [None] * len(weights)
        if pairs:
            gs, ts = zip(*pairs, strict=True)
            found = gradients(gs, weights, ts, retain_graph=True, allow_unused=True)
        return rebuild(_zeros_for_missing(found, weights))

    return rebuild([y.detach() for y in outputs]), along_tangents


# ------------------------------------------------------------------------------------------------------------ Jacobians


def _jacobian(name: str, table_of: Function) -> Function:
    """What ``jacrev`` and ``jacfwd`` share: all but which way the table is filled."""

    def make(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
        @wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            recording = state.grad
            positions = _positions(argnums, len(args), name)
            moved, own, backs = list(args), [], []
            for n in positions:
                moved[n], leaves, back = _leaves(args[n], name, recording)
                backs.append((len(leaves), back))
                own += leaves
            with modes.enable_grad():
                output, aux = _split(func(*moved, **kwargs), has_aux, name)
                outputs, rebuild = _results(output, name)
                outer = recording and any(others(y, own) for y in outputs)
                nested = outer or any(x._edge is not None for x in own)
                table = table_of(tuple(outputs), tuple(own), create_graph=nested)
            rows = []
            for row in table:
                parts = _in_form([released(g, own, recording) for g in row], backs)
                rows.append(parts[0] if isinstance(argnums, int) else parts)
            result = rebuild(rows)
            return (result, mapped(lambda x: released(x, own, recording), aux)) if has_aux else result

        return wrapped

    return make


_jacrev, _jacfwd = _jacobian("jacrev", rows_of), _jacobian("jacfwd", columns_of)


def jacrev(func: Function, argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None) -> Function:
    """A function that gives the Jacobian of ``func`` by reverse differentiation: a pass for each output element.

    For every output and argument a tensor of shape ``output.shape + argument.shape``; containers give containers, outputs outside.

    >>> import tensorlab as tl
    >>> tl.func.jacrev(lambda x: x ** 2)(tl.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    _need_chunk("jacrev", chunk_size)
    return _jacrev(func, argnums, has_aux)


def jacfwd(func: Function, argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error") -> Function:
    """A function that gives the Jacobian of ``func`` by forward differentiation: a pass for each input element."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    return _jacfwd(func, argnums, has_aux)


def _need_chunk(name: str, chunk_size: int | None) -> None:
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"{name}: `chunk_size` should be greater than 0.")


def hessian(func: Function, argnums: Any = 0) -> Function:
    """A function that gives the second derivatives of ``func``: forward over reverse differentiation.

    >>> import tensorlab as tl
    >>> tl.func.hessian(lambda x: (x ** 3).sum())(tl.tensor([1., 2.]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
