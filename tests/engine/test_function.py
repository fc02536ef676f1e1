"""Custom Functions: what forward may leave, what backward gets and must return, writes, views, second derivatives."""

from __future__ import annotations

import pytest

import tensorlab as tl
from tensorlab.autograd import Function, grad


def leaf(*values):
    return tl.tensor(list(values), requires_grad=True)


def function(forward, backward, name="F"):
    """A Function made of two plain functions."""
    return type(name, (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x * x


class Power(Function):
    """Written in two parts, with an argument that is no tensor."""

    @staticmethod
    def forward(x, n):
        return x**n

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.n = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.n * x ** (ctx.n - 1), None


# ------------------------------------------------------------------------------------------------ the ordinary way


def test_a_function_records_one_node_named_after_it():
    x = leaf(2.0)
    y = Cube.apply(x)
    assert y.grad_fn.name() == "CubeBackward"
    y.sum().backward()
    assert x.grad.tolist() == [12]


def test_the_style_with_setup_context():
    x = leaf(2.0)
    y = Power.apply(x, 4)
    assert y.grad_fn.name() == "PowerBackward"
    y.sum().backward()
    assert x.grad.tolist() == [32]


def test_forward_runs_without_recording_and_backward_too_unless_a_graph_is_asked_for():
    seen = []

    def backward(ctx, g):
        seen.append(tl.is_grad_enabled())
        return g

    f = function(lambda ctx, x: seen.append(tl.is_grad_enabled()) or x * 1, backward)
    x = leaf(1.0)
    f.apply(x).sum().backward()
    grad(f.apply(x).sum(), x, create_graph=True)
    assert seen == [False, False, False, True]


def test_needs_input_grad_tells_which_gradients_are_wanted():
    seen = []

    def forward(ctx, a, b, n):
        seen.append(ctx.needs_input_grad)
        return a * b

    f = function(forward, lambda ctx, g: seen.append(ctx.needs_input_grad) or (None, g, None))
    f.apply(tl.ones(1), leaf(1.0), 5).sum().backward()
    assert seen == [(False, True, False)] * 2


def test_nothing_is_recorded_where_no_input_requires_grad_or_gradients_are_off():
    assert Cube.apply(tl.ones(1)).grad_fn is None
    with tl.no_grad():
        assert Cube.apply(leaf(1.0)).grad_fn is None


def test_inputs_outputs_and_intermediates_can_be_kept_and_none_among_them():
    def forward(ctx, x):
        inner = x * 2
        out = inner + 1
        ctx.save_for_backward(x, None, inner, out)
        return out

    def backward(ctx, g):
        x, nothing, inner, out = ctx.saved_tensors
        assert nothing is None
        return g * (x + inner + out)

    x = leaf(1.0)
    function(forward, backward).apply(x).sum().backward()
    assert x.grad.tolist() == [1 + 2 + 3]


def test_a_kept_input_is_the_very_leaf():
    found = []
    x = leaf(1.0)
    f = function(
        lambda ctx, x: ctx.save_for_backward(x) or x * 1, lambda ctx, g: found.append(ctx.saved_tensors[0]) or g
    )
    f.apply(x).sum().backward()
    assert found[0] is x


def test_the_node_shows_what_its_context_holds():
    def forward(ctx, x):
        ctx.scale = 4
        ctx.save_for_backward(x)
        return x * 4

    node = function(forward, lambda ctx, g: g * ctx.scale).apply(leaf(1.0)).grad_fn
    assert node.scale == 4
    assert node.saved_tensors[0].tolist() == [1]
    assert node.needs_input_grad == (True,)
    with pytest.raises(AttributeError, match="'FBackward' object has no attribute 'shift'"):
        _ = node.shift


def test_saved_values_are_freed_with_the_graph():
    x = leaf(1.0)
    loss = Cube.apply(x).sum()
    node = loss.grad_fn.next_functions[0][0]
    loss.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        _ = node.saved_tensors
    with pytest.raises(RuntimeError, match="a second time"):
        loss.backward()


def test_a_function_that_kept_nothing_runs_twice():
    x = leaf(1.0)
    y = function(lambda ctx, x: x * 2, lambda ctx, g: g * 2).apply(x)
    y.backward(tl.ones(1))
    y.backward(tl.ones(1))
    assert x.grad.tolist() == [4]


def test_only_tensors_can_be_saved():
    with pytest.raises(TypeError, match="can only save variables, but argument 1 is of type int"):
        function(lambda ctx, x: ctx.save_for_backward(x, 3), None).apply(leaf(1.0))


def test_a_kept_value_that_was_overwritten_is_noticed():
    c = leaf(1.0).clone()
    y = Cube.apply(c)
    c.add_(1)
    with pytest.raises(
        RuntimeError, match=r"CubeBackward.* saved as value 0, is at version 1; expected version 0.*add_\(\) at"
    ):
        y.sum().backward()


# ------------------------------------------------------------------------------------------------ what backward returns


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (lambda g: (g, g), r"incorrect number of gradients \(expected 1, got 2\)"),
        (lambda g: 3.0, r"expected Variable or None \(got float\)"),
        (
            lambda g: g.reshape(3, 2),
            r"invalid gradient at index 0 - got \[3, 2\] but expected shape compatible with \[2, 3\]",
        ),
        (lambda g: g.reshape(6), r"got \[6\] but expected"),
        (lambda g: g[0], r"got \[3\] but expected"),
    ],
)
def test_a_wrong_return_value_names_the_function(returned, said):
    x = tl.ones(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match=f"FBackward.*{said}"):
        function(lambda ctx, x: x * 1, lambda ctx, g: returned(g)).apply(x).sum().backward()
    assert x.grad is None


