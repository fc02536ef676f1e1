"""What a module does to all its tensors: other types, other devices, training or not, gradients forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tensorlab import conversion, creation, modes
from tensorlab.dtypes import dtype as dtype_class
from tensorlab.tensor import Tensor


class Moved:
    """The part of ``Module`` that changes every tensor in it."""

    training: bool

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]

    def children(self) -> Iterator[Any]:
        """The modules directly inside this one."""
        raise NotImplementedError(type(self).__name__)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """This module and all inside it."""
        raise NotImplementedError(type(self).__name__)

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        """All parameters."""
        raise NotImplementedError(type(self).__name__)

    def train(self, mode: bool = True) -> Any:
        """Put this module and all inside it into training mode, or out of it. Returns the module."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Any:
        """Put this module and all inside it into evaluation mode: dropout off, and the like. Returns the module."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Start or stop training all parameters. Returns the module."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to 0 with ``set_to_none=False``."""
        for parameter in self.parameters():
            gradient = parameter._grad
            if gradient is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                if gradient.grad_fn is not None:
                    gradient = parameter.grad = gradient.detach()
                gradient.requires_grad_(False).zero_()

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        """Put ``fn`` of every parameter, gradient and buffer in its place. Parameters stay the same objects."""
        if recurse:
            for child in self.children():
                child._apply(fn)
        with modes.no_grad():
            for parameter in self._parameters.values():
                if parameter is None:
                    continue
                gradient = parameter._grad
                changed = fn(parameter)
                if changed is not parameter:
                    parameter.data = changed
                if gradient is not None:
                    parameter.grad = fn(gradient)
            for name, buffer in self._buffers.items():
                if buffer is not None:
                    self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Move to a device, or convert floating-point parameters and buffers to a type: ``to(dtype)``, ``to(device)``,
        ``to(tensor)``.

        In place; returns the module. Raises ``TypeError`` for a type that is not floating point or complex.
        """
        target, where, _, memory_format = conversion.asked(args, dict(kwargs))
        if target is not None and not (target.is_floating_point or target.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={target}"
            )

        def moved(x: Tensor) -> Tensor:
            wanted = target if x.is_floating_point() or x.is_complex() else None
            kept = kwargs.get("memory_format") is None or x.dim() not in (4, 5)
            return x.to(device=where, dtype=wanted, memory_format=None if kept else memory_format)

        return self._apply(moved)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Any:
        """Move to a device without the values, which are uninitialised there. In place; returns the module."""
        return self._apply(lambda x: creation.empty_like(x.detach(), device=device), recurse)

    def _to_float(self, name: str) -> Any:
        return self._apply(lambda x: getattr(x, name)() if x.is_floating_point() else x)

    def float(self) -> Any:
        """All floating-point parameters and buffers as float32, in place. Returns the module."""
        return self._to_float("float")

    def double(self) -> Any:
        """All floating-point parameters and buffers as float64, in place. Returns the module."""
        return self._to_float("double")

    def half(self) -> Any:
        """All floating-point parameters and buffers as float16, in place. Returns the module."""
        return self._to_float("half")

    def bfloat16(self) -> Any:
        """All floating-point parameters and buffers as bfloat16, in place. Returns the module."""
        return self._to_float("bfloat16")

    def type(self, dst_type: dtype_class) -> Any:
        """All parameters and buffers as ``dst_type``, in place. Returns the module."""
        return self._apply(lambda x: x.to(dst_type))

    def cpu(self) -> Any:
        """All parameters and buffers in host memory. Returns the module."""
        return self._apply(lambda x: x.to("cpu"))

    def cuda(self, device: Any = None) -> Any:
        """All parameters and buffers on a GPU. Returns the module."""
        return self._apply(lambda x: x.to("cuda" if device is None else device))
