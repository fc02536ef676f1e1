"""Checkpoints run their parts as often as PyTorch's do, and give the same gradients."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.utils import checkpoint as mine
from tests.parity.oracle import to_numpy, torch

theirs = torch.utils.checkpoint


def flat(t: Any, c: Any, x: Any, log: list[str]) -> Any:
    return c(lambda x: (log.append("a"), (x * x).exp().sin())[1], x, use_reentrant=False)


def inside(t: Any, c: Any, x: Any, log: list[str]) -> Any:
    def inner(x: Any) -> Any:
        log.append("inner")
        return (x.exp() * x).sin()

    def outer(x: Any) -> Any:
        log.append("outer")
        return c(inner, x.cos(), use_reentrant=False).exp() * c(inner, x, use_reentrant=False)

    return c(outer, x, use_reentrant=False)


def deeper(t: Any, c: Any, x: Any, log: list[str]) -> Any:
    def level(n: int) -> Any:
        def run(x: Any) -> Any:
            log.append(f"level {n}")
            return (c(level(n - 1), x.sin(), use_reentrant=False) if n else x.exp()) * x

        return run

    return c(level(3), x, use_reentrant=False)


def reentrant(t: Any, c: Any, x: Any, log: list[str]) -> Any:
    def inner(x: Any) -> Any:
        log.append("inner")
        return x.exp().sin()

    def outer(x: Any) -> Any:
        log.append("outer")
        return c(inner, x * x, use_reentrant=True) + c(inner, x, use_reentrant=True)

    return c(outer, x, use_reentrant=True)


def after_each_other(t: Any, c: Any, x: Any, log: list[str]) -> Any:
    for n in range(3):
        x = c(lambda x, n=n: (log.append(f"part {n}"), x.sin() * x)[1], x, use_reentrant=n == 1)
    return x


@pytest.mark.parametrize("program", [flat, inside, deeper, reentrant, after_each_other], ids=lambda p: p.__name__)
def test_a_program_runs_its_parts_as_often_and_gives_the_same_gradient(program: Any) -> None:
    found = []
    for library, checkpoint in ((tl, mine.checkpoint), (torch, theirs.checkpoint)):
        x, log = library.tensor([0.3, -0.7, 1.1], requires_grad=True), []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program(library, checkpoint, x, log).sum().backward()
        found.append((log, to_numpy(x.grad)))
    (log, gradient), (their_log, their_gradient) = found
    assert np.allclose(gradient, their_gradient, rtol=1e-5, atol=1e-6)
    assert log == their_log


@pytest.mark.parametrize("segments", [1, 2, 3])
def test_a_sequence_is_cut_where_pytorch_cuts_it(segments: int) -> None:
    logs = []
    for library, place in ((tl, mine), (torch, theirs)):
        log: list[str] = []
        steps = [lambda x, n=n, log=log: (log.append(str(n)), x.exp().sin())[1] for n in range(5)]
        x = library.tensor([0.1, 0.2], requires_grad=True)
        place.checkpoint_sequential(steps, segments, x, use_reentrant=False).sum().backward()
        logs.append(log)
    assert logs[0] == logs[1]
