"""How a tensor prints: pure formatting of arrays, with the layout and the rules of PyTorch's ``repr``.

Nothing here knows a tensor. The functions take an array (NumPy's, or a device array that slices like one), cut it
down on its device to the elements that are shown, copy those few to the host and write them. So printing a tensor of
a billion elements costs the same as printing its corners.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from tensorlab import dtypes
from tensorlab.backend import to_host


@dataclass
class PrintOptions:
    """How many digits and elements are shown. See :func:`set_printoptions`."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


OPTIONS = PrintOptions()

_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print. What is ``None`` stays as it is, except ``sci_mode``, where ``None`` means "decide each
    time".

    ``precision`` is the number of digits after the point (4), ``threshold`` the number of elements above which a
    tensor is summarised (1000), ``edgeitems`` the elements kept at each end of a dimension then (3), ``linewidth``
    the characters of a line (80), ``profile`` one of ``"default"``, ``"short"``, ``"full"``. Raises ``ValueError``
    for another profile.
    """
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(f"set_printoptions(profile={profile!r}): choose one of {', '.join(map(repr, _PROFILES))}")
        for name, value in _PROFILES[profile].items():
            setattr(OPTIONS, name, value)
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in given.items():
        if value is not None:
            setattr(OPTIONS, name, value)
    OPTIONS.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The options in force, as keyword arguments for :func:`set_printoptions`."""
    return asdict(OPTIONS)


@contextlib.contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Print with other options inside a ``with`` block; takes what :func:`set_printoptions` takes."""
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


def tensor_repr(tensor: Any) -> str:
    """The ``repr`` of a tensor. A subclass shows its own name; a parameter counts as a tensor, as in PyTorch."""
    kind = type(tensor)
    ours = kind.__module__.startswith("tensorlab.") and kind.__name__ in ("Tensor", "Parameter")
    try:
        node = tensor.grad_fn
        made_by = node.name() if node is not None else None
    except RuntimeError:
        # A view that lost its place in the graph still prints its values.
        made_by = "Invalid"
    return array_repr(
        tensor._a,
        dtype=repr(tensor.dtype),
        default_dtype=repr(dtypes.default.float),
        device=str(tensor.device),
        grad_fn=made_by,
        requires_grad=tensor.requires_grad if made_by is None else True,
        prefix="tensor(" if ours else f"{kind.__name__}(",
    )


def array_repr(
    array: Any,
    *,
    dtype: str,
    default_dtype: str = "tensorlab.float32",
    device: str = "cpu",
    grad_fn: str | None = None,
    requires_grad: bool = False,
    prefix: str = "tensor(",
) -> str:
    """The ``repr`` of a tensor over ``array``: values, then whatever cannot be guessed from them.

    ``dtype`` and ``default_dtype`` are the names as they print (``"tensorlab.float32"``); ``grad_fn`` is the name of
    the node that made the tensor. ``prefix`` is ``"tensor("`` or the name of a subclass with its bracket.
    """
    notes = []
    if device != "cpu":
        notes.append(f"device='{device}'")
    empty = math.prod(array.shape) == 0
    if (empty and len(array.shape) != 1) or (not empty and not OPTIONS.edgeitems):
        notes.append(f"size={tuple(array.shape)}")
    if dtype != default_dtype and (empty or not _guessable(dtype, default_dtype)):
        notes.append(f"dtype={dtype}")
    if grad_fn is not None:
        notes.append(f"grad_fn=<{grad_fn}>")
    elif requires_grad:
        notes.append("requires_grad=True")
    return _with_notes(prefix + format_values(array, len(prefix)), notes, len(prefix))


def format_values(array: Any, indent: int = 0, options: PrintOptions | None = None) -> str:
    """The nested brackets of an array, its later lines moved right by ``indent``; summarised past ``threshold``
    elements.

    ``options`` are those of :func:`set_printoptions` unless others are given.
    """
    options = options or OPTIONS
    count = math.prod(array.shape)
    if count == 0:
        return "[]"
    summarise = count > options.threshold
    if summarise and not options.edgeitems:
        return "[...]"
    values = _host(_corners(array, options.edgeitems) if summarise else array)
    cut = tuple(summarise and size > 2 * options.edgeitems for size in array.shape)
    width, write = _writer(values, options)
    return _Block(width, write, cut, options).text(values.tolist(), values.ndim, indent)


def _guessable(dtype: str, default_dtype: str) -> bool:
    """Whether a reader knows the dtype from the values alone: integers, booleans, and complex of the default size."""
    kind = dtype.rpartition(".")[2]
    complex_default = "complex128" if default_dtype.endswith("float64") else "complex64"
    return kind in ("int64", "bool", complex_default)


def _corners(array: Any, edge: int) -> Any:
    """The elements that a summary shows, gathered in one pick on the array's own device."""
    dims = len(array.shape)
    picks = []
    for axis, size in enumerate(array.shape):
        kept = [*range(edge), *range(size - edge, size)] if size > 2 * edge else range(size)
        picks.append(np.array(kept).reshape([-1 if other == axis else 1 for other in range(dims)]).tolist())
    return array[tuple(picks)]


