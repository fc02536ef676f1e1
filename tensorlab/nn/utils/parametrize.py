"""Parameters that are computed from other parameters: by a module, whenever they are read.

A parametrized module gets a class of its own, which has a property for each computed tensor; what is really trained are the
``original`` tensors in ``module.parametrizations``.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tensorlab import modes
from tensorlab.nn.modules.container import ModuleDict, ModuleList
from tensorlab.nn.modules.module import Module
from tensorlab.nn.parameter import Parameter
from tensorlab.tensor import Tensor

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip


class _Cache:
    """Computed tensors, kept while somebody asks for it."""

    users = 0
    tensors: dict[tuple[int, str], Any] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Compute every parametrized tensor only once inside, however often it is read."""
    _Cache.users += 1
    try:
        yield
    finally:
        _Cache.users -= 1
        if not _Cache.users:
            _Cache.tensors.clear()


class ParametrizationList(ModuleList):
    """The modules that compute one tensor, one after another, with the tensors they start from.

    These are ``original``, or ``original0``, ``original1`` and so on where the first module's ``right_inverse`` gives
    several.
    """

    original: Any

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        found = self._inverted(original)
        self.is_tensor = isinstance(found, Tensor)
        self.ntensors = 1 if self.is_tensor else len(found)
        if self.is_tensor:
            for what in ("dtype", "device"):
                before, after = getattr(original, what), getattr(found, what)
                if before != after:
                    raise ValueError(
                        f"When `right_inverse` outputs one tensor, it may not change the {what}.\n"
                        f"original.{what}: {before}\nright_inverse(original).{what}: {after}"
                    )
            _put(original, found)
            _register(self, "original", original)
        else:
            for at, part in enumerate(found):
                if not isinstance(part, Tensor):
                    raise ValueError(
                        "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element "
                        f"{at} of the sequence with type {type(part).__name__}."
                    )
                kept: Any = part.detach()
                trained = isinstance(original, Parameter)
                own = Parameter(kept, original.requires_grad) if trained else kept
                _register(self, f"original{at}", own)
        if not unsafe:
            _same_kind(self(), shape, dtype, "tensor")

    def _inverted(self, value: Any) -> Any:
        """What the modules would compute ``value`` from, as far as they can tell."""
        with modes.no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        value = module.right_inverse(value)
                    except NotImplementedError:
                        pass
        if not isinstance(value, Tensor) and not isinstance(value, Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                f"{type(value).__name__}"
            )
        return value

    def right_inverse(self, value: Any) -> None:
        """Choose the originals so that ``value`` is computed from them; what an assignment to the tensor does.

        Raises ``RuntimeError`` if a module has no ``right_inverse``.
        """
        with modes.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
        if self.is_tensor:
            if not isinstance(value, Tensor):
                raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
            pairs = [("original", value)]
        else:
            if not isinstance(value, Sequence):
                raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}.")
            if len(value) != self.ntensors:
                raise ValueError(
                    f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of length "
                    f"{len(value)}."
                )
            pairs = [(f"original{at}", part) for at, part in enumerate(value)]
        for name, part in pairs:
            own = getattr(self, name)
            if not isinstance(part, Tensor) or part.dtype != own.dtype:
                kind = part.dtype if isinstance(part, Tensor) else type(part).__name__
                raise ValueError(
                    f"The tensor returned by `right_inverse` has dtype {kind} while `{name}` has dtype {own.dtype}"
                )
        for name, part in pairs:
            _put(getattr(self, name), part)

    def forward(self) -> Any:
        """The computed tensor."""
        first, *others = list(self)
        x = first(self.original) if self.is_tensor else first(*self._originals())
        for module in others:
            x = module(x)
        return x

    def _originals(self) -> list[Any]:
        return [getattr(self, f"original{at}") for at in range(self.ntensors)]


