"""Derivatives of functions: Jacobians, Hessians, and their products with vectors, without touching any ``.grad``.

Inputs and outputs are tensors or tuples of them; results come in the same form. With ``create_graph`` results can be differentiated
again; with ``strict`` an output or a result that does not depend on the inputs is an error instead of zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorlab import creation, functional, layout, modes
from tensorlab.autograd.forward_ad import along, attach, epsilon_for
from tensorlab.autograd.leaves import zeros
from tensorlab.passes import grad
from tensorlab.tensor import Tensor

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = tuple[Tensor, ...]
_CONTIGUOUS = layout.contiguous_format


def _tensors(value: Any, what: str, name: str) -> tuple[bool, Tensors]:
    """Whether a tuple was given, and a tuple. Raises ``TypeError`` for anything but tensors."""
    many = isinstance(value, tuple)
    given = value if many else (value,)
    for i, x in enumerate(given):
        if not isinstance(x, Tensor):
            where = f"value at index {i} of the {what}" if many else f"{what}"
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the {where} has type {type(x)}."
            )
    return many, given


def _prepared(inputs: Tensors, create_graph: bool, need_graph: bool = True) -> Tensors:
    """The inputs as fresh tensors to differentiate at, which hang on the caller's graph with ``create_graph``."""
    made = []
    for x in inputs:
        if create_graph and x.requires_grad:
            made.append(x.view_as(x))
        else:
            made.append(x.detach().requires_grad_(need_graph))
    return tuple(made)


def _plain(many: bool, values: Sequence[Any], create_graph: bool) -> Any:
    """Results in the form that was asked for, off the graph unless it is wanted."""
    out = tuple([x if create_graph or not x.requires_grad else x.detach() for x in values])
    return out if many else out[0]


def _call(func: Callable[..., Any], inputs: Tensors, name: str) -> tuple[bool, Tensors]:
    return _tensors(func(*inputs), "outputs of the user-provided function", name)


def _vectors(v: Any, beside: Tensors, many: bool, name: str, of: str) -> Tensors:
    """The vector of a product, checked against what it is multiplied with; 1 for a single element where it is left out."""
    if v is None:
        if len(beside) != 1 or beside[0].numel() != 1:
            raise RuntimeError(
                f"{name}(): the vector v can only be None if the user-provided function {of}; give one tensor for each, of the same shapes "
                f"({', '.join(str(list(x.shape)) for x in beside)})"
            )
        return (creation.ones_like(beside[0]),)
    _, given = _tensors(v, "vector v", name)
    if len(given) != len(beside):
        raise RuntimeError(f"{name}(): v is a tuple of invalid length: should be {len(beside)} but got {len(given)}.")
    for i, (x, y) in enumerate(zip(given, beside, strict=True)):
        if x.shape != y.shape:
            where = f"Entry {i} in v" if many else "v"
            raise RuntimeError(f"{name}(): {where} has invalid size: should be {y.shape} but got {x.shape}.")
    return tuple([x.detach() if not x.requires_grad else x for x in given])


def _need_dependence(outputs: Tensors, strict: bool) -> None:
    for i, y in enumerate(outputs):
        if strict and not y.requires_grad:
            raise RuntimeError(
                f"Output {i} of the user-provided function does not require gradients. The outputs must be computed in a differentiable "
                "manner from the input when running in strict mode."
            )


