"""Convolutions as functions."""

from tensorlab.functional import conv1d as conv1d
from tensorlab.functional import conv2d as conv2d
from tensorlab.functional import conv3d as conv3d
from tensorlab.functional import conv_tbc as conv_tbc
from tensorlab.functional import conv_transpose1d as conv_transpose1d
from tensorlab.functional import conv_transpose2d as conv_transpose2d
from tensorlab.functional import conv_transpose3d as conv_transpose3d

__all__ = [
    "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
]  # fmt: skip
