"""Ready data sets: what scikit-learn brings, and readers for files that people have, which run nothing that a file names."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import struct
import tarfile
from pathlib import Path

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.data import (
    CIFAR10,
    CIFAR100,
    MNIST,
    BreastCancer,
    DataLoader,
    Diabetes,
    Digits,
    FashionMNIST,
    Iris,
    Wine,
    read_idx,
)

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("kind", "size", "shape"),
    [
        (Digits, 1797, (1, 8, 8)),
        (Iris, 150, (4,)),
        (Wine, 178, (13,)),
        (BreastCancer, 569, (30,)),
        (Diabetes, 442, (10,)),
    ],
)
def test_a_bundled_set_holds_real_samples_and_splits_the_same_way_every_time(
    kind: type, size: int, shape: tuple[int, ...]
) -> None:
    pytest.importorskip("sklearn")
    whole, train, test = kind(), kind(train=True), kind(train=False)
    assert len(whole) == len(train) + len(test) == size
    features, target = whole[3]
    assert tuple(features.shape) == shape
    assert features.dtype is tl.float32
    assert target.dtype is (tl.float32 if kind is Diabetes else tl.int64)
    assert whole.description
    assert tl.equal(test.data, kind(train=False).data)
    assert train.data.sum() + test.data.sum() == pytest.approx(whole.data.sum().item(), rel=1e-4, abs=1e-3)
    if whole.classes:
        assert whole.targets.max().item() + 1 == len(whole.classes)


def test_a_batch_of_digits_is_ready_for_a_model() -> None:
    pytest.importorskip("sklearn")
    images, digits = next(iter(DataLoader(Digits(train=True), 16, shuffle=True)))
    assert images.shape == (16, 1, 8, 8)
    assert 0 <= images.min() <= images.max() <= 1
    assert digits.shape == (16,)


# -------------------------------------------------------------------------------------------------------------------- IDX


def idx(array: np.ndarray, code: int = 8) -> bytes:
    """An array as an IDX file."""
    head = struct.pack(">HBB", 0, code, array.ndim) + b"".join(struct.pack(">I", n) for n in array.shape)
    return head + array.tobytes()


@pytest.fixture
def mnist(tmp_path: Path) -> Path:
    for part, size in (("train", 6), ("t10k", 4)):
        images = RNG.integers(0, 256, (size, 28, 28), np.uint8)
        (tmp_path / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(images)))
        (tmp_path / f"{part}-labels-idx1-ubyte").write_bytes(idx(np.arange(size, dtype=np.uint8)))
    return tmp_path


def test_the_files_of_mnist_are_read_as_they_are_plain_or_compressed(mnist: Path) -> None:
    train, test = MNIST(mnist), MNIST(mnist, train=False)
    assert (len(train), len(test)) == (6, 4)
    image, digit = train[2]
    assert image.shape == (1, 28, 28)
    assert 0 <= image.min() <= image.max() <= 1
    assert digit == 2
    raw = MNIST(mnist, transform=lambda x: x, target_transform=lambda y: y + 10)[1]
    assert raw[0].dtype is tl.uint8
    assert raw[1] == 11
    assert [x.shape for x, _ in DataLoader(train, 4)] == [(4, 1, 28, 28), (2, 1, 28, 28)]
    assert FashionMNIST(mnist).classes[9] == "Ankle boot"


def test_mnist_is_found_where_other_libraries_put_it(mnist: Path) -> None:
    inside = mnist / "MNIST" / "raw"
    inside.mkdir(parents=True)
    for file in list(mnist.glob("*ubyte*")):
        file.rename(inside / file.name)
    assert len(MNIST(mnist)) == 6
    with pytest.raises(FileNotFoundError, match="train-images-idx3-ubyte"):
        FashionMNIST(mnist)


@pytest.mark.parametrize("code", [8, 9, 11, 12, 13, 14])
def test_every_type_of_idx_file_is_read(code: int, tmp_path: Path) -> None:
    types = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
    array = np.arange(6).reshape(2, 3).astype(types[code])
    (tmp_path / "x").write_bytes(idx(array, code))
    assert read_idx(tmp_path / "x").tolist() == array.tolist()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no IDX file"),
        (b"PK\x03\x04", "no IDX file"),
        (idx(np.zeros((2, 3), np.uint8))[:6], "head is incomplete"),
        (idx(np.zeros((2, 3), np.uint8))[:-1], "cut off"),
        (idx(np.zeros((2, 3), np.uint8)) + b"x", "more than it says"),
        (gzip.compress(idx(np.zeros((200, 30), np.uint8)), mtime=0)[:-9], "cut off"),
        (struct.pack(">HBBII", 0, 8, 2, 2**31, 2**31), "cut off"),
        (gzip.compress(idx(np.zeros((1, 1), np.uint8)) + bytes(10**6), mtime=0), "more than it says"),
    ],
)
def test_a_damaged_idx_file_says_what_is_wrong(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ValueError, match=said):
        read_idx(tmp_path / "x")


# ------------------------------------------------------------------------------------------------------------------ CIFAR


def old_text(text: str) -> bytes:
    """A text as Python 2 pickled it."""
    return b"U" + bytes([len(text)]) + text.encode()


def old_batch(images: np.ndarray, labels: list[int], name: str) -> bytes:
    """A part of CIFAR as it was written: by Python 2, protocol 2."""
    raw = images.tobytes()
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00t" + old_text("b") + b"tR(K\x01(M"
        + struct.pack("<H", len(images)) + b"M" + struct.pack("<H", 3072) + b"tcnumpy\ndtype\n(" + old_text("u1")
        + b"K\x00K\x01tR(K\x03" + old_text("|") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T" + struct.pack("<I", len(raw))
        + raw + b"tb"
    )  # fmt: skip
    numbers = b"](" + b"".join(b"K" + bytes([label]) for label in labels) + b"e"
    return b"\x80\x02}(" + old_text("data") + array + old_text(name) + numbers + b"u."


def cifar10(folder: Path) -> np.ndarray:
    images = RNG.integers(0, 256, (12, 3072), np.uint8)
    for k in range(6):
        name = f"data_batch_{k + 1}" if k < 5 else "test_batch"
        (folder / name).write_bytes(old_batch(images[2 * k : 2 * k + 2], [k, k + 1], "labels"))
    meta = {"label_names": [f"class {k}" for k in range(10)], "num_vis": 3072}
    (folder / "batches.meta").write_bytes(pickle.dumps(meta, 2))
    return images


def test_cifar_is_read_from_its_folder_and_from_its_archive(tmp_path: Path) -> None:
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    images = cifar10(folder)
    assert pickle.loads((folder / "test_batch").read_bytes(), encoding="latin1")["labels"] == [5, 6]
    archive = tmp_path / "packed" / "cifar-10-python.tar.gz"
    archive.parent.mkdir()
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(folder, "cifar-10-batches-py")
    for root in (folder, tmp_path, archive, archive.parent):
        train, test = CIFAR10(root), CIFAR10(root, train=False)
        assert (len(train), len(test)) == (10, 2)
        image, label = train[3]
        assert image.shape == (3, 32, 32)
        assert image[2, 0, 0].item() == pytest.approx(images[3, 2048] / 255)
        assert train.classes[label] == "class 2"
        assert test.targets == [5, 6]


def test_cifar_with_a_hundred_classes_has_fine_labels(tmp_path: Path) -> None:
    batch = {"data": np.zeros((3, 3072), np.uint8), "fine_labels": [7, 8, 99], "coarse_labels": [1, 1, 2]}
    for name in ("train", "test"):
        (tmp_path / name).write_bytes(pickle.dumps(batch, 4))
    (tmp_path / "meta").write_bytes(pickle.dumps({"fine_label_names": [str(k) for k in range(100)]}))
    assert CIFAR100(tmp_path)[2][1] == 99


class Evil:
    """Pickled, it asks for a command to be run."""

    def __reduce__(self) -> object:
        return os.system, ("touch hacked",)


def test_a_cifar_file_that_asks_for_code_to_be_run_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cifar10(tmp_path)
    (tmp_path / "data_batch_3").write_bytes(pickle.dumps({"data": Evil()}))
    with pytest.raises(pickle.UnpicklingError, match="refused to load (posix|nt).system"):
        CIFAR10(tmp_path)
    assert not (tmp_path / "hacked").exists()


def test_something_else_under_the_name_of_cifar_is_explained(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="neither cifar-10-batches-py"):
        CIFAR10(tmp_path)
    cifar10(tmp_path)
    (tmp_path / "data_batch_2").write_bytes(pickle.dumps([1, 2]))
    with pytest.raises(ValueError, match="data_batch_2 is no part of CIFAR"):
        CIFAR10(tmp_path)
    (tmp_path / "data_batch_2").write_bytes(b"\x80\x02}(U")
    with pytest.raises(RuntimeError, match="damaged or cut off"):
        CIFAR10(tmp_path)
    archive = tmp_path / "a.tar.gz"
    archive.write_bytes(gzip.compress(b"nothing of that kind" * 100))
    with pytest.raises(ValueError, match="no archive|lacks"):
        CIFAR10(archive)
    with tarfile.open(archive, "w:gz") as packed:
        member = tarfile.TarInfo("../../data_batch_1")
        member.size = 3
        packed.addfile(member, io.BytesIO(b"abc"))
    with pytest.raises(ValueError, match="lacks data_batch_2"):
        CIFAR10(archive)
