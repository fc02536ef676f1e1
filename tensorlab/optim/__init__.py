"""Optimizers: what turns gradients into steps."""

from tensorlab.optim.adam import Adam as Adam
from tensorlab.optim.adam import AdamW as AdamW
from tensorlab.optim.optimizer import Optimizer as Optimizer
from tensorlab.optim.sgd import SGD as SGD
