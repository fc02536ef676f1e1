"""Losses that PyTorch's tables do not compare here, and layers over tables of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tensorlab import nn
from tests.parity import oracle
from tests.parity.test_ops import gradients_differ

torch = oracle.torch

CTC = {
    "equally long": ([5, 5], [2, 2], {}),
    "of several lengths": ([5, 3], [3, 1], {"reduction": "sum"}),
    "with a text of nothing": ([5, 4], [0, 2], {"reduction": "none"}),
    "with another blank": ([4, 5], [2, 1], {"blank": 2}),
    "too long to be heard": ([2, 5], [3, 2], {"reduction": "none", "zero_infinity": True}),
}


@pytest.mark.parametrize("case", CTC)
@pytest.mark.parametrize("one_after_another", [False, True])
def test_ctc_loss_behind_a_log_softmax_has_the_values_and_gradients_of_pytorch(
    case: str, one_after_another: bool
) -> None:
    heard, said, options = CTC[case]
    rng = np.random.default_rng(0)
    theirs = torch.tensor(rng.standard_normal((5, 2, 4)), requires_grad=True)
    targets = torch.tensor([[1, 1, 3], [3, 1, 1]])
    if one_after_another:
        targets = torch.cat([row[:n] for row, n in zip(targets, said, strict=True)])
    ours = oracle.ours(theirs)
    y = torch.nn.functional.ctc_loss(theirs.log_softmax(2), targets, heard, said, **options)
    x = nn.functional.ctc_loss(ours.log_softmax(2), oracle.ours(targets), heard, tl.tensor(said), **options)
    assert oracle.differences(x, y) == []
    assert gradients_differ(x, y, [ours], [theirs]) == []
    module = nn.CTCLoss(**options)(ours.log_softmax(2), oracle.ours(targets), tl.tensor(heard), said)
    assert oracle.differences(module, y) == []


def test_ctc_loss_differentiates_twice() -> None:
    x = tl.randn(3, 1, 3, dtype=tl.float64, requires_grad=True)
    assert tl.autograd.gradcheck(lambda x: nn.functional.ctc_loss(x, tl.tensor([[1]]), [3], [1]), (x,))
    assert tl.autograd.gradgradcheck(lambda x: nn.functional.ctc_loss(x, tl.tensor([[1]]), [3], [1]), (x,))


def test_ctc_loss_explains_lengths_and_texts_that_do_not_fit() -> None:
    x = tl.zeros(3, 2, 4)
    for targets, heard, said, words in (
        ([[1], [2]], [4, 3], [1, 1], "input_lengths to have value at most 3"),
        ([[1], [2]], [3], [1, 1], "input_lengths must be of size batch_size 2, got 1"),
        ([1, 2], [3, 3], [1, 2], "targets of size 3"),
        ([[7], [2]], [3, 3], [1, 1], "classes from 0 to 3"),
    ):
        with pytest.raises(RuntimeError, match=words):
            nn.functional.ctc_loss(x, tl.tensor(targets), heard, said)


def adaptive() -> tuple[Any, Any]:
    theirs = torch.nn.AdaptiveLogSoftmaxWithLoss(16, 20, [4, 10], div_value=2.0, head_bias=True).double()
    ours = nn.AdaptiveLogSoftmaxWithLoss(16, 20, [4, 10], div_value=2.0, head_bias=True).double()
    assert repr(ours) == repr(theirs)
    ours.load_state_dict({name: oracle.ours(x) for name, x in theirs.state_dict().items()})
    return ours, theirs


def test_an_adaptive_softmax_is_that_of_pytorch() -> None:
    torch.manual_seed(0)
    ours, theirs = adaptive()
    x = torch.randn(7, 16, dtype=torch.float64, requires_grad=True)
    target = torch.tensor([0, 3, 4, 9, 10, 19, 2])
    y, mine = theirs(x, target), ours(oracle.ours(x), oracle.ours(target))
    assert oracle.differences(mine.output, y.output) == []
    assert oracle.differences(mine.loss, y.loss) == []
    assert gradients_differ([mine.loss], [y.loss], list(ours.parameters()), list(theirs.parameters())) == []
    assert oracle.differences(ours.log_prob(oracle.ours(x)), theirs.log_prob(x)) == []
    assert oracle.differences(ours.predict(oracle.ours(x)), theirs.predict(x)) == []
    assert oracle.differences(ours(oracle.ours(x[0]), tl.tensor(5)).output, theirs(x[0], torch.tensor(5)).output) == []
    with pytest.raises(RuntimeError, match=r"should be in \[0, 19\]"):
        ours(oracle.ours(x), tl.full((7,), 20))
    with pytest.raises(ValueError, match="increasing order"):
        nn.AdaptiveLogSoftmaxWithLoss(4, 5, [3, 2])


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_a_bag_of_rows_is_that_of_pytorch(mode: str) -> None:
    torch.manual_seed(0)
    theirs = torch.nn.EmbeddingBag(6, 3, mode=mode, padding_idx=2).double()
    ours = nn.EmbeddingBag(6, 3, mode=mode, padding_idx=2).double()
    assert repr(ours) == repr(theirs)
    ours.load_state_dict({"weight": oracle.ours(theirs.weight)})
    numbers, offsets = torch.tensor([1, 2, 4, 4, 5, 2, 0]), torch.tensor([0, 3, 3, 5])
    y, x = theirs(numbers, offsets), ours(oracle.ours(numbers), oracle.ours(offsets))
    assert oracle.differences(x, y) == []
    assert gradients_differ(x, y, [ours.weight], [theirs.weight]) == []
    square = numbers[:6].reshape(2, 3)
    assert oracle.differences(ours(oracle.ours(square)), theirs(square)) == []


def test_rows_that_are_too_long_are_shortened_in_place() -> None:
    weight = torch.randn(5, 4) * 3
    theirs = torch.nn.Embedding.from_pretrained(weight.clone(), max_norm=1.0, padding_idx=0)
    ours = nn.Embedding.from_pretrained(oracle.ours(weight.clone()), max_norm=1.0, padding_idx=0)
    numbers = torch.tensor([[1, 3], [3, 0]])
    assert oracle.differences(ours(oracle.ours(numbers)), theirs(numbers)) == []
    assert oracle.differences(ours.weight, theirs.weight) == []
    assert not ours.weight.requires_grad


def test_the_padding_row_starts_as_zero_and_gets_no_gradient() -> None:
    layer = nn.Embedding(4, 3, padding_idx=-1)
    assert layer.padding_idx == 3
    assert not layer.weight[3].any()
    layer(tl.tensor([3, 1, 3])).sum().backward()
    assert layer.weight.grad.sum(1).tolist() == [0, 3, 0, 0]
    with pytest.raises(IndexError, match="4 is no row of a table with 4 rows"):
        layer(tl.tensor([4]))
    with pytest.raises(AssertionError, match="padding_idx must be within"):
        nn.Embedding(4, 3, padding_idx=4)


def test_a_deprecated_name_and_a_misleading_mean_say_so() -> None:
    with pytest.warns(FutureWarning, match="use `NLLLoss` instead"):
        nn.NLLLoss2d()
    with pytest.warns(UserWarning, match="batchmean"):
        nn.functional.kl_div(tl.zeros(2, 2), tl.ones(2, 2))


def test_soft_margin_loss_does_not_overflow() -> None:
    x = tl.tensor([-1000.0], requires_grad=True)
    loss = nn.functional.soft_margin_loss(x, tl.tensor([1.0]))
    loss.backward()
    assert loss.item() == 1000
    assert x.grad.item() == -1
