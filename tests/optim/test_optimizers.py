"""Optimizers: what they take, what they change, what they remember and how that is saved."""

from __future__ import annotations

import copy
import pickle
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorlab as tl
from tensorlab import nn, optim
from tensorlab.optim.lanes import LARGE

ALL = [
    "SGD",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "RAdam",
    "Adagrad",
    "Adadelta",
    "RMSprop",
    "Rprop",
    "ASGD",
    "Adafactor",
]


def leaf(*values: float) -> tl.Tensor:
    return tl.tensor(list(values), requires_grad=True)


def stepped(optimizer: optim.Optimizer, *gradients: float) -> None:
    """One step with one gradient value for every parameter."""
    params = [p for group in optimizer.param_groups for p in group["params"]]
    for p, g in zip(params, gradients, strict=True):
        p.grad = tl.full_like(p, g)
    optimizer.step()


def test_a_step_of_sgd_goes_against_the_gradient() -> None:
    p = leaf(1.0, 2.0)
    (p * tl.tensor([1.0, -3.0])).sum().backward()
    optim.SGD([p], lr=0.1).step()
    assert p.tolist() == pytest.approx([0.9, 2.3])
    assert p.is_leaf
    assert p.requires_grad


def test_the_first_step_of_adam_is_as_long_as_the_learning_rate() -> None:
    p = leaf(1.0, 1.0)
    p.grad = tl.tensor([1e-3, -100.0])
    optim.Adam([p], lr=0.1).step()
    assert p.tolist() == pytest.approx([0.9, 1.1], rel=1e-4)


def test_weight_decay_of_adamw_shrinks_a_parameter_without_gradient_history() -> None:
    p = leaf(1.0)
    optimizer = optim.AdamW([p], lr=0.1, weight_decay=0.5)
    stepped(optimizer, 0.0)
    assert p.item() == pytest.approx(0.95)


def test_parameters_without_a_gradient_are_left_alone_and_nothing_is_remembered_of_them() -> None:
    p, q = leaf(1.0), leaf(1.0)
    optimizer = optim.Adam([p, q], lr=0.1)
    p.grad = tl.ones(1)
    optimizer.step()
    assert q.item() == 1
    assert list(optimizer.state) == [p]


def test_a_step_counts_as_a_write_so_a_kept_graph_notices_it() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    optimizer = optim.Adam(net.parameters())
    loss = net(tl.ones(1, 2)).sum()
    loss.backward(retain_graph=True)
    versions = [p._version for p in net.parameters()]
    optimizer.step()
    assert [p._version for p in net.parameters()] == [v + 1 for v in versions]
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*written by Adam\.step\(\)"):
        loss.backward()


def test_parameters_keep_their_memory_and_everyone_who_holds_it_sees_the_step() -> None:
    net = nn.Linear(2, 2)
    seen = net.state_dict()
    pointers = [p.data_ptr() for p in net.parameters()]
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    stepped(optimizer, 1.0, 1.0)
    assert [p.data_ptr() for p in net.parameters()] == pointers
    assert tl.equal(seen["weight"], net.weight)


def test_a_parameter_whose_data_is_replaced_goes_on_with_its_history() -> None:
    p, q = leaf(1.0, 1.0), leaf(1.0, 1.0)
    mine, other = optim.Adam([p], lr=0.1), optim.Adam([q], lr=0.1)
    for turn in range(4):
        if turn == 2:
            p.data = p.detach().clone()
        stepped(mine, 1.0 + turn)
        stepped(other, 1.0 + turn)
    assert tl.equal(p, q)


def test_a_parameter_laid_out_in_columns_is_stepped_in_place() -> None:
    for size in (3, 200):
        p = nn.Parameter(tl.zeros(size, size + 1).t())
        assert not p.is_contiguous()
        optimizer = optim.Adam([p], lr=0.1)
        p.grad = tl.arange(p.numel()).view(size + 1, size).float() + 1
        where = p.data_ptr()
        optimizer.step()
        assert p.data_ptr() == where
        assert p.stride() == (1, size + 1)
        assert bool(((p + 0.1).abs() < 1e-5).all())


