"""The bits of one element, group by group, and what they say."""

from __future__ import annotations

import math

from tensorlab.observe.schema import Bits

#: Bits of the exponent and of the mantissa of the floating-point types.
FLOATS = {"float16": (5, 10), "bfloat16": (8, 7), "float32": (8, 23), "float64": (11, 52)}
HALVES = {"complex64": "float32", "complex128": "float64"}


def explained(dtype: str, memory: bytes) -> tuple[tuple[Bits, ...], str]:
    """Groups of bits of an element that lies in memory, lowest byte first, and the sum or product that they make.

    >>> explained("float32", bytes([0, 0, 192, 64]))[1]
    '+1.5 × 2^2 = 6'
    """
    if dtype in HALVES:
        half = len(memory) // 2
        real, imaginary = explained(HALVES[dtype], memory[:half]), explained(HALVES[dtype], memory[half:])
        parts = [
            Bits(f"{name} {b.part}", b.bits, b.says)
            for name, (bits, _) in (("real", real), ("imaginary", imaginary))
            for b in bits
        ]
        return tuple(parts), f"({real[1]}) + ({imaginary[1]})i"
    row = "".join(f"{byte:08b}" for byte in reversed(memory))
    if dtype in FLOATS:
        return _float(row, *FLOATS[dtype])
    if dtype == "bool":
        return (Bits("value", row, str(int(row, 2) != 0)),), "0 is False, 1 is True"
    return _integer(row, signed=dtype.startswith("int"))


def _float(row: str, exponent_bits: int, mantissa_bits: int) -> tuple[tuple[Bits, ...], str]:
    sign, exponent, mantissa = row[0], row[1 : 1 + exponent_bits], row[1 + exponent_bits :]
    bias, stored, part = (1 << (exponent_bits - 1)) - 1, int(exponent, 2), int(mantissa, 2) / (1 << mantissa_bits)
    mark = "−" if sign == "1" else "+"
    if stored == (1 << exponent_bits) - 1:
        kind = "NaN" if part else "infinity"
        meaning, power, lead = f"all ones: {kind}", "", "payload" if part else "all zeros"
        value = kind if part else f"{mark}infinity"
    elif stored == 0:
        power, lead = f"2^{1 - bias}", f"{part:.9g}" if part else "0"
        meaning = f"all zeros: {'subnormal, ' + power if part else 'zero'}"
        value = (
            f"{mark}{lead} × {power} = {math.copysign(part * 2.0 ** (1 - bias), -1 if mark == '−' else 1):.7g}"
            if part
            else f"{mark}0"
        )
    else:
        power, lead = f"2^{stored - bias}", f"{1 + part:.9g}"
        meaning = f"{stored} − {bias}: {power}"
        size = math.ldexp(1 + part, stored - bias)
        value = f"{mark}{lead} × {power} = {'−' if mark == '−' else ''}{size:.7g}"
    return (Bits("sign", sign, mark), Bits("exponent", exponent, meaning), Bits("mantissa", mantissa, lead)), value


def _integer(row: str, signed: bool) -> tuple[tuple[Bits, ...], str]:
    rest = int(row[1:], 2)
    if not signed:
        return (Bits("value", row, str(int(row, 2))),), str(int(row, 2))
    top = 1 << (len(row) - 1)
    parts = (Bits("sign", row[0], f"−{top:,}" if row[0] == "1" else "+"), Bits("value", row[1:], f"{rest:,}"))
    return parts, f"−{top:,} + {rest:,} = −{top - rest:,}" if row[0] == "1" else f"{rest:,}"
