"""Files: written so that the earlier one survives whatever happens, and archives read with suspicion."""

from __future__ import annotations

import io
import os
import secrets
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

#: Data in our archives begins at multiples of this many bytes, as in PyTorch's.
ALIGNMENT = 64

#: The largest description of tensors that is read, in bytes.
MOST = 100_000_000


@contextmanager
def replacing(target: Any) -> Iterator[Any]:
    """A binary file to write to. Only when all is written and on the disk does it take the place of ``target``.

    If anything fails, or the process dies, the earlier file stays as it was. A file object is written to as it is.
    """
    if hasattr(target, "write"):
        yield target
        return
    path = Path(os.path.realpath(os.fspath(target)))
    if path.exists() and not path.is_file():  # a device or a pipe cannot be replaced
        with open(path, "wb") as stream:
            yield stream
        return
    beside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.tmp")
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666
    descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    try:
        with os.fdopen(descriptor, "w+b") as stream:
            if path.exists():
                os.chmod(beside, mode)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _settle(path.parent)


def _settle(folder: Path) -> None:
    """Have a new name on the disk as well, where the system offers it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)


class Writer:
    """Writes an archive whose entries are stored as they are, each at an aligned place."""

    def __init__(self, stream: Any) -> None:
        self.zip = zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED, allowZip64=True)

    def add(self, name: str, *parts: Any) -> None:
        """An entry made of bytes and arrays, one after another."""
        views = [part.data.cast("B") if isinstance(part, np.ndarray) else memoryview(part) for part in parts]
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.file_size = sum(view.nbytes for view in views)
        entry.external_attr = 0o644 << 16
        zip64 = entry.file_size * 1.05 > zipfile.ZIP64_LIMIT
        assert self.zip.fp is not None
        begin = self.zip.fp.tell() + 30 + len(name.encode()) + 20 * zip64
        gap = -(begin + 4) % ALIGNMENT
        entry.extra = struct.pack("<HH", 0x4246, gap) + b"Z" * gap
        with self.zip.open(entry, "w", force_zip64=zip64) as out:
            for view in views:
                out.write(view)

    def close(self) -> None:
        """Write the list of entries."""
        self.zip.close()


class Source:
    """Something to load from: a path or a file object that can be read at any place."""

    def __init__(self, file: Any, mmap: bool) -> None:
        self.own = not hasattr(file, "read")
        self.name = os.fspath(file) if self.own else getattr(file, "name", f"the {type(file).__name__}")
        if self.own:
            self.stream: Any = open(file, "rb")
        else:
            if mmap:
                raise ValueError("mmap=True needs a file name: an object that is read from has no memory to map")
            seekable = hasattr(file, "seek") and (not hasattr(file, "seekable") or file.seekable())
            self.stream = file if seekable and hasattr(file, "readinto") else io.BytesIO(file.read())
        self.start = self.stream.tell()
        self.size = self.stream.seek(0, os.SEEK_END) - self.start
        self.stream.seek(self.start)
        self.mapped = np.memmap(file, np.uint8, "c") if mmap and self.size else None

    def bytes_at(self, offset: int, size: int) -> bytes:
        """Some bytes; fewer at the end of the file, and none before its beginning."""
        if offset < 0:
            return b""
        self.stream.seek(self.start + offset)
        return self.stream.read(max(0, min(size, self.size - offset)))

    def memory_at(self, offset: int, size: int) -> np.ndarray:
        """Bytes as an array: mapped from the file, where a write changes the memory and not the file, or read."""
        if offset < 0 or size < 0 or offset + size > self.size:
            raise RuntimeError(
                f"{self.name} is cut off: bytes {offset} to {offset + size} are missing, it ends at {self.size}"
            )
        if self.mapped is not None:
            return self.mapped[offset : offset + size].view(np.ndarray)
        found = np.empty(size, np.uint8)
        self.stream.seek(self.start + offset)
        view = found.data
        while view:
            count = self.stream.readinto(view)
            if not count:
                raise RuntimeError(f"{self.name} became shorter while it was read")
            view = view[count:]
        return found

    def close(self) -> None:
        """Close what was opened here; an object of the caller is left behind its last byte."""
        if self.own:
            self.stream.close()
        else:
            self.stream.seek(self.start + self.size)


class Archive:
    """The entries of a zip file, none of which may be compressed, lie over another, or point out of the file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        try:
            listing = zipfile.ZipFile(_Part(source))
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError, struct.error, OverflowError) as error:
            raise RuntimeError(
                f"{source.name} is damaged or cut off: it begins as an archive, but its list of entries, which stands at the end, "
                f"cannot be found ({source.size} bytes, {error})"
            ) from None
        self.entries: dict[str, zipfile.ZipInfo] = {}
        for entry in listing.infolist():
            self._check(entry)
            self.entries[entry.filename] = entry
        if sum(entry.file_size for entry in self.entries.values()) > source.size:
            raise RuntimeError(f"{source.name} is refused: its entries claim to hold more than the whole file does")

    def _check(self, entry: zipfile.ZipInfo) -> None:
        name, where = entry.filename, self.source.name
        if name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/") or ":" in name or "\0" in name:
            raise RuntimeError(f"{where} is refused: its entry {name!r:.80} points out of the archive")
        if name in self.entries:
            raise RuntimeError(f"{where} is refused: two of its entries are called {name!r:.80}")
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
            raise RuntimeError(
                f"{where} is refused: its entry {name!r:.80} is compressed, so what it expands to is not known. Files of tensors are "
                "not compressed when they are saved; pack it again without compression."
            )
        if entry.flag_bits & 1:
            raise RuntimeError(f"{where} is refused: its entry {name!r:.80} is encrypted")

    def _offset(self, name: str) -> int:
        """Where the data of an entry begins."""
        entry = self.entries[name]
        head = self.source.bytes_at(entry.header_offset, 30)
        if len(head) < 30 or head[:4] != b"PK\x03\x04":
            raise RuntimeError(
                f"{self.source.name} is damaged: the entry {name!r} is not where the list of entries says"
            )
        name_size, extra_size = struct.unpack("<HH", head[26:30])
        return entry.header_offset + 30 + name_size + extra_size

    def memory(self, name: str, begin: int = 0, size: int | None = None) -> np.ndarray:
        """The bytes of an entry, or of a part of it. Read as a whole, they are checked against the archive's checksum."""
        if name not in self.entries:
            raise RuntimeError(f"{self.source.name} is damaged or cut off: it has no entry {name!r:.80}")
        entry = self.entries[name]
        whole = size is None
        found = self.source.memory_at(self._offset(name) + begin, entry.file_size if size is None else size)
        if whole and self.source.mapped is None and zlib.crc32(found.data) != entry.CRC:
            raise RuntimeError(f"{self.source.name} is damaged: the checksum of its entry {name!r} is wrong")
        return found

    def text(self, name: str) -> bytes:
        """The bytes of an entry that describes others, which must not be huge."""
        if name in self.entries and self.entries[name].file_size > MOST:
            raise RuntimeError(
                f"{self.source.name} is refused: {name!r} has {self.entries[name].file_size} bytes; a description of "
                f"tensors has at most {MOST}"
            )
        return self.memory(name).tobytes()


class _Part(io.RawIOBase):
    """A source as a file of its own, beginning where the source began."""

    def __init__(self, source: Source) -> None:
        self.source, self.at = source, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self.at, os.SEEK_END: self.source.size}[whence]
        if base + offset < 0:
            raise OSError("a place before the beginning of the file")
        self.at = base + offset
        return self.at

    def tell(self) -> int:
        return self.at

    def read(self, size: int | None = -1) -> bytes:
        found = self.source.bytes_at(self.at, self.source.size if size is None or size < 0 else size)
        self.at += len(found)
        return found
