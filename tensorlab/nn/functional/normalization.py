"""Normalisation as functions."""

from tensorlab.functional import batch_norm as batch_norm
from tensorlab.functional import group_norm as group_norm
from tensorlab.functional import instance_norm as instance_norm
from tensorlab.functional import layer_norm as layer_norm
from tensorlab.functional import local_response_norm as local_response_norm
from tensorlab.functional import normalize as normalize
from tensorlab.functional import rms_norm as rms_norm

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "normalize", "rms_norm"]
