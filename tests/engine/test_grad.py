"""``autograd.grad`` and passes that are limited to some inputs; the order in which nodes run."""

from __future__ import annotations

import random

import pytest

import tensorlab as tl
from tensorlab.autograd import grad
from tensorlab.engine.node import accumulator
from tensorlab.engine.run import BackwardRun


def leaf(*values):
    return tl.tensor(list(values), requires_grad=True)


def test_it_returns_gradients_and_touches_no_grad():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    gx, gw = grad((x * w).sum(), [x, w])
    assert gx.tolist() == [3, 4]
    assert gw.tolist() == [1, 2]
    assert x.grad is None
    assert w.grad is None


def test_an_unused_input_is_an_error_or_none_or_zeros():
    x, y = leaf(1.0), leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match=r"appears to not have been used in the graph: input 1 \(shape \[2\]\)"):
        grad(x.sum(), [x, y])
    assert grad(x.sum(), [x, y], allow_unused=True)[1] is None
    assert grad(x.sum(), [x, y], materialize_grads=True)[1].tolist() == [0, 0]
    with pytest.raises(ValueError, match="allow_unused"):
        grad(x.sum(), [x, y], allow_unused=False, materialize_grads=True)


def test_an_input_that_needs_no_grad_is_refused_with_its_position():
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="does not require grad: input 1"):
        grad(x.sum(), [x, tl.ones(1)])
    with pytest.raises(TypeError, match="element 0 is float"):
        grad(x.sum(), [1.0])
    with pytest.raises(RuntimeError, match="cannot be empty"):
        grad(x.sum(), [])


def test_an_input_may_be_named_twice_and_may_be_the_output():
    x = leaf(2.0)
    y = (x * x).sum()
    assert [g.tolist() for g in grad(y, [x, x], retain_graph=True)] == [[4], [4]]
    assert grad(y, y)[0].item() == 1


def test_intermediates_get_their_gradients_and_the_pass_goes_no_further_than_it_must():
    ran = []
    x = leaf(2.0)
    a = x * 3
    b = a.exp()
    a.grad_fn.register_hook(lambda gi, go: ran.append("a"))
    b.grad_fn.register_hook(lambda gi, go: ran.append("b"))
    (ga,) = grad(b.sum(), [a])
    assert ga.tolist() == b.tolist()
    assert ran == ["b"]


