"""Saved values that were written to: the error names the op, the shapes, the versions and the line that wrote."""

from __future__ import annotations

import pytest

import tensorlab as tl
from tensorlab import modes


def leaf(*values):
    return tl.tensor(list(values), requires_grad=True)


def error_of(loss):
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        loss.backward()
    return str(caught.value)


@pytest.fixture
def sites():
    modes.watch_sites(True)
    yield
    modes.watch_sites(False)


def test_it_names_type_shape_node_value_both_versions_and_the_line_that_wrote():
    y = leaf(1.0, 2.0).exp()
    y.add_(1)  # the line that wrote
    said = error_of(y.sum())
    assert "[tensorlab.float32 [2]]" in said
    assert "ExpBackward0 saved as 'result'" in said
    assert "is at version 1; expected version 0" in said
    assert "It was written by add_() at" in said
    assert "y.add_(1)  # the line that wrote" in said
    assert "test_versions.py" in said
    assert "clone()" in said


def test_where_places_are_recorded_it_also_names_the_line_that_saved(sites):
    y = leaf(1.0, 2.0).exp()
    y.add_(1)
    assert "made at" in error_of(y.sum())
    assert "y = leaf(1.0, 2.0).exp()" in error_of(y.sum())


def test_several_writes_are_all_listed_up_to_three():
    y = leaf(1.0).exp()
    y.add_(1)
    y.mul_(2)
    y.sub_(3)
    y.neg_()
    said = error_of(y.sum())
    assert "version 4; expected version 0" in said
    assert [said.index(w) for w in ("add_()", "mul_()", "sub_()")] == sorted(
        said.index(w) for w in ("add_()", "mul_()", "sub_()")
    )
    assert "neg_()" not in said


def test_only_writes_after_it_was_saved_are_listed():
    y = leaf(1.0) * 1
    y.add_(1)
    z = y.exp() * y
    y.mul_(2)
    said = error_of(z.sum())
    assert "is at version 2; expected version 1" in said
    assert "mul_()" in said
    assert "add_()" not in said


@pytest.mark.parametrize(
    "use",
    [
        lambda y: y + 1,
        lambda y: y.sum(),
        lambda y: y.view(-1),
        lambda y: y.t(),
        lambda y: y * 2,
        lambda y: -y,
        lambda y: y.mean(),
    ],
)
def test_what_saved_nothing_minds_no_write(use):
    x = tl.ones(2, 2, requires_grad=True)
    y = x * 1
    z = use(y)
    with tl.no_grad():
        y.add_(1)
    z.sum().backward()
    assert x.grad is not None


@pytest.mark.filterwarnings("ignore:.*writes through")
@pytest.mark.parametrize(
    "write",
    [
        lambda y: y.add_(1),
        lambda y: y.detach().add_(1),
        lambda y: y.data.add_(1),
        lambda y: y[0].zero_(),
        lambda y: y.view(2).mul_(2),
        lambda y: y.detach().view(-1)[1:].fill_(3),
        lambda y: y.copy_(tl.zeros(2)),
        lambda y: y.__setitem__(0, 5.0),
        lambda y: y.__setitem__([0, 1], 5.0),
        lambda y: y.__setitem__(y > 0, 5.0),
        lambda y: y.masked_fill_(y > 0, 0.0),
        lambda y: y.clamp_(0, 1),
        lambda y: y.zero_(),
        lambda y: y.normal_(),
        lambda y: y.__iadd__(1),
    ],
)
def test_every_way_of_writing_is_noticed(write):
    y = leaf(1.0, 2.0).exp()
    with tl.no_grad():
        write(y)
    assert "expected version 0" in error_of(y.sum())


def test_a_write_through_a_view_made_before_is_noticed():
    x = leaf(1.0, 2.0)
    y = x * 1
    view = y[0]
    z = y.exp() * y
    view.mul_(2)
    assert "mul_()" in error_of(z.sum())


