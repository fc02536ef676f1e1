"""Live instruments for Jupyter: ``GraphView`` shows the graph that made a tensor, ``Stepper`` walks its backward pass.

Each instrument is a folder: Python on one side, TypeScript on the other, one word for both.
"""

from tensorlab_widgets.graph import GraphView
from tensorlab_widgets.stepper import Stepper

__all__ = ["GraphView", "Stepper"]
