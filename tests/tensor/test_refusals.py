"""What is no tensor, number, size or dtype is refused by name, and never with a word about our insides."""

from __future__ import annotations

import numpy as np
import pytest

import tensorlab as tl
import tensorlab.nn.functional as F
from tensorlab.nn import init

NO_TENSORS = [None, 3, "text", [1.0], np.ones(2)]
TAKE_A_TENSOR = [
    tl.zeros_like, tl.ones_like, tl.empty_like, tl.rand_like, tl.randn_like, tl.bernoulli, tl.where, tl.sum, tl.softmax,
    F.gelu, F.softmax, F.softmin, F.log_softmax, F.dropout, F.relu_,
    init.zeros_, init.ones_, init.eye_, init.uniform_, init.normal_, init.trunc_normal_, init.xavier_uniform_,
    init.xavier_normal_, init.kaiming_uniform_, init.kaiming_normal_,
]  # fmt: skip


@pytest.mark.parametrize("wrong", NO_TENSORS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("function", TAKE_A_TENSOR, ids=lambda function: function.__name__)
def test_a_function_of_a_tensor_names_itself_and_the_argument(function, wrong) -> None:
    more = (0,) if function is tl.softmax else ()
    with pytest.raises(TypeError, match=rf"_?\(\): argument '.*must be Tensor, not {type(wrong).__name__}"):
        function(wrong, *more)


@pytest.mark.parametrize("name", ["view_as", "reshape_as", "expand_as", "type_as"])
def test_a_method_that_copies_another_tensors_form_wants_a_tensor(name) -> None:
    with pytest.raises(TypeError, match=f"{name}.*argument 'other'.*must be Tensor, not int"):
        getattr(tl.ones(2), name)(3)


@pytest.mark.parametrize("name", ["add", "mul", "pow", "fmod", "remainder", "maximum", "logical_xor", "floor_divide"])
def test_none_is_no_operand(name) -> None:
    with pytest.raises(TypeError, match=f"{name}.*must be Tensor or a number, not NoneType"):
        getattr(tl, name)(tl.ones(2), None)


@pytest.mark.parametrize("value", [None, "x", [1]])
def test_a_tensor_is_filled_with_a_number_only(value) -> None:
    with pytest.raises(TypeError, match="full.*argument 'fill_value' .* must be Number"):
        tl.full((2,), value)
    with pytest.raises(TypeError, match="full_like.*argument 'fill_value' .* must be Number"):
        tl.full_like(tl.ones(2), value)


@pytest.mark.parametrize("call", [
    lambda: tl.randint(1.5, (2,)), lambda: tl.randperm(1.5), lambda: tl.eye("a"), lambda: tl.device(1.5),
    lambda: tl.ones(2).cuda(1.5), lambda: tl.ones(2, dtype=[]), lambda: tl.promote_types(1, 2),
    lambda: tl.can_cast(1, 2), lambda: tl.make_dot(tl.ones(1, requires_grad=True) * 2, "x"),
    lambda: F.cross_entropy(tl.zeros(1, 2), None), lambda: F.nll_loss(tl.zeros(1, 2), tl.tensor([0]), "x"),
])  # fmt: skip
def test_other_wrong_arguments_are_type_errors(call) -> None:
    with pytest.raises(TypeError, match="^(?!.*attribute)"):
        call()


def test_sizes_that_do_not_meet_are_told_as_sizes() -> None:
    with pytest.raises(RuntimeError, match="The size of tensor a .2. must match the size of tensor b .3."):
        tl.allclose(tl.ones(2), tl.ones(3))
    with pytest.raises(RuntimeError, match="only non-negative entries"):
        tl.ones(3).split([-1, 4])


def test_large_numbers_beside_floats_are_floats() -> None:
    assert tl.tensor([10**30, 1.0]).dtype == tl.float32
    assert tl.tensor([10**30], dtype=tl.float64).item() == 1e30
    with pytest.raises(ValueError, match="Overflow"):
        tl.tensor([10**30])
    with pytest.raises(ValueError, match="too large"):
        tl.tensor([10**400, 1.0])


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_list_with_nan_or_infinity_holds_no_integers(value) -> None:
    with pytest.raises(RuntimeError, match="cannot be converted to type int64 without overflow"):
        tl.tensor([1.0, value], dtype=tl.int64)


def test_python_types_name_dtypes_of_their_own_width() -> None:
    assert tl.ones(1, dtype=float).dtype == tl.float64
    assert tl.ones(1, dtype=complex).dtype == tl.complex128
    assert tl.ones(1, dtype=int).dtype == tl.int64
    assert tl.ones(1, dtype=bool).dtype == tl.bool


def test_a_size_may_be_a_tensor() -> None:
    assert tl.zeros(tl.tensor(3)).shape == (3,)


def test_a_boolean_factor_is_for_booleans() -> None:
    for call in (tl.add, tl.sub, tl.Tensor.add_, tl.Tensor.sub_):
        with pytest.raises(RuntimeError, match="Boolean alpha only supported for Boolean results"):
            call(tl.ones(2), tl.ones(2), alpha=True)
    true = tl.tensor([True])
    assert tl.add(true, true, alpha=True).item() is True


def test_a_factor_that_is_no_number_is_refused_by_the_call_it_was_given_to() -> None:
    x = tl.ones(2)
    with pytest.raises(TypeError, match=r"add_\(\): argument 'alpha' must be Number, not str"):
        x.add_(tl.ones(2), alpha="2")
    assert x.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("function", "term", "factors"),
    [
        (tl.addmm, (3,), ((1, 2), (2, 1))),
        (tl.addmm, (4, 3), ((1, 2), (2, 3))),
        (tl.addmv, (3,), ((1, 2), (2,))),
        (tl.addr, (3, 3), ((1,), (3,))),
        (tl.baddbmm, (5, 1, 3), ((1, 1, 2), (1, 2, 3))),
        (tl.addbmm, (3, 3), ((2, 1, 2), (2, 2, 3))),
        (lambda term, x, weight: F.linear(x, weight, term), (3,), ((2,), (1, 2))),
        (lambda term, x, weight: F.linear(x, weight, term), (3,), ((1, 2), (1, 2))),
    ],
)
def test_what_is_added_to_a_product_never_makes_it_larger(function, term, factors) -> None:
    with pytest.raises(
        RuntimeError, match=r"The expanded size of the tensor \(1\) must match the existing size \(\d\)"
    ):
        function(tl.ones(*term), *(tl.ones(*size) for size in factors))


