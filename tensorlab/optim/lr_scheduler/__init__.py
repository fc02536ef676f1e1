"""Schedules of learning rates. Call ``scheduler.step()`` after ``optimizer.step()``."""

from tensorlab.optim.lr_scheduler.cycles import CyclicLR as CyclicLR
from tensorlab.optim.lr_scheduler.cycles import OneCycleLR as OneCycleLR
from tensorlab.optim.lr_scheduler.factors import ConstantLR as ConstantLR
from tensorlab.optim.lr_scheduler.factors import CosineAnnealingLR as CosineAnnealingLR
from tensorlab.optim.lr_scheduler.factors import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from tensorlab.optim.lr_scheduler.factors import ExponentialLR as ExponentialLR
from tensorlab.optim.lr_scheduler.factors import LambdaLR as LambdaLR
from tensorlab.optim.lr_scheduler.factors import LinearLR as LinearLR
from tensorlab.optim.lr_scheduler.factors import MultiplicativeLR as MultiplicativeLR
from tensorlab.optim.lr_scheduler.factors import MultiStepLR as MultiStepLR
from tensorlab.optim.lr_scheduler.factors import PolynomialLR as PolynomialLR
from tensorlab.optim.lr_scheduler.factors import StepLR as StepLR
from tensorlab.optim.lr_scheduler.plateau import ReduceLROnPlateau as ReduceLROnPlateau
from tensorlab.optim.lr_scheduler.schedule import LRScheduler as LRScheduler
from tensorlab.optim.lr_scheduler.sequences import ChainedScheduler as ChainedScheduler
from tensorlab.optim.lr_scheduler.sequences import SequentialLR as SequentialLR

_LRScheduler = LRScheduler
