"""New tensors: ``out=``, layouts of one's own, logarithmic steps, indices of triangles."""

from __future__ import annotations

import numpy as np
import pytest

import tensorlab as tl


def test_out_gets_the_result_in_its_own_type() -> None:
    out = tl.empty(3, dtype=tl.float64)
    assert tl.arange(3, out=out) is out
    assert out.tolist() == [0, 1, 2]
    assert tl.zeros(3, out=out).tolist() == [0, 0, 0]
    permuted = tl.empty(0, dtype=tl.int64)
    assert sorted(tl.randperm(4, out=permuted).tolist()) == [0, 1, 2, 3]


def test_strided_is_the_only_layout() -> None:
    x = tl.zeros(2, layout=tl.strided, pin_memory=False)
    assert x.layout is tl.strided
    with pytest.raises(RuntimeError, match="layout"):
        tl.zeros(2, layout="sparse")


def test_elementwise_functions_take_out_too() -> None:
    out = tl.empty(2)
    assert tl.exp(tl.zeros(2), out=out) is out
    assert out.tolist() == [1, 1]
    tl.atan2(tl.zeros(2), tl.ones(2), out=out)
    assert out.tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="automatic differentiation"):
        tl.exp(tl.zeros(2, requires_grad=True), out=out)


def test_empty_tensors_of_any_strides() -> None:
    x = tl.empty_strided((2, 3), (1, 2), dtype=tl.int32)
    assert (x.stride(), x.dtype, tuple(x.shape)) == ((1, 2), tl.int32, (2, 3))
    x.fill_(7)
    assert x.sum().item() == 42
    assert x.new_empty_strided((2,), (3,)).stride() == (3,)
    assert tl.empty_strided((), ()).dim() == 0
    assert tl.empty_permuted((2, 3, 4), (0, 2, 1)).stride() == (12, 1, 3)
    for wrong in (lambda: tl.empty_strided((2,), (1, 1)), lambda: tl.empty_strided((2,), (-1,))):
        with pytest.raises(RuntimeError, match="stride"):
            wrong()
    with pytest.raises(RuntimeError, match="Duplicate"):
        tl.empty_permuted((2, 3), (0, 0))


def test_logspace_is_a_power_of_linspace() -> None:
    np.testing.assert_allclose(tl.logspace(-1, 3, 9, base=2, dtype=tl.float64).numpy(), np.logspace(-1, 3, 9, base=2))
    assert tl.logspace(0, 3, 4, base=-2).tolist() == [1, -2, 4, -8]
    assert tl.logspace(0, 2, 3, dtype=tl.int64).tolist() == [1, 10, 100]
    with pytest.raises(RuntimeError, match="logspace"):
        tl.logspace(0, 1, -1)


@pytest.mark.parametrize(
    ("rows", "columns", "offset"), [(3, 4, 0), (3, 4, -1), (4, 2, 1), (0, 2, 0), (2, 2, 5), (2, 2, -5)]
)
def test_indices_of_triangles_are_numpys(rows: int, columns: int, offset: int) -> None:
    np.testing.assert_array_equal(
        tl.tril_indices(rows, columns, offset).numpy(), np.tril_indices(rows, offset, columns)
    )
    np.testing.assert_array_equal(
        tl.triu_indices(rows, columns, offset).numpy(), np.triu_indices(rows, offset, columns)
    )


def test_range_includes_its_end() -> None:
    assert tl.range(1, 3).tolist() == [1, 2, 3]
    assert tl.range(0, 1, 0.5).dtype is tl.float32
