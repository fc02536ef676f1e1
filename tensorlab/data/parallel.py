"""Going through a data set with worker processes: which worker makes which batch, and in which order batches come out.

Batch ``k`` is asked of the workers in turn, so who makes it, and with which random numbers, does not depend on who is faster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tensorlab.data import pool
from tensorlab.data.worker import Setup

if TYPE_CHECKING:
    from tensorlab.data.loader import DataLoader


class Parallel:
    """One pass over the batches of a loader."""

    def __init__(self, loader: DataLoader, orders: Iterator[Any], seed: int) -> None:
        count = loader.num_workers
        self._timeout = loader.timeout
        self._in_order = loader.in_order
        self._stays = loader.persistent_workers
        self._ahead = (loader.prefetch_factor or 1) * count
        self._pool: pool.Pool | None = None
        self._turn = 0
        setup = Setup(
            loader.dataset,
            loader.collate_fn,
            loader.batch_sampler is not None,
            loader.drop_last,
            loader.worker_init_fn,
            count,
        )
        how = loader.multiprocessing_context or pool.context(None)
        self._pool = pool.Pool(setup, how, seed, loader.prefetch_factor or 1)
        self._start(orders)

    def _start(self, orders: Iterator[Any]) -> None:
        assert self._pool is not None
        self._orders: Iterator[Any] | None = orders
        self._asked = self._given = 0  # how many batches were asked of workers, how many given to the caller
        self._maker: dict[int, int] = {}  # batch -> its worker, until it is given out
        self._here: dict[int, tuple[str, Any]] = {}  # batches that arrived before their turn
        self._active = list(range(len(self._pool.workers)))  # workers that have more, in turn
        self._fill()

    def again(self, orders: Iterator[Any], seed: int) -> bool:
        """Start over with the same workers; ``False`` if they are gone. What they still send of the last pass is ignored."""
        if self._pool is None:
            return False
        self._turn += 1
        for number in range(len(self._pool.workers)):
            self._pool.ask(number, "again", self._turn, 0, seed)
        self._start(orders)
        return True

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._pool is None:
            raise StopIteration
        try:
            kind, value = self._next()
            found = value()
        except StopIteration:
            if not self._stays:
                self._close()
            raise
        except BaseException:  # a dead worker, or an interrupt: nobody knows how far the workers are
            self._close()
            raise
        if kind == "error":
            del self  # or whoever keeps the traceback, as notebooks do, would keep the workers
            raise found.error() from None
        return found

    def _close(self) -> None:
        if self._pool is not None:
            self._pool.close()
        self._pool = None

    # ------------------------------------------------------------------------------------------------- one after another

    def _fill(self) -> None:
        """Ask for as many batches ahead as there may be."""
        assert self._pool is not None
        while self._orders is not None and self._active and len(self._maker) < self._ahead:
            try:
                indices = next(self._orders)
            except StopIteration:
                self._orders = None
                return
            worker = self._whose()
            self._maker[self._asked] = worker
            self._pool.ask(worker, "fetch", self._turn, self._asked, indices)
            self._asked += 1

    def _whose(self) -> int:
        """The worker that makes the next batch: each in turn, or the least busy one where order does not matter."""
        if not self._in_order:
            busy = list(self._maker.values())
            return min(self._active, key=busy.count)
        worker = self._active.pop(0)
        self._active.append(worker)
        return worker

    def _next(self) -> tuple[str, Any]:
        """The next batch that is to be given out: its kind and the function that unpacks it."""
        assert self._pool is not None
        while True:
            task = self._due()
            if task is not None:
                found = self._here.pop(task)
                del self._maker[task]
                self._fill()
                return found
            if not self._maker:
                raise StopIteration
            worker, (turn, task, kind), value = self._pool.hear(self._timeout)
            if turn != self._turn:
                continue
            if kind == "end":
                self._ended(worker)
            elif task in self._maker:
                self._here[task] = kind, value

    def _due(self) -> int | None:
        """The batch to give out now, if it is here. What was asked of a worker that had no more is passed over."""
        if not self._in_order:
            return next(iter(self._here), None)
        first = min(self._maker, default=None)
        return first if first in self._here else None

    def _ended(self, worker: int) -> None:
        """A worker has gone through its data set: nothing more comes from it."""
        if worker in self._active:
            self._active.remove(worker)
        for task in [task for task, maker in self._maker.items() if maker == worker and task not in self._here]:
            del self._maker[task]
        self._fill()
