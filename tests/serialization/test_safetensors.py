"""The safetensors format: as its description says, with our words where a file is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.serialization import safetensors
from tensorlab.serialization.safetensors import load, load_file, safe_open, save, save_file


def file(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(kind: str, shape: list[int], begin: int, end: int) -> dict[str, object]:
    return {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}


def test_a_file_of_another_program_is_read() -> None:
    content = file({"__metadata__": {"format": "pt"}, "w": entry("F32", [2, 1], 0, 8), "n": entry("I64", [], 8, 16)},
                   np.array([1, 2], "<f4").tobytes() + np.array(7, "<i8").tobytes())  # fmt: skip
    found = load(content)
    assert found["w"].tolist() == [[1], [2]]
    assert found["n"].item() == 7


def test_what_is_written_is_what_the_format_asks_for(tmp_path: Path) -> None:
    tensors = {"b": tl.ones(3).bfloat16(), "a": tl.arange(4).view(2, 2).t(), "e": tl.zeros(0, 2), "c": tl.tensor([1j])}
    content = save(tensors, {"note": "yes"})
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    assert (8 + size) % 8 == 0
    assert header.pop("__metadata__") == {"note": "yes"}
    assert {name: said["dtype"] for name, said in header.items()} == {"b": "BF16", "a": "I64", "e": "F32", "c": "C64"}
    ends = sorted(said["data_offsets"] for said in header.values())
    assert [begin for begin, _ in ends] == [0, *[end for _, end in ends[:-1]]]
    assert ends[-1][1] == len(content) - 8 - size
    found = load(content)
    assert all(tl.equal(found[name], x) and found[name].dtype is x.dtype for name, x in tensors.items())
    save_file(tensors, tmp_path / "x", {"note": "yes"})
    assert (tmp_path / "x").read_bytes() == content
    assert load_file(tmp_path / "x")["a"].tolist() == [[0, 2], [1, 3]]


def test_tensors_are_read_one_by_one(tmp_path: Path) -> None:
    save_file({"a": tl.ones(2), "b": tl.zeros(3)}, tmp_path / "x", {"k": "v"})
    with safe_open(tmp_path / "x", framework="pt", device="cpu") as f:
        assert sorted(f.keys()) == sorted(f) == ["a", "b"]
        assert len(f) == 2
        assert f.metadata() == {"k": "v"}
        b = f.get_tensor("b")
        with pytest.raises(KeyError, match="no tensor 'c'; it has a, b"):
            f.get_tensor("c")
    b.add_(1)
    assert b.tolist() == [1, 1, 1]
    assert load_file(tmp_path / "x")["b"].tolist() == [0, 0, 0]


def test_what_the_format_cannot_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="'b' is int"):
        save({"b": 3})
    with pytest.raises(TypeError, match="names tensors by texts"):
        save({3: tl.ones(1)})
    with pytest.raises(TypeError, match="no type complex128"):
        save({"x": tl.tensor([1j]).to(tl.complex128)})
    with pytest.raises(TypeError, match="dictionary of tensors, not list"):
        tl.save([tl.ones(1)], tmp_path / "x.safetensors")
    x = tl.ones(3)
    with pytest.warns(UserWarning, match="no shared memory: a, b"):
        found = load(save({"a": x, "b": x[1:]}))
    assert found["b"].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x10\0\0\0", "cut off"),
        (file({"w": entry("F32", [2], 0, 8)}, bytes(8))[:20], "cut off: its header has"),
        (file({"w": entry("F32", [2], 0, 8)}, bytes(7)), "cut off: 1 of 8 bytes"),
        (file({"w": entry("F32", [2], 0, 8)}, bytes(9)), "no tensor owns"),
        ((10**15).to_bytes(8, "little") + b"{" + bytes(20), "header claims"),
        (file(b'{"w": '), "no JSON"),
        (file(b"{" * 100_000), "no JSON"),
        (file(b'{"a": ' * 50_000), "no JSON"),
        (file([1]), "no file of tensors|no JSON object"),
        (file(b'{"w": 1, "w": 2}'), "stands there twice"),
        (file({"w": entry("F32", [3], 0, 8)}, bytes(8)), "shape .3. and type F32, but 8 bytes"),
        (file({"w": entry("F32", [-1], 0, 8)}, bytes(8)), "makes no tensor"),
        (file({"w": entry("F33", [2], 0, 8)}, bytes(8)), "makes no tensor"),
        (file({"w": entry("F32", [2**62, 4], 0, 8)}, bytes(8)), "but 8 bytes"),
        (
            file({"a": entry("U8", [4], 0, 4), "b": entry("U8", [4], 2, 6)}, bytes(6)),
            "begins at byte 2 of the data, not 4",
        ),
        (file({"a": entry("U8", [4], 0, 4), "b": entry("U8", [4], 6, 10)}, bytes(10)), "begins at byte 6"),
        (file({"w": 3}), "makes no tensor"),
        (file({"__metadata__": {"a": 1}}), "metadata"),
    ],
)
def test_a_damaged_or_dangerous_file_says_what_is_wrong(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.safetensors").write_bytes(content)
    with pytest.raises(RuntimeError, match=said):
        tl.load(tmp_path / "x.safetensors")


def test_a_type_that_we_do_not_have_is_named() -> None:
    with pytest.raises(TypeError, match="tensor 'w' is of type F8_E4M3"):
        load(file({"w": entry("F8_E4M3", [2], 0, 2)}, bytes(2)))


def test_every_type_of_ours_that_the_format_has_goes_there_and_back() -> None:
    for code in safetensors.CODES:
        kind = getattr(tl, code, None)
        if kind is not None:
            x = tl.tensor([0, 1, 1]).to(kind)
            found = load(save({"x": x}))["x"]
            assert found.dtype is kind
            assert found.numpy().tobytes() == x.numpy().tobytes()
