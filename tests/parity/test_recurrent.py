"""Recurrent networks against PyTorch: packed sequences, projections, states, dropout, second derivatives."""

from __future__ import annotations

from typing import Any

import pytest

import tensorlab as tl
from tensorlab import nn
from tensorlab.nn.utils import rnn
from tests.parity import oracle
from tests.parity.test_ops import gradients_differ

torch = oracle.torch
theirs_rnn = torch.nn.utils.rnn

KINDS = ["RNN", "LSTM", "GRU"]


def pair(kind: str, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    torch.manual_seed(0)
    theirs = getattr(torch.nn, kind)(*args, **kwargs).double()
    ours = getattr(nn, kind)(*args, **kwargs).double()
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    ours.load_state_dict({name: oracle.ours(x) for name, x in theirs.state_dict().items()})
    return ours, theirs


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options", [{}, {"num_layers": 2, "bidirectional": True}, {"bias": False, "bidirectional": True}]
)
@pytest.mark.parametrize("in_order", [True, False])
def test_packed_sequences_run_as_in_pytorch(kind: str, options: dict[str, Any], in_order: bool) -> None:
    ours, theirs = pair(kind, 3, 4, **options)
    lengths = [5, 3, 1] if in_order else [3, 5, 1]
    x = torch.randn(5, 3, 3, dtype=torch.float64, requires_grad=True)
    mine = oracle.ours(x)
    expected, last = theirs(theirs_rnn.pack_padded_sequence(x, lengths, enforce_sorted=in_order))
    found, end = ours(rnn.pack_padded_sequence(mine, lengths, enforce_sorted=in_order))
    assert oracle.differences(end, last) == []
    assert oracle.differences(tuple(found)[:2], tuple(expected)[:2]) == []
    for batch_first in (False, True):
        options = {"batch_first": batch_first, "padding_value": -1.0, "total_length": 6}
        assert (
            oracle.differences(
                rnn.pad_packed_sequence(found, **options), theirs_rnn.pad_packed_sequence(expected, **options)
            )
            == []
        )
    outs = [found.data, *(end if kind == "LSTM" else [end])], [expected.data, *(last if kind == "LSTM" else [last])]
    assert gradients_differ(*outs, [mine, *ours.parameters()], [x, *theirs.parameters()]) == []


@pytest.mark.parametrize("packed", [False, True])
def test_an_lstm_with_a_projection_is_that_of_pytorch(packed: bool) -> None:
    ours, theirs = pair("LSTM", 3, 4, 2, proj_size=2, bidirectional=True)
    x = torch.randn(4, 2, 3, dtype=torch.float64)
    states = torch.randn(4, 2, 2, dtype=torch.float64), torch.randn(4, 2, 4, dtype=torch.float64)
    if packed:
        expected, last = theirs(theirs_rnn.pack_padded_sequence(x, [4, 2]), states)
        found, end = ours(rnn.pack_padded_sequence(oracle.ours(x), [4, 2]), oracle.ours(states))
        found, expected = found.data, expected.data
    else:
        expected, last = theirs(x, states)
        found, end = ours(oracle.ours(x), oracle.ours(states))
    assert oracle.differences([found, *end], [expected, *last]) == []
    assert gradients_differ([found], [expected], list(ours.parameters()), list(theirs.parameters())) == []


@pytest.mark.parametrize("kind", ["RNNCell", "LSTMCell", "GRUCell"])
def test_a_cell_step_by_step_is_the_layer(kind: str) -> None:
    cell, layer = getattr(nn, kind)(3, 4), getattr(nn, kind.removesuffix("Cell"))(3, 4)
    layer.load_state_dict({f"{name}_l0": x for name, x in cell.state_dict().items()})
    x = tl.randn(5, 2, 3)
    state = None
    for step in x:
        state = cell(step, state)
    last = layer(x)[1]
    for a, b in zip(state if kind == "LSTMCell" else [state], last if kind == "LSTMCell" else [last], strict=True):
        assert tl.allclose(a, b[0], atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_recurrent_layers_differentiate_twice(kind: str) -> None:
    layer = getattr(nn, kind)(2, 2, bidirectional=True).double()
    x = tl.randn(3, 2, 2, dtype=tl.float64, requires_grad=True)
    assert tl.autograd.gradgradcheck(lambda x: layer(x)[0], (x,))


def test_dropout_acts_between_layers_in_training_only() -> None:
    layer = nn.LSTM(3, 4, num_layers=2, dropout=0.5)
    x = tl.randn(6, 2, 3)
    assert not tl.equal(layer(x)[0], layer(x)[0])
    layer.eval()
    assert tl.equal(layer(x)[0], layer(x)[0])
    with pytest.warns(UserWarning, match="expects num_layers greater than 1"):
        nn.LSTM(3, 4, dropout=0.3)


def test_padding_and_packing_undo_each_other() -> None:
    given = [tl.arange(n).float() + 10 * n for n in (2, 4, 1)]
    padded = rnn.pad_sequence(given, padding_value=-1.0, padding_side="left")
    assert padded.shape == (4, 3)
    assert padded[:, 0].tolist() == [-1, -1, 20, 21]
    packed = rnn.pack_sequence(given, enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [3, 2, 1, 1]
    for back in (rnn.unpack_sequence(packed), rnn.unpad_sequence(rnn.pad_sequence(given), [2, 4, 1])):
        assert [x.tolist() for x in back] == [x.tolist() for x in given]
    assert packed.double().data.dtype is tl.float64
    assert packed.float() is packed
    assert packed.cpu() is packed


def test_lengths_and_states_that_do_not_fit_are_explained() -> None:
    x = tl.zeros(3, 2, 3)
    with pytest.raises(RuntimeError, match="sorted in decreasing order"):
        rnn.pack_padded_sequence(x, [1, 3])
    with pytest.raises(RuntimeError, match="greater than 0"):
        rnn.pack_padded_sequence(x, [3, 0])
    with pytest.raises(RuntimeError, match=r"batch_size=2"):
        rnn.pack_padded_sequence(x, [3])
    layer = nn.LSTM(3, 4)
    with pytest.raises(RuntimeError, match=r"Expected hidden\[0\] size \(1, 2, 4\), got \[1, 3, 4\]"):
        layer(x, (tl.zeros(1, 3, 4), tl.zeros(1, 2, 4)))
    with pytest.raises(RuntimeError, match="hx and cx should also be 3-D"):
        layer(x, (tl.zeros(2, 4), tl.zeros(2, 4)))
    with pytest.raises(RuntimeError, match="Expected 3, got 7"):
        layer(tl.zeros(3, 2, 7))
    with pytest.raises(TypeError, match="a pair"):
        layer(x, tl.zeros(1, 2, 4))
