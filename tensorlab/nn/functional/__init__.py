"""Layers and losses as functions, with PyTorch's names and arguments. ``import tensorlab.nn.functional as F``."""

from tensorlab.functional.autocasting import COMPOSED, composed
from tensorlab.nn.functional import (
    activations,
    attention,
    convolution,
    ctc,
    dropouts,
    folding,
    layers,
    losses,
    margins,
    normalization,
    padding,
    pooling,
    regression,
    resampling,
    tables,
)
from tensorlab.nn.functional.activations import *  # noqa: F403
from tensorlab.nn.functional.attention import *  # noqa: F403
from tensorlab.nn.functional.convolution import *  # noqa: F403
from tensorlab.nn.functional.ctc import *  # noqa: F403
from tensorlab.nn.functional.dropouts import *  # noqa: F403
from tensorlab.nn.functional.folding import *  # noqa: F403
from tensorlab.nn.functional.layers import *  # noqa: F403
from tensorlab.nn.functional.losses import *  # noqa: F403
from tensorlab.nn.functional.margins import *  # noqa: F403
from tensorlab.nn.functional.normalization import *  # noqa: F403
from tensorlab.nn.functional.padding import *  # noqa: F403
from tensorlab.nn.functional.pooling import *  # noqa: F403
from tensorlab.nn.functional.regression import *  # noqa: F403
from tensorlab.nn.functional.resampling import *  # noqa: F403
from tensorlab.nn.functional.tables import *  # noqa: F403

__all__: list[str] = []
__all__ += activations.__all__
__all__ += attention.__all__
__all__ += convolution.__all__
__all__ += ctc.__all__
__all__ += dropouts.__all__
__all__ += folding.__all__
__all__ += layers.__all__
__all__ += losses.__all__
__all__ += margins.__all__
__all__ += normalization.__all__
__all__ += padding.__all__
__all__ += pooling.__all__
__all__ += regression.__all__
__all__ += resampling.__all__
__all__ += tables.__all__

# Functions made of several operations, for which autocast casts as a whole.
for _name in set(COMPOSED) & globals().keys():
    globals()[_name] = composed(globals()[_name])
