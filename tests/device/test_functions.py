"""Custom Functions on a GPU."""

from __future__ import annotations

from typing import Any

import tensorlab as tl


class TwoResults(tl.autograd.Function):
    """Its backward is given a gradient for both results, whichever of them is used."""

    @staticmethod
    def forward(ctx: Any, x: tl.Tensor) -> tuple[tl.Tensor, tl.Tensor]:
        return x * 2, x * 3

    @staticmethod
    def backward(ctx: Any, first: tl.Tensor, second: tl.Tensor) -> tl.Tensor:
        return first * 2 + second * 3


def test_a_result_that_nobody_used_has_a_gradient_of_zeros_on_the_same_gpu(gpu: Any) -> None:
    x = tl.ones(3, device="cuda:1", requires_grad=True)
    _, second = TwoResults.apply(x)
    second.sum().backward()
    assert x.grad.device == tl.device("cuda:1")
    assert x.grad.tolist() == [3, 3, 3]
