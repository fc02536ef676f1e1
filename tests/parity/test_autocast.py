"""Under autocast every operation computes in the type that PyTorch chooses."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tensorlab import nn
from tests.parity.oracle import NAMES, differences, entries, function, ours, samples, table, to_numpy, torch

LEFT_OUT = {
    "inner": "PyTorch casts for matrices and not for vectors",
    "tensordot": "a full contraction is no product of matrices in PyTorch",
    "nn.functional.max_pool3d": "with indices PyTorch does not cast",
    "linalg.lstsq": "the table of PyTorch shows two of its four results",
    "linalg.pinv": "PyTorch multiplies its factors under autocast; this is one operation",
    "nn.functional.linear_cross_entropy": "PyTorch computes it in chunks, in the types of the whole",
    "normal": "draws are not what autocast is about",
}
NAMES_OF_OPS = sorted({op.name for op in table() if function(op.name) is not None} - LEFT_OUT.keys())


def types(value: Any) -> Any:
    if isinstance(value, (tl.Tensor, torch.Tensor)):
        return value.dtype.name if isinstance(value, tl.Tensor) else NAMES[value.dtype]
    return [types(one) for one in value] if isinstance(value, (tuple, list)) else None


def chosen(call: Any, args: Any, kwargs: Any) -> Any:
    try:
        return types(call(*args, **kwargs))
    except Exception:
        return "refused"


def sample_calls(name: str) -> Iterator[tuple[Any, Any, Any]]:
    """A few sample calls of PyTorch's in float32 and in bfloat16: the operation, arguments, keywords."""
    for op in entries(name):
        for dtype in (torch.float32, torch.bfloat16):
            try:
                some = list(islice(samples(op, dtype), 3))
            except (RuntimeError, ValueError):
                continue
            yield from ((op, (sample.input, *sample.args), sample.kwargs) for sample in some)


@pytest.mark.parametrize("name", NAMES_OF_OPS)
def test_an_operation_gives_the_type_that_it_gives_in_pytorch(name: str) -> None:
    mine = function(name)
    for op, args, kwargs in sample_calls(name):
        own_args, own_kwargs = ours(args), ours(kwargs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with torch.autocast("cpu", torch.bfloat16):
                expected = chosen(op, args, kwargs)
            with tl.autocast("cpu", tl.bfloat16):
                found = chosen(mine, own_args, own_kwargs)
            missing = found == "refused" and chosen(mine, own_args, own_kwargs) == "refused"  # also without autocast
        assert expected == "refused" or missing or found == expected, (args, kwargs)


def pair(theirs: Any, mine: Any) -> tuple[Any, Any]:
    mine.load_state_dict({key: ours(value.clone()) for key, value in theirs.state_dict().items()})
    return theirs, mine


MODELS = {
    "mlp": lambda n: n.Sequential(n.Linear(6, 16), n.ReLU(), n.LayerNorm(16), n.Linear(16, 3)),
    "softmax": lambda n: n.Sequential(n.Linear(6, 16), n.Softmax(-1), n.Linear(16, 3), n.LogSoftmax(-1)),
    "norm": lambda n: n.Sequential(n.Linear(6, 16), n.BatchNorm1d(16), n.GELU(), n.Linear(16, 3)),
}


@pytest.mark.parametrize("which", MODELS)
def test_a_model_gives_the_same_narrow_results_and_gradients(which: str) -> None:
    torch.manual_seed(0)
    theirs, mine = pair(MODELS[which](torch.nn), MODELS[which](nn))
    x = torch.randn(8, 6)
    with torch.autocast("cpu", torch.bfloat16):
        expected = theirs(x)
        loss = torch.nn.functional.mse_loss(expected, torch.ones(8, 3))
    with tl.autocast("cpu", tl.bfloat16):
        found = mine(ours(x))
        mine_loss = nn.functional.mse_loss(found, tl.ones(8, 3))
    assert differences(found, expected) == []
    assert mine_loss.dtype is tl.float32
    assert mine_loss.item() == pytest.approx(loss.item(), rel=2e-2)
    loss.backward()
    mine_loss.backward()
    for p, q in zip(mine.parameters(), theirs.parameters(), strict=True):
        assert p.grad.dtype is tl.float32
        assert np.allclose(to_numpy(p.grad), to_numpy(q.grad), rtol=0.1, atol=2e-2)


RECURRENT = {name: lambda n, name=name: getattr(n, name)(8, 6) for name in ("LSTM", "GRU", "RNN")}
SEQUENCES = RECURRENT | {
    "attention": lambda n: n.MultiheadAttention(8, 2),
    "encoder": lambda n: n.TransformerEncoderLayer(8, 2, 16, dropout=0.0),
}


@pytest.mark.parametrize("which", SEQUENCES)
def test_a_model_of_sequences_gives_the_types_of_pytorch(which: str) -> None:
    torch.manual_seed(0)
    theirs, mine = pair(SEQUENCES[which](torch.nn), SEQUENCES[which](nn))
    x = torch.randn(5, 2, 8)
    args = (x, x, x) if which == "attention" else (x,)
    with torch.autocast("cpu", torch.bfloat16):
        expected = theirs(*args)
    with tl.autocast("cpu", tl.bfloat16):
        found = mine(*ours(args))
    first, same = (found, expected) if which == "encoder" else (found[0], expected[0])
    assert first.dtype.name == NAMES[same.dtype]
    assert np.allclose(to_numpy(first), to_numpy(same), rtol=2e-2, atol=2e-2)


def test_images_under_autocast_give_the_same_numbers_and_gradients_of_full_width() -> None:
    torch.manual_seed(0)

    def make(n: Any) -> Any:
        return n.Sequential(
            n.Conv2d(3, 4, 3), n.BatchNorm2d(4), n.ReLU(), n.MaxPool2d(2), n.GroupNorm(2, 4), n.Conv2d(4, 2, 3)
        )

    theirs, mine = pair(make(torch.nn), make(nn))
    x = torch.randn(2, 3, 10, 10)
    with torch.autocast("cpu", torch.bfloat16):
        expected = theirs(x)
    with tl.autocast("cpu", tl.bfloat16):
        found = mine(ours(x))
    assert differences(found, expected) == []
    found.float().sum().backward()
    assert all(p.grad.dtype is tl.float32 for p in mine.parameters())


def test_the_scaler_moves_its_scale_as_pytorchs_does() -> None:
    def run(library: Any, tensor: Any) -> list[Any]:
        p = library.nn.Parameter(tensor([1.0, -1.0]))
        optimizer = library.optim.SGD([p], lr=0.5)
        scaler = library.amp.GradScaler("cpu", init_scale=16.0, growth_interval=3)
        seen = []
        for factor in (1, 1, float("inf"), 1, 1, 1, float("nan"), float("nan"), 1):
            optimizer.zero_grad()
            scaler.scale((p * p * factor).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            seen.append((scaler.get_scale(), [round(v, 6) for v in p.detach().tolist()]))
        return [seen, scaler.state_dict()]

    assert run(tl, tl.tensor) == run(torch, torch.tensor)
