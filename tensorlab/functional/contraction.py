"""Sums of products written with subscripts, as products of batches of matrices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from string import ascii_letters
from typing import Any

from tensorlab import dispatch
from tensorlab.functional.arguments import list_of_tensors, need_tensor
from tensorlab.functional.pointwise import mul
from tensorlab.functional.products import bmm, mm
from tensorlab.functional.reductions import sum
from tensorlab.functional.shapes import diagonal, expand, permute, reshape
from tensorlab.layout import wrap_dims

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    sum bmm inner
"""
#: Functions that are not found at ``tensorlab.<name>``.
ELSEWHERE = """
    in_best_order
"""
Labels = list[Any]  # a letter, or the number of a dimension that "..." stands for, counted from the right


def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Sum of products: dimensions that share a letter meet, and letters missing after ``->`` are summed over.

    Without ``->`` the result has, in alphabetical order, the letters that appear once. ``...`` stands for any further dimensions,
    which broadcast. Raises ``RuntimeError`` where sizes or subscripts do not fit.

    >>> import tensorlab as tl
    >>> tl.einsum("ij,jk->ik", tl.ones(2, 3), tl.ones(3, 4)).shape
    tensorlab.Size([2, 4])
    """
    if isinstance(equation, dispatch.Tensor):
        equation, operands = _spelled(equation, *operands)
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    if not isinstance(equation, str):
        raise TypeError(f"einsum(): the equation must be text such as 'ij,jk->ik', not {type(equation).__name__}")
    given, wanted = _read(equation, operands)
    parts = [_once(x, labels) for x, labels in zip(operands, given, strict=True)]
    sizes = _sizes(parts)
    unknown = [label for label in wanted if label not in sizes]
    if unknown:
        raise RuntimeError(
            f"einsum(): output subscript {unknown[0]} does not appear in the equation for any input operand"
        )
    if len(set(wanted)) < len(wanted):
        raise RuntimeError(f"einsum(): an output subscript appears multiple times in {equation!r}")
    x, labels = _contracted(parts, set(wanted), sizes)
    x, labels = _summed(x, labels, set(wanted))
    if len(operands) > 1 and labels == wanted:
        return x
    return permute(x, [labels.index(label) for label in wanted])


def _spelled(*mixed: Any) -> tuple[str, tuple[Tensor, ...]]:
    """The other form, ``einsum(x, [0, 1], y, [1, 2], [0, 2])``, as an equation and operands."""
    pairs = [(mixed[i], mixed[i + 1]) for i in range(0, len(mixed) - 1, 2)]
    terms = [_letters(numbers) for _, numbers in pairs]
    right = f"->{_letters(mixed[-1])}" if len(mixed) % 2 else ""
    return ",".join(terms) + right, tuple([x for x, _ in pairs])


def _letters(numbers: Any) -> str:
    """Subscripts given as numbers: 0 to 25 are the capital letters, 26 to 51 the small ones."""
    for n in numbers:
        if n is not Ellipsis and not 0 <= n < 52:
            raise ValueError(f"einsum(): subscript {n} in subscript list is not within the valid range [0, 52)")
    return "".join(["..." if n is Ellipsis else ascii_letters[(n + 26) % 52] for n in numbers])


def _read(equation: str, operands: tuple[Tensor, ...]) -> tuple[list[Labels], Labels]:
    """The labels of every operand's dimensions, and those of the result."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        kind = "fewer" if len(terms) > len(operands) else "more"
        raise RuntimeError(
            f"einsum(): {kind} operands were provided than specified in the equation: {len(operands)} for {equation!r}"
        )
    given = []
    for position, (term, x) in enumerate(zip(terms, operands, strict=True)):
        need_tensor("einsum", "operands", position + 2, x)
        given.append(_labels(term, x._a.ndim, f"operand {position}"))
    dots = sorted({label for labels in given for label in labels if isinstance(label, int)})
    if arrow:
        count = len(dots) if "..." in right else 0
        return given, _labels(right, len(right.replace("...", "")) + count, "the output")
    letters = [label for labels in given for label in labels if isinstance(label, str)]
    return given, dots + sorted(letter for letter in set(letters) if letters.count(letter) == 1)


