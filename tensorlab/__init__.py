"""tensorlab: tensors and autograd you can see.

A dynamic-graph tensor library with PyTorch's names and semantics, and instruments that draw what it does in a notebook.
``import tensorlab as torch`` and existing snippets run. This file is the table of contents.
"""

from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi

from tensorlab import autograd as autograd
from tensorlab import methods as methods
from tensorlab.autograd import enable_grad as enable_grad
from tensorlab.autograd import inference_mode as inference_mode
from tensorlab.autograd import is_grad_enabled as is_grad_enabled
from tensorlab.autograd import no_grad as no_grad
from tensorlab.autograd import set_grad_enabled as set_grad_enabled
from tensorlab.creation import as_tensor as as_tensor
from tensorlab.creation import from_numpy as from_numpy
from tensorlab.creation import frombuffer as frombuffer
from tensorlab.creation import tensor as tensor
from tensorlab.defaults import get_default_device as get_default_device
from tensorlab.defaults import get_device_module as get_device_module
from tensorlab.defaults import set_default_device as set_default_device
from tensorlab.device import device as device
from tensorlab.dtypes import bfloat16 as bfloat16
from tensorlab.dtypes import bool_ as bool  # noqa: F401  (re-exported under the name people type)
from tensorlab.dtypes import can_cast as can_cast
from tensorlab.dtypes import complex64 as complex64
from tensorlab.dtypes import complex128 as complex128
from tensorlab.dtypes import dtype as dtype
from tensorlab.dtypes import finfo as finfo
from tensorlab.dtypes import float16 as float16
from tensorlab.dtypes import float32 as float32
from tensorlab.dtypes import float64 as float64
from tensorlab.dtypes import get_default_dtype as get_default_dtype
from tensorlab.dtypes import iinfo as iinfo
from tensorlab.dtypes import int8 as int8
from tensorlab.dtypes import int16 as int16
from tensorlab.dtypes import int32 as int32
from tensorlab.dtypes import int64 as int64
from tensorlab.dtypes import promote_types as promote_types
from tensorlab.dtypes import set_default_dtype as set_default_dtype
from tensorlab.dtypes import uint8 as uint8
from tensorlab.errors import OutOfMemoryError as OutOfMemoryError
from tensorlab.factories import arange as arange
from tensorlab.factories import bernoulli as bernoulli
from tensorlab.factories import binomial as binomial
from tensorlab.factories import empty as empty
from tensorlab.factories import empty_like as empty_like
from tensorlab.factories import empty_permuted as empty_permuted
from tensorlab.factories import empty_strided as empty_strided
from tensorlab.factories import eye as eye
from tensorlab.factories import full as full
from tensorlab.factories import full_like as full_like
from tensorlab.factories import linspace as linspace
from tensorlab.factories import logspace as logspace
from tensorlab.factories import multinomial as multinomial
from tensorlab.factories import normal as normal
from tensorlab.factories import ones as ones
from tensorlab.factories import ones_like as ones_like
from tensorlab.factories import poisson as poisson
from tensorlab.factories import rand as rand
from tensorlab.factories import rand_like as rand_like
from tensorlab.factories import randint as randint
from tensorlab.factories import randint_like as randint_like
from tensorlab.factories import randn as randn
from tensorlab.factories import randn_like as randn_like
from tensorlab.factories import randperm as randperm
from tensorlab.factories import range as range
from tensorlab.factories import scalar_tensor as scalar_tensor
from tensorlab.factories import tril_indices as tril_indices
from tensorlab.factories import triu_indices as triu_indices
from tensorlab.factories import zeros as zeros
from tensorlab.factories import zeros_like as zeros_like
from tensorlab.functional import *  # noqa: F403
from tensorlab.interchange import asarray as asarray
from tensorlab.interchange import from_dlpack as from_dlpack
from tensorlab.interchange import to_dlpack as to_dlpack
from tensorlab.layout import channels_last as channels_last
from tensorlab.layout import channels_last_3d as channels_last_3d
from tensorlab.layout import contiguous_format as contiguous_format
from tensorlab.layout import memory_format as memory_format
from tensorlab.layout import preserve_format as preserve_format
from tensorlab.memory import TypedStorage as TypedStorage
from tensorlab.memory import UntypedStorage as UntypedStorage
from tensorlab.memory import is_storage as is_storage
from tensorlab.modes import is_inference_mode_enabled as is_inference_mode_enabled
from tensorlab.printing import get_printoptions as get_printoptions
from tensorlab.printing import printoptions as printoptions
from tensorlab.printing import set_printoptions as set_printoptions
from tensorlab.random import Generator as Generator
from tensorlab.random import default_generator as default_generator
from tensorlab.random import get_rng_state as get_rng_state
from tensorlab.random import initial_seed as initial_seed
from tensorlab.random import manual_seed as manual_seed
from tensorlab.random import seed as seed
from tensorlab.random import set_rng_state as set_rng_state
from tensorlab.settings import are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled
from tensorlab.settings import get_float32_matmul_precision as get_float32_matmul_precision
from tensorlab.settings import get_num_threads as get_num_threads
from tensorlab.settings import (
    is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled,
)
from tensorlab.settings import set_float32_matmul_precision as set_float32_matmul_precision
from tensorlab.settings import set_num_threads as set_num_threads
from tensorlab.settings import use_deterministic_algorithms as use_deterministic_algorithms
from tensorlab.size import Size as Size
from tensorlab.spellings import *  # noqa: F403
from tensorlab.tensor import Tensor as Tensor
from tensorlab.traits import strided as strided
from tensorlab.traits import typename as typename
from tensorlab.typed import *  # noqa: F403
from tensorlab.version import __version__ as __version__
from tensorlab.windows import bartlett_window as bartlett_window
from tensorlab.windows import blackman_window as blackman_window
from tensorlab.windows import hamming_window as hamming_window
from tensorlab.windows import hann_window as hann_window
from tensorlab.windows import kaiser_window as kaiser_window

