"""The judge of the gradient tests: every gradient formula is spoilt in several ways, and the tests must notice each of them.

A check that a wrong formula passes proves nothing. So each row's formulas are given the wrong sign, a factor that is 0.1% off, each
other's place, and no sum over what broadcasting stretched; the samples of the row must then fail the check that they pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tensorlab.engine import node
from tensorlab.ops import ROWS
from tensorlab.ops.table import Row
from tests.ops import driver

Formula = Callable[..., Any]

#: Gradients that differences do not show: on the way to itself a number takes the gradient of the other side.
UNSEEN = {("nextafter", "other")}

#: What the class of a row's nodes prepares from the formulas.
PLANNED = ("_plain", "_graph", "flow")


def differentiable() -> list[str]:
    """Rows with a gradient that is not 0 everywhere."""
    return [name for name, row in sorted(ROWS.items()) if set(row.derivatives.values()) - {"0"}]


@contextmanager
def spoilt(row: Row, **changed: Any) -> Iterator[None]:
    """The row, and the class of its nodes, with other formulas."""
    kind = node.node_class(row)
    before, planned = {name: getattr(row, name) for name in changed}, {n: getattr(kind, n) for n in PLANNED}
    for name, value in changed.items():
        setattr(row, name, value)
    kind.plan(row)
    kind.flow = None
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(row, name, value)
        for name, value in planned.items():
            setattr(kind, name, value)


def caught(row: Row) -> bool:
    """Whether any sample of the row fails its gradient check now."""
    for sample in driver.samples(row):
        try:
            driver.check_gradient(sample, second=False)
        except Exception:
            return True
    return False


def scaled(formula: Formula | None, factor: float) -> Formula | None:
    """A formula whose gradient is off by a factor."""
    if formula is None:
        return None

    def off(*args: Any) -> Any:
        found = formula(*args)
        return found if found is None else found * factor

    return off


def scaled_joint(formula: Formula, factor: float) -> Formula:
    return lambda *args: [g if g is None else g * factor for g in formula(*args)]


@pytest.mark.parametrize("name", differentiable())
@pytest.mark.parametrize("factor", [-1.0, 1.001], ids=["sign", "off by 0.1%"])
def test_a_gradient_that_is_off_by_a_factor_is_noticed(name: str, factor: float) -> None:
    row = ROWS[name]
    if row.joint is not None:
        with spoilt(row, joint=scaled_joint(row.joint, factor)):
            assert caught(row)
        return
    for i, formula in enumerate(row.vjps or ()):
        if formula is None or row.derivatives[row.params[i]] == "0" or (name, row.params[i]) in UNSEEN:
            continue
        vjps = tuple(scaled(f, factor) if i == j else f for j, f in enumerate(row.vjps or ()))
        with spoilt(row, vjps=vjps):
            assert caught(row), f"input {row.params[i]}"


def pairs() -> list[str]:
    return [
        name
        for name in differentiable()
        if (vjps := ROWS[name].vjps)
        and sum(formula is not None for formula in vjps) > 1
        and "0" not in ROWS[name].derivatives.values()
    ]


@pytest.mark.parametrize("name", [name for name in pairs() if name != "add"])
def test_gradients_in_each_others_place_are_noticed(name: str) -> None:
    row = ROWS[name]
    vjps, needs = list(row.vjps or ()), list(row.needs)
    i, j = [k for k, formula in enumerate(vjps) if formula is not None][:2]
    vjps[i], vjps[j], needs[i], needs[j] = vjps[j], vjps[i], needs[j], needs[i]
    names = () if row.variadic else row.params
    keep = tuple(tuple(k for k, needed in enumerate(needs) if n in needed) for n in (*names, *row.results))
    with spoilt(row, vjps=tuple(vjps), needs=tuple(needs), keep=keep):
        assert caught(row)


def first_of(g: Any, shape: tuple[int, ...]) -> Any:
    """What ``reduce_to`` would give if it took one of the stretched elements instead of their sum."""
    extra = len(g.shape) - len(shape)
    for _ in range(max(extra, 0)):
        g = g[0]
    for d, n in enumerate(shape):
        if n == 1 and g.shape[d] != 1:
            g = g.narrow(d, 0, 1) if hasattr(g, "_a") else g.take([0], d)
    return g.reshape(shape)


def stretching() -> list[str]:
    """Rows whose inputs a person may stretch; gradients of gradients get theirs in one shape."""
    return [name for name in pairs() if ROWS[name].promotes and not name.endswith("_backward")]


@pytest.mark.parametrize("name", stretching())
def test_a_missing_sum_over_stretched_dimensions_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "reduce_to", first_of)
    assert caught(ROWS[name])
