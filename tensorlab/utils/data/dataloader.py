"""PyTorch's place for ``DataLoader`` and what it makes batches with."""

from tensorlab.data.collate import default_collate as default_collate
from tensorlab.data.collate import default_convert as default_convert
from tensorlab.data.loader import DataLoader as DataLoader
from tensorlab.data.worker import get_worker_info as get_worker_info
