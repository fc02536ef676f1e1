"""How a module is called: straight into ``forward``, or by way of its hooks and its name in the graph.

The order is PyTorch's: forward pre-hooks (those of all modules, then the module's own), the inputs marked for backward
hooks, ``forward``, forward hooks (all, then own), the output marked for backward hooks.
"""

from __future__ import annotations

import sys
import warnings
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from tensorlab import modes, taps
from tensorlab.engine.hooks import RemovableHandle, Told, hook_table, register
from tensorlab.engine.marks import OUTSIDE, Mark, Path
from tensorlab.engine.sites import is_ours
from tensorlab.modes import state
from tensorlab.nn.modules.backward_hooks import BackwardHooks

FORWARD_PRE, FORWARD, BACKWARD_PRE, BACKWARD = "forward_pre", "forward", "backward_pre", "backward"


@dataclass(frozen=True, slots=True)
class _Everywhere:
    """A hook of every module there is."""

    kind: str
    hook: Callable[..., Any]
    with_kwargs: bool = False
    always: bool = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.hook(*args, **kwargs)


#: Hooks of every module there is.
everywhere: dict[int, Any] = hook_table()

_watched = False  # places are recorded, so nodes are to know the module that made them


def _listen(unusual: bool, sites: bool) -> None:
    global _watched
    _watched = sites


modes.listen(_listen)


