"""Data sets, the order in which their samples are taken, and batches of them."""

from tensorlab.data.archives import CIFAR10, CIFAR100, MNIST, FashionMNIST, read_idx
from tensorlab.data.bundled import BreastCancer, Diabetes, Digits, Iris, Wine
from tensorlab.data.collate import default_collate, default_convert
from tensorlab.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from tensorlab.data.distributed import DistributedSampler
from tensorlab.data.loader import DataLoader
from tensorlab.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from tensorlab.data.worker import WorkerInfo, get_worker_info

__all__ = [
    "CIFAR10", "CIFAR100", "MNIST", "BatchSampler", "BreastCancer", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset",
    "Diabetes", "Digits", "DistributedSampler", "FashionMNIST", "Iris", "IterableDataset", "RandomSampler", "Sampler",
    "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "Wine",
    "WorkerInfo", "default_collate", "default_convert", "get_worker_info", "random_split", "read_idx",
]  # fmt: skip
