"""One model on several devices: here on the one there is, as PyTorch does on a CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorlab.nn.modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """A model under the name ``module``, called as it stands.

    PyTorch splits a batch over GPUs and joins the results; on a CPU, and on one GPU, it calls the model, and so does this. The names
    in ``state_dict`` begin with ``module.``, as in files that PyTorch wrote. Raises ``RuntimeError`` for more than one device.

    >>> import tensorlab as tl
    >>> list(tl.nn.DataParallel(tl.nn.Linear(2, 1)).state_dict())
    ['module.weight', 'module.bias']
    """

    def __init__(
        self, module: Module, device_ids: Sequence[Any] | None = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        _one("DataParallel", device_ids)
        self.module = module
        self.device_ids = list(device_ids or [])
        self.output_device = output_device
        self.dim = dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """Call ``module`` with ``inputs``, a tensor or several in a tuple, as :class:`DataParallel` does."""
    _one("data_parallel", device_ids)
    given = inputs if isinstance(inputs, tuple) else () if inputs is None else (inputs,)
    return module(*given, **(module_kwargs or {}))


def _one(op: str, device_ids: Sequence[Any] | None) -> None:
    if device_ids is not None and len(device_ids) > 1:
        raise RuntimeError(f"{op}: tensorlab runs a model on one device, got device_ids={list(device_ids)}")
