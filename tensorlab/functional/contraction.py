"""Sums of products written with subscripts, as products of batches of matrices."""

from __future__ import annotations

from string import ascii_letters
from typing import Any

from tensorlab import dispatch
from tensorlab.functional.arguments import need_tensor
from tensorlab.functional.products import bmm
from tensorlab.functional.reductions import sum
from tensorlab.functional.shapes import diagonal, expand, permute, reshape, unsqueeze

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    sum bmm
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
    x, labels = parts[0]
    for number, (y, others) in enumerate(parts[1:], 2):
        later = [label for _, more in parts[number:] for label in more]
        x, labels = _meet((x, labels), (y, others), {*wanted, *later}, sizes)
    x, labels = _summed(x, labels, set(wanted))
    return permute(x, [labels.index(label) for label in wanted])


def _spelled(*mixed: Any) -> tuple[str, tuple[Tensor, ...]]:
    """The other form, ``einsum(x, [0, 1], y, [1, 2], [0, 2])``, as an equation and operands."""
    pairs = [(mixed[i], mixed[i + 1]) for i in range(0, len(mixed) - 1, 2)]
    terms = [_letters(numbers) for _, numbers in pairs]
    right = f"->{_letters(mixed[-1])}" if len(mixed) % 2 else ""
    return ",".join(terms) + right, tuple([x for x, _ in pairs])


def _letters(numbers: Any) -> str:
    """Subscripts given as numbers: 0 to 25 are the capital letters, 26 to 51 the small ones."""
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
    left = _matrices(x, mine, (batch, rows, inner), sizes)
    right = _matrices(y, theirs, (batch, inner, columns), sizes)
    order = batch + rows + columns
    return reshape(bmm(left, right), [sizes[label] for label in order]), order


def _matrices(x: Tensor, labels: Labels, groups: tuple[Labels, Labels, Labels], sizes: dict[Any, int]) -> Tensor:
    """An operand as a batch of matrices: each group of labels made one dimension, sizes of 1 stretched."""
    order = [label for group in groups for label in group]
    x = permute(x, [labels.index(label) for label in order])
    x = expand(x if order else unsqueeze(x, 0), [sizes[label] for label in order] or [1])
    shape = []
    for group in groups:
        size = 1
        for label in group:
            size *= sizes[label]
        shape.append(size)
    return reshape(x, shape)
