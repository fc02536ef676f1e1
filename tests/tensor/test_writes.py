"""In-place operations, views and versions: who may write where, and what becomes of history."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tensorlab as tl


def leaf(*values: float):
    return tl.tensor(values or [1.0, 2.0, 3.0], requires_grad=True)


def test_a_leaf_that_requires_grad_is_written_to_without_recording_only() -> None:
    x = leaf()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.add_(1)
    with tl.no_grad():
        x.add_(1)
    assert x.tolist() == [2.0, 3.0, 4.0]
    assert (x.requires_grad, x.is_leaf, x._version) == (True, True, 1)


def test_a_view_of_a_leaf_is_no_way_around() -> None:
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        leaf()[:1].mul_(2)


def test_what_was_saved_and_then_written_is_noticed_by_backward_alone() -> None:
    y = leaf().exp()
    z = y * 1
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation.*version 1; expected version 0"):
        z.sum().backward()


def test_what_was_not_saved_may_be_written() -> None:
    x = leaf()
    y = x + 1
    z = y.sum()
    y.mul_(5)
    z.backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


def test_a_write_through_detach_is_noticed_and_so_is_one_through_data() -> None:
    for alias in (lambda y: y.detach(), lambda y: y.data):
        y = leaf().exp()
        z = y.sum() + (y * y).sum()
        alias(y).zero_()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.backward()


def test_a_write_to_a_view_gives_its_base_history_and_exact_gradients() -> None:
    x = leaf()
    y = x * 1
    y[:2].mul_(10)
    assert y.grad_fn.name() == "CopySlices"
    assert y.tolist() == [10.0, 20.0, 3.0]
    y.sum().backward()
    assert x.grad.tolist() == [10.0, 10.0, 1.0]


def test_a_write_to_the_base_is_seen_by_its_views() -> None:
    x = leaf()
    y = x * 1
    v = y[1:]
    before = v.grad_fn
    y.mul_(3)
    assert v._version == y._version == 1
    assert v._base is y
    assert v.grad_fn is not before
    v.sum().backward()
    assert x.grad.tolist() == [0.0, 3.0, 3.0]


def test_writing_what_requires_grad_into_a_plain_tensor_makes_it_part_of_the_graph() -> None:
    x, target = leaf(5.0), tl.zeros(3)
    target[1] = x[0]
    assert target.requires_grad
    assert target.grad_fn.name() == "CopySlices"
    (target * tl.tensor([1.0, 7.0, 1.0])).sum().backward()
    assert x.grad.tolist() == [7.0]


@pytest.mark.parametrize("cut", [lambda y: y.split(1), lambda y: y.unbind(), lambda y: y.chunk(3)])
def test_one_of_several_views_cannot_be_written_to(cut) -> None:
    part = cut(leaf() * 1)[0]
    with pytest.raises(RuntimeError, match="is the output of a function that returns multiple views"):
        part.add_(1)


def test_a_view_made_without_recording_is_a_leaf_that_requires_grad() -> None:
    x = leaf()
    with tl.no_grad():
        view, product = x[:2], x * 2
    assert (view.requires_grad, view.grad_fn, view.is_leaf) == (True, None, True)
    assert not product.requires_grad


def test_a_view_made_without_recording_cannot_be_written_to_with_recording() -> None:
    y = leaf() * 1
    with tl.no_grad():
        view = y[:2]
    with pytest.raises(RuntimeError, match="view was created in no_grad mode"):
        view.add_(1)


def test_a_write_to_a_view_without_recording_counts_and_leaves_history_alone() -> None:
    y = leaf() * 1
    node, view = y.grad_fn, y[:2]
    with tl.no_grad():
        view.zero_()
    assert y.tolist() == [0.0, 0.0, 3.0]
    assert y._version == 1
    assert y.grad_fn is node


def test_expanded_memory_is_not_written_to_except_where_every_write_is_the_same() -> None:
    x = tl.ones(3, 1).expand(3, 4)
    for write in (lambda: x.add_(1), lambda: x.copy_(tl.ones(4)), lambda: x.__setitem__(0, tl.arange(4.0))):
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            write()
    x.fill_(7)
    x[:, 0].add_(1)  # one column overlaps nothing
    assert x.tolist() == [[8.0] * 4] * 3


def test_a_target_that_overlaps_its_source_in_part_is_refused_and_one_that_equals_it_is_not() -> None:
    x = tl.arange(4.0)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor"):
        x[1:].add_(x[:-1])
    x.add_(x)
    x[::2].copy_(x[1::2])
    assert x.tolist() == [2.0, 2.0, 6.0, 6.0]


def test_inference_tensors_have_no_version_and_keep_out_of_graphs() -> None:
    with tl.inference_mode():
        x = tl.ones(2)
        x.add_(1)
    with pytest.raises(RuntimeError, match="do not track version counter"):
        _ = x._version
    for wrong in (lambda: x.add_(1), lambda: x.requires_grad_(), lambda: tl.ones(2, requires_grad=True) * x):
        with pytest.raises(RuntimeError, match="[Ii]nference"):
            wrong()


def test_resize_keeps_what_fits_and_is_refused_where_a_gradient_is_wanted() -> None:
    x = tl.arange(4)
    assert x.resize_(2, 2).tolist() == [[0, 1], [2, 3]]
    assert x.resize_(6).tolist()[:4] == [0, 1, 2, 3]
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        leaf().resize_(2)


def test_out_is_filled_resized_with_a_warning_and_refused_where_a_gradient_or_a_fraction_would_be_lost() -> None:
    a, out = tl.ones(2, 2), tl.empty(2, 2)
    assert tl.matmul(a, a, out=out) is out
    assert out.tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert tl.cat([a, a], out=tl.empty(0)).shape == (4, 2)
    with pytest.warns(UserWarning, match="was resized since it had shape"):
        assert tl.sum(a, out=tl.empty(3)).shape == ()
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        tl.matmul(a.clone().requires_grad_(), a, out=out)
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type"):
        tl.add(a, 0.5, out=tl.zeros(2, 2, dtype=tl.int64))


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.add_(1.5),
        lambda x: x.div_(2),
        lambda x: x.mul_(0.5),
        lambda x: x.sqrt_(),
        lambda x: x.__itruediv__(2),
    ],
)
def test_integers_take_no_fractions_in_place(write) -> None:
    x = tl.tensor([1, 2])
    with pytest.raises(RuntimeError, match="can't be cast to"):
        write(x)
    assert x.tolist() == [1, 2]


def test_a_wider_float_is_rounded_into_a_narrower_one() -> None:
    x = tl.ones(2)
    assert x.add_(tl.ones(2, dtype=tl.float64)) is x
    assert x.dtype is tl.float32


def test_x_times_itself_in_place_has_its_gradient() -> None:
    x = leaf(3.0)
    y = x * 1
    y.mul_(y)
    y.backward()
    assert x.grad.tolist() == [6.0]


def test_every_function_with_an_in_place_form_does_the_same_in_place() -> None:
    names = [n[:-1] for n in dir(tl.Tensor) if n.endswith("_") and not n.endswith("__") and hasattr(tl, n[:-1])]
    compared = set()
    for name in names:
        arguments = _arguments(name)
        if arguments is None:
            continue
        for x in (tl.tensor([0.25, 0.5, 0.75]), tl.tensor([True, False]), tl.tensor([3, 1])):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    expected = getattr(tl, name)(x, *arguments)
                except (RuntimeError, TypeError, IndexError, ValueError):
                    continue  # it wants other arguments
                if (
                    not isinstance(expected, tl.Tensor)
                    or expected.shape != x.shape
                    or not tl.can_cast(expected.dtype, x.dtype)
                ):
                    continue
                y = x.clone()
                assert getattr(y, f"{name}_")(*arguments) is y, name
            np.testing.assert_array_equal(y.numpy(), expected.to(x.dtype).numpy(), name)
            compared.add(name)
    assert len(compared) > 50


def _arguments(name: str):
    if name in ("bernoulli", "normal", "random", "uniform", "detach", "float_power"):  # drawn, or of one type alone
        return None
    known = {"clamp": (0.3, 0.6), "clip": (0.3, 0.6), "cumsum": (0,), "cumprod": (0,), "squeeze": (), "unsqueeze": (0,)}
    if name in known:
        return known[name]
    row = tl.ops.ROWS.get(getattr(tl, name).__name__)
    return () if row is not None and len(row.params) == 1 else (2,)


@pytest.mark.parametrize("name", ["le_", "lt_", "ge_", "gt_", "eq_", "ne_"])
@pytest.mark.parametrize("wanted", [(True, False), (False, True), (True, True)], ids=["self", "other", "both"])
def test_a_comparison_in_place_joins_the_graph_with_gradients_of_0(name: str, wanted: tuple[bool, bool]) -> None:
    x, y = (tl.tensor([1.0, 2.0, 3.0], requires_grad=flag) for flag in wanted)
    z = getattr(x * 1, name)(y)
    assert z.grad_fn.name() == f"{name[:-1].capitalize()}Backward1"
    z.sum().backward()
    for leaf, flag in zip((x, y), wanted, strict=True):
        assert (leaf.grad.tolist() if flag else leaf.grad) == ([0, 0, 0] if flag else None)


COPIED = {
    "clone": lambda x: x.clone(), "another type": lambda x: x.double(), "zeros_like": tl.zeros_like, "to": lambda x: x.to(copy=True),
}  # fmt: skip


@pytest.mark.parametrize("copied", COPIED.values(), ids=COPIED)
def test_copies_of_tensors_without_elements_keep_their_strides(copied) -> None:
    for x in (tl.ones(0, 4)[:, ::2], tl.ones(4, 4)[2:2].t(), tl.ones(0, 3, 4).permute(2, 0, 1)):
        assert copied(x).stride() == x.stride()
        assert copied(x).shape == x.shape
