"""What arrays and tensors print, byte for byte as PyTorch prints them under every option."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tensorlab.printing import array_repr, set_printoptions


def show(array, **facts) -> str:
    array = np.asarray(array)
    return array_repr(array, dtype=f"tensorlab.{array.dtype.name}", **facts)


@pytest.fixture(autouse=True)
def default_options():
    yield
    set_printoptions(profile="default")


RNG = np.random.default_rng(0)
SPECIAL = np.float32([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.0])
ARRAYS = {
    "scalar": np.float32(3.14159),
    "negative zero": np.float32(-0.0),
    "nan scalar": np.float32(np.nan),
    "inf scalar": np.float32(-np.inf),
    "int scalar": np.int64(-7),
    "bool scalar": np.bool_(True),
    "complex scalar": np.complex64(1 - 2j),
    "vector": RNG.standard_normal(5).astype("f4"),
    "long vector": RNG.standard_normal(40).astype("f4"),
    "matrix": RNG.standard_normal((4, 6)).astype("f4"),
    "wide matrix": RNG.standard_normal((2, 30)).astype("f4"),
    "three dims": RNG.standard_normal((2, 3, 4)).astype("f4"),
    "four dims": RNG.standard_normal((2, 1, 2, 2)).astype("f4"),
    "five dims": np.arange(16).reshape(2, 2, 1, 2, 2),
    "float64": RNG.standard_normal((2, 2)),
    "float16": RNG.standard_normal((2, 2)).astype("f2"),
    "special": SPECIAL,
    "special only": SPECIAL[:5],
    "special small": SPECIAL * np.float32(1e-6),
    "large values": np.float32([1e9, 2.0]),
    "large whole": np.float32([123456, 7]),
    "tiny": np.float32([1e-8, 2e-8]),
    "wide range": np.float32([1e-3, 5.0, 2e3]),
    "zeros": np.zeros((2, 3), "f4"),
    "int32": np.arange(-3, 3, dtype="i4"),
    "uint8": np.arange(5, dtype="u1"),
    "bools": np.array([[True, False], [False, False]]),
    "complex": (RNG.standard_normal((3, 3)) + 1j * RNG.standard_normal((3, 3))).astype("c8"),
    "complex special": np.array([1 + np.nan * 1j, np.inf - 0j, 0j], dtype="c8"),
    "complex128": np.array([1.5 - 2j]),
    "complex summary": (RNG.standard_normal((40, 40)) * (1 + 3j)).astype("c8"),
    "empty": np.zeros((0,), "f4"),
    "empty matrix": np.zeros((0, 3), "f4"),
    "empty ints": np.zeros((3, 0), "i8"),
    "empty bools": np.zeros((0,), "?"),
    "summary": RNG.standard_normal((50, 50)).astype("f4"),
    "summary tall": RNG.standard_normal((2000, 2)).astype("f4"),
    "summary wide": RNG.standard_normal((2, 3000)).astype("f4"),
    "summary deep": RNG.standard_normal((3, 40, 5, 20)).astype("f4"),
    "summary ints": np.arange(5000).reshape(5, 10, 100),
    "just below": np.arange(1000, dtype="f4"),
    "transposed": np.arange(6, dtype="f4").reshape(2, 3).T,
}
OPTIONS = {
    "default": {},
    "short": {"profile": "short"},
    "full": {"profile": "full"},
    "precision 2": {"precision": 2},
    "precision 0": {"precision": 0},
    "narrow": {"linewidth": 40},
    "wide": {"linewidth": 200},
    "low threshold": {"threshold": 5, "edgeitems": 2},
    "no edges": {"threshold": 5, "edgeitems": 0},
    "scientific": {"sci_mode": True},
    "plain": {"sci_mode": False},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_every_kind_of_array_prints_byte_for_byte_as_pytorch(options):
    try:
        torch.set_printoptions(**options)
        set_printoptions(**options)
        for name, array in ARRAYS.items():
            if options.get("profile") == "full" and array.size > 2000:
                continue
            expected = repr(torch.from_numpy(np.asarray(array).copy())).replace("torch.", "tensorlab.")
            assert show(array) == expected, name
    finally:
        torch.set_printoptions(profile="default")


def test_history_and_dtype_break_lines_where_pytorch_breaks_them():
    for width in range(1, 30):
        for dtype in ("f4", "f8"):
            values = np.linspace(-1, 1, width).astype(dtype)
            leaf = torch.from_numpy(values.copy()).requires_grad_()
            assert show(values, requires_grad=True) == repr(leaf).replace("torch.", "tensorlab.")
            product = np.multiply(values, 2)
            expected = repr(leaf * 2).replace("torch.", "tensorlab.")
            assert show(product, grad_fn="MulBackward0", requires_grad=True) == expected


def test_a_subclass_name_moves_the_later_lines_as_in_pytorch():
    class Weights(torch.Tensor):
        pass

    values = np.eye(3, dtype="f4")
    expected = repr(torch.from_numpy(values.copy()).as_subclass(Weights))
    assert show(values, prefix="Weights(") == expected


def test_bfloat16_prints_as_in_pytorch():
    import ml_dtypes

    values = np.float32([1.5, -2.25, 3e5, np.nan])
    expected = repr(torch.from_numpy(values).to(torch.bfloat16)).replace("torch.", "tensorlab.")
    assert show(values.astype(ml_dtypes.bfloat16)) == expected
