"""A KeyboardInterrupt at any point leaves a run that can go on, or go back, and counts nothing twice."""

from __future__ import annotations

import random
import signal
import threading

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.engine.node import accumulator
from tensorlab.engine.run import BackwardRun
from tests.engine.graphs import Tanh, leaf, picture, tangle
from tests.engine.interrupting import every_point, interrupt


def small(hooks=False):
    """Two leaves with gradients from before, shared values, several outputs, a write to a view, a custom function."""
    p, q = leaf(0.5, -0.3), leaf(0.2, 0.9)
    p.grad = tl.tensor([10.0, 20.0])
    y = Tanh.apply(p * q, q)
    first, second = y.unbind()
    z = y * 1
    z[0] = first * second
    loss = (z * p).sum() + first
    if hooks:
        y.retain_grad()
        y.register_hook(lambda g: g * 2)
        z.grad_fn.register_prehook(lambda gs: (gs[0] * 0.5,))
        z.grad_fn.register_hook(lambda gi, go: tuple(None if g is None else g * 3 for g in gi))
        p.register_hook(lambda g: g + 1)
        accumulator(q).register_prehook(lambda gs: (gs[0] * 7,))
        q.register_post_accumulate_grad_hook(lambda x: None)
    return [p, q, y], loss


def grads(leaves):
    return [None if x._grad is None else x._grad.numpy().copy() for x in leaves]