def _labels(term: str, ndim: int, whose: str) -> Labels:
    before, dots, after = term.partition("...")
    for letter in before + after:
        if not letter.isalpha():
            raise RuntimeError(
                f"einsum(): invalid subscript given at {whose}: {letter!r}, subscripts must be in [a-zA-Z]"
            )
    extra = ndim - len(before) - len(after)
    if extra < 0 or (extra and not dots):
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({len(before) + len(after)}) does not match the number of "
            f"dimensions ({ndim}) for {whose}" + ("" if dots else " and no ellipsis was given")
        )
    return [*before, *range(-extra, 0), *after]


def _once(x: Tensor, labels: Labels) -> tuple[Tensor, Labels]:
    """An operand with every label once: a repeated one reads a diagonal."""
    labels = list(labels)
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            if x._a.shape[first] != x._a.shape[second]:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated, but the sizes don't match, {x._a.shape[first]} != {x._a.shape[second]}"
                )
            x = diagonal(x, 0, first, second)
            labels = [*labels[:first], *labels[first + 1 : second], *labels[second + 1 :], label]
    return x, labels


def _sizes(parts: list[tuple[Tensor, Labels]]) -> dict[Any, int]:
    sizes: dict[Any, int] = {}
    for position, (x, labels) in enumerate(parts):
        for label, size in zip(labels, x._a.shape, strict=True):
            known = sizes.get(label, 1)
            if known != 1 and size not in (1, known):
                raise RuntimeError(
                    f"einsum(): subscript {label} has size {size} for operand {position} which does not broadcast with "
                    f"previously seen size {known}"
                )
            sizes[label] = known if size == 1 else size
    return sizes


def _summed(x: Tensor, labels: Labels, keep: set[Any]) -> tuple[Tensor, Labels]:
    """Sum over the labels that nobody needs any more."""
    gone = tuple([d for d, label in enumerate(labels) if label not in keep])
    return (sum(x, gone), [label for label in labels if label in keep]) if gone else (x, labels)


def _contracted(parts: list[tuple[Tensor, Labels]], wanted: set[Any], sizes: dict[Any, int]) -> tuple[Tensor, Labels]:
    """All operands met, two at a time: each time the two whose product takes the fewest multiplications, the earliest of several."""
    while len(parts) > 1:
        pairs = itertools.combinations(range(len(parts)), 2)
        i, j = min(pairs, key=lambda pair: _work({*parts[pair[0]][1], *parts[pair[1]][1]}, sizes))
        rest = [part for number, part in enumerate(parts) if number not in (i, j)]
        needed = wanted.union(*[labels for _, labels in rest])
        rest.insert(i, _meet(parts[i], parts[j], needed, sizes))
        parts = rest
    return parts[0]


def _work(labels: set[Any], sizes: dict[Any, int]) -> int:
    return math.prod([sizes[label] for label in labels])


def _meet(
    one: tuple[Tensor, Labels], two: tuple[Tensor, Labels], needed: set[Any], sizes: dict[Any, int]
) -> tuple[Tensor, Labels]:
    """The product of two operands, summed over what both have and nobody needs later."""
    (x, mine), (y, theirs) = one, two
    x, mine = _summed(x, mine, needed | set(theirs))
    y, theirs = _summed(y, theirs, needed | set(mine))
    batch = [label for label in mine if label in theirs and label in needed]
    inner = [label for label in mine if label in theirs and label not in needed]
    rows = [label for label in mine if label not in theirs]
    columns = [label for label in theirs if label not in mine]
    stacked = [batch] if batch else []
    left = _matrices(x, mine, [*stacked, rows, inner], sizes)
    right = _matrices(y, theirs, [*stacked, inner, columns], sizes)
    order = batch + rows + columns
    return _shaped(bmm(left, right) if batch else mm(left, right), tuple([sizes[label] for label in order])), order


def _matrices(x: Tensor, labels: Labels, groups: list[Labels], sizes: dict[Any, int]) -> Tensor:
    """An operand as a matrix or a batch of them: each group of labels made one dimension, sizes of 1 stretched."""
    order = [label for group in groups for label in group]
    if labels != order:
        x = permute(x, [labels.index(label) for label in order])
    shape = tuple([sizes[label] for label in order])
    if x._a.shape != shape:
        x = expand(x, shape)
    return _shaped(x, tuple([math.prod([sizes[label] for label in group]) for group in groups]))


