"""What CuPy's allocator gave out on each GPU: now, at most, and since the program began.

Every block that is handed out carries a note of its size, which takes itself off the account when the block goes back to the pool.
Counters move by plain additions with no call in between, which threads and collections cannot split.
"""

from __future__ import annotations

from typing import Any

import cupy as xp


class Account:
    """Blocks and bytes of one GPU."""

    __slots__ = (
        "bytes",
        "peak",
        "given",
        "freed",
        "blocks",
        "blocks_peak",
        "blocks_given",
        "blocks_freed",
        "reserved_peak",
    )

    def __init__(self) -> None:
        self.bytes = self.peak = self.given = self.freed = 0
        self.blocks = self.blocks_peak = self.blocks_given = self.blocks_freed = self.reserved_peak = 0

    def add(self, size: int) -> None:
        """Count a block that was handed out."""
        now, many = self.bytes + size, self.blocks + 1
        self.bytes, self.blocks = now, many
        self.given += size
        self.blocks_given += 1
        if now > self.peak:
            self.peak = now
        if many > self.blocks_peak:
            self.blocks_peak = many

    def take(self, size: int) -> None:
        """Count a block that came back."""
        self.bytes -= size
        self.freed += size
        self.blocks -= 1
        self.blocks_freed += 1

    def start_again(self, reserved: int) -> None:
        """Let the peaks begin from what is there now."""
        self.peak, self.blocks_peak, self.reserved_peak = self.bytes, self.blocks, reserved


class _Note:
    """Hangs on a block; goes when the block goes."""

    __slots__ = ("size", "account", "__weakref__")

    def __init__(self, size: int, account: Account) -> None:
        self.size, self.account = size, account
        account.add(size)

    def __del__(self) -> None:
        self.account.take(self.size)


_accounts: dict[int, Account] = {}
_inner: Any = None


def account(index: int) -> Account:
    """The account of a GPU."""
    return _accounts.setdefault(index, Account())


def _counted(size: int) -> Any:
    """A block from the allocator that was there before, with a note on it where it can carry one."""
    pointer = _inner(size)
    index = int(pointer.device_id)
    own = account(index)
    try:
        pointer.mem.note = _Note(int(pointer.mem.size), own)
    except AttributeError:
        return pointer
    reserved = xp.get_default_memory_pool().total_bytes()
    if reserved > own.reserved_peak:
        own.reserved_peak = reserved
    return pointer


def install() -> None:
    """Count from now on. Whatever allocator CuPy uses goes on giving the memory."""
    global _inner
    if _inner is None:
        _inner = xp.cuda.get_allocator()
        xp.cuda.set_allocator(_counted)
