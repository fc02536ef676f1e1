"""Programs about modules that run on both libraries and must tell the same: what is registered, saved, loaded, copied, hooked."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections import OrderedDict
from collections.abc import Callable

import numpy as np
import pytest

import tensorlab as tl

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

PROGRAMS: dict[str, Callable[[object], object]] = {}


def program(function: Callable[[object], object]) -> Callable[[object], object]:
    PROGRAMS[function.__name__] = function
    return function


def told(value: object) -> object:
    """What a program gave, in words that both libraries share."""
    if isinstance(value, (tl.Tensor, torch.Tensor)):
        return (type(value).__name__, tuple(value.shape), str(value.dtype).split(".")[-1], value.detach().tolist())
    if isinstance(value, (tl.nn.Module, torch.nn.Module)):
        return repr(value).replace("torch.", "").replace("tensorlab.", "")
    if isinstance(value, dict):
        return {key: told(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)) or hasattr(value, "__next__"):
        return [told(item) for item in value]
    return value


def attempt(call: Callable[[], object]) -> object:
    """What a call gave, or the class of its error."""
    try:
        return call()
    except Exception as error:
        return type(error).__name__


@pytest.fixture(autouse=True)
def _quiet() -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def filled(lib: object, module: object) -> object:
    with lib.no_grad():
        for at, p in enumerate(module.parameters()):
            p.copy_(lib.arange(p.numel()).reshape(p.shape) * 0.25 - at)
    return module


def net(lib: object) -> object:
    n = lib.nn

    class Block(n.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = n.Linear(2, 3)
            self.second = self.first
            self.register_buffer("seen", lib.zeros(2))
            self.register_buffer("hidden", lib.ones(1), persistent=False)
            self.register_parameter("none", None)

        def forward(self, x: object) -> object:
            return self.second(x)

    return filled(lib, n.Sequential(OrderedDict([("block", Block()), ("act", n.ReLU()), ("last", n.Linear(3, 1))])))


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
        return str(error).replace("torch.", "").replace("tensorlab.", "")
    return None


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
def a_list_of_modules(lib: object) -> object:
    n = lib.nn
    m = n.ModuleList([n.ReLU(), n.Tanh()])
    m.append(n.Sigmoid())
    m.extend([n.GELU(), n.Identity()])
    m.insert(1, n.Softmax(0))
    m += [n.ReLU()]
    seen = [told(m), told(m[1:3]), told(m[-1]), len(m), told(m + [n.Tanh()]), told(m.pop(1)), told(m.pop(-1))]
    del m[0]
    seen.append(told(m))
    del m[1:]
    m[0] = n.ReLU()
    return [
        *seen,
        told(m),
        attempt(lambda: m[5]),
        attempt(lambda: m.extend(3)),
        attempt(lambda: m(1)),
        attempt(lambda: m.append(3)),
    ]


@program
def a_sequence_of_modules(lib: object) -> object:
    n = lib.nn
    m = n.Sequential(n.ReLU(), n.Tanh())
    m.append(n.Sigmoid()).extend([n.GELU()]).insert(0, n.Identity())
    seen = [
        told(m),
        told(m[1:3]),
        told(m[-1]),
        told(m + n.Sequential(n.ReLU())),
        told(m.pop(0)),
        told(m * 2),
        told(2 * m[:1]),
    ]
    m *= 2
    del m[0]
    m[0] = n.Identity()
    del m[2:4]
    m += n.Sequential(n.Tanh())
    return [*seen, told(m), *[attempt(lambda f=f: f()) for f in (
        lambda: m[9], lambda: m * 0, lambda: m * 1.5, lambda: m + 3, lambda: m.insert(99, n.ReLU()), lambda: m.insert(0, 3),
        lambda: n.Sequential(3), lambda: m.pop(99),
    )]]  # fmt: skip


@program
def a_dictionary_of_modules(lib: object) -> object:
    n = lib.nn
    m = n.ModuleDict({"a": n.ReLU()})
    m["b"] = n.Tanh()
    m.update([["c", n.GELU()], ("d", n.Identity())])
    m.update(n.ModuleDict({"e": n.Sigmoid()}))
    seen = [
        told(m),
        list(m),
        list(m.keys()),
        len(m),
        "a" in m,
        told(list(m.values())),
        [k for k, _ in m.items()],
        told(m.pop("a")),
    ]
    del m["b"]
    seen.append(told(m))
    m.clear()
    return [*seen, len(m), *[attempt(lambda f=f: f()) for f in (
        lambda: m["x"], lambda: m.update(3), lambda: m.update([["a"]]), lambda: m.update({"a.b": n.ReLU()}), lambda: m.pop("x"),
    )]]  # fmt: skip


@program
def a_list_of_parameters(lib: object) -> object:
    n = lib.nn
    m = n.ParameterList([lib.ones(1), n.Parameter(lib.ones(2, 2))])
    m.append(n.Parameter(lib.zeros(1))).extend([lib.ones(3)])
    m += [n.Parameter(lib.ones(1))]
    m[0] = lib.zeros(2)
    m.append(3)
    seen = [told(list(m)), len(m), told(list(m[1:3])), told(m[-2]), [name for name, _ in m.named_parameters()]]
    return [
        *seen,
        *[
            attempt(lambda f=f: f())
            for f in (lambda: m[9], lambda: m.extend(3), lambda: m.extend(lib.ones(2)), lambda: m(1))
        ],
    ]


@program
def a_dictionary_of_parameters(lib: object) -> object:
    n = lib.nn
    m = n.ParameterDict({"a": lib.ones(1)})
    m["b"] = n.Parameter(lib.zeros(2))
    m.update([("c", lib.ones(1))])
    m.setdefault("d", lib.ones(2))
    m.setdefault("a", lib.zeros(9))
    other = m.copy()
    seen = [
        told(list(m)),
        told(m["a"]),
        list(reversed(m)),
        len(m),
        "a" in m,
        m.get("x", 7),
        [n for n, _ in m.named_parameters()],
    ]
    seen += [told(m.pop("a")), told(m.popitem()), sorted(m.keys()), [k for k, _ in m.items()], len(list(m.values()))]
    del m["b"]
    joined = m | n.ParameterDict({"z": lib.ones(1)})
    m |= n.ParameterDict({"y": lib.ones(1)})
    seen += [list(joined), list(m), list(other), list(m.fromkeys(["p", "q"], 1))]
    m.clear()
    return [
        *seen,
        len(m),
        *[attempt(lambda f=f: f()) for f in (lambda: m[3], lambda: m.update(3), lambda: m(1))],
    ]


@program
def a_module_that_fails_to_say_forward(lib: object) -> object:
    return [
        attempt(lambda: lib.nn.Module()(1)),
        attempt(lambda: lib.nn.Module().nothing),
        attempt(lambda: lib.nn.Module().extra_repr()),
    ]


def lazy(lib: object, kind: str, *args: object, **options: object) -> object:
    return getattr(lib.nn, f"Lazy{kind}")(*args, **options)


LAZY = {
    "Linear": ((3,), {}, (2, 5)),
    "Conv1d": ((4, 3), {"groups": 2}, (2, 6, 7)),
    "Conv2d": ((4, 3), {"bias": False}, (2, 3, 6, 6)),
    "Conv3d": ((2, 2), {}, (1, 3, 4, 4, 4)),
    "ConvTranspose1d": ((4, 3), {}, (2, 6, 7)),
    "ConvTranspose2d": ((4, 3), {"stride": 2}, (2, 3, 6, 6)),
    "ConvTranspose3d": ((2, 2), {}, (1, 3, 4, 4, 4)),
    "BatchNorm1d": ((), {}, (4, 3)),
    "BatchNorm2d": ((), {"affine": False}, (4, 3, 2, 2)),
    "BatchNorm3d": ((), {"track_running_stats": False}, (4, 3, 2, 2, 2)),
    "InstanceNorm1d": ((), {"affine": True}, (4, 3, 5)),
    "InstanceNorm2d": ((), {"affine": True}, (4, 3, 5, 5)),
    "InstanceNorm3d": ((), {"track_running_stats": True}, (4, 3, 2, 2, 2)),
}


@program
def lazy_layers_before_and_after_their_first_input(lib: object) -> object:
    seen = []
    for kind, (args, options, shape) in LAZY.items():
        m = lazy(lib, kind, *args, **options)
        seen += [m, m.has_uninitialized_params(), type(m).__name__, list(m.state_dict())]
        out = m(lib.ones(*shape))
        seen += [
            m,
            type(m).__name__,
            tuple(out.shape),
            {n: tuple(x.shape) for n, x in m.state_dict().items()},
            len(m._forward_pre_hooks),
        ]
    return seen


@program
def lazy_layers_that_are_saved_loaded_copied_and_misused(lib: object) -> object:
    n = lib.nn
    m, known = n.Sequential(n.LazyLinear(2), n.ReLU()), n.Sequential(n.Linear(3, 2), n.ReLU())
    filled(lib, known)
    again = n.Sequential(n.LazyLinear(2), n.ReLU())
    again.load_state_dict(m.state_dict())
    seen = [again[0].has_uninitialized_params(), attempt(lambda: known.load_state_dict(m.state_dict()))]
    again.load_state_dict(known.state_dict())
    seen += [again[0].has_uninitialized_params(), again(lib.ones(1, 3)), again[0].in_features]
    seen += [attempt(lambda: m[0].weight + 1), attempt(lambda: m[0].weight.shape), attempt(lambda: m[0].weight.sum())]
    m.double()
    for other in (copy.deepcopy(m), pickle.loads(pickle.dumps(m)).double()):
        other(lib.ones(1, 4, dtype=lib.float64))
        seen += [str(other[0].weight.dtype)[-4:], tuple(other[0].weight.shape), m[0].has_uninitialized_params()]
    bad = n.LazyLinear(2)
    bad.initialize_parameters = lambda x: None
    return [
        *seen,
        attempt(lambda: bad(lib.ones(1, 2))),
        attempt(lambda: n.LazyConv2d(2, 3)(lib.ones(3))),
        repr(n.LazyLinear(1).weight),
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_tells_the_same_in_both_libraries(name: str) -> None:
    ours, theirs = told(PROGRAMS[name](tl)), told(PROGRAMS[name](torch))
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for at, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            assert a == b, f"number {at}"
    assert ours == theirs


def test_the_judge_notices_a_difference() -> None:
    assert told(tl.ones(2)) != told(torch.zeros(2))
    assert told(tl.ones(2)) == told(torch.ones(2))
    assert told(np.float64(1.0)) == 1.0
