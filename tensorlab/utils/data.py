"""``tensorlab.data`` under PyTorch's name: ``from tensorlab.utils.data import DataLoader``."""

from tensorlab.data import BatchSampler as BatchSampler
from tensorlab.data import ConcatDataset as ConcatDataset
from tensorlab.data import DataLoader as DataLoader
from tensorlab.data import Dataset as Dataset
from tensorlab.data import IterableDataset as IterableDataset
from tensorlab.data import RandomSampler as RandomSampler
from tensorlab.data import Sampler as Sampler
from tensorlab.data import SequentialSampler as SequentialSampler
from tensorlab.data import Subset as Subset
from tensorlab.data import SubsetRandomSampler as SubsetRandomSampler
from tensorlab.data import TensorDataset as TensorDataset
from tensorlab.data import WeightedRandomSampler as WeightedRandomSampler
from tensorlab.data import default_collate as default_collate
from tensorlab.data import default_convert as default_convert
from tensorlab.data import get_worker_info as get_worker_info
from tensorlab.data import random_split as random_split
