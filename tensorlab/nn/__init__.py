"""Layers, losses and models: ``Module`` and what is made of it."""

from tensorlab.nn import functional as functional
from tensorlab.nn import init as init
from tensorlab.nn import modules as modules
from tensorlab.nn import parallel as parallel
from tensorlab.nn import parameter as parameter
from tensorlab.nn import utils as utils
from tensorlab.nn.modules import *  # noqa: F403
from tensorlab.nn.parallel import DataParallel as DataParallel
from tensorlab.nn.parameter import Buffer as Buffer
from tensorlab.nn.parameter import Parameter as Parameter
from tensorlab.nn.parameter import UninitializedBuffer as UninitializedBuffer
from tensorlab.nn.parameter import UninitializedParameter as UninitializedParameter