def test_a_write_to_the_base_of_a_saved_view_is_noticed():
    x = leaf(1.0, 2.0)
    y = x * 1
    z = y[:1].exp() * y[:1]
    y.mul_(2)
    assert "mul_()" in error_of(z.sum())


def test_an_optimizer_step_between_two_backwards_is_noticed_on_the_weight():
    w, x = leaf(1.0, 2.0), tl.ones(2, requires_grad=True)
    loss = (w * x).sum()
    optimizer = tl.optim.SGD([w], lr=0.1)
    loss.backward(retain_graph=True)
    optimizer.step()  # here
    said = error_of(loss)
    assert "MulBackward0" in said
    assert "optimizer.step()  # here" in said


def test_zero_grad_does_not_count_as_a_write_to_the_weight():
    w = leaf(1.0, 2.0)
    loss = (w * w).sum()
    loss.backward(retain_graph=True)
    w.grad.zero_()
    loss.backward()
    assert w.grad.tolist() == [2, 4]


def test_a_tensor_may_be_written_before_it_is_saved_and_after_its_backward():
    x = leaf(1.0, 2.0)
    y = x * 1
    y.mul_(3)
    z = y.exp()
    z.sum().backward()
    with tl.no_grad():
        z.zero_()
        y.zero_()
    assert x.grad is not None


def test_an_input_that_an_in_place_op_needs_is_kept_as_it_was():
    x, w = leaf(2.0), leaf(3.0)
    y = x * 1
    y.mul_(w)
    y.mul_(w)
    y.sum().backward()
    assert x.grad.tolist() == [9]
    assert w.grad.tolist() == [2 * 2 * 3]


def test_versions_are_shared_with_views_and_detached_tensors():
    y = tl.ones(2, 2)
    view, cut = y[0], y.detach()
    for write in (y, view, cut):
        write.add_(1)
    assert y._version == view._version == cut._version == 3
    assert y.clone()._version == 0


def test_a_recorded_second_derivative_notices_writes_as_well():
    x = leaf(2.0)
    y = x * 1
    z = y.exp()
    (g,) = tl.autograd.grad(z.sum(), x, create_graph=True)
    with tl.no_grad():
        z.mul_(2)
    assert "ExpBackward0" in error_of(g.sum())


def test_a_failed_write_changes_neither_values_nor_version_nor_history():
    x = leaf(1.0, 2.0)
    y = x * 2
    node = y.grad_fn
    for wrong in (
        lambda: y.add_(tl.ones(3)),
        lambda: y.mul_(tl.ones(2, 2)),
        lambda: y.copy_([5]),
        lambda: y.fill_(tl.ones(2)),
    ):
        with pytest.raises((RuntimeError, TypeError)):
            wrong()
    assert y.tolist() == [2, 4]
    assert y._version == 0
    assert y.grad_fn is node


def test_a_write_through_data_beside_what_was_saved_leaves_the_gradient_as_it_is():
    x = tl.tensor([2.0, 3.0], requires_grad=True)
    room = tl.zeros(4, 2)
    room.data[0] = x.detach()
    y = room[:1] * (x * 1)  # saves the first row of the room
    room.data[1] = 5.0
    room.data[2:].fill_(7.0)
    room.data[::2, 1:][1:] = 1.0
    (y * y).sum().backward()
    assert x.grad.tolist() == [16.0, 54.0]


@pytest.mark.parametrize(
    "write",
    [
        lambda room: room.data[0].add_(1),
        lambda room: room.data.mul_(2),
        lambda room: room.data[:, 1].fill_(0),
        lambda room: [room.data[i].add_(1) for i in (1, 2, 3, 0)],
        lambda room: [room.data[1].add_(1) for _ in range(100)],  # more than is remembered
    ],
)
def test_a_write_through_data_to_what_was_saved_is_an_error_at_backward(write):
    x = tl.tensor([2.0, 3.0], requires_grad=True)
    room = tl.ones(4, 2)
    y = (room[0] * x).sum()
    write(room)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
