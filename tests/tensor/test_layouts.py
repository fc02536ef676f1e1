"""How tensors lie in memory: what is a view, what is a copy, and the strides of both."""

from __future__ import annotations

import numpy as np
import pytest

import tensorlab as tl


def test_a_view_needs_memory_that_reads_in_one_run_and_says_which_dimensions_break_it() -> None:
    with pytest.raises(
        RuntimeError, match="view size is not compatible.*Use .reshape.*dimension 0 has stride 1, and would need 6"
    ):
        tl.zeros(2, 3).t().view(6)
    with pytest.raises(RuntimeError, match=r"shape '\[4\]' is invalid for input of size 6"):
        tl.zeros(2, 3).view(4)
    with pytest.raises(RuntimeError, match="only one dimension can be inferred"):
        tl.zeros(2, 3).view(-1, -1)
    with pytest.raises(RuntimeError, match="ambiguous"):
        tl.zeros(0, 3).view(0, -1)


def test_a_size_of_one_never_blocks_a_view() -> None:
    assert tl.zeros(1, 3).t().is_contiguous()
    assert tl.zeros(2, 1, 3).transpose(0, 1).view(6).shape == (6,)
    assert tl.tensor(np.zeros((1, 4))[::-1]).shape == (1, 4)
    assert tl.from_numpy(np.zeros((4, 1))[:, ::-1]).shape == (4, 1)


def test_reshape_is_a_view_where_it_can_be_and_else_a_copy_that_is_no_view() -> None:
    x = tl.arange(6).reshape(2, 3)
    assert x.reshape(3, 2).data_ptr() == x.data_ptr()
    y = x.t().reshape(6)
    assert y.data_ptr() != x.data_ptr()
    assert y._base is None
    assert y.tolist() == [0, 3, 1, 4, 2, 5]


def test_what_changes_nothing_gives_the_tensor_itself_and_clone_never_does() -> None:
    x = tl.ones(2)
    for same in (
        x.contiguous(),
        x.to(tl.float32),
        x.cpu(),
        x.float(),
        x.to("cpu"),
        x.type_as(x),
        x.expand_as(x).conj(),
    ):
        assert same is x or same._base is x
    assert x.contiguous() is x
    assert x.to(tl.float32) is x
    assert x.clone() is not x
    assert x.to(tl.float32, copy=True) is not x


@pytest.mark.parametrize(
    ("shape", "stride"), [((2, 1, 3), (3, 3, 1)), ((2, 0, 3), (3, 3, 1)), ((), ()), ((0,), (1,)), ((3, 1), (1, 1))]
)
def test_strides_of_new_tensors(shape, stride) -> None:
    assert tl.zeros(shape).stride() == stride
    assert (tl.zeros(shape) + 1).stride() == stride


def test_expanded_dimensions_have_stride_zero() -> None:
    assert tl.ones(3, 1).expand(3, 4).stride() == (1, 0)
    assert tl.ones(3).expand(2, 3).stride() == (0, 1)


def test_results_keep_a_dense_order_of_dimensions() -> None:
    t = tl.zeros(2, 3).t()
    assert t.stride() == (1, 3)
    assert (t + 1).stride() == t.exp().stride() == t.clone().stride() == (1, 3)
    assert (t + t).stride() == (t * 2).stride() == (1, 3)
    assert tl.ones(1).expand(3).clone().stride() == (1,)
    assert tl.zeros(4, 4)[:, ::2].clone().stride() == (2, 1)


def test_as_strided_is_checked_against_the_storage_not_the_view() -> None:
    x = tl.arange(10)[8:]
    assert x.as_strided((5,), (2,), 0).tolist() == [0, 2, 4, 6, 8]
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 80"):
        x.as_strided((6,), (2,), 0)


def test_basic_subscripts_are_views_and_lists_and_masks_copy() -> None:
    x = tl.arange(24).reshape(2, 3, 4)
    for key in (0, slice(1), None, ..., (0, 1), (slice(None), 2, None), ()):
        assert x[key]._base is x._base or x[key]._base is x, key
    for key in ([0, 1], x > 3, tl.tensor([0]), (slice(None), [0, 2])):
        assert x[key]._base is None
    assert x[[0, 1], :, [0, 1]].shape == (2, 3)
    assert x[:, [0, 1], [0, 1]].shape == (2, 2)
    with pytest.raises(ValueError, match="step must be greater than zero, got -1; use .flip"):
        x[::-1]


def test_squeeze_leaves_larger_dimensions_alone() -> None:
    assert tl.ones(2, 1, 3).squeeze(0).shape == (2, 1, 3)
    assert tl.ones(2, 1, 3).squeeze((0, 1)).shape == (2, 3)
    assert tl.ones(1).squeeze().shape == ()


def test_gradients_of_leaves_lie_as_the_leaves_do() -> None:
    x = tl.zeros(2, 3).t().detach().requires_grad_()
    (x * tl.arange(6.0).reshape(3, 2)).sum().backward()
    assert x.grad.stride() == (1, 3)
    y = tl.zeros(3, requires_grad=True)
    y.sum().backward()
    assert y.grad.stride() == (1,)


def test_tensor_copies_whatever_it_is_given_and_as_tensor_shares_what_it_can() -> None:
    a = np.arange(4.0)
    for source in (a, a[::-1], a[::2], np.asfortranarray(a.reshape(2, 2)), np.broadcast_to(a, (2, 4))):
        x = tl.tensor(source)
        assert x.is_contiguous()
        assert x.tolist() == source.tolist()
        assert not np.shares_memory(x.numpy(), a)
    assert np.shares_memory(tl.as_tensor(a).numpy(), a)
    assert np.shares_memory(tl.from_numpy(a)[1:].numpy(), a)


def test_numpy_and_back_share_memory_and_a_backwards_array_is_refused_with_a_way_out() -> None:
    a = np.zeros(3)
    x = tl.from_numpy(a)
    x[0] = 5
    a[1] = 6
    assert x.tolist() == a.tolist() == [5.0, 6.0, 0.0]
    with pytest.raises(ValueError, match="negative.*copy"):
        tl.from_numpy(np.arange(4)[::-1])


def test_empty_tensors_and_numbers_go_everywhere() -> None:
    e, n = tl.zeros(0, 3), tl.tensor(2.0)
    assert (e @ tl.zeros(3, 2)).shape == (0, 2)
    assert (tl.zeros(2, 0) @ tl.zeros(0, 3)).tolist() == [[0.0] * 3] * 2
    assert e.sum().item() == 0
    assert e.prod().item() == 1
    assert np.isnan(e.mean().item())
    assert tl.cat([e, tl.ones(1, 3), tl.zeros(0)]).shape == (1, 3)
    assert e[:, 1].shape == (0,)
    assert e[[]].shape == (0, 3)
    assert e.t().reshape(0, 7).shape == (0, 7)
    assert (n[None] + e).shape == (0, 3)
    assert n.sum(0).item() == n.max(0).values.item() == n.softmax(0).item() * 2 == 2
    assert n.unsqueeze(0).expand(3).tolist() == [2.0] * 3
    assert not e.any()
    assert e.all()
    assert [part.shape for part in e.split(2, 1)] == [(0, 2), (0, 1)]
    assert e.max(1).indices.shape == (0,)


def test_a_tensor_of_a_billion_elements_that_are_one_number_is_free() -> None:
    x = tl.ones(1).expand(1_000_000_000)
    assert x[123_456_789].item() == 1
    assert x.view(1000, 1_000_000).stride() == (0, 0)
    assert "tensor([1., 1., 1.,  ..., 1., 1., 1.])" in repr(x)
