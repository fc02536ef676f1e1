"""``backward()``: what it adds to ``.grad``, and what it refuses and why."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tensorlab as tl


def leaf(*values, dtype=None):
    return tl.tensor(list(values), dtype=dtype or tl.float32, requires_grad=True)


# ------------------------------------------------------------------------------------------------ second backward


def test_a_second_backward_that_needs_a_freed_value_names_the_first():
    x = leaf(1.0, 2.0)
    loss = (x * x).sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="a second time") as caught:
        loss.backward()
    assert "The first backward was" in str(caught.value)
    assert "loss.backward()" in str(caught.value)
    assert "retain_graph=True" in str(caught.value)


def test_a_graph_that_saved_nothing_runs_twice_and_accumulates():
    x = leaf(1.0, 2.0)
    loss = (x + x).sum()
    loss.backward()
    loss.backward()
    assert x.grad.tolist() == [4, 4]


def test_retain_graph_allows_as_many_passes_as_asked_for():
    x = leaf(3.0)
    loss = (x * x * x).sum()
    for _ in range(3):
        loss.backward(retain_graph=True)
    assert x.grad.tolist() == [81]
    loss.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        loss.backward()


def test_a_shared_part_that_one_backward_freed_is_missed_by_the_other():
    x = leaf(2.0)
    shared = x * x
    first, second = (shared * 2).sum(), (shared * 3).sum()
    first.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        second.backward()


def test_a_write_to_a_view_frees_what_it_saved_too():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    y[:2].mul_(leaf(5.0, 6.0))
    loss = y.sum()
    loss.backward()
    assert x.grad.tolist() == [5, 6, 1]
    with pytest.raises(RuntimeError, match="a second time"):
        loss.backward()


def test_saved_values_of_a_node_raise_once_freed():
    x = leaf(1.0)
    y = x.exp()
    node = y.grad_fn
    assert node._saved_result.tolist() == y.tolist()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="a second time"):
        _ = node._saved_result


# ------------------------------------------------------------------------------------------------ seeds


def test_a_tensor_of_several_elements_needs_a_gradient():
    with pytest.raises(RuntimeError, match="only for scalar outputs") as caught:
        (leaf(1.0, 2.0) * 2).backward()
    assert "[2]" in str(caught.value)


def test_one_element_of_any_shape_needs_none():
    x = tl.ones(1, 1, requires_grad=True)
    (x * 2).backward()
    assert x.grad.tolist() == [[2]]


def test_a_seed_of_another_shape_names_both_shapes_and_which_output():
    a, b = leaf(1.0), leaf(1.0, 2.0)
    with pytest.raises(
        RuntimeError, match=r"Mismatch in shape: grad_output\[1\] has a shape of \[3\] and output\[1\].*\[2\]"
    ):
        tl.autograd.backward([a.sum(), b * 2], [None, tl.ones(3)])


def test_a_seed_does_not_broadcast():
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (leaf(1.0, 2.0) * 2).backward(tl.ones(1))


def test_a_seed_of_another_float_or_integer_type_is_converted():
    for seed in (tl.ones(2, dtype=tl.float64), tl.ones(2, dtype=tl.int64)):
        x = leaf(1.0, 2.0)
        (x * 2).backward(seed)
        assert x.grad.dtype == tl.float32
        assert x.grad.tolist() == [2, 2]


def test_a_seed_that_is_no_tensor_is_refused():
    with pytest.raises(TypeError, match="gradients can be either Tensors or None, but got float"):
        (leaf(1.0) * 2).backward(1.0)


def test_what_requires_no_grad_says_why():
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does not have a grad_fn"):
        tl.ones(1).backward()
    with pytest.raises(RuntimeError, match="element 1 of tensors does not require grad"):
        tl.autograd.backward([leaf(1.0).sum(), tl.ones(1)])


def test_a_complex_scalar_needs_a_gradient():
    z = tl.tensor(1 + 1j, requires_grad=True)
    with pytest.raises(RuntimeError, match="real scalar outputs but got"):
        (z * z).backward()


def test_the_number_of_gradients_must_fit():
    with pytest.raises(RuntimeError, match="got 1 tensors and 2 gradients"):
        tl.autograd.backward([leaf(1.0).sum()], [None, None])


def test_several_roots_add_up_and_a_root_may_be_named_twice():
    x = leaf(1.0, 2.0)
    loss = (x * 3).sum()
    tl.autograd.backward([loss, loss, (x * x).sum()])
    assert x.grad.tolist() == [8, 10]


def test_a_root_inside_the_graph_of_another_root_counts_twice():
    x = leaf(2.0)
    y = x * 3
    tl.autograd.backward([(y * y).sum(), y])
    assert x.grad.tolist() == [2 * 6 * 3 + 3]


def test_a_leaf_may_be_a_root_and_its_grad_is_a_copy_of_the_seed():
    x, seed = leaf(1.0, 2.0), tl.tensor([5.0, 6.0])
    x.backward(seed)
    x.grad.zero_()
    assert seed.tolist() == [5, 6]


def test_the_seed_of_a_scalar_is_not_shared_between_passes():
    x = tl.tensor(2.0, requires_grad=True)
    (given,) = tl.autograd.grad(x, [x])
    given.mul_(100)
    x.reshape(1).register_hook(lambda g: None)
    (x * 1).backward()
    assert x.grad.item() == 1


def test_writing_into_the_gradient_of_a_hook_changes_no_other_pass():
    for _ in range(2):
        x = tl.tensor(2.0, requires_grad=True)
        loss = x * 1
        loss.register_hook(lambda g: g.mul_(7))
        loss.backward()
        assert x.grad.item() == 7


# ------------------------------------------------------------------------------------------------ accumulation


def test_the_second_backward_adds_in_place_into_the_same_object_and_memory():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    grad, address = x.grad, x.grad.data_ptr()
    (x * x).sum().backward()
    assert x.grad is grad
    assert x.grad.data_ptr() == address
    assert x.grad.tolist() == [4, 8]


def test_with_create_graph_it_adds_out_of_place_and_warns_of_the_cycle():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    before = x.grad
    with pytest.warns(UserWarning, match="reference cycle"):
        (x * x).sum().backward(create_graph=True)
    assert x.grad is not before
    assert before.tolist() == [2, 4]
    assert x.grad.tolist() == [4, 8]
    assert x.grad.requires_grad
    x.grad = None


def test_gradients_made_with_create_graph_share_no_memory_between_leaves():
    a, b = leaf(1.0), leaf(2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (a + b).backward(create_graph=True)
    with tl.no_grad():
        a.grad.zero_()
    assert b.grad.tolist() == [1]
    a.grad = b.grad = None


def test_leaves_that_get_the_same_gradient_get_their_own_memory():
    a, b = leaf(1.0, 1.0), leaf(1.0, 1.0)
    (a + b).backward(tl.tensor([3.0, 4.0]))
    a.grad.zero_()
    assert b.grad.tolist() == [3, 4]


def test_the_grad_of_an_expanded_sum_is_real_memory():
    x = tl.ones(2, 3, requires_grad=True)
    x.sum().backward()
    assert x.grad.stride() == (3, 1)
    x.grad.add_(1)
    assert x.grad.tolist() == [[2, 2, 2], [2, 2, 2]]


def test_the_grad_follows_the_order_of_dimensions_of_a_dense_leaf():
    x = tl.ones(2, 3).t().requires_grad_()
    (x * tl.arange(6.0).reshape(3, 2)).sum().backward()
    assert x.grad.stride() == x.stride() == (1, 3)
    assert x.grad.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_a_grad_that_cannot_be_added_to_in_place_is_replaced():
    x = leaf(1.0, 2.0)
    x.grad = tl.zeros(1).expand(2)
    (x * tl.tensor([2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [2, 3]
    frozen = np.zeros(2, np.float32)
    frozen.flags.writeable = False
    x.grad = tl.from_numpy(frozen)
    (x * tl.tensor([2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [2, 3]
    assert not frozen.any()


def test_a_use_of_grad_in_another_graph_notices_that_backward_wrote_to_it():
    x = leaf(1.0, 2.0)
    w = leaf(3.0, 4.0)
    (x * x).sum().backward()
    loss = (x.grad * w).sum()
    (x * x).sum().backward()
    with pytest.raises(RuntimeError, match=r"written by backward\(\) at .*\(x \* x\)\.sum\(\)\.backward\(\)"):
        loss.backward()


# ------------------------------------------------------------------------------------------------ .grad


def test_assigning_grad_checks_shape_type_and_kind():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match=r"gradient of size '\[3\]' to a tensor of size '\[2\]'"):
        x.grad = tl.ones(3)
    with pytest.raises(RuntimeError, match="gradient .*float64.* to a tensor .*float32"):
        x.grad = tl.ones(2, dtype=tl.float64)
    with pytest.raises(TypeError, match="expected to be a Tensor or None but got grad of type int"):
        x.grad = 3
    with pytest.raises(RuntimeError, match="can't assign Variable as its own grad"):
        x.grad = x
    x.grad = tl.ones(2)
    x.grad = None
    x.grad = tl.ones(2)
    del x.grad
    assert x.grad is None


def test_the_grad_of_a_computed_tensor_is_none_and_a_warning_says_what_to_do():
    y = leaf(1.0) * 2
    y.sum().backward()
    with pytest.warns(UserWarning, match="not a leaf Tensor.*MulBackward0.*retain_grad"):
        assert y.grad is None


def test_retain_grad_fills_it_without_a_warning_and_accumulates():
    y = leaf(1.0) * 2
    y.retain_grad()
    assert y.retains_grad
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (y * 3).sum().backward(retain_graph=True)
        assert y.grad.tolist() == [3]
        (y * 3).sum().backward()
        assert y.grad.tolist() == [6]


def test_retain_grad_of_a_leaf_does_nothing_and_of_what_needs_none_is_refused():
    x = leaf(1.0)
    x.retain_grad()
    assert not x.retains_grad
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"):
        tl.ones(1).retain_grad()


def test_retained_gradients_of_neighbours_are_their_own_memory():
    x = leaf(1.0, 2.0)
    a = x * 2
    b = a + 0.0
    a.retain_grad()
    b.retain_grad()
    b.backward(tl.tensor([5.0, 6.0]))
    b.grad.zero_()
    assert a.grad.tolist() == [5, 6]
    assert x.grad.tolist() == [10, 12]


# ------------------------------------------------------------------------------------------------ requires_grad


def test_integers_and_booleans_cannot_require_grad():
    for values, dtype in (([1], tl.int64), ([True], tl.bool)):
        with pytest.raises(RuntimeError, match="floating point"):
            tl.tensor(values, dtype=dtype).requires_grad_()
        with pytest.raises(RuntimeError, match="floating point"):
            tl.tensor(values, dtype=dtype, requires_grad=True)


def test_requires_grad_of_a_computed_tensor_cannot_be_turned_off():
    y = leaf(1.0) * 2
    with pytest.raises(RuntimeError, match="only change requires_grad flags of leaf"):
        y.requires_grad = False
    y.requires_grad = True


def test_a_leaf_that_stopped_requiring_grad_gets_none_from_graphs_made_before():
    x = leaf(1.0)
    loss = (x * 5).sum()
    x.requires_grad_(False)
    assert not (x * 2).requires_grad
    loss.backward()
    assert x.grad is None


def test_integer_results_never_require_grad():
    x = leaf(1.0, 3.0)
    assert not x.argmax().requires_grad
    assert not (x > 2).requires_grad
    assert not x.long().requires_grad


# ------------------------------------------------------------------------------------------------ shapes


def test_repeated_indices_accumulate():
    x = leaf(1.0, 2.0)
    x[[0, 0, 1]].sum().backward()
    assert x.grad.tolist() == [2, 1]


def test_expand_sums_and_broadcasting_reduces_to_the_shape_of_the_input():
    x = tl.ones(3, 1, requires_grad=True)
    x.expand(3, 4).sum().backward()
    assert x.grad.tolist() == [[4], [4], [4]]
    a, b = tl.ones(2, 1, 3, requires_grad=True), tl.ones(4, 1, requires_grad=True)
    (a * b).sum().backward()
    assert a.grad.shape == (2, 1, 3)
    assert b.grad.shape == (4, 1)
    assert b.grad.flatten().tolist() == [6] * 4


def test_a_scalar_beside_an_array_gets_a_scalar_gradient():
    s = tl.tensor(2.0, requires_grad=True)
    (s * tl.ones(2, 3)).sum().backward()
    assert s.grad.shape == ()
    assert s.grad.item() == 6


def test_a_gradient_has_the_type_of_its_leaf():
    half = tl.ones(2, dtype=tl.float16).requires_grad_()
    double = tl.ones(2, dtype=tl.float64).requires_grad_()
    (half * double).sum().backward()
    assert half.grad.dtype == tl.float16
    assert double.grad.dtype == tl.float64


# ------------------------------------------------------------------------------------------------ complex


def test_the_gradient_of_a_squared_modulus_is_twice_the_number():
    z = tl.tensor([1 + 2j, -3 + 0.5j], requires_grad=True)
    (z * z.conj()).backward(tl.ones(2, dtype=tl.complex64))
    assert z.grad.tolist() == [2 + 4j, -6 + 1j]


def test_a_holomorphic_function_gets_the_conjugate_of_its_derivative():
    z = tl.tensor(1 + 2j, requires_grad=True)
    (z * z).backward(tl.tensor(1 + 0j))
    assert z.grad.item() == (2 * (1 + 2j)).conjugate()


def test_a_real_input_of_a_complex_product_gets_a_real_gradient():
    x = leaf(2.0)
    (x * tl.tensor([1 + 5j])).backward(tl.tensor([1 + 0j]))
    assert x.grad.dtype == tl.float32
    assert x.grad.tolist() == [1]


# ------------------------------------------------------------------------------------------------ NumPy told to raise


@pytest.mark.parametrize("strict", ["errors", "warnings"])
def test_infinite_gradients_are_no_errors_even_where_numpy_was_told_to_raise(strict):
    x = leaf(0.0, 3e38)
    with np.errstate(all="raise" if strict == "errors" else "warn"), warnings.catch_warnings():
        if strict == "warnings":
            warnings.simplefilter("error")
        for _ in range(2):
            a = x * 3e38
            (x.sqrt() * 2 + a - a * 2).sum().backward()
    assert x.grad.tolist()[0] == np.inf
    assert len(x.grad.tolist()) == 2