def register_parametrization(module: Any, tensor_name: str, parametrization: Any, *, unsafe: bool = False) -> Any:
    """Compute a parameter or buffer of a module by ``parametrization`` from now on. Returns the module.

    The first one is given the tensor that was there, or, if it has a ``right_inverse``, what that gives; a later one is given
    what the earlier ones computed. Unless ``unsafe``, shape and type must stay as they are: ``ValueError`` otherwise.

    >>> import tensorlab as tl
    >>> class Symmetric(tl.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).T
    >>> layer = tl.nn.Linear(3, 3)
    >>> _ = tl.nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.T).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        known = module.parametrizations[tensor_name]
        if not unsafe:
            _check_next(module, tensor_name, parametrization)
        known.append(parametrization)
        known.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        made = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            module.parametrizations = ModuleDict()
        module.parametrizations[tensor_name] = made
        _give_class(module)
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'"
        )
    return module


def _check_next(module: Any, name: str, parametrization: Any) -> None:
    """Whether one more parametrization keeps shape and type, and its inverse does too."""
    now = getattr(module, name)
    after = parametrization(now)
    _same_kind(after, now.shape, now.dtype, f"module.{name}")
    if hasattr(parametrization, "right_inverse"):
        try:
            back = parametrization.right_inverse(after)
        except NotImplementedError:
            return
        if not isinstance(back, Tensor):
            raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
        for what in ("dtype", "shape"):
            if getattr(back, what) != getattr(now, what):
                raise ValueError(
                    f"The tensor returned by parametrization.right_inverse must have the same {what} as module.{name}, "
                    f"unless the `unsafe` flag is enabled.\nmodule.{name}.{what}: {getattr(now, what)}\nreturned {what}: "
                    f"{getattr(back, what)}"
                )


def _same_kind(found: Any, shape: Any, dtype: Any, name: str) -> None:
    if not isinstance(found, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(found).__name__}.")
    for what, before, after in (("dtype", dtype, found.dtype), ("shape", shape, found.shape)):
        if before != after:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` flag is enabled."
                f"\n{name}.{what}: {before}\nparametrized {what}: {after}"
            )


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether a module computes any of its tensors, or this one."""
    known = getattr(module, "parametrizations", None)
    if not isinstance(known, ModuleDict):
        return False
    return len(known) > 0 if tensor_name is None else tensor_name in known


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make a computed tensor a parameter or buffer again: with its computed value, or with the original one.

    The latter is impossible, and a ``ValueError``, where it is computed from several tensors. Returns the module.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    known = module.parametrizations[tensor_name]
    if not known.is_tensor and not leave_parametrized:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of "
            "tensors."
        )
    computed = getattr(module, tensor_name)
    if known.is_tensor:
        original = known.original
        if leave_parametrized:
            _put(original, computed)
    else:
        original = Parameter(computed.detach()) if computed.requires_grad else computed
    del module.parametrizations[tensor_name]
    _give_class(module)
    if not is_parametrized(module):
        del module.parametrizations
    _register(module, tensor_name, original)
    return module


def type_before_parametrizations(module: Any) -> type:
    """The class that a module had before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Any, to_module: Any, tensor_name: str | None = None) -> Any:
    """Parametrize a module as another one is, sharing its originals and the modules that compute. Returns ``to_module``."""
    if is_parametrized(from_module):
        for name in from_module.parametrizations if tensor_name is None else [tensor_name]:
            source = from_module.parametrizations[name]
            if not hasattr(to_module, name):
                setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
            for parametrization in source:
                register_parametrization(to_module, name, parametrization)
            made = to_module.parametrizations[name]
            for key in ["original"] if source.is_tensor else [f"original{at}" for at in range(source.ntensors)]:
                setattr(made, key, getattr(source, key))
    return to_module


# ----------------------------------------------------------------------------------------- the class of such a module


def _give_class(module: Any) -> None:
    """Give a module the class with a property for each tensor that it computes; its old class if there are none."""
    kind = type(module)
    base = kind.__bases__[0] if "_computes" in vars(kind) else kind
    names = tuple(module.parametrizations)
    module.__class__ = _class_for(base, names) if names else base


def _class_for(base: type, names: tuple[str, ...]) -> type:
    own: dict[str, Any] = {name: _computed(name) for name in names}
    own.update(_computes=names, __getstate__=_no_pickle, __deepcopy__=_copy, __module__=base.__module__)
    own["__doc__"] = f"{base.__name__} with computed tensors: {', '.join(names)}."
    return type(f"Parametrized{base.__name__}", (base,), own)


def _computed(name: str) -> property:
    def read(self: Any) -> Any:
        if not _Cache.users:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _Cache.tensors:
            _Cache.tensors[key] = self.parametrizations[name]()
        return _Cache.tensors[key]

    def write(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)
        _Cache.tensors.pop((id(self), name), None)

    return property(read, write, doc=f"{name}, computed from its originals; assigning it chooses these.")


def _no_pickle(self: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(): save that, and parametrize a fresh "
        "module before loading it"
    )


def _copy(self: Any, memo: dict[int, Any]) -> Any:
    twin = object.__new__(type(self))
    memo[id(self)] = twin
    twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return twin


def _register(module: Any, name: str, x: Any) -> None:
    (module.register_parameter if isinstance(x, Parameter) else module.register_buffer)(name, x)


def _put(own: Any, value: Any) -> None:
    """Give a tensor that stays the same object another value, of any shape."""
    if value is not own:
        own.data = value.detach().clone() if value._base is not None else value.detach()
