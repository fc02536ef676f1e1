"""Data sets, the order in which their samples are taken, and batches of them."""

from tensorlab.data.collate import default_collate as default_collate
from tensorlab.data.collate import default_convert as default_convert
from tensorlab.data.dataset import ConcatDataset as ConcatDataset
from tensorlab.data.dataset import Dataset as Dataset
from tensorlab.data.dataset import IterableDataset as IterableDataset
from tensorlab.data.dataset import Subset as Subset
from tensorlab.data.dataset import TensorDataset as TensorDataset
from tensorlab.data.dataset import random_split as random_split
from tensorlab.data.loader import DataLoader as DataLoader
from tensorlab.data.loader import get_worker_info as get_worker_info
from tensorlab.data.sampler import BatchSampler as BatchSampler
from tensorlab.data.sampler import RandomSampler as RandomSampler
from tensorlab.data.sampler import Sampler as Sampler
from tensorlab.data.sampler import SequentialSampler as SequentialSampler
from tensorlab.data.sampler import SubsetRandomSampler as SubsetRandomSampler
from tensorlab.data.sampler import WeightedRandomSampler as WeightedRandomSampler