def test_a_gradient_of_a_larger_shape_is_reduced_and_one_of_another_type_converted():
    x = tl.ones(2, 3, requires_grad=True)
    function(lambda ctx, x: x * 1, lambda ctx, g: g.double().expand(4, 2, 3)).apply(x).sum().backward()
    assert x.grad.dtype == tl.float32
    assert x.grad.tolist() == [[4, 4, 4], [4, 4, 4]]


def test_more_nones_than_arguments_are_forgiven():
    x = leaf(1.0)
    function(lambda ctx, x: x * 1, lambda ctx, g: (g, None, None)).apply(x).sum().backward()
    assert x.grad.tolist() == [1]


def test_none_means_no_gradient():
    x = leaf(1.0)
    function(lambda ctx, x: x * 1, lambda ctx, g: None).apply(x).sum().backward()
    assert x.grad is None


def test_an_argument_that_is_no_tensor_gets_none_and_nothing_else():
    f = function(lambda ctx, x, n: x * n, lambda ctx, g: (g, g))
    with pytest.raises(RuntimeError, match="gradient different than None at position 2"):
        f.apply(leaf(1.0), 2).sum().backward()


def test_a_gradient_for_a_tensor_that_needs_none_is_dropped():
    x, c = leaf(1.0), tl.ones(1)
    function(lambda ctx, x, c: x * c, lambda ctx, g: (g, g)).apply(x, c).sum().backward()
    assert x.grad.tolist() == [1]
    assert c.grad is None


def test_an_error_in_backward_leaves_no_gradient_and_can_be_tried_again():
    broken = [True]

    def backward(ctx, g):
        if broken:
            raise ZeroDivisionError
        return g * 2

    x = leaf(1.0)
    loss = function(lambda ctx, x: x * 2, backward).apply(x).sum()
    with pytest.raises(ZeroDivisionError):
        loss.backward(retain_graph=True)
    assert x.grad is None
    broken.clear()
    loss.backward()
    assert x.grad.tolist() == [2]


def test_missing_methods_say_which():
    with pytest.raises(NotImplementedError, match="implement the forward function"):
        type("Empty", (Function,), {}).apply(leaf(1.0))
    with pytest.raises(NotImplementedError, match="implement either the backward or vjp"):
        type("Half", (Function,), {"forward": staticmethod(lambda ctx, x: x * 2)}).apply(leaf(1.0)).sum().backward()
    with pytest.raises(RuntimeError, match="Legacy autograd function"):
        Cube()(leaf(1.0))


# ------------------------------------------------------------------------------------------------ several outputs


def test_missing_gradients_are_zeros_or_none_as_asked():
    for materialize in (True, False):
        seen = []

        def forward(ctx, x, materialize=materialize):
            ctx.set_materialize_grads(materialize)
            return x * 1, x * 2

        def backward(ctx, a, b, seen=seen):
            seen.append(None if a is None else a.tolist())
            return b * 2

        first, second = function(forward, backward).apply(leaf(1.0))
        second.sum().backward()
        assert first.requires_grad
        assert seen == [[0] if materialize else None]


def test_outputs_that_are_no_tensors_pass_through_and_get_none():
    seen = []
    f = function(lambda ctx, x: (x * 2, 5, None, "text"), lambda ctx, *gs: seen.append(gs[1:]) or gs[0] * 2)
    x = leaf(1.0)
    y, *others = f.apply(x)
    assert others == [5, None, "text"]
    y.sum().backward()
    assert seen == [(None, None, None)]
    assert x.grad.tolist() == [2]


def test_outputs_marked_non_differentiable_and_integers_require_no_grad():
    def forward(ctx, x):
        marked = x * 0
        ctx.mark_non_differentiable(marked)
        return x * 2, marked, x.argmax()

    seen = []
    f = function(forward, lambda ctx, *gs: seen.append([g.tolist() for g in gs]) or gs[0] * 2)
    y, marked, position = f.apply(leaf(1.0))
    assert (y.requires_grad, marked.requires_grad, position.requires_grad) == (True, False, False)
    y.sum().backward()
    assert seen == [[[1], [0], 0]]