def _shaped(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    return x if x._a.shape == shape else reshape(x, shape)


def inner(input: Tensor, other: Tensor) -> Tensor:
    """Sum of products over the last dimension of both; with a 0-dim tensor, the product.

    >>> import tensorlab as tl
    >>> tl.inner(tl.tensor([1, 2, 3]), tl.tensor([0, 2, 1]))
    tensor(7)
    """
    need_tensor("inner", "other", 2, other)
    a, b = input._a.shape, other._a.shape
    if not a or not b:
        return mul(input, other)
    if a[-1] != b[-1]:
        raise RuntimeError(
            f"inner() the last dimension must match on both input tensors but got shapes {list(a)} and {list(b)}"
        )
    return tensordot(input, other, ([-1], [-1]))


def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Sum of products over pairs of dimensions: ``dims`` of the last of ``a`` with the first of ``b``, or two lists that pair them.

    A dimension of size 1 meets one of any size. Raises ``RuntimeError`` for sizes or lists that do not fit.

    >>> import tensorlab as tl
    >>> tl.tensordot(tl.ones(2, 3, 4), tl.ones(4, 3, 5), dims=([1, 2], [1, 0])).shape
    tensorlab.Size([2, 5])
    """
    need_tensor("tensordot", "a", 1, a)
    need_tensor("tensordot", "b", 2, b)
    left, right = _pairs(a, b, dims)
    mine: Labels = list(range(a._a.ndim))
    theirs: Labels = list(range(-1, -b._a.ndim - 1, -1))
    for d, e in zip(left, right, strict=True):
        m, n = a._a.shape[d], b._a.shape[e]
        if m != n and 1 not in (m, n):
            raise RuntimeError(
                f"tensordot(): contracted dimensions need to match, but first has size {m} in dim {d} and second has size {n} in dim {e}"
            )
        theirs[e] = mine[d]
    kept = [label for label in (*mine, *theirs) if (label in mine) != (label in theirs)]
    x, labels = _contracted([(a, mine), (b, theirs)], set(kept), _sizes([(a, mine), (b, theirs)]))
    return permute(x, [labels.index(label) for label in kept])


def _pairs(a: Tensor, b: Tensor, dims: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Which dimensions meet, of each of the two."""
    if isinstance(dims, dispatch.Tensor):
        dims = dims.tolist()
    if isinstance(dims, (tuple, list)):
        left, right = ([d] if isinstance(d, int) else list(d) for d in dims)
        if len(left) != len(right):
            raise RuntimeError(f"tensordot(): both dimension lists should have same length, got {left} and {right}")
        return wrap_dims(left, a._a.ndim, "tensordot"), wrap_dims(right, b._a.ndim, "tensordot")
    if dims < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
    if dims > min(a._a.ndim, b._a.ndim):
        raise RuntimeError(
            f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims} for {a._a.ndim}D and {b._a.ndim}D tensors"
        )
    return tuple(range(a._a.ndim - dims, a._a.ndim)), tuple(range(dims))


def chain_matmul(*matrices: Tensor) -> Tensor:
    """Product of several matrices, in the order that takes the fewest multiplications. ``linalg.multi_dot`` is the newer name."""
    for position, x in enumerate(matrices, 1):
        need_tensor("chain_matmul", "matrices", position, x)
        if x._a.ndim != 2:
            raise RuntimeError(f"chain_matmul(): Tensor dimension is {x._a.ndim}, expected 2 instead.")
    return in_best_order(list_of_tensors("chain_matmul", matrices))


def in_best_order(matrices: Sequence[Tensor]) -> Tensor:
    """Product of matrices, in the order that takes the fewest multiplications (found by dynamic programming)."""
    n = len(matrices)
    p = [matrices[0]._a.shape[0], *[x._a.shape[1] for x in matrices]]
    best = {(i, i): (0, i) for i in range(n)}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            best[i, j] = min((best[i, k][0] + best[k + 1, j][0] + p[i] * p[k + 1] * p[j + 1], k) for k in range(i, j))

    def product(i: int, j: int) -> Tensor:
        if i == j:
            return matrices[i]
        k = best[i, j][1]
        return mm(product(i, k), product(k + 1, j))

    return product(0, n - 1)
