"""Whether a layout can be seen under another shape: our pure function against PyTorch's ``view``, on layouts of every kind."""

from __future__ import annotations

import random

from tensorlab import layout
from tests.parity import oracle

torch = oracle.torch


def a_layout(chance: random.Random) -> layout.Layout:
    """A shape with strides: those of a contiguous tensor, permuted, stepped over, expanded, with gaps, or at random."""
    shape = [chance.choice([0, 1, 1, 2, 2, 3, 4, 6]) for _ in range(chance.randint(0, 5))]
    if chance.random() < 0.7:
        shape = [n or 1 for n in shape]
    strides = list(layout.contiguous_strides(shape))
    kind = chance.choice(["plain", "permuted", "stepped", "expanded", "gaps", "random", "mixed"])
    if kind in ("permuted", "mixed"):
        order = chance.sample(range(len(shape)), len(shape))
        shape, strides = [shape[d] for d in order], [strides[d] for d in order]
    if kind in ("stepped", "mixed"):
        strides = [s * chance.choice([1, 1, 2]) for s in strides]
    if kind in ("expanded", "mixed"):
        strides = [0 if chance.random() < 0.3 else s for s in strides]
    if kind == "gaps":
        extra = [n + chance.choice([0, 0, 1]) for n in shape]
        strides = list(layout.contiguous_strides(extra))
    if kind == "random":
        strides = [chance.choice([0, 1, 2, 3, 4, 6, 12, 24]) for _ in shape]
    return layout.Layout(tuple(shape), tuple(strides))


def a_shape(chance: random.Random, count: int) -> list[int]:
    """A shape that holds so many elements."""
    if count == 0:
        shape = [chance.choice([0, 1, 2, 3]) for _ in range(chance.randint(1, 4))]
        shape[chance.randrange(len(shape))] = 0
        return shape
    shape, left = [], count
    while left > 1:
        part = chance.choice([n for n in range(1, left + 1) if left % n == 0])
        shape.append(part)
        left //= part
    for _ in range(chance.choice([0, 0, 1, 2])):
        shape.insert(chance.randint(0, len(shape)), 1)
    return shape


def test_ten_thousand_layouts_can_be_seen_under_another_shape_exactly_where_pytorch_finds_it() -> None:
    chance = random.Random(5)
    memory = torch.zeros(20_000)
    possible = 0
    for _ in range(10_000):
        at = a_layout(chance)
        wanted = a_shape(chance, torch.Size(at.shape).numel())
        found = layout.view(at, wanted)
        try:
            expected = memory.as_strided(at.shape, at.strides).view(wanted)
        except RuntimeError:
            assert isinstance(found, layout.Blocked), (at, wanted, found)
            assert 0 <= found.dim < len(at.shape), (at, wanted, found)
            continue
        assert isinstance(found, layout.Layout), (at, wanted, found)
        assert (found.shape, found.strides) == (tuple(expected.shape), expected.stride()), (at, wanted)
        possible += 1
    assert 3_000 < possible < 9_000