def test_a_list_is_returned_as_it_is():
    found = function(lambda ctx, x: [x * 1, x * 2], lambda ctx, g: g).apply(leaf(1.0))
    assert isinstance(found, list)
    assert not found[0].requires_grad


# ------------------------------------------------------------------------------------------------ views and writes


def test_an_input_returned_as_it_is_becomes_a_view_with_its_own_history():
    x = leaf(1.0, 2.0)
    y = function(lambda ctx, x: x, lambda ctx, g: g * 3).apply(x)
    assert y is not x
    assert y._base is x
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]
    plain = tl.ones(2)
    assert function(lambda ctx, x: x, lambda ctx, g: g).apply(plain) is not plain


@pytest.mark.parametrize("forward", [lambda ctx, x: x, lambda ctx, x: x[:1], lambda ctx, x: x.view(-1)])
def test_writing_to_an_output_that_is_a_view_of_an_input_is_refused(forward):
    def backward(ctx, g):
        return tl.ones(2) * 3

    f = function(forward, backward)
    b = leaf(1.0, 2.0).clone()
    y = f.apply(b)
    with pytest.raises(RuntimeError, match="created inside a custom Function"):
        y.mul_(2)
    b = leaf(1.0, 2.0).clone()
    y = f.apply(b)
    b.mul_(2)
    with pytest.raises(RuntimeError, match="its base or another view of its base has been modified inplace"):
        (y * 2).sum().backward()


def test_an_output_that_is_a_view_of_something_hidden_is_an_ordinary_tensor():
    x = tl.ones(2, 3, requires_grad=True)
    y = function(lambda ctx, x: (x * 2).view(-1), lambda ctx, g: g.view(2, 3) * 2).apply(x)
    y.mul_(5)
    y[0] = 0
    y.sum().backward()
    assert x.grad.tolist() == [[0, 10, 10], [10, 10, 10]]


def double_in_place(ctx, x):
    x.mul_(2)
    ctx.mark_dirty(x)
    return x


def test_a_marked_write_gives_the_input_new_history():
    x = leaf(1.0, 2.0)
    c = x * 1
    y = function(double_in_place, lambda ctx, g: g * 5).apply(c)
    assert y is c
    assert c.grad_fn.name() == "FBackward"
    c.sum().backward()
    assert x.grad.tolist() == [5, 5]


def test_a_marked_write_to_a_view_gives_the_base_new_history():
    x = tl.ones(2, 2, requires_grad=True)
    b = x * 1
    y = function(double_in_place, lambda ctx, g: g * 5).apply(b[0])
    assert b.grad_fn.name() == "CopySlices"
    assert y.grad_fn.name() == "AsStridedBackward0"
    b.sum().backward()
    assert x.grad.tolist() == [[5, 5], [1, 1]]


def test_a_marked_write_to_a_second_argument_that_is_a_view():
    def forward(ctx, w, x):
        x.mul_(w)
        ctx.mark_dirty(x)
        ctx.save_for_backward(w)
        return x

    x, w = tl.ones(2, 2, requires_grad=True), leaf(3.0, 4.0)
    b = x * 1
    function(forward, lambda ctx, g: (g * 100, g * ctx.saved_tensors[0])).apply(w, b[1])
    b.sum().backward()
    assert x.grad.tolist() == [[1, 1], [3, 4]]
    assert w.grad.tolist() == [100, 100]


def test_an_output_that_was_kept_and_written_is_part_of_its_own_node():
    def exp_in_place(ctx, x):
        x.exp_()
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    x = leaf(0.5)
    y = function(exp_in_place, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x * 1)
    (g,) = grad(y.sum(), x, create_graph=True)
    (h,) = grad(g.sum(), x)
    assert h.tolist() == pytest.approx(y.tolist())


def test_a_marked_write_that_is_not_returned_is_refused():
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x * 1

    with pytest.raises(RuntimeError, match="marked as dirty .* were not returned as output"):
        function(forward, None).apply(leaf(1.0).clone())


def test_a_marked_write_to_a_leaf_is_refused():
    f = function(double_in_place, lambda ctx, g: g)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        f.apply(leaf(1.0))
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        f.apply(leaf(1.0, 2.0)[:1])


def test_a_write_that_is_not_marked_is_warned_of():
    def forward(ctx, x):
        x.mul_(2)
        return x * 1

    with pytest.warns(UserWarning, match="F: forward wrote into input 0.*mark_dirty"):
        function(forward, lambda ctx, g: g).apply(leaf(1.0).clone())
