"""Hooks on tensors and nodes: when they run, with what, and what they may return."""

from __future__ import annotations

import pytest

import tensorlab as tl
from tensorlab.autograd import grad
from tensorlab.engine.node import accumulator


def leaf(*values):
    return tl.tensor(list(values), requires_grad=True)


# ------------------------------------------------------------------------------------------------ order


def test_the_order_at_a_computed_tensor():
    log = []
    x = leaf(1.0, 2.0)
    y = x * 2
    y.grad_fn.register_prehook(lambda gs: log.append(("pre", gs[0].tolist(), y.grad.tolist())))
    y.grad_fn.register_hook(lambda gi, go: log.append(("post", gi[0].tolist(), go[0].tolist())))
    y.retain_grad()
    y.register_hook(lambda g: log.append(("first", g.tolist())) or g * 10)
    y.register_hook(lambda g: log.append(("second", g.tolist())) or g * 2)
    y.sum().backward()
    assert log == [("first", [1, 1]), ("second", [10, 10]), ("pre", [20, 20], [20, 20]), ("post", [40, 40], [20, 20])]
    assert y.grad.tolist() == [20, 20]
    assert x.grad.tolist() == [40, 40]


def test_the_order_at_a_leaf():
    log = []
    x = leaf(1.0)

    def note(what):
        return lambda *given: log.append((what, x.grad is not None))

    node = accumulator(x)
    x.register_post_accumulate_grad_hook(note("accumulated"))
    node.register_hook(note("post"))
    node.register_prehook(note("pre"))
    x.register_hook(note("tensor"))
    (x * 2).sum().backward()
    assert log == [("tensor", False), ("pre", False), ("accumulated", True), ("post", True)]


def test_the_post_hook_of_a_leaf_gets_no_grad_inputs_and_the_gradient():
    seen = []
    x = leaf(1.0)
    accumulator(x).register_hook(lambda gi, go: seen.append((gi, go[0].tolist())))
    (x * 2).sum().backward()
    assert seen == [((), [2])]


def test_a_post_accumulate_hook_gets_the_leaf_and_may_take_its_gradient_away():
    x = leaf(1.0)

    def update(p):
        with tl.no_grad():
            p -= p.grad
        p.grad = None

    handle = x.register_post_accumulate_grad_hook(update)
    (x * 2).sum().backward()
    assert x.tolist() == [-1]
    assert x.grad is None
    handle.remove()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2]


def test_a_leaf_hook_runs_once_a_backward_on_the_sum():
    calls = []
    x = leaf(1.0)
    x.register_hook(lambda g: calls.append(g.tolist()))
    (x * 2 + x * 3 + x).sum().backward()
    assert calls == [[6]]
    x.sum().backward()
    assert calls == [[6], [1]]


def test_a_hook_on_one_of_several_outputs_is_not_told_of_gradients_that_do_not_exist():
    calls = []
    a, b = leaf(1.0, 2.0).unbind()
    a.register_hook(lambda g: calls.append("a"))
    b.register_hook(lambda g: calls.append("b"))
    b.grad_fn.register_prehook(lambda gs: calls.append(gs[0]))
    b.backward()
    assert calls == ["b", None]


# ------------------------------------------------------------------------------------------------ handles


def test_a_handle_takes_its_hook_off_and_may_be_asked_twice():
    x = leaf(1.0)
    calls = []
    first = x.register_hook(lambda g: calls.append(1))
    x.register_hook(lambda g: calls.append(2))
    first.remove()
    first.remove()
    (x * 2).sum().backward()
    assert calls == [2]


def test_a_handle_ends_its_hook_with_a_block():
    x = leaf(1.0)
    calls = []
    with x.register_hook(lambda g: calls.append(1)):
        x.sum().backward()
    x.sum().backward()
    assert calls == [1]


def test_a_hook_may_take_itself_off_while_it_runs():
    x = leaf(1.0)
    calls = []

    def once(g):
        calls.append("once")
        handle.remove()

    handle = x.register_hook(once)
    x.register_hook(lambda g: calls.append("always"))
    for _ in range(2):
        x.sum().backward()
    assert calls == ["once", "always", "always"]


def test_a_handle_outlives_its_tensor():
    y = leaf(1.0) * 2
    handle = y.register_hook(lambda g: None)
    del y
    handle.remove()


def test_what_cannot_be_called_is_refused_when_registered():
    with pytest.raises(TypeError, match="must be callable, not int"):
        leaf(1.0).register_hook(3)


# ------------------------------------------------------------------------------------------------ hooks and in-place writes


def test_hooks_stay_with_the_old_history_and_retain_grad_moves_to_the_new():
    seen = []
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: seen.append(("before", g.tolist())))
    y.retain_grad()
    y.mul_(5)
    y.register_hook(lambda g: seen.append(("after", g.tolist())))
    y.sum().backward()
    assert seen == [("after", [1]), ("before", [5])]
    assert y.grad.tolist() == [1]


