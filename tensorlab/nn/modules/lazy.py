"""Modules that learn the size of their input from the first one they see."""

from __future__ import annotations

from typing import Any

from tensorlab import modes
from tensorlab.nn.parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Makes a module lazy: some parameters are ``UninitializedParameter`` until it is first called.

    A subclass lists it before the module it makes lazy, defines ``initialize_parameters(*args)``, which gives every such
    parameter its shape by ``materialize``, and says in ``cls_to_become`` what class the module has from then on.
    Parameters must be known before an optimizer is made: call the model once first, or load a saved state, whose shapes
    are taken over.
    """

    cls_to_become: Any = None

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        own: Any = self
        self._load_hook = own._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = own.register_forward_pre_hook(_infer_parameters, with_kwargs=True)

    def _lazy_load_hook(self, state_dict: dict[str, Any], prefix: str, *report: Any) -> None:
        """Take the shapes of what is loaded."""
        for name, own in [*self._parameters.items(), *self._buffers.items()]:
            given = state_dict.get(prefix + name)
            if is_lazy(own) and given is not None and not is_lazy(given):
                with modes.no_grad():
                    own.materialize(given.shape)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give every uninitialised parameter its shape, from the arguments of the first call."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer still waits for its shape."""
        return any(is_lazy(x) for x in [*self._parameters.values(), *self._buffers.values()])


def _infer_parameters(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Before the first call: learn the shapes, and be an ordinary module from then on."""
    module.initialize_parameters(*args, **kwargs)
    if module.has_uninitialized_params():
        raise RuntimeError(f"module {module._get_name()} has not been fully initialized")
    module._initialize_hook.remove()
    module._load_hook.remove()
    del module._initialize_hook, module._load_hook
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become
