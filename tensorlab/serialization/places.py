"""Where loaded tensors go: ``map_location``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab import backend
from tensorlab.device import device as device_class


class Stored:
    """What a ``map_location`` function is given for the memory of a tensor: it may send it to a device, or return it as it is."""

    def __init__(self, where: str = "cpu") -> None:
        self.device = device_class(where)

    def cpu(self) -> Stored:
        """In host memory."""
        return Stored("cpu")

    def cuda(self, device: Any = None) -> Stored:
        """On a GPU."""
        return Stored(str(device_class("cuda" if device is None else device)))

    def to(self, device: Any) -> Stored:
        """On a device."""
        return Stored(str(device_class(device)))


class Places:
    """Answers where memory goes that was saved on some device.

    ``map_location`` is a device for all, a dictionary from saved devices to new ones, or a function ``(storage, location)``.
    Left out, everything goes where it was; ``RuntimeError`` explains where there is no such device.
    """

    def __init__(self, map_location: Any) -> None:
        if map_location is not None and not callable(map_location) and not isinstance(map_location, dict):
            map_location = device_class(map_location)
        self.given = map_location

    def of(self, saved: str) -> device_class:
        """The device for memory that was saved on ``saved``."""
        given = self.given
        if isinstance(given, device_class):
            return given
        answer: Any = None
        if isinstance(given, dict):
            answer = given.get(saved)
        elif callable(given):
            answer = given(Stored(), saved)
        if isinstance(answer, Stored):
            return answer.device
        if answer is not None:
            return device_class(answer)
        where = device_class(saved)
        if where.type != "cpu" and (reason := backend.why_no_gpu()) is not None:
            raise RuntimeError(
                f"Attempting to deserialize tensors that were saved on '{saved}', but {reason}. Use map_location='cpu' to load them "
                "into host memory."
            )
        return where

    def put(self, root: np.ndarray, saved: str) -> Any:
        """Memory as an array on the device where it goes."""
        where = self.of(saved)
        if where.type == "cpu":
            return root
        return backend.gpu(where).from_host(root, where.index)
