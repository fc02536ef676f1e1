"""Layers and losses as functions, with PyTorch's names and arguments. ``import tensorlab.nn.functional as F``."""

from tensorlab.nn.functional import activations, layers, losses
from tensorlab.nn.functional.activations import *  # noqa: F403
from tensorlab.nn.functional.layers import *  # noqa: F403
from tensorlab.nn.functional.losses import *  # noqa: F403

__all__: list[str] = []
__all__ += activations.__all__
__all__ += layers.__all__
__all__ += losses.__all__
