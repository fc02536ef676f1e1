"""PyTorch's place for ``DistributedSampler``."""

from tensorlab.data.distributed import DistributedSampler as DistributedSampler