def _gradients(
    outputs: Tensors, inputs: Tensors, seeds: Sequence[Any] | None, *, create_graph: bool, retain: bool = False
) -> tuple[Any, ...]:
    """Gradients for the inputs, ``None`` where an input does not matter."""
    pairs = [(y, None if seeds is None else seeds[i]) for i, y in enumerate(outputs) if y.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    ys, vs = zip(*pairs, strict=True)
    return grad(ys, inputs, vs, create_graph=create_graph, retain_graph=retain or create_graph, allow_unused=True)


def _filled(found: Sequence[Any], like: Tensors, strict: bool, create_graph: bool, what: str) -> list[Any]:
    """Zeros in place of what is missing; with ``strict`` that is an error that says which input does not matter."""
    out = []
    for i, (g, x) in enumerate(zip(found, like, strict=True)):
        if g is None:
            if strict:
                raise RuntimeError(
                    f"The output of the user-provided function is independent of input {i}. This is not allowed in strict mode."
                )
            g = creation.zeros_like(x)
        elif strict and create_graph and not g.requires_grad:
            raise RuntimeError(
                f"The {what} of the user-provided function is independent of input {i}. This is not allowed in strict mode when "
                "create_graph=True."
            )
        out.append(g)
    return out


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The outputs of ``func``, and the product of the vector ``v`` with its Jacobian: a pair.

    ``v`` has the shapes of the outputs; it may be left out for an output of one element. The product has the shapes of the inputs.
    """
    with modes.enable_grad():
        many, given = _tensors(inputs, "inputs", "vjp")
        given = _prepared(given, create_graph)
        many_out, outputs = _call(func, given, "vjp")
        _need_dependence(outputs, strict)
        seeds = _vectors(v, outputs, many_out, "vjp", "returns a single Tensor with a single element")
    create = create_graph
    found = _gradients(outputs, given, seeds, create_graph=create)
    product = _filled(found, given, strict, create, "Jacobian")
    return _plain(many_out, outputs, create), _plain(many, product, create)


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The outputs of ``func``, and the product of its Jacobian with the vector ``v``: a pair.

    ``v`` has the shapes of the inputs; it may be left out for an input of one element. The product has the shapes of the outputs.

    >>> import tensorlab as tl
    >>> tl.autograd.functional.jvp(lambda x: x ** 2, tl.tensor([1., 2.]), tl.tensor([1., 1.]))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    with modes.enable_grad():
        many, given = _tensors(inputs, "inputs", "jvp")
        directions = _vectors(v, given, many, "jvp", "takes a single Tensor with a single element")
        given = _prepared(given, create_graph)
        epsilon = epsilon_for(given[0])
        moving = tuple([attach(x, t, epsilon) for x, t in zip(given, directions, strict=True)])
        many_out, outputs = _call(func, moving, "jvp")
        _need_dependence(outputs, strict)
        found = [along(y, epsilon, create_graph) for y in outputs]
    for i, tangent in enumerate(found):
        if tangent is None and strict:
            raise RuntimeError(
                f"Output {i} of the user-provided function is independent of the inputs. This is not allowed in strict mode."
            )
    product = [creation.zeros_like(y) if t is None else t for t, y in zip(found, outputs, strict=True)]
    return _plain(many_out, outputs, create_graph), _plain(many_out, product, create_graph)


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivative of every output element by every input element.

    One output and one input give a tensor of shape ``output.shape + input.shape``; tuples give tuples, outputs outside. ``strategy``
    is ``"reverse-mode"`` (a pass for each output element) or ``"forward-mode"`` (one for each input element); ``vectorize`` is
    accepted, and results are the same.

    >>> import tensorlab as tl
    >>> tl.autograd.functional.jacobian(lambda x: x ** 2, tl.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            f'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than inputs, '
            f'"forward-mode" tends to be more performant. Got {strategy!r}.'
        )
    if strategy == "forward-mode" and create_graph:
        raise NotImplementedError(
            'jacobian(): `create_graph=True` and `strategy="forward-mode"` are not supported together; use '
            "tensorlab.func.jacfwd"
        )
    with modes.enable_grad():
        many, given = _tensors(inputs, "inputs", "jacobian")
        given = _prepared(given, create_graph)
        many_out, outputs = _call(func, given, "jacobian")
        _need_dependence(outputs, strict)
    if strategy == "forward-mode":
        rows = columns_of(outputs, given)
    else:
        rows = rows_of(outputs, given, create_graph=create_graph, strict=strict)
    shaped = [_plain(many, row, create_graph) for row in rows]
    return tuple(shaped) if many_out else shaped[0]


def rows_of(outputs: Tensors, inputs: Tensors, *, create_graph: bool, strict: bool = False) -> list[list[Tensor]]:
    """The Jacobian of outputs, one entry for every output and input, a backward pass for each output element."""
    table = []
    for y in outputs:
        parts: list[list[Tensor]] = [[] for _ in inputs]
        flat = y.reshape(-1)
        for n in range(flat.numel()):
            seed = creation.zeros_like(y, memory_format=_CONTIGUOUS).detach()
            with modes.no_grad():
                seed.view(-1)[n] = 1
            found = _gradients((y,), inputs, (seed,), create_graph=create_graph, retain=True)
            for part, g in zip(parts, _filled(found, inputs, strict, create_graph, "Jacobian"), strict=True):
                part.append(g)
        table.append([_stacked(part, y, x) for part, x in zip(parts, inputs, strict=True)])
    return table


def columns_of(outputs: Tensors, inputs: Tensors, *, create_graph: bool = False) -> list[list[Tensor]]:
    """The same, a pass for each input element: the gradient is linear in the gradient that comes in, and is turned round."""
    table = []
    for y in outputs:
        with modes.enable_grad():
            weights = zeros(y)
            linear = _gradients((y,), inputs, (weights,), create_graph=True, retain=True)
        row = []
        for x, g in zip(inputs, linear, strict=True):
            columns = []
            for n in range(x.numel()):
                found = None
                if g is not None and g.requires_grad:
                    seed = creation.zeros_like(x, memory_format=_CONTIGUOUS).detach()
                    with modes.no_grad():
                        seed.view(-1)[n] = 1
                    (found,) = grad(g, weights, seed, retain_graph=True, create_graph=create_graph, allow_unused=True)
                columns.append(creation.zeros_like(y) if found is None else found)
            shape = (*y.shape, *x.shape)
            row.append(functional.stack(columns, -1).reshape(shape) if columns else y.new_zeros(shape))
        table.append(row)
    return table


def _stacked(parts: list[Tensor], y: Tensor, x: Tensor) -> Tensor:
    shape = (*y.shape, *x.shape)
    return functional.stack(parts).reshape(shape) if parts else x.new_zeros(shape)


def _scalar(outputs: Tensors, many_out: bool, name: str) -> Tensor:
    if many_out:
        raise RuntimeError(
            f"The function given to {name} should return a single Tensor, but it returned a tuple of {len(outputs)}"
        )
    if outputs[0].numel() != 1:
        raise RuntimeError(
            f"The function given to {name} should return a Tensor with a single element, not one of shape {list(outputs[0].shape)}"
        )
    return outputs[0].reshape(())


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function with one output element: the Jacobian of its gradient.

    >>> import tensorlab as tl
    >>> tl.autograd.functional.hessian(lambda x: (x ** 3).sum(), tl.tensor([1., 2.]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    many, _ = _tensors(inputs, "inputs", "hessian")

    def gradient(*given: Tensor) -> Any:
        many_out, outputs = _call(func, given, "hessian")
        loss = _scalar(outputs, many_out, "hessian")
        _need_dependence((loss,), strict)
        found = _gradients((loss,), given, None, create_graph=True)
        return tuple(_filled(found, given, strict, True, "Jacobian"))

    rows = jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return rows if many else rows[0]


def _gradient_at(func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool, strict: bool, name: str) -> Any:
    """What both Hessian products start from: the inputs, the output and its gradient, which differentiates again."""
    many, given = _tensors(inputs, "inputs", name)
    vectors = _vectors(v, given, many, name, "takes a single Tensor with a single element")
    given = _prepared(given, create_graph)
    many_out, outputs = _call(func, given, name)
    loss = _scalar(outputs, many_out, name)
    _need_dependence((loss,), strict)
    found = _gradients((loss,), given, None, create_graph=True)
    return many, given, vectors, outputs[0], _filled(found, given, strict, True, "Jacobian")


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The output of ``func``, which has one element, and the product of the vector ``v`` with its Hessian: a pair."""
    with modes.enable_grad():
        many, given, vectors, output, first = _gradient_at(func, inputs, v, create_graph, strict, "vhp")
    found = _gradients(tuple(first), given, vectors, create_graph=create_graph)
    product = _filled(found, given, strict, create_graph, "Hessian")
    return _plain(False, (output,), create_graph), _plain(many, product, create_graph)


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The output of ``func``, which has one element, and the product of its Hessian with the vector ``v``: a pair.

    The Hessian is symmetric where second derivatives are continuous; there this is ``vhp``.
    """
    with modes.enable_grad():
        many, given, vectors, output, first = _gradient_at(func, inputs, v, create_graph, strict, "hvp")
        weights = tuple([zeros(x) for x in given])
        linear = _gradients(tuple(first), given, weights, create_graph=True)
    turned = tuple([creation.zeros_like(x) if g is None else g for g, x in zip(linear, given, strict=True)])
    found = _gradients(turned, weights, vectors, create_graph=create_graph)
    product = _filled(found, given, strict, create_graph, "Hessian")
    return _plain(False, (output,), create_graph), _plain(many, product, create_graph)
