"""Connectionist temporal classification: the probability of a text over all ways to spread it over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab import backend, dispatch, functional
from tensorlab.functional.arguments import need_tensor
from tensorlab.nn.functional.reducing import reduced
from tensorlab.nn.reduction import named_reduction

__all__ = ["ctc_loss"]

Tensor = Any
_NEVER = -float("inf")


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Minus the log-probability of ``targets`` given ``log_probs`` ``[T, N, C]`` (or ``[T, C]``), summed over all alignments.

    ``targets`` are ``[N, S]``, or all targets one after another; lengths are tensors or sequences of N. ``"mean"`` divides each
    loss by its target's length first. ``zero_infinity`` makes losses of targets that are too long for their input 0, with
    gradient 0. Source: Graves and others, "Connectionist Temporal Classification", 2006.
    """
    reduction = named_reduction(reduction, None, None)
    need_tensor("ctc_loss", "log_probs", 1, log_probs)
    need_tensor("ctc_loss", "targets", 2, targets)
    batched = log_probs.dim() == 3
    if not batched:
        log_probs = log_probs.unsqueeze(1)
    steps, examples, classes = log_probs._a.shape
    if not 0 <= blank < classes:
        raise RuntimeError(f"blank must be in label range: 0 to {classes - 1}, got {blank}")
    heard, said = (_lengths(name, x, examples) for name, x in (("input", input_lengths), ("target", target_lengths)))
    if heard.size and (heard.max() > steps or heard.min() < 0):
        raise RuntimeError(f"Expected input_lengths to have value at most {steps}, but got value {heard.max()}")
    texts = _texts(targets, said, examples, classes, blank)
    losses = -_log_likelihood(log_probs, texts, heard, said, blank)
    if zero_infinity:
        losses = losses.masked_fill(losses == float("inf"), 0)
    if reduction == "mean":
        lengths = dispatch.move(dispatch.wrap(np.maximum(said, 1).astype(losses._a.dtype)), losses.device)
        losses = losses / lengths
    return reduced(losses if batched else losses.squeeze(0), reduction)


def _lengths(name: str, given: Any, examples: int) -> np.ndarray:
    found = np.asarray(backend.to_host(given._a) if isinstance(given, dispatch.Tensor) else given).reshape(-1)
    if found.dtype.kind not in "iu":
        raise RuntimeError(f"{name}_lengths must be integral, got {found.dtype.name}")
    if found.size != examples:
        raise RuntimeError(f"{name}_lengths must be of size batch_size {examples}, got {found.size}")
    return found.astype(np.int64)


def _texts(targets: Tensor, said: np.ndarray, examples: int, classes: int, blank: int) -> np.ndarray:
    """The targets as ``[N, longest]``, blank where they have ended."""
    given = np.asarray(backend.to_host(targets._a))
    longest = int(said.max()) if said.size else 0
    out = np.full((examples, longest), blank, np.int64)
    inside = np.arange(longest) < said[:, None]
    if given.ndim == 2:
        if given.shape[0] != examples or given.shape[1] < longest:
            raise RuntimeError(
                f"Expected tensor to have size at least {longest} at dimension 1, but got size {given.shape[1]} for "
                f"targets of shape {list(given.shape)}"
            )
        out[inside] = given[:, :longest][inside]
    elif given.size != said.sum():
        raise RuntimeError(
            f"Expected targets of size {int(said.sum())}, the sum of target_lengths, but got {given.size}"
        )
    else:
        out[inside] = given
    if inside.any() and (out[inside].min() < 0 or out[inside].max() >= classes):
        raise RuntimeError(f"ctc_loss(): targets must be classes from 0 to {classes - 1}")
    return out


def _log_likelihood(log_probs: Tensor, texts: np.ndarray, heard: np.ndarray, said: np.ndarray, blank: int) -> Tensor:
    """The log-probability of each text: a forward pass over the text with blanks between its letters."""
    steps, examples, _ = log_probs._a.shape
    states = 2 * texts.shape[1] + 1
    letters = np.full((examples, states), blank, np.int64)
    letters[:, 1::2] = texts
    skips = np.zeros((examples, states), bool)  # from a letter to another one, without the blank between
    skips[:, 3::2] = texts[:, 1:] != texts[:, :-1]
    start = np.full((examples, states), _NEVER)
    start[:, :2] = 0.0
    kind = log_probs._a.dtype

    def there(a: np.ndarray) -> Tensor:
        return dispatch.move(dispatch.wrap(a), log_probs.device)

    barred = np.zeros((examples, states, 3), kind)
    barred[..., 0][~skips] = _NEVER
    bars, walls = there(barred), there(np.full((examples, 2), _NEVER, kind))
    every = there(np.broadcast_to(letters, (steps, examples, states)).copy())
    emitted = log_probs.gather(2, every)
    alpha = there(np.where(heard[:, None] == 0, np.where(np.arange(states) == 0, 0.0, _NEVER), start).astype(kind))
    for t in range(steps):
        if t == 0:
            after = alpha + emitted[0]
        else:
            windows = functional.cat([walls, alpha], 1).unfold(1, 3, 1)
            after = functional.logsumexp(windows + bars, -1) + emitted[t]
        on = heard > t
        alpha = after if on.all() else functional.where(there(on[:, None]), after, alpha)
    ends = np.stack([2 * said, np.maximum(2 * said - 1, 0)], 1)
    last = alpha.gather(1, there(ends))
    alone = np.zeros((examples, 2), kind)
    alone[said == 0, 1] = _NEVER
    return functional.logsumexp(last + there(alone), 1)
