"""Saving and loading: what comes back is what was given, and the earlier file survives what goes wrong."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tensorlab import nn, optim

ALL = [
    tl.bool, tl.uint8, tl.int8, tl.int16, tl.int32, tl.int64, tl.float16, tl.bfloat16, tl.float32, tl.float64, tl.complex64,
    tl.complex128,
]  # fmt: skip
BOTH = pytest.mark.parametrize("name", ["x.tl", "x.pth"])
MAPPED = pytest.mark.parametrize("mmap", [False, True])


def again(value: Any, path: Path, **options: Any) -> Any:
    tl.save(value, path)
    return tl.load(path, **options)


@BOTH
@MAPPED
@pytest.mark.parametrize("dtype", ALL, ids=lambda d: d.name)
def test_every_type_comes_back_bit_for_bit(dtype: tl.dtype, name: str, mmap: bool, tmp_path: Path) -> None:
    x = (tl.randn(3, 4) * 10).to(dtype)
    found = again(x, tmp_path / name, mmap=mmap)
    assert found.dtype is dtype
    assert found.numpy().tobytes() == x.numpy().tobytes()
    assert type(found) is tl.Tensor
    assert found.is_leaf


@BOTH
@MAPPED
def test_strides_and_odd_shapes_are_kept(name: str, mmap: bool, tmp_path: Path) -> None:
    shapes = {
        "turned": tl.randn(3, 4).t(), "permuted": tl.randn(2, 3, 4).permute(2, 0, 1), "number": tl.tensor(3.5),
        "empty": tl.zeros(0, 3), "emptier": tl.zeros(2, 0), "stretched": tl.tensor([1.0, 2.0]).expand(3, 2),
        "last": tl.randn(2, 3, 4, 5).contiguous(memory_format=tl.channels_last),
    }  # fmt: skip
    found = again(shapes, tmp_path / name, mmap=mmap)
    for key, x in shapes.items():
        assert found[key].stride() == x.stride(), key
        assert tl.equal(found[key], x), key


@BOTH
@MAPPED
def test_shared_memory_is_shared_again(name: str, mmap: bool, tmp_path: Path) -> None:
    base = tl.arange(24).float().view(4, 6)
    model = nn.Linear(2, 2)
    given = {"base": base, "row": base[1], "column": base[:, 2], "tied": model.weight, "also": model.weight}
    found = again(given, tmp_path / name, mmap=mmap)
    found["base"][1, 2] = 100.0
    assert found["row"][2].item() == found["column"][1].item() == 100
    assert found["tied"] is found["also"]
    assert found["column"].stride() == (6,)


@BOTH
def test_a_slice_is_written_without_the_rest_of_its_storage(name: str, tmp_path: Path) -> None:
    large = tl.zeros(1000, 1000)
    found = again({"part": large[3, :10], "column": large[500:, 7]}, tmp_path / name)
    assert (tmp_path / name).stat().st_size < 8_000
    assert tl.equal(found["column"], large[500:, 7])


@BOTH
@MAPPED
def test_what_is_loaded_can_be_written_to_and_the_file_does_not_change(name: str, mmap: bool, tmp_path: Path) -> None:
    tl.save(tl.ones(1000), tmp_path / name)
    before = (tmp_path / name).read_bytes()
    found = tl.load(tmp_path / name, mmap=mmap)
    found.add_(1)
    found.requires_grad_().sum().backward()
    assert (tmp_path / name).read_bytes() == before
    assert tl.load(tmp_path / name).sum().item() == 1000


@BOTH
def test_leaves_that_require_grad_and_parameters_are_what_they_were(name: str, tmp_path: Path) -> None:
    given = [tl.ones(2, requires_grad=True), nn.Parameter(tl.ones(1)), nn.Parameter(tl.ones(1), requires_grad=False)]
    given.append(given[0] * 2)
    found = again(given, tmp_path / name)
    assert [type(x) for x in found] == [tl.Tensor, nn.Parameter, nn.Parameter, tl.Tensor]
    assert [x.requires_grad for x in found] == [True, True, False, True]
    assert all(x.is_leaf for x in found)


@BOTH
def test_containers_and_plain_values_come_back(name: str, tmp_path: Path) -> None:
    given = {
        "numbers": [0, -1, 255, 256, -(2**31), 2**31, 2**63, -(2**200), 0.1, -0.0, float("inf"), 1e-320, 2 + 3j],
        "texts": ["", "ä€𝄞", "\n\\'\"<b>", "\ud800"], "truth": (None, True, False, ()), 3: {"@": 1, "x": {}}, (1, "a"): tl.Size([2, 3]),
        "bytes": b"\x00\xff", "set": {1, 2}, "od": OrderedDict([("b", 1), ("a", 2)]), "counter": Counter("aab"), "type": tl.bfloat16,
        "device": tl.device("cpu"), "deep": [[[[[{}]]]]], "more": bytearray(b"xyz"), None: 0, 1.5: True,
    }  # fmt: skip
    found = again(given, tmp_path / name)
    assert repr(found) == repr(given)
    assert [type(v) for v in found.values()] == [type(v) for v in given.values()]
    assert [type(key) for key in found] == [type(key) for key in given]


def test_our_own_files_keep_more_kinds_of_values(tmp_path: Path) -> None:
    given = {
        "array": np.arange(6, dtype=np.uint64).reshape(2, 3), "complex": np.array([1j]), "number": np.float32(1.5), "0-d": np.array(3),
        "default": defaultdict(list, {"a": [1]}), "queue": deque([1, 2], 3), "slice": slice(1, None, 2), "range": range(3),
        "frozen": frozenset([1]), "nan": float("nan"),
    }  # fmt: skip
    found = again(given, tmp_path / "x.tl")
    assert repr(found) == repr(given)
    assert found["default"]["new"] == []
    assert found["array"].dtype == np.uint64


def test_a_whole_training_state_continues_as_if_nothing_had_happened(tmp_path: Path) -> None:
    def make() -> tuple[Any, Any]:
        tl.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.3), nn.Linear(8, 1))
        return model, optim.Adam(model.parameters(), lr=0.01)

    def step(model: Any, optimizer: Any) -> float:
        loss = (model(tl.randn(16, 4)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    model, optimizer = make()
    for _ in range(3):
        step(model, optimizer)
    state = {
        "model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3, "rng": tl.get_rng_state(),
        "best": (0.5, "epoch 2"),
    }  # fmt: skip
    tl.save(state, tmp_path / "training")
    expected = [step(model, optimizer) for _ in range(3)]
    model, optimizer = make()
    found = tl.load(tmp_path / "training")
    model.load_state_dict(found["model"])
    optimizer.load_state_dict(found["optimizer"])
    tl.set_rng_state(found["rng"])
    assert [step(model, optimizer) for _ in range(3)] == expected
    assert found["epoch"] == 3
    assert found["best"] == (0.5, "epoch 2")
    assert found["model"]._metadata[""] == {"version": 1}


def test_file_objects_are_written_to_and_read_from() -> None:
    for kind in ("tensorlab", "torch", "safetensors"):
        file = io.BytesIO(b"before")
        file.seek(0, 2)
        tl.save({"x": tl.ones(3)}, file, format=kind)
        assert file.getvalue().startswith(b"before")
        file.seek(6)
        assert tl.load(file)["x"].tolist() == [1, 1, 1]

    class Pipe:
        def __init__(self, content: bytes) -> None:
            self.content = content

        def read(self, size: int = -1) -> bytes:
            found, self.content = self.content, b""
            return found

    assert tl.load(Pipe(file.getvalue()[6:]))["x"].tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="needs a file name"):
        tl.load(io.BytesIO(b"x"), mmap=True)


def test_a_name_says_which_kind_of_file_it_becomes(tmp_path: Path) -> None:
    state = {"w": tl.ones(2)}
    for name, begins in (("a.pt", b"PK"), ("b.safetensors", b"@\0\0\0\0\0\0\0{"), ("c", b"PK")):
        tl.save(state, str(tmp_path / name))
        assert (tmp_path / name).read_bytes()[: len(begins)][:2] in (begins[:2], b"x\0", b"8\0")
        assert tl.load(tmp_path / name)["w"].tolist() == [1, 1]
    with pytest.raises(ValueError, match="must be one of"):
        tl.save(state, tmp_path / "x", format="pickle")
    for call in (tl.save, lambda _, f: tl.load(f)):
        with pytest.raises(AttributeError, match="string, path, or a file-like object"):
            call(state, 3)


# ---------------------------------------------------------------------------------------------------- what is not saved

Point = namedtuple("Point", "x y")


class Special(tl.Tensor):
    """A kind of tensor that only this program knows."""


@BOTH
@pytest.mark.parametrize(
    ("value", "said"),
    [
        (nn.Linear(1, 1), r"model\.0.*Linear.*Save its state_dict"),
        (lambda: 0, r"builtins\.function"),
        (Point(1, 2), "_asdict"),
        (tl.Generator(), "get_state"),
        (Special(tl.ones(1)), "subclass .*Special.*would run code"),
        (object(), r"model\.0.*builtins\.object"),
        (np.array([object()]), r"model\.0"),
    ],
    ids=["module", "function", "namedtuple", "generator", "subclass", "object", "objects"],
)
def test_what_only_code_could_restore_is_refused_by_its_place_and_class(
    value: object, said: str, name: str, tmp_path: Path
) -> None:
    with pytest.raises(TypeError, match=said):
        tl.save({"model": [value]}, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@BOTH
def test_a_container_that_contains_itself_is_refused(name: str, tmp_path: Path) -> None:
    loop: list[Any] = [1]
    loop.append({"again": loop})
    with pytest.raises(ValueError, match="contains itself"):
        tl.save(loop, tmp_path / name)
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(ValueError, match="nested too deeply"):
        tl.save(deep, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


# ----------------------------------------------------------------------------------------------------------- atomic


@pytest.mark.parametrize("name", ["x.tl", "x.pth", "x.safetensors"])
@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "interrupt"]
)
def test_a_save_that_fails_leaves_the_earlier_file_and_nothing_else(
    name: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tl.save({"w": tl.ones(3)}, tmp_path / name)
    real = os.fdopen

    def full(descriptor: int, *args: Any) -> Any:
        file = real(descriptor, *args)
        write, count = file.write, [0]

        def limited(data: Any) -> int:
            count[0] += memoryview(data).nbytes
            if count[0] > 5000:
                raise error
            return write(data)

        class Limited:
            def __getattr__(self, attribute: str) -> Any:
                return limited if attribute == "write" else getattr(file, attribute)

            def __enter__(self) -> Any:
                return self

            def __exit__(self, *args: Any) -> None:
                file.close()

        return Limited()

    monkeypatch.setattr(os, "fdopen", full)
    with pytest.raises(type(error)):
        tl.save({"w": tl.zeros(100_000)}, tmp_path / name)
    monkeypatch.undo()
    assert tl.load(tmp_path / name)["w"].tolist() == [1, 1, 1]
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_a_program_that_dies_while_it_saves_leaves_the_earlier_file(tmp_path: Path) -> None:
    path = tmp_path / "x.pth"
    tl.save(tl.ones(3), path)
    program = f"""
import os, signal
import tensorlab as tl
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
tl.save(tl.zeros(100_000), {str(path)!r})
"""
    assert subprocess.run([sys.executable, "-c", program]).returncode != 0
    assert tl.load(path).tolist() == [1, 1, 1]


@pytest.mark.skipif(sys.platform == "win32", reason="other rights there")
def test_rights_and_links_stay_as_they_are(tmp_path: Path) -> None:
    path, link = tmp_path / "x.pth", tmp_path / "latest.pth"
    tl.save(1, path)
    path.chmod(0o640)
    link.symlink_to(path)
    tl.save(2, link)
    assert link.is_symlink()
    assert tl.load(path) == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    fresh = tmp_path / "fresh"
    tl.save(1, fresh)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o666 & ~mask
