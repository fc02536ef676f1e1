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
from tensorlab.creation import arange as arange
from tensorlab.creation import as_tensor as as_tensor
from tensorlab.creation import asarray as asarray
from tensorlab.creation import empty as empty
from tensorlab.creation import empty_like as empty_like
from tensorlab.creation import eye as eye
from tensorlab.creation import from_numpy as from_numpy
from tensorlab.creation import full as full
from tensorlab.creation import full_like as full_like
from tensorlab.creation import linspace as linspace
from tensorlab.creation import ones as ones
from tensorlab.creation import ones_like as ones_like
from tensorlab.creation import scalar_tensor as scalar_tensor
from tensorlab.creation import tensor as tensor
from tensorlab.creation import zeros as zeros
from tensorlab.creation import zeros_like as zeros_like
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
from tensorlab.functional import abs as abs
from tensorlab.functional import absolute as absolute
from tensorlab.functional import acos as acos
from tensorlab.functional import add as add
from tensorlab.functional import addcdiv as addcdiv
from tensorlab.functional import addcmul as addcmul
from tensorlab.functional import addmm as addmm
from tensorlab.functional import all as all
from tensorlab.functional import allclose as allclose
from tensorlab.functional import amax as amax
from tensorlab.functional import amin as amin
from tensorlab.functional import any as any
from tensorlab.functional import arccos as arccos
from tensorlab.functional import arcsin as arcsin
from tensorlab.functional import arctan as arctan
from tensorlab.functional import argmax as argmax
from tensorlab.functional import argmin as argmin
from tensorlab.functional import argsort as argsort
from tensorlab.functional import as_strided as as_strided
from tensorlab.functional import asin as asin
from tensorlab.functional import atan as atan
from tensorlab.functional import bincount as bincount
from tensorlab.functional import bitwise_and as bitwise_and
from tensorlab.functional import bitwise_not as bitwise_not
from tensorlab.functional import bitwise_or as bitwise_or
from tensorlab.functional import bitwise_xor as bitwise_xor
from tensorlab.functional import bmm as bmm
from tensorlab.functional import broadcast_tensors as broadcast_tensors
from tensorlab.functional import broadcast_to as broadcast_to
from tensorlab.functional import cat as cat
from tensorlab.functional import ceil as ceil
from tensorlab.functional import chunk as chunk
from tensorlab.functional import clamp as clamp
from tensorlab.functional import clamp_max as clamp_max
from tensorlab.functional import clamp_min as clamp_min
from tensorlab.functional import clip as clip
from tensorlab.functional import clone as clone
from tensorlab.functional import concat as concat
from tensorlab.functional import concatenate as concatenate
from tensorlab.functional import conj as conj
from tensorlab.functional import cos as cos
from tensorlab.functional import cosh as cosh
from tensorlab.functional import cumprod as cumprod
from tensorlab.functional import cumsum as cumsum
from tensorlab.functional import diag as diag
from tensorlab.functional import diagonal as diagonal
from tensorlab.functional import div as div
from tensorlab.functional import divide as divide
from tensorlab.functional import dot as dot
from tensorlab.functional import einsum as einsum
from tensorlab.functional import eq as eq
from tensorlab.functional import equal as equal
from tensorlab.functional import erf as erf
from tensorlab.functional import exp as exp
from tensorlab.functional import exp2 as exp2
from tensorlab.functional import expand as expand
from tensorlab.functional import expm1 as expm1
from tensorlab.functional import flatten as flatten
from tensorlab.functional import flip as flip
from tensorlab.functional import floor as floor
from tensorlab.functional import floor_divide as floor_divide
from tensorlab.functional import fmod as fmod
from tensorlab.functional import gather as gather
from tensorlab.functional import ge as ge
from tensorlab.functional import greater as greater
from tensorlab.functional import greater_equal as greater_equal
from tensorlab.functional import gt as gt
from tensorlab.functional import hstack as hstack
from tensorlab.functional import index_add as index_add
from tensorlab.functional import index_select as index_select
from tensorlab.functional import is_tensor as is_tensor
from tensorlab.functional import isclose as isclose
from tensorlab.functional import isfinite as isfinite
from tensorlab.functional import isinf as isinf
from tensorlab.functional import isnan as isnan
from tensorlab.functional import le as le
from tensorlab.functional import lerp as lerp
from tensorlab.functional import less as less
from tensorlab.functional import less_equal as less_equal
from tensorlab.functional import log as log
from tensorlab.functional import log1p as log1p
from tensorlab.functional import log2 as log2
from tensorlab.functional import log10 as log10
from tensorlab.functional import log_softmax as log_softmax
from tensorlab.functional import logical_and as logical_and
from tensorlab.functional import logical_not as logical_not
from tensorlab.functional import logical_or as logical_or
from tensorlab.functional import logical_xor as logical_xor
from tensorlab.functional import logsumexp as logsumexp
from tensorlab.functional import lt as lt
from tensorlab.functional import masked_fill as masked_fill
from tensorlab.functional import masked_select as masked_select
from tensorlab.functional import matmul as matmul
from tensorlab.functional import max as max
from tensorlab.functional import maximum as maximum
from tensorlab.functional import mean as mean
from tensorlab.functional import median as median
from tensorlab.functional import meshgrid as meshgrid
from tensorlab.functional import min as min
from tensorlab.functional import minimum as minimum
from tensorlab.functional import mm as mm
from tensorlab.functional import moveaxis as moveaxis
from tensorlab.functional import movedim as movedim
from tensorlab.functional import mul as mul
from tensorlab.functional import multiply as multiply
from tensorlab.functional import mv as mv
from tensorlab.functional import narrow as narrow
from tensorlab.functional import ne as ne
from tensorlab.functional import neg as neg
from tensorlab.functional import negative as negative
from tensorlab.functional import nonzero as nonzero
from tensorlab.functional import norm as norm
from tensorlab.functional import not_equal as not_equal
from tensorlab.functional import numel as numel
from tensorlab.functional import outer as outer
from tensorlab.functional import permute as permute
from tensorlab.functional import pow as pow
from tensorlab.functional import prod as prod
from tensorlab.functional import ravel as ravel
from tensorlab.functional import reciprocal as reciprocal
from tensorlab.functional import relu as relu
from tensorlab.functional import remainder as remainder
from tensorlab.functional import repeat_interleave as repeat_interleave
from tensorlab.functional import reshape as reshape
from tensorlab.functional import result_type as result_type
from tensorlab.functional import roll as roll
from tensorlab.functional import round as round
from tensorlab.functional import rsqrt as rsqrt
from tensorlab.functional import rsub as rsub
from tensorlab.functional import scatter as scatter
from tensorlab.functional import scatter_add as scatter_add
from tensorlab.functional import select as select
from tensorlab.functional import sgn as sgn
from tensorlab.functional import sigmoid as sigmoid
from tensorlab.functional import sign as sign
from tensorlab.functional import sin as sin
from tensorlab.functional import sinh as sinh
from tensorlab.functional import softmax as softmax
from tensorlab.functional import sort as sort
from tensorlab.functional import split as split
from tensorlab.functional import sqrt as sqrt
from tensorlab.functional import square as square
from tensorlab.functional import squeeze as squeeze
from tensorlab.functional import stack as stack
from tensorlab.functional import std as std
from tensorlab.functional import sub as sub
from tensorlab.functional import subtract as subtract
from tensorlab.functional import sum as sum
from tensorlab.functional import swapaxes as swapaxes
from tensorlab.functional import swapdims as swapdims
from tensorlab.functional import t as t
from tensorlab.functional import take_along_dim as take_along_dim
from tensorlab.functional import tan as tan
from tensorlab.functional import tanh as tanh
from tensorlab.functional import tile as tile
from tensorlab.functional import topk as topk
from tensorlab.functional import trace as trace
from tensorlab.functional import transpose as transpose
from tensorlab.functional import tril as tril
from tensorlab.functional import triu as triu
from tensorlab.functional import true_divide as true_divide
from tensorlab.functional import trunc as trunc
from tensorlab.functional import unbind as unbind
from tensorlab.functional import unflatten as unflatten
from tensorlab.functional import unfold as unfold
from tensorlab.functional import unique as unique
from tensorlab.functional import unsqueeze as unsqueeze
from tensorlab.functional import var as var
from tensorlab.functional import vstack as vstack
from tensorlab.functional import where as where
from tensorlab.layout import channels_last as channels_last
from tensorlab.layout import channels_last_3d as channels_last_3d
from tensorlab.layout import contiguous_format as contiguous_format
from tensorlab.layout import memory_format as memory_format
from tensorlab.layout import preserve_format as preserve_format
from tensorlab.printing import get_printoptions as get_printoptions
from tensorlab.printing import printoptions as printoptions
from tensorlab.printing import set_printoptions as set_printoptions
from tensorlab.random import Generator as Generator
from tensorlab.random import bernoulli as bernoulli
from tensorlab.random import default_generator as default_generator
from tensorlab.random import get_rng_state as get_rng_state
from tensorlab.random import initial_seed as initial_seed
from tensorlab.random import manual_seed as manual_seed
from tensorlab.random import normal as normal
from tensorlab.random import rand as rand
from tensorlab.random import rand_like as rand_like
from tensorlab.random import randint as randint
from tensorlab.random import randn as randn
from tensorlab.random import randn_like as randn_like
from tensorlab.random import randperm as randperm
from tensorlab.random import seed as seed
from tensorlab.random import set_rng_state as set_rng_state
from tensorlab.size import Size as Size
from tensorlab.tensor import Tensor as Tensor

__version__ = "0.1.0"

float, double, half = float32, float64, float16
int, long, short = int32, int64, int16

#: Packages that load when first used, so that ``import tensorlab`` loads NumPy alone.
_LATER = ("cuda", "data", "display", "nn", "observe", "optim", "show", "utils")


def __getattr__(name: str) -> object:
    if name in _LATER:
        from importlib import import_module

        return import_module(f"tensorlab.{name}")
    if name == "make_dot":
        from tensorlab.display.dot import make_dot

        return make_dot
    raise AttributeError(f"module 'tensorlab' has no attribute {name!r}; if PyTorch has it, it is not in tensorlab yet")


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATER, "make_dot"])


def _enter_notebook() -> None:
    """Inside IPython: show tensors, modules and graphs as pictures, and remember where nodes are made."""
    import sys

    if "IPython" in sys.modules:
        from tensorlab.display import formatters

        formatters.register()


_enter_notebook()