def test_a_parameter_that_is_a_part_of_another_tensor_is_stepped_in_place() -> None:
    whole = tl.zeros(LARGE, 3)
    p = nn.Parameter(whole[:, 1])
    optimizer = optim.SGD([p], lr=1.0)
    p.grad = tl.ones(LARGE)
    optimizer.step()
    assert whole.sum(0).tolist() == [0, -LARGE, 0]


def test_a_step_records_nothing_and_gives_back_what_the_closure_gave() -> None:
    p = leaf(2.0)
    optimizer = optim.SGD([p], lr=0.1)

    def closure() -> tl.Tensor:
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with tl.no_grad():
        loss = optimizer.step(closure)
    assert loss.item() == 4
    assert p.item() == pytest.approx(1.6)
    assert p.grad_fn is None


def test_zero_grad_forgets_gradients_or_sets_them_to_zero() -> None:
    p = leaf(1.0)
    optimizer = optim.SGD([p], lr=0.1)
    p.grad = kept = tl.ones(1)
    optimizer.zero_grad(set_to_none=False)
    assert p.grad is kept
    assert kept.item() == 0
    optimizer.zero_grad()
    assert p.grad is None


def test_groups_have_options_of_their_own_and_can_be_added_and_changed() -> None:
    p, q, r = leaf(1.0), leaf(1.0), leaf(1.0)
    optimizer = optim.SGD([{"params": [p]}, {"params": q, "lr": 1.0}], lr=0.1)
    optimizer.add_param_group({"params": [r], "momentum": 0.5})
    stepped(optimizer, 1.0, 1.0, 1.0)
    assert [p.item(), q.item(), r.item()] == pytest.approx([0.9, 0.0, 0.9])
    optimizer.param_groups[0]["lr"] = 10.0
    optimizer.param_groups[0]["momentum"] = 0.9
    stepped(optimizer, 1.0, 1.0, 1.0)
    stepped(optimizer, 0.0, 0.0, 0.0)
    assert [p.item(), q.item(), r.item()] == pytest.approx([0.9 - 10 - 9, -1.0, 0.9 - 0.15 - 0.075])


def test_amsgrad_can_be_turned_on_in_the_middle() -> None:
    p = leaf(1.0)
    optimizer = optim.Adam([p], lr=0.1)
    stepped(optimizer, 1.0)
    optimizer.param_groups[0]["amsgrad"] = True
    stepped(optimizer, 1.0)
    assert set(optimizer.state[p]) == {"step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"}
    assert optimizer.state[p]["step"].item() == 2


def test_what_is_remembered_may_be_read_changed_and_thrown_away() -> None:
    p, q = leaf(1.0), leaf(1.0)
    optimizer = optim.SGD([p, q], lr=1.0, momentum=1.0)
    stepped(optimizer, 1.0, 1.0)
    optimizer.state[p]["momentum_buffer"].zero_()
    stepped(optimizer, 0.0, 0.0)
    assert [p.item(), q.item()] == [0.0, -1.0]
    optimizer.state[q]["momentum_buffer"] = tl.tensor([5.0])
    stepped(optimizer, 0.0, 0.0)
    assert q.item() == -6.0
    optimizer.state.clear()
    stepped(optimizer, 0.0, 0.0)
    assert q.item() == -6.0


def test_a_saved_state_is_numbered_by_the_order_of_parameters() -> None:
    p, q = leaf(1.0), leaf(1.0, 2.0)
    optimizer = optim.SGD([{"params": [p]}, {"params": [q]}], lr=0.1, momentum=0.9)
    stepped(optimizer, 1.0, 2.0)
    saved = optimizer.state_dict()
    assert [group["params"] for group in saved["param_groups"]] == [[0], [1]]
    assert saved["state"][1]["momentum_buffer"].tolist() == [2.0, 2.0]


