"""PyTorch's place for data sets."""

from tensorlab.data.dataset import ChainDataset as ChainDataset
from tensorlab.data.dataset import ConcatDataset as ConcatDataset
from tensorlab.data.dataset import Dataset as Dataset
from tensorlab.data.dataset import IterableDataset as IterableDataset
from tensorlab.data.dataset import StackDataset as StackDataset
from tensorlab.data.dataset import Subset as Subset
from tensorlab.data.dataset import TensorDataset as TensorDataset
from tensorlab.data.dataset import random_split as random_split
