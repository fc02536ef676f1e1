"""``Module``: parameters, buffers and other modules under names, and a ``forward``.

Assigning a ``Parameter``, a ``Module`` or a ``Buffer`` to an attribute registers it under that name; everything that
walks a model (training, moving, saving, printing, drawing) goes by these names.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from tensorlab.engine import marks
from tensorlab.engine.hooks import RemovableHandle, hook_table, register, told
from tensorlab.nn.modules.calling import Called
from tensorlab.nn.modules.calling import register_module_backward_hook as register_module_backward_hook
from tensorlab.nn.modules.calling import register_module_forward_hook as register_module_forward_hook
from tensorlab.nn.modules.calling import register_module_forward_pre_hook as register_module_forward_pre_hook
from tensorlab.nn.modules.calling import register_module_full_backward_hook as register_module_full_backward_hook
from tensorlab.nn.modules.calling import (
    register_module_full_backward_pre_hook as register_module_full_backward_pre_hook,
)
from tensorlab.nn.modules.moving import Moved
from tensorlab.nn.modules.saving import Saved
from tensorlab.nn.modules.text import bracketed, indented
from tensorlab.nn.parameter import Buffer, Parameter
from tensorlab.tensor import Tensor

__all__ = ["Module"]

_HOOK_TABLES = (
    "_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks", "_state_dict_hooks",
    "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
)  # fmt: skip
_HOOK_SETS = ("_forward_pre_hooks_with_kwargs", "_forward_hooks_with_kwargs", "_forward_hooks_always_called")

#: Hooks of every registration, by what is registered.
_registrations: dict[str, dict[int, Any]] = {kind: hook_table() for kind in ("parameter", "buffer", "module")}


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` when any module gets a parameter; what it returns is registered instead."""
    return register(_registrations["parameter"], hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` when any module gets a buffer; what it returns is registered instead."""
    return register(_registrations["buffer"], hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, child)`` when any module gets a child; what it returns is registered instead."""
    return register(_registrations["module"], hook)


def _told_of(what: str, module: Any, name: str, value: Any) -> Any:
    """What is to be registered, after the hooks were told of it."""
    for hook in told(f"{what} registration", module, _registrations[what]):
        changed = hook(module, name, value)
        value = value if changed is None else changed
    return value


#: Attributes that were told to hold modules without registering them, as (class, attribute): each is told once.
_told: set[tuple[type, str]] = set()


class Module(Called, Saved, Moved):
    """The base of all layers and models. Subclasses call ``super().__init__()`` first, and define ``forward``.

    >>> import tensorlab as tl
    >>> class Double(tl.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.layer = tl.nn.Linear(3, 2)
    ...
    ...     def forward(self, x):
    ...         return self.layer(x) * 2
    >>> [name for name, _ in Double().named_parameters()]
    ['layer.weight', 'layer.bias']
    """

    training: bool

    #: Whether ``Module.__init__`` goes on to the next class of several parents, with its arguments.
    call_super_init = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kind = type(self).__name__
        if kwargs and not self.call_super_init:
            raise TypeError(f"{kind}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
        if args and not self.call_super_init:
            raise TypeError(f"{kind}.__init__() takes 1 positional argument but {len(args) + 1} were given")
        own = self.__dict__
        own["training"] = True
        own["_parameters"] = {}
        own["_buffers"] = {}
        own["_modules"] = {}
        own["_non_persistent_buffers_set"] = set()
        for name in _HOOK_TABLES:
            own[name] = hook_table()
        for name in _HOOK_SETS:
            own[name] = set()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # ------------------------------------------------------------------------------------------------- attributes

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for table in ("_parameters", "_buffers", "_modules"):
            if table in own and name in own[table]:
                return own[table][name]
        # A property that failed with AttributeError ends up here too: run it again, so that the name that is really
        # missing is reported.
        found: Any = next((kind.__dict__[name] for kind in type(self).__mro__ if name in kind.__dict__), None)
        if hasattr(type(found), "__get__"):
            return found.__get__(self, type(self))
        kind = type(self).__name__
        if "_parameters" not in own and (name in _HOOK_TABLES or name in ("_parameters", "_buffers", "_modules")):
            raise AttributeError(
                f"'{kind}' object has no attribute '{name}': call super().__init__() first in {kind}.__init__"
            )
        raise AttributeError(f"'{kind}' object has no attribute '{name}'", name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if isinstance(value, Parameter):
            self._need_init(own, "parameters")
            _forget(own, name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif "_parameters" in own and name in own["_parameters"]:
            if value is not None:
                way = "wrap it in Parameter(), or write its values with .copy_() inside no_grad()"
                wanted = "tensorlab.nn.Parameter or None expected"
                raise TypeError(f"cannot assign '{_type_name(value)}' as parameter '{name}' ({wanted}); {way}")
            self.register_parameter(name, None)
        elif isinstance(value, Module):
            self._need_init(own, "module")
            _forget(own, name, "_buffers")
            self.register_module(name, value)
        elif "_modules" in own and name in own["_modules"]:
            if value is not None:
                wanted = "tensorlab.nn.Module or None expected"
                raise TypeError(f"cannot assign '{_type_name(value)}' as child module '{name}' ({wanted})")
            own["_modules"][name] = None
        elif isinstance(value, Buffer):
            self._need_init(own, "buffer")
            _forget(own, name)
            self.register_buffer(name, value, value.persistent)
        elif "_buffers" in own and name in own["_buffers"]:
            if value is not None and not isinstance(value, Tensor):
                wanted = "tensorlab.Tensor or None expected"
                raise TypeError(f"cannot assign '{_type_name(value)}' as buffer '{name}' ({wanted})")
            own["_buffers"][name] = _told_of("buffer", self, name, value)
        else:
            object.__setattr__(self, name, value)
            if name == "forward":
                marks.forget()
            if "_modules" in own and _keeps(value):
                self._tell(name, value, self._known(), stacklevel=3)

    def __delattr__(self, name: str) -> None:
        own = self.__dict__
        for table in ("_parameters", "_buffers", "_modules"):
            if table in own and name in own[table]:
                del own[table][name]
                own["_non_persistent_buffers_set"].discard(name)
                return
        object.__delattr__(self, name)

    def _need_init(self, own: dict[str, Any], what: str) -> None:
        if "_parameters" not in own:
            kind = type(self).__name__
            raise AttributeError(
                f"cannot assign {what} before Module.__init__() call; call super().__init__() first in {kind}.__init__"
            )

    def __dir__(self) -> list[str]:
        named = [*self._parameters, *self._buffers, *self._modules]
        return sorted({*super().__dir__(), *(name for name in named if not name[:1].isdigit())})

    def __getstate__(self) -> dict[str, Any]:
        """What ``pickle`` and ``copy.deepcopy`` take. Raises ``RuntimeError`` naming an attribute that holds a
        computed tensor.
        """
        for name, value in self.__dict__.items():
            found = _computed(value)
            if found is not None:
                raise RuntimeError(
                    f"{type(self).__name__} cannot be copied or pickled: its attribute '{name}' holds a tensor "
                    f"computed by {found.grad_fn.name()}, and only Tensors created explicitly by the user (graph "
                    f"leaves) can be. Keep .detach() of it instead, or set '{name}' to None first."
                )
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in _HOOK_TABLES:
            self.__dict__.setdefault(name, hook_table())
        for name in _HOOK_SETS:
            self.__dict__.setdefault(name, set())

    # ----------------------------------------------------------------------------------------------- registration

    def register_parameter(self, name: str, param: Any) -> None:
        """Add a parameter under a name; ``None`` keeps the name for one that there is none of (no bias, say)."""
        self._need_init(self.__dict__, "parameter")
        self._name_is_free("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            wanted = "tensorlab.nn.Parameter or None required"
            raise TypeError(f"cannot assign '{_type_name(param)}' object to parameter '{name}' ({wanted})")
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. "
                f"To express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = param if param is None else _told_of("parameter", self, name, param)

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Add a tensor that is state but not trained; unless ``persistent`` it stays out of ``state_dict()``."""
        self._need_init(self.__dict__, "buffer")
        self._name_is_free("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            wanted = "tensorlab.Tensor or None required"
            raise TypeError(f"cannot assign '{_type_name(tensor)}' object to buffer '{name}' ({wanted})")
        self._buffers[name] = _told_of("buffer", self, name, tensor)
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name: str, module: Any) -> None:
        """Add a child module under a name."""
        self._need_init(self.__dict__, "module")
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{_type_name(module)} is not a Module subclass")
        self._name_is_free("module", name, self._modules)
        self._modules[name] = _told_of("module", self, name, module)

    register_module = add_module

    def _name_is_free(self, what: str, name: Any, table: dict[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {_type_name(name)}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if name not in table and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")

    # ------------------------------------------------------------------------------------------------ by its path

    def get_submodule(self, target: str) -> Module:
        """The module at a dotted path; this one for ``""``. Raises ``AttributeError`` naming the part that is
        missing.
        """
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module at a dotted path, or with ``strict`` in the place of one that is there.

        Raises ``ValueError`` for an empty path or what is no module, ``AttributeError`` naming what is missing on the way.
        """
        path, _, name = target.rpartition(".")
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path."""
        return self._at(target, "_parameters", "nn.Parameter")

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path."""
        return self._at(target, "_buffers", "a buffer")

    def _at(self, target: str, table: str, what: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        if name not in module.__dict__[table]:
            raise AttributeError(f"`{name}` is not {what}")
        return module.__dict__[table][name]

    # -------------------------------------------------------------------------------------------------- walking

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all inside it by dotted name, parents first; each once unless ``remove_duplicate=False``."""
        seen = set() if memo is None else memo
        waiting: list[tuple[str, Module]] = [(prefix, self)]
        while waiting:
            path, module = waiting.pop()
            if module in seen:
                continue
            if remove_duplicate:
                seen.add(module)
            yield path, module
            children = [(f"{path}.{n}" if path else n, m) for n, m in module._modules.items() if m is not None]
            waiting.extend(reversed(children))

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all inside it; each once unless ``remove_duplicate=False``."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly inside this one, by name; each once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The modules directly inside this one."""
        for _, module in self.named_children():
            yield module

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters by dotted name; one that is used in several places comes once, unless
        ``remove_duplicate=False``.
        """
        self._tell_unregistered()
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters, for an optimizer. ``recurse=False`` leaves out those of the modules inside."""
        self._tell_unregistered()
        return (parameter for _, parameter in self._named("_parameters", "", recurse, True))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All buffers by dotted name."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers."""
        return (buffer for _, buffer in self._named("_buffers", "", recurse, True))

    def _named(self, table: str, prefix: str, recurse: bool, once: bool) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=once) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, tensor in module.__dict__[table].items():
                if tensor is None or id(tensor) in seen:
                    continue
                if once:
                    seen.add(id(tensor))
                yield (f"{path}.{name}" if path else name), tensor

    # ----------------------------------------------------------------------------------------- for all in the tree

    def apply(self, fn: Callable[[Module], Any]) -> Any:
        """Call ``fn`` on every module inside, then on this one. Returns the module."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    # ------------------------------------------------------------------------------------- modules nobody registered

    def _tell_unregistered(self) -> None:
        """Warn, once an attribute, of modules and parameters that are kept where they cannot be found."""
        known: set[int] | None = None
        for module in self.modules():
            for name, value in module.__dict__.items():
                if _keeps(value) and name not in ("_parameters", "_modules"):
                    known = self._known() if known is None else known
                    module._tell(name, value, known, stacklevel=4)

    def _known(self) -> set[int]:
        return {id(m) for m in self.modules()} | {id(p) for _, p in self._named("_parameters", "", True, True)}

    def _tell(self, name: str, value: Any, known: set[int], stacklevel: int) -> None:
        lost = next((x for x in _keeps(value) if id(x) not in known), None)
        key = (type(self), name)
        if lost is None or key in _told:
            return
        _told.add(key)
        better = ("Module" if isinstance(lost, Module) else "Parameter") + ("Dict" if type(value) is dict else "List")
        warnings.warn(
            f"{type(self).__name__}.{name} is a plain {type(value).__name__} that holds a {type(lost).__name__}, "
            "which is not registered: parameters(), state_dict() and to() will not see it. Use "
            f"tensorlab.nn.{better} instead.",
            stacklevel=stacklevel,
        )

    # ------------------------------------------------------------------------------------------------- as text

    def extra_repr(self) -> str:
        """What stands between the brackets of the module's ``repr`` before its children."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        first = extra.split("\n") if extra else []
        children = [f"({name}): {indented(repr(module))}" for name, module in self._modules.items()]
        return bracketed(self._get_name(), first, children)


def _forget(own: dict[str, Any], name: str, *tables: str) -> None:
    """Take a name away from wherever else it was in use."""
    own.pop(name, None)
    for table in tables:
        own[table].pop(name, None)
    own["_non_persistent_buffers_set"].discard(name)


def _keeps(value: Any) -> list[Any]:
    """The modules and parameters among the first elements of a plain list, tuple or dictionary."""
    if type(value) not in (list, tuple, dict) or not value:
        return []
    return [
        x for x in islice(value.values() if type(value) is dict else value, 64) if isinstance(x, (Module, Parameter))
    ]


def _type_name(value: Any) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _computed(value: Any) -> Tensor | None:
    """A tensor with history in a value or one level inside it."""
    if isinstance(value, Tensor):
        return value if value.grad_fn is not None else None
    if type(value) is dict:
        value = list(value.values())
    if type(value) in (list, tuple):
        return next((x for x in value if isinstance(x, Tensor) and x.grad_fn is not None), None)
    return None