def equal(found, expected):
    return all(a is b is None or np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("hooks", [False, True])
@pytest.mark.parametrize("kind", ["unseen", "plain", "journal"])
def test_at_every_point_of_a_run(kind, hooks):
    leaves, loss = small(hooks)
    loss.backward()
    expected = grads(leaves)

    def attempt(at):
        leaves, loss = small(hooks)
        run = BackwardRun((loss,), unseen=kind == "unseen", journal=kind == "journal")
        with interrupt(at) as points:
            try:
                run.run()
            except KeyboardInterrupt:
                pass
        assert tl.is_grad_enabled()
        run.run()
        assert run.count == run.total, at
        assert equal(grads(leaves), expected), at
        return points.raised

    assert every_point(attempt, share=7) > 90


def test_at_every_point_of_stepping_back():
    leaves, loss = small(True)
    run = BackwardRun((loss,), retain_graph=True, journal=True)
    pictures = [picture(run, leaves)]
    while run.step() is not None:
        pictures.append(picture(run, leaves))
    total = run.total

    def attempt(at):
        run.run()
        assert run.count == total
        with interrupt(at) as points:
            try:
                while run.back() is not None:
                    pass
            except KeyboardInterrupt:
                pass
        if points.raised:
            before = run.count
            run.back()
            assert run.count < max(before, 1)
            assert picture(run, leaves)[:6] == pictures[run.count][:6], at
        while run.back() is not None:
            pass
        assert picture(run, leaves) == pictures[0], at
        return points.raised

    assert every_point(attempt, share=7) > 90


@pytest.mark.parametrize("hooks", [False, True])
def test_with_a_journal_an_interrupted_step_did_not_happen(hooks):
    leaves, loss = small(hooks)
    run = BackwardRun((loss,), retain_graph=True, journal=True)
    pictures = [picture(run, leaves)]
    while run.step() is not None:
        pictures.append(picture(run, leaves))
    while run.back() is not None:
        pass

    def attempt(at):
        with interrupt(at) as points:
            try:
                run.run()
            except KeyboardInterrupt:
                pass
        found = picture(run, leaves)
        assert found[:6] == pictures[run.count][:6], at
        assert [g[1] for g in found[6]] == [g[1] for g in pictures[run.count][6]], at
        while run.back() is not None:
            pass
        assert picture(run, leaves) == pictures[0], at
        return points.raised

    assert every_point(attempt, share=7) > 90


def test_at_two_points_the_second_while_the_first_is_put_right():
    leaves, loss = small(True)
    loss.backward()
    expected = grads(leaves)
    rng = random.Random(0)
    twice = 0
    for _ in range(100):
        leaves, loss = small(True)
        journal = rng.random() < 0.5
        run = BackwardRun((loss,), journal=journal)
        for at in (rng.randint(1, 500), rng.randint(1, 40), rng.randint(1, 20)):
            with interrupt(at) as points:
                try:
                    run.run()
                except KeyboardInterrupt:
                    twice += points.raised
        run.run()
        assert run.count == run.total
        assert equal(grads(leaves), expected)
    assert twice > 100


def test_at_every_point_of_grad_and_of_backward_with_inputs():
    def attempt(at):
        leaves, loss = small()
        p, q, y = leaves
        run = BackwardRun((loss,), inputs=[y, q], accumulate=False, unseen=True)
        with interrupt(at) as points:
            try:
                run.run()
            except KeyboardInterrupt:
                pass
        run.run()
        assert equal([run.captured[0].numpy(), run.captured[1].numpy()], expected), at
        assert q.grad is None
        return points.raised

    leaves, loss = small()
    expected = [g.numpy() for g in tl.autograd.grad(loss, [leaves[2], leaves[1]])]
    assert every_point(attempt, share=7) > 90


def test_at_every_point_of_an_edit():
    def attempt(at):
        leaves, loss = small()
        run = BackwardRun((loss,), journal=True)
        run.run(until=lambda run, node: node.name() == "TanhBackward")
        before = picture(run, leaves)
        new = run.held(run.current)[0] * 5
        with interrupt(at) as points:
            try:
                run.edit(run.current, 0, new)
            except KeyboardInterrupt:
                pass
        edited = run.held(run.current)[0] is new
        assert edited or points.raised
        run.step()
        run.back()
        assert (run.held(run.current)[0] is new) is edited
        while run.back() is not None:
            pass
        run.run(until=lambda run, node: node.name() == "TanhBackward")
        assert picture(run, leaves)[4] == before[4]
        return points.raised

    every_point(attempt)


# ------------------------------------------------------------------------------------------------ real signals


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")
@pytest.mark.parametrize("kind", ["unseen", "plain", "journal"])
def test_real_signals_again_and_again(kind):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals arrive in the main thread")
    leaves, loss = tangle(3, 150)
    loss.backward()
    expected = grads(leaves)
    rng = random.Random(kind)
    interrupts = 0

    def ring(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    try:
        for _ in range(15):
            leaves, loss = tangle(3, 150)
            run = BackwardRun((loss,), journal=kind == "journal", unseen=kind == "unseen")
            while not run.finished:
                try:
                    signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-4, 2e-3))
                    run.run()
                    signal.setitimer(signal.ITIMER_REAL, 0)
                except KeyboardInterrupt:
                    interrupts += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert run.count == run.total
            assert equal(grads(leaves), expected)
            if kind == "journal":
                while run.back() is not None:
                    pass
                assert all(x.grad is None for x in leaves)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupts > 10


def test_at_every_point_of_a_pass_that_writes_large_sums_into_what_came_out_of_a_formula():
    values = np.linspace(0.5, 1.5, 1 << 15, dtype=np.float32)

    def large():
        x, y = (tl.from_numpy(values.copy()).requires_grad_() for _ in range(2))
        return [x, y], ((((x * y).tanh() * x + y + y).tanh() * x) * x).sum()

    leaves, loss = large()
    loss.backward()
    expected = grads(leaves)
    watched, other = large()
    BackwardRun((other,), journal=True).run()
    assert all(np.allclose(a, b, rtol=1e-5) for a, b in zip(grads(watched), expected, strict=True))

    def attempt(at):
        leaves, loss = large()
        run = BackwardRun((loss,), unseen=True)
        with interrupt(at) as points:
            try:
                run.run()
            except KeyboardInterrupt:
                pass
        run.run()
        assert equal(grads(leaves), expected), at
        return points.raised

    assert every_point(attempt, share=2) > 40