@pytest.mark.parametrize("make", [lambda p: optim.Adam(p, lr=0.1), lambda p: optim.SGD(p, lr=0.1, momentum=0.9)])
def test_a_loaded_state_is_gone_on_from_and_is_not_shared(make: object) -> None:
    p, q = leaf(1.0, 2.0), leaf(1.0, 2.0)
    mine, other = make([p]), make([q])
    stepped(mine, 1.0)
    q.data = p.detach().clone()
    saved = copy.deepcopy(mine.state_dict())
    other.load_state_dict(mine.state_dict())
    for _ in range(2):
        stepped(other, 0.5)
        stepped(mine, 0.5)
    assert tl.equal(p, q)
    assert other.state[q] is not mine.state[p]
    again = make([q])
    again.load_state_dict(saved)
    key = "exp_avg" if "exp_avg" in saved["state"][0] else "momentum_buffer"
    assert tl.equal(again.state[q][key], saved["state"][0][key])


def test_a_state_of_another_shape_is_refused_when_it_is_loaded() -> None:
    one, other = optim.Adam(nn.Linear(2, 2).named_parameters()), optim.Adam(nn.Linear(2, 3).named_parameters())
    stepped(one, 1.0, 1.0)
    with pytest.raises(ValueError, match=r"'exp_avg' of parameter weight in group 0 has shape \[2, 2\].*has \[3, 2\]"):
        other.load_state_dict(one.state_dict())
    assert not other.state


def test_groups_of_other_sizes_are_refused_when_they_are_loaded() -> None:
    one = optim.SGD([leaf(1.0), leaf(1.0)], lr=0.1)
    with pytest.raises(ValueError, match="group 0 holds 2 parameters, the optimizer's 1"):
        optim.SGD([leaf(1.0)], lr=0.1).load_state_dict(one.state_dict())


def test_a_state_in_single_precision_is_converted_to_its_parameters_type() -> None:
    p, q = leaf(1.0), leaf(1.0)
    one, other = optim.Adam([p]), optim.Adam([q])
    stepped(one, 1.0)
    q.data = q.detach().double()
    other.load_state_dict(one.state_dict())
    assert other.state[q]["exp_avg"].dtype == tl.float64
    assert other.state[q]["step"].dtype == tl.float32
    stepped(other, 1.0)
    assert other.state[q]["step"].item() == 2


@pytest.mark.parametrize("again", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])
def test_a_copy_of_an_optimizer_goes_on_by_itself(again: object) -> None:
    p = leaf(1.0)
    optimizer = optim.Adam([p], lr=0.1)
    stepped(optimizer, 1.0)
    twin = again(optimizer)
    stepped(twin, 1.0)
    other = twin.param_groups[0]["params"][0]
    assert other.item() == pytest.approx(0.8, rel=1e-4)
    assert p.item() == pytest.approx(0.9, rel=1e-4)
    assert twin.state[other]["step"].item() == 2
    assert optimizer.state[p]["step"].item() == 1


def test_parameters_in_a_set_are_refused_at_the_top_as_in_a_group() -> None:
    p = leaf(1.0)
    for params in ({p}, frozenset({p}), [{"params": {p}}]):
        with pytest.raises(TypeError, match="ordered collections"):
            optim.SGD(params, lr=0.1)


def test_what_cannot_be_optimized_is_refused_with_its_reason() -> None:
    p = leaf(1.0)
    with pytest.raises(TypeError, match="put it in a list"):
        optim.SGD(p, lr=0.1)
    with pytest.raises(ValueError, match="empty parameter list"):
        optim.SGD(nn.ReLU().parameters(), lr=0.1)
    with pytest.raises(ValueError, match="non-leaf Tensor: it was made by MulBackward0"):
        optim.SGD([p * 2], lr=0.1)
    with pytest.raises(TypeError, match="one of the params is str"):
        optim.SGD(["weight"], lr=0.1)
    with pytest.raises(ValueError, match="more than one parameter group"):
        optim.SGD([{"params": [p]}, {"params": [p]}], lr=0.1)
    with pytest.raises(TypeError, match="must be an iterable"):
        optim.SGD(3, lr=0.1)
    with pytest.raises(RuntimeError, match="`fused` does not support `differentiable`"):
        optim.SGD([p], lr=0.1, differentiable=True, fused=True)


def test_a_parameter_given_twice_is_taken_once_with_a_warning() -> None:
    p = leaf(1.0)
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optimizer = optim.SGD([p, p], lr=0.1)
    p.grad = tl.ones(1)
    optimizer.step()
    assert p.item() == pytest.approx(0.9)


