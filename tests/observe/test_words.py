"""Numbers for people."""

from __future__ import annotations

import math

from tensorlab.observe.words import bytes_text, count_text, number_text, shape_text


def test_sizes_use_binary_units():
    assert [bytes_text(n) for n in (5, 2048, 5 * 2**20, 3 * 2**40)] == ["5 B", "2.0 KiB", "5.0 MiB", "3072.0 GiB"]


def test_numbers_are_short():
    assert [number_text(n) for n in (0.0841, 8.41e-5, 1234.5, 0.0)] == ["0.084", "8.4e-05", "1.23e+03", "0"]
    assert [number_text(n) for n in (math.nan, math.inf)] == ["NaN", "infinite"]


def test_counts_carry_their_noun():
    assert [count_text(1, "node"), count_text(1200, "node"), count_text(2, "leaf", "leaves")] == [
        "1 node",
        "1,200 nodes",
        "2 leaves",
    ]


def test_shapes_print_as_lists():
    assert [shape_text(()), shape_text((64, 16))] == ["[]", "[64, 16]"]
