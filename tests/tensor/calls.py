"""Random calls over the whole public surface, each made again from its number alone: good arguments, odd ones and wrong ones."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

DTYPES = "float32 float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64 complex128".split()
LIKELY = ["float32"] * 6 + ["float64"] * 3 + ["int64"] * 4 + ["bool"] * 2 + DTYPES
SHAPES: list[tuple[int, ...]] = [(), (0,), (1,), (4,), (3, 4), (4, 4), (2, 0, 3), (2, 3, 4), (0, 0), (1, 1), (4, 1)]
SHAPES += [
    (1, 2, 8, 8),
    (2, 3, 5, 5),
    (2, 3, 9),
    (1, 1, 4, 4, 4),
    (1, 2) * 5,
    (2,) * 10,
    (0,) + (1,) * 9,
    (5, 3),
    (3, 3),
]
HUGE = [2**31, 2**31 - 1, -(2**31), 2**40, 2**62, 2**63 - 1, -(2**63), 2**63, 2**64, -(2**64), 10**30]
FLOATS = [0.0, 1.0, -1.0, 0.5, 2.5, 1e-8, 1e30, -1e30, 1e308, float("nan"), float("inf"), float("-inf")]
WRONG: list[Any] = [None, "mean", "", "abc", [1.5, 2.5], [], {}, b"x", object, ..., 1j, True, (1, "a"), [None]]
MODES = (
    "none mean sum reflect constant replicate circular nearest bilinear linear area bicubic trunc floor fro nuc".split()
)
MODES += (
    "ij xy reduced complete r raw upper lower full same valid left right higher amax amin prod ortho forward".split()
)

#: Functions that change how the process works, talk to files or are made to wait; not calls on tensors.
APART = set(
    "manual_seed seed set_rng_state get_rng_state set_default_dtype set_printoptions save load set_grad_enabled enable_grad no_grad "
    "inference_mode printoptions device dtype Tensor Generator Size finfo iinfo memory_format set_num_threads set_default_device "
    "set_num_interop_threads set_flush_denormal set_deterministic_debug_mode use_deterministic_algorithms set_warn_always "
    "TypedStorage UntypedStorage make_dot why_inplace why_nan why_none why_shape explain_grad autocast set_float32_matmul_precision "
    "autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache set_autocast_cache_enabled set_autocast_dtype "
    "set_autocast_enabled set_default_tensor_type bool layout compile vmap".split()
)
OPERATORS = (
    "__add__ __radd__ __iadd__ __sub__ __rsub__ __mul__ __imul__ __truediv__ __rtruediv__ __itruediv__ __floordiv__ __rfloordiv__ "
    "__mod__ __pow__ __rpow__ __matmul__ __rmatmul__ __and__ __or__ __xor__ __lshift__ __rshift__ __neg__ __abs__ __invert__ "
    "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __getitem__ __getitem__ __getitem__ __setitem__ __setitem__ __setitem__ __len__ __bool__ "
    "__int__ __float__ __index__ __contains__ __iter__ __repr__ __reversed__ __iand__ __ior__ __ixor__ __ilshift__"
).split()


class Made(NamedTuple):
    """A tensor that is yet to be made, in the library that a call goes to."""

    shape: tuple[int, ...]
    dtype: str
    fill: str
    layout: str
    grad: bool
    seed: int


class Same(NamedTuple):
    """The tensor that another argument is, or a part of it that overlaps the rest."""

    shifted: bool


class Named(NamedTuple):
    """An attribute of the library, such as a dtype."""

    name: str


class Call(NamedTuple):
    """One call: where its function lives, and its arguments before they are made."""

    where: str
    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __str__(self) -> str:
        said = [*map(str, self.args), *(f"{name}={value}" for name, value in self.kwargs.items())]
        return f"{self.where}.{self.name}({', '.join(said)})"


def surface(tl: Any) -> list[tuple[str, str]]:
    """Every public function and method, as ``(where, name)``."""
    found = [("", n) for n in sorted(set(dir(tl))) if _public(tl, n)]
    found += [("Tensor", n) for n in sorted(set(dir(tl.Tensor))) if _public(tl.Tensor, n)]
    found += [("Tensor", n) for n in OPERATORS if hasattr(tl.Tensor, n)]
    for where in ("nn.functional", "linalg", "fft", "special"):
        home = reach(tl, where)
        found += [(where, n) for n in sorted(getattr(home, "__all__", dir(home))) if _public(home, n)]
    return found


def _public(home: Any, name: str) -> bool:
    value = getattr(home, name, None)
    return not name.startswith("_") and name not in APART and inspect.isroutine(value)


def reach(home: Any, path: str) -> Any:
    """What a dotted path leads to."""
    for part in path.split(".") if path else ():
        home = getattr(home, part)
    return home


# ------------------------------------------------------------------------------------------------------------ drawing


class Draw:
    """Draws the arguments of one call."""

    def __init__(self, seed: str) -> None:
        self.r = random.Random(seed)
        self.shape = self.r.choice(SHAPES)
        self.dtype = self.r.choice(LIKELY)

    def tensor(self, dtype: str | None = None, fill: str | None = None) -> Made:
        """A tensor, more often than not of the shape and type of its neighbours."""
        r = self.r
        shape = self.shape if r.random() < 0.7 else r.choice(SHAPES)
        dtype = dtype or (self.dtype if r.random() < 0.7 else r.choice(DTYPES))
        fill = fill or r.choice(["plain"] * 5 + ["odd", "huge", "small"])
        layout = r.choice(["plain"] * 4 + ["turned", "strided", "expanded", "offset", "flat"])
        return Made(shape, dtype, fill, layout, r.random() < 0.15, r.randrange(1000))

    def whole(self) -> int:
        """An integer: small, negative or huge."""
        if self.r.random() < 0.2:
            return self.r.choice(HUGE)
        return self.r.choice([0, 1, 2, 3, -1, -2, 1, 2, 5, -7, 11, 100])

    def wholes(self) -> list[int]:
        """A few integers."""
        return [self.whole() for _ in range(self.r.choice([0, 1, 1, 2, 2, 3, 4, 10]))]

    def number(self) -> Any:
        """A number of any kind."""
        return self.r.choice([self.whole(), self.r.choice(FLOATS), self.r.choice(FLOATS), True, 1.5j])

    def anything(self) -> Any:
        """A value of any kind, wrong ones among them."""
        kinds: list[Callable[[], Any]] = [self.tensor, self.whole, self.wholes, self.number]
        kinds += [lambda: self.r.choice(WRONG), lambda: [self.tensor(), self.tensor()]]
        return self.r.choice(kinds)()

    def subscript(self) -> Any:
        """What may stand in brackets after a tensor."""
        r = self.r

        def part() -> Any:
            return r.choice(
                [
                    self.whole(),
                    slice(
                        r.choice([None, self.whole()]), r.choice([None, self.whole()]), r.choice([None, 1, 2, 0, -1])
                    ),
                    None,
                    ...,
                    True,
                    self.tensor("int64", "small"),
                    self.tensor("bool"),
                    self.wholes(),
                    self.anything(),
                ]
            )

        return part() if r.random() < 0.5 else tuple(part() for _ in range(r.randrange(1, 5)))

    def argument(self, name: str) -> Any:
        """A value for a parameter of this name."""
        if self.r.random() < 0.12:
            return self.anything()
        known = _BY_NAME.get(name)
        return known(self) if known else self.tensor()


def _either(*choices: Callable[[Draw], Any]) -> Callable[[Draw], Any]:
    return lambda d: d.r.choice(choices)(d)


def _kinds() -> Iterator[tuple[str, Callable[[Draw], Any]]]:
    def whole(d: Draw) -> Any:
        return d.whole()

    def wholes(d: Draw) -> Any:
        return d.wholes()

    def number(d: Draw) -> Any:
        return d.number()

    def flag(d: Draw) -> Any:
        return d.r.random() < 0.5

    def word(d: Draw) -> Any:
        return d.r.choice(MODES)

    def tensor(d: Draw) -> Any:
        return d.tensor()

    def small(d: Draw) -> Any:
        return d.r.choice([0, 1, 2, 3, -1])

    families: list[tuple[str, Callable[[Draw], Any]]] = [
        ("dim dim0 dim1 dim2 axis axis0 axis1 axis2 start_dim end_dim dimension", _either(small, small, whole)),
        ("n k q m diagonal offset decimals deg num_classes N M groups niter steps low high base num_samples", whole),
        ("sections chunks split_size upscale_factor downscale_factor bins minlength step start end length", whole),
        (
            "kernel_size stride padding dilation output_size size sizes shape dims shifts repeats n_fft",
            _either(small, whole, wholes),
        ),
        ("pad s normalized_shape indices_or_sections split_size_or_sections dim_order times stride repeat", wholes),
        ("p alpha beta eps value scalar weight_decay min max lambd threshold negative_slope rtol atol", number),
        (
            "lower upper margin momentum delta fill_value nan posinf neginf prob std rcond tol ord",
            _either(number, tensor),
        ),
        ("keepdim upper descending stable largest sorted inplace training unbiased bidirectional ceil_mode", flag),
        ("equal_nan align_corners log_target full hermitian left unitriangular right return_inverse batch_first", flag),
        ("reduction mode padding_mode rounding_mode indexing norm driver approximate reduce side", word),
        ("dtype", lambda d: Named(d.r.choice(DTYPES))),
        ("mask condition", lambda d: d.tensor("bool")),
        ("index indices target repeats boundaries", lambda d: d.tensor("int64", "small")),
        ("tensors", lambda d: [d.tensor() for _ in range(d.r.randrange(4))]),
        ("key", lambda d: d.subscript()),
        ("other exponent weight", _either(tensor, tensor, tensor, number)),
        (
            "equation",
            lambda d: d.r.choice(["ij,jk->ik", "i->", "...i,...i->...", "ii", "ij", "->", "i j", "ij,jk->il"]),
        ),
        ("device", lambda d: d.r.choice(["cpu", "cpu", None, "tpu", 3])),
        ("correction", _either(small, number)),
    ]
    for names, kind in families:
        for name in names.split():
            yield name, kind


_BY_NAME = dict(_kinds())


def draw(places: list[tuple[str, str]], tl: Any, seed: int) -> Call:
    """The call of a number: the same in every run."""
    where, name = places[seed % len(places)]
    d = Draw(f"{where}.{name} {seed}")
    function = getattr(reach(tl, where), name)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    if where == "Tensor":
        args.append(d.tensor())
        parameters = parameters[1:]
    if name in ("__getitem__", "__setitem__"):
        return Call(
            where, name, (args[0], d.subscript(), *([d.argument("other")] if name == "__setitem__" else [])), {}
        )
    for p in parameters:
        optional = p.default is not p.empty
        if p.kind == p.VAR_POSITIONAL:
            args += [d.argument(p.name) for _ in range(d.r.randrange(4))]
        elif p.kind == p.VAR_KEYWORD or (optional and d.r.random() < 0.55):
            continue
        elif p.kind == p.KEYWORD_ONLY or len(kwargs):
            kwargs[p.name] = d.argument(p.name)
        elif optional and d.r.random() < 0.5:
            kwargs[p.name] = d.argument(p.name)
        else:
            args.append(d.argument(p.name))
    if d.r.random() < 0.04 and args:
        args.pop()
    if d.r.random() < 0.02:
        args.append(d.anything())
    if d.r.random() < 0.15 and where != "Tensor":
        kwargs["out"] = d.r.choice([d.tensor(), d.tensor(), Same(False), Same(True), (d.tensor(), d.tensor()), None, 3])
    elif name.endswith("_") and len(args) > 1 and d.r.random() < 0.2:
        args[-1] = Same(d.r.random() < 0.5)
    return Call(where, name, tuple(args), kwargs)


# ------------------------------------------------------------------------------------------------------------- making


def make(lib: Any, spec: Any, first: Any = None) -> Any:
    """The value of an argument: tensors are made, containers are filled, the rest stands for itself."""
    if isinstance(spec, Made):
        return _tensor(lib, spec)
    if isinstance(spec, Named):
        return getattr(lib, spec.name)
    if isinstance(spec, Same):
        if not isinstance(first, lib.Tensor):
            return first
        return first[1:] if spec.shifted and first.dim() and first.shape[0] > 1 else first
    if isinstance(spec, slice):
        return slice(*(make(lib, part, first) for part in (spec.start, spec.stop, spec.step)))
    if type(spec) in (list, tuple):
        return type(spec)([make(lib, item, first) for item in spec])
    return spec


def _values(spec: Made, count: int) -> list[Any]:
    r = random.Random(spec.seed)
    kind = spec.dtype
    if kind == "bool":
        return [r.random() < 0.5 for _ in range(count)]
    if spec.fill == "small":
        return [r.randrange(0, 3) for _ in range(count)]
    if "int" in kind:
        bits = int(kind.lstrip("uint"))
        low, high = (0, 2**bits - 1) if kind[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        if spec.fill in ("huge", "odd"):
            return [r.choice([low, high, low + 1, 0, 1]) for _ in range(count)]
        return [r.randrange(max(low, -4), 5) for _ in range(count)]
    if spec.fill == "odd":
        return [r.choice([float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1.0]) for _ in range(count)]
    if spec.fill == "huge":
        top = 6e4 if kind == "float16" else 3e38
        return [r.choice([top, -top, 1e-30, 0.0]) for _ in range(count)]
    return [r.uniform(-2, 2) for _ in range(count)]


def _tensor(lib: Any, spec: Made) -> Any:
    shape, dtype = spec.shape, getattr(lib, spec.dtype)
    count = 1
    for side in shape:
        count *= side
    base = lib.tensor(_values(spec, count), dtype=dtype).reshape(shape)
    if spec.layout == "turned" and len(shape) > 1:
        base = base.transpose(0, -1).contiguous().transpose(0, -1)
    elif spec.layout == "strided" and shape:
        base = lib.stack([base, base], len(shape)).select(len(shape), 1)
    elif spec.layout == "expanded" and shape and shape[0] > 0:
        base = base[:1].expand(shape)
    elif spec.layout == "offset" and shape:
        base = lib.cat([base, base], 0)[shape[0] :]
    if spec.grad and (spec.dtype.startswith(("float", "bfloat", "complex"))):
        base = base.detach().requires_grad_()
        if spec.seed % 2:
            base = base * 1
    return base


def tensors_in(lib: Any, value: Any) -> Iterator[Any]:
    """The tensors among arguments or results."""
    if isinstance(value, lib.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(lib, item)
    elif isinstance(value, dict):
        yield from tensors_in(lib, list(value.values()))
