"""Twenty programs that overwrite what backward needs. The line that writes is marked, and so is the one whose node saved."""

from __future__ import annotations

from typing import Any

import tensorlab as tl


def _w(*shape: int) -> Any:
    return tl.ones(*(shape or (3,))).requires_grad_()


def product() -> Any:
    w = _w()
    h = w * 2
    y = h * h  # saves
    h += 1  # writes
    return y.sum()


def sigmoid_of_a_result() -> Any:
    y = _w().sigmoid()  # saves
    y.mul_(2)  # writes
    return y.sum()


def tanh_of_a_result() -> Any:
    y = (_w() * 3).tanh()  # saves
    y[0] = 0.0  # writes
    return y.sum()


def exponential() -> Any:
    y = _w().exp()  # saves
    y -= 1  # writes
    return y.sum()


def a_slice() -> Any:
    x = _w(4) * 1
    y = x**2  # saves
    x[1:3] = 5.0  # writes
    return y.sum()


def through_a_view() -> Any:
    x = _w(2, 2) * 1
    flat = x.view(4)
    y = x * x  # saves
    flat.zero_()  # writes
    return y.sum()


def through_data() -> Any:
    w = _w()
    y = w * w  # saves
    w.data.add_(1)  # writes
    return y.sum()


def through_detach() -> Any:
    w = _w()
    y = (w * 2).exp()  # saves
    y.detach().fill_(0)  # writes
    return y.sum()


def an_update_before_backward() -> Any:
    w, x = _w(), tl.ones(3)
    hidden = w * x
    loss = (hidden * w).sum()  # saves
    with tl.no_grad():
        w -= 0.1  # writes
    return loss


def matrix_product() -> Any:
    a, b = _w(2, 3), _w(3, 2) * 1
    y = a @ b  # saves
    b.clamp_(0, 1)  # writes
    return y.sum()


def a_mask() -> Any:
    x = _w() * 1
    y = x.log()  # saves
    x.masked_fill_(tl.tensor([True, False, False]), 2.0)  # writes
    return y.sum()


def division() -> Any:
    a, b = _w(), _w() * 2
    y = a / b  # saves
    b.copy_(tl.ones(3))  # writes
    return y.sum()


def a_loop() -> Any:
    h = _w() * 1
    total = tl.zeros(3)
    for _ in range(2):
        total = total + h * h  # saves
        h.add_(1)  # writes
    return total.sum()


def softmax() -> Any:
    p = _w(2, 3).softmax(-1)  # saves
    p[p < 0.5] = 0.0  # writes
    return p.sum()


def square_root() -> Any:
    y = (_w() + 1).sqrt()  # saves
    y.neg_()  # writes
    return y.sum()


def a_column() -> Any:
    x = _w(2, 3) * 1
    y = x * x  # saves
    x[:, 0].add_(1)  # writes
    return y.sum()


def an_expanded_weight() -> Any:
    w = _w(1, 3) * 1
    y = tl.ones(2, 3).requires_grad_() * w  # saves
    w.mul_(3)  # writes
    return y.sum()


def a_linear_layer() -> Any:
    layer = tl.nn.Linear(3, 2)
    x = _w(1, 3) * 1
    y = layer(x)  # saves
    x.zero_()  # writes
    return y.sum()


def a_helper() -> Any:
    def normalise(t: Any) -> None:
        t.div_(t.sum())  # writes

    x = _w() * 1
    y = x.sin()  # saves
    normalise(x)
    return y.sum()


def a_normalised_result() -> Any:
    y = (_w() * 2).sigmoid()  # saves
    y /= 2  # writes
    return y.sum()


PROGRAMS = [
    product, sigmoid_of_a_result, tanh_of_a_result, exponential, a_slice, through_a_view, through_data, through_detach,
    an_update_before_backward, matrix_product, a_mask, division, a_loop, softmax, square_root, a_column, an_expanded_weight,
    a_linear_layer, a_helper, a_normalised_result,
]  # fmt: skip
