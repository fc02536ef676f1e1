"""What tensorlab computes with, asked and set by PyTorch's names: ``backends.cudnn``, ``backends.cuda``, ``backends.mps``."""

from tensorlab.backends import cuda as cuda
from tensorlab.backends import cudnn as cudnn
from tensorlab.backends import mps as mps
