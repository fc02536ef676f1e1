"""Parts of a data set for processes that train together."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

from tensorlab import random
from tensorlab.data.sampler import Sampler
from tensorlab.random import Generator


class DistributedSampler(Sampler):
    """The indices for process ``rank`` of ``num_replicas``: equally many for each, all with the same shuffle.

    Call ``set_epoch(n)`` before each epoch, or every epoch has the same order. Where samples cannot be shared out evenly, some come
    twice, or with ``drop_last`` the last ones are left out. Raises ``ValueError`` for a rank that there is not.
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            raise RuntimeError(
                "DistributedSampler needs num_replicas=, how many processes there are, and rank=, which of them this is"
            )
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.shuffle = shuffle
        self.seed = seed
        self.drop_last = drop_last
        self.epoch = 0
        size = len(dataset)
        if drop_last and size < num_replicas:
            warnings.warn(f"drop_last leaves nothing of {size} samples for {num_replicas} processes", stacklevel=2)
        self.num_samples = size // num_replicas if drop_last else math.ceil(size / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        size = len(self.dataset)
        if self.shuffle:
            generator = Generator().manual_seed(self.seed + self.epoch)
            indices = random.randperm(size, generator=generator).tolist()
        else:
            indices = list(range(size))
        missing = self.total_size - len(indices)
        if missing > 0 and indices:
            indices += (indices * math.ceil(missing / len(indices)))[:missing]
        return iter(indices[: self.total_size][self.rank :: self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Take another order for this epoch; the same in all processes."""
        self.epoch = epoch