def test_retain_grad_of_a_view_follows_a_write_to_it_and_a_write_to_its_base():
    for write in (lambda base, view: view.mul_(3), lambda base, view: base.mul_(3)):
        base = leaf(1.0, 2.0).clone()
        view = base[0]
        view.retain_grad()
        write(base, view)
        (view * 7).backward()
        assert view.grad.item() == 7
        assert view.retains_grad


def test_a_hook_on_a_base_sees_only_what_came_before_the_write():
    seen = []
    base = leaf(1.0, 2.0).clone()
    base.register_hook(lambda g: seen.append(g.tolist()))
    base[0].mul_(10)
    base.sum().backward()
    assert seen == [[10, 1]]


# ------------------------------------------------------------------------------------------------ what hooks return


def test_a_returned_tensor_replaces_the_gradient():
    x = leaf(1.0)
    y = x * 3
    y.register_hook(lambda g: tl.full((1,), 7.0))
    y.sum().backward()
    assert x.grad.tolist() == [21]


@pytest.mark.parametrize(
    ("returned", "kind", "said"),
    [
        (lambda g: g[:1], RuntimeError, "has changed the size of value"),
        (lambda g: g.double(), RuntimeError, "has changed the type of value"),
        (lambda g: 3, TypeError, "expected Variable, but hook returned 'int'"),
    ],
)
def test_a_tensor_hook_that_returns_nonsense_is_named(returned, kind, said):
    x = leaf(1.0, 2.0)
    y = x * 2

    def shrink(g):
        return returned(g)

    y.register_hook(shrink)
    with pytest.raises(kind, match=said) as caught:
        y.sum().backward()
    assert "shrink" in str(caught.value)
    assert "MulBackward0" in str(caught.value)
    assert x.grad is None


def test_a_pre_hook_returns_a_tuple_with_one_gradient_for_each():
    x = leaf(1.0)
    y = x * 2
    handle = y.grad_fn.register_prehook(lambda gs: (gs[0] * 5,))
    y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [10]
    handle.remove()
    for wrong, kind, said in (
        (lambda gs: gs * 2, RuntimeError, "incorrect number of values \\(got 2, but expected 1\\)"),
        (lambda gs: gs[0], TypeError, "expected tuple, but hook returned 'Tensor'"),
        (lambda gs: (3,), TypeError, "expected Variable"),
    ):
        with y.grad_fn.register_prehook(wrong), pytest.raises(kind, match=said):
            y.sum().backward(retain_graph=True)


def test_a_post_hook_replaces_what_goes_on_and_none_in_its_tuple_stops_a_gradient():
    x, w = leaf(1.0), leaf(2.0)
    y = x * w
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 100, None))
    y.sum().backward()
    assert x.grad.tolist() == [200]
    assert w.grad is None


def test_a_post_hook_cannot_give_a_gradient_to_what_needs_none():
    y = leaf(1.0) * 2
    y.grad_fn.register_hook(lambda gi, go: (gi[0], gi[0]))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        y.sum().backward()


def test_a_hook_on_what_needs_no_gradient_is_refused():
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        tl.ones(1).register_hook(print)
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        tl.ones(1).register_post_accumulate_grad_hook(print)


def test_a_post_accumulate_hook_on_a_computed_tensor_is_refused():
    with pytest.raises(RuntimeError, match="non-leaf"):
        (leaf(1.0) * 2).register_post_accumulate_grad_hook(print)


def test_a_hook_that_writes_into_its_gradient_changes_what_goes_on():
    x = leaf(1.0, 2.0)
    y = x * 2

    def triple(g):
        g.mul_(3)

    y.register_hook(triple)
    (y * tl.tensor([1.0, 10.0])).sum().backward()
    assert x.grad.tolist() == [6, 60]


def test_hooks_work_under_create_graph_and_are_part_of_the_graph():
    x = leaf(2.0)
    y = x * x
    y.register_hook(lambda g: g * y)
    (g,) = grad(y.sum(), x, create_graph=True)
    assert g.tolist() == [2 * 2 * 4]
    (h,) = grad(g.sum(), x)
    assert h.tolist() == [8 + 16 * 4]  # of 2 x y: 2 y, and 2 x that comes to y, where the hook multiplies it by y again


def test_the_error_of_a_hook_carries_a_note_with_the_line_of_the_forward():
    tl.modes.watch_sites(True)
    try:
        y = leaf(1.0) * 2
    finally:
        tl.modes.watch_sites(False)
    y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError) as caught:
        y.sum().backward()
    assert any("While running MulBackward0" in n and "y = leaf(1.0) * 2" in n for n in caught.value.__notes__)


def test_several_tensors_may_share_one_hook():
    seen = []
    x, y = leaf(1.0), leaf(2.0)
    for t in (x, y):
        t.register_hook(lambda g: seen.append(g.tolist()))
    (x * y).sum().backward()
    assert sorted(seen) == [[1], [2]]
