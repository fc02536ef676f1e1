"""What a call would do to a tensor: a view, a copy of so many bytes, or nothing because it cannot be.

The usual calls are judged by the rules that the engine itself uses. A call that a person types is read as text, never run as code: one
operation with numbers for arguments. Views are then made for real, which costs and touches nothing; copies are only reckoned.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tensorlab import dtypes, layout
from tensorlab.dispatch import storage_of
from tensorlab.layout import Blocked, Layout
from tensorlab.modes import no_grad
from tensorlab.observe.broadcast import meeting
from tensorlab.observe.protocol import Refused
from tensorlab.observe.reading import first_elements
from tensorlab.observe.schema import Broadcast, Tried, Verdict
from tensorlab.tensor import Tensor
from tensorlab.viewing import layout_of

VIEWS = frozenset(
    "view t transpose permute expand unfold as_strided squeeze unsqueeze narrow select diagonal movedim moveaxis swapaxes swapdims "
    "unflatten view_as_real view_as_complex detach adjoint".split()
)
ATTRIBUTES = frozenset("T mT H mH real imag".split())
COPIES = frozenset("reshape flatten ravel contiguous clone repeat flip roll".split())
#: Elements of a copy whose place is told, and how long a call may be.
ORDER, LONGEST = 24, 200
#: Of larger tensors an index by lists is not tried, since NumPy has to make what it would give.
LARGE = 1 << 22

# ------------------------------------------------------------------------------------------------- the usual calls


def verdicts(at: Layout, itemsize: int) -> Iterator[Verdict]:
    """What the usual calls would do with a tensor that lies like this."""
    shape, n = tuple(at.shape), len(at.shape)
    count = math.prod(shape)
    yield viewed(f"view({count})", at, (count,), itemsize, copies=False)
    yield viewed(f"reshape({count})", at, (count,), itemsize, copies=True)
    yield contiguous(at, itemsize)
    if n == 2:
        yield as_view("t()", layout.transpose(at, 0, 1))
    elif n > 2:
        yield as_view("transpose(-2, -1)", layout.transpose(at, n - 2, n - 1))
        order = tuple(reversed(range(n)))
        yield as_view(f"permute{order}", layout.permute(at, order))
    yield as_view("unsqueeze(0)", layout.unsqueeze(at, 0))
    if 1 in shape:
        yield as_view("squeeze()", layout.squeeze(at, None))
    yield as_view(f"expand{(2, *shape)}", layout.expand(at, (2, *shape)))
    if n and shape[0] > 1:
        yield as_view("[::2]", layout.slice_(at, 0, 0, shape[0], 2))
        yield as_view("unfold(0, 2, 1)", layout.unfold(at, 0, 2, 1))
    if n > 1:
        rest = (shape[0] * shape[1], *shape[2:])
        yield viewed("flatten(0, 1)", at, rest, itemsize, copies=True)
    yield cloned(at, itemsize)


def as_view(call: str, after: Layout) -> Verdict:
    """A view, whatever the data."""
    return Verdict(call, "view", 0, tuple(after.shape), tuple(after.strides), "", (), ())


def copied(
    call: str,
    at: Layout,
    shape: Sequence[int],
    itemsize: int,
    why: str,
    dims: tuple[int, ...] = (),
    in_order: bool = True,
) -> Verdict:
    """A copy into new memory, row by row; ``in_order`` if it takes the elements in the order of their indexes."""
    count, shape = math.prod(shape), tuple(shape)
    order = tuple(first_elements(at, min(ORDER, count)).tolist()) if in_order else ()
    return Verdict(call, "copy", count * itemsize, shape, layout.contiguous_strides(shape), why, dims, order)


def cannot(call: str, why: str, dims: tuple[int, ...] = ()) -> Verdict:
    """An error."""
    return Verdict(call, "cannot", 0, (), (), why, dims, ())


def viewed(call: str, at: Layout, shape: Sequence[int], itemsize: int, copies: bool) -> Verdict:
    """The same elements under another shape: a view, or if dimensions forbid it a copy or an error."""
    found = layout.view(at, shape)
    if isinstance(found, Blocked):
        d = found.dim
        why = f"dimensions {d} | {d + 1}: stride {found.stride} is not {found.needed}"
        return copied(call, at, shape, itemsize, why, (d, d + 1)) if copies else cannot(call, why, (d, d + 1))
    return as_view(call, found)


def contiguous(at: Layout, itemsize: int, call: str = "contiguous()") -> Verdict:
    """Row by row, copied only where it is not."""
    if layout.is_contiguous(at.shape, at.strides):
        return Verdict(call, "view", 0, tuple(at.shape), tuple(at.strides), "it is already: the same tensor", (), ())
    return copied(call, at, at.shape, itemsize, "row by row")


def cloned(at: Layout, itemsize: int, call: str = "clone()") -> Verdict:
    """A copy that keeps the strides where the elements fill their stretch of memory."""
    strides, step = tuple(at.strides), 1
    for stride, size in sorted((s, n) for s, n in zip(at.strides, at.shape, strict=True) if n != 1):
        if stride != step:
            strides = layout.contiguous_strides(at.shape)
            break
        step *= size
    kept = "keeps the order of dimensions" if strides == tuple(at.strides) else "row by row"
    return Verdict(call, "copy", math.prod(at.shape) * itemsize, tuple(at.shape), strides, kept, (), ())


# ------------------------------------------------------------------------------------------------- a call that is typed


def tried(x: Any, text: str, title: str, names: Mapping[str, Any]) -> Tried:
    """What a call that was typed would do to ``x``: ``view(3, 4)``, ``t().reshape(12)``, ``[:, 1]``, ``+ b`` or ``* (4, 1)``.

    Raises ``Refused`` for what is no such call.
    """
    text = text.strip()
    if not text or len(text) > LONGEST:
        raise Refused("type a call, such as view(3, 4), permute(1, 0), [:, ::2] or + other")
    if text[0] in "+-*/" and not text.startswith("->"):
        return Tried(None, _operation(x, text, title, names))
    if title and re.match(rf"{re.escape(title)}\s*[.\[]", text):
        text = text[len(title) :].strip()
    source = f"it{text if text[0] in '.[' else '.' + text}"
    try:
        tree = ast.parse(source, mode="eval").body
    except SyntaxError:
        raise Refused(f"{text!r} is no call: try view(3, 4), permute(1, 0), [:, ::2] or + other") from None
    with no_grad():
        verdict, _ = _judged(x.detach(), tree, text.removeprefix("."))
    return Tried(verdict, None)


def _operation(x: Any, text: str, title: str, names: Mapping[str, Any]) -> Broadcast:
    """``x`` and another side, which is a name or a shape, in one operation."""
    other = text[1:].strip()
    sides: list[tuple[str, tuple[int, ...], Any]] = [(title or "it", tuple(x.shape), x._a)]
    if other in names and isinstance(names[other], Tensor):
        sides.append((other, tuple(names[other].shape), names[other]._a))
        return meeting(sides)
    try:
        shape = ast.literal_eval(other)
    except (ValueError, SyntaxError):
        raise Refused(f"{other!r} is neither a tensor that has a name here nor a shape such as (4, 1)") from None
    if isinstance(shape, int):
        shape = (shape,)
    if not isinstance(shape, (tuple, list)) or not all(type(n) is int and n >= 0 for n in shape):
        raise Refused(f"{other} is no shape: write sizes, such as (4, 1)")
    return meeting([*sides, ("the other", tuple(shape), None)])


def _judged(x: Any, tree: ast.expr, text: str) -> tuple[Verdict, Any]:
    """The verdict on the outermost call of a chain, and the tensor that it gives if that is a view; those inside must be views."""
    inner = (
        tree.func.value
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute)
        else getattr(tree, "value", None)
    )
    if not isinstance(tree, (ast.Call, ast.Attribute, ast.Subscript)) or not isinstance(inner, ast.expr):
        raise Refused(f"{text!r} is no call on a tensor: try view(3, 4), permute(1, 0), [:, ::2] or + other")
    if not isinstance(inner, ast.Name):
        before, x = _judged(x, inner, text)
        if before.kind != "view":
            problem = "copies: look at it alone first" if before.kind == "copy" else f"cannot: {before.why}"
            raise Refused(f"the call before the last {problem}")
    if isinstance(tree, ast.Subscript):
        return _indexed(x, _constant(tree.slice), text)
    if isinstance(tree, ast.Attribute):
        if tree.attr not in ATTRIBUTES:
            raise Refused(
                f"{tree.attr} needs brackets: {tree.attr}()" if tree.attr in VIEWS | COPIES else _unknown(tree.attr)
            )
        return _tested(text, x, lambda: getattr(x, tree.attr))
    arguments, options = [_constant(a) for a in tree.args], {k.arg or "": _constant(k.value) for k in tree.keywords}
    assert isinstance(tree.func, ast.Attribute)
    return _called(x, tree.func.attr, arguments, options, text)


def _unknown(name: str) -> str:
    return f"{name} is no call about how a tensor lies. Known are {', '.join(sorted(VIEWS | COPIES))} and indexing"


def _constant(tree: ast.expr) -> Any:
    """A number, a slice, or some of them; a type by its name. Raises ``Refused`` for anything that would have to be run."""
    if isinstance(tree, ast.Slice):
        return slice(*(None if part is None else _constant(part) for part in (tree.lower, tree.upper, tree.step)))
    if isinstance(tree, ast.Tuple):
        return tuple(map(_constant, tree.elts))
    if isinstance(tree, ast.List):
        return [_constant(item) for item in tree.elts]
    name = tree.attr if isinstance(tree, ast.Attribute) else tree.id if isinstance(tree, ast.Name) else ""
    if isinstance(found := getattr(dtypes, name or " ", None), dtypes.dtype):
        return found
    try:
        value = ast.literal_eval(tree)
    except ValueError:
        raise Refused(f"arguments are numbers here: {ast.unparse(tree)!r} is none") from None
    if value is None or value is Ellipsis or isinstance(value, (int, bool)):
        return value
    raise Refused(f"arguments are whole numbers here: {value!r} is none")


def _tested(text: str, x: Any, make: Any) -> tuple[Verdict, Any]:
    """A view, made for real; an error becomes the verdict, with the dimension it is about."""
    try:
        made = make()
    except (RuntimeError, IndexError, ValueError, TypeError) as error:
        why = str(error).splitlines()[0]
        named = re.search(r"dimension (\d+)", why) if "expand" in text else None
        at = int(named[1]) - max(0, _sizes(text) - x.dim()) if named else -1
        return cannot(text, why, (at,) if 0 <= at < x.dim() else ()), None
    if not isinstance(made, Tensor) or made.numel() and storage_of(made) is not storage_of(x):
        raise Refused(f"{text} gives something else than a view of this tensor")
    return as_view(text, layout_of(made)), made


def _sizes(text: str) -> int:
    return text.rsplit("(", 1)[-1].count(",") + 1


def _called(x: Any, name: str, args: list[Any], options: dict[str, Any], text: str) -> tuple[Verdict, Any]:
    at, itemsize = layout_of(x), x._a.dtype.itemsize
    if name in ("view", "reshape", "flatten", "ravel") and not any(isinstance(a, dtypes.dtype) for a in args):
        try:
            shape = _reshaped(x, name, args, options)
        except (RuntimeError, IndexError, TypeError) as error:
            return cannot(text, str(error).splitlines()[0]), None
        verdict = viewed(text, at, shape, itemsize, copies=name != "view")
        if name == "ravel" and verdict.stride != (1,):
            verdict = copied(text, at, shape, itemsize, "ravel gives a row in one piece")
        return verdict, x.view(shape) if verdict.kind == "view" else None
    if name == "contiguous":
        verdict = contiguous(at, itemsize, text)
        return verdict, x if verdict.kind == "view" else None
    if name == "clone":
        return cloned(at, itemsize, text), None
    if name in ("flip", "roll", "repeat"):
        try:
            shape = _repeated(x, args) if name == "repeat" else tuple(x.shape)
        except RuntimeError as error:
            return cannot(text, str(error)), None
        return copied(text, at, shape, itemsize, "always into new memory", in_order=False), None
    if name not in VIEWS:
        raise Refused(f"{name} needs no brackets" if name in ATTRIBUTES else _unknown(name))
    return _tested(text, x, lambda: getattr(x, name)(*args, **options))


def _reshaped(x: Any, name: str, args: list[Any], options: dict[str, Any]) -> tuple[int, ...]:
    """The shape that a call asks for."""
    if name in ("view", "reshape"):
        given = args or [value for key, value in options.items() if key in ("shape", "size")]
        sizes = given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
        return layout.infer_size(tuple(sizes), x.numel())
    if name == "ravel" or not x.dim():
        return (x.numel(),)
    first, last = (*args, 0, -1)[:2] if not args else (*args, -1)[:2]
    start = layout.wrap_dim(options.get("start_dim", first), x.dim(), "flatten")
    stop = layout.wrap_dim(options.get("end_dim", last), x.dim(), "flatten")
    if start > stop:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    return (*x.shape[:start], math.prod(x.shape[start : stop + 1]), *x.shape[stop + 1 :])


def _repeated(x: Any, args: list[Any]) -> tuple[int, ...]:
    times = tuple(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else tuple(args)
    if len(times) < x.dim():
        raise RuntimeError(f"repeat needs a number for each of {x.dim()} dimensions, not {len(times)}")
    shape = (1,) * (len(times) - x.dim()) + tuple(x.shape)
    return tuple(n * k for n, k in zip(shape, times, strict=True))


def _indexed(x: Any, index: Any, text: str) -> tuple[Verdict, Any]:
    parts = index if isinstance(index, tuple) else (index,)
    if not any(isinstance(part, (list, bool)) for part in parts):
        return _tested(text, x, lambda: x[index])
    if x.numel() > LARGE:
        raise Refused("an index by lists copies; of so large a tensor how much is not tried")
    try:
        shape = np.broadcast_to(np.empty((), bool), tuple(x.shape))[index].shape
    except IndexError as error:
        return cannot(text, str(error)), None
    return copied(
        text, layout_of(x), shape, x._a.dtype.itemsize, "an index by lists or masks always copies", in_order=False
    ), None
