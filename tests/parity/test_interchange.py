"""Devices, moving and sharing memory: the same expression in both libraries has the same value, or the same kind of error."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import tensorlab as tl

torch = pytest.importorskip("torch", reason="PyTorch, which these tests compare with, is not installed")

DEVICES = """
m.device('cpu')
m.device('cpu:0')
m.device('cuda:1')
m.device('cuda', 1)
m.device('cuda', None)
m.device(m.device('cuda:1'))
m.device(m.device('cuda'), 1)
m.device(type='cuda', index=1)
m.device(-1)
m.device('cuda', -1)
m.device('cuda:-1')
m.device('cuda:01')
m.device('cuda:')
m.device('CUDA')
m.device('')
m.device('foo:1')
m.device('cuda:0', 1)
m.device('cuda:0:1')
m.device()
m.device(None)
m.device(1.5)
m.device(True)
m.device('cuda', '1')
m.device('cpu') == 'cpu'
m.device('cpu') == m.device('cpu:0')
m.device('cpu') < m.device('cuda')
m.device('cpu')(3)
setattr(m.device('cpu'), 'type', 'cuda')
m.ones(2, device='cpu:0').device
m.ones(2, device=m.device('cpu', 3)).device
m.ones(2, device='foo')
m.ones(2, device=1.5)
m.set_default_device('foo')
m.get_default_device()
m.ones(2).get_device()
m.ones(2).is_cuda
"""
MOVING = """
x.to() is x
x.to(None, None) is x
x.to('cpu', m.float32) is x
x.to(m.float64, m.float32)
x.to(m.float64, 'cpu')
x.to('cpu', m.float64, True, True)
x.to(m.float64, True, True)
x.to(m.ones(1, dtype=m.int64)).dtype
x.to(m.ones(1, dtype=m.int64), True, True).dtype
x.to(device='cpu', dtype=m.float64).dtype
x.to(float).dtype
x.to(int).dtype
x.to('float')
x.to([1])
x.to(dtype='float')
x.to(foo=1)
x.to('cpu', device='cpu')
x.to(m.float64, dtype=m.float64)
x.to(copy=1)
x.to(non_blocking=1)
x.to(memory_format=3)
x.to('cpu', memory_format=m.channels_last)
x.to(copy=True).data_ptr() == x.data_ptr()
m.ones(2, 3, 4, 5).to(memory_format=m.channels_last).stride()
m.ones(2, 3, 4, 5).to(m.float64, memory_format=m.channels_last).stride()
m.ones(2, 3, 4, 5).to(m.ones(1), memory_format=m.channels_last).stride()
m.ones(2, 3, 4, 5).cpu(memory_format=m.channels_last).stride()
m.ones(2, 3, 4, 5).to(memory_format=m.channels_last).to(memory_format=m.contiguous_format).stride()
m.ones(2, 1, 4, 5).to(memory_format=m.channels_last).stride()
m.ones(2, 3, 1, 1).to(memory_format=m.channels_last).stride()
m.ones(2, 3, 4, 5, 6).to(memory_format=m.channels_last_3d).stride()
m.ones(3, 2).t().to(m.float64, memory_format=m.contiguous_format).stride()
m.ones(3, 2).t().to(m.float64).stride()
m.ones(3, 2).t().to(m.float64, copy=True).stride()
m.ones(3, 2).t().to(memory_format=m.contiguous_format).stride()
m.ones(3, 2).t().to(copy=True).stride()
x.cpu(3)
x.cuda('cpu')
x.type(m.float64, non_blocking=True).dtype
x.is_pinned()
x.pin_memory()
x.pin_memory('cpu')
m.zeros(2, pin_memory=True)
m.tensor([1], pin_memory=True)
"""
SHARING = """
np.shares_memory(np.asarray(x), x.numpy())
np.asarray(x, dtype=np.float64).dtype
np.asarray(x).flags.writeable
x.__array__(np.float64).dtype
np.asarray(g)
np.sqrt(g)
np.array([g, g])
np.concatenate([g, g])
np.concatenate([x, x]).tolist()
np.sqrt(x).tolist()
x.__array_priority__
hasattr(x, '__cuda_array_interface__')
hasattr(x, '__array_function__')
x.__cuda_array_interface__
tuple(x.__dlpack_device__())
type(x.__dlpack__()).__name__
g.__dlpack__()
x.__dlpack__(stream=1)
'versioned' in repr(x.__dlpack__(max_version=(1, 0)))
'versioned' in repr(x.__dlpack__(max_version=(0, 8)))
x.__dlpack__(max_version=1)
x.__dlpack__(None)
m.from_dlpack(m.to_dlpack(x)).data_ptr() == x.data_ptr()
m.from_dlpack(np.arange(3.0)).tolist()
m.from_dlpack(ro).tolist()
m.from_dlpack(np.broadcast_to(np.arange(3.0), (2, 3))).stride()
m.from_dlpack(np.arange(6.0).reshape(2, 3).T).stride()
m.from_dlpack(np.zeros((0, 3))).shape
m.from_dlpack(np.array([True, False])).dtype
m.from_dlpack(np.array([1, 2], np.complex64)).dtype
m.from_dlpack(np.array(['a']))
m.from_dlpack(np.array([1, 2], '>f4'))
m.from_dlpack(np.array([1], np.longdouble))
m.from_dlpack([1, 2])
m.from_dlpack(3)
m.from_dlpack(x) is x
m.from_dlpack(x).data_ptr() == x.data_ptr()
m.from_dlpack(x, copy=True).data_ptr() == x.data_ptr()
m.from_dlpack(g)
m.from_dlpack(np.arange(3.0), device='cpu').tolist()
m.from_dlpack(m.ones(2).to(m.bfloat16)).dtype
np.from_dlpack(x).flags.writeable
np.from_dlpack(x.t()).strides
np.from_dlpack(m.ones(3).expand(2, 3)).strides
np.from_dlpack(m.ones(2, 3)[:, 1:]).tolist()
np.from_dlpack(g)
np.from_dlpack(m.ones(1).to(m.bfloat16))
memoryview(x)
bytes(x)
m.asarray(ro).tolist()
m.asarray(neg)
m.asarray(np.arange(3), dtype=m.float32, copy=False)
m.asarray([1, 2], copy=False)
m.asarray(x, copy=True).data_ptr() == x.data_ptr()
m.asarray(x) is x
m.asarray(g).requires_grad
m.asarray(g * 2).requires_grad
m.asarray(bytearray(8)).tolist()
m.asarray(memoryview(np.arange(2.0))).dtype
m.asarray(b'12')
m.asarray(np.float32(3)).dtype
m.asarray('a')
m.asarray(None)
m.asarray([1.0], dtype=m.int64).tolist()
m.from_numpy(ro).tolist()
m.from_numpy([1])
m.as_tensor(neg)
m.ones(3) + np.ones(3)
(m.ones(3) @ np.ones(3, np.float32)).item()
np.float64(2) * m.ones(3)
m.ones(3) * np.float64(2)
(np.int64(1) + m.tensor([1])).dtype
(np.float32(1.5) + m.tensor([1])).dtype
np.shape(x)
np.ndim(x)
np.ones(3).dot(m.ones(3))
np.arange(3)[m.tensor(1)]
np.arange(3)[m.tensor([0, 1])].tolist()
m.arange(3)[np.array([0, 1])].tolist()
copy.copy(g) is g
copy.copy(g).requires_grad
copy.deepcopy(x.expand(2, 2, 3)).stride()
copy.deepcopy(g * 2)
x.numpy(force=1)
"""


def outcome(expression: str, m: Any) -> tuple[str, str]:
    """What an expression gives in a library: its value in words, or the kind of its error."""
    read_only = np.arange(3.0)
    read_only.flags.writeable = False
    names = {
        "m": m, "np": np, "copy": copy, "x": m.arange(6.0).reshape(2, 3), "g": m.ones(2, requires_grad=True), "ro": read_only,
        "neg": np.arange(3.0)[::-1],
    }  # fmt: skip
    try:
        return "value", repr(eval(expression, names)).replace("tensorlab.", "torch.")
    except Exception as error:
        known = (RuntimeError, ValueError, TypeError, AttributeError, AssertionError, BufferError)
        return "error", next((kind.__name__ for kind in known if isinstance(error, kind)), type(error).__name__)


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable", "ignore:The given buffer is not writable")
@pytest.mark.parametrize(
    "expression", [line for text in (DEVICES, MOVING, SHARING) for line in text.strip().splitlines()]
)
def test_an_expression_means_the_same(expression: str) -> None:
    assert outcome(expression, tl) == outcome(expression, torch)


DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()


@pytest.mark.parametrize("name", DTYPES)
def test_memory_is_shared_with_pytorch_both_ways(name: str) -> None:
    ours = tl.tensor([[0, 1, 2], [3, 4, 5]]).to(getattr(tl, name)).t()
    theirs = torch.from_dlpack(ours)
    assert theirs.dtype is getattr(torch, name)
    assert theirs.data_ptr() == ours.data_ptr()
    assert theirs.stride() == ours.stride()
    theirs[0, 0] = 1
    assert ours[0, 0].item() == 1
    back = tl.from_dlpack(theirs[1:])
    assert back.dtype is getattr(tl, name)
    assert back.data_ptr() == theirs[1:].data_ptr()
    back.zero_()
    assert not ours[1:].any()


def test_a_tensor_of_pytorch_is_data_for_every_way_in() -> None:
    theirs = torch.arange(3.0)
    assert tl.as_tensor(theirs).data_ptr() == tl.asarray(theirs).data_ptr() == theirs.data_ptr()
    assert tl.tensor(theirs).data_ptr() != theirs.data_ptr()
    assert tl.tensor(theirs).tolist() == [0, 1, 2]
    with pytest.raises(BufferError):
        tl.from_dlpack(torch.ones(2, requires_grad=True))
    with pytest.raises(BufferError, match="require"):
        torch.as_tensor(tl.ones(2, requires_grad=True))
    assert torch.as_tensor(tl.ones(2)).tolist() == [1, 1]
