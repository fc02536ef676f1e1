"""The modules, one file a kind."""

from tensorlab.nn.modules import (
    activation,
    adaptive,
    attention,
    batchnorm,
    container,
    conv,
    distance,
    dropout,
    flatten,
    folding,
    lazy,
    lazy_layers,
    linear,
    loss,
    module,
    more_losses,
    normalization,
    padding,
    pooling,
    rnn,
    sparse,
    transformer,
    upsampling,
)
from tensorlab.nn.modules.activation import *  # noqa: F403
from tensorlab.nn.modules.adaptive import *  # noqa: F403
from tensorlab.nn.modules.attention import *  # noqa: F403
from tensorlab.nn.modules.batchnorm import *  # noqa: F403
from tensorlab.nn.modules.container import *  # noqa: F403
from tensorlab.nn.modules.conv import *  # noqa: F403
from tensorlab.nn.modules.distance import *  # noqa: F403
from tensorlab.nn.modules.dropout import *  # noqa: F403
from tensorlab.nn.modules.flatten import *  # noqa: F403
from tensorlab.nn.modules.folding import *  # noqa: F403
from tensorlab.nn.modules.lazy import *  # noqa: F403
from tensorlab.nn.modules.lazy_layers import *  # noqa: F403
from tensorlab.nn.modules.linear import *  # noqa: F403
from tensorlab.nn.modules.loss import *  # noqa: F403
from tensorlab.nn.modules.module import *  # noqa: F403
from tensorlab.nn.modules.more_losses import *  # noqa: F403
from tensorlab.nn.modules.normalization import *  # noqa: F403
from tensorlab.nn.modules.padding import *  # noqa: F403
from tensorlab.nn.modules.pooling import *  # noqa: F403
from tensorlab.nn.modules.rnn import *  # noqa: F403
from tensorlab.nn.modules.sparse import *  # noqa: F403
from tensorlab.nn.modules.transformer import *  # noqa: F403
from tensorlab.nn.modules.upsampling import *  # noqa: F403

__all__: list[str] = []
__all__ += activation.__all__
__all__ += adaptive.__all__
__all__ += attention.__all__
__all__ += batchnorm.__all__
__all__ += container.__all__
__all__ += conv.__all__
__all__ += distance.__all__
__all__ += dropout.__all__
__all__ += flatten.__all__
__all__ += folding.__all__
__all__ += lazy.__all__
__all__ += lazy_layers.__all__
__all__ += linear.__all__
__all__ += loss.__all__
__all__ += module.__all__
__all__ += more_losses.__all__
__all__ += normalization.__all__
__all__ += padding.__all__
__all__ += pooling.__all__
__all__ += rnn.__all__
__all__ += sparse.__all__
__all__ += transformer.__all__
__all__ += upsampling.__all__
