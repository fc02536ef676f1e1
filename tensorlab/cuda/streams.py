"""Queues of GPU work, and marks in them: ``Stream`` and ``Event``, over CuPy's.

Work given while a stream is current goes to that stream. What one stream makes and another reads has to be waited for
(``wait_stream``), and memory that another stream goes on reading has to be kept (``Tensor.record_stream``).
"""

from __future__ import annotations

from typing import Any

from tensorlab import backend
from tensorlab.cuda.devices import which
from tensorlab.device import device as device_class

__all__ = [
    "Event", "ExternalStream", "Stream", "StreamContext", "current_stream", "default_stream", "get_stream_from_external",
    "set_stream", "stream",
]  # fmt: skip


class Stream:
    """A queue of work on one GPU, which runs in order, beside other queues.

    ``priority`` below 0 goes before others. ``with cuda.stream(s):``, or ``with s:``, makes it the current one. Raises
    ``RuntimeError`` where there is no GPU.
    """

    _cupys: Any
    device: device_class

    def __init__(self, device: Any = None, priority: int = 0, **options: Any) -> None:
        where = which(device)
        cuda = backend.gpu(where)
        with cuda.use(where.index) as current:
            self.device = device_class("cuda", current.id)
            self._cupys = cuda.xp.cuda.Stream(non_blocking=True, priority=priority)
        self.priority = min(priority, 0)
        self._within: list[Any] = []

    @classmethod
    def _over(cls, cupys: Any, index: int) -> Any:
        """A stream that CuPy has already."""
        self = object.__new__(cls)
        self.device, self._cupys, self.priority, self._within = device_class("cuda", index), cupys, 0, []
        return self

    @property
    def cuda_stream(self) -> int:
        """The address by which CUDA knows the stream; 0 is the default one."""
        return int(self._cupys.ptr)

    stream_id = cuda_stream

    @property
    def device_index(self) -> int:
        """The number of its GPU."""
        return self.device.index or 0

    def query(self) -> bool:
        """Whether all that was given to it is done."""
        return bool(self._cupys.done)

    def synchronize(self) -> None:
        """Wait until all that was given to it is done."""
        self._cupys.synchronize()

    def record_event(self, event: Event | None = None) -> Event:
        """Put a mark behind what was given so far, a new one unless told which, and return it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let work that is given from now on begin only after a mark. Returns at once."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Let work that is given from now on begin only after what another stream was given so far. Returns at once."""
        self.wait_event(stream.record_event())

    def __enter__(self) -> Stream:
        self._within.append(StreamContext(self))
        self._within[-1].__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._within.pop().__exit__(*error)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.cuda_stream, self.device) == (other.cuda_stream, other.device)

    def __hash__(self) -> int:
        return hash((self.cuda_stream, self.device))

    def __repr__(self) -> str:
        return f"<tensorlab.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class ExternalStream(Stream):
    """A stream that another library made, by the address by which CUDA knows it. It must outlive this object."""

    def __init__(self, stream_ptr: int, device: Any = None, **options: Any) -> None:
        where = which(device)
        cuda = backend.gpu(where)
        index = cuda.current() if where.index is None else where.index
        self.device, self.priority, self._within = device_class("cuda", index), 0, []
        self._cupys = cuda.xp.cuda.ExternalStream(stream_ptr, index)


def get_stream_from_external(data_ptr: int, device: Any = None) -> Stream:
    """A stream that another library made, by the address by which CUDA knows it."""
    return ExternalStream(data_ptr, device)