def test_an_option_without_a_default_must_be_given_by_every_group() -> None:
    with pytest.raises(ValueError, match="required optimization parameter lr"):
        optim.Optimizer([leaf(1.0)], {"lr": optim.optimizer.required})


def test_an_optimizer_of_ones_own_says_its_step_and_gets_hooks() -> None:
    class Sign(optim.Optimizer):
        def __init__(self, params: object, lr: float) -> None:
            super().__init__(params, {"lr": lr})

        @tl.no_grad()
        def step(self, closure: object = None) -> None:
            for group in self.param_groups:
                for p in group["params"]:
                    p.sub_(p.grad.sign() * group["lr"])

    p = leaf(1.0, 1.0)
    optimizer = Sign([p], lr=0.5)
    told = []
    optimizer.register_step_pre_hook(lambda o, args, kwargs: told.append("before"))
    handle = optimizer.register_step_post_hook(lambda o, args, kwargs: told.append("after"))
    p.grad = tl.tensor([3.0, -3.0])
    optimizer.step()
    assert p.tolist() == [0.5, 1.5]
    handle.remove()
    optimizer.step()
    assert told == ["before", "after", "before"]


def test_a_step_that_calls_the_step_above_it_runs_hooks_once() -> None:
    class Louder(optim.SGD):
        def step(self, closure: object = None) -> object:
            return super().step(closure)

    optimizer = Louder([leaf(1.0)], lr=0.1)
    told = []
    optimizer.register_step_post_hook(lambda *_: told.append(1))
    optimizer.step()
    assert told == [1]


@given(
    st.lists(st.sampled_from([(), (3,), (2, 3), (0,), (LARGE + 5,), (4, LARGE)]), min_size=1, max_size=4),
    st.lists(st.sets(st.integers(0, 3)), min_size=1, max_size=5),
    st.sampled_from(ALL),
)
def test_parameters_stepped_together_end_where_they_end_when_stepped_alone(
    shapes: list[tuple[int, ...]], turns: list[set[int]], name: str
) -> None:
    options = {} if name == "Rprop" else {"weight_decay": 0.1}
    options |= {"momentum": 0.9} if name in ("SGD", "RMSprop") else {"amsgrad": True} if name == "Adam" else {}
    make = getattr(optim, name)
    together = [tl.full(shape, 1.0 + at, requires_grad=True) for at, shape in enumerate(shapes)]
    alone = [tl.full(shape, 1.0 + at, requires_grad=True) for at, shape in enumerate(shapes)]
    one, several = make(together, lr=0.1, **options), [make([p], lr=0.1, **options) for p in alone]
    for turn, chosen in enumerate(turns):
        for at, (p, q, own) in enumerate(zip(together, alone, several, strict=True)):
            p.grad = q.grad = tl.full(p.shape, 0.5 * turn - at) if at in chosen else None
            own.step()
        one.step()
    assert all(tl.equal(p, q) for p, q in zip(together, alone, strict=True))


@pytest.mark.parametrize("name", [*ALL, "Muon"])
def test_every_optimizer_goes_on_from_what_it_saved_and_can_be_copied(name: str) -> None:
    def run(optimizer: optim.Optimizer, turns: range) -> list:
        params = optimizer.param_groups[0]["params"]
        for turn in turns:
            for at, p in enumerate(params):
                p.grad = tl.arange(p.numel()).reshape(p.shape).float() * 0.1 + turn - at
            optimizer.step()
        return [p.detach().clone() for p in params]

    make = getattr(optim, name)
    params = [tl.ones(2, 3).requires_grad_(), tl.ones(3, 2).requires_grad_()]
    one = make(params, lr=0.1)
    run(one, range(3))
    again = [p.detach().clone().requires_grad_() for p in params]
    other = make(again, lr=0.5)
    other.load_state_dict(one.state_dict())
    copied = copy.deepcopy(one)
    wanted = run(one, range(3, 6))
    assert all(tl.equal(a, b) for a, b in zip(run(other, range(3, 6)), wanted, strict=True))
    assert all(tl.equal(a, b) for a, b in zip(run(copied, range(3, 6)), wanted, strict=True))


