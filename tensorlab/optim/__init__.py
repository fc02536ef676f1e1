"""Optimizers: what turns gradients into steps."""

from tensorlab.optim.adadelta import Adadelta as Adadelta
from tensorlab.optim.adafactor import Adafactor as Adafactor
from tensorlab.optim.adagrad import Adagrad as Adagrad
from tensorlab.optim.adam import Adam as Adam
from tensorlab.optim.adam import AdamW as AdamW
from tensorlab.optim.adamax import Adamax as Adamax
from tensorlab.optim.asgd import ASGD as ASGD
from tensorlab.optim.lbfgs import LBFGS as LBFGS
from tensorlab.optim.muon import Muon as Muon
from tensorlab.optim.nadam import NAdam as NAdam
from tensorlab.optim.optimizer import Optimizer as Optimizer
from tensorlab.optim.radam import RAdam as RAdam
from tensorlab.optim.rmsprop import RMSprop as RMSprop
from tensorlab.optim.rprop import Rprop as Rprop
from tensorlab.optim.sgd import SGD as SGD
from tensorlab.optim.sparse_adam import SparseAdam as SparseAdam
