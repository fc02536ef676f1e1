"""Backward hooks of modules: identity nodes around a module tell when the gradients of its outputs and inputs are
known.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from tensorlab import taps
from tensorlab.autograd import Function
from tensorlab.engine import sites
from tensorlab.engine.hooks import Told, checked, name_of, registration
from tensorlab.modes import state
from tensorlab.tensor import Tensor
from tensorlab.viewing import View, layout_of

#: The number of a hook, and the hook.
Hook = tuple[int, Callable[..., Any]]


class BackwardHookFunction(Function):
    """The identity. Its node is where gradients are looked at."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Any:
        ctx.mark_non_differentiable(*[x for x in tensors if not x.requires_grad])
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads


class BackwardHooks:
    """The backward hooks of one call of a module: ``after`` get (module, grad_input, grad_output), ``before``
    (module, grad_output).
    """

    def __init__(self, module: Any, after: Sequence[Hook], before: Sequence[Hook]) -> None:
        self.module = module
        self.after = after
        self.before = before
        self.inputs: list[int] | None = None  # positions of the inputs that carry gradients
        self.input_count = 0
        self.grad_outputs: tuple[Any, ...] | None = None

    def mark_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Put the identity before the module, and call the hooks when gradients come out there."""
        self.input_count = len(args)
        marked, node, self.inputs = _mark(args)
        if node is not None:
            node.ctx.hooked = self._words
            node.register_hook(self._inputs_known)
        return marked

    def mark_outputs(self, result: Any) -> Any:
        """Put the identity behind the module, and note the gradients that go in there."""
        many = isinstance(result, tuple)
        marked, node, positions = _mark(result if many else (result,))
        if node is None:
            return result
        node.ctx.hooked = self._words
        count = len(marked)

        def outputs_known(_: Any, grads: tuple[Any, ...]) -> Any:
            return self._outputs_known(grads, positions or [], count)

        node.register_hook(outputs_known)
        return marked if many else marked[0]

    def _told(self, kind: str, hooks: Sequence[Hook]) -> list[Any]:
        return [Told(kind, self.module, number, hook) if taps.hooks else hook for number, hook in hooks]

    def _words(self) -> str:
        """Which module has which hooks, for an error about a write that they stand in the way of."""
        found = [*self.before, *self.after]
        module = self.module
        known = [
            registration(table, n) for n, _ in found for table in (module._backward_hooks, module._backward_pre_hooks)
        ]
        where = [f", registered at {sites.describe(made.site)}" for made in known if made is not None and made.site]
        return f"{type(module).__name__} has the backward hook {name_of(found[0][1])}{where[0] if where else ''}"

    def _outputs_known(self, grads: tuple[Any, ...], positions: list[int], count: int) -> tuple[Any, ...]:
        outputs = _spread(grads, positions, count)
        for hook in self._told("backward pre", self.before):
            found = hook(self.module, outputs)
            if found is not None:
                outputs = self._returned(hook, found, outputs, "Backward pre hook", "grad_output")
        self.grad_outputs = outputs
        if self.inputs is None:
            self._without_inputs(outputs)
        return tuple([outputs[at] for at in positions])

    def name(self) -> str:
        """What the hooks belong to, for errors."""
        return type(self.module).__name__

    def _returned(self, hook: Any, found: Any, before: tuple[Any, ...], who: str, what: str) -> tuple[Any, ...]:
        """What a hook gives in place of gradients, once it fits them."""
        found = found if isinstance(found, tuple) else (found,)
        if len(found) != len(before):
            raise RuntimeError(
                f"{who} returned an invalid number of {what}, got {len(found)}, but expected {len(before)}: hook "
                f"{name_of(hook)!r} of {self.name()} gives one for each, or None to change nothing"
            )
        pairs = zip(found, before, strict=True)
        return tuple([g if g is None or old is None else checked(self, hook, g, old) for g, old in pairs])

    def _without_inputs(self, outputs: tuple[Any, ...]) -> None:
        """No input carries a gradient: the hooks are called at the output, and have nothing to change."""
        self.grad_outputs = None
        if not self.after:
            return
        warnings.warn(
            f"Full backward hook of {type(self.module).__name__} is firing when gradients are computed with respect "
            "to module outputs since no inputs require gradients: grad_input holds None for all of them.",
            stacklevel=2,
        )
        for hook in self._told("backward", self.after):
            found = hook(self.module, (None,) * self.input_count, outputs)
            if found is not None and any(g is not None for g in (found if isinstance(found, tuple) else (found,))):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None "
                    "for all gradients."
                )

    def _inputs_known(self, grads: tuple[Any, ...], _: Any) -> Any:
        if self.grad_outputs is None:  # the gradient reached the input by a way that does not pass the module's output
            return None
        positions = self.inputs or []
        inputs = _spread(grads, positions, self.input_count)
        for hook in self._told("backward", self.after):
            found = hook(self.module, inputs, self.grad_outputs)
            if found is not None:
                inputs = self._returned(hook, found, inputs, "Backward hook", "grad_input")
        self.grad_outputs = None
        return tuple([inputs[at] for at in positions])


def _mark(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any, list[int] | None]:
    """The values with tensors passed through one identity node; the node; the positions of those tensors."""
    positions = [at for at, value in enumerate(values) if isinstance(value, Tensor)]
    if not state.grad or not any(values[at].requires_grad for at in positions):
        return values, None, None
    through = BackwardHookFunction.apply(*[values[at] for at in positions])
    out = list(values)
    node = None
    for at, tensor in zip(positions, through, strict=True):
        out[at] = tensor
        _stand_behind(values[at], tensor)
        node = tensor.grad_fn if node is None else node
    return tuple(out), node, positions


def _stand_behind(given: Any, marked: Any) -> None:
    """Let the marked tensor be the one that owns the memory, and the given one its view: then it may be written to, and the given
    one finds the write in its history, with the mark on the way. A leaf, or a view of something else, cannot step back like that.
    """
    if given._view is not None or given._edge is None or marked._edge is None or given._st.inference:
        return
    marked._view = None
    given._view = View(marked, "", given._st.version, layout_of(given))


def _spread(grads: Sequence[Any], positions: Sequence[int], count: int) -> tuple[Any, ...]:
    out: list[Any] = [None] * count
    for at, gradient in zip(positions, grads, strict=True):
        out[at] = gradient
    return tuple(out)
