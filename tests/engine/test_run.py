"""``BackwardRun``: stepping, stopping, looking, editing, closing."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.engine.node import accumulator
from tensorlab.engine.run import BackwardRun
from tests.engine.graphs import leaf, tangle


def gradients(leaves):
    return [None if x.grad is None else x.grad.numpy().copy() for x in leaves]


def same(found, expected):
    return all(a is b is None or np.array_equal(a, b, equal_nan=True) for a, b in zip(found, expected, strict=True))


def by_backward(seed):
    leaves, loss = tangle(seed)
    loss.backward()
    return gradients(leaves)


# ------------------------------------------------------------------------------------------------ going forward


@pytest.mark.parametrize("journal", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_stepping_to_the_end_gives_the_gradients_of_backward_bit_by_bit(seed, journal):
    leaves, loss = tangle(seed)
    run = BackwardRun((loss,), journal=journal)
    assert run.total > 80
    steps = 0
    while run.current is not None:
        node = run.current
        assert run.step() is node
        steps += 1
        assert run.count == steps
    assert run.finished
    assert steps == run.total
    assert run.step() is None
    assert same(gradients(leaves), by_backward(seed))


def test_until_is_asked_before_each_node_and_stops_there():
    x = leaf(1.0, 2.0)
    a = x * 2
    b = a.exp()
    run = BackwardRun((b.sum(),), journal=True)
    asked = []
    stopped = run.run(until=lambda run, node: asked.append(node.name()) or node is a.grad_fn)
    assert stopped is a.grad_fn is run.current
    assert asked == ["SumBackward0", "ExpBackward0", "MulBackward0"]
    assert x.grad is None
    assert run.run(until=lambda run, node: run.count == 0) is None
    assert run.finished
    assert x.grad is not None


def test_a_predicate_may_look_at_the_gradient_that_comes_in():
    x = leaf(1.0, 2.0)
    run = BackwardRun(((x * 3 * 5).sum(),), journal=True)
    stopped = run.run(until=lambda run, node: run.held(node)[0].max().item() > 3)
    assert stopped.name() == "MulBackward0"
    assert run.held(stopped)[0].tolist() == [5, 5]


def test_a_predicate_that_raises_leaves_the_run_where_it_was():
    x = leaf(1.0)
    run = BackwardRun(((x * 2).sum(),), journal=True)
    run.step()
    with pytest.raises(ZeroDivisionError):
        run.run(until=lambda run, node: 1 / 0)
    assert run.count == 1
    run.run()
    assert x.grad.tolist() == [2]


def test_what_waits_what_was_held_and_what_flowed_can_be_looked_at():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = x * w
    loss = y.sum()
    run = BackwardRun((loss,), journal=True)
    node = y.grad_fn
    assert run.current is loss.grad_fn
    assert run.held(node) is None
    assert run.left(node) == 1
    assert {n.name(): [g.tolist() for g in gs] for n, gs in run.waiting.items()} == {"SumBackward0": [1.0]}
    run.step()
    assert run.held(node)[0].tolist() == [1, 1]
    assert run.incoming(node)[0].tolist() == [1, 1]
    assert run.flow(loss.grad_fn)[0][0] == 0
    assert list(run.waiting) == [node]
    run.step()
    assert run.held(node) is None
    assert run.left(node) == -1
    assert run.incoming(node)[0].tolist() == [1, 1]
    assert [(i, g.tolist()) for i, g in run.flow(node)] == [(0, [3, 4]), (1, [1, 2])]
    assert run.done == [loss.grad_fn, node]
    assert run.left(leaf(1.0).exp().grad_fn) is None
    assert run.flow(accumulator(x)) == []


def test_incoming_is_what_hooks_made_of_it():
    y = leaf(1.0) * 2
    y.register_hook(lambda g: g * 10)
    run = BackwardRun((y.sum(),), journal=True)
    run.run()
    assert run.incoming(y.grad_fn)[0].tolist() == [10]


def test_several_outputs_wait_in_one_list_with_none_for_the_missing():
    a, b = leaf(1.0, 2.0).unbind()
    run = BackwardRun((b * 3,), journal=True)
    run.step()
    assert run.held(b.grad_fn)[0] is None
    assert run.held(b.grad_fn)[1].item() == 3


def test_the_plan_is_the_order_of_the_run_at_every_point():
    _, loss = tangle(5)
    run = BackwardRun((loss,), journal=True)
    whole = run.planned()
    while run.current is not None:
        assert run.planned() == whole[run.count :]
        run.run(until=lambda run, node, stop=run.count + 17: run.count >= stop)
    assert run.done == whole


# ------------------------------------------------------------------------------------------------ editing


def test_an_edited_gradient_flows_on_instead_of_the_old():
    x = leaf(1.0, 2.0)
    y = x * 3
    run = BackwardRun((y.sum(),), journal=True)
    run.step()
    run.edit(y.grad_fn, 0, tl.tensor([1.0, 100.0]))
    run.run()
    assert x.grad.tolist() == [3, 300]


def test_an_edit_is_undone_with_the_step_before_it():
    x = leaf(1.0, 2.0)
    y = x * 3
    run = BackwardRun((y.sum(),), journal=True)
    run.step()
    before = run.held(y.grad_fn)[0]
    for value in (5.0, 7.0):
        run.edit(y.grad_fn, 0, tl.full((2,), value))
    run.step()
    assert run.back() is y.grad_fn
    assert run.held(y.grad_fn)[0].tolist() == [7, 7]
    run.back()
    run.step()
    assert run.held(y.grad_fn)[0].tolist() == before.tolist() == [1, 1]


def test_an_edit_at_the_beginning_is_undone_by_going_back():
    x = leaf(1.0)
    loss = (x * 3).sum()
    run = BackwardRun((loss,), journal=True)
    run.edit(loss.grad_fn, 0, tl.tensor(9.0))
    assert run.back() is None
    run.run()
    assert x.grad.tolist() == [3]


def test_an_edit_must_fit_and_must_be_of_something_that_waits():
    x = leaf(1.0, 2.0)
    y = x * 3
    loss = y.sum()
    run = BackwardRun((loss,), journal=True)
    with pytest.raises(RuntimeError, match="no gradient waits at MulBackward0"):
        run.edit(y.grad_fn, 0, tl.ones(2))
    run.step()
    with pytest.raises(RuntimeError, match="no gradient waits at SumBackward0"):
        run.edit(loss.grad_fn, 0, tl.tensor(1.0))
    with pytest.raises(RuntimeError, match=r"must have shape \[2\]"):
        run.edit(y.grad_fn, 0, tl.ones(3))
    with pytest.raises(RuntimeError, match="type float32"):
        run.edit(y.grad_fn, 0, tl.ones(2, dtype=tl.float64))
    with pytest.raises(TypeError, match="a gradient is a Tensor, not float"):
        run.edit(y.grad_fn, 0, 1.0)
    with pytest.raises(IndexError, match="has no output 1"):
        run.edit(y.grad_fn, 1, tl.ones(2))


def test_a_missing_gradient_of_one_output_can_be_given():
    x = leaf(1.0, 2.0)
    a, b = x.unbind()
    run = BackwardRun((b * 3,), journal=True)
    run.step()
    run.edit(b.grad_fn, 0, tl.tensor(50.0))
    run.run()
    assert x.grad.tolist() == [50, 3]


def test_the_gradient_of_a_leaf_can_be_edited_before_it_arrives():
    x = leaf(1.0)
    run = BackwardRun(((x * 3).sum(),), journal=True)
    run.run(until=lambda run, node: node is accumulator(x))
    run.edit(accumulator(x), 0, tl.tensor([-1.0]))
    run.run()
    assert x.grad.tolist() == [-1]


# ------------------------------------------------------------------------------------------------ retaining and closing


def test_without_a_journal_values_are_freed_node_by_node():
    x = leaf(1.0)
    y = x.exp()
    run = BackwardRun((y.sum(),))
    run.step()
    assert y.grad_fn.freed is None
    run.step()
    assert y.grad_fn.freed is not None


def test_with_a_journal_values_are_freed_when_the_run_is_closed_and_only_of_nodes_that_ran():
    x = leaf(1.0)
    a = x.exp()
    b = a.exp()
    run = BackwardRun((b.sum(),), journal=True)
    run.step()
    run.step()
    assert b.grad_fn.freed is None
    run.close()
    assert b.grad_fn.freed is not None
    assert a.grad_fn.freed is None
    run.close()


@pytest.mark.parametrize("journal", [True, False])
def test_retain_graph_frees_nothing(journal):
    x = leaf(1.0)
    loss = x.exp().sum()
    for _ in range(2):
        run = BackwardRun((loss,), retain_graph=True, journal=journal)
        run.run()
        run.close()
    assert x.grad.tolist() == pytest.approx([2 * np.e])


def test_a_closed_run_refuses_every_move():
    x = leaf(1.0)
    loss = (x * 2).sum()
    run = BackwardRun((loss,), journal=True)
    run.close()
    for move in (run.step, run.run, run.back, lambda: run.edit(loss.grad_fn, 0, tl.tensor(1.0))):
        with pytest.raises(RuntimeError, match="this backward run is closed"):
            move()
    assert run.current is None
    assert x.grad is None


def test_without_a_journal_there_is_no_way_back():
    run = BackwardRun((leaf(1.0).sum(),))
    with pytest.raises(RuntimeError, match="journal=True"):
        run.back()


def test_a_temporary_leaf_lives_as_long_as_its_run():
    run = BackwardRun((leaf(1.0),), [tl.ones(1)], journal=True)
    run.run()
    assert run.done[0].variable.grad.tolist() == [1]


def test_a_run_limited_to_inputs_counts_only_what_leads_there():
    x, w = leaf(1.0), leaf(2.0)
    a = x.exp().exp()
    loss = (a * w).sum()
    run = BackwardRun((loss,), inputs=[w], accumulate=False, journal=True)
    assert run.total == 3
    run.run()
    assert run.captured[0].tolist() == a.tolist()
    assert w.grad is None
    while run.back() is not None:
        pass
    assert run.captured == {}


# ------------------------------------------------------------------------------------------------ runs and runs


def test_two_runs_on_one_graph_do_not_disturb_each_other():
    leaves, loss = tangle(7)
    first, second = (BackwardRun((loss,), retain_graph=True, journal=True) for _ in range(2))
    while not (first.finished and second.finished):
        first.run(until=lambda run, node, stop=first.count + 5: run.count >= stop)
        second.run(until=lambda run, node, stop=second.count + 3: run.count >= stop)
    expected = by_backward(7)
    for x, g in zip(leaves, expected, strict=True):
        np.testing.assert_allclose(x.grad.numpy(), 2 * g, rtol=1e-6)


def test_a_run_that_meets_what_another_freed_says_so_and_can_be_dropped():
    x = leaf(1.0)
    loss = x.exp().sum()
    waiting = BackwardRun((loss,), journal=True)
    waiting.step()
    loss.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        waiting.step()
    waiting.back()
    waiting.close()


@pytest.mark.parametrize("move", ["step", "run", "back", "close"])
def test_what_a_step_calls_cannot_move_the_run_itself(move):
    x = leaf(1.0)
    y = x * 2
    run = BackwardRun((y.sum(),), journal=True)
    handle = y.register_hook(lambda g: getattr(run, move)())
    with pytest.raises(RuntimeError, match="in the middle of a step"):
        run.run()
    handle.remove()
    run.run()
    assert x.grad.tolist() == [2]


def test_a_hook_may_run_another_backward_and_another_run():
    x, w = leaf(1.0), leaf(5.0)
    y = x * 2

    def inner(g):
        with tl.enable_grad():
            (w * w).sum().backward()

    y.register_hook(inner)
    other = BackwardRun(((w * 3).sum(),), journal=True)
    y.register_hook(lambda g: other.run() and None)
    y.sum().backward()
    assert x.grad.tolist() == [2]
    assert w.grad.tolist() == [13]


def test_a_hook_may_differentiate_the_same_graph_again():
    x = leaf(2.0)
    y = x * x
    found = []
    y.register_hook(
        lambda g: (
            found.append(tl.autograd.grad(again, x)[0].tolist()) if not found.append(0) and len(found) == 1 else None
        )
    )
    again = (x**3).sum()
    y.sum().backward()
    assert found == [0, [12]]
    assert x.grad.tolist() == [4]


def test_grad_mode_is_given_back_whatever_happens():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: 1 / 0)
    for mode in (True, False):
        with tl.set_grad_enabled(mode):
            run = BackwardRun((y.sum(),)) if mode else run  # noqa: F821
            with pytest.raises(ZeroDivisionError):
                run.run()
            assert tl.is_grad_enabled() is mode


def test_create_graph_gives_gradients_that_differentiate_also_when_stepped():
    x = leaf(2.0)
    run = BackwardRun(((x**3).sum(),), create_graph=True, inputs=[x], accumulate=False, journal=True)
    while run.current is not None:
        run.step()
    (g,) = run.captured.values()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tl.autograd.grad(g.sum(), x)[0].tolist() == [12]
