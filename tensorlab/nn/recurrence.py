"""Recurrent networks over steps that lie one after another in one matrix: cells, layers, stacks of layers.

``batch_sizes`` says how many sequences take part in each step, longest first, so padded and packed sequences run the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tensorlab import functional
from tensorlab.dispatch import call
from tensorlab.nn.functional.layers import dropout, linear
from tensorlab.ops import ROWS

Tensor = Any
State = tuple[Any, ...]  # (h,) or (h, c)

#: How many rows of a weight belong to one hidden unit.
GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}


class Weights(NamedTuple):
    """The parameters of one direction of one layer; those that there are none of are ``None``."""

    ih: Any
    hh: Any
    bias_ih: Any
    bias_hh: Any
    hr: Any = None


# -------------------------------------------------------------------------------------------------------------- cells


def rnn_step(mode: str, gates: Tensor, state: State, w: Weights) -> State:
    """One step of a plain RNN, ``gates`` being the input's part."""
    bent = functional.tanh if mode == "RNN_TANH" else functional.relu
    return (bent(gates + linear(state[0], w.hh)),)


def lstm_step(gates: Tensor, state: State, w: Weights) -> State:
    """One step of an LSTM: ``c = f * c + i * g``, ``h = o * tanh(c)``, projected if there is a matrix for it."""
    h, c = state
    i, f, g, o = functional.chunk(gates + linear(h, w.hh), 4, -1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    h = o.sigmoid() * c.tanh()
    return (h if w.hr is None else linear(h, w.hr)), c


def gru_step(gates: Tensor, state: State, w: Weights) -> State:
    """One step of a GRU: ``n = tanh(x + r * (W h + b))``, ``h = (1 - z) * n + z * h``."""
    (h,) = state
    for_r, for_z, for_n = functional.chunk(gates, 3, -1)
    r, z, n = functional.chunk(linear(h, w.hh, w.bias_hh), 3, -1)
    reset, update = (for_r + r).sigmoid(), (for_z + z).sigmoid()
    new = (for_n + reset * n).tanh()
    return (new + update * (h - new),)


def _step(mode: str) -> Callable[[Tensor, State, Weights], State]:
    if mode == "LSTM":
        return lstm_step
    return gru_step if mode == "GRU" else lambda gates, state, w: rnn_step(mode, gates, state, w)


def inputs_part(mode: str, x: Tensor, w: Weights) -> Tensor:
    """The input's part of the gates, with the biases that only add to it."""
    bias = w.bias_ih
    if mode != "GRU" and bias is not None:
        bias = bias + w.bias_hh
    return linear(x, w.ih, bias)


def one_step(mode: str, x: Tensor, state: State, w: Weights) -> State:
    """One step of a cell."""
    return _step(mode)(inputs_part(mode, x, w), state, w)


# ------------------------------------------------------------------------------------------------------------- layers


def _direction(
    mode: str, x: Tensor, state: State, w: Weights, batch_sizes: tuple[int, ...], reverse: bool
) -> tuple[Tensor, State]:
    """All steps of one direction of a layer: outputs ``[total, hidden]`` and the last state."""
    gates = inputs_part(mode, x, w)
    if mode == "LSTM" and w.hr is None:
        found = call(ROWS["lstm_layer"], (gates, *state, w.hh), batch_sizes=batch_sizes, reverse=reverse)
        return found[0], (found[1], found[2])
    step, parts = _step(mode), functional.split(gates, list(batch_sizes))
    order = range(len(batch_sizes))
    outs: dict[int, Tensor] = {}
    for t in reversed(order) if reverse else order:
        n = batch_sizes[t]
        whole = n == state[0]._a.shape[0]
        now = step(parts[t], state if whole else tuple([s[:n] for s in state]), w)
        outs[t] = now[0]
        state = now if whole else tuple([functional.cat([a, s[n:]]) for a, s in zip(now, state, strict=True)])
    return functional.cat([outs[t] for t in order]), state


def stacked(
    mode: str, x: Tensor, states: State, layers: list[list[Weights]], batch_sizes: tuple[int, ...], p: float
) -> tuple[Tensor, State]:
    """Layers one upon another, each of one direction or two; ``p`` is dropped between layers.

    ``states`` are ``[layers * directions, N, hidden]`` each, and so are the last ones that come back.
    """
    last: list[State] = []
    for depth, directions in enumerate(layers):
        if depth and p:
            x = dropout(x, p)
        outs = []
        for at, w in enumerate(directions):
            first = tuple([s[depth * len(directions) + at] for s in states])
            out, end = _direction(mode, x, first, w, batch_sizes, reverse=at == 1)
            outs.append(out)
            last.append(end)
        x = outs[0] if len(outs) == 1 else functional.cat(outs, -1)
    return x, tuple([functional.stack([end[i] for end in last]) for i in range(len(states))])
