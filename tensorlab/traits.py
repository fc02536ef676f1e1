"""What a tensor is asked about itself by name, and new tensors made after it."""

from __future__ import annotations

from typing import Any

from tensorlab import dispatch, ranges
from tensorlab.functional import plain
from tensorlab.functional.arguments import a_number
from tensorlab.functional.shapes import diagonal
from tensorlab.tensor import Tensor, as_subclass
from tensorlab.viewing import layout_of


class strided_layout:
    """How elements lie in memory: by strides, the only way there is."""

    def __repr__(self) -> str:
        return "tensorlab.strided"

    def __reduce__(self) -> str:
        return "strided"


strided = strided_layout()

#: Kinds of tensor that there are none of, by the question that asks for them.
_NEVER = """
    is_meta is_sparse is_sparse_csr is_quantized is_mkldnn is_mps is_xpu is_xla is_ipu is_maia is_mtia is_vulkan is_nested
""".split()
#: The same, where the question is a method.
_NEVER_SAID = "is_conj is_neg is_distributed is_shared".split()


def is_same_size(self: Any, other: Any) -> bool:
    """Whether both have the same shape."""
    if not isinstance(other, dispatch.Tensor):
        raise TypeError(f"is_same_size(): argument 'other' (position 1) must be Tensor, not {type(other).__name__}")
    return self._a.shape == other._a.shape


def is_nonzero(self: Any) -> bool:
    """Whether the one element is not 0. Raises ``RuntimeError`` for any other number of elements."""
    return bool(self)


def get_device(self: Any) -> int:
    """The number of the GPU, -1 for host memory."""
    index = self.device.index
    return -1 if self.device.type == "cpu" or index is None else index


def typename(obj: Any) -> str:
    """The name of a tensor's type, as ``Tensor.type()`` says it; of anything else the full name of its class, or its own.

    >>> import tensorlab as tl
    >>> tl.typename(tl.ones(1)), tl.typename(3)
    ('tensorlab.FloatTensor', 'int')
    """
    if isinstance(obj, dispatch.Tensor):
        return str(obj.type())
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(named, "__module__", None)
    return named.__qualname__ if module in (None, "builtins") else f"{module}.{named.__qualname__}"


def dim_order(self: Any) -> tuple[int, ...]:
    """The dimensions from the outermost to the innermost in memory."""
    strides = layout_of(self).strides
    return tuple(sorted(range(len(strides)), key=lambda d: -strides[d]))


def fill_diagonal_(self: Any, fill_value: Any, wrap: bool = False) -> Any:
    """Write one value on the main diagonal; ``wrap`` starts again below a tall matrix. Returns the tensor."""
    n, fill_value = self._a.ndim, a_number("fill_diagonal_", "fill_value", fill_value)
    if n < 2:
        raise RuntimeError(f"fill_diagonal_(): dimensions must larger than 1, got {n}")
    if n > 2 and len(set(self._a.shape)) > 1:
        raise RuntimeError(
            f"fill_diagonal_(): all dimensions of input must be of equal length, got {list(self._a.shape)}"
        )
    size, strides = min(self._a.shape), layout_of(self).strides
    step, count = sum(strides), size
    if wrap and n == 2 and self._a.shape[0] > self._a.shape[1]:
        rows, columns = self._a.shape
        for start in range(0, rows, columns + 1):
            diagonal(self[start : start + columns]).fill_(fill_value)
        return self
    self.as_strided((count,), (step,)).fill_(fill_value)
    return self


def nonzero_static(self: Any, *, size: int, fill_value: int = -1) -> Any:
    """``nonzero`` with a given number of rows: the first ones, or filled up with ``fill_value``."""
    if size < 0:
        raise RuntimeError(f"nonzero_static(): 'size' must be an non-negative integer, got {size}")
    found = plain["nonzero"](self)[:size]
    out = found.new_full((size, self._a.ndim), fill_value)
    out[: found._a.shape[0]] = found
    return out


def new(self: Any, *args: Any, device: Any = None) -> Any:
    """A tensor of this type: of sizes (not filled), or from data. An old name; see ``new_empty`` and ``new_tensor``."""
    if len(args) == 1 and not isinstance(args[0], int):
        return self.new_tensor(args[0], device=device)
    return self.new_empty(*args, device=device) if args else self.new_empty(0, device=device)


def new_empty_strided(
    self: Any, size: Any, stride: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Any:
    """An uninitialised tensor of that layout, of this tensor's type and on its device."""
    return ranges.empty_strided(
        size, stride, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad
    )


def share(self: Any, cls: Any) -> Any:
    """The tensor as one of another class over the same memory, and the same place in the graph."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(f"as_subclass(): argument 'cls' must be a subclass of Tensor, not {cls!r}")
    seen = self.view_as(self)
    out = as_subclass(seen, cls)
    out._edge, out._rg, out._live, out._view = seen._edge, seen._rg, seen._live, seen._view
    return out


def layout_(self: Any) -> strided_layout:
    """How elements lie in memory: by strides."""
    return strided


def array_namespace(self: Any, *, api_version: str | None = None) -> Any:
    """The functions of the Python array API over tensors, see ``tensorlab.array_api``. Raises ``ValueError`` for a later version."""
    from importlib import import_module

    found = import_module("tensorlab.array_api")
    if api_version is not None and (not isinstance(api_version, str) or api_version > found.__array_api_version__):
        raise ValueError(f"the array API is here in version {found.__array_api_version__}, not {api_version!r}")
    return found


def to_device(self: Any, device: Any, /, *, stream: Any = None) -> Any:
    """The tensor on a device, by the array API; ``to(device)`` in PyTorch's words."""
    return self.to(device)


def _never(self: Any) -> bool:
    """False: there are no such tensors."""
    return False


FORMS: dict[str, Any] = {
    **{form.__name__: form for form in (
        is_same_size, is_nonzero, get_device, dim_order, fill_diagonal_, nonzero_static, new, new_empty_strided,
    )},
    "as_subclass": share,
    "to_device": to_device,
    "__array_namespace__": array_namespace,
    "layout": property(layout_),
    "is_cpu": property(lambda self: not self.is_cuda, doc="Whether the elements are in host memory."),
    "name": property(lambda self: None, doc="No name: ``None``."),
    **{name: property(lambda self: False, doc="False: there are no such tensors.") for name in _NEVER},
    **dict.fromkeys(_NEVER_SAID, _never),
}  # fmt: skip