def test_hooks_of_saving_see_and_may_change_what_is_saved_and_loaded() -> None:
    p = leaf(1.0)
    optimizer = optim.SGD([p], lr=0.1)
    told = []
    optimizer.register_state_dict_pre_hook(lambda o: told.append("save"))
    optimizer.register_state_dict_post_hook(lambda o, saved: {**saved, "note": 1})
    optimizer.register_state_dict_post_hook(lambda o, saved: saved.update(first=True), prepend=True)
    saved = optimizer.state_dict()
    assert saved["note"] == 1
    assert saved["first"]
    optimizer.register_load_state_dict_pre_hook(lambda o, given: told.append(given["note"]))
    handle = optimizer.register_load_state_dict_post_hook(lambda o: told.append("loaded"))
    optimizer.load_state_dict(saved)
    handle.remove()
    optimizer.load_state_dict(saved)
    assert told == ["save", 1, "loaded", 1]


def test_hooks_around_the_steps_of_all_optimizers() -> None:
    told = []
    before = optim.optimizer.register_optimizer_step_pre_hook(lambda o, args, kwargs: told.append(type(o).__name__))
    after = optim.optimizer.register_optimizer_step_post_hook(lambda o, args, kwargs: told.append("after"))
    optimizer = optim.Adam([leaf(1.0)])
    optimizer.register_step_pre_hook(lambda *_: told.append("own"))
    optimizer.step()
    before.remove()
    after.remove()
    optimizer.step()
    assert told == ["Adam", "own", "after", "own"]


def test_a_sparse_optimizer_refuses_gradients_and_says_what_to_use() -> None:
    p = leaf(1.0)
    optimizer = optim.SparseAdam([p])
    assert optimizer.step(lambda: 3) == 3
    p.grad = tl.ones(1)
    with pytest.raises(RuntimeError, match="consider Adam instead"):
        optimizer.step()


def test_line_search_finds_the_bottom_of_a_narrow_valley() -> None:
    p = tl.tensor([-1.2, 1.0], dtype=tl.float64, requires_grad=True)
    optimizer = optim.LBFGS([p], max_iter=100, max_eval=500, line_search_fn="strong_wolfe")

    def closure() -> tl.Tensor:
        optimizer.zero_grad()
        loss = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
        loss.backward()
        return loss

    optimizer.step(closure)
    assert p.tolist() == pytest.approx([1.0, 1.0], abs=1e-3)


def test_an_optimizer_works_on_other_parameters_for_a_while() -> None:
    p, q = leaf(1.0), leaf(5.0)
    optimizer = optim.Adam([p], lr=0.1)
    with pytest.raises(RuntimeError, match="initialized optimizer state"):
        with optim.swap_in_optimizer_params_and_state(optimizer, {"q": q}, optimizer.state_dict()):
            pass
    stepped(optimizer, 1.0)
    saved = copy.deepcopy(optimizer.state_dict())
    saved["param_groups"][0]["lr"] = 1.0
    kept = (p.item(), optimizer.state[p]["step"].item())
    with optim.swap_in_optimizer_params_and_state(optimizer, {"q": q}, saved):
        stepped(optimizer, 1.0)
        assert optimizer.param_groups[0]["params"] == [q]
    assert q.item() == pytest.approx(4.0, abs=1e-3)
    assert (p.item(), optimizer.state[p]["step"].item()) == kept
    assert saved["state"][0]["step"].item() == 2
    assert optimizer.param_groups[0]["lr"] == 0.1
    for wrong in ({}, {"state": {}, "param_groups": []}, {"state": {7: {}}, "param_groups": saved["param_groups"]}):
        with pytest.raises(RuntimeError):
            with optim.swap_in_optimizer_params_and_state(optimizer, {"q": q}, wrong):
                pass


def test_a_skipped_step_that_is_marked_raises_no_false_alarm() -> None:
    optimizer = optim.SGD([leaf(1.0)], lr=0.1)
    scheduler = optim.lr_scheduler.StepLR(optimizer, 1)
    optimizer._opt_called = True  # as what scales gradients does when it skips a step
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler.step()
