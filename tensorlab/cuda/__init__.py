"""GPUs: which there are, which one is meant, their streams, events and memory, and waiting for them.

Nothing here fails where CuPy or a GPU is missing, except for asking a GPU to do something: that error says what to install.

>>> import tensorlab as tl
>>> tl.cuda.device_count() > 0 or not tl.cuda.is_available()
True
"""

from __future__ import annotations

from tensorlab.cuda import amp as amp
from tensorlab.cuda import memory as memory
from tensorlab.cuda import nvtx as nvtx
from tensorlab.cuda import random as random
from tensorlab.cuda import streams as streams
from tensorlab.cuda.devices import *  # noqa: F403
from tensorlab.cuda.devices import __all__ as _devices
from tensorlab.cuda.memory import *  # noqa: F403
from tensorlab.cuda.memory import __all__ as _memory
from tensorlab.cuda.random import *  # noqa: F403
from tensorlab.cuda.random import __all__ as _random
from tensorlab.cuda.streams import *  # noqa: F403
from tensorlab.cuda.streams import __all__ as _streams
from tensorlab.cuda.typed import *  # noqa: F403
from tensorlab.cuda.typed import __all__ as _typed
from tensorlab.errors import OutOfMemoryError as OutOfMemoryError

__all__ = [*_devices, *_memory, *_random, *_streams, *_typed, "OutOfMemoryError", "amp", "nvtx"]
