"""Two sequences side by side: which entry of the one is which entry of the other."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def longest_common(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Pairs (position in ``one``, position in ``other``) of a longest common subsequence, ascending in both.

    The bit-parallel algorithm of Hyyrö (2004): one row of the table is one whole number, so 4,000 against 4,000 entries are 4,000
    additions of numbers of 4,000 bits.
    """
    begin = 0
    while begin < min(len(one), len(other)) and one[begin] == other[begin]:
        begin += 1
    end = 0
    while end < min(len(one), len(other)) - begin and one[-1 - end] == other[-1 - end]:
        end += 1
    pairs = [(at, at) for at in range(begin)]
    middle = _common(one[begin : len(one) - end], other[begin : len(other) - end])
    pairs += [(begin + i, begin + j) for i, j in middle]
    return pairs + [(len(one) - at, len(other) - at) for at in range(end, 0, -1)]


def _common(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[tuple[int, int]]:
    places: dict[Hashable, int] = {}
    for i, entry in enumerate(one):
        places[entry] = places.get(entry, 0) | 1 << i
    ones = (1 << len(one)) - 1
    row, rows = ones, []
    for entry in other:
        hits = row & places.get(entry, 0)
        row = ((row + hits) | (row - hits)) & ones
        rows.append(row)
    pairs: list[tuple[int, int]] = []
    i, j = len(one), len(other)
    while i and j:
        if rows[j - 1] >> (i - 1) & 1:
            i -= 1
            continue
        j -= 1
        if not j or rows[j - 1] >> (i - 1) & 1:
            i -= 1
            pairs.append((i, j))
    return pairs[::-1]


def aligned(keys: Sequence[Sequence[Hashable]], others: Sequence[Sequence[Hashable]]) -> list[tuple[int, int]]:
    """Pairs by the strictest keys first, then, between those, by looser ones. ``keys[k]`` are the keys of level ``k``."""
    pairs = longest_common(keys[0], others[0])
    if len(keys) == 1:
        return pairs
    found: list[tuple[int, int]] = []
    i = j = 0
    for p, q in [*pairs, (len(keys[0]), len(others[0]))]:
        if i < p and j < q:
            between = aligned([level[i:p] for level in keys[1:]], [level[j:q] for level in others[1:]])
            found += [(i + a, j + b) for a, b in between]
        if p < len(keys[0]):
            found.append((p, q))
        i, j = p + 1, q + 1
    return found
