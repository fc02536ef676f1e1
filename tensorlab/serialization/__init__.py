"""Saving and loading without running code: our own files, PyTorch's, and safetensors."""

from tensorlab.serialization import safetensors as safetensors
from tensorlab.serialization.saving import load as load
from tensorlab.serialization.saving import save as save
