"""Files that are cut off, damaged or made to do harm: a clear error, no code run, no memory taken."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pickle
import random
import struct
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorlab as tl

#: What loading a bad file may raise.
ERRORS = (RuntimeError, pickle.UnpicklingError, EOFError, TypeError)
KINDS = pytest.mark.parametrize("kind", ["tensorlab", "torch", "safetensors"])


def content(kind: str, value: Any = None) -> bytes:
    file = io.BytesIO()
    tl.save({"w": tl.arange(6.0).view(2, 3), "b": tl.ones(2).bfloat16()} if value is None else value, file, format=kind)
    return file.getvalue()


def archive(entries: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as z:
        for name, data in entries.items():
            z.writestr(name, data)
    return file.getvalue()


def torch_file(pickled: bytes, **entries: bytes) -> bytes:
    return archive(
        {"archive/data.pkl": pickled, "archive/version": b"3\n"} | {f"archive/data/{k}": v for k, v in entries.items()}
    )


def load(data: bytes) -> Any:
    return tl.load(io.BytesIO(data))


@KINDS
def test_a_file_cut_off_anywhere_is_an_error(kind: str) -> None:
    whole = content(kind)
    for size in range(0, len(whole), 7):
        with pytest.raises(ERRORS) as caught:
            load(whole[:size])
        assert str(caught.value)


@KINDS
def test_a_truncated_file_says_that_it_is_cut_off(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "model.pth"
    path.write_bytes(content(kind)[:-50])
    with pytest.raises(RuntimeError, match=r"model\.pth is (damaged or )?cut off"):
        tl.load(path)
    path.write_bytes(b"")
    with pytest.raises(EOFError, match=r"model\.pth is empty"):
        tl.load(path)


@KINDS
def test_a_file_with_spoilt_bytes_loads_or_is_an_error_and_nothing_else(kind: str) -> None:
    whole = content(kind, {"w": tl.ones(4), "n": [1, "two", 3.0]} if kind != "safetensors" else None)
    rng = random.Random(0)
    for _ in range(400):
        spoilt = bytearray(whole)
        for _ in range(rng.choice((1, 1, 2, 8))):
            spoilt[rng.randrange(len(spoilt))] = rng.randrange(256)
        with contextlib.suppress(*ERRORS):  # any other error fails this test
            load(bytes(spoilt))


def test_damaged_data_is_found_by_its_checksum() -> None:
    whole = content("tensorlab", {"w": tl.full((1000,), 7.25)})
    at = whole.index(np.float32(7.25).tobytes() * 3)
    with pytest.raises(RuntimeError, match="checksum of its entry"):
        load(whole[: at + 40] + b"\xff" + whole[at + 41 :])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"hello, world, this is a text", "no file of tensors: it begins with b'hello"),
        (archive({"a.txt": b"x"}), "archive of something else: it holds a.txt"),
        (archive({"x.npy": b"x"}), r"numpy\.load"),
        (archive({}), "archive of something else"),
        (b"PK\x03\x04" + bytes(100), "damaged or cut off"),
        (b"\x89HDF\r\n\x1a\n" + bytes(40), "no file of tensors"),
        (torch_file(b"\x80\x02."), "damaged"),
        (torch_file(b"\x80\x02}q\x00(X\x01\x00"), "damaged or cut off"),
        (torch_file(b""), "damaged or cut off"),
        (archive({"m/data.pkl": b"\x80\x02N.", "m/constants.pkl": b"", "m/code/__torch__.py": b""}), "TorchScript"),
    ],
)  # fmt: skip
def test_another_kind_of_file_is_told_apart(data: bytes, said: str) -> None:
    with pytest.raises(ERRORS, match=said):
        load(data)


# ------------------------------------------------------------------------------------------------------- code in files


class Runs:
    """Pickled, it asks for a call."""

    def __init__(self, function: Any, *args: Any) -> None:
        self.call = function, args

    def __reduce__(self) -> Any:
        return self.call


class Mine:
    """A class of this program."""

    def __setstate__(self, state: Any) -> None:
        raise AssertionError("it ran")


CODE = [
    (pickle.dumps(Runs(os.system, "touch hacked"), 2), "system"),
    (pickle.dumps(Runs(eval, "open('hacked', 'w')"), 4), r"builtins\.eval"),
    (pickle.dumps(Runs(getattr, "text", "encode"), 2), "getattr"),
    (pickle.dumps({"a": Mine()}, 2), "test_bad_files"),
    (b"cos\nsystem\n(S'touch hacked'\ntR.", r"os\.system"),
    (b"(S'touch hacked'\nios\nsystem\n.", "INST|os.system"),
    (b"\x80\x02ctorch\nload\n(X\x01\x00\x00\x00atR.", r"torch\.load"),
    (b"\x80\x02ctorch.hub\nload\n.", r"torch\.hub\.load"),
    (b"\x80\x02cnumpy\nload\n.", r"numpy\.load"),
    (b"\x80\x02cnumpy.core.multiarray\n_reconstruct\nX\x01\x00\x00\x00a}b.", "attributes of an object"),
    (b"\x80\x02ccollections\nOrderedDict\n)R}X\x06\x00\x00\x00updateK\x01sb.", "attributes of an OrderedDict"),
    (b"\x80\x02ccollections\nOrderedDict\n}X\x01\x00\x00\x00aK\x01sb.", "attributes of an object"),
    (b"\x80\x02ccollections\ndefaultdict\n(cos\nsystem\ntR.", r"os\.system"),
    (b"\x80\x02cnumpy\ndtype\n(X\x01\x00\x00\x00OK\x00K\x01tR.", "NumPy arrays of type 'O'"),
    (b"\x80\x04\x82\x01.", "EXT1"),
    (b"\x80\x02U\x03abcQ.", "a reference to"),
]


@pytest.mark.parametrize(("pickled", "named"), CODE)
@pytest.mark.parametrize("weights_only", [True, False])
def test_no_code_in_a_file_is_run_and_the_error_names_it(
    pickled: bytes, named: str, weights_only: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.pth").write_bytes(torch_file(pickled))
    with pytest.raises(pickle.UnpicklingError, match=f"refused to load.*{named}"):
        tl.load("x.pth", weights_only=weights_only)
    assert not Path("hacked").exists()


def test_a_plain_pickle_and_an_old_archive_are_refused(tmp_path: Path) -> None:
    with pytest.raises(pickle.UnpicklingError, match="a pickle that PyTorch did not write"):
        load(pickle.dumps({"a": 1}, 2))
    with pytest.raises(pickle.UnpicklingError, match="system"):
        load(pickle.dumps(Runs(os.system, "touch hacked"), 2))
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as packed:
        packed.addfile(tarfile.TarInfo("storages"))
    with pytest.raises(RuntimeError, match="no file of tensors"):
        tl.load(path)


# ------------------------------------------------------------------------------------------------------------ bombs


def test_entries_that_point_out_of_the_archive_are_refused() -> None:
    for name in ("../../etc/passwd", "/etc/passwd", "archive/../../x", "C:/x", "..\\x"):
        with pytest.raises(RuntimeError, match="points out of the archive"):
            load(archive({name: b"", "archive/data.pkl": b"\x80\x02N."}))


def test_compressed_entries_are_refused_whatever_they_expand_to() -> None:
    with pytest.raises(RuntimeError, match="is compressed"):
        load(archive({"archive/data.pkl": bytes(10**7)}, zipfile.ZIP_DEFLATED))


def test_entries_that_lie_over_each_other_are_refused() -> None:
    whole = archive({f"archive/data/{k}": bytes(10_000) for k in range(3)} | {"archive/data.pkl": b"\x80\x02N."})
    directory = whole.index(b"PK\x01\x02")
    head = bytearray(whole[directory:])
    first = head.index(b"PK\x01\x02")
    for _ in range(3):  # every entry claims to begin where the first one does
        head[first + 42 : first + 46] = struct.pack("<I", 0)
        first = head.find(b"PK\x01\x02", first + 4)
    small = whole[:10_060] + bytes(head)
    end = bytearray(small)
    at = end.rindex(b"PK\x05\x06")
    end[at + 16 : at + 20] = struct.pack("<I", 10_060)
    with pytest.raises(RuntimeError, match="claim to hold more|not where|damaged"):
        load(bytes(end))


def test_a_huge_number_in_a_file_takes_no_memory() -> None:
    storage = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu"
    tensor = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + storage
    huge = b"\x8a\x08" + (2**61).to_bytes(8, "little")
    for pickled, said in (
        (tensor + huge + b"tQ", "instead of"),
        (tensor + b"K\x02tQK\x00" + huge + b"\x85K\x01\x85\x89Ntr\x00\x00\x00\x00R.", "reaches beyond|damaged"),
        (tensor + b"K\x02tQK\x00" + huge + b"\x85K\x01\x85\x89NtR.", "reaches beyond"),
        (tensor + b"K\x02tQ" + huge + b"K\x02\x85K\x01\x85\x89NtR.", "reaches beyond"),
        (tensor + b"K\x02tQJ\xff\xff\xff\xffK\x02\x85K\x01\x85\x89NtR.", "no sizes of a tensor"),
        (b"\x80\x02B\xff\xff\xff\xff", "damaged or cut off"),
        (b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f", "damaged or cut off"),
        (b"\x80\x05\x96\xff\xff\xff\xff\xff\xff\xff\x7f", "damaged or cut off"),
        (b"\x80\x02Nr\xff\xff\xff\xff.", None),
    ):
        data = torch_file(pickled, **{"0": bytes(8)})
        if said is None:
            assert load(data) is None
        else:
            with pytest.raises(RuntimeError, match=said):
                load(data)


def test_a_key_that_takes_forever_to_hash_is_refused() -> None:
    nested = b"\x80\x02}K\x00\x85" + b"2\x86" * 60 + b"K\x01s."
    with pytest.raises(ERRORS):
        load(torch_file(nested))


def test_a_manifest_that_lies_is_an_error() -> None:
    def with_manifest(**changed: Any) -> bytes:
        entries = {
            e: zipfile.ZipFile(io.BytesIO(content("tensorlab"))).read(e)
            for e in ("manifest.json", "tensors.safetensors")
        }
        manifest = json.loads(entries["manifest.json"])
        manifest["tensors"][0] |= changed
        return archive(
            {"manifest.json": json.dumps(manifest).encode(), "tensors.safetensors": entries["tensors.safetensors"]}
        )

    assert load(with_manifest())["w"].shape == (2, 3)
    for changed in (
        {"shape": [2, 4]}, {"shape": [2**60, 1]}, {"shape": [-2, 3]}, {"offset": 5}, {"strides": [3, -1]}, {"strides": [3]},
        {"in": "nobody"}, {"dtype": "object"}, {"dtype": "__doc__"}, {"class": "Evil"}, {"shape": "ab"}, {"shape": [1.5, 2]},
        {"offset": "x"}, {"device": "nowhere"},
    ):  # fmt: skip
        with pytest.raises(ERRORS):
            load(with_manifest(**changed))
    for text in (b"[]", b"{}", b'{"format": "tensorlab", "version": 99}', b"[" * 100_000, b"\xff"):
        with pytest.raises(RuntimeError):
            load(archive({"manifest.json": text, "tensors.safetensors": b""}))


def test_a_file_of_a_later_version_says_so() -> None:
    manifest = {"format": "tensorlab", "version": 2, "value": None, "tensors": [], "arrays": []}
    with pytest.raises(RuntimeError, match="version 2 of the format; this is version 1"):
        load(archive({"manifest.json": json.dumps(manifest).encode()}))
