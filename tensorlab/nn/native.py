"""Layers and losses under ``tensorlab.<name>``, with the arguments of PyTorch's native functions.

``tensorlab.nn.functional`` has the same ones in the form people use. Here arguments have no defaults where PyTorch's have none,
weights come before indices, and a reduction is a number: 0 none (the default, as it is in PyTorch), 1 mean, 2 sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorlab import functional, modes
from tensorlab.functional.arguments import need_tensor
from tensorlab.linalg import matrix_norm
from tensorlab.nn import functional as F
from tensorlab.nn.recurrence import GATES, Weights, one_step, stacked

__all__ = """
    batch_norm bilinear binary_cross_entropy_with_logits cosine_embedding_loss ctc_loss embedding embedding_renorm_ gru gru_cell
    hinge_embedding_loss instance_norm kl_div lstm lstm_cell margin_ranking_loss native_dropout norm_except_dim nuclear_norm
    poisson_nll_loss rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell triplet_margin_loss
""".split()

Tensor = Any
bilinear = F.bilinear


def _reduced(op: str, reduction: int) -> str:
    names = {0: "none", 1: "mean", 2: "sum"}
    if reduction not in names:
        raise ValueError(f"{op}(): reduction is 0 (none), 1 (mean) or 2 (sum), got {reduction!r}")
    return names[reduction]


def embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """The rows of ``weight`` at ``indices``; a negative ``padding_idx`` is none."""
    padding = padding_idx if padding_idx >= 0 else None
    return F.embedding(indices, weight, padding, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


def embedding_renorm_(input: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Shorten, in place, the rows at ``indices`` that are longer than ``max_norm``."""
    need_tensor("embedding_renorm_", "input", 1, input)
    with modes.no_grad():
        F.embedding(indices, input, max_norm=max_norm, norm_type=norm_type)
    return input


def batch_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None,
    training: bool, momentum: float, eps: float, cudnn_enabled: bool,
) -> Tensor:  # fmt: skip
    """:func:`tensorlab.nn.functional.batch_norm` with every argument said; ``cudnn_enabled`` changes nothing."""
    return F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None,
    use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool,
) -> Tensor:  # fmt: skip
    """:func:`tensorlab.nn.functional.instance_norm` with every argument said; ``cudnn_enabled`` changes nothing."""
    return F.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """``input`` with elements dropped, and which were kept. ``train=None`` is training."""
    need_tensor("native_dropout", "input", 1, input)
    noise = functional.dropout(input.detach().new_ones(input.shape), p, train is None or train)
    return input * noise, noise != 0


