"""autocast on a GPU: float16 where PyTorch's list says so, float32 where it says so, the widest type for the rest of it."""

from __future__ import annotations

import warnings

import pytest

import tensorlab as tl
from tensorlab import nn
from tensorlab.nn import functional as F
from tensorlab.ops import ROWS
from tensorlab.ops.table import AUTOCAST, FLOAT32, LOWER, PROMOTE

#: PyTorch's documented lists for CUDA, as far as they are rows of their own here.
LISTS = {
    LOWER: "matmul addbmm addmm addmv addr baddbmm bmm mm mv linear convolution prelu",
    FLOAT32: """
        pow acos asin cosh cdist cumprod cumsum erfinv exp expm1 native_group_norm native_layer_norm log log_softmax log10 log1p log2
        mse_loss nll_loss vector_norm prod reciprocal rsqrt sinh softmax softplus sum tan logsumexp
    """,
    PROMOTE: "addcdiv addcmul atan2 linalg_cross dot vdot index_put scatter_add cat stack",
}


@pytest.mark.parametrize(
    ("policy", "name"), [(policy, name) for policy, names in LISTS.items() for name in names.split()]
)
def test_a_row_says_what_pytorch_documents_for_gpus(policy: str, name: str) -> None:
    assert AUTOCAST[ROWS[name].autocast][1] == policy


@pytest.mark.usefixtures("gpu")
def test_types_on_a_gpu_follow_the_list_for_gpus() -> None:
    x, w = tl.ones(2, 2).to("cuda"), tl.ones(2, 2, requires_grad=True)
    here = tl.ones(2, 2)
    with tl.autocast("cuda"):
        product = x @ x
        assert product.dtype is tl.float16
        assert tl.softmax(product, -1).dtype is tl.float32
        assert product.sum().dtype is tl.float32
        assert tl.relu(product).dtype is tl.float16
        assert tl.dot(x[0], product[0]).dtype is tl.float32
        assert F.l1_loss(product, x).dtype is tl.float32
        assert (here @ w).dtype is tl.float32  # the CPU is another device
        with pytest.raises(RuntimeError, match="unsafe to autocast.*binary_cross_entropy_with_logits"):
            F.binary_cross_entropy(product * 0.1, x)
        with tl.autocast("cpu"):
            assert (here @ w).dtype is tl.bfloat16
            assert (x @ x).dtype is tl.float16
    with tl.autocast("cuda", dtype=tl.bfloat16):
        assert (x @ x).dtype is tl.bfloat16


@pytest.mark.usefixtures("gpu")
def test_a_step_with_a_scaler_on_a_gpu() -> None:
    model = nn.Linear(3, 1).to("cuda")
    before = model.weight.detach().clone()
    optimizer = tl.optim.SGD(model.parameters(), lr=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaler = tl.amp.GradScaler(init_scale=256.0)
    for bad in (False, True):
        optimizer.zero_grad()
        with tl.autocast("cuda"):
            loss = model(tl.ones(2, 3).to("cuda")).float().sum() * (float("inf") if bad else 1.0)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    assert scaler.get_scale() == 128
    assert tl.allclose(model.weight, before - 0.2, atol=1e-3)
