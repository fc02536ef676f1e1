"""``tensorlab.data`` under PyTorch's name: ``from tensorlab.utils.data import DataLoader``."""

from tensorlab.data import *  # noqa: F403
from tensorlab.data import __all__ as __all__
from tensorlab.utils.data import dataloader as dataloader
from tensorlab.utils.data import dataset as dataset
from tensorlab.utils.data import distributed as distributed
from tensorlab.utils.data import sampler as sampler