def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norm over all dimensions but ``dim``, which keep size 1; over everything for ``dim=-1``."""
    if dim == -1:
        return functional.norm(v, pow)
    others = [d for d in range(v.dim()) if d != dim % v.dim()]
    return functional.norm(v, pow, others, True) if others else v.abs()


def nuclear_norm(input: Tensor, dim: Sequence[int] = (-2, -1), keepdim: bool = False) -> Tensor:
    """The sum of the singular values."""
    return matrix_norm(input, "nuc", tuple(dim), keepdim)


# -------------------------------------------------------------------------------------------------------------------- losses


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: int = 0
) -> Tensor:
    """Binary cross entropy of scores."""
    how = _reduced("binary_cross_entropy_with_logits", reduction)
    return F.binary_cross_entropy_with_logits(input, target, weight, reduction=how, pos_weight=pos_weight)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Tensor:
    """Angles that should be small where ``target`` is 1, and beyond the margin where it is -1."""
    how = _reduced("cosine_embedding_loss", reduction)
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=how)


def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: int = 0,
    zero_infinity: bool = False,
) -> Tensor:  # fmt: skip
    """Connectionist temporal classification."""
    how = _reduced("ctc_loss", reduction)
    return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, how, zero_infinity)


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0) -> Tensor:
    """Distances that should be small where ``target`` is 1, and beyond the margin where it is -1."""
    return F.hinge_embedding_loss(input, target, margin, reduction=_reduced("hinge_embedding_loss", reduction))


def kl_div(input: Tensor, target: Tensor, reduction: int = 0, log_target: bool = False) -> Tensor:
    """``target * (log(target) - input)``, 0 where ``target`` is 0."""
    how, each = _reduced("kl_div", reduction), F.kl_div(input, target, reduction="none", log_target=log_target)
    return each if how == "none" else each.mean() if how == "mean" else each.sum()


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Tensor:
    """Which of two should be larger, by a margin."""
    how = _reduced("margin_ranking_loss", reduction)
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=how)


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """The negative logarithm of a Poisson probability."""
    how = _reduced("poisson_nll_loss", reduction)
    return F.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=how)


def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6,
    swap: bool = False, reduction: int = 0,
) -> Tensor:  # fmt: skip
    """A positive that should be nearer than a negative, by a margin."""
    how = _reduced("triplet_margin_loss", reduction)
    return F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=how)


# ----------------------------------------------------------------------------------------------------------------- recurrence


def _weights(params: Sequence[Tensor], has_biases: bool, projected: bool) -> list[Weights]:
    each = 2 + 2 * has_biases + projected
    if len(params) % each:
        raise RuntimeError(f"got {len(params)} parameters, expected {each} for each layer and direction")
    made = []
    for i in range(0, len(params), each):
        given = list(params[i : i + each])
        one, two = (given[2], given[3]) if has_biases else (None, None)
        made.append(Weights(given[0], given[1], one, two, given[-1] if projected else None))
    return made


def _run(op: str, mode: str, args: tuple[Any, ...]) -> tuple[Tensor, ...]:
    """``(input, hx, params, ..., batch_first)``, or packed: ``(data, batch_sizes, hx, params, ..., bidirectional)``."""
    packed = not isinstance(args[3], bool)
    expected = 9
    if len(args) != expected:
        raise TypeError(f"{op}() takes {expected} arguments, got {len(args)}")
    if packed:
        x, sizes, hx, params, has_biases, layers, dropout, train, both = args
        batch_first, batch_sizes = False, tuple(sizes.tolist())
    else:
        x, hx, params, has_biases, layers, dropout, train, both, batch_first = args
        x = x.transpose(0, 1) if batch_first else x
        batch_sizes = (x.shape[1],) * x.shape[0]
    states = tuple(hx) if isinstance(hx, (tuple, list)) else (hx,)
    rows = GATES[mode] * states[-1].shape[-1]
    found = _weights(params, has_biases, mode == "LSTM" and states[0].shape[-1] != states[1].shape[-1])
    if any(w.ih.shape[0] != rows for w in found) or len(found) != layers * (1 + both):
        raise RuntimeError(f"{op}(): parameters do not fit {layers} layers of states {list(states[-1].shape)}")
    directions = 1 + both
    stack = [found[i : i + directions] for i in range(0, len(found), directions)]
    flat = x if packed else x.reshape((-1, x.shape[-1]))
    out, last = stacked(mode, flat, states, stack, batch_sizes, dropout if train else 0.0)
    if not packed:
        out = out.reshape((*x.shape[:2], out.shape[-1]))
        out = out.transpose(0, 1) if batch_first else out
    return (out, *last)


def lstm(*args: Any) -> tuple[Tensor, Tensor, Tensor]:
    """``lstm(input, (h, c), params, has_biases, num_layers, dropout, train, bidirectional, batch_first)``: outputs, h, c.

    Packed: ``lstm(data, batch_sizes, (h, c), params, has_biases, num_layers, dropout, train, bidirectional)``.
    """
    out, h, c = _run("lstm", "LSTM", args)
    return out, h, c


def gru(*args: Any) -> tuple[Tensor, Tensor]:
    """``gru(input, h, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)``: outputs and h."""
    out, h = _run("gru", "GRU", args)
    return out, h


def rnn_tanh(*args: Any) -> tuple[Tensor, Tensor]:
    """``rnn_tanh(input, h, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)``: outputs and h."""
    out, h = _run("rnn_tanh", "RNN_TANH", args)
    return out, h


def rnn_relu(*args: Any) -> tuple[Tensor, Tensor]:
    """``rnn_relu(input, h, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)``: outputs and h."""
    out, h = _run("rnn_relu", "RNN_RELU", args)
    return out, h


def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: the new h and c."""
    h, c = one_step("LSTM", input, tuple(hx), Weights(w_ih, w_hh, b_ih, b_hh))
    return h, c


def gru_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """One step of a GRU: the new h."""
    return one_step("GRU", input, (hx,), Weights(w_ih, w_hh, b_ih, b_hh))[0]


def rnn_tanh_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """One step of a plain RNN with tanh: the new h."""
    return one_step("RNN_TANH", input, (hx,), Weights(w_ih, w_hh, b_ih, b_hh))[0]


def rnn_relu_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """One step of a plain RNN with a rectifier: the new h."""
    return one_step("RNN_RELU", input, (hx,), Weights(w_ih, w_hh, b_ih, b_hh))[0]