class Event:
    """A mark in a stream: to ask whether it was reached, to wait for, and with ``enable_timing`` to measure the time between two.

    ``blocking`` lets the thread that waits sleep instead of spin. Raises ``RuntimeError`` where there is no GPU.
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        backend.gpu()
        self._options = {"block": blocking, "disable_timing": not enable_timing, "interprocess": interprocess}
        self._timed = enable_timing
        self._cupys: Any = None  # made on the GPU where it is first recorded
        self._device: device_class | None = None

    @property
    def device(self) -> device_class | None:
        """The GPU that it was first recorded on; ``None`` before that."""
        return self._device

    @property
    def cuda_event(self) -> int:
        """The address by which CUDA knows the event; 0 before it was recorded."""
        return 0 if self._cupys is None else int(self._cupys.ptr)

    def record(self, stream: Stream | None = None) -> None:
        """Put the mark behind what a stream, the current one unless told otherwise, was given so far."""
        stream = current_stream() if stream is None else stream
        if self._device is not None and self._device != stream.device:
            raise RuntimeError(
                f"Event device {self._device} does not match recording stream's device {stream.device}; use another event"
            )
        cuda = backend.gpu(stream.device)
        with cuda.use(stream.device.index):
            if self._cupys is None:
                self._cupys, self._device = cuda.xp.cuda.Event(**self._options), stream.device
            self._cupys.record(stream._cupys)

    def wait(self, stream: Stream | None = None) -> None:
        """Let work that a stream, the current one unless told otherwise, is given from now on begin only after the mark."""
        if self._cupys is not None:
            stream = current_stream() if stream is None else stream
            with backend.gpu(stream.device).use(stream.device.index):
                stream._cupys.wait_event(self._cupys)

    def query(self) -> bool:
        """Whether the mark was reached; true before it was recorded."""
        return self._cupys is None or bool(self._cupys.done)

    def synchronize(self) -> None:
        """Wait until the mark is reached."""
        if self._cupys is not None:
            self._cupys.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to a later one.

        Raises ``ValueError`` where one was made without ``enable_timing`` or never recorded, ``RuntimeError`` where one was not reached.
        """
        if not (self._timed and end_event._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._cupys is None or end_event._cupys is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        if not (self.query() and end_event.query()):
            raise RuntimeError(
                "Both events must be completed before calculating elapsed time. Call end_event.synchronize() first."
            )
        return float(backend.gpu().xp.cuda.get_elapsed_time(self._cupys, end_event._cupys))

    def __repr__(self) -> str:
        return (
            f"<tensorlab.cuda.Event {self.cuda_event:#x}>"
            if self._cupys is not None
            else "<tensorlab.cuda.Event uninitialized>"
        )


def current_stream(device: Any = None) -> Stream:
    """The stream that work on a GPU, the current one unless told otherwise, is given to."""
    where = which(device)
    cuda = backend.gpu(where)
    index = cuda.current() if where.index is None else where.index
    return Stream._over(cuda.xp.cuda.get_current_stream(index), index)


def default_stream(device: Any = None) -> Stream:
    """The stream that work on a GPU is given to where no other was chosen."""
    where = which(device)
    cuda = backend.gpu(where)
    return Stream._over(cuda.xp.cuda.Stream.null, cuda.current() if where.index is None else where.index)


def set_stream(stream: Stream | None) -> None:
    """Make a stream, and its GPU, the current one of this thread; ``None`` changes nothing. ``with stream(...)`` is safer."""
    if stream is not None:
        backend.gpu(stream.device).set_current(stream.device.index)
        stream._cupys.use()


class StreamContext:
    """Inside, a stream and its GPU are the current ones. ``None`` changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self._before: list[tuple[int, Stream]] = []

    def __enter__(self) -> None:
        if self.stream is not None:
            self._before.append((backend.gpu().current(), current_stream(self.stream.device)))
            set_stream(self.stream)

    def __exit__(self, *error: Any) -> None:
        if self.stream is not None:
            index, stream = self._before.pop()
            set_stream(stream)
            backend.gpu().set_current(index)


def stream(stream: Stream | None) -> StreamContext:
    """A context in which a stream and its GPU are the current ones: ``with cuda.stream(s):``. ``None`` changes nothing."""
    return StreamContext(stream)
