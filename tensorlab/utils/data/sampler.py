"""PyTorch's place for samplers."""

from tensorlab.data.sampler import BatchSampler as BatchSampler
from tensorlab.data.sampler import RandomSampler as RandomSampler
from tensorlab.data.sampler import Sampler as Sampler
from tensorlab.data.sampler import SequentialSampler as SequentialSampler
from tensorlab.data.sampler import SubsetRandomSampler as SubsetRandomSampler
from tensorlab.data.sampler import WeightedRandomSampler as WeightedRandomSampler
