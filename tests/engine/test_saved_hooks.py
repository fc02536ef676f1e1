"""``autograd.graph``: hooks on what a graph saves, hooks on several gradients at once, edges."""

from __future__ import annotations

import threading

import pytest

import tensorlab as tl
from tensorlab.autograd import Function, grad, graph
from tensorlab.engine.run import BackwardRun


def leaf(*values):
    return tl.tensor(list(values), requires_grad=True)


def counting():
    """Hooks that keep a copy, and how often each was called."""
    calls = {"pack": 0, "unpack": 0}

    def pack(x):
        calls["pack"] += 1
        return x.numpy().copy()

    def unpack(array):
        calls["unpack"] += 1
        return tl.from_numpy(array)

    return calls, pack, unpack


# ------------------------------------------------------------------------------------------------ saved tensors


@pytest.mark.parametrize(
    ("make", "packed"), [(lambda x: x.exp(), 1), (lambda x: x * x, 2), (lambda x: x + x, 0), (lambda x: x.sum(), 0)]
)
def test_pack_is_called_for_every_saved_value_and_unpack_when_it_is_used(make, packed):
    calls, pack, unpack = counting()
    x = leaf(1.0, 2.0)
    with graph.saved_tensors_hooks(pack, unpack):
        y = make(x).sum()
    assert calls == {"pack": packed, "unpack": 0}
    y.backward()
    assert calls == {"pack": packed, "unpack": packed}


def test_hooks_end_with_their_block_and_the_innermost_counts():
    outer, inner = counting(), counting()
    x = leaf(1.0)
    with graph.saved_tensors_hooks(*outer[1:]):
        with graph.saved_tensors_hooks(*inner[1:]):
            a = x.exp()
        b = x.exp()
    c = x.exp()
    (a + b + c).sum().backward()
    assert outer[0] == inner[0] == {"pack": 1, "unpack": 1}


def test_second_derivatives_pass_through_packed_values():
    _, pack, unpack = counting()
    x = leaf(2.0)
    with graph.saved_tensors_hooks(pack, unpack):
        y = x**3
        z = y.exp()
    (g,) = grad(y.sum(), x, create_graph=True)
    assert grad(g.sum(), x)[0].tolist() == [12]
    (g,) = grad(z.sum(), x, create_graph=True)
    (h,) = grad(g.sum(), x)
    expected = z.item() * ((3 * 4) ** 2 + 6 * 2)
    assert h.item() == pytest.approx(expected, rel=1e-5)


def test_custom_functions_and_in_place_writes_pack_too():
    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            return g * 3 * ctx.saved_tensors[0] ** 2

    calls, pack, unpack = counting()
    x = leaf(2.0)
    with graph.saved_tensors_hooks(pack, unpack):
        y = Cube.apply(x)
        z = x * 1
        before = calls["pack"]
        z.pow_(2)
        assert calls["pack"] > before
    (g,) = grad(y.sum(), x, create_graph=True)
    assert grad(g.sum(), x)[0].tolist() == [12]
    z.sum().backward()
    assert x.grad.tolist() == [4]


def test_a_value_in_the_care_of_hooks_is_not_watched_for_writes():
    _, pack, unpack = counting()
    x = leaf(2.0)
    with graph.saved_tensors_hooks(pack, unpack):
        y = x * 1
        z = y.exp()
    expected = z.tolist()
    z.add_(1)
    z.sum().backward()
    assert x.grad.tolist() == expected


def test_pack_must_not_write_into_its_tensor():
    y = leaf(1.0) * 1
    with (
        graph.saved_tensors_hooks(lambda t: t.add_(1), lambda t: t),
        pytest.raises(RuntimeError, match="pack hook is modifying its input in place"),
    ):
        y.exp()


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        (3, TypeError, "unpack_hook expected to be a Tensor but got result of type int, for ExpBackward0"),
        (tl.ones(5), RuntimeError, r"gave ExpBackward0 a tensor of shape \[5\]"),
        (tl.ones(2, dtype=tl.float64), RuntimeError, "type float64"),
    ],
)
def test_unpack_must_give_back_what_was_packed(given, kind, said):
    with graph.saved_tensors_hooks(lambda t: t, lambda t: given):
        y = leaf(1.0, 2.0).exp()
    with pytest.raises(kind, match=said):
        y.sum().backward()


def test_packed_values_are_freed_with_the_graph():
    _, pack, unpack = counting()
    x = leaf(1.0)
    with graph.saved_tensors_hooks(pack, unpack):
        loss = x.exp().sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        loss.backward()


def test_hooks_belong_to_their_thread():
    calls, pack, unpack = counting()
    x = leaf(1.0)
    with graph.saved_tensors_hooks(pack, unpack):
        thread = threading.Thread(target=x.exp)
        thread.start()
        thread.join()
    assert calls["pack"] == 0


