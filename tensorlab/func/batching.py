"""``vmap``: a function of one example, for a whole batch."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

from tensorlab import functional, random
from tensorlab.func.trees import flatten, spread
from tensorlab.tensor import Tensor

Function = Callable[..., Any]


def vmap(
    func: Function,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Function:
    """A function that runs ``func`` for every entry of a dimension of its arguments and stacks what it returns.

    ``in_dims`` says which dimension of each argument (``None``: the same value for every entry), ``out_dims`` where the new dimension
    of each result goes; both have the structure of the arguments or results, or less. ``func`` runs once an entry, so that it may
    decide by values, and everything stays in the graph. ``randomness`` says what draws do: ``"error"``, ``"different"`` or ``"same"``
    for every entry. ``chunk_size`` is accepted; entries never meet in memory.

    >>> import tensorlab as tl
    >>> tl.func.vmap(tl.dot)(tl.tensor([[1., 2.], [3., 4.]]), tl.tensor([[1., 1.], [2., 2.]]))
    tensor([ 3., 14.])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    name = getattr(func, "__name__", repr(func))

    @wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        leaves, back, dims = _batched(args, in_dims, name)
        by_name, back_by_name = flatten(kwargs)
        named_dims = [0 if isinstance(x, Tensor) else None for x in by_name]
        count = _size([*leaves, *by_name], [*dims, *named_dims], name)
        results, draws = [], _Draws(randomness)
        for i in range(count):
            with draws.entry(i):
                results.append(func(*back(_entry(leaves, dims, i)), **back_by_name(_entry(by_name, named_dims, i))))
        return _collected(results, out_dims, name)

    return wrapped


def _entry(leaves: Sequence[Any], dims: Sequence[Any], i: int) -> list[Any]:
    return [x if d is None else x.select(d, i) for x, d in zip(leaves, dims, strict=True)]


def _batched(args: tuple[Any, ...], in_dims: Any, name: str) -> tuple[list[Any], Function, list[Any]]:
    """The leaves of the arguments, how to put others in their places, and which dimension of each is the batch."""
    if not isinstance(in_dims, (int, tuple, list)) and in_dims is not None:
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) tuple matching the "
            f"structure of inputs, got: {type(in_dims).__name__}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function with no "
            "inputs. The latter is unsupported."
        )
    leaves, back = flatten(args)
    given = tuple(in_dims) if isinstance(in_dims, list) else in_dims
    dims = spread(given, args, f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)")
    for i, (x, d) in enumerate(zip(leaves, dims, strict=True)):
        if d is None:
            continue
        if not isinstance(d, int) or isinstance(d, bool):
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={d!r} for an input but in_dim must be either an integer "
                "dimension or None."
            )
        if not isinstance(x, Tensor):
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={d} for an input but the input is of type "
                f"{type(x).__name__}. We cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
            )
        if not -x.dim() <= d < x.dim():
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={d} for some input, but that input is a Tensor of "
                f"dimensionality {x.dim()} so expected in_dim to satisfy -{x.dim()} <= in_dim < {x.dim()}."
            )
        dims[i] = d % x.dim()
    return leaves, back, dims


def _size(leaves: Sequence[Any], dims: Sequence[Any], name: str) -> int:
    sizes = [x.size(d) for x, d in zip(leaves, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError(f"vmap({name})(<inputs>): at least one input needs a dimension to map over, got None for all")
    if len(set(sizes)) > 1:
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped dimension"
        )
    if sizes[0] == 0:
        raise ValueError(
            f"vmap({name})(<inputs>): the mapped dimension is empty, so there is no entry to learn the shape of results from"
        )
    return sizes[0]


class _Draws:
    """What the random numbers of the entries are: refused, drawn on, or for each of them those of the first."""

    def __init__(self, randomness: str) -> None:
        self.randomness = randomness
        self.first = random.get_rng_state()
        self.before = pickle.dumps(self.first)

    @contextmanager
    def entry(self, i: int) -> Iterator[None]:
        if self.randomness == "same" and i:
            random.set_rng_state(self.first)
        yield
        if self.randomness == "error" and pickle.dumps(random.get_rng_state()) != self.before:
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness "
                "flags on vmap or perform the randomness operation out of vmap"
            )


def _collected(results: list[Any], out_dims: Any, name: str) -> Any:
    """Results of all entries, stacked leaf by leaf."""
    flat = [flatten(result) for result in results]
    _, back = flat[0]
    columns = [leaves for leaves, _ in flat]
    if len({len(leaves) for leaves in columns}) > 1:
        raise RuntimeError(f"vmap({name}): the function returned structures of different sizes for different entries")
    given = tuple(out_dims) if isinstance(out_dims, list) else out_dims
    dims = spread(given, results[0], f"vmap({name}, ..., out_dims={out_dims})")
    out = []
    for parts, d in zip(zip(*columns, strict=True), dims, strict=True):
        if not all(isinstance(part, Tensor) for part in parts):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(parts[0]).__name__}. Did you mean to set "
                "out_dims= to None for output?"
            )
        out.append(parts[0] if d is None else _stack(parts, d, name))
    return back(out)


def _stack(parts: Sequence[Tensor], d: Any, name: str) -> Tensor:
    if not isinstance(d, int) or isinstance(d, bool):
        raise ValueError(f"vmap({name}, ...): out_dims must be ints or None, got {d!r}")
    if len({tuple(part.shape) for part in parts}) > 1:
        raise RuntimeError(
            f"vmap({name}): the function returned tensors of different shapes for different entries, which cannot be stacked: "
            f"{[list(part.shape) for part in parts[:4]]}"
        )
    return functional.stack(parts, d)
