"""Programs about first values, clipping, parametrized, normed and pruned weights that run on both libraries."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from importlib import import_module

import numpy as np
import pytest

import tensorlab as tl
from tests.parity.telling import attempt, filled, net, told, torch

PROGRAMS: dict[str, Callable[[object], object]] = {}
import_module("torch.nn.utils.prune")  # which PyTorch loads only when asked


def program(function: Callable[[object], object]) -> Callable[[object], object]:
    PROGRAMS[function.__name__] = function
    return function


def gradients(lib: object, *scales: float) -> list:
    params = [lib.ones(2, 3, requires_grad=True), lib.ones(4, requires_grad=True), lib.ones(1, requires_grad=True)]
    for p, scale in zip(params, scales, strict=False):
        p.grad = lib.arange(p.numel(), dtype=lib.float32).reshape(p.shape) * scale - 1
    return params


@program
def the_norm_of_gradients_before_and_after(lib: object) -> object:
    seen = []
    u = lib.nn.utils
    for order in (2.0, 1, 0.5, 3, math.inf):
        for most in (0.0, 0.7, 1e9):
            params = gradients(lib, 0.5, -2.0)
            total = u.clip_grad_norm_(params, most, order)
            seen += [
                round(float(total), 4),
                [None if p.grad is None else np.round(p.grad.tolist(), 4).tolist() for p in params],
            ]
    params = gradients(lib, 0.5, -2.0, 1.0)
    total = u.get_total_norm([p.grad for p in params])
    u.clip_grads_with_norm_(params, 1.0, total)
    u.clip_grad_norm_(iter(params[:1]), 0.1)
    u.clip_grad_norm_(params[0], 0.05)
    seen += [round(float(total), 4), *[np.round(p.grad.tolist(), 4).tolist() for p in params]]
    u.clip_grad_value_(params, 0.25)
    u.clip_grad_value_(params[2], 0.1)
    return [
        *seen,
        *[np.round(p.grad.tolist(), 4).tolist() for p in params],
        float(u.get_total_norm([])),
        float(u.clip_grad_norm_([], 1.0)),
    ]


@program
def norms_that_are_not_finite(lib: object) -> object:
    seen = []
    for bad in (math.inf, math.nan):
        for error in (True, False):
            params = gradients(lib, 0.5)
            params[0].grad[0, 0] = bad
            seen.append(
                attempt(
                    lambda params=params, error=error: math.isnan(
                        lib.nn.utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=error)
                    )
                )
            )
            seen.append(np.isnan(params[0].grad.tolist()).tolist())
    return seen


@program
def parameters_as_a_vector(lib: object) -> object:
    m = net(lib)
    vector = lib.nn.utils.parameters_to_vector(m.parameters())
    lib.nn.utils.vector_to_parameters(vector.detach() * 2, m.parameters())
    return [
        vector,
        list(m.parameters()),
        attempt(lambda: lib.nn.utils.vector_to_parameters([1.0], m.parameters())),
    ]


@program
def a_module_called_with_other_parameters(lib: object) -> object:
    call = lib.func.functional_call
    m = net(lib)
    m.block.second = filled(lib, lib.nn.Linear(2, 3))
    m.block.second.weight = m.block.first.weight
    x = lib.ones(1, 2)
    own = {name: p.detach() + 1 for name, p in m.named_parameters()}
    before = m(x)
    seen = [call(m, own, x), call(m, (own, {"block.seen": lib.ones(2)}), (x,)), before]
    seen.append(m(x))
    leaf = lib.zeros(1, 3, requires_grad=True)
    call(m, {"last.weight": leaf}, x).sum().backward()
    seen += [leaf.grad, m.last.weight.grad]
    seen += [
        call(m, {"block.second.weight": lib.ones(3, 2)}, x),
        call(m, {"block.second.weight": lib.ones(3, 2)}, x, tie_weights=False),
    ]
    both = {"block.first.weight": lib.ones(3, 2), "block.second.weight": lib.zeros(3, 2)}
    return [
        *seen, attempt(lambda: call(m, both, x)), call(m, both, x, tie_weights=False), attempt(lambda: call(m, own, x, strict=True)),
        attempt(lambda: call(m, {"nothing": leaf}, x)), attempt(lambda: call(m, [own, own], x)), attempt(lambda: call(m, 3, x)),
        attempt(lambda: call(m, {"last.weight": lib.ones(7, 7)}, x)), m(x), [n for n, _ in m.named_parameters()],
        call(m, own, kwargs={"input": x}),
    ]  # fmt: skip


@program
def buffers_written_to_in_a_call_with_others(lib: object) -> object:
    class Counts(lib.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("n", lib.zeros(1))

        def forward(self, x: object) -> object:
            self.n = self.n + 1
            return x + self.n

    m = Counts()
    given = {"n": lib.ones(1)}
    return [lib.func.functional_call(m, given, lib.zeros(1)), given["n"], m.n]


def doubling(lib: object) -> object:
    class Doubled(lib.nn.Module):
        def forward(self, x: object) -> object:
            return x * 2

        def right_inverse(self, x: object) -> object:
            return x / 2

    return Doubled()


def other_shape(lib: object, change: Callable[[object], object]) -> object:
    class Changed(lib.nn.Module):
        def forward(self, x: object) -> object:
            return change(x)

    return Changed()


@program
def a_weight_that_is_computed(lib: object) -> object:
    z = lib.nn.utils.parametrize
    m = filled(lib, lib.nn.Linear(2, 2))
    z.register_parametrization(m, "weight", doubling(lib))
    seen = [
        m,
        type(m).__name__,
        type(m).__mro__[1].__name__,
        m.weight,
        [n for n, _ in m.named_parameters()],
        list(m.state_dict()),
    ]
    seen += [z.is_parametrized(m), z.is_parametrized(m, "bias"), z.type_before_parametrizations(m).__name__]
    m.weight = lib.ones(2, 2)
    seen += [m.parametrizations.weight.original, m(lib.ones(1, 2)), isinstance(m, lib.nn.Linear)]
    m(lib.ones(1, 2)).sum().backward()
    seen.append(m.parametrizations.weight.original.grad)
    z.register_parametrization(m, "weight", doubling(lib))
    seen += [m.weight, m.parametrizations.weight]
    with z.cached():
        seen.append(m.weight is m.weight)
    seen.append(m.weight is m.weight)
    z.register_parametrization(m, "bias", doubling(lib))
    again = copy.deepcopy(m)
    z.remove_parametrizations(m, "weight")
    seen += [m.weight, [n for n, _ in m.named_parameters()], type(m).__name__]
    z.remove_parametrizations(m, "bias", leave_parametrized=False)
    seen += [m.bias, type(m).__name__, hasattr(m, "parametrizations")]
    return [*seen, attempt(lambda: again.__reduce_ex__(2)), attempt(lambda: z.remove_parametrizations(m, "weight"))]


@program
def computed_weights_that_are_refused(lib: object) -> object:
    z = lib.nn.utils.parametrize
    fresh = lambda: filled(lib, lib.nn.Linear(2, 2))  # noqa: E731
    changes = [lambda x: x.sum(), lambda x: x.double(), lambda x: 3]
    seen = [
        attempt(lambda c=c: z.register_parametrization(fresh(), "weight", other_shape(lib, c)) and "taken")
        for c in changes
    ]
    seen += [
        attempt(lambda c=c: z.register_parametrization(fresh(), "weight", other_shape(lib, c), unsafe=True) and "taken")
        for c in changes[:2]
    ]
    for change in changes:
        m = fresh()
        z.register_parametrization(m, "weight", doubling(lib))
        seen.append(
            attempt(lambda m=m, c=change: z.register_parametrization(m, "weight", other_shape(lib, c)) and "taken")
        )
        seen.append(len(m.parametrizations.weight))
    seen.append(attempt(lambda: z.register_parametrization(fresh(), "nothing", doubling(lib))))
    m = fresh()
    z.register_parametrization(m, "weight", other_shape(lib, lambda x: x + 1))
    seen.append(attempt(lambda: setattr(m, "weight", lib.ones(2, 2))))
    return seen


@program
def a_weight_computed_from_two_tensors(lib: object) -> object:
    class Sum(lib.nn.Module):
        def forward(self, a: object, b: object) -> object:
            return a + b

        def right_inverse(self, x: object) -> object:
            return x, lib.zeros_like(x)

    z = lib.nn.utils.parametrize
    m = filled(lib, lib.nn.Linear(2, 2))
    z.register_parametrization(m, "weight", Sum())
    seen = [list(m.state_dict()), m.weight, m.parametrizations.weight.ntensors, [n for n, _ in m.named_parameters()]]
    m.weight = lib.ones(2, 2)
    seen += [m.parametrizations.weight.original0, m.parametrizations.weight.original1]
    other = filled(lib, lib.nn.Linear(2, 2))
    z.transfer_parametrizations_and_params(m, other)
    seen += [other.weight, other.parametrizations.weight.original0 is m.parametrizations.weight.original0]
    seen.append(attempt(lambda: z.remove_parametrizations(m, "weight", leave_parametrized=False)))
    z.remove_parametrizations(m, "weight")
    return [*seen, m.weight, m.weight.is_leaf]


@program
def weight_norm_as_a_parametrization(lib: object) -> object:
    seen = []
    for dim in (0, 1, None):
        m = filled(lib, lib.nn.Linear(2, 3))
        lib.nn.utils.parametrizations.weight_norm(m, dim=dim)
        seen += [m, list(m.state_dict()), m.parametrizations.weight.original0, np.round(m.weight.tolist(), 5).tolist()]
        with lib.no_grad():
            m.parametrizations.weight.original0.mul_(2)
        m(lib.ones(1, 2)).sum().backward()
        seen += [
            np.round(m.weight.tolist(), 5).tolist(),
            *[np.round(p.grad.tolist(), 4).tolist() for p in m.parameters()],
        ]
    old = {"weight_g": lib.ones(3, 1), "weight_v": lib.ones(3, 2), "bias": lib.zeros(3)}
    m = lib.nn.utils.parametrizations.weight_norm(lib.nn.Linear(2, 3))
    return [*seen, repr(m.load_state_dict(old)), m.parametrizations.weight.original1]


@program
def weight_norm_as_a_hook(lib: object) -> object:
    m = filled(lib, lib.nn.Linear(2, 3))
    lib.nn.utils.weight_norm(m)
    seen = [
        m,
        list(m.state_dict()),
        [n for n, _ in m.named_parameters()],
        np.round(m(lib.ones(1, 2)).tolist(), 5).tolist(),
    ]
    with lib.no_grad():
        m.weight_g.mul_(2)
    seen += [np.round(m(lib.ones(1, 2)).tolist(), 5).tolist(), attempt(lambda: lib.nn.utils.weight_norm(m))]
    lib.nn.utils.remove_weight_norm(m)
    return [
        *seen, list(m.state_dict()), np.round(m.weight.tolist(), 5).tolist(), len(m._forward_pre_hooks), attempt(lambda: lib.nn.utils.remove_weight_norm(m)),
        attempt(lambda: lib.nn.utils.weight_norm(lib.nn.LazyLinear(2))),
    ]  # fmt: skip


@program
def orthogonal_weights(lib: object) -> object:
    o = lib.nn.utils.parametrizations.orthogonal
    seen = []
    for shape in ((3, 3), (4, 2), (2, 4)):
        for way in ("matrix_exp", "cayley", "householder", None):
            m = lib.nn.Linear(shape[1], shape[0], bias=False).double()
            with lib.no_grad():
                m.weight.copy_(lib.tensor(np.random.default_rng(0).standard_normal(shape)))
            o(m, orthogonal_map=way)
            w = m.weight
            few = w @ w.mT if shape[0] < shape[1] else w.mT @ w
            seen += [np.round(few.tolist(), 6).tolist(), list(m.state_dict())]
            if shape[0] == shape[1]:
                seen.append(np.round(w.tolist(), 6).tolist())
            free = lib.tensor(np.random.default_rng(1).standard_normal(shape))
            plain = lib.nn.Linear(shape[1], shape[0], bias=False).double()
            o(plain, orthogonal_map=way, use_trivialization=False)
            with lib.no_grad():
                plain.parametrizations.weight.original.copy_(free)
            (plain.weight * free.cos()).sum().backward()
            seen.append(np.round(plain.weight.tolist(), 6).tolist())
            seen.append(np.round(plain.parametrizations.weight.original.grad.tolist(), 5).tolist())
            kept = w.detach().clone()
            m.weight = kept
            seen += [
                np.allclose(m.weight.tolist(), kept.tolist()),
                attempt(lambda m=m: setattr(m, "weight", lib.ones(7, 7))),
            ]
            seen.append(
                attempt(lambda p=plain, k=kept: setattr(p, "weight", k) or np.allclose(p.weight.tolist(), k.tolist()))
            )
    return [
        *seen,
        attempt(lambda: o(lib.nn.ReLU())),
        attempt(lambda: o(lib.nn.Linear(2, 2), "bias")),
        attempt(lambda: o(lib.nn.Linear(2, 2), orthogonal_map="x")),
    ]


def known_vectors(lib: object, m: object, u: str, v: str) -> None:
    with lib.no_grad():
        getattr(m, u).copy_(lib.tensor([0.6, 0.8, 0.0]))
        getattr(m, v).copy_(lib.tensor([1.0, 0.0]))


@program
def spectral_norm_as_a_parametrization(lib: object) -> object:
    m = filled(lib, lib.nn.Linear(2, 3))
    lib.nn.utils.parametrizations.spectral_norm(m, n_power_iterations=2)
    known_vectors(lib, m.parametrizations.weight[0], "_u", "_v")
    seen = [
        m,
        list(m.state_dict()),
        np.round(m.weight.tolist(), 5).tolist(),
        np.round(m(lib.ones(1, 2)).tolist(), 4).tolist(),
    ]
    m.eval()
    m(lib.ones(1, 2)).sum().backward()
    seen += [
        np.round(m.parametrizations.weight.original.grad.tolist(), 4).tolist(),
        np.round(m.parametrizations.weight[0]._u.tolist(), 4).tolist(),
    ]
    c = lib.nn.utils.parametrizations.spectral_norm(lib.nn.ConvTranspose1d(2, 4, 3))
    seen += [tuple(c.parametrizations.weight[0]._u.shape), tuple(c.parametrizations.weight[0]._v.shape)]
    return [
        *seen, attempt(lambda: lib.nn.utils.parametrizations.spectral_norm(lib.nn.Linear(2, 2), n_power_iterations=0)),
        attempt(lambda: lib.nn.utils.parametrizations.spectral_norm(lib.nn.Linear(2, 2), dim=4)),
        attempt(lambda: lib.nn.utils.parametrizations.spectral_norm(lib.nn.ReLU())),
        np.round(lib.nn.utils.parametrizations.spectral_norm(filled(lib, lib.nn.Linear(2, 3)), "bias").bias.tolist(), 4).tolist(),
    ]  # fmt: skip


@program
def spectral_norm_as_a_hook(lib: object) -> object:
    m = filled(lib, lib.nn.Linear(2, 3))
    lib.nn.utils.spectral_norm(m)
    known_vectors(lib, m, "weight_u", "weight_v")
    seen = [m, list(m.state_dict()), dict(m.state_dict()._metadata), np.round(m(lib.ones(1, 2)).tolist(), 4).tolist()]
    m(lib.ones(1, 2)).sum().backward()
    seen += [
        np.round(m.weight_orig.grad.tolist(), 4).tolist(),
        np.round(m.weight_u.tolist(), 4).tolist(),
        attempt(lambda: lib.nn.utils.spectral_norm(m)),
    ]
    m.load_state_dict(m.state_dict())
    lib.nn.utils.remove_spectral_norm(m)
    return [
        *seen, list(m.state_dict()), np.round(m.weight.tolist(), 4).tolist(), attempt(lambda: lib.nn.utils.remove_spectral_norm(m)), dict(m.state_dict()._metadata),
        attempt(lambda: lib.nn.utils.spectral_norm(lib.nn.Linear(2, 2), n_power_iterations=0)),
    ]  # fmt: skip


@program
def pruned_weights(lib: object) -> object:
    p, seen = lib.nn.utils.prune, []
    m = filled(lib, lib.nn.Linear(4, 3))
    p.l1_unstructured(m, "weight", 0.3)
    seen += [list(m.state_dict()), m.weight, m.weight_mask, p.is_pruned(m), m(lib.ones(1, 4))]
    p.ln_structured(m, "weight", 1, 2, 0)
    seen += [m.weight_mask, len(m._forward_pre_hooks), type(next(iter(m._forward_pre_hooks.values()))).__name__]
    p.custom_from_mask(m, "weight", lib.eye(3, 4))
    p.identity(m, "bias")
    m(lib.ones(1, 4)).sum().backward()
    seen += [m.weight_mask, m.weight_orig.grad, m.bias_mask]
    with lib.no_grad():
        m.weight_orig.add_(1)
    m(lib.ones(1, 4))
    seen.append(m.weight)
    p.remove(m, "weight")
    seen += [list(m.state_dict()), m.weight, p.is_pruned(m)]
    p.remove(m, "bias")
    seen += [p.is_pruned(m), attempt(lambda: p.remove(m, "weight"))]
    m = filled(lib, lib.nn.Linear(4, 3))
    p.l1_unstructured(m, "weight", 2, importance_scores=lib.arange(12).reshape(3, 4).float())
    seen.append(m.weight_mask)
    p.ln_structured(m, "weight", 0.5, 1, -1)
    return [*seen, m.weight_mask, p.L1Unstructured(2).prune(lib.tensor([3.0, -1.0, 2.0, 0.5]))]


@program
def weights_pruned_together_and_at_random(lib: object) -> object:
    p = lib.nn.utils.prune
    m = filled(lib, lib.nn.Sequential(lib.nn.Linear(3, 2), lib.nn.Linear(2, 2)))
    p.global_unstructured([(m[0], "weight"), (m[1], "weight")], p.L1Unstructured, amount=4)
    p.global_unstructured([(m[0], "weight"), (m[1], "weight")], p.L1Unstructured, amount=2)
    seen = [m[0].weight_mask, m[1].weight_mask]
    r = filled(lib, lib.nn.Linear(5, 4))
    p.random_unstructured(r, "weight", 0.25)
    seen.append(float(r.weight_mask.sum()))
    p.random_structured(r, "weight", 2, 1)
    seen.append(sorted(r.weight_mask.sum(0).bool().tolist()))
    fresh = lambda: lib.nn.Linear(3, 2)  # noqa: E731
    return [*seen, *[attempt(lambda f=f: f() and "taken") for f in (
        lambda: p.l1_unstructured(fresh(), "weight", 1.5), lambda: p.l1_unstructured(fresh(), "weight", -1), lambda: p.l1_unstructured(fresh(), "weight", "a"),
        lambda: p.l1_unstructured(fresh(), "weight", 99), lambda: p.random_structured(fresh(), "bias", 1, 0), lambda: p.random_structured(fresh(), "weight", 1, 5),
        lambda: p.custom_from_mask(fresh(), "weight", lib.ones(1)), lambda: p.l1_unstructured(fresh(), "weight", 1, importance_scores=lib.ones(1)),
        lambda: p.global_unstructured(3, p.L1Unstructured), lambda: p.global_unstructured([], p.L1Unstructured, importance_scores=3, amount=1),
        lambda: p.global_unstructured([(fresh(), "weight")], p.RandomStructured, amount=1), lambda: p.l1_unstructured(fresh(), "x", 1),
    )]]  # fmt: skip


@program
def first_values_that_need_no_chance(lib: object) -> object:
    i = lib.nn.init
    seen = [i.eye_(lib.empty(2, 3)), i.ones_(lib.empty(2)), i.zeros_(lib.empty(2)), i.constant_(lib.empty(2), 0.3)]
    for shape in ((3, 2, 3), (2, 4, 3, 3), (2, 2, 2, 2, 3), (4, 2, 4)):
        seen += [
            i.dirac_(lib.empty(*shape)),
            i.dirac_(lib.empty(*shape), groups=2)
            if shape[0] % 2 == 0
            else attempt(lambda s=shape: i.dirac_(lib.empty(*s), 2)),
        ]
    seen += [i.calculate_gain(n) for n in ("linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu")]
    seen += [i.calculate_gain("leaky_relu", 0.3), i._calculate_fan_in_and_fan_out(lib.empty(3, 4, 5))]
    return [*seen, *[attempt(lambda f=f: f()) for f in (
        lambda: i.calculate_gain("x"), lambda: i.calculate_gain("leaky_relu", True), lambda: i.eye_(lib.empty(2)), lambda: i.dirac_(lib.empty(2, 2)),
        lambda: i.orthogonal_(lib.empty(2)), lambda: i.sparse_(lib.empty(2), 0.1), lambda: i.xavier_normal_(lib.empty(2)), lambda: i.kaiming_normal_(lib.empty(2)),
        lambda: i.kaiming_uniform_(lib.empty(2, 2), mode="x"), lambda: i.normal_(lib.empty(1), 0, -1), lambda: i.uniform_(lib.empty(1), 2, 1),
    )]]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_tells_the_same_in_both_libraries(name: str) -> None:
    ours, theirs = told(PROGRAMS[name](tl)), told(PROGRAMS[name](torch))
    for at, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        assert a == b, f"number {at}"


DRAWS: dict[str, Callable[[object, object], object]] = {
    "uniform_": lambda i, x: i.uniform_(x, -1, 3),
    "normal_": lambda i, x: i.normal_(x, 1, 2),
    "trunc_normal_": lambda i, x: i.trunc_normal_(x, 0.5, 1, -1, 2),
    "trunc_normal_ far out": lambda i, x: i.trunc_normal_(x, 0, 1, 2, 5),
    "xavier_uniform_": lambda i, x: i.xavier_uniform_(x, 2.0),
    "xavier_normal_": lambda i, x: i.xavier_normal_(x),
    "kaiming_uniform_": lambda i, x: i.kaiming_uniform_(x, 0.1, "fan_out"),
    "kaiming_normal_": lambda i, x: i.kaiming_normal_(x, nonlinearity="relu"),
    "orthogonal_": lambda i, x: i.orthogonal_(x, 1.5),
    "sparse_": lambda i, x: i.sparse_(x, 0.3, 0.5),
}


@pytest.mark.filterwarnings("ignore:mean is more than")
@pytest.mark.parametrize("case", DRAWS)
def test_drawn_first_values_spread_as_in_pytorch(case: str) -> None:
    tl.manual_seed(0)
    torch.manual_seed(0)
    ours, theirs = DRAWS[case](tl.nn.init, tl.empty(200, 100)), DRAWS[case](torch.nn.init, torch.empty(200, 100))
    a, b = ours.numpy(), theirs.numpy()
    for share in (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0):
        assert np.quantile(a, share) == pytest.approx(
            np.quantile(b, share), rel=0.35 if share in (0, 1) else 0.08, abs=0.05 * float(b.std())
        )
    assert (a == 0).sum(0).tolist() == (b == 0).sum(0).tolist()
    if case == "orthogonal_":
        np.testing.assert_allclose(a.T @ a, 2.25 * np.eye(100), atol=1e-4)


def test_a_generator_decides_what_is_drawn() -> None:
    for draw in (
        "uniform_",
        "normal_",
        "trunc_normal_",
        "xavier_uniform_",
        "xavier_normal_",
        "kaiming_uniform_",
        "kaiming_normal_",
        "orthogonal_",
    ):
        one, other = (
            getattr(tl.nn.init, draw)(tl.empty(4, 3), generator=tl.Generator().manual_seed(7)) for _ in range(2)
        )
        assert tl.equal(one, other), draw
    one, other = (tl.nn.init.sparse_(tl.empty(9, 3), 0.5, generator=tl.Generator().manual_seed(7)) for _ in range(2))
    assert tl.equal(one, other)


def test_old_names_warn_and_do_the_same() -> None:
    with pytest.warns(FutureWarning, match="nn.init.constant_"):
        assert tl.nn.init.constant(tl.empty(2), 3.0).tolist() == [3.0, 3.0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = {n for n in dir(torch.nn.init) if not n.startswith("_") and callable(getattr(torch.nn.init, n))}
    assert theirs - set(dir(tl.nn.init)) - {"Callable", "Literal", "ParamSpec", "TypeVar", "Tensor"} == set()


def test_a_module_without_first_values_calls_no_draw() -> None:
    tl.manual_seed(3)
    before = tl.get_rng_state()
    layer = tl.nn.utils.skip_init(tl.nn.Linear, 3, 2, device="cpu")
    assert tuple(layer.weight.shape) == (2, 3)
    assert tl.equal(tl.get_rng_state(), before) if isinstance(before, tl.Tensor) else True
    assert float(tl.nn.Linear(3, 2).weight.abs().sum()) > 0
    with pytest.raises(RuntimeError, match="Expected a Module"):
        tl.nn.utils.skip_init(int)
    with pytest.raises(RuntimeError, match="must support a 'device' arg"):
        tl.nn.utils.skip_init(tl.nn.ReLU)


def test_a_module_held_twice_gets_its_own_parameters_back() -> None:
    m = net(tl)
    before = m(tl.ones(1, 2))
    tl.func.functional_call(m, {name: p.detach() + 1 for name, p in m.named_parameters()}, tl.ones(1, 2))
    assert tl.equal(m(tl.ones(1, 2)), before)
