"""Gradients: ``backward``, ``grad``, custom functions, and the switches that turn recording on and off."""

from __future__ import annotations

from tensorlab.autograd import forward_ad as forward_ad
from tensorlab.autograd import function as function
from tensorlab.autograd import functional as functional
from tensorlab.autograd import graph as graph
from tensorlab.autograd.anomaly import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_detect_anomaly,
)
from tensorlab.autograd.function import Function
from tensorlab.autograd.gradcheck import gradcheck, gradgradcheck
from tensorlab.autograd.variable import Variable
from tensorlab.engine.node import Node
from tensorlab.engine.run import BackwardRun
from tensorlab.modes import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from tensorlab.passes import backward, grad

__all__ = [
    "BackwardRun", "Function", "Node", "Variable", "backward", "detect_anomaly", "enable_grad", "forward_ad",
    "functional", "grad", "gradcheck", "gradgradcheck", "graph", "inference_mode", "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled", "is_grad_enabled", "no_grad", "set_detect_anomaly", "set_grad_enabled",
]  # fmt: skip
