"""Programs about optimizers that run on both libraries and must tell the same: groups, names, gradients, saving, hooks."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest

import tensorlab as tl
from tests.parity.telling import attempt, told, torch

PROGRAMS: dict[str, Callable[[object], object]] = {}


def program(function: Callable[[object], object]) -> Callable[[object], object]:
    PROGRAMS[function.__name__] = function
    return function


def leaf(lib: object, *values: float) -> object:
    return lib.tensor(list(values), requires_grad=True)


def with_gradient(lib: object, *values: float) -> object:
    p = leaf(lib, *values)
    p.grad = lib.ones(len(values))
    return p


def groups(optimizer: object) -> list:
    """The groups without their parameters."""
    return [
        {k: v for k, v in group.items() if k != "params"} | {"n": len(group["params"])}
        for group in optimizer.param_groups
    ]


@program
def groups_with_options_of_their_own(lib: object) -> object:
    p, q, r = (with_gradient(lib, 1.0) for _ in range(3))
    o = lib.optim.SGD([{"params": [p]}, {"params": q, "lr": 1.0, "momentum": 0.5}], lr=0.1)
    o.add_param_group({"params": (x for x in [r]), "weight_decay": 0.5, "mine": "kept"})
    o.step()
    o.step()
    seen = [groups(o), p, q, r, list(o.defaults), o.state_dict()["param_groups"]]
    return [*seen, *[attempt(lambda f=f: f()) for f in (
        lambda: o.add_param_group([p]), lambda: o.add_param_group({"params": [p]}), lambda: o.add_param_group({"params": {leaf(lib, 1.0)}}),
        lambda: o.add_param_group({"params": [leaf(lib, 1.0) * 2]}), lambda: o.add_param_group({"params": [3]}), lambda: o.add_param_group({"lr": 1.0}),
    )], len(o.param_groups)]  # fmt: skip


@program
def names_of_parameters(lib: object) -> object:
    net = lib.nn.Linear(2, 1)
    o = lib.optim.Adam(net.named_parameters())
    more = lib.nn.Linear(1, 1)
    seen = [groups(o), attempt(lambda: o.add_param_group({"params": list(more.parameters())}))]
    o.add_param_group({"params": list(more.named_parameters()), "lr": 1.0})
    plain = lib.optim.Adam(net.parameters())
    seen += [
        groups(o),
        o.state_dict()["param_groups"],
        attempt(lambda: plain.add_param_group({"params": list(more.named_parameters())})),
        attempt(lambda: lib.optim.Adam([("a", leaf(lib, 1.0)), leaf(lib, 1.0)])),
        "param_names" in repr(o),
    ]
    plain.load_state_dict({**plain.state_dict(), "param_groups": [{**o.state_dict()["param_groups"][0]}]})
    seen.append("param_names" in plain.param_groups[0])
    named = lib.optim.Adam([(f"x.{n}", p) for n, p in net.named_parameters()])
    named.load_state_dict(named.state_dict() | {"param_groups": [o.state_dict()["param_groups"][0]]})
    return [*seen, named.param_groups[0]["param_names"]]


@program
def gradients_that_are_forgotten_or_zeroed(lib: object) -> object:
    p, q = with_gradient(lib, 1.0), leaf(lib, 2.0)
    o = lib.optim.SGD([p, q], lr=0.1)
    q.grad = (leaf(lib, 3.0) * 2).clone()
    kept = p.grad
    o.zero_grad(set_to_none=False)
    seen = [p.grad is kept, p.grad, q.grad, q.grad.requires_grad]
    o.zero_grad()
    o.step()
    return [*seen, p.grad, q.grad, p, len(o.state)]


@program
def a_closure_is_called_with_gradients_on(lib: object) -> object:
    p, seen = leaf(lib, 2.0), []
    for name in ("SGD", "Adam", "RMSprop", "Adafactor", "LBFGS"):
        o = getattr(lib.optim, name)([p], lr=0.1)

        def closure(o: object = o) -> object:
            o.zero_grad()
            loss = (p * p).sum()
            seen.append(loss.requires_grad)
            loss.backward()
            return loss

        with lib.no_grad():
            seen.append(o.step(closure).requires_grad)
        seen.append([p.requires_grad, p.is_leaf])
    return seen


@program
def a_state_before_and_after_the_first_step(lib: object) -> object:
    seen = []
    for name in (
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
    ):
        options = {"momentum": 0.9} if name in ("SGD", "RMSprop") else {}
        p, q = leaf(lib, 1.0, 2.0), leaf(lib, 3.0)
        o = getattr(lib.optim, name)([p, q], lr=0.1, **options)
        seen.append([name, {n: sorted(s) for n, s in o.state_dict()["state"].items()}])
        p.grad = lib.ones(2)
        o.step()
        state = o.state_dict()["state"]
        seen.append(
            {n: {k: [tuple(v.shape), str(v.dtype).split(".")[-1]] for k, v in s.items()} for n, s in state.items()}
        )
    return seen


@program
def saved_states_that_do_not_fit(lib: object) -> object:
    p, q = with_gradient(lib, 1.0), with_gradient(lib, 2.0)
    o = lib.optim.SGD([p, q], lr=0.1, momentum=0.9)
    o.step()
    state = o.state_dict()
    one, two = (
        lib.optim.SGD([leaf(lib, 1.0)], lr=0.5),
        lib.optim.SGD([{"params": [leaf(lib, 1.0)]}, {"params": [leaf(lib, 1.0)]}], lr=0.5),
    )
    other = lib.optim.SGD([leaf(lib, 1.0), leaf(lib, 1.0)], lr=0.5)
    other.load_state_dict(state)
    return [
        attempt(lambda: one.load_state_dict(state)), attempt(lambda: two.load_state_dict(state)), groups(one), groups(other),
        other.state_dict()["state"],
    ]  # fmt: skip


@program
def types_of_a_loaded_state(lib: object) -> object:
    p = with_gradient(lib, 1.0)
    o = lib.optim.Adam([p])
    o.step()
    wide = lib.tensor([1.0], dtype=lib.float64, requires_grad=True)
    other = lib.optim.Adam([wide])
    other.load_state_dict(o.state_dict())
    half = lib.tensor([1.0], dtype=lib.bfloat16, requires_grad=True)
    third = lib.optim.Adam([half])
    third.load_state_dict(other.state_dict())
    return [{k: str(v.dtype).split(".")[-1] for k, v in x.state_dict()["state"][0].items()} for x in (o, other, third)]


@program
def copies_and_pickles(lib: object) -> object:
    p = with_gradient(lib, 1.0, 2.0)
    o = lib.optim.Adam([p], lr=0.1)
    o.step()
    seen = []
    for again in (copy.deepcopy(o), pickle.loads(pickle.dumps(o))):
        mine = again.param_groups[0]["params"][0]
        mine.grad = lib.ones(2)
        again.step()
        seen += [mine, again.state[mine]["step"].item(), repr(again) == repr(o), mine is p]
    return [*seen, p]


@program
def hooks_of_steps_in_order(lib: object) -> object:
    seen = []
    o = lib.optim.SGD([with_gradient(lib, 1.0)], lr=0.1)
    o.register_step_pre_hook(lambda opt, args, kwargs: seen.append(["pre", len(args), sorted(kwargs)]))
    o.register_step_pre_hook(lambda opt, args, kwargs: (args, {"closure": lambda: 7}))
    o.register_step_post_hook(lambda opt, args, kwargs: seen.append(["post", len(args), sorted(kwargs)]))
    seen.append(o.step())
    o.register_step_pre_hook(lambda opt, args, kwargs: 3)
    return [[*s[:1], *s[2:]] if isinstance(s, list) else s for s in seen] + [attempt(lambda: o.step())]


@program
def what_is_no_parameter(lib: object) -> object:
    made = lib.optim.SGD
    return [attempt(lambda f=f: f() and "made") for f in (
        lambda: made([], lr=0.1), lambda: made(leaf(lib, 1.0), lr=0.1), lambda: made([3.0], lr=0.1), lambda: made(["w"], lr=0.1),
        lambda: made([leaf(lib, 1.0) * 2], lr=0.1), lambda: made([lib.ones(1)], lr=0.1), lambda: made([{"params": [leaf(lib, 1.0)], "lr": 0.1}]),
        lambda: made(iter([leaf(lib, 1.0)]), lr=0.1), lambda: made({"a": leaf(lib, 1.0)}.values(), lr=0.1), lambda: made([{"lr": 3}], lr=0.1),
        lambda: made([lib.ones(1, dtype=lib.int64)], lr=0.1), lambda: lib.optim.Adam([leaf(lib, 1.0)], lr=lib.tensor([0.1, 0.2])),
        lambda: lib.optim.Optimizer([leaf(lib, 1.0)], {}).step(),
    )]  # fmt: skip


@program
def a_rate_that_is_a_tensor(lib: object) -> object:
    seen = []
    for name in ("SGD", "Adam", "RMSprop", "Adagrad", "NAdam", "ASGD", "Rprop"):
        p = with_gradient(lib, 1.0)
        rate = lib.tensor(0.25)
        o = getattr(lib.optim, name)([p], lr=rate)
        o.step()
        rate.fill_(0.5)
        o.step()
        seen += [[round(v, 5) for v in p.tolist()], o.param_groups[0]["lr"] is rate]
    return seen


@program
def parameters_of_many_layouts(lib: object) -> object:
    whole = lib.zeros(4, 6)
    params = [
        whole[1:3, ::2].requires_grad_(),
        lib.ones(3, 2).t().requires_grad_(),
        lib.ones(()).requires_grad_(),
        lib.ones(0, 3).requires_grad_(),
    ]
    o = lib.optim.Adam(params, lr=0.1)
    for turn in range(3):
        for p in params:
            p.grad = lib.ones(p.shape) * (turn + 1)
        o.step()
    return [
        [round(v, 4) for v in whole.flatten().tolist()],
        *[p.tolist() if not p.numel() else round(float(p.sum()), 4) for p in params],
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_tells_the_same_in_both_libraries(name: str) -> None:
    ours, theirs = told(PROGRAMS[name](tl)), told(PROGRAMS[name](torch))
    for at, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        assert a == b, f"number {at}"
