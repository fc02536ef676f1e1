"""PyTorch's place for DLPack: ``from_dlpack``, ``to_dlpack`` and the numbers of devices."""

from tensorlab.interchange import DLDeviceType as DLDeviceType
from tensorlab.interchange import from_dlpack as from_dlpack
from tensorlab.interchange import to_dlpack as to_dlpack
