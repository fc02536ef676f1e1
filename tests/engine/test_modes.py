"""Grad mode and inference mode: who sees them, how they nest, and what decorators do."""

from __future__ import annotations

import threading

import pytest

import tensorlab as tl
from tensorlab import modes


def leaf(*values):
    return tl.tensor(list(values), requires_grad=True)


def in_a_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_no_grad_records_nothing_and_ends_with_its_block():
    x = leaf(1.0)
    with tl.no_grad():
        assert not (x * 2).requires_grad
        with tl.enable_grad():
            assert (x * 2).requires_grad
        assert not tl.is_grad_enabled()
    assert (x * 2).requires_grad


def test_an_exception_restores_the_mode():
    with pytest.raises(ZeroDivisionError), tl.no_grad():
        _ = 1 / 0
    assert tl.is_grad_enabled()


def test_set_grad_enabled_stays_as_a_call_and_nests_as_a_context():
    tl.set_grad_enabled(False)
    try:
        assert not tl.is_grad_enabled()
        with tl.set_grad_enabled(True):
            assert tl.is_grad_enabled()
            with tl.set_grad_enabled(False):
                assert not tl.is_grad_enabled()
            assert tl.is_grad_enabled()
        assert not tl.is_grad_enabled()
    finally:
        tl.set_grad_enabled(True)


def test_a_new_thread_starts_with_gradients_on_and_changes_only_its_own_mode():
    with tl.no_grad():
        assert in_a_thread(tl.is_grad_enabled)

        def off():
            tl.set_grad_enabled(False)
            return tl.is_grad_enabled()

        assert in_a_thread(off) is False
    assert tl.is_grad_enabled()


def test_decorators_work_with_and_without_parentheses_and_keep_the_name():
    @tl.no_grad()
    def first(x):
        """Says it."""
        return (x * 2).requires_grad

    @tl.no_grad
    def second(x):
        return (x * 2).requires_grad

    @tl.set_grad_enabled(False)
    def third(x):
        return (x * 2).requires_grad

    x = leaf(1.0)
    assert [first(x), second(x), third(x)] == [False] * 3
    assert first.__name__ == "first"
    assert first.__doc__ == "Says it."
    assert tl.is_grad_enabled()


def test_a_decorated_function_may_call_itself():
    @tl.no_grad()
    def countdown(n):
        return [tl.is_grad_enabled()] + (countdown(n - 1) if n else [])

    assert countdown(3) == [False] * 4
    assert tl.is_grad_enabled()


def test_a_decorated_generator_has_its_mode_while_it_runs_and_the_caller_its_own_between():
    @tl.no_grad()
    def steps():
        got = yield tl.is_grad_enabled()
        yield got, tl.is_grad_enabled()
        try:
            yield "waiting"
        except ValueError:
            yield "caught", tl.is_grad_enabled()
        return tl.is_grad_enabled()

    generator = steps()
    assert next(generator) is False
    assert tl.is_grad_enabled()
    assert generator.send("hello") == ("hello", False)
    assert next(generator) == "waiting"
    assert generator.throw(ValueError()) == ("caught", False)
    assert tl.is_grad_enabled()
    with pytest.raises(StopIteration) as end:
        next(generator)
    assert end.value.value is False


def test_closing_a_decorated_generator_runs_its_cleanup():
    cleaned = []

    @tl.no_grad()
    def steps():
        try:
            yield 1
        finally:
            cleaned.append(tl.is_grad_enabled())

    generator = steps()
    next(generator)
    generator.close()
    assert len(cleaned) == 1
    assert tl.is_grad_enabled()


def test_a_generator_resumed_under_another_mode_keeps_its_own():
    @tl.enable_grad()
    def steps():
        while True:
            yield tl.is_grad_enabled()

    generator = steps()
    with tl.no_grad():
        assert next(generator)
        assert not tl.is_grad_enabled()


def test_classes_are_not_decorated():
    with pytest.raises(TypeError, match="decorates functions, not the class"):
        tl.no_grad()(type("Thing", (), {}))


def test_backward_works_under_no_grad_and_leaves_the_mode_alone():
    x = leaf(1.0)
    loss = (x * 2).sum()
    with tl.no_grad():
        loss.backward()
        assert not tl.is_grad_enabled()
    assert x.grad.tolist() == [2]


def test_backward_runs_without_recording_even_where_gradients_are_on():
    x = leaf(1.0)
    seen = []
    y = x * 2
    y.register_hook(lambda g: seen.append((tl.is_grad_enabled(), g.requires_grad)))
    y.sum().backward(retain_graph=True)
    with pytest.warns(UserWarning, match="reference cycle"):
        (y * y).sum().backward(create_graph=True)
    assert seen == [(False, False), (True, True)]
    x.grad = None


def test_inference_tensors_have_no_version_and_enter_no_graph():
    with tl.inference_mode():
        t = tl.ones(2)
        u = t * 2
        u.add_(1)
        assert u.is_inference()
    with pytest.raises(RuntimeError, match="do not track version"):
        _ = u._version
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        u.add_(1)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        leaf(1.0, 2.0) * u
    with pytest.raises(RuntimeError, match="inference tensor"):
        u.requires_grad_()
    assert (leaf(1.0, 2.0) * u.clone()).requires_grad


def test_inference_mode_false_turns_it_off_inside():
    with tl.inference_mode(), tl.inference_mode(False):
        assert not tl.ones(1).is_inference()
        assert tl.is_grad_enabled()
    assert not modes.is_inference_mode_enabled()


def test_an_inference_tensor_is_not_saved_by_an_in_place_write_either():
    with tl.inference_mode():
        t = tl.ones(2)
    y = leaf(1.0, 2.0) * 1
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        y.mul_(t)
    assert y.tolist() == [1, 2]