class Called:
    """The part of ``Module`` that calls ``forward`` and keeps hooks."""

    _modules: dict[str, Any]
    _forward_pre_hooks: dict[int, Any]
    _forward_hooks: dict[int, Any]
    _backward_pre_hooks: dict[int, Any]
    _backward_hooks: dict[int, Any]
    _forward_pre_hooks_with_kwargs: set[int]
    _forward_hooks_with_kwargs: set[int]
    _forward_hooks_always_called: set[int]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; every subclass says it."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        hooked = (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or everywhere
        )
        if not _watched:
            return self._call_hooked(args, kwargs) if hooked else self.forward(*args, **kwargs)
        here = state.__dict__  # this thread's: one look for all that follows
        outer = here.get("mark") or OUTSIDE
        mark = outer.inside.get(id(self))
        if mark is None or mark.code is not None:
            caller = sys._getframe(1)
            if mark is None or mark.at != caller.f_lasti or mark.code is not caller.f_code:
                mark = _mark(outer, mark, self, caller)
        here["mark"] = mark.without_place() if hooked else mark
        try:
            return self._call_hooked(args, kwargs) if hooked else self.forward(*args, **kwargs)
        finally:
            here["mark"] = outer

    def _call_hooked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        backward = self._backward_set()
        ran: set[int] = set()
        result = None
        try:
            for _, hook, with_kwargs, _ in self._hooks(FORWARD_PRE):
                args, kwargs = self._pre(hook, with_kwargs, args, kwargs)
            if backward is not None:
                args = backward.mark_inputs(args)
            result = self.forward(*args, **kwargs)
            for number, hook, with_kwargs, _ in self._hooks(FORWARD):
                ran.add(number)
                changed = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
                if changed is not None:
                    result = changed
        except Exception:
            self._call_always(ran, args, kwargs, result)
            raise
        return result if backward is None else backward.mark_outputs(result)

    def _pre(
        self, hook: Callable[..., Any], with_kwargs: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments after one forward pre-hook."""
        if not with_kwargs:
            found = hook(self, args)
            if found is None:
                return args, kwargs
            return (found if isinstance(found, tuple) else (found,)), kwargs
        found = hook(self, args, kwargs)
        if found is None:
            return args, kwargs
        if not (isinstance(found, tuple) and len(found) == 2):
            raise RuntimeError(
                f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {found}."
            )
        return found

    def _call_always(self, ran: set[int], args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """After an error: run the hooks that always run and have not, and only warn of their own errors."""
        for number, hook, with_kwargs, always in self._hooks(FORWARD):
            if not always or number in ran:
                continue
            try:
                hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
            except Exception as error:
                warnings.warn(
                    "forward hook with ``always_call=True`` raised an exception that was silenced as another error was "
                    f"raised in forward: {error}",
                    stacklevel=4,
                )

    def _hooks(self, kind: str) -> Iterator[tuple[int, Callable[..., Any], bool, bool]]:
        """The hooks of one kind as (number, function, with_kwargs, always_call), those of all modules first."""
        for number, every in list(everywhere.items()):
            if every.kind == kind:
                yield number, self._told(kind, number, every.hook), every.with_kwargs, every.always
        own = getattr(self, f"_{kind}_hooks")
        if not own:
            return
        kwargs_wanted = getattr(self, f"_{kind}_hooks_with_kwargs", ())
        always_called = self._forward_hooks_always_called if kind == FORWARD else ()
        for number, hook in list(own.items()):
            yield number, self._told(kind, number, hook), number in kwargs_wanted, number in always_called

    def _told(self, kind: str, number: int, hook: Callable[..., Any]) -> Callable[..., Any]:
        if not taps.hooks or kind in (BACKWARD, BACKWARD_PRE):  # those are called later, and told of then
            return hook
        return Told(kind.replace("_", " "), self, number, hook)

    def _backward_set(self) -> BackwardHooks | None:
        if not (self._backward_hooks or self._backward_pre_hooks or everywhere):
            return None
        after = [(number, hook) for number, hook, _, _ in self._hooks(BACKWARD)]
        before = [(number, hook) for number, hook, _, _ in self._hooks(BACKWARD_PRE)]
        return BackwardHooks(self, after, before) if after or before else None

    # ----------------------------------------------------------------------------------------------- registration

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before ``forward``; what it returns replaces the arguments.

        With ``with_kwargs`` it is ``hook(module, args, kwargs)`` and may return ``(args, kwargs)``. ``prepend`` puts
        it first.
        """
        handle = register(self._forward_pre_hooks, hook, prepend)
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs.add(handle.id)
        return handle

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after ``forward``; what it returns replaces the output.

        With ``with_kwargs`` it is ``hook(module, args, kwargs, output)``. ``prepend`` puts it first, ``always_call``
        runs it also when ``forward`` or another hook raised.
        """
        handle = register(self._forward_hooks, hook, prepend)
        if with_kwargs:
            self._forward_hooks_with_kwargs.add(handle.id)
        if always_call:
            self._forward_hooks_always_called.add(handle.id)
        return handle

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` once the gradients of the module's inputs are known.

        Both are tuples, with ``None`` for arguments that are no tensors or want no gradient. A returned tuple replaces
        ``grad_input`` for what comes after. Its inputs and outputs may be changed in place as without hooks, except inputs that
        are views of other tensors.
        """
        return register(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` when the gradients of the module's outputs are known; a returned tuple
        replaces them.
        """
        return register(self._backward_pre_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The name of ``register_full_backward_hook`` in old code, and the same as that."""
        return self.register_full_backward_hook(hook)


# ------------------------------------------------------------------------------------------------ hooks of all modules


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, args)`` before the ``forward`` of every module."""
    return register(everywhere, _Everywhere(FORWARD_PRE, hook))


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after the ``forward`` of every module."""
    return register(everywhere, _Everywhere(FORWARD, hook, with_kwargs, always_call))


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` when the gradients of any module's inputs are known."""
    return register(everywhere, _Everywhere(BACKWARD, hook))


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """The name of ``register_module_full_backward_hook`` in old code, and the same as that."""
    return register_module_full_backward_hook(hook)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` when the gradients of any module's outputs are known."""
    return register(everywhere, _Everywhere(BACKWARD_PRE, hook))


# ----------------------------------------------------------------------------------- a module's name in the graph


def _mark(outer: Mark, known: Mark | None, module: Any, caller: FrameType) -> Mark:
    """The mark of a call that is new, or that came from elsewhere the last time."""
    number, inside = id(module), outer.inside
    code, at, site = None, -1, None
    if type(module).__module__.startswith("tensorlab.") and "forward" not in module.__dict__:
        if outer.made is not None:
            site = outer.made[0]
        else:
            code, at = caller.f_code, caller.f_lasti
            site = None if is_ours(code) else (code, at)
    same = known
    while same is not None:
        if same.code is code and same.at == at:
            return same
        same = same.other
    if known is None:
        path = _entered(outer.path, module)
        path.module = weakref.ref(module, lambda gone: inside.pop(number, None) and None)
    else:
        path = known.path  # type: ignore[assignment]
    found = inside[number] = Mark(path, site, code, at, known)
    return found


def _entered(outer: Path | None, module: Any) -> Path:
    """``outer``, with the names added that lead from the module that runs to the one it calls.

    A child is called by its attribute's name; one in a list by the list's name, then its number. The outermost module
    has an empty name, and one that its caller does not hold is called by its type.
    """
    kind = type(module).__name__
    parent = outer.module() if outer is not None else None
    if parent is None or parent is module:
        return Path("", kind, outer)
    for name, child in parent._modules.items():
        if child is module:
            return Path(name, kind, outer)
    for path, child in parent.named_modules():
        if child is module:
            *around, name = path.split(".")
            for step in around:
                parent = parent._modules[step]
                outer = Path(step, type(parent).__name__, outer, weakref.ref(parent))
            return Path(name, kind, outer)
    return Path(kind, kind, outer)
