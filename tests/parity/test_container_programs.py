"""Programs about containers and lazy layers that run on both libraries and must tell the same."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest

import tensorlab as tl
from tests.parity.telling import attempt, filled, told, torch

PROGRAMS: dict[str, Callable[[object], object]] = {}


def program(function: Callable[[object], object]) -> Callable[[object], object]:
    PROGRAMS[function.__name__] = function
    return function


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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_tells_the_same_in_both_libraries(name: str) -> None:
    ours, theirs = told(PROGRAMS[name](tl)), told(PROGRAMS[name](torch))
    for at, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        assert a == b, f"number {at}"