float, double, half = float32, float64, float16
int, long, short = int32, int64, int16
cfloat, cdouble = complex64, complex128
newaxis = None

#: Packages that load when first used, so that ``import tensorlab`` loads NumPy alone.
_LATER = """
    amp
    array_api
    backends
    cpu
    cuda
    data
    display
    distributions
    fft
    func
    nn
    observe
    optim
    serialization
    show
    signal
    special
    testing
    utils
    why
""".split()

#: Functions and classes whose modules load when they are first used.
_LATER_FROM = {
    "amp.autocast_mode": (
        "autocast",
        "autocast_decrement_nesting",
        "autocast_increment_nesting",
        "clear_autocast_cache",
        "get_autocast_cpu_dtype",
        "get_autocast_dtype",
        "get_autocast_gpu_dtype",
        "is_autocast_cache_enabled",
        "is_autocast_cpu_enabled",
        "is_autocast_enabled",
        "set_autocast_cache_enabled",
        "set_autocast_dtype",
        "set_autocast_enabled",
    ),
    "amp.grad_scaler": ("GradScaler",),
    "autograd.anomaly": ("is_anomaly_check_nan_enabled", "is_anomaly_enabled"),
    "display.dot": ("make_dot",),
    "func.batching": ("vmap",),
    "nn.native": (
        "batch_norm",
        "bilinear",
        "binary_cross_entropy_with_logits",
        "cosine_embedding_loss",
        "ctc_loss",
        "embedding",
        "embedding_renorm_",
        "gru",
        "gru_cell",
        "hinge_embedding_loss",
        "instance_norm",
        "kl_div",
        "lstm",
        "lstm_cell",
        "margin_ranking_loss",
        "native_dropout",
        "norm_except_dim",
        "nuclear_norm",
        "poisson_nll_loss",
        "rnn_relu",
        "rnn_relu_cell",
        "rnn_tanh",
        "rnn_tanh_cell",
        "triplet_margin_loss",
    ),
    "serialization": ("save", "load"),
    "why": ("explain_grad", "why_inplace", "why_nan", "why_none", "why_shape"),
}
_PLACES = {name: place for place, names in _LATER_FROM.items() for name in names}


def __getattr__(name: str) -> object:
    if name in _LATER or name in _PLACES:
        from importlib import import_module

        if name in _LATER:
            return import_module(f"tensorlab.{name}")
        return getattr(import_module(f"tensorlab.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'tensorlab' has no attribute {name!r}; if PyTorch has it, it is not in tensorlab yet")


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATER, *_PLACES])


def _enter_notebook() -> None:
    """Inside IPython: show tensors, modules and graphs as pictures, and remember where nodes are made."""
    import sys

    if "IPython" in sys.modules:
        from tensorlab.display import formatters
        from tensorlab.show import lines_view

        formatters.register(lines_view)


_enter_notebook()
