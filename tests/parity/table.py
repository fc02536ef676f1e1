"""Writes docs/parity.md: for each operation of PyTorch's own table, how many of its sample calls give the same here.

``PARITY_SAMPLES=all python -m tests.parity.table`` tries every sample call; it takes about ten minutes on two cores.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from tests.parity import oracle
from tests.parity import test_ops as ops

PAGE = Path(__file__).parents[2] / "docs" / "parity.md"
HEAD = """# How near to PyTorch

PyTorch has a table of its operations, with sample calls of each in every element type, by which it tests itself. This page counts, for
the operations of that table that are here, for how many of those calls value, type and shape, gradients, and strides are those of
PyTorch {version} on the CPU. The tolerances are PyTorch's own (float64 1e-7, float32 2e-5). What differs on purpose is in
[differences.md](differences.md). `python -m tests.parity.table` writes this page; `tests/parity` holds these comparisons, and many
more, as tests.

{total}

| operation | calls | value, type, shape | gradients | strides | why not all |
|---|---|---|---|---|---|
"""


def counted(index: int) -> Counter[str]:
    """How often the sample calls of one operation agree with PyTorch's, in each respect."""
    warnings.simplefilter("ignore")
    op, found = ops.have()[index], Counter()
    for dtype in ops.DTYPES:
        if dtype not in op.supported_dtypes("cpu") or (op.name, dtype) in ops.NO_RESULT:
            continue
        differentiable = dtype in ops.DIFFERENTIABLE and dtype in op.supported_backward_dtypes("cpu")
        for sample in ops.samples(op, dtype, requires_grad=differentiable):
            found["calls"] += 1
            said = said_of(op, sample)
            found["value"] += not any(line.startswith(("value", "type", "shape", "error")) for line in said)
            found["strides"] += not any(line.startswith("strides") for line in said)
            if differentiable:
                found["differentiable"] += 1
                found["gradients"] += not any("gradient" in line or "require grad" in line for line in said)
    return found


def said_of(op: Any, sample: Any) -> list[str]:
    try:
        said = ops.compare(op, sample, strides=True)
        return said if any(line.startswith("value") for line in said) else [*said, *ops.compare(op, sample)]
    except Exception as error:  # one call that fails is one call that differs
        return [f"error {error}"]


def reason(op: Any) -> str:
    if {op.name, ops.label(op)} & ops.ROUNDED_ONCE:
        return "PyTorch rounds float16 and bfloat16 after every term, here once"
    if op.name in ops.ORDERED:
        return "which of equal elements comes first is nobody's promise"
    return ""


def share(part: int, whole: int) -> str:
    return "-" if not whole else "all" if part == whole else f"{part} ({100 * part / whole:.1f} %)"


def main() -> None:
    operations = ops.have()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        counts = list(pool.map(counted, range(len(operations)), chunksize=1))
    total: Counter[str] = sum(counts, Counter())
    rows = []
    for op, n in sorted(zip(operations, counts, strict=True), key=lambda pair: ops.label(pair[0])):
        cells = (
            share(n["value"], n["calls"]),
            share(n["gradients"], n["differentiable"]),
            share(n["strides"], n["calls"]),
        )
        why = reason(op) if n["value"] < n["calls"] or n["gradients"] < n["differentiable"] else ""
        rows.append(f"| `{ops.label(op)}` | {n['calls']} | {' | '.join(cells)} | {why} |")
    left = [f"| `{' '.join(name).strip()}` | {why} |" for name, why in sorted(ops.LEFT_OUT.items())]
    said = (
        f"{len(rows)} operations, {total['calls']:,} calls: value, type and shape {share(total['value'], total['calls'])}, "
        f"gradients {share(total['gradients'], total['differentiable'])} of {total['differentiable']:,}, "
        f"strides {share(total['strides'], total['calls'])}."
    )
    page = HEAD.format(version=oracle.torch.__version__.partition("+")[0], total=said) + "\n".join(rows)
    page += "\n\n## Compared in tests of their own\n\n| operation | because |\n|---|---|\n" + "\n".join(left) + "\n"
    PAGE.write_text(page)
    print(said)


if __name__ == "__main__":
    main()