def test_they_can_be_forbidden():
    with graph.disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="not here"), graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            pass
        assert leaf(1.0).exp().requires_grad
    with (
        graph.saved_tensors_hooks(lambda t: t, lambda t: t),
        pytest.raises(RuntimeError, match="no"),
        graph.disable_saved_tensors_hooks("no"),
    ):
        pass


def test_save_on_cpu_changes_nothing_on_the_cpu():
    x = leaf(1.0, 2.0)
    with graph.save_on_cpu():
        loss = (x * x).exp().sum()
    loss.backward()
    expected = x.detach().clone().requires_grad_()
    (expected * expected).exp().sum().backward()
    assert x.grad.tolist() == expected.grad.tolist()


# ------------------------------------------------------------------------------------------------ several gradients


def test_a_multi_grad_hook_is_called_once_with_all_gradients():
    calls = []
    x, w = leaf(1.0), leaf(2.0)
    y = x * w
    graph.register_multi_grad_hook((x, w, y), lambda gs: calls.append([g.tolist() for g in gs]))
    (y * 3).sum().backward()
    assert calls == [[[6], [3], [3]]]


def test_what_a_pass_does_not_reach_is_none():
    calls = []
    x, w = leaf(1.0), leaf(2.0)
    y = x * w
    graph.register_multi_grad_hook((x, y), lambda gs: calls.append([None if g is None else g.tolist() for g in gs]))
    (x * 3).sum().backward()
    y.sum().backward()
    assert calls == [[[3], None], [[2], [1]]]


def test_an_output_without_a_gradient_is_none_too():
    calls = []
    a, b = leaf(1.0, 2.0).unbind()
    graph.register_multi_grad_hook((a, b), calls.append)
    b.backward()
    assert len(calls) == 1
    assert calls[0][0] is None
    assert calls[0][1].item() == 1


def test_mode_any_is_called_with_the_first_gradient_only():
    calls = []
    x = leaf(1.0)
    y = x * 2
    graph.register_multi_grad_hook((x, y), lambda g: calls.append(g.tolist()), mode="any")
    y.sum().backward()
    y = x * 2
    x.sum().backward()
    assert calls == [[1], [1]]
    with pytest.raises(ValueError, match="'all', 'any'"):
        graph.register_multi_grad_hook((x,), print, mode="some")


def test_its_handle_takes_it_off_all_tensors():
    calls = []
    x = leaf(1.0)
    y = x * 2
    with graph.register_multi_grad_hook((x, y), calls.append):
        y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert len(calls) == 1


def test_it_is_refused_for_what_needs_no_gradient():
    with pytest.raises(RuntimeError, match="does not require gradients"):
        graph.register_multi_grad_hook((leaf(1.0), tl.ones(1)), print)


def test_it_is_called_again_after_stepping_back_with_the_gradients_of_then():
    calls = []
    x, w = leaf(1.0), leaf(2.0)
    y = x * w
    graph.register_multi_grad_hook((x, w, y), lambda gs: calls.append([g.tolist() for g in gs]))
    run = BackwardRun(((y * 3).sum(),), journal=True)
    run.run()
    while run.count > 1:
        run.back()
    run.edit(run.current, 0, run.held(run.current)[0] * 10)
    run.run()
    assert calls == [[[6], [3], [3]], [[60], [30], [30]]]


def test_it_may_fail_and_be_called_again():
    calls = []

    def hook(gs):
        calls.append(len(gs))
        if len(calls) == 1:
            raise ZeroDivisionError

    x = leaf(1.0)
    y = x * 2
    graph.register_multi_grad_hook((x, y), hook)
    run = BackwardRun((y.sum(),))
    with pytest.raises(ZeroDivisionError):
        run.run()
    run.run()
    assert calls == [2, 2]
    assert x.grad.tolist() == [2]


def test_passes_of_several_threads_are_told_apart():
    calls = []
    x = leaf(1.0)
    w = leaf(1.0)
    graph.register_multi_grad_hook((x, w), lambda gs: calls.append(sorted(g.item() for g in gs)))

    def work(factor):
        for _ in range(20):
            (x * factor + w * factor).sum().backward()

    threads = [threading.Thread(target=work, args=(float(i),)) for i in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(calls) == [[1, 1]] * 20 + [[2, 2]] * 20 + [[3, 3]] * 20


# ------------------------------------------------------------------------------------------------ edges and versions


def test_a_gradient_edge_is_a_node_and_an_output_number():
    x = leaf(1.0, 2.0)
    a, b = x.unbind()
    assert graph.get_gradient_edge(b) == (b.grad_fn, 1)
    assert graph.get_gradient_edge(x).node.variable is x
    assert isinstance(a.grad_fn, graph.Node)
    with pytest.raises(RuntimeError, match="does not require gradients"):
        graph.get_gradient_edge(tl.ones(1))


def test_a_write_that_nobody_saw_can_be_told():
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.detach().numpy()[0] = 5
    graph.increment_version(y)
    assert y._version == 1
    with pytest.raises(RuntimeError, match=r"increment_version\(\) at"):
        y.sum().backward()
