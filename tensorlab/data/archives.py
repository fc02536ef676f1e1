"""Readers for image sets that many people have on disk: MNIST's IDX files and the CIFAR archives.

Nothing is downloaded, nothing is unpacked to disk, and no code in a file is run: CIFAR's pickles go through a machine that knows
arrays and plain containers alone.
"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zlib
from collections.abc import Callable, Iterable
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from tensorlab import creation
from tensorlab.data.dataset import Dataset
from tensorlab.serialization.unpickling import PLAIN, Machine
from tensorlab.tensor import Tensor

_IDX_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path: Any) -> Tensor:
    """The array in an IDX file, plain or compressed with gzip, as a tensor.

    Raises ``ValueError`` for a file that is no IDX file, is cut off, or holds more than it says.
    """
    raw = Path(path).read_bytes()
    compressed = raw[:2] == b"\x1f\x8b"
    stream: Any = gzip.GzipFile(fileobj=io.BytesIO(raw)) if compressed else io.BytesIO(raw)
    try:
        head = stream.read(4)
        if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in _IDX_TYPES:
            raise ValueError(f"{path} is no IDX file: it begins with {head!r}")
        kind = np.dtype(_IDX_TYPES[head[2]])
        sizes = stream.read(4 * head[3])
        if len(sizes) < 4 * head[3]:
            raise ValueError(f"{path} is cut off: its head is incomplete")
        shape = tuple(np.frombuffer(sizes, ">u4").tolist())
        wanted = prod(shape) * kind.itemsize
        data = stream.read(wanted + 1)  # no more than it says, whatever it unpacks to
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(f"{path} is cut off or damaged: {error}") from None
    if len(data) != wanted:
        said = "is cut off" if len(data) < wanted else "holds more than it says"
        raise ValueError(f"{path} {said}: shape {list(shape)} and type {kind.name} make {wanted} bytes")
    return creation.from_numpy(np.frombuffer(data, kind).reshape(shape).astype(kind.newbyteorder("=")))


class Images(Dataset):
    """Pictures with a class each: ``data`` holds bytes, ``targets`` the class numbers.

    A sample is ``(transform(image), target_transform(target))``; without ``transform`` an image becomes floats in [0, 1], channels
    first.
    """

    classes: list[str]
    data: np.ndarray  # images x channels x height x width
    targets: list[int]

    def __init__(self, transform: Callable[[Any], Any] | None, target_transform: Callable[[int], Any] | None) -> None:
        self.transform = transform
        self.target_transform = target_transform

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        image: Any = creation.from_numpy(self.data[index])
        target = self.targets[index]
        image = image.float() / 255 if self.transform is None else self.transform(image)
        return image, target if self.target_transform is None else self.target_transform(target)

    def __len__(self) -> int:
        return len(self.targets)


class MNIST(Images):
    """Handwritten digits, from the four IDX files (``train-images-idx3-ubyte`` ..., or ``.gz``) in a local folder.

    ``root`` is the folder, or one above it as other libraries lay it out (``root/MNIST/raw``). A sample is an image of 1 x 28 x 28
    floats in [0, 1] and its digit. Raises ``FileNotFoundError`` naming what was looked for.
    """

    classes = [str(digit) for digit in range(10)]

    def __init__(
        self,
        root: Any,
        train: bool = True,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[int], Any] | None = None,
    ) -> None:
        super().__init__(transform, target_transform)
        part = "train" if train else "t10k"
        folders = (Path(root), Path(root) / type(self).__name__ / "raw", Path(root) / "raw")
        images = read_idx(_found(folders, _spellings(part, "images", 3)))
        labels = read_idx(_found(folders, _spellings(part, "labels", 1)))
        if images.dim() != 3 or labels.dim() != 1 or len(images) != len(labels):
            raise ValueError(
                f"images of shape {list(images.shape)} do not go with labels of shape {list(labels.shape)}"
            )
        self.data = images.numpy()[:, None]
        self.targets = labels.tolist()


class FashionMNIST(MNIST):
    """Pictures of clothes in the format of MNIST."""

    classes = [
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
    ]  # fmt: skip


class CIFAR10(Images):
    """60,000 colour pictures of 32 x 32 in ten classes, from ``cifar-10-python.tar.gz`` or the folder that it unpacks to.

    ``root`` is the archive, the folder, or where one of them lies. A sample is an image of 3 x 32 x 32 floats in [0, 1] and its class.
    """

    _folder, _archive = "cifar-10-batches-py", "cifar-10-python.tar.gz"
    _parts = {True: [f"data_batch_{n}" for n in range(1, 6)], False: ["test_batch"]}
    _meta, _names, _labels = "batches.meta", "label_names", "labels"

    def __init__(
        self,
        root: Any,
        train: bool = True,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[int], Any] | None = None,
    ) -> None:
        super().__init__(transform, target_transform)
        parts = self._parts[bool(train)]
        files = _files(Path(root), self._folder, self._archive, [*parts, self._meta])
        batches = [(name, Machine(PLAIN).load(io.BytesIO(files[name]))) for name in parts]
        images, labels = zip(*[self._batch(name, batch) for name, batch in batches], strict=True)
        self.data = np.concatenate(images).reshape(-1, 3, 32, 32)
        self.targets = [int(label) for part in labels for label in part]
        self.classes = [str(name) for name in Machine(PLAIN).load(io.BytesIO(files[self._meta]))[self._names]]

    def _batch(self, name: str, batch: Any) -> tuple[np.ndarray, list[int]]:
        images = batch.get("data") if isinstance(batch, dict) else None
        labels = batch.get(self._labels) if isinstance(batch, dict) else None
        if (
            not isinstance(images, np.ndarray)
            or images.dtype != np.uint8
            or images.ndim != 2
            or images.shape[1] != 3072
        ):
            raise ValueError(f"{name} is no part of CIFAR: it has no 'data' of images x 3072 bytes")
        if not isinstance(labels, list) or len(labels) != len(images):
            raise ValueError(f"{name} is no part of CIFAR: it has no '{self._labels}', one for each image")
        return images, labels


class CIFAR100(CIFAR10):
    """The same with 100 classes, from ``cifar-100-python.tar.gz`` or the folder that it unpacks to."""

    _folder, _archive = "cifar-100-python", "cifar-100-python.tar.gz"
    _parts = {True: ["train"], False: ["test"]}
    _meta, _names, _labels = "meta", "fine_label_names", "fine_labels"


# ------------------------------------------------------------------------------------------------------------ finding files


def _spellings(part: str, what: str, dims: int) -> list[str]:
    """The names under which one file of MNIST is found."""
    names = [f"{part}-{what}-idx{dims}-ubyte", f"{part}-{what}.idx{dims}-ubyte"]
    return [name + end for name in names for end in ("", ".gz")]


def _found(folders: Iterable[Path], names: list[str]) -> Path:
    looked = [folder / name for folder in folders for name in names]
    for path in looked:
        if path.is_file():
            return path
    raise FileNotFoundError(f"none of {', '.join(names)} is in {', '.join(sorted({str(p.parent) for p in looked}))}")


def _files(root: Path, folder: str, archive: str, names: list[str]) -> dict[str, bytes]:
    """The contents of files in a folder, or in the archive that would unpack to it, without unpacking it."""
    for place in (root, root / folder):
        if all((place / name).is_file() for name in names):
            return {name: (place / name).read_bytes() for name in names}
    path = root if root.is_file() else root / archive
    if not path.is_file():
        raise FileNotFoundError(f"neither {folder}{os.sep} nor {archive} is in {root}")
    found = {}
    try:
        with tarfile.open(path) as packed:
            for member in packed:
                name = member.name.rpartition("/")[2]
                if member.isfile() and name in names and name not in found:
                    opened = packed.extractfile(member)
                    assert opened is not None
                    found[name] = opened.read()
    except (tarfile.TarError, EOFError, OSError) as error:
        raise ValueError(f"{path} is cut off or no archive: {error}") from None
    missing = [name for name in names if name not in found]
    if missing:
        raise ValueError(f"{path} is not the archive of {folder}: it lacks {', '.join(missing)}")
    return found
