"""Programs about modules that run on both libraries and must tell the same: what is registered, saved, loaded, copied, hooked."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from collections.abc import Callable

import numpy as np
import pytest

import tensorlab as tl
from tests.parity.telling import attempt, filled, net, told, torch

PROGRAMS: dict[str, Callable[[object], object]] = {}


def program(function: Callable[[object], object]) -> Callable[[object], object]:
    PROGRAMS[function.__name__] = function
    return function


@program
def names_of_all_that_is_inside(lib: object) -> object:
    m = net(lib)
    return [
        [name for name, _ in m.named_parameters()],
        [name for name, _ in m.named_parameters("top")],
        [name for name, _ in m.named_parameters(recurse=False)],
        [name for name, _ in m.named_parameters(remove_duplicate=False)],
        [name for name, _ in m.named_buffers()],
        [name for name, _ in m.named_buffers("x", False)],
        [name for name, _ in m.named_buffers(remove_duplicate=False)],
        [name for name, _ in m.named_modules()],
        [name for name, _ in m.named_modules(prefix="p", remove_duplicate=False)],
        [name for name, _ in m.block.named_children()],
        len(list(m.modules())),
        len(list(m.modules(remove_duplicate=False))),
        len(list(m.block.children())),
    ]


@program
def parts_by_their_paths(lib: object) -> object:
    m = net(lib)
    return [
        m.get_submodule("block.first"),
        m.get_submodule("") is m,
        m.get_parameter("block.first.bias"),
        m.get_buffer("block.seen"),
        *[attempt(lambda p=p: m.get_submodule(p)) for p in ("block.third", "block.seen", "x.y")],
        *[attempt(lambda p=p: m.get_parameter(p)) for p in ("block.seen", "block.third", "block.first")],
        *[attempt(lambda p=p: m.get_buffer(p)) for p in ("block.first.weight", "block.third")],
    ]


@program
def a_submodule_put_in_another_place(lib: object) -> object:
    m, n = net(lib), lib.nn
    m.set_submodule("block.first", n.Tanh())
    m.set_submodule("block.new", n.Sigmoid())
    m.set_submodule("act", n.GELU(), strict=True)
    return [
        m,
        attempt(lambda: m.set_submodule("", n.Tanh())),
        attempt(lambda: m.set_submodule("block.nothing", n.Tanh(), strict=True)),
        attempt(lambda: m.set_submodule("nothing.nothing", n.Tanh())),
        attempt(lambda: m.set_submodule("block.seen", n.Tanh())),
        attempt(lambda: m.set_submodule("block.first", 3)),
    ]


@program
def what_may_be_registered_under_which_name(lib: object) -> object:
    n, m = lib.nn, lib.nn.Module()
    return [
        attempt(lambda: m.register_buffer("a.b", lib.ones(1))),
        attempt(lambda: m.register_buffer("", lib.ones(1))),
        attempt(lambda: m.register_buffer(3, lib.ones(1))),
        attempt(lambda: m.register_buffer("training", lib.ones(1))),
        attempt(lambda: m.register_buffer("b", 3)),
        attempt(lambda: m.register_buffer("b", lib.ones(1))),
        attempt(lambda: m.register_buffer("b", lib.zeros(1))),
        attempt(lambda: m.register_parameter("b", n.Parameter(lib.ones(1)))),
        attempt(lambda: m.register_parameter("p", lib.ones(1))),
        attempt(lambda: m.register_parameter("p", n.Parameter(lib.ones(1)))),
        attempt(lambda: m.register_parameter("q", None)),
        attempt(lambda: m.register_parameter("a.b", None)),
        attempt(lambda: m.register_parameter("forward", None)),
        attempt(lambda: m.register_module("p", n.ReLU())),
        attempt(lambda: m.register_module("r", 3)),
        attempt(lambda: m.register_module("r", n.ReLU())),
        attempt(lambda: m.register_module("a.b", n.ReLU())),
        attempt(lambda: m.add_module("s", None)),
        attempt(lambda: n.Module(3)),
        attempt(lambda: n.Module(x=3)),
        list(m._parameters), list(m._buffers), list(m._modules), m.b,
    ]  # fmt: skip


@program
def attributes_that_change_their_kind(lib: object) -> object:
    n, m = lib.nn, lib.nn.Module()
    m.x = n.Parameter(lib.ones(1))
    seen = [list(m._parameters)]
    m.x = None
    seen += [m.x, list(m._parameters), attempt(lambda: setattr(m, "x", lib.ones(1)))]
    m.x = n.Parameter(lib.ones(2))
    seen += [attempt(lambda: setattr(m, "x", n.ReLU())), attempt(lambda: setattr(m, "x", n.Buffer(lib.ones(1))))]
    del m.x
    m.x = n.Linear(1, 1)
    seen += [list(m._parameters), list(m._modules), attempt(lambda: setattr(m, "x", lib.ones(1)))]
    seen += [attempt(lambda: setattr(m, "x", n.Buffer(lib.ones(1))))]
    m.x = n.Parameter(lib.ones(1))
    seen += [list(m._modules), list(m._parameters)]
    del m.x
    m.x = n.Buffer(lib.ones(1))
    seen += [list(m._modules), list(m._buffers), attempt(lambda: setattr(m, "x", 3))]
    m.x = lib.zeros(1)
    seen += [m.x, list(m._buffers)]
    m.x = None
    seen += [m.x, list(m._buffers)]
    del m.x
    seen += [list(m._buffers), hasattr(m, "x"), attempt(lambda: delattr(m, "x"))]
    m.y = 3
    m.y = n.Parameter(lib.ones(1))
    return [*seen, "y" in m.__dict__, list(m._parameters)]


@program
def nothing_before_super_init(lib: object) -> object:
    n = lib.nn
    seen = []

    class Early(n.Module):
        def __init__(self, what: object) -> None:
            self.x = what

    for what in (n.Parameter(lib.ones(1)), n.ReLU(), n.Buffer(lib.ones(1)), 3):
        seen.append(attempt(lambda what=what: Early(what).x))
    return seen


@program
def several_parents_and_their_arguments(lib: object) -> object:
    class Other:
        def __init__(self, x: int, *, y: int) -> None:
            self.kept = (x, y)

    class Both(lib.nn.Module, Other):
        call_super_init = True

    return [Both(1, y=2).kept, attempt(lambda: Both(1))]


@program
def a_state_with_the_names_and_versions(lib: object) -> object:
    m = net(lib)
    own = OrderedDict()
    returned = m.state_dict(destination=own, prefix="top.")
    kept = m.state_dict(keep_vars=True)
    return [
        dict(m.state_dict()), dict(m.state_dict()._metadata), list(own), returned is own, list(m.state_dict(prefix="a.")),
        kept["last.weight"] is m.last.weight, kept["block.seen"] is m.block.seen, m.state_dict()["last.weight"].requires_grad,
    ]  # fmt: skip


@program
def a_state_that_does_not_fit(lib: object) -> object:
    m, seen = net(lib), []
    state = m.state_dict()
    for change in (
        lambda s: s.pop("last.bias"), lambda s: s.update({"last.more": lib.ones(1)}), lambda s: s.update({"x.y": lib.ones(1)}),
        lambda s: s.update({"last.bias": lib.ones(7)}), lambda s: s.update({"last.bias": 3}),
        lambda s: s.update({"block.hidden": lib.ones(1)}), lambda s: s.update({"block.none": lib.ones(1)}),
    ):  # fmt: skip
        changed = OrderedDict(state)
        change(changed)
        for strict in (True, False):
            found = attempt(lambda changed=changed, strict=strict: m.load_state_dict(changed, strict=strict))
            seen.append(found if isinstance(found, str) else [found.missing_keys, found.unexpected_keys, repr(found)])
    seen.append(repr(m.load_state_dict(state)))
    return [*seen, attempt(lambda: m.load_state_dict(3))]


@program
def the_report_of_a_state_that_does_not_fit(lib: object) -> object:
    m = net(lib)
    state = m.state_dict()
    state["last.weight"] = lib.ones(2, 2)
    del state["block.seen"]
    state["extra"] = lib.ones(1)
    try:
        m.load_state_dict(state)
    except RuntimeError as error:
        return [str(error).replace("torch.", "").replace("tensorlab.", "")]
    return []


@program
def a_state_that_is_put_in_place_of_the_old(lib: object) -> object:
    m = net(lib)
    m.last.bias.requires_grad_(False)
    state = {name: x.double() for name, x in m.state_dict().items()}
    old = m.last.weight
    m.load_state_dict(state, assign=True)
    return [
        m.last.weight is old, m.last.weight, m.last.bias.requires_grad, m.last.weight.requires_grad, m.block.seen,
        m.block.second is m.block.first,
    ]  # fmt: skip


@program
def extra_state(lib: object) -> object:
    class Counting(lib.nn.Module):
        count = 0

        def get_extra_state(self) -> object:
            return {"count": self.count}

        def set_extra_state(self, state: object) -> None:
            self.count = state["count"]

    class Taking(lib.nn.Module):
        def set_extra_state(self, state: object) -> None:
            pass

    m = lib.nn.Sequential(Counting(), lib.nn.Linear(1, 1))
    m[0].count = 5
    state = m.state_dict()
    again = lib.nn.Sequential(Counting(), lib.nn.Linear(1, 1))
    again.load_state_dict(state)
    del state["0._extra_state"]
    return [
        list(m.state_dict()), again[0].count, attempt(lambda: again.load_state_dict(state)),
        again.load_state_dict(state, strict=False).missing_keys,
        attempt(lambda: lib.nn.Linear(1, 1).load_state_dict({**lib.nn.Linear(1, 1).state_dict(), "_extra_state": 1})),
        attempt(lambda: lib.nn.Linear(1, 1).get_extra_state()), attempt(lambda: lib.nn.Linear(1, 1).set_extra_state(1)),
    ]  # fmt: skip


@program
def hooks_of_saving_and_loading_in_order(lib: object) -> object:
    m, seen = net(lib), []
    m.block.register_state_dict_pre_hook(lambda mod, prefix, keep: seen.append(["pre", prefix, keep]))
    m.register_state_dict_post_hook(lambda mod, state, prefix, meta: seen.append(["post", prefix, sorted(meta)]))
    m._register_state_dict_hook(lambda mod, state, prefix, meta: state.pop("last.bias") and None)
    state = m.state_dict()
    handle = m.last.register_load_state_dict_pre_hook(
        lambda mod, given, prefix, *rest: (
            seen.append([type(mod).__name__, prefix, sorted(given)]),
            given.update({prefix + "bias": lib.ones(1)}),
        )[0]
    )
    m.block._register_load_state_dict_pre_hook(lambda given, prefix, *rest: seen.append(["private", prefix]))
    m.block._register_load_state_dict_pre_hook(
        lambda mod, given, prefix, *rest: seen.append(["with", type(mod).__name__]), with_module=True
    )
    m.register_load_state_dict_post_hook(lambda mod, keys: seen.append(["after", list(keys.missing_keys)]))
    m.last.register_load_state_dict_post_hook(lambda mod, keys: keys.unexpected_keys.append("mine"))
    found = attempt(lambda: m.load_state_dict(state, strict=False))
    seen += [sorted(state), found if isinstance(found, str) else list(found)]
    handle.remove()
    m.register_load_state_dict_post_hook(lambda mod, keys: keys)
    return [*seen, attempt(lambda: m.load_state_dict(state, strict=False)), m.last.bias]


@program
def hooks_of_calling_in_order(lib: object) -> object:
    m, seen = net(lib), []
    x = lib.ones(1, 2)

    def note(name: str, result: object = None) -> Callable[..., object]:
        def hook(*args: object) -> object:
            seen.append([name, len(args)])
            return result

        return hook

    m.register_forward_pre_hook(note("pre 1"))
    m.register_forward_pre_hook(note("pre 2"), prepend=True)
    m.register_forward_pre_hook(note("pre kwargs"), with_kwargs=True)
    m.register_forward_hook(note("after 1"))
    m.register_forward_hook(note("after 2"), prepend=True)
    m.register_forward_hook(note("after kwargs"), with_kwargs=True)
    handles = [
        lib.nn.modules.module.register_module_forward_pre_hook(note("all pre")),
        lib.nn.modules.module.register_module_forward_hook(note("all after")),
    ]
    m(x)
    for handle in handles:
        handle.remove()
    seen.append("---")
    m.register_forward_pre_hook(lambda mod, args: args[0] * 2)
    m.register_forward_hook(lambda mod, args, out: out * 10)
    return [*seen, m(x), seen[-6:]]


@program
def hooks_that_always_run_and_hooks_that_fail(lib: object) -> object:
    class Fails(lib.nn.Module):
        def forward(self, x: object, fail: bool = True) -> object:
            if fail:
                raise ValueError("no")
            return x

    seen = []
    m = Fails()
    m.register_forward_hook(lambda *a: seen.append("usual"))
    m.register_forward_hook(lambda *a: seen.append("always"), always_call=True)
    m.register_forward_hook(lambda *a: seen.append("always kwargs") or None, always_call=True, with_kwargs=True)
    found = attempt(lambda: m(1))
    seen.append("---")
    m(1, fail=False)
    m.register_forward_pre_hook(lambda mod, args, kwargs: 3, with_kwargs=True)
    return [found, seen, attempt(lambda: m(1))]


@program
def keyword_arguments_pass_hooks(lib: object) -> object:
    class Adds(lib.nn.Module):
        def forward(self, x: object, *, y: object = None) -> object:
            return x + y

    m, seen = Adds(), []
    m.register_forward_pre_hook(lambda mod, args, kwargs: (args, {"y": kwargs["y"] * 2}), with_kwargs=True)
    m.register_forward_hook(lambda mod, args, kwargs, out: seen.append(sorted(kwargs)) or out + 1, with_kwargs=True)
    return [m(lib.ones(1), y=lib.ones(1)), seen]


@program
def gradients_seen_by_backward_hooks(lib: object) -> object:
    m, seen = net(lib), []
    m.block.register_full_backward_hook(lambda mod, gi, go: seen.append(["block", told(gi), told(go)]))
    m.last.register_full_backward_hook(lambda mod, gi, go: (gi[0] * 2,))
    m.act.register_full_backward_pre_hook(lambda mod, go: (go[0] + 1,))
    m.act.register_full_backward_pre_hook(lambda mod, go: seen.append(["act", told(go)]), prepend=True)
    handle = lib.nn.modules.module.register_module_full_backward_hook(
        lambda mod, gi, go: seen.append(type(mod).__name__)
    )
    x = lib.ones(2, 2, requires_grad=True)
    m(x).sum().backward()
    handle.remove()
    return [*seen, x.grad, m.last.weight.grad, m.block.first.weight.grad]


@program
def hooks_of_every_registration(lib: object) -> object:
    seen = []
    module = lib.nn.modules.module
    handles = [
        module.register_module_parameter_registration_hook(lambda m, name, p: seen.append(["p", name, p is None])),
        module.register_module_buffer_registration_hook(lambda m, name, b: seen.append(["b", name, b is None])),
        module.register_module_module_registration_hook(lambda m, name, c: seen.append(["m", name])),
    ]
    net(lib)
    for handle in handles:
        handle.remove()
    with module.register_module_buffer_registration_hook(lambda m, name, b: lib.zeros(3)):
        m = lib.nn.Module()
        m.register_buffer("b", lib.ones(1))
    return [*seen, m.b]


@program
def types_and_devices(lib: object) -> object:
    m, seen = net(lib), []
    m.register_buffer("whole", lib.ones(1, dtype=lib.int64))
    m.last.weight.grad = lib.ones_like(m.last.weight)
    before = m.last.weight
    for change in (
        lambda: m.double(), lambda: m.half(), lambda: m.bfloat16(), lambda: m.float(), lambda: m.to(lib.float64), lambda: m.to("cpu"),
        lambda: m.to(lib.ones(1, dtype=lib.float32)), lambda: m.cpu(), lambda: m.to("cpu", lib.float64),
        lambda: m.type(lib.float32), lambda: m.to(device="cpu", dtype=lib.float16), lambda: m.to_empty(device="cpu"),
    ):  # fmt: skip
        same = change() is m
        seen.append(
            [
                same,
                str(m.last.weight.dtype)[-4:],
                str(m.last.weight.grad.dtype)[-4:],
                str(m.whole.dtype)[-4:],
                m.last.weight is before,
            ]
        )
    return [*seen, attempt(lambda: m.to(lib.int32)), m.last.weight.is_leaf]


@program
def training_and_gradients_off_and_on(lib: object) -> object:
    m, seen = net(lib), []
    m.eval()
    seen.append([mod.training for mod in m.modules()])
    m.block.train()
    seen.append([mod.training for mod in m.modules()])
    m.requires_grad_(False)
    seen.append([p.requires_grad for p in m.parameters()])
    m.last.requires_grad_()
    m(lib.ones(1, 2)).sum().backward()
    seen.append([p.grad is None for p in m.parameters()])
    m.zero_grad(set_to_none=False)
    seen.append(m.last.weight.grad)
    m.zero_grad()
    seen.append(m.last.weight.grad)
    return [*seen, attempt(lambda: m.train(1))]


@program
def a_function_for_all(lib: object) -> object:
    seen = []
    m = net(lib)
    same = m.apply(lambda mod: seen.append(type(mod).__name__)) is m
    return [seen, same]


@program
def copies_and_pickles(lib: object) -> object:
    m = lib.nn.Sequential(lib.nn.Linear(2, 2), lib.nn.Dropout(0.2))
    filled(lib, m)
    m[0].second = m[0].weight
    m[0].weight.grad = lib.ones(2, 2)
    m.eval()
    seen = []
    for again in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        seen += [
            again,
            again.training,
            again[0].weight is again[0].second,
            again[0].weight is m[0].weight,
            dict(again.state_dict()),
        ]
    shallow = copy.copy(m)
    return [*seen, copy.deepcopy(m)[0].weight.grad, shallow[0].weight is m[0].weight]


@program
def a_module_that_fails_to_say_forward(lib: object) -> object:
    return [
        attempt(lambda: lib.nn.Module()(1)),
        attempt(lambda: lib.nn.Module().nothing),
        attempt(lambda: lib.nn.Module().extra_repr()),
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_tells_the_same_in_both_libraries(name: str) -> None:
    ours, theirs = told(PROGRAMS[name](tl)), told(PROGRAMS[name](torch))
    for at, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        assert a == b, f"number {at}"


def test_the_judge_notices_a_difference() -> None:
    assert told(tl.ones(2)) != told(torch.zeros(2))
    assert told(tl.ones(2)) == told(torch.ones(2))
    assert told(np.float64(1.0)) == 1.0
