"""Twenty programs with a NaN or an infinity in them: the line that makes the first one is marked, with its operation."""

from __future__ import annotations

from typing import Any

import tensorlab as tl

INF = float("inf")


def _w(*values: float) -> Any:
    return tl.tensor(values or (1.0, 2.0, 3.0)).requires_grad_()


def log_of_zero() -> Any:
    p = _w(0.0, 1.0)
    return (p.log() * 2).sum()  # log


def log_of_a_negative_number() -> Any:
    x = _w(1.0, -1.0) * 3
    y = x.log()  # log
    return (y + 1).mean()


def root_of_a_negative_number() -> Any:
    x = _w(1.0, 2.0) - 3
    return x.sqrt().sum()  # sqrt


def division_by_zero() -> Any:
    x = _w(1.0, 2.0)
    y = x / (x - 1)  # div
    return (y * 2).sum()


def zero_by_zero() -> Any:
    x = _w(0.0, 1.0) * 1
    return (x / x).sum()  # div


def overflow_of_an_exponential() -> Any:
    x = _w(1.0, 100.0)
    y = x.exp()  # exp
    return (y / y.sum()).sum()


def infinity_minus_infinity_begins_with_infinity() -> Any:
    x = _w(500.0, 600.0)
    a = x.exp()  # exp
    return (a - a).sum()


def a_softmax_by_hand() -> Any:
    z = _w(1000.0, 1.0)
    e = z.exp()  # exp
    return -(e / e.sum()).log().sum()


def overflow_of_a_product() -> Any:
    x = _w(1e30, 1.0)
    y = x * x  # mul
    return (y * 0.5).sum()


def a_power() -> Any:
    x = _w(-8.0, 8.0)
    return (x ** (1 / 3)).sum()  # pow


def one_by_zero() -> Any:
    return (1 / _w(0.0, 1.0)).sum()  # reciprocal


def a_reciprocal_root() -> Any:
    x = _w(2.0, 2.0) - 2
    return (x.rsqrt() + 1).sum()  # rsqrt


def arc_cosine() -> Any:
    x = _w(0.5, 1.0) * 2.5
    return x.acos().sum()  # acos


def a_loop() -> Any:
    x = _w(10.0)
    for _ in range(8):
        x = x * x  # mul
    return x.sum()


def a_matrix_product() -> Any:
    a = (tl.ones(2, 2) * 3e38).requires_grad_()
    b = a @ tl.ones(2, 2)  # mm
    return b.sum()


def cross_entropy_of_bad_scores() -> Any:
    scores = _w(1.0, 2.0).reshape(1, 2) / 0.0  # div
    return tl.nn.functional.cross_entropy(scores, tl.tensor([0]))


def log_sigmoid_by_hand() -> Any:
    x = _w(-200.0, 1.0)
    return x.sigmoid().log().sum()  # log


def variance_of_one() -> Any:
    x = _w(4.0)
    y = x.var()  # var
    return y + 1


def gradient_of_a_root() -> Any:
    x = _w(0.0, 1.0)
    return x.sqrt().sum()  # backward sqrt


def gradient_of_a_norm_by_hand() -> Any:
    x = _w(0.0, 0.0) * 2
    return (x * x).sum().sqrt()  # backward sqrt


PROGRAMS = [
    log_of_zero, log_of_a_negative_number, root_of_a_negative_number, division_by_zero, zero_by_zero, overflow_of_an_exponential,
    infinity_minus_infinity_begins_with_infinity, a_softmax_by_hand, overflow_of_a_product, a_power, one_by_zero, a_reciprocal_root,
    arc_cosine, a_loop, a_matrix_product, cross_entropy_of_bad_scores, log_sigmoid_by_hand, variance_of_one, gradient_of_a_root,
    gradient_of_a_norm_by_hand,
]  # fmt: skip
