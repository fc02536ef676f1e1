"""Modules, layers and losses give what PyTorch gives: values, gradients, names, text, errors."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import tensorlab as tl
from tensorlab import nn

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


def as_theirs(x: tl.Tensor) -> torch.Tensor:
    return torch.tensor(x.detach().numpy(), requires_grad=x.requires_grad)


def pair(*shape: int, seed: int = 0, grad: bool = True) -> tuple[tl.Tensor, torch.Tensor]:
    """The same random float64 numbers as our tensor and as theirs."""
    values = np.random.default_rng(seed).standard_normal(shape)
    return tl.tensor(values, requires_grad=grad), torch.tensor(values, requires_grad=grad)


def same(ours: tl.Tensor, theirs: torch.Tensor) -> None:
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-9, atol=1e-12, equal_nan=True)


def build(library: object) -> object:
    """One model in either library, with every kind of layer that needs no chance."""
    n = library.nn

    class Block(n.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = n.Linear(6, 5)
            self.second = n.Linear(5, 4, bias=False)
            self.register_buffer("scale", library.ones(4))
            self.register_buffer("hidden", library.ones(2), persistent=False)
            self.act = n.GELU()

        def forward(self, x: object) -> object:
            return self.second(self.act(self.first(x))) * self.scale

    return n.Sequential(
        n.Flatten(),
        Block(),
        n.ModuleList([n.Tanh(), n.Sigmoid()])[0],
        n.Sequential(n.Linear(4, 4), n.ReLU(), n.Identity()),
        n.Linear(4, 3),
        n.LogSoftmax(dim=1),
    )


@pytest.fixture
def models() -> tuple[nn.Module, torch.nn.Module]:
    """The same model with the same float64 parameters in both libraries."""
    ours, theirs = build(tl).double(), build(torch).double()
    theirs.load_state_dict({name: as_theirs(x) for name, x in ours.state_dict().items()})
    return ours, theirs


def test_a_model_has_the_names_the_text_and_the_order_of_pytorch(models) -> None:
    ours, theirs = models
    assert repr(ours) == repr(theirs)
    assert [n for n, _ in ours.named_parameters()] == [n for n, _ in theirs.named_parameters()]
    assert [n for n, _ in ours.named_modules()] == [n for n, _ in theirs.named_modules()]
    assert [n for n, _ in ours.named_buffers()] == [n for n, _ in theirs.named_buffers()]
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert dict(ours.state_dict()._metadata) == dict(theirs.state_dict()._metadata)


def test_a_model_computes_the_values_and_gradients_of_pytorch(models) -> None:
    ours, theirs = models
    x, y = pair(7, 2, 3)
    target = np.random.default_rng(1).integers(0, 3, 7)
    mine = nn.NLLLoss()(ours(x), tl.tensor(target))
    loss = torch.nn.NLLLoss()(theirs(y), torch.tensor(target))
    same(mine, loss)
    mine.backward()
    loss.backward()
    same(x.grad, y.grad)
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        same(a.grad, b.grad)


def test_a_loss_of_a_model_has_the_nodes_of_pytorch() -> None:
    def names(node: object) -> list[str]:
        """The operations on the way from a loss to its first leaf, transposes of weights left out."""
        found = []
        while node is not None and "AccumulateGrad" not in node.name():
            found.append(node.name())
            node = next((n for n, _ in node.next_functions if n is not None and _operation(n)), None)
        return found

    def loss(library: object) -> object:
        n = library.nn
        model = n.Sequential(n.Linear(2, 3), n.ReLU(), n.Linear(3, 3), n.Tanh(), n.Linear(3, 3), n.Sigmoid())
        return n.CrossEntropyLoss()(model(library.ones(4, 2)), library.tensor([0, 1, 2, 0]))

    assert names(loss(tl).grad_fn) == names(loss(torch).grad_fn)


def _operation(node: object) -> bool:
    return "AccumulateGrad" not in node.name() and node.name() != "TBackward0"


TEXTS = [
    "Linear(3, 4)", "Linear(3, 4, bias=False)", "Identity()", "Flatten()", "Unflatten(1, (2, 3))", "ReLU()",
    "ReLU(inplace=True)", "Tanh()", "Sigmoid()", "GELU()", "GELU('tanh')", "Softmax(dim=1)", "LogSoftmax(dim=-1)",
    "CELU(0.5)", "ELU(0.5, True)", "GLU()", "Hardshrink(0.3)", "Hardsigmoid()", "Hardswish()", "Hardtanh(-2, 2)",
    "LeakyReLU(0.2, True)", "LogSigmoid()", "Mish()", "PReLU()", "PReLU(3)", "RReLU()", "ReLU6()", "SELU(True)", "SiLU()",
    "Softmax2d()", "Softmin(1)", "Softplus()", "Softshrink()", "Softsign()", "Tanhshrink()", "Threshold(0.1, 20)",
    "BatchNorm1d(3)", "BatchNorm2d(3, affine=False)", "BatchNorm3d(3, momentum=None)", "InstanceNorm1d(3)", "LayerNorm(3)",
    "InstanceNorm2d(3, affine=True)", "InstanceNorm3d(3, track_running_stats=True)", "LayerNorm((2, 3), bias=False)",
    "GroupNorm(2, 4)", "RMSNorm(3)", "LocalResponseNorm(3)", "CrossMapLRN2d(3)", "SyncBatchNorm(3)",
    "Dropout(0.3)", "MSELoss()", "L1Loss()", "NLLLoss()", "CrossEntropyLoss()", "Sequential()", "ModuleList()",
    "Sequential(n.Linear(2, 2), n.Sequential(n.ReLU(), n.Tanh()))",
    "ModuleList([n.Linear(2, 2), n.Linear(2, 2), n.ReLU(), n.Linear(2, 2)])",
    "ModuleDict({'a': n.ReLU(), 'b': n.Linear(1, 1)})",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_the_repr_of_a_layer_is_that_of_pytorch(text: str) -> None:
    ours = eval(f"n.{text}", {"n": nn})
    theirs = eval(f"n.{text}", {"n": torch.nn})
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("shape", [(5, 4), (5, 4, 3), (4,)])
def test_cross_entropy_of_class_numbers_is_that_of_pytorch(reduction, weighted, smoothing, shape) -> None:
    x, y = pair(*shape)
    target = np.random.default_rng(2).integers(0, 4, shape[:1] + shape[2:] if len(shape) > 1 else ())
    if len(shape) > 1:
        target.reshape(-1)[1] = -100
    w = np.array([1.0, 0.5, 2.0, 0.25])
    options = {"reduction": reduction, "label_smoothing": smoothing}
    ours = nn.CrossEntropyLoss(weight=tl.tensor(w) if weighted else None, **options)(x, tl.tensor(target))
    theirs = torch.nn.CrossEntropyLoss(weight=torch.tensor(w) if weighted else None, **options)(y, torch.tensor(target))
    same(ours, theirs)
    ours.sum().backward()
    theirs.sum().backward()
    same(x.grad, y.grad)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("shape", [(5, 4), (5, 4, 3), (4,)])
def test_cross_entropy_of_probabilities_is_that_of_pytorch(reduction, weighted, smoothing, shape) -> None:
    x, y = pair(*shape)
    raw = np.abs(np.random.default_rng(2).standard_normal(shape))
    odds = raw / raw.sum(1 if len(shape) > 1 else 0, keepdims=True)
    p, q = tl.tensor(odds, requires_grad=True), torch.tensor(odds, requires_grad=True)
    w = np.array([1.0, 0.5, 2.0, 0.25])
    options = {"reduction": reduction, "label_smoothing": smoothing}
    ours = nn.functional.cross_entropy(x, p, tl.tensor(w) if weighted else None, **options)
    theirs = torch.nn.functional.cross_entropy(y, q, torch.tensor(w) if weighted else None, **options)
    same(ours, theirs)
    ours.sum().backward()
    theirs.sum().backward()
    same(x.grad, y.grad)
    same(p.grad, q.grad)


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_regression_loss_is_that_of_pytorch(name, reduction, weighted) -> None:
    x, y = pair(4, 3)
    t, u = pair(4, 3, seed=5)
    w, v = (p.abs() for p in pair(4, 3, seed=6, grad=False))
    ours = getattr(nn.functional, name)(x, t, reduction=reduction, weight=w if weighted else None)
    theirs = getattr(torch.nn.functional, name)(y, u, reduction=reduction, weight=v if weighted else None)
    same(ours, theirs)
    ours.sum().backward()
    theirs.sum().backward()
    same(x.grad, y.grad)
    same(t.grad, u.grad)


def test_a_loss_without_a_single_counted_target_is_nan_as_in_pytorch() -> None:
    x, y = pair(3, 4)
    ours = nn.functional.cross_entropy(x, tl.full((3,), -100))
    theirs = torch.nn.functional.cross_entropy(y, torch.full((3,), -100))
    assert ours.isnan()
    assert theirs.isnan()
    assert nn.functional.cross_entropy(x, tl.full((3,), -100), reduction="sum").item() == 0


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_is_that_of_pytorch(approximate: str) -> None:
    x, y = pair(50)
    ours, theirs = nn.GELU(approximate)(x * 3), torch.nn.GELU(approximate)(y * 3)
    same(ours, theirs)
    ours.sum().backward()
    theirs.sum().backward()
    same(x.grad, y.grad)


@pytest.mark.parametrize("name", ["softmax", "softmin", "log_softmax"])
@pytest.mark.parametrize("shape", [(3,), (3, 4), (2, 3, 4), (2, 3, 4, 2)])
def test_the_dimension_of_softmax_is_guessed_as_pytorch_guesses_it(name, shape) -> None:
    x, y = pair(*shape)
    with pytest.warns(UserWarning, match="Implicit dimension choice"):
        ours = getattr(nn.functional, name)(x)
    with pytest.warns(UserWarning, match="Implicit dimension choice"):
        theirs = getattr(torch.nn.functional, name)(y)
    same(ours, theirs)


def message(call: object) -> str:
    with pytest.raises(Exception) as caught:
        call()
    return f"{caught.type.__name__}: {caught.value}".replace("torch.", "tensorlab.")


def test_the_report_of_a_state_that_does_not_fit_is_that_of_pytorch(models) -> None:
    ours, theirs = models

    def broken(library: object, model: object) -> str:
        state = copy.copy(model.state_dict())
        state["1.first.weight"] = library.zeros(2, 2)
        state["4.bias"] = library.zeros(9)
        del state["1.second.weight"], state["1.scale"]
        state["nobody"] = state["1.first.other"] = library.zeros(1)
        return message(lambda: model.load_state_dict(state))

    assert broken(tl, ours) == broken(torch, theirs)


def test_what_does_not_match_is_returned_when_loading_is_not_strict(models) -> None:
    def loaded(library: object, model: object) -> tuple:
        state = copy.copy(model.state_dict())
        del state["4.bias"]
        state["nobody"] = library.zeros(1)
        return tuple(model.load_state_dict(state, strict=False))

    ours, theirs = models
    assert loaded(tl, ours) == loaded(torch, theirs) == (["4.bias"], ["nobody"])


ERRORS = {
    "a name with a dot": lambda lib: lib.nn.Module().register_buffer("a.b", None),
    "an empty name": lambda lib: lib.nn.Module().register_parameter("", None),
    "a name that is taken": lambda lib: lib.nn.Linear(1, 1).register_buffer("weight", None),
    "a name that is no text": lambda lib: lib.nn.Module().add_module(3, lib.nn.ReLU()),
    "an unknown attribute": lambda lib: lib.nn.Linear(1, 1).wieght,
    "a missing submodule": lambda lib: lib.nn.Linear(1, 1).get_submodule("a.b"),
    "a module without forward": lambda lib: lib.nn.Module()(1),
    "a wrong reduction": lambda lib: lib.nn.functional.l1_loss(lib.ones(1), lib.ones(1), reduction="average"),
    "training that is no bool": lambda lib: lib.nn.Linear(1, 1).train(1),
    "an integer type": lambda lib: lib.nn.Linear(1, 1).to(lib.int64),
    "an impossible dropout": lambda lib: lib.nn.Dropout(1.5),
    "fan of a vector": lambda lib: lib.nn.init.calculate_gain("none"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_has_the_type_and_begins_with_the_words_of_pytorch(case: str) -> None:
    ours, theirs = message(lambda: ERRORS[case](tl)), message(lambda: ERRORS[case](torch))
    assert ours.startswith(theirs.rstrip(".'"))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("uniform_", {"a": -2, "b": 3}), ("normal_", {"mean": 1.0, "std": 2.0}), ("trunc_normal_", {"std": 1.5}),
        ("ones_", {}), ("zeros_", {}), ("constant_", {"val": 0.3}), ("eye_", {}), ("xavier_uniform_", {"gain": 2.0}),
        ("xavier_normal_", {}), ("kaiming_uniform_", {"a": 5**0.5}),
        ("kaiming_normal_", {"mode": "fan_out", "nonlinearity": "relu"}),
    ],
)  # fmt: skip
def test_first_values_are_distributed_as_those_of_pytorch(name: str, options: dict) -> None:
    tl.manual_seed(0)
    torch.manual_seed(0)
    ours = getattr(nn.init, name)(tl.empty(300, 200), **options).numpy()
    theirs = getattr(torch.nn.init, name)(torch.empty(300, 200), **options).numpy()
    spread = theirs.std() or 1.0
    ends = np.quantile(ours, [0, 1]), np.quantile(theirs, [0, 1])
    middle = np.quantile(ours, [0.05, 0.5, 0.95]), np.quantile(theirs, [0.05, 0.5, 0.95])
    np.testing.assert_allclose(*ends, atol=0.6 * spread)
    np.testing.assert_allclose(*middle, atol=0.05 * spread)
    assert abs(ours.mean() - theirs.mean()) < 0.05 * spread
    assert abs(ours.std() - theirs.std()) < 0.05 * spread


def order_of_calls(library: object) -> list[str]:
    """What hooks of every kind are told, in order."""
    said: list[str] = []
    n = library.nn
    model = n.Sequential(n.Linear(2, 3), n.Tanh())
    everywhere = n.modules.module

    def shapes(values: object) -> object:
        if isinstance(values, (tuple, list)):
            return tuple(shapes(v) for v in values)
        return tuple(values.shape) if hasattr(values, "shape") else values

    def note(what: str) -> object:
        return lambda module, *told: said.append(f"{what} {type(module).__name__} {[shapes(t) for t in told]}")

    handles = [
        everywhere.register_module_forward_pre_hook(note("every pre")),
        everywhere.register_module_forward_hook(note("every after")),
        everywhere.register_module_full_backward_hook(note("every backward")),
    ]
    try:
        for name, module in model.named_children():
            module.register_forward_pre_hook(note(f"pre {name}"))
            module.register_forward_pre_hook(note(f"first pre {name}"), prepend=True)
            module.register_forward_hook(note(f"after {name}"))
            module.register_full_backward_pre_hook(note(f"backward pre {name}"))
            module.register_full_backward_hook(note(f"backward {name}"))
        model.register_forward_hook(note("kwargs"), with_kwargs=True)
        model(library.ones(4, 2, requires_grad=True)).sum().backward()
        model(library.ones(4, 2)).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
    return said


@pytest.mark.filterwarnings("ignore:Full backward hook")
def test_hooks_are_called_in_the_order_and_with_the_arguments_of_pytorch() -> None:
    assert order_of_calls(tl) == order_of_calls(torch)


def test_a_backward_hook_changes_what_comes_after_as_in_pytorch() -> None:
    def run(library: object) -> tuple:
        layer = library.nn.Linear(2, 2, dtype=library.float64)
        with library.no_grad():
            layer.weight.copy_(library.tensor([[1.0, 2.0], [3.0, 4.0]]))
        layer.register_full_backward_pre_hook(lambda m, grads: (grads[0] * 10,))
        layer.register_full_backward_hook(lambda m, grads, outs: (grads[0] + outs[0].sum(),))
        x = library.ones(1, 2, dtype=library.float64, requires_grad=True)
        layer(x).sum().backward()
        return x.grad.tolist(), layer.weight.grad.tolist()

    assert run(tl) == run(torch)


def test_clipped_gradients_are_those_of_pytorch() -> None:
    for norm in (1.0, 2.0, 3.5, float("inf")):
        (a, b), (c, d) = pair(3, 4), pair(5, seed=1)
        for x in (a, b, c, d):
            (x * x).sum().backward()
        same(nn.utils.clip_grad_norm_([a, c], 0.7, norm), torch.nn.utils.clip_grad_norm_([b, d], 0.7, norm))
        same(a.grad, b.grad)
        same(c.grad, d.grad)
        nn.utils.clip_grad_value_([a, c], 0.05)
        torch.nn.utils.clip_grad_value_([b, d], 0.05)
        same(a.grad, b.grad)