def test_data_of_whole_numbers_is_not_for_what_requires_a_gradient() -> None:
    x = tl.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="floating point or complex dtype, not tensorlab.int64"):
        x.data = tl.tensor([1, 2])
    assert x.tolist() == [1.0, 1.0]


def test_more_dimensions_than_an_array_has_are_no_lack_of_memory() -> None:
    with pytest.raises(RuntimeError, match="65 dimensions: there are at most 64") as caught:
        tl.ones(*[1] * 65)
    assert not isinstance(caught.value, MemoryError)


def test_a_list_that_holds_itself_is_refused() -> None:
    endless: list = []
    endless.append(endless)
    with pytest.raises(ValueError, match="may hold itself"):
        tl.tensor(endless)


def test_a_backward_hook_that_returns_another_shape_is_named_with_its_module() -> None:
    def shrinks(module, grad_input, grad_output):
        return (tl.ones(7),)

    layer = tl.nn.Linear(3, 1)
    layer.register_full_backward_hook(shrinks)
    with pytest.raises(RuntimeError, match=r"hook '.*shrinks' of Linear has changed the size.*\[2, 3\].*\[7\]"):
        layer(tl.ones(2, 3, requires_grad=True)).sum().backward()


def test_what_is_no_capsule_is_said_so() -> None:
    with pytest.raises(RuntimeError, match="int is neither one nor has __dlpack__"):
        tl.from_dlpack(3)


@pytest.mark.parametrize("function", [tl.allclose, tl.isclose], ids=lambda function: function.__name__)
def test_how_near_is_near_is_a_number_not_below_zero(function) -> None:
    x = tl.ones(2)
    for wrong in ([1.0], "near", None, [x, x]):
        with pytest.raises(TypeError, match=f"{function.__name__}.*rtol"):
            function(x, x, wrong)
    with pytest.raises(
        RuntimeError, match=rf"{function.__name__}\(\): atol must be greater than or equal to zero, but got -1"
    ):
        function(x, x, 1e-3, -1.0)


@pytest.mark.parametrize("wrong", [None, "a", [1.0], tl.ones(2)], ids=lambda value: type(value).__name__)
def test_a_factor_is_a_number(wrong) -> None:
    m, b = tl.ones(2, 2), tl.ones(2, 2, 2)
    for call in (
        lambda: tl.addmm(m, m, m, beta=wrong),
        lambda: tl.addmm(m, m, m, alpha=wrong),
        lambda: m.clone().addmm_(m, m, alpha=wrong),
        lambda: tl.baddbmm(b, b, b, alpha=wrong),
        lambda: tl.addcmul(m, m, m, value=wrong),
        lambda: tl.addcdiv(m, m, m, value=wrong),
        lambda: m.clone().addcmul_(m, m, value=wrong),
    ):
        with pytest.raises(TypeError, match="argument '(alpha|beta|value)'.*must be Number"):
            call()


def test_an_attention_mask_does_not_make_scores_of_more_queries() -> None:
    q = tl.ones(1, 2, 4)
    for mask in (tl.ones(3, 1), tl.ones(5, 1, 2, 2), tl.ones(3, 2, dtype=tl.bool)):
        with pytest.raises(RuntimeError, match=r"scaled_dot_product_attention"):
            F.scaled_dot_product_attention(q, q, q, attn_mask=mask)