def test_gradients_that_nobody_asked_for_are_not_computed():
    computed = []

    class Product(tl.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return g * b, g * a

    x, w, v = leaf(1.0, 2.0), leaf(3.0, 4.0), leaf(5.0, 6.0)
    y = x * w
    z = Product.apply(y, v)
    written = z * 1
    written[0] = v[1]
    for t in (y, z, written):
        t.grad_fn.register_hook(lambda gi, go: computed.append([g is not None for g in gi]))
    (gx,) = grad(written.sum(), x)
    assert gx.tolist() == [0, 24]
    assert computed[-2:] == [[True, False], [True, False]]


def test_an_intermediate_and_a_leaf_beyond_it_both_get_theirs():
    x = leaf(1.0, 2.0)
    t = x * 2
    gt, gx = grad((t * t).sum(), [t, x])
    assert gt.tolist() == [4, 8]
    assert gx.tolist() == [8, 16]


def test_tensor_hooks_run_once_and_what_they_return_is_captured_and_goes_on():
    x = leaf(1.0, 2.0)
    t = x * 2
    calls = []
    t.register_hook(lambda g: calls.append(1) or g * 10)
    gt, gx = grad((t * t).sum(), [t, x])
    assert calls == [1]
    assert gt.tolist() == [40, 80]
    assert gx.tolist() == [80, 160]


def test_what_a_pre_hook_of_the_node_returns_is_not_the_gradient_of_the_tensor():
    x = leaf(1.0)
    t = x * 2
    t.grad_fn.register_prehook(lambda gs: (gs[0] * 10,))
    gt, gx = grad((t * 3).sum(), [t, x])
    assert gt.tolist() == [3]
    assert gx.tolist() == [60]


def test_hooks_of_a_node_do_not_run_where_the_pass_ends_and_post_accumulate_hooks_never_do():
    x = leaf(1.0)
    t = x * 2
    calls = []
    t.register_hook(lambda g: calls.append("tensor"))
    t.grad_fn.register_prehook(lambda g: calls.append("pre"))
    t.grad_fn.register_hook(lambda gi, go: calls.append("post"))
    x.register_post_accumulate_grad_hook(lambda p: calls.append("accumulated"))
    accumulator(x).register_hook(lambda gi, go: calls.append("leaf post"))
    grad(t.sum(), [t], retain_graph=True)
    assert calls == ["tensor"]
    calls.clear()
    grad(t.sum(), [t, x])
    assert calls == ["tensor", "pre", "post"]


def test_weighted_outputs_and_several_outputs_add_up():
    a, b = leaf(1.0, 1.0), leaf(2.0, 2.0)
    ga, gb = grad([a * b, b.sum()], [a, b], [tl.tensor([1.0, 10.0]), None])
    assert ga.tolist() == [2, 20]
    assert gb.tolist() == [2, 11]


def test_higher_derivatives_of_any_order():
    x = leaf(2.0)
    y = (x**5).sum()
    for expected in (80, 160, 240, 240, 120):
        (g,) = grad(y, x, create_graph=True)
        assert g.item() == expected
        y = g.sum()
    assert grad(y, x, allow_unused=True, create_graph=True)[0].item() == 0


def test_a_gradient_penalty_reaches_the_weights():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (gx,) = grad((w * x * x).sum(), x, create_graph=True)
    (gx * gx).sum().backward()
    assert w.grad.tolist() == [8 * 3 * 1, 8 * 4 * 4]


def test_without_create_graph_the_result_requires_no_grad():
    x = leaf(2.0)
    (g,) = grad((x * x).sum(), x)
    assert not g.requires_grad
    assert g.is_leaf


# ------------------------------------------------------------------------------------------------ backward(inputs=...)


def test_backward_with_inputs_fills_only_those_also_computed_ones():
    x, w = leaf(1.0), leaf(2.0)
    t = x * w
    (t * t).sum().backward(inputs=[t, w])
    assert t.grad.tolist() == [4]
    assert w.grad.tolist() == [4]
    assert x.grad is None


def test_an_intermediate_among_the_inputs_keeps_retaining_as_if_asked():
    x = leaf(1.0)
    t = x * 2
    t.sum().backward(inputs=[t], retain_graph=True)
    assert t.retains_grad
    t.sum().backward()
    assert t.grad.tolist() == [2]
    assert x.grad.tolist() == [2]


def test_no_inputs_at_all_is_an_error():
    with pytest.raises(RuntimeError, match="'inputs' argument to backward\\(\\) cannot be empty"):
        leaf(1.0).sum().backward(inputs=[])


def test_an_input_out_of_reach_stays_none():
    x, w = leaf(1.0), leaf(2.0)
    x.sum().backward(inputs=[x, w])
    assert w.grad is None
    assert x.grad.tolist() == [1]


# ------------------------------------------------------------------------------------------------ order


def test_among_ready_nodes_the_newest_runs_first_and_leaves_before_all_others():
    x, y = leaf(1.0), leaf(2.0)
    a = x.exp()
    b = y.sin()
    c = x.cos()
    loss = a + b + c
    run = BackwardRun((loss.sum(),), journal=True)
    run.run()
    assert [node.name() for node in run.done] == [
        "SumBackward0",
        "AddBackward0",
        "AddBackward0",  # newer than the cosine, which is ready as well
        "CosBackward0",
        "SinBackward0",
        "AccumulateGrad",  # y, as soon as it is ready
        "ExpBackward0",
        "AccumulateGrad",  # x had two uses
    ]


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_a_random_graph_follows_from_the_rule(seed):
    rng = random.Random(seed)
    leaves = [leaf(1.0) for _ in range(3)]
    values = list(leaves)
    for _ in range(60):
        a, b = rng.choice(values), rng.choice(values)
        values.append(rng.choice([lambda a, b: a * b, lambda a, b: a + b, lambda a, b: a.sin()])(a, b))
    loss = sum(values[1:], values[0])
    run = BackwardRun((loss,), [tl.ones(1)], journal=True)
    planned = run.planned()
    run.run()
    assert run.done == planned
    place = {node: i for i, node in enumerate(run.done)}
    for node in run.done:
        for following, _ in node.next_functions:
            assert following is None or place[following] > place[node]
    ready = {run.done[0]}
    missing = {node: run_consumers(run.done, node) for node in run.done}
    for node in run.done:
        assert node is min(ready, key=lambda n: (n.name() != "AccumulateGrad", -n.seq))
        ready.discard(node)
        for following, _ in node.next_functions:
            if following is not None:
                missing[following] -= 1
                if not missing[following]:
                    ready.add(following)


def run_consumers(nodes, node):
    return sum(following is node for n in nodes for following, _ in n.next_functions)
