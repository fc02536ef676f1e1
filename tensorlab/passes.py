"""The two calls that start a backward pass: ``backward`` fills ``.grad``, ``grad`` returns gradients."""

from __future__ import annotations

import warnings
from typing import Any

from tensorlab import creation, dispatch, functional
from tensorlab.engine.run import BackwardRun
from tensorlab.engine.run import backward as run_backward


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Compute gradients of ``tensors`` and add them to ``.grad`` of the leaves, or only of ``inputs``.

    ``grad_tensors`` weighs each tensor's elements; ``None`` for a tensor of one element. Raises ``RuntimeError`` where there is no
    graph, a shape does not fit, or saved values are gone or were overwritten.
    """
    roots = _tuple(tensors)
    seeds = _tuple(grad_tensors) if grad_tensors is not None else (None,) * len(roots)
    if len(seeds) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(seeds)} gradients")
    wanted = None if inputs is None else _tuple(inputs)
    if wanted is not None and not wanted:
        raise RuntimeError("'inputs' argument to backward() cannot be empty.")
    if create_graph:
        warnings.warn(
            "backward(create_graph=True) leaves a reference cycle: a leaf holds its .grad, whose graph holds the leaf, so neither is "
            "freed on its own. autograd.grad(..., create_graph=True) leaves none; or set .grad = None when it is no longer needed.",
            stacklevel=3,
        )
    run_backward(roots, seeds, retain_graph, create_graph, wanted)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """Gradients of ``outputs`` for ``inputs``, as a tuple; no ``.grad`` is touched.

    An input that the outputs do not depend on raises ``RuntimeError``, unless ``allow_unused`` (it gets ``None``) or
    ``materialize_grads`` (it gets zeros). With ``is_grads_batched`` every one of ``grad_outputs`` has a first dimension more, over
    which there is one pass for each entry; so have the results.

    >>> import tensorlab as tl
    >>> x = tl.tensor(3.0, requires_grad=True)
    >>> tl.autograd.grad(x * x, x)
    (tensor(6.),)
    """
    roots, wanted = _tuple(outputs), _tuple(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    seeds = _tuple(grad_outputs) if grad_outputs is not None else (None,) * len(roots)
    if len(seeds) != len(roots):
        raise RuntimeError(f"grad(): got {len(roots)} outputs and {len(seeds)} grad_outputs")
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    for i, x in enumerate(wanted):
        if not isinstance(x, dispatch.Tensor):
            raise TypeError(f"grad(): inputs must be Tensors, element {i} is {type(x).__name__}")
        if not x.requires_grad:
            raise RuntimeError(
                f"One of the differentiated Tensors does not require grad: input {i} (shape {list(x.shape)}). "
                f"Set requires_grad=True before it is used."
            )
    if is_grads_batched:
        return _batched(roots, wanted, seeds, retain_graph, create_graph, allow_unused, materialize_grads)
    run = BackwardRun(
        roots, seeds, retain_graph=retain_graph, create_graph=create_graph, inputs=wanted, accumulate=False, unseen=True
    )
    run.run()
    found = tuple([run.captured.get(i) for i in range(len(wanted))])
    missing = [i for i, g in enumerate(found) if g is None]
    if missing and materialize_grads:
        return tuple([creation.zeros_like(x) if g is None else g for x, g in zip(wanted, found, strict=True)])
    if missing and not allow_unused:
        raise RuntimeError(
            f"One of the differentiated Tensors appears to not have been used in the graph: input {missing[0]} (shape "
            f"{list(wanted[missing[0]].shape)}). Set allow_unused=True if this is the desired behavior."
        )
    return found


def _batched(
    roots: Any, wanted: Any, seeds: Any, retain: bool | None, create: bool, unused: bool | None, materialize: bool
) -> tuple[Any, ...]:
    """One pass for every entry of the first dimension of the gradients."""
    sizes = {len(seed) for seed in seeds if seed is not None and seed.dim()}
    if len(sizes) != 1 or any(seed is not None and not seed.dim() for seed in seeds):
        raise RuntimeError(
            "grad(): with is_grads_batched=True every one of grad_outputs needs one more dimension than its output, the first, and all "
            f"of the same size, not {[list(seed.shape) for seed in seeds if seed is not None]}"
        )
    count = sizes.pop()
    passes = [
        grad(
            roots,
            wanted,
            [None if seed is None else seed[i] for seed in seeds],
            retain_graph=True if i + 1 < count else retain,
            create_graph=create,
            allow_unused=unused,
            materialize_grads=materialize,
        )
        for i in range(count)
    ]
    if not passes:
        return tuple([creation.zeros((0, *x.shape), dtype=x.dtype, device=x.device) for x in wanted])
    return tuple([None if found[0] is None else functional.stack(found) for found in zip(*passes, strict=True)])
