"""Where a tensor lives."""

from __future__ import annotations

from typing import Any


class device:
    """A kind of device and, for GPUs, which one: ``device("cpu")``, ``device("cuda", 0)``, ``device("cuda:1")``."""

    __slots__ = ("type", "index")

    type: str
    index: int | None

    def __init__(self, type: str | device | int = "cpu", index: int | None = None) -> None:
        if isinstance(type, device):
            index = type.index if index is None else index
            text = type.type
        elif isinstance(type, int):
            text, index = "cuda", type
        elif isinstance(type, str):
            text = type
        else:
            raise TypeError(f"a device is named by text such as 'cpu' or 'cuda:0', not by {type!r:.40}")
        name, colon, number = text.partition(":")
        if name not in ("cpu", "cuda"):
            raise RuntimeError(f"Expected one of cpu, cuda device type at start of device string: {type}")
        if colon:
            if index is not None or not number.isdigit():
                raise RuntimeError(f"Invalid device string: '{type}'; write 'cuda', or 'cuda:0' with one number")
            index = int(number)
        self.type = name
        self.index = index

    def __repr__(self) -> str:
        return f"device(type='{self.type}'" + (")" if self.index is None else f", index={self.index})")

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))


cpu = device("cpu")
