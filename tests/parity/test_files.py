"""Files between the two libraries: PyTorch's are read here, and ours there, with its own safe loader."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tensorlab import nn
from tests.parity.oracle import DTYPES, differences, ours, to_numpy, torch

OLD = pytest.mark.parametrize("new", [True, False], ids=["zip", "before 1.6"])


def written(value: Any, path: Path, new: bool) -> Path:
    torch.save(value, path, _use_new_zipfile_serialization=new)
    return path


@OLD
@pytest.mark.parametrize("mmap", [False, True])
def test_tensors_of_every_type_and_layout_are_read(new: bool, mmap: bool, tmp_path: Path) -> None:
    given = {str(theirs): (torch.randn(3, 4) * 5).to(theirs) for theirs in DTYPES}
    base = torch.randn(6, 5)
    given |= {
        "turned": base.t(), "part": base[1:3, ::2], "empty": torch.zeros(0, 3), "number": torch.tensor(2.5), "base": base,
        "stretched": torch.ones(3).expand(2, 3), "conj": torch.randn(3, dtype=torch.complex64).conj(),
        "neg": torch.tensor([1 - 2j]).conj().imag,
        "grad": torch.ones(2, requires_grad=True),
        "last": torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
    }  # fmt: skip
    found = tl.load(written(given, tmp_path / "x.pth", new), mmap=mmap)
    assert found.keys() == given.keys()
    for key, x in given.items():
        assert differences(found[key], x, strides=key not in ("conj", "neg")) == [], key
        assert found[key].requires_grad == x.requires_grad
    found["base"][1, 0] = 50.0
    assert found["part"][0, 0].item() == found["turned"][0, 1].item() == 50


@OLD
def test_a_training_state_of_pytorch_is_read_into_our_own_model(new: bool, tmp_path: Path) -> None:
    theirs = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    optimizer = torch.optim.Adam(theirs.parameters(), lr=0.01)
    theirs(torch.randn(5, 3)).sum().backward()
    optimizer.step()
    state = {
        "model": theirs.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 7, "name": "läufer", "history": [0.5, (1, None)],
        "size": torch.Size([2, 3]), "device": torch.device("cpu"), "type": torch.bfloat16, "weights": list(theirs.parameters()),
        "set": {1, 2}, "bytes": b"\x00\xff", "complex": 1 + 2j, "rng": torch.get_rng_state(), "big": 2**80, "text": bytearray(b"ab"),
    }  # fmt: skip
    found = tl.load(written(state, tmp_path / "x.pth", new))
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    assert str(model.load_state_dict(found["model"])) == "<All keys matched successfully>"
    x = torch.randn(6, 3)
    assert np.allclose(model(ours(x)).detach().numpy(), theirs(x).detach().numpy(), atol=1e-6)
    mine = tl.optim.Adam(model.parameters(), lr=0.5)
    mine.load_state_dict(found["optimizer"])
    assert mine.param_groups[0]["lr"] == 0.01
    for key in ("epoch", "name", "history", "set", "bytes", "complex", "big", "text"):
        assert found[key] == state[key]
    assert found["size"] == (2, 3)
    assert found["type"] is tl.bfloat16
    assert str(found["device"]) == "cpu"
    assert all(type(p) is nn.Parameter and p.requires_grad for p in found["weights"])
    assert isinstance(found["model"], OrderedDict)
    assert found["model"]._metadata[""] == {"version": 1}


@OLD
def test_what_pytorch_needs_code_for_is_refused_by_name(new: bool, tmp_path: Path) -> None:
    model = torch.nn.Linear(2, 2)
    for value, named in (
        (model, r"torch\.nn\.modules\.linear\.Linear.*state_dict"),
        (torch.optim.SGD(model.parameters(), 0.1), r"torch\.optim\.sgd\.SGD"),
        (torch.ones(3).to_sparse(), "_rebuild_sparse_tensor"),
        (torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8), "_rebuild_qtensor|QInt8"),
        (np.float64, "numpy|type"),
    ):
        with pytest.raises((pickle.UnpicklingError, RuntimeError), match=named):
            tl.load(written(value, tmp_path / "x.pth", new))


def test_numpy_values_in_a_file_of_pytorch_are_read(tmp_path: Path) -> None:
    given = {"array": np.arange(6.0).reshape(2, 3).T, "number": np.float64(0.5), "flags": np.array([True])}
    found = tl.load(written(given, tmp_path / "x.pth", True))
    assert found["array"].tolist() == given["array"].tolist()
    assert found["number"] == 0.5
    assert found["flags"].dtype == bool


@pytest.mark.parametrize("mmap", [False, True])
def test_pytorch_opens_what_we_write_with_its_safe_loader(mmap: bool, tmp_path: Path) -> None:
    base = tl.randn(6, 5)
    model = nn.Linear(3, 2)
    given = {
        **{kind.name: (tl.randn(3, 4) * 5).to(kind) for kind in DTYPES.values()},
        "base": base, "turned": base.t(), "part": base[1:3, ::2], "empty": tl.zeros(0, 3), "number": tl.tensor(2.5),
        "stretched": tl.ones(3).expand(2, 3), "grad": tl.ones(2, requires_grad=True),
    }  # fmt: skip
    rest = {
        "model": model.state_dict(), "weight": model.weight, "same": model.weight, "n": [1, -1, 2**40, 2**70, 0.5, None, True],
        "text": "läufer", "size": tl.Size([2]), "type": tl.bfloat16, "device": tl.device("cpu"), "set": {3}, "b": b"\x00\xff",
        "c": 2j, "od": OrderedDict(a=(1,)), 5: (), "ba": bytearray(b"x"),
    }  # fmt: skip
    tl.save({"tensors": given, "rest": rest}, tmp_path / "x.pth")
    found = torch.load(tmp_path / "x.pth", weights_only=True, mmap=mmap)
    for key, x in given.items():
        assert found["tensors"][key].stride() == x.stride(), key
        assert differences(x, found["tensors"][key]) == [], key
    found["tensors"]["base"][1, 0] = 50.0
    assert found["tensors"]["part"][0, 0].item() == 50
    there = found["rest"]
    assert there["weight"] is there["same"]
    assert type(there["weight"]) is torch.nn.Parameter
    for key in ("n", "text", "set", "b", "c", "od", 5, "ba"):
        assert there[key] == rest[key]
        assert type(there[key]) is type(rest[key])
    assert there["size"] == torch.Size([2])
    assert there["type"] is torch.bfloat16
    assert there["device"] == torch.device("cpu")
    assert there["model"]._metadata[""] == {"version": 1}
    theirs = torch.nn.Linear(3, 2)
    theirs.load_state_dict(there["model"])
    assert np.array_equal(to_numpy(theirs.weight), to_numpy(model.weight))


def test_there_and_back_changes_nothing(tmp_path: Path) -> None:
    given = {"a": tl.randn(4, 3)[1:], "n": [1.5, "x"], "p": nn.Parameter(tl.ones(2))}
    tl.save(given, tmp_path / "a.pt")
    torch.save(torch.load(tmp_path / "a.pt", weights_only=True), tmp_path / "b.pt")
    found = tl.load(tmp_path / "b.pt")
    assert tl.equal(found["a"], given["a"])
    assert found["n"] == [1.5, "x"]
    assert type(found["p"]) is nn.Parameter


def test_our_pth_cannot_hold_numpy_values_and_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"state\.0.*as_tensor"):
        tl.save({"state": [np.ones(2)]}, tmp_path / "x.pth")
