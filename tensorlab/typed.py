"""``FloatTensor``, ``LongTensor`` and their like: older names that say the element type.

They make tensors, answer ``isinstance``, and name a type for ``Tensor.type``. New code writes ``tensor(data, dtype=...)``.

>>> import tensorlab as tl
>>> tl.FloatTensor([1, 2])
tensor([1., 2.])
>>> isinstance(tl.ones(2), tl.FloatTensor), isinstance(tl.ones(2), tl.LongTensor)
(True, False)
"""

from __future__ import annotations

from typing import Any

from tensorlab import creation, defaults, dtypes
from tensorlab.conversion import LEGACY
from tensorlab.size import Size
from tensorlab.tensor import Tensor


class _Typed(type):
    """The class of those names: calling one makes a plain ``Tensor``, and a tensor of its type is its instance."""

    dtype: dtypes.dtype
    where = "cpu"

    def __call__(cls, *args: Any, device: Any = None) -> Any:
        device = cls.where if device is None else device
        name, given = cls.__name__, args[0] if len(args) == 1 else None
        if isinstance(given, Tensor):
            if given.dtype is not cls.dtype:
                kinds = f"{cls.dtype.name}, got one of {given.dtype.name}"
                raise TypeError(
                    f"{name}(): expected a tensor of {kinds}; convert it with .to(tensorlab.{cls.dtype.name})"
                )
            return given.view_as(given)
        if isinstance(given, (float, complex)):
            raise TypeError(f"{name}(): data must be a sequence (got {type(given).__name__})")
        if given is None or isinstance(given, (int, Size)):
            return creation.empty(*(args or (0,)), dtype=cls.dtype, device=device)
        return creation.tensor(given, dtype=cls.dtype, device=device)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype and instance.device.type == cls.where


def _typed(name: str, word: str) -> _Typed:
    doc = f"Tensors of {name} in host memory: from a sequence, or of given sizes and not filled."
    place = {"dtype": getattr(dtypes, "bool_" if name == "bool" else name), "__doc__": doc, "__module__": __name__}
    return _Typed(f"{word}Tensor", (), place)


def on_gpu(kind: _Typed) -> _Typed:
    """The name for tensors on a GPU of one for tensors in host memory."""
    doc = f"Tensors of {kind.dtype.name} on a GPU: from a sequence, or of given sizes and not filled."
    place = {"dtype": kind.dtype, "where": "cuda", "__doc__": doc, "__module__": "tensorlab.cuda"}
    return _Typed(kind.__name__, (), place)


def set_default_tensor_type(t: Any) -> None:
    """Make the type and the place of ``t``, ``FloatTensor`` or its name, those of new tensors.

    Written today as ``set_default_dtype`` and ``set_default_device``. Raises ``TypeError`` for what names no floating-point type.

    >>> import tensorlab as tl
    >>> tl.set_default_tensor_type("torch.FloatTensor")
    """
    kind = globals().get(t.rpartition(".")[2]) if isinstance(t, str) else t
    if not isinstance(kind, _Typed) or not kind.dtype.is_floating_point:
        raise TypeError(
            f"set_default_tensor_type(): only floating-point types are supported as the default type, such as 'torch.FloatTensor', "
            f"got {t!r}. set_default_dtype and set_default_device say type and place of new tensors."
        )
    defaults.set_default_device("cuda" if isinstance(t, str) and ".cuda." in t else kind.where)
    dtypes.set_default_dtype(kind.dtype)


#: The names themselves.
NAMES: list[str] = []
for _name, _word in LEGACY.items():
    if not _word.startswith("Complex"):
        globals()[f"{_word}Tensor"] = _typed(_name, _word)
        NAMES += [f"{_word}Tensor"]
__all__ = ["set_default_tensor_type", *NAMES]
