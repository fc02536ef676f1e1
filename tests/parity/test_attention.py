"""Attention against PyTorch: its own sample calls where nothing is drawn, masks that hide everything, chance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tensorlab as tl
import tensorlab.nn.functional as F
from tensorlab import nn
from tests.parity import oracle
from tests.parity.test_ops import compare

torch = oracle.torch


def without_chance(name: str) -> Iterator[tuple[Any, Any]]:
    """Sample calls of PyTorch's table with nothing dropped."""
    for op in oracle.entries(f"nn.functional.{name}"):
        for sample in oracle.samples(op, torch.float64, requires_grad=True):
            if sample.kwargs.get("dropout_p"):
                sample.kwargs["dropout_p"] = 0.0
            if name.startswith("multi"):
                sample.args = (*sample.args[:9], 0.0, *sample.args[10:])
            yield op, sample


@pytest.mark.parametrize("name", ["scaled_dot_product_attention", "multi_head_attention_forward"])
@pytest.mark.filterwarnings("ignore")
def test_attention_has_the_values_and_gradients_of_pytorch(name: str) -> None:
    wrong = {n: said for n, (op, sample) in enumerate(without_chance(name)) if (said := compare(op, sample))}
    assert wrong == {}


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("options", [{}, {"add_bias_kv": True}, {"add_zero_attn": True}, {"kdim": 3, "vdim": 5}])
def test_many_heads_give_the_result_and_the_weights_of_pytorch(batch_first: bool, options: dict[str, Any]) -> None:
    torch.manual_seed(0)
    theirs = torch.nn.MultiheadAttention(4, 2, batch_first=batch_first, **options).double()
    ours = nn.MultiheadAttention(4, 2, batch_first=batch_first, **options).double()
    assert [n for n, _ in ours.named_parameters()] == [n for n, _ in theirs.named_parameters()]
    ours.load_state_dict({name: oracle.ours(x) for name, x in theirs.state_dict().items()})
    q, k, v = (torch.randn(3, 3, w).double() for w in (4, options.get("kdim", 4), options.get("vdim", 4)))
    padding = torch.tensor([[False, False, True], [False, False, False], [False, True, True]])
    mask = torch.randn(6, 3, 3).double()
    for average in (True, False):
        given = {"key_padding_mask": padding, "attn_mask": mask, "average_attn_weights": average}
        expected = theirs(q, k, v, **given)
        found = ours(*(oracle.ours(x) for x in (q, k, v)), **{n: oracle.ours(x) for n, x in given.items()})
        assert oracle.differences(found, expected) == []


def test_a_query_that_may_look_nowhere_gets_zero_and_gradients_stay_finite() -> None:
    x = tl.randn(2, 3, 4, requires_grad=True)
    for mask in (
        tl.tensor([True, True, False])[:, None].expand(3, 3),
        tl.zeros(3, 3).index_fill(0, tl.tensor([2]), -float("inf")),
    ):
        out = F.scaled_dot_product_attention(x, x, x, attn_mask=mask)
        assert not out[:, 2].any()
        assert tl.autograd.grad(out.sum(), x)[0].isfinite().all()
    layer = nn.MultiheadAttention(4, 2, bias=False)
    hidden = tl.tensor([[False, False], [False, False], [True, True]])
    y = tl.randn(2, 3, 4, requires_grad=True)
    for need_weights in (True, False):
        out, weights = layer(y, y, y, key_padding_mask=hidden, need_weights=need_weights)
        assert not out[:, 2].any()
        assert weights is None or not weights[2].any()
        assert tl.autograd.grad(out.sum(), y)[0].isfinite().all()


def test_dropout_of_attention_keeps_the_mean_and_acts_in_training_only() -> None:
    tl.manual_seed(0)
    q, v = tl.zeros(1, 4000, 2), tl.ones(1, 10, 2)
    out = F.scaled_dot_product_attention(q, tl.zeros(1, 10, 2), v, dropout_p=0.3)
    assert abs(out.mean().item() - 1) < 0.02
    assert out.std() > 0.1
    layer = nn.MultiheadAttention(4, 2, dropout=0.5)
    x = tl.randn(3, 2, 4)
    assert not tl.equal(layer(x, x, x)[0], layer(x, x, x)[0])
    layer.eval()
    assert tl.equal(layer(x, x, x)[0], layer(x, x, x)[0])


def test_groups_of_heads_share_keys_and_values() -> None:
    q, k = tl.randn(2, 4, 3, 5), tl.randn(2, 2, 3, 5)
    found = F.scaled_dot_product_attention(q, k, k, enable_gqa=True)
    whole = k.repeat_interleave(2, 1)
    assert tl.allclose(found, F.scaled_dot_product_attention(q, whole, whole))
    with pytest.raises(RuntimeError, match="must divide the number of heads"):
        F.scaled_dot_product_attention(q, k.repeat(1, 3, 1, 1)[:, :3], k, enable_gqa=True)


def test_a_later_place_does_not_change_an_earlier_one_behind_a_causal_mask() -> None:
    layer = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0), 2)
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    x = tl.randn(5, 1, 8)
    y = x.clone()
    y[4] = 9.0
    before, after = layer(x, mask=mask, is_causal=True), layer(y, mask=mask, is_causal=True)
    assert tl.allclose(before[:4], after[:4])
    assert not tl.allclose(before[4], after[4])


def test_attention_explains_shapes_that_do_not_fit() -> None:
    x = tl.ones(3, 2, 4)
    with pytest.raises(AssertionError, match="embed_dim must be divisible"):
        nn.MultiheadAttention(5, 2)
    with pytest.raises(ValueError, match="greater than 0"):
        nn.MultiheadAttention(0, 2)
    with pytest.raises(AssertionError, match="was expecting embedding dimension of 8, but got 4"):
        nn.MultiheadAttention(8, 2)(x, x, x)
    with pytest.raises(RuntimeError, match=r"2D attn_mask is \(3, 2\), but should be \(3, 3\)"):
        nn.MultiheadAttention(4, 2)(x, x, x, attn_mask=tl.zeros(3, 2))
    with pytest.raises(RuntimeError, match="should not be set when is_causal"):
        F.scaled_dot_product_attention(x, x, x, tl.zeros(2, 2), is_causal=True)
    with pytest.raises(RuntimeError, match="activation should be relu/gelu"):
        nn.TransformerEncoderLayer(4, 2, activation="tanh")
    with pytest.raises(RuntimeError, match="feature number of src and tgt"):
        nn.Transformer(8, 2, 1, 1, 8)(x, x)
