"""Every module that is here against PyTorch's own table of modules: text, names, values, gradients, buffers, errors.

A module is picked up by its name, so one that is added is compared without a line here.
"""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import tensorlab as tl
from tests.parity import oracle
from tests.parity.test_ops import gradients_differ, leaves

torch = oracle.torch

#: Modules whose sample calls cannot be made here, each with its reason.
LEFT_OUT: dict[str, str] = {
    "CTCLoss": "PyTorch's gradient counts on a log_softmax before it; compared behind one in test_losses",
}


def table() -> list[Any]:
    """PyTorch's own list of modules with sample calls."""
    oracle.table()  # makes its testing package importable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_modules import module_db
    return list(module_db)


def our_class(info: Any) -> Any:
    """Our class for an entry of the table, or nothing."""
    found = getattr(tl.nn, info.module_cls.__name__, None)
    return found if isinstance(found, type) else None


def have() -> list[Any]:
    return [info for info in table() if our_class(info) is not None and info.module_cls.__name__ not in LEFT_OUT]


def ours(value: Any) -> Any:
    """An argument of PyTorch's as ours: tensors, types, functions and modules too."""
    if isinstance(value, torch.nn.Module):
        made = getattr(tl.nn, type(value).__name__)(**_constructor(value))
        return loaded(made.to(oracle.DTYPES.get(_dtype(value), tl.float32)), value)
    if inspect.isfunction(value) or inspect.isbuiltin(value):
        return getattr(tl.nn.functional, value.__name__)
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        return type(value)([ours(item) for item in value])
    return oracle.ours(value)


def _dtype(module: Any) -> Any:
    return next((p.dtype for p in module.parameters()), None)


def _constructor(module: Any) -> dict[str, Any]:
    """The arguments of a module's constructor, read off its attributes."""
    names = inspect.signature(type(module).__init__).parameters
    if isinstance(module, torch.nn.TransformerEncoderLayer):
        attention = module.self_attn
        return {
            "d_model": attention.embed_dim,
            "nhead": attention.num_heads,
            "dim_feedforward": module.linear1.out_features,
            "dropout": module.dropout.p,
            "activation": ours(module.activation),
            "batch_first": attention.batch_first,
            "norm_first": module.norm_first,
            "bias": module.linear1.bias is not None,
        }
    return {n: ours(getattr(module, n)) for n in names if n not in ("self", "device", "dtype") and hasattr(module, n)}


def loaded(mine: Any, theirs: Any) -> Any:
    """Our module with the state of PyTorch's."""
    mine.load_state_dict({name: oracle.ours(x) for name, x in theirs.state_dict().items()})
    return mine


def samples(info: Any, dtype: Any, training: bool) -> Iterator[Any]:
    """Sample calls of a module, the same ones every time."""
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=training)


def pair(info: Any, sample: Any, dtype: Any, training: bool) -> tuple[Any, Any]:
    """The same module in either library, made by the same call, with the same state."""
    made = sample.constructor_input
    theirs = info.module_cls(*made.args, **made.kwargs).to(dtype).train(training)
    kwargs = {name: ours(value) for name, value in made.kwargs.items()}
    mine = our_class(info)(*[ours(a) for a in made.args], **kwargs).to(oracle.DTYPES[dtype]).train(training)
    if info.is_lazy:
        first = sample.forward_input
        theirs(*first.args, **first.kwargs)
        mine(*[ours(a) for a in first.args], **{name: ours(value) for name, value in first.kwargs.items()})
    return loaded(mine, theirs), theirs


def names_differ(mine: Any, theirs: Any) -> list[str]:
    """In what two modules differ before anything runs: text and names."""
    said = []
    if repr(mine) != repr(theirs):
        said.append(f"{mine!r} instead of {theirs!r}")
    for what in ("state_dict", "named_parameters", "named_buffers", "named_modules"):
        found, expected = ([name for name, _ in _items(module, what)] for module in (mine, theirs))
        if found != expected:
            said.append(f"{what}: {found} instead of {expected}")
    return said


def _items(module: Any, what: str) -> Any:
    found = getattr(module, what)()
    return found.items() if what == "state_dict" else found


def compare(info: Any, sample: Any, dtype: Any, training: bool) -> list[str]:
    """How one sample call differs from PyTorch's."""
    mine, theirs = pair(info, sample, dtype, training)
    if said := names_differ(mine, theirs):
        return said
    call = sample.forward_input
    made: dict[int, Any] = {}  # a tensor that is given twice is one tensor here too
    args = [made.setdefault(id(a), ours(a)) for a in call.args]
    kwargs = {name: ours(value) for name, value in call.kwargs.items()}
    expected = theirs(*call.args, **call.kwargs)
    found = mine(*args, **kwargs)
    if said := oracle.differences(found, expected):
        return said
    theirs_in = [*leaves([list(call.args), call.kwargs]), *leaves(list(theirs.parameters()))]
    ours_in = [*leaves([args, kwargs]), *leaves(list(mine.parameters()))]
    said = gradients_differ(found, expected, ours_in, theirs_in)
    buffers = zip(mine.buffers(), theirs.buffers(), strict=True)
    return said + [f"buffer: {line}" for b, c in buffers for line in oracle.differences(b, c)]


@pytest.mark.parametrize("info", have(), ids=lambda info: info.name)
@pytest.mark.filterwarnings("ignore")
def test_a_module_is_that_of_pytorch_in_text_names_values_and_gradients(info: Any) -> None:
    wrong: dict[str, str] = {}
    for dtype, training in itertools.product((torch.float64, torch.float32), (True, False)):
        for number, sample in enumerate(samples(info, dtype, training)):
            said = compare(info, sample, dtype, training)
            if said:
                wrong[f"{dtype} {'train' if training else 'eval'} {number} {sample.desc}"] = "; ".join(said)
    assert wrong == {}


@pytest.mark.parametrize(
    "info", [i for i in have() if i.module_error_inputs_func is not None], ids=lambda info: info.name
)
@pytest.mark.filterwarnings("ignore")
def test_what_a_module_of_pytorch_refuses_is_refused_with_its_class_of_error(info: Any) -> None:
    wrong = {}
    options = {"device": "cpu", "dtype": torch.float32, "requires_grad": False, "training": True}
    for number, error in enumerate(info.module_error_inputs_func(info, **options)):
        made, call = error.module_error_input.constructor_input, error.module_error_input.forward_input
        with pytest.raises(error.error_type):
            info.module_cls(*made.args, **made.kwargs)(*call.args, **call.kwargs)
        try:
            module = our_class(info)(*[ours(a) for a in made.args], **{k: ours(v) for k, v in made.kwargs.items()})
            module(*[ours(a) for a in call.args], **{k: ours(v) for k, v in call.kwargs.items()})
            wrong[number] = f"nothing instead of {error.error_type.__name__}"
        except error.error_type:
            continue
        except Exception as found:
            wrong[number] = f"{found!r} instead of {error.error_type.__name__}"
    assert wrong == {}


@pytest.mark.parametrize("info", have(), ids=lambda info: info.name)
def test_the_constructor_of_a_module_takes_the_arguments_of_pytorch(info: Any) -> None:
    theirs, mine = (_parameters(cls) for cls in (info.module_cls, our_class(info)))
    assert mine[: len(theirs)] == theirs


def _parameters(cls: type) -> list[Any]:
    """Names and defaults of a constructor's parameters; starred ones do not count."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        (p.name, None if p.default is inspect.Parameter.empty else getattr(p.default, "__name__", repr(p.default)))
        for p in inspect.signature(cls).parameters.values()
        if p.kind not in kinds
    ]
