"""Second derivatives of custom Functions: right, or refused, or warned of by name; never silently wrong."""

from __future__ import annotations

import warnings

import pytest

import tensorlab as tl
from tensorlab.autograd import Function, grad
from tensorlab.autograd.function import once_differentiable


def leaf(*values):
    return tl.tensor(list(values), requires_grad=True)


def function(forward, backward, name="F"):
    return type(name, (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def second(f, at):
    """The second derivative of ``f`` at a number."""
    x = leaf(at)
    (g,) = grad(f.apply(x).sum(), x, create_graph=True)
    (h,) = grad((g + x * 0).sum(), x)
    return h.item()


def test_through_an_input():
    f = function(lambda ctx, x: ctx.save_for_backward(x) or x**3, lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2)
    assert second(f, 2.0) == 12


def test_through_an_output():
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    f = function(forward, lambda ctx, g: g * ctx.saved_tensors[0])
    assert second(f, 0.0) == 1


def test_through_inputs_and_outputs_that_are_plain_attributes():
    def forward(ctx, x):
        ctx.x = x
        return x**3

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert second(function(forward, lambda ctx, g: g * 3 * ctx.x**2), 2.0) == 12


def test_through_a_view_of_an_input():
    def forward(ctx, x):
        ctx.save_for_backward(x.view(1, 1))
        return x**3

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert second(function(forward, lambda ctx, g: g * 3 * ctx.saved_tensors[0].view(1) ** 2), 2.0) == 12


def test_through_a_leaf_from_outside():
    w = leaf(5.0)
    f = function(lambda ctx, x: ctx.save_for_backward(w) or x * w.detach(), lambda ctx, g: g * ctx.saved_tensors[0])
    (g,) = grad(f.apply(leaf(2.0)).sum(), w, allow_unused=True, create_graph=True)
    assert g is None
    x = leaf(2.0)
    (gx,) = grad(f.apply(x).sum(), x, create_graph=True)
    assert grad(gx.sum(), w)[0].tolist() == [1]


def test_an_intermediate_is_warned_of_by_the_name_of_its_function():
    def forward(ctx, x):
        square = x * x
        ctx.save_for_backward(square)
        return square * x

    f = function(forward, lambda ctx, g: g * 3 * ctx.saved_tensors[0], "Cubed")
    with pytest.warns(
        UserWarning, match="Cubed: the gradient for input 0 .* value 0 of save_for_backward.*takes that for a constant"
    ):
        second(f, 2.0)


def test_an_intermediate_that_is_an_attribute_is_warned_of_too():
    def forward(ctx, x):
        ctx.square = x * x
        return ctx.square * x

    f = function(forward, lambda ctx, g: g * 3 * ctx.square)
    with pytest.warns(UserWarning, match="ctx.square"):
        second(f, 2.0)


def test_the_warning_points_at_the_function():
    def forward(ctx, x):
        ctx.square = x * x
        return ctx.square * x

    def backward(ctx, g):
        return g * 3 * ctx.square

    with pytest.warns(UserWarning, match="second derivative") as caught:
        second(function(forward, backward), 2.0)
    assert caught[0].filename == __file__
    assert caught[0].lineno == backward.__code__.co_firstlineno


def test_no_warning_where_a_first_derivative_is_all_that_is_asked():
    def forward(ctx, x):
        ctx.square = x * x
        ctx.save_for_backward(x * 2)
        return ctx.square * x

    f = function(forward, lambda ctx, g: g * 3 * ctx.square + ctx.saved_tensors[0] * 0)
    x = leaf(2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f.apply(x).sum().backward()
    assert x.grad.tolist() == [12]


def test_no_warning_for_constants_that_say_so_and_for_integers():
    def forward(ctx, x):
        mask = (x > 0).float()
        ctx.where = x.argmax()
        ctx.mark_non_differentiable(mask)
        ctx.save_for_backward(mask, x)
        return mask * x * x

    def backward(ctx, g):
        mask, x = ctx.saved_tensors
        return g * mask * 2 * x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert second(function(forward, backward), 3.0) == 2


def test_an_attribute_is_the_users_own_again_after_backward():
    def forward(ctx, x):
        ctx.square = x * x
        return ctx.square * x

    x = leaf(2.0)
    y = function(forward, lambda ctx, g: g * 3 * ctx.square).apply(x)
    before = y.grad_fn.square
    with pytest.warns(UserWarning, match="F: the gradient"):
        grad(y.sum(), x, create_graph=True)
    assert y.grad_fn.square is before
    assert not before.requires_grad


def test_an_intermediate_computed_with_gradients_on_is_right():
    def forward(ctx, x):
        with tl.enable_grad():
            square = x * x
        ctx.save_for_backward(square)
        return (square * x).detach()

    f = function(forward, lambda ctx, g: g * 3 * ctx.saved_tensors[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert second(f, 2.0) == 12


class Once(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g * 3 * ctx.saved_tensors[0] ** 2


def test_once_differentiable_gives_the_first_derivative():
    x = leaf(2.0)
    Once.apply(x).sum().backward()
    assert x.grad.tolist() == [12]


def test_once_differentiable_refuses_the_second_by_name_even_where_the_incoming_gradient_is_a_constant():
    x = leaf(2.0)
    (g,) = grad(Once.apply(x).sum(), x, create_graph=True)
    assert g.tolist() == [12]
    with pytest.raises(RuntimeError, match=r"differentiate twice .*@once_differentiable \(Once\)"):
        grad((g + x * x).sum(), x)


def test_backward_inside_backward_works():
    """Recomputing in ``backward`` with a graph of its own, as checkpoints do."""

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin().exp()

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        inner = x.detach().requires_grad_()
        with tl.enable_grad():
            again = inner.sin().exp()
        again.backward(g)
        return inner.grad

    x = leaf(0.3, 0.7)
    function(forward, backward).apply(x).sum().backward()
    expected = x.detach().clone().requires_grad_()
    expected.sin().exp().sum().backward()
    assert x.grad.tolist() == expected.grad.tolist()


def test_gradcheck_of_a_function_to_the_second_order():
    f = function(lambda ctx, x: ctx.save_for_backward(x) or x**3, lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2)
    x = tl.tensor([0.5, -1.5], dtype=tl.float64, requires_grad=True)
    assert tl.autograd.gradcheck(f.apply, (x,))
    assert tl.autograd.gradgradcheck(f.apply, (x,))
