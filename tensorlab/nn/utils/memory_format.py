"""Weights of convolutions in another order in memory."""

from __future__ import annotations

from typing import Any

from tensorlab.nn.modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Lay out the weights of all two-dimensional convolutions inside a module in a memory format. Returns the module."""
    return _converted(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Lay out the weights of all three-dimensional convolutions inside a module in a memory format. Returns the module."""
    return _converted(module, (Conv3d, ConvTranspose3d), memory_format)


def _converted(module: Any, kinds: Any, memory_format: Any) -> Any:
    for inside in module.modules():
        if isinstance(inside, kinds):
            inside.weight.data = inside.weight.detach().contiguous(memory_format=memory_format)
    return module
