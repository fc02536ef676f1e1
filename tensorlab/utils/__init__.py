"""PyTorch's place for ``data``."""

from tensorlab.utils import data as data
