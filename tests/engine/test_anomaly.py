"""Anomaly detection: which node computed NaN first, and in which line its forward ran."""

from __future__ import annotations

import warnings

import pytest

import tensorlab as tl
from tensorlab import taps
from tensorlab.autograd import detect_anomaly, is_anomaly_enabled, set_detect_anomaly
from tensorlab.autograd.anomaly import is_anomaly_check_nan_enabled
from tensorlab.engine.run import BackwardRun


@pytest.fixture(autouse=True)
def nothing_left_on():
    yield
    assert not is_anomaly_enabled()
    assert not taps.steps
    assert not tl.modes.sites_are_watched()


def leaf(*values):
    return tl.tensor(list(values), requires_grad=True)


def test_a_nan_in_backward_names_the_node_the_input_and_the_line_of_the_forward():
    x = leaf(-1.0)
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        detect = detect_anomaly()
    with detect:
        y = x.sqrt() * 0  # here it went wrong
        with pytest.raises(
            RuntimeError, match="Function 'SqrtBackward0' returned nan values in its 0th output"
        ) as caught:
            y.sum().backward()
    assert "here it went wrong" in str(caught.value)
    assert "test_anomaly.py" in str(caught.value)


def test_a_nan_that_was_there_before_is_told_apart():
    x = leaf(1.0)
    with set_detect_anomaly(True):
        y = x * 2
        with pytest.raises(
            RuntimeError, match="'MulBackward0' returned nan.*The gradient that came in held NaN already"
        ):
            y.backward(tl.tensor([float("nan")]))


def test_a_forward_outside_of_it_has_no_line():
    x = leaf(-1.0)
    y = x.sqrt().sum()
    with (
        set_detect_anomaly(True),
        pytest.raises(RuntimeError, match="switch anomaly detection on around the forward pass too"),
    ):
        y.backward()


def test_infinite_gradients_are_no_anomaly():
    x = leaf(0.0)
    with set_detect_anomaly(True):
        x.sqrt().sum().backward()
    assert x.grad.tolist() == [float("inf")]


def test_without_the_check_errors_still_carry_the_line():
    x = leaf(-1.0)
    with set_detect_anomaly(True, check_nan=False):
        assert not is_anomaly_check_nan_enabled()
        y = x.sqrt()
        y.register_hook(lambda g: 1 / 0)
        with pytest.raises(ZeroDivisionError) as caught:
            y.sum().backward()
    assert any("y = x.sqrt()" in note for note in caught.value.__notes__)


def test_it_nests_and_works_as_a_call():
    with set_detect_anomaly(True):
        with set_detect_anomaly(False):
            assert not is_anomaly_enabled()
        assert is_anomaly_enabled()
    set_detect_anomaly(True)
    assert is_anomaly_enabled()
    set_detect_anomaly(True)
    set_detect_anomaly(False)


def test_detect_anomaly_begins_with_its_block_only():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        detect = detect_anomaly()
    assert not is_anomaly_enabled()
    with detect:
        assert is_anomaly_enabled()


def test_gradients_and_graphs_are_the_same_under_it():
    x = leaf(1.0, 2.0)
    with set_detect_anomaly(True):
        (x * x).exp().sum().backward()
    y = x.detach().clone().requires_grad_()
    (y * y).exp().sum().backward()
    assert x.grad.tolist() == y.grad.tolist()


def test_the_run_goes_on_after_the_anomaly_was_told():
    x = leaf(-1.0)
    with set_detect_anomaly(True):
        run = BackwardRun((x.sqrt().sum(),))
        with pytest.raises(RuntimeError, match="SqrtBackward0"):
            run.run()
        run.run()
    assert run.finished
    assert x.grad.isnan().tolist() == [True]


def test_a_tap_that_appears_in_the_middle_of_a_pass_sees_tensors():
    seen = []
    x = leaf(1.0)
    y = x * 2
    ends = []
    y.register_hook(lambda g: ends.append(taps.watch_steps(lambda node, got, sent: seen.append((got, sent)))))
    y.sum().backward()
    for end in ends:
        end()
        end()
    assert all(hasattr(g, "grad_fn") for got, sent in seen for g in (*got, *sent) if g is not None)
    assert len(seen) == 2


def test_a_watcher_that_ends_twice_leaves_another_of_its_kind_alone():
    tap = print
    first, second = taps.watch_steps(tap), taps.watch_steps(tap)
    first()
    first()
    assert taps.steps == [tap]
    second()
