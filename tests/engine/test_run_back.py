"""Stepping back puts everything where it was, bit by bit, also after hooks, edits and failures."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.engine.node import accumulator
from tensorlab.engine.run import BackwardRun
from tests.engine.graphs import leaf, picture, tangle


def give_old_gradients(leaves, how):
    """Gradients that were there before: none, plain ones, or ones that something else has seen."""
    for i, x in enumerate(leaves):
        if how != "none":
            x.grad = tl.full(tuple(x.shape), float(i + 1) / 3)
        if how == "seen":
            x.grad.add_(1)
            _ = x.grad.detach()


@pytest.mark.parametrize("old", ["none", "plain", "seen"])
@pytest.mark.parametrize("seed", range(3))
def test_hundreds_of_nodes_forward_and_back_again(seed, old):
    leaves, loss = tangle(seed, 200)
    give_old_gradients(leaves, old)
    run = BackwardRun((loss,), journal=True)
    pictures = []
    while run.current is not None:
        pictures.append(picture(run, leaves))
        run.step()
    end = picture(run, leaves)
    for expected in reversed(pictures):
        node = run.back()
        assert node is run.current
        assert picture(run, leaves) == expected
    assert run.back() is None
    objects = [x.grad for x in leaves]
    run.run()
    assert picture(run, leaves)[:-2] == end[:-2]
    assert all(before is None or x.grad is before for x, before in zip(leaves, objects, strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_a_random_walk_of_steps_and_steps_back_ends_like_a_straight_run(seed):
    rng = random.Random(seed)
    leaves, loss = tangle(seed, 80)
    run = BackwardRun((loss,), journal=True)
    seen = {0: picture(run, leaves)}
    while run.current is not None:
        if rng.random() < 0.4:
            run.back()
        else:
            run.step()
        found = picture(run, leaves)
        expected = seen.setdefault(run.count, found)
        assert [found[i] for i in (0, 1, 2, 3, 4, 5)] == [expected[i] for i in (0, 1, 2, 3, 4, 5)]
    fresh, other = tangle(seed, 80)
    other.backward()
    for x, y in zip(leaves, fresh, strict=True):
        assert np.array_equal(x.grad.numpy(), y.grad.numpy())


def test_a_grad_in_use_elsewhere_gets_its_version_and_writes_back():
    x, w = leaf(1.0), leaf(2.0)
    (x * 3).sum().backward()
    product = (x.grad * w).sum()
    run = BackwardRun(((x * 5).sum(),), journal=True)
    run.run()
    assert x.grad._version == 1
    while run.back() is not None:
        pass
    assert x.grad._version == 0
    product.backward()
    assert w.grad.tolist() == [3]


def test_retained_gradients_go_back_too():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    run = BackwardRun(((y * 3).sum(),), journal=True)
    for _ in range(3):
        run.run()
        assert y.grad.tolist() == [3]
        while run.back() is not None:
            pass
        assert y._grad is None


def test_a_retained_gradient_that_was_there_before_is_the_same_object_again():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    (y * 5).sum().backward(retain_graph=True)
    old = y.grad
    run = BackwardRun(((y * 3).sum(),), journal=True)
    run.run()
    assert y.grad.tolist() == [8]
    while run.back() is not None:
        pass
    assert y.grad is old
    assert old.tolist() == [5]


def test_hooks_run_again_on_what_they_ran_on_before():
    seen = []
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: seen.append(g.tolist()) or g * 10)
    run = BackwardRun((y.sum(),), journal=True)
    run.run()
    while run.back() is not None:
        pass
    run.run()
    assert seen == [[1], [1]]
    assert x.grad.tolist() == [20]


def test_a_hook_that_writes_into_its_gradient_is_undone_as_well():
    x = leaf(1.0, 2.0)
    y = x * 2
    z = y * 1

    def scale(g):
        g.mul_(10)

    y.register_hook(scale)
    y.grad_fn.register_prehook(lambda gs: scale(gs[0]))
    y.grad_fn.register_hook(lambda gi, go: scale(gi[0]))
    run = BackwardRun((z.sum(),), journal=True)
    run.run()
    assert x.grad.tolist() == [2000, 2000]
    for _ in range(2):
        while run.back() is not None:
            pass
        run.run()
        assert x.grad.tolist() == [2000, 2000]


def test_a_post_accumulate_hook_that_takes_the_gradient_away_is_undone():
    x = leaf(1.0)
    x.grad = old = tl.tensor([7.0])

    def take(p):
        p.grad = None

    x.register_post_accumulate_grad_hook(take)
    run = BackwardRun((x.sum(),), journal=True)
    run.run()
    assert x.grad is None
    run.back()
    assert x.grad is old
    assert old.tolist() == [7]


def test_a_gradient_with_a_history_goes_back_under_create_graph():
    x = leaf(2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (x**3).sum().backward(create_graph=True)
    old = x.grad
    run = BackwardRun(((x**2).sum(),), create_graph=True, journal=True)
    run.run()
    assert x.grad.tolist() == [16]
    while run.back() is not None:
        pass
    assert x.grad is old
    assert tl.autograd.grad(old.sum(), x)[0].tolist() == [12]
    x.grad = None


# ------------------------------------------------------------------------------------------------ failures


def failing(times):
    """A hook that fails so many times."""
    left = [times]

    def hook(*given):
        if left[0]:
            left[0] -= 1
            raise ZeroDivisionError

    return hook


@pytest.mark.parametrize(
    "where", ["tensor", "pre", "post", "leaf tensor", "leaf pre", "accumulated", "leaf post", "backward"]
)
@pytest.mark.parametrize("journal", [True, False])
def test_a_failure_anywhere_can_be_tried_again_and_counts_once(where, journal):
    hook = failing(2)

    class Double(tl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            if where == "backward":
                hook()
            return g * 2

    x, w = leaf(1.0), leaf(1.0)
    x.grad = tl.tensor([100.0])
    y = Double.apply(x * w)
    y.retain_grad()
    {
        "tensor": y.register_hook,
        "pre": y.grad_fn.register_prehook,
        "post": y.grad_fn.register_hook,
        "leaf tensor": x.register_hook,
        "leaf pre": accumulator(x).register_prehook,
        "accumulated": x.register_post_accumulate_grad_hook,
        "leaf post": accumulator(x).register_hook,
        "backward": lambda hook: None,
    }[where](hook)
    leaves = [x, w]
    run = BackwardRun(((y * 3).sum(),), journal=journal)
    failures = 0
    while not run.finished:
        before = picture(run, leaves)
        try:
            run.step()
        except ZeroDivisionError:
            failures += 1
            if journal:
                assert picture(run, leaves) == before
    assert 1 <= failures <= 2
    assert run.count == run.total
    assert x.grad.tolist() == [106]
    assert w.grad.tolist() == [6]
    assert y.grad.tolist() == [3]


def test_without_a_journal_each_hook_after_the_accumulation_is_called_once_though_one_fails():
    calls = []
    x = leaf(1.0)

    def broken(p):
        calls.append("broken")
        raise ZeroDivisionError

    x.register_post_accumulate_grad_hook(lambda p: calls.append("first"))
    x.register_post_accumulate_grad_hook(broken)
    x.register_post_accumulate_grad_hook(lambda p: calls.append("last"))
    accumulator(x).register_hook(lambda gi, go: calls.append("post"))
    run = BackwardRun((x.sum(),))
    with pytest.raises(ZeroDivisionError):
        run.run()
    run.run()
    assert calls == ["first", "broken", "last", "post"]
    assert x.grad.tolist() == [1]


def test_a_failed_step_can_be_stepped_back_from():
    x = leaf(1.0)
    y = x * 2
    loss = y.sum()
    x.register_post_accumulate_grad_hook(failing(1))
    run = BackwardRun((loss,), journal=True)
    with pytest.raises(ZeroDivisionError):
        run.run()
    assert run.current is accumulator(x)
    assert run.back() is y.grad_fn
    assert x.grad is None
    run.run()
    assert x.grad.tolist() == [2]


def test_an_edit_after_a_failure_is_what_the_step_then_uses():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(failing(1))
    run = BackwardRun((y.sum(),), journal=True)
    with pytest.raises(ZeroDivisionError):
        run.run()
    run.edit(y.grad_fn, 0, tl.tensor([5.0]))
    run.run()
    assert x.grad.tolist() == [10]


def test_a_backward_that_failed_leaves_the_gradients_it_had_reached():
    x, w = leaf(1.0), leaf(1.0)
    y = x * 2
    y.register_hook(failing(1))
    loss = (y + w * 3).sum()
    with pytest.raises(ZeroDivisionError):
        loss.backward(retain_graph=True)
    assert w.grad.tolist() == [3]
    assert x.grad is None
