"""``state_dict`` and ``load_state_dict``: a module's tensors by name, and back.

What is saved is detached but lies in the module's own memory; what is loaded is copied into it, so every reference to a
parameter stays good. Names, order and reports are PyTorch's.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from tensorlab import modes
from tensorlab.engine.hooks import RemovableHandle, register, told
from tensorlab.nn.parameter import Parameter, is_lazy
from tensorlab.tensor import Tensor

EXTRA = "_extra_state"

#: Names that are missing, names that nobody wants, and errors in words.
Report = tuple[list[str], list[str], list[str]]


class IncompatibleKeys(NamedTuple):
    """What ``load_state_dict(strict=False)`` could not match."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class Saved:
    """The part of ``Module`` that gives and takes state."""

    _version = 1

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: dict[int, Any]
    _state_dict_pre_hooks: dict[int, Any]
    _load_state_dict_pre_hooks: dict[int, Any]
    _load_state_dict_post_hooks: dict[int, Any]

    def get_extra_state(self) -> Any:
        """Anything else that belongs into ``state_dict()``; a subclass that has such says it, and
        ``set_extra_state``.
        """
        raise RuntimeError(f"{type(self).__name__} has no extra state; define get_extra_state() and set_extra_state()")

    def set_extra_state(self, state: Any) -> None:
        """Take back what ``get_extra_state`` gave."""
        raise RuntimeError(
            f"{type(self).__name__} takes no extra state; define get_extra_state() and set_extra_state()"
        )

    def _has_extra_state(self) -> bool:
        return type(self).get_extra_state is not Saved.get_extra_state

    # ------------------------------------------------------------------------------------------------------- saving

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """All parameters and persistent buffers by dotted name, detached and in the module's own memory.

        ``destination`` is a dictionary to fill, ``prefix`` is put before every name, ``keep_vars`` gives the tensors
        themselves.
        """
        if args:
            given: Any = [*args, *[destination, prefix, keep_vars][len(args) :]]
            destination, prefix, keep_vars = given
        if destination is None:
            self._tell_unregistered()  # type: ignore[attr-defined]
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for pre_hook in told("state_dict pre", self, self._state_dict_pre_hooks):
            pre_hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in told("state_dict", self, self._state_dict_hooks):
            changed = hook(self, destination, prefix, metadata)
            if changed is not None:
                destination = changed
        return destination

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Put what this module itself holds, without its children, into ``destination``."""
        for name, tensor in [*self._parameters.items(), *self._buffers.items()]:
            if tensor is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = tensor if keep_vars or is_lazy(tensor) else tensor.detach()
        if self._has_extra_state():
            destination[prefix + EXTRA] = self.get_extra_state()

    # ------------------------------------------------------------------------------------------------------ loading

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copy tensors by name into parameters and buffers; returns what was missing and what was unexpected.

        With ``strict`` every name must match: the ``RuntimeError`` lists missing names, unexpected ones and sizes that
        differ, all at once. ``assign=True`` puts the given tensors in place of the module's instead of copying their
        values.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        metadata = getattr(state_dict, "_metadata", None)
        left = OrderedDict(state_dict)
        if metadata is not None:
            left._metadata = metadata  # type: ignore[attr-defined]
        report: Report = ([], [], [])
        self._load(left, "", assign, metadata, report)
        missing, unexpected, errors = report
        if strict:
            if unexpected:
                errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
            if missing:
                errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
        if errors:
            listed = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
        return IncompatibleKeys(missing, unexpected)

    def _load(self, given: dict[str, Any], prefix: str, assign: bool, metadata: Any, report: Report) -> None:
        """Load this module, then its children, each from the part of ``given`` under its name."""
        local = {} if metadata is None else metadata.get(prefix[:-1], {})
        if assign:
            local = {**local, "assign_to_params_buffers": True}
        self._load_from_state_dict(given, prefix, local, True, *report)
        for name, module in self._modules.items():
            if module is not None:
                inside = f"{prefix}{name}."
                part = {key: value for key, value in given.items() if key.startswith(inside)}
                module._load(part, inside, assign, metadata, report)
        incompatible = IncompatibleKeys(report[0], report[1])
        for hook in told("load_state_dict", self, self._load_state_dict_post_hooks):
            if hook(self, incompatible) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new "
                    "values; "
                    "change incompatible_keys in place."
                )

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Take what this module itself holds, without its children, out of ``state_dict``, and append to the three
        reports.
        """
        for hook in told("load_state_dict pre", self, self._load_state_dict_pre_hooks):
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        own = {
            name: tensor
            for name, tensor in [*self._parameters.items(), *self._buffers.items()]
            if tensor is not None and name not in self._non_persistent_buffers_set
        }
        for name, tensor in own.items():
            if prefix + name in state_dict:
                self._take(name, tensor, state_dict[prefix + name], prefix + name, assign, error_msgs)
            elif strict:
                missing_keys.append(prefix + name)
        if self._has_extra_state():
            if prefix + EXTRA in state_dict:
                self.set_extra_state(state_dict[prefix + EXTRA])
            elif strict:
                missing_keys.append(prefix + EXTRA)
        if strict:
            known = own.keys() | ({EXTRA} if self._has_extra_state() else set())
            for key in state_dict:
                if key.startswith(prefix):
                    child = key[len(prefix) :].split(".", 1)
                    if child[0] not in self._modules if len(child) > 1 else child[0] not in known:
                        unexpected_keys.append(key)

    def _take(self, name: str, own: Any, given: Any, key: str, assign: bool, errors: list[str]) -> None:
        if not isinstance(given, Tensor):
            errors.append(
                f'While copying the parameter named "{key}", expected tensorlab.Tensor or Tensor-like object from '
                f"checkpoint but received {type(given)}"
            )
            return
        if is_lazy(own) and is_lazy(given):
            return
        if tuple(given.shape) != tuple(own.shape):
            errors.append(
                f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, "
                f"the shape in current model is {own.shape}."
            )
            return
        try:
            with modes.no_grad():
                if assign:
                    self._assign(name, own, given)
                else:
                    own.copy_(given)
        except Exception as error:
            errors.append(
                f'While copying the parameter named "{key}", whose dimensions in the model are {own.shape} and '
                f"whose dimensions in the checkpoint are {given.shape}, an exception occurred : {error.args}."
            )

    def _assign(self, name: str, own: Any, given: Any) -> None:
        if name in self._parameters:
            if not isinstance(given, Parameter):
                given = Parameter(given, requires_grad=own.requires_grad)
            elif given.requires_grad != own.requires_grad:
                given = Parameter(given.detach(), requires_grad=own.requires_grad)
            self._parameters[name] = given
        else:
            self._buffers[name] = given

    # -------------------------------------------------------------------------------------------------------- hooks

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """As ``register_state_dict_post_hook``, under the name that libraries use."""
        return register(self._state_dict_hooks, hook)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        """As ``register_load_state_dict_pre_hook``, for a hook that is not given the module unless ``with_module``."""
        return register(self._load_state_dict_pre_hooks, hook if with_module else WithoutModule(hook))

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before ``state_dict()`` collects."""
        return register(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after ``state_dict()`` collected; it may change
        it in place.
        """
        return register(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
        error_msgs)`` before loading.
        """
        return register(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after loading; it may change the two lists in place."""
        return register(self._load_state_dict_post_hooks, hook)


@dataclass(frozen=True, slots=True)
class WithoutModule:
    """A hook before loading that does not want to be given the module."""

    hook: Callable[..., Any]

    def __call__(self, module: Any, *args: Any) -> Any:
        return self.hook(*args)


def _quoted(names: list[str]) -> str:
    return ", ".join([f'"{name}"' for name in names])
