"""Live instruments for Jupyter: ``GraphView`` shows the graph that made a tensor, ``Stepper`` walks its backward pass,
``LayoutView`` shows how a tensor lies in memory, ``FlowView`` follows gradients in training, ``HooksView`` lists hooks and what they do,
``MemoryView`` follows memory.

Each instrument is a folder: Python on one side, TypeScript on the other, one word for both.
"""

from tensorlab_widgets.compare import CompareView
from tensorlab_widgets.flow import FlowView
from tensorlab_widgets.graph import GraphView
from tensorlab_widgets.hooks import HooksView
from tensorlab_widgets.layout import LayoutView
from tensorlab_widgets.lines import LinesView
from tensorlab_widgets.memory import MemoryView
from tensorlab_widgets.player import record
from tensorlab_widgets.stepper import Stepper

__all__ = [
    "CompareView",
    "FlowView",
    "GraphView",
    "HooksView",
    "LayoutView",
    "LinesView",
    "MemoryView",
    "Stepper",
    "record",
]
