"""Where a tensor lives, and where tensors are made that are not told where."""

from __future__ import annotations

import threading
from typing import Any


class device:
    """A kind of device and, for GPUs, which one: ``device("cpu")``, ``device("cuda", 0)``, ``device("cuda:1")``.

    Inside ``with device(...):`` whatever makes new tensors makes them there, unless it is told ``device=``.

    >>> device("cuda:1").type, device("cuda:1").index, str(device("cuda", 1))
    ('cuda', 1, 'cuda:1')
    """

    __slots__ = ("type", "index")

    type: str
    index: int | None

    def __init__(self, type: str | device | int, index: int | None = None) -> None:
        if isinstance(type, device):
            if index is not None:
                raise TypeError(
                    "device(): argument 'type' (position 1) must be str, not device, where an index is given"
                )
            name, number = type.type, type.index
        elif isinstance(type, str):
            name, number = _read(type, index)
        elif isinstance(type, int) and not isinstance(type, bool):
            if index is not None:
                raise TypeError("device(): argument 'type' (position 1) must be str, not int, where an index is given")
            name, number = "cuda", type
        else:
            raise TypeError(f"a device is named by text such as 'cpu' or 'cuda:0', not by {type!r:.40}")
        if number is not None and number < 0:
            raise RuntimeError(f"Device index must not be negative, but is {number}")
        object.__setattr__(self, "type", name)
        object.__setattr__(self, "index", number)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"attribute '{name}' of 'device' objects is not writable; make another device")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"device(type='{self.type}'" + (")" if self.index is None else f", index={self.index})")

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (str(self),)

    def __enter__(self) -> device:
        ambient.before = (*ambient.before, ambient.device)
        ambient.device = self
        return self

    def __exit__(self, *error: Any) -> None:
        ambient.device, ambient.before = ambient.before[-1], ambient.before[:-1]


def _read(text: str, index: int | None) -> tuple[str, int | None]:
    """The kind and the number that a text such as ``"cuda:1"`` and an index name together."""
    if not text:
        raise RuntimeError("Device string must not be empty; write 'cpu', 'cuda' or 'cuda:0'")
    name, colon, number = text.partition(":")
    if name not in ("cpu", "cuda"):
        raise RuntimeError(f"Expected one of cpu, cuda device type at start of device string: {text}")
    if not colon:
        if index is not None and (isinstance(index, bool) or not isinstance(index, int)):
            raise TypeError(f"device(): argument 'index' (position 2) must be int, not {type(index).__name__}")
        return name, index
    if not (number.isascii() and number.isdigit()) or number != str(int(number)):
        raise RuntimeError(f"Invalid device string: '{text}'; write 'cuda', or 'cuda:0' with one number")
    if index is not None:
        raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {text}")
    return name, int(number)


class _Ambient(threading.local):
    """Where new tensors of this thread go that are not told where: ``None`` is host memory."""

    device: Any = None
    before: tuple[Any, ...] = ()  # what it was outside of each ``with``, innermost last


ambient = _Ambient()
cpu = device("cpu")
