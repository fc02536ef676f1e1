"""``save`` and ``load``: which kind of file, and then its own writer or reader."""

from __future__ import annotations

import os
from typing import Any

from tensorlab.serialization import manifest, pytorch, pytorch_writing, safetensors
from tensorlab.serialization.files import Archive, Source, replacing
from tensorlab.serialization.places import Places

FORMATS = ("tensorlab", "torch", "safetensors")

#: The kind of file by how its name ends; any other name is our own kind.
_ENDINGS = {".pt": "torch", ".pth": "torch", ".safetensors": "safetensors"}


def save(obj: Any, f: Any, *, format: str | None = None) -> None:
    """Write tensors and plain containers of them to a file from which nothing can be run: state dictionaries, whole training states.

    ``f`` is a path or a file object. ``format`` is ``"torch"`` for a file that PyTorch opens too, ``"safetensors"`` for a dictionary
    of tensors alone, or ``"tensorlab"``, which also keeps NumPy arrays and more kinds of containers. Left out, a name that ends
    in ``.pt`` or ``.pth`` says ``"torch"``, ``.safetensors`` says so, and everything else is ``"tensorlab"``.

    Types, strides, ``requires_grad``, ``Parameter`` and shared memory are kept; a slice is written without the rest of its storage.
    A file that exists is replaced once the new one is complete, so it survives a crash and a full disk. Raises ``TypeError`` for
    anything else, such as a module, naming where it stands.

    >>> import io
    >>> import tensorlab as tl
    >>> file = io.BytesIO()
    >>> tl.save({"weight": tl.ones(2), "epoch": 3}, file)
    >>> _ = file.seek(0)
    >>> tl.load(file)
    {'weight': tensor([1., 1.]), 'epoch': 3}
    """
    if not hasattr(f, "write") and not isinstance(f, (str, os.PathLike)):
        raise AttributeError(
            f"expected 'f' to be string, path, or a file-like object with a 'write' attribute, not {f!r:.40}"
        )
    kind = _kind(f) if format is None else format
    if kind not in FORMATS:
        raise ValueError(f"save(): format must be one of {', '.join(FORMATS)}, not {format!r}")
    if kind == "safetensors":
        if not isinstance(obj, dict):
            raise TypeError(f"a safetensors file holds a dictionary of tensors, not {type(obj).__name__}")
        safetensors.save_file(obj, f)
        return
    write = pytorch_writing.write if kind == "torch" else manifest.write
    with replacing(f) as stream:
        write(obj, stream)


def _kind(f: Any) -> str:
    if hasattr(f, "write"):
        return "tensorlab"
    return _ENDINGS.get(os.path.splitext(os.fspath(f))[1].lower(), "tensorlab")


def load(f: Any, map_location: Any = None, *, weights_only: bool = True, mmap: bool | None = None) -> Any:
    """What ``save`` wrote, or PyTorch (``.pt``, ``.pth``), or a safetensors file. What kind of file it is, is seen from its content.

    No code that a file names is ever run, whatever ``weights_only`` says: what is not a tensor, a number, a text or a plain container
    is refused by name (``pickle.UnpicklingError``). ``map_location`` says where tensors go: a device, a dictionary from saved devices
    to others, or a function ``(storage, location)``; left out, where they were. ``mmap=True`` reads from the file only what is
    used; a write then changes memory and not the file. Files that are cut off, damaged or dangerous raise ``RuntimeError`` saying
    what is wrong, an empty one ``EOFError``.
    """
    if not hasattr(f, "read") and not isinstance(f, (str, os.PathLike)):
        raise AttributeError(
            f"expected 'f' to be string, path, or a file-like object with a 'read' attribute, not {f!r:.40}"
        )
    source = Source(f, bool(mmap))
    try:
        return _read(source, Places(map_location))
    except RecursionError:
        raise RuntimeError(f"{source.name} is refused: its containers are nested too deeply") from None
    finally:
        source.close()


def _read(source: Source, places: Places) -> Any:
    head = source.bytes_at(0, 16)
    if not head:
        raise EOFError(f"{source.name} is empty: nothing was saved there, or the program that saved was interrupted")
    if head[:4] == b"PK\x03\x04" or head[:4] == b"PK\x05\x06":
        archive = Archive(source)
        if manifest.MANIFEST in archive.entries:
            return manifest.read(archive, places)
        if any(pytorch.is_pickle(name) for name in archive.entries):
            return pytorch.read(archive, places)
        names = ", ".join(list(archive.entries)[:5]) or "nothing"
        hint = " It looks like NumPy's own: numpy.load() reads it." if names.endswith(".npy") else ""
        raise RuntimeError(f"{source.name} is an archive of something else: it holds {names}.{hint}")
    if head[8:9] == b"{" or (len(head) < 9 and head[0] != 0x80):
        return safetensors.read(source, places)
    if head[:1] == b"\x80":
        return pytorch.read_old(source, places)
    raise RuntimeError(f"{source.name} is no file of tensors: it begins with {head[:8]!r}")