def _host(array: Any) -> np.ndarray:
    """A NumPy array with values that Python can format; narrow floats of other packages widen to float32."""
    values = to_host(array)
    return values.astype(np.float32) if values.dtype.kind == "V" else values


Writer = Callable[[Any], str]


def _writer(values: np.ndarray, options: PrintOptions) -> tuple[int, Writer]:
    """The width that a value takes and the function that writes one value of ``values`` in it."""
    if values.dtype.kind != "c":
        return _real_writer(values, options)
    real_width, real = _real_writer(values.real, options)
    imag_width, imag = _real_writer(values.imag, options)

    def write(value: complex) -> str:
        imaginary = (imag(value.imag) + "j").lstrip()
        sign = "" if imaginary[0] in "+-" else "+"
        return real(value.real) + sign + imaginary

    return real_width + imag_width + 1, write


def _real_writer(values: np.ndarray, options: PrintOptions) -> tuple[int, Writer]:
    flat = values.reshape(-1)
    if values.dtype.kind != "f":
        width = max([1, *(len(str(value)) for value in flat.tolist())])
        return width, lambda value: str(value).rjust(width)
    numbers = flat[np.isfinite(flat) & (flat != 0)]
    if not numbers.size:
        return 1, _whole
    whole = bool((numbers == np.ceil(numbers)).all())
    scientific = options.sci_mode if options.sci_mode is not None else _needs_exponent(numbers)
    write: Writer
    if whole and not scientific:
        write = _whole
    else:
        write = partial(_spelled, spec=f".{options.precision}{'e' if scientific else 'f'}")
    width = max([1, *(len(write(value)) for value in numbers.tolist())])
    return width, lambda value: write(value).rjust(width)


def _spelled(value: float, spec: str) -> str:
    return format(value, spec)


def _whole(value: float) -> str:
    """A float without a fraction, with the point that says it is one."""
    return format(value, ".0f") + ("." if math.isfinite(value) else "")


def _needs_exponent(numbers: np.ndarray) -> bool:
    sizes = np.abs(numbers).astype(np.float64)
    low, high = float(sizes.min()), float(sizes.max())
    return high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4


class _Block:
    """Writes nested lists as nested brackets; ``cut`` says in which dimensions the middle was left out."""

    def __init__(self, width: int, write: Writer, cut: tuple[bool, ...], options: PrintOptions) -> None:
        self.width = width
        self.write = write
        self.cut = cut
        self.options = options

    def text(self, values: Any, depth: int, indent: int) -> str:
        # Nesting is bounded by the number of dimensions, so this is the one place that may call itself.
        if depth == 0:
            return self.write(values)
        edge = self.options.edgeitems
        cut = self.cut[len(self.cut) - depth]
        if depth == 1:
            items = [self.write(value) for value in values]
            if cut:
                items[edge:edge] = [" ..."]
            per_line = max(1, (self.options.linewidth - indent) // (self.width + 2))
            lines = [", ".join(items[at : at + per_line]) for at in range(0, len(items), per_line)]
            return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
        rows = [self.text(row, depth - 1, indent + 1) for row in values]
        if cut:
            rows[edge:edge] = ["..."]
        return "[" + ("," + "\n" * (depth - 1) + " " * (indent + 1)).join(rows) + "]"


def _with_notes(text: str, notes: list[str], indent: int) -> str:
    """``text`` followed by its notes and the closing bracket, a note on a new line where it would pass the line's
    end."""
    # Lengths are counted as PyTorch counts them (the line break itself, one more, its own shorter dtype prefix), so
    # that lines break at the same notes and output can be compared with PyTorch's word by word.
    length = len(text) - text.rfind("\n") + 1
    for note in notes:
        size = len(note.replace("dtype=tensorlab.", "dtype=torch."))
        if length + size + 2 > OPTIONS.linewidth:
            text += ",\n" + " " * indent + note
            length = indent + size
        else:
            text += ", " + note
            length += size + 2
    return text + ")"
